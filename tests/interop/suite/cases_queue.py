"""The three operations of the judging queue."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from kindgi.client import AuthError, ConflictError, InvalidRequestError, NotFoundError, paginate

from .cases_errors import wire
from .cases_rules import create, project, sent
from .expect import refused, same, that
from .world import ADMIN, SECOND_PROJECT, World

DISMISSERS = 30
STATES = ("open", "judged", "dismissed", "erased")


def classed(world: World, where: str, **fields: Any) -> str:
    """A judge class of the project, of weight 2 unless said otherwise."""
    scope = {"kind": "project", "projectId": where}
    body = {"scope": scope, "name": f"class {uuid4()}", "weight": 2, **fields}
    return world.client().judge_classes.create(body).id


def finish(world: World, where: str, **fields: Any) -> str:
    """Ends a run, which is told to the rules."""
    return world.finish_run(projectId=where, **fields)


def judge(
    world: World, run: str, verdict: str = "yes", token: str = "test-token", **more: Any
) -> str:
    """Judges a run, and gives the judgment's id."""
    body = {"runId": run, "item": {"key": "k"}, "verdict": verdict, **more}
    return world.client(token).judgments.create(body).id


def everything(world: World, where: str, **filters: Any) -> list[Any]:
    """All items that match, in small pages."""
    listing = world.client().projects.judging_queue.list
    return list(paginate(listing, where, limit=3, **filters))


def item(world: World, where: str, run: str) -> Any:
    """A run's one item."""
    (found,) = [row for row in everything(world, where) if row.run_id == run]
    return found


def listed(world: World) -> None:
    """judgingQueue.list: each run once, oldest first, with what it was and what it wants"""
    where = project(world)
    label = classed(world, where)
    rules = sorted(create(world, where, **more).rule_id for more in ({"judgeClassId": label}, {}))
    runs = [finish(world, where) for _ in range(7)]
    runs.append(finish(world, where, flowId="acme.flow"))
    runs.append(finish(world, where, agentId="acme.other", agentVersion="3", flowId="acme.chat"))
    rows = everything(world, where)
    same(sorted(row.run_id for row in rows), sorted(runs), "runs")
    order = [(row.added_at, row.run_id) for row in rows]
    same(order, sorted(order), "order")
    by_run = {row.run_id: row for row in rows}
    first = by_run[runs[0]]
    same(
        (first.agent_id, first.agent_version, first.flow_id),
        ("acme.matcher", "1.2.0", "agent.turn"),
        "an agent's own run",
    )
    flow = by_run[runs[-2]]
    same((flow.agent_id, flow.agent_version, flow.flow_id), (None, None, "acme.flow"), "a flow's")
    chat = by_run[runs[-1]]
    same((chat.agent_id, chat.agent_version, chat.flow_id), ("acme.other", "3", "acme.chat"))
    for row in rows:
        same((row.project_id, row.run_status, row.state), (where, "completed", "open"))
        same([(by.rule_id, by.version) for by in row.rules], [(id, 1) for id in rules], "rules")
        same((row.wanted_class_ids, row.any_judgment), ([label], True), "wants")
        same(sent(row.progress), {"total": 0, "byClass": []}, "progress")
        same((row.closed_at, row.closed_by, row.reason), (None, None, None), "of an open item")
        that(row.completed_at <= row.added_at, "it was queued before it ended")
    for token, may in (("test-token", True), ("service-token", True), ("judge-token", False)):
        seen = world.client(token).projects.judging_queue.list(where).data[0].can
        same((seen.dismiss, seen.reopen), (may, may), f"can of {token}")
    # Neither is ever queued.
    finish(world, where, dryRun=True)
    finish(world, where, replayOf=runs[0])
    finish(world, where, parentRunId=runs[0])
    same(len(everything(world, where)), len(runs), "items")


