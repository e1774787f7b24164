"""Whether the cases together show what they are meant to."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from .contract import faults
from .expect import same, that
from .world import World

# Where the API's schemas take anything; items of lists have the path of the list.
OPEN = (
    ("run", "input"),
    ("run", "output"),
    ("run", "context", "history"),
    ("run", "context", "flow", "calls", "arguments"),
    ("run", "context", "flow", "calls", "result"),
    ("itemValue",),
    ("correction", "calls", "args"),
    ("error", "details"),
)

Path = tuple[str | int, ...]


def every_operation(world: World) -> None:
    """Every operation answered, and refused"""
    answers = world.recorder.answers
    for kind, seen in (
        ("answered", {a.operation.id for a in answers if a.status < 300}),
        ("refused", {a.operation.id for a in answers if a.status >= 400}),
    ):
        same(sorted({o.id for o in world.contract.operations} - seen), [], f"not {kind}")
    same(len(world.contract.operations), 20, "operations")


def every_field(world: World) -> None:
    """Every field that the schemas of the answers name was there at least once"""
    seen = {place(path) for a in world.recorder.answers for path, _ in objects(a.body)}
    named: set[Path] = set()
    for answer in world.recorder.answers:
        for path, value in objects(answer.body):
            named |= {place((*path, key)) for key in value}
    for field in (
        ("assertableBy", "principalIds"),
        ("assertableBy", "principalCount"),
        ("assertableBy", "minReviewerRole"),
        ("assertableBy", "principalKinds"),
        ("correction", "notCalled"),
        ("item", "rank"),
        ("nextCursor",),
        ("restricted",),
        ("run", "context", "replayOf"),
        ("run", "segments"),
        ("supersededBy",),
        ("unregisteredAt",),
        ("itemValue",),
        ("participantId",),
        ("judgeClassId",),
        ("reason",),
        ("description",),
        ("maxOpen",),
        ("createdBy",),
        ("when", "agentIds"),
        ("when", "flowIds"),
        ("when", "versions"),
        ("when", "status"),
        ("when", "includeDryRuns"),
        ("agentId",),
        ("agentVersion",),
        ("closedAt",),
        ("closedBy",),
        ("progress", "byClass", "judgeClassId"),
        ("since",),
        ("groups", "runsWithJudgments"),
        ("groups", "byClass", "yes"),
        ("error", "details"),
    ):
        that(field in named, f"{'.'.join(map(str, field))} was never there")
    that(("run", "context", "flow", "calls") in seen, "no call of a flow was ever there")


def broken_answers(world: World) -> None:
    """An answer with a field more, a required one less or another type would have failed"""
    shapes = {}
    for answer in world.recorder.answers:
        shape = tuple(sorted({(place(p), *sorted(o)) for p, o in objects(answer.body)}))
        shapes[answer.operation.id, answer.status, shape] = answer
    tried = 0
    for (operation, status, _), answer in shapes.items():
        validator = world.contract.validator(answer.operation, status)
        assert validator is not None
        same(faults(validator, answer.body), [], f"{operation} {status}")
        for broken, how in mutants(answer.body):
            tried += 1
            that(not validator.is_valid(broken), f"{operation} {status} passes with {how}")
    that(tried > 100, f"only {tried} broken answers were tried")


REQUIRED = (
    "id",
    "tenantId",
    "data",
    "hasMore",
    "judgmentId",
    "judgeClassId",
    "unregistered",
    "ruleId",
    "projectId",
    "version",
    "when",
    "sample",
    "enabled",
    "runId",
    "flowId",
    "runStatus",
    "completedAt",
    "rules",
    "wantedClassIds",
    "anyJudgment",
    "progress",
    "addedAt",
    "state",
    "can",
    "total",
    "groups",
    "considered",
    "matched",
)


def mutants(body: Any) -> Iterator[tuple[Any, str]]:
    """Bodies that break the contract in one place each."""
    for path, value in objects(body):
        if any(isinstance(step, int) and step > 0 for step in path):
            # One row stands for all.
            continue
        broken, at = copied(body, path)
        at["unexpected"] = 1
        yield broken, f"a field more at {path}"
        for key in value:
            if is_open((*path, key)):
                continue
            broken, at = copied(body, path)
            at[key] = {"unexpected": [1]} if not isinstance(at[key], dict) else "text"
            yield broken, f"another type at {(*path, key)}"
    required = ("error",) if "error" in body else REQUIRED
    # The class of a judgment or a rule is optional, where its own id is there.
    for key in required:
        if key in body and not (key == "judgeClassId" and ("id" in body or "ruleId" in body)):
            broken, at = copied(body, ())
            del at[key]
            yield broken, f"{key} left out"


def objects(body: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every object of a body whose fields are the API's, with its path."""
    if is_open(path):
        return
    if isinstance(body, dict):
        yield path, body
        for key, value in body.items():
            yield from objects(value, (*path, key))
    elif isinstance(body, list):
        for index, value in enumerate(body):
            yield from objects(value, (*path, index))


def copied(body: Any, path: Path) -> tuple[Any, Any]:
    """A copy of a body, and what is at a path of the copy."""
    whole = at = copy.deepcopy(body)
    for step in path:
        at = at[step]
    return whole, at


def place(path: Path) -> Path:
    """A path without indices, and the same in a list's rows as in one answer alone."""
    named = tuple(step for step in path if isinstance(step, str))
    return named[1:] if named[:1] == ("data",) else named


def is_open(path: Path) -> bool:
    """Whether anything may be there."""
    named = place(path)
    return any(named[: len(open_at)] == open_at for open_at in OPEN)


CASES = (every_operation, every_field, broken_answers)
