"""Counts what passed and what failed, and says so, a line each."""

from __future__ import annotations

from collections.abc import Callable

from .world import World

Case = Callable[[World], None]


class Report:
    """What became of the cases. A case's first line of documentation is its name."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def run(self, case: Case, world: World) -> None:
        """Runs one case. It fails by an exception, or by an answer that broke the contract."""
        name = (case.__doc__ or case.__name__).strip().splitlines()[0]
        faults: list[str] = []
        try:
            case(world)
        except Exception as error:  # Whatever it is, the case failed.
            faults.append(f"{type(error).__name__}: {error}")
        faults += world.take_faults()
        if faults:
            self.failed += 1
            print(f"FAIL  {name}")
            for fault in faults:
                print(f"      {fault}")
        else:
            self.passed += 1
            print(f"ok    {name}")

    def is_clean(self) -> bool:
        """Whether something ran, and all of it passed."""
        return self.passed > 0 and self.failed == 0

    def summary(self) -> str:
        return f"{self.passed} passed, {self.failed} failed"