def filtered(world: World) -> None:
    """judgingQueue.list: each filter alone and with any other, and the total with each"""
    where = project(world)
    labels = [classed(world, where) for _ in range(2)]
    rules = [
        create(world, where, when={"agentIds": [agent]}, judgeClassId=label).rule_id
        for agent, label in zip(("a", "b"), labels, strict=True)
    ]
    runs = [finish(world, where, agentId="ab"[n % 2]) for n in range(8)]
    queue = world.client().projects.judging_queue
    for n in (0, 1):
        judge(world, runs[2 + n], judgeClassId=labels[n])
        queue.dismiss(where, runs[4 + n])
        world.erase_run(runs[6 + n])
    whole = everything(world, where)
    added, closed = whole[3].added_at, sorted(row.closed_at for row in whole if row.closed_at)[2]
    filters: list[tuple[str, Any, Callable[[Any], bool]]] = [
        *(("state", it, lambda row, it=it: row.state == it) for it in STATES),
        *(("agent_id", it, lambda row, it=it: row.agent_id == it) for it in ("a", "b", "none")),
        *(("rule_id", it, lambda row, it=it: row.rules[0].rule_id == it) for it in rules),
        *(("judge_class_id", it, lambda row, it=it: it in row.wanted_class_ids) for it in labels),
        ("added_after", added.isoformat(), lambda row: row.added_at >= added),
        (
            "closed_after",
            closed.isoformat(),
            lambda row: bool(row.closed_at and row.closed_at >= closed),
        ),
        ("for_me", True, lambda row: True),
        ("for_me", False, lambda row: True),
    ]
    for name, value, takes in filters:
        for other, and_value, also in filters:
            given = {name: value, other: and_value}
            if name == other and value != and_value:
                continue
            expected = [row.run_id for row in whole if takes(row) and also(row)]
            same([row.run_id for row in everything(world, where, **given)], expected, str(given))
            total = queue.list(where, limit=0, **given)
            same((total.total, total.data, total.has_more), (len(expected), [], False), str(given))
    same(everything(world, SECOND_PROJECT, rule_id=rules[0]), [], "another project's")


def for_me(world: World) -> None:
    """judgingQueue.list: forMe is what any judgment or the caller's own classes close"""
    where = project(world)
    runs: dict[str, str] = {}
    labels: dict[str, str] = {}
    restrictions: list[tuple[str, dict[str, Any] | None]] = [
        ("free", {}),
        ("senior", {"assertableBy": {"minReviewerRole": "senior"}}),
        ("admins own", {"assertableBy": {"principalIds": [ADMIN], "principalKinds": ["user"]}}),
        ("services", {"assertableBy": {"principalKinds": ["service"]}}),
        ("retired", {}),
        ("any", None),
    ]
    for name, fields in restrictions:
        more = {}
        if fields is not None:
            labels[name] = classed(world, where, **fields)
            more = {"judgeClassId": labels[name]}
        rule = create(world, where, **more).rule_id
        runs[name] = finish(world, where)
        world.client().projects.judging_rules.unregister(where, rule)
    world.client().judge_classes.unregister(labels["retired"])
    for token, theirs in (
        ("test-token", {"free", "senior", "admins own", "any"}),
        ("judge-token", {"free", "any"}),
        ("reader-token", {"free", "any"}),
        ("service-token", {"free", "services", "any"}),
    ):
        queue = world.client(token).projects.judging_queue
        found = queue.list(where, for_me=True)
        same({row.run_id for row in found.data}, {runs[name] for name in theirs}, token)
        same(found.total, len(theirs), token)
        same(queue.list(where).total, len(runs), token)


def walked(world: World) -> None:
    """judgingQueue.list: a walk yields every item once, those that come meanwhile too"""
    where = project(world)
    rule = create(world, where).rule_id
    runs = [finish(world, where) for _ in range(6)]
    queue = world.client("reader-token").projects.judging_queue
    page = queue.list(where, limit=2)
    first = page.next_cursor
    seen = [row.run_id for row in page.data]
    while page.has_more:
        if len(runs) < 12:
            runs.append(finish(world, where))
        page = queue.list(where, limit=2, cursor=page.next_cursor)
        same(page.total, len(runs), "total")
        seen += [row.run_id for row in page.data]
    same(sorted(seen), sorted(runs), "runs")
    same(page.next_cursor, None, "the last page's cursor")
    same([row.run_id for row in everything(world, where)], seen, "the walk again")
    for wrong in (
        partial(queue.list, where, cursor="garbled"),
        partial(queue.list, where, cursor=first, state="open"),
        partial(queue.list, where, cursor=first, rule_id=rule),
        partial(queue.list, where, cursor=first, for_me=False),
        partial(queue.list, SECOND_PROJECT, cursor=first),
        partial(world.client().projects.judging_queue.list, where, cursor=first),
        partial(world.client("reader-token").projects.judging_rules.list, where, cursor=first),
    ):
        refused(InvalidRequestError, 400, "bad-input", wrong)


