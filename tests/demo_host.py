"""Starts the demo host on a free port, and stops it: for the suites below this folder."""

from __future__ import annotations

import os
import subprocess
from types import TracebackType

READY = "listening on "
STOP_SECONDS = 30
# Not what whoever runs a suite happens to have.
UNSET = {"REDIS_URL", "RATE_LIMIT", "RATE_BURST"}


class DemoHost:
    """A demo host of one's own, for a `with` block. The settings are the host's variables."""

    def __init__(self, binary: str, settings: dict[str, str]) -> None:
        settings = {"PORT": "0"} | settings
        others = {k: v for k, v in os.environ.items() if k not in UNSET}
        self._process = subprocess.Popen(
            [binary], env=others | settings, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(READY):
                self.base_url = line.removeprefix(READY).strip()
                return
        raise RuntimeError(f"{binary} ended with {self._process.wait()} before it was ready")

    def __enter__(self) -> DemoHost:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            status = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        if status != 0 and error is None:
            raise RuntimeError(f"the host ended with {status}, not with 0")