def dismissed(world: World) -> None:
    """judgingQueue.dismiss and reopen: from one state alone, with who did it and why"""
    where = project(world)
    create(world, where)
    runs = [finish(world, where) for _ in range(4)]
    queue = world.client().projects.judging_queue
    before = sent(item(world, where, runs[0]))
    gone = queue.dismiss(where, runs[0], reason="não é útil 🔥")
    that(gone.closed_at is not None and gone.closed_at >= gone.added_at, "no closedAt")
    expected = {
        **before,
        "state": "dismissed",
        "closedBy": f"user:{ADMIN}",
        "reason": "não é útil 🔥",
    }
    same({**sent(gone), "closedAt": None}, {**expected, "closedAt": None}, "dismissed")
    same(sent(item(world, where, runs[0])), sent(gone), "as it is listed")
    by_service = world.client("service-token").projects.judging_queue
    back = by_service.reopen(where, runs[0])
    same(sent(back), {**before, "closedBy": "service_account:svc-1"}, "reopened")
    # The client sends no key with these; the API takes one.
    for how in ("dismiss", "reopen"):
        path = f"/v1/projects/{quote(where, safe='')}/judging-queue/{runs[0]}/{how}"
        key = {"Idempotency-Key": str(uuid4())}
        same(world.raw("POST", path, headers=key).status_code, 200, f"{how} with a key")
    bodies: list[dict[str, Any] | None] = [None, {}, {"reason": ""}]
    for body in bodies:
        same(queue.dismiss(where, runs[0], body).reason, None, f"reason of {body}")
        queue.reopen(where, runs[0])
    same(
        queue.dismiss(where, runs[0], {"reason": "é" * 500}).reason, "é" * 500, "the longest reason"
    )
    judge(world, runs[1])
    world.erase_run(runs[2])
    for run in runs[:3]:
        refused(ConflictError, 409, "judging-item-not-open", partial(queue.dismiss, where, run))
    for run in runs[1:]:
        refused(ConflictError, 409, "judging-item-not-open", partial(queue.reopen, where, run))
    # Judged while it was dismissed: dismissing wins, and reopening shows it.
    judge(world, runs[0])
    same(item(world, where, runs[0]).state, "dismissed")
    same(queue.reopen(where, runs[0]).state, "judged")


def dismissed_at_once(world: World) -> None:
    """judgingQueue.dismiss: of many at once one does it, and the others are told"""
    where = project(world)
    create(world, where)
    run = finish(world, where)
    queue = world.client().projects.judging_queue
    barrier = Barrier(DISMISSERS)

    def dismiss(number: int) -> Any:
        barrier.wait()
        try:
            return queue.dismiss(where, run, reason=f"by {number}")
        except ConflictError as error:
            same(error.server_code, "judging-item-not-open")
            return None

    with ThreadPoolExecutor(DISMISSERS) as threads:
        (done,) = [seen for seen in threads.map(dismiss, range(DISMISSERS)) if seen]
    same(sent(item(world, where, run)), sent(done), "what was kept")


def followed(world: World) -> None:
    """An item follows its run's judgments, and its erasure"""
    where = project(world)
    label = classed(world, where)
    create(world, where, judgeClassId=label)
    create(world, where)
    run = finish(world, where)
    judge(world, run, token="judge-token")
    seen = item(world, where, run)
    same((seen.state, seen.progress.total), ("open", 1))
    wanted = judge(world, run, judgeClassId=label)
    seen = item(world, where, run)
    same((seen.state, seen.closed_by), ("judged", None))
    that(seen.closed_at is not None, "no closedAt")
    by_class = [{"count": 1}, {"judgeClassId": label, "count": 1}]
    same(sent(seen.progress)["byClass"], by_class, "byClass")
    same(seen.progress.by_class[0].judge_class_id, None, "unclassified")
    world.client().judgments.unregister(wanted)
    seen = item(world, where, run)
    same((seen.state, seen.closed_at, seen.progress.total), ("open", None, 1))
    world.client().projects.judging_queue.dismiss(where, run, reason="words")
    world.erase_run(run)
    gone = item(world, where, run)
    same((gone.state, gone.agent_id, gone.agent_version, gone.reason), ("erased", None, None, None))
    same(sent(gone.progress), {"total": 0, "byClass": []}, "progress")
    kept = ("runId", "projectId", "flowId", "completedAt", "rules", "wantedClassIds", "addedAt")
    for field in kept:
        same(sent(gone)[field], sent(seen)[field], field)


def refusals(world: World) -> None:
    """What is wrong with what the queue is sent is said with its field; who may not, may not"""
    where = project(world)
    create(world, where)
    run = finish(world, where)
    root = f"/v1/projects/{quote(where, safe='')}"
    for path, field in (
        ("judging-queue?state=closed", "state"),
        ("judging-queue?forMe=1", "forMe"),
        ("judging-queue?limit=101", "limit"),
        ("judging-queue?limit=-1", "limit"),
        ("judging-queue?addedAfter=2026-01-01T00:00:00", "addedAfter"),
        ("judging-queue?closedAfter=2026-02-30T00:00:00Z", "closedAfter"),
        ("judging-queue?agentId=", "agentId"),
        ("judging-queue?agentId=%00", "agentId"),
        ("judging-queue?ruleId=%ff", "ruleId"),
        ("judging-queue?state=open&state=open", "state"),
        ("judging-queue?for_me=true", "for_me"),
        ("judging-queue?inherit=true", "inherit"),
        ("judging-queue?cursor=garbled", "cursor"),
    ):
        error = wire(world, 400, "bad-input", "GET", f"{root}/{path}")
        same(error["details"].get("field"), field, path[:80])
    dismiss = f"{root}/judging-queue/{run}/dismiss"
    for text, code, field in (
        (b"{", "bad-input", ""),
        (b"[]", "bad-input", ""),
        (b"null", "bad-input", ""),
        (b'{"reason":"\xff"}', "bad-input", ""),
        (b'{"reason":null}', "bad-input", "/reason"),
        (b'{"reason":"a\\u0000"}', "bad-input", "/reason"),
        (b'{"reason":"%s"}' % (b"x" * 501), "bad-input", "/reason"),
        (b'{"reason":"a","reason":"b"}', "bad-input", "/reason"),
        (b'{"why":"a"}', "unknown-field", "/why"),
    ):
        error = wire(world, 400, code, "POST", dismiss, content=text)
        same(error["details"].get("field"), field, str(text)[:80])
    key = {"Idempotency-Key": "x" * 256}
    wire(world, 400, "bad-input", "POST", dismiss, headers=key)
    same(item(world, where, run).state, "open")
    for token, kind, status, code in (
        ("reader-token", AuthError, 403, "permission-denied"),
        ("judge-token", AuthError, 403, "permission-denied"),
        ("project-token", NotFoundError, 404, "project-not-found"),
        ("other-tenant-token", NotFoundError, 404, "project-not-found"),
    ):
        theirs = world.client(token).projects
        calls: list[Callable[[], Any]] = [
            partial(theirs.judging_queue.dismiss, where, run),
            partial(theirs.judging_queue.reopen, where, run),
        ]
        if status == 404:
            calls.append(partial(theirs.judging_queue.list, where))
        for call in calls:
            refused(kind, status, code, call)
    mine = world.client().projects
    for unknown in ("none", "a/b", "?", "%", "preview"):
        for call in (
            partial(mine.judging_queue.dismiss, where, unknown),
            partial(mine.judging_queue.reopen, where, unknown),
        ):
            refused(NotFoundError, 404, "judging-item-not-found", call)
    # What isn't there comes before the permission.
    theirs = world.client("reader-token").projects.judging_queue
    refused(NotFoundError, 404, "judging-item-not-found", partial(theirs.dismiss, where, "none"))
    for path in ("/v1/projects//judging-queue", f"{root}/judging-queue//dismiss"):
        same(world.raw("GET", path).status_code, 404, path)
    for method, path, allow in (
        ("POST", "judging-queue", "GET, HEAD"),
        ("GET", f"judging-queue/{run}/dismiss", "POST"),
    ):
        answer = world.raw(method, f"{root}/{path}")
        same((answer.status_code, answer.headers["allow"]), (405, allow), path)


CASES = (
    listed,
    filtered,
    for_me,
    walked,
    dismissed,
    dismissed_at_once,
    followed,
    refusals,
)
