"""The four operations of judgments."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from kindgi.client import NotFoundError, models, paginate

from .expect import refused, same, that
from .world import ADMIN, ORG, TENANT, World

VERBATIM = (
    r'{"big":18446744073709551616,"exp":1e400,"tiny":1E-7,"dup":1,"dup":2,'
    r'"esc":"\u00e9\u0000\ud83d","z":1,"a":1.10}'
)


def judge(world: World, run: str, key: str = "first", token: str = "test-token", **more: Any):
    """Judges an item of a run with `yes`, unless said otherwise."""
    item = {"key": key, "pointer": "/matches/0"}
    body = {"runId": run, "item": item, "verdict": "yes", **more}
    return world.client(token).judgments.create(body)


def created_with_every_field(world: World) -> None:
    """judgments.create: every field that was sent comes back"""
    client = world.client()
    run = world.finish_run()
    label = client.judge_classes.create(
        scope={"kind": "project", "projectId": world.project}, name=f"expert {uuid4()}", weight=2
    )
    judgment = client.judgments.create(
        run_id=run,
        item={"key": "m2", "pointer": "/matches/2", "rank": 2},
        verdict="no",
        reason="another court",
        judge_class_id=label.id,
        participant_id="customer 7",
    )
    same(judgment.tenant_id, TENANT, "tenantId")
    same(judgment.project_id, world.project, "projectId")
    same(judgment.run_id, run, "runId")
    subject = (judgment.subject.kind, judgment.subject.id, judgment.subject.version)
    same(subject, ("agent", "acme.matcher", "1.2.0"), "subject")
    item = (judgment.item.key, judgment.item.pointer, judgment.item.rank)
    same(item, ("m2", "/matches/2", 2), "item")
    same((judgment.verdict, judgment.reason), ("no", "another court"))
    same((judgment.judge_class_id, judgment.participant_id), (label.id, "customer 7"))
    same((judgment.asserted_by.kind, judgment.asserted_by.id), ("user", ADMIN), "assertedBy")
    same((judgment.restricted, judgment.unregistered_at, judgment.superseded_by), (None,) * 3)


def created_by_a_service(world: World) -> None:
    """judgments.create: a service asserts as itself"""
    judgment = judge(world, "run-dry", token="service-token")
    same((judgment.asserted_by.kind, judgment.asserted_by.id), ("service", "svc-1"), "assertedBy")


def superseded(world: World) -> None:
    """judgments.create: judging again supersedes the caller's own, and nobody else's"""
    client = world.client()
    run = world.finish_run()
    first = judge(world, run)
    others = [judge(world, run, token="judge-token"), judge(world, run, participantId="p")]
    second = judge(world, run, verdict="no", item={"key": "first"})
    old = client.judgments.get(first.id)
    same(old.superseded_by, second.id, "supersededBy")
    same(old.unregistered_at, second.created_at, "unregisteredAt")
    live = {j.id for j in client.judgments.list(run_id=run).data}
    same(live, {second.id, *(other.id for other in others)}, "live judgments")


def corrected(world: World) -> None:
    """judgments.create: a correction is kept as it was sent"""
    client = world.client()
    correction = {
        "calls": [
            {"tool": "acme.search", "args": {"q": "late", "limit": 3, "deep": {"a": [None]}}}
        ],
        "notCalled": ["acme.delete"],
    }
    run = world.finish_run()
    body = {
        "runId": run,
        "item": {"key": "kindgi:correction", "pointer": ""},
        "verdict": "no",
        "correction": correction,
    }
    judgment = client.judgments.create(body)
    listed = client.judgments.list(run_id=run).data[0]
    for answer in (judgment, listed, client.judgments.get(judgment.id)):
        same((answer.model_extra or {}).get("correction"), correction, "correction")


def copied(world: World) -> None:
    """judgments.get: the run's copy, with the item's value, segments and context"""
    segments = [{"key": "company", "value": "acme"}, {"key": "site", "value": "é 1"}]
    given = {"input": {"q": 1}, "output": {"matches": [{"score": 0.5}]}, "segments": segments}
    run = world.finish_run(**given)
    shown = world.client().judgments.get(judge(world, run).id)
    same((shown.run.run_id, shown.run.subject.id), (run, "acme.matcher"))
    same((shown.run.input, shown.run.output), (given["input"], given["output"]))
    same([s.model_dump() for s in shown.run.segments or []], segments, "segments")
    same(shown.item_value, {"score": 0.5}, "itemValue")
    that(shown.run.captured_at is not None, "no capturedAt")
    context = shown.run.context
    that(context is not None and len(context.history or []) == 2, "no conversation")


def copied_flow(world: World) -> None:
    """judgments.get: a flow's context has its calls and its steps"""
    shown = world.client().judgments.get(judge(world, "run-flow").id)
    same((shown.subject.kind, shown.subject.id), ("flow", "acme.flow"))
    context = shown.run.context
    that(context is not None and context.flow is not None, "no flow in the context")
    assert context is not None and context.flow is not None
    same((len(context.flow.calls), len(context.flow.steps)), (1, 1), "calls and steps")


def copied_replay(world: World) -> None:
    """judgments.get: a replay says of which run"""
    shown = world.client().judgments.get(judge(world, "run-replay").id)
    that(shown.run.context is not None, "no context")
    assert shown.run.context is not None
    same(shown.run.context.replay_of, "run-1", "replayOf")


def copied_verbatim(world: World) -> None:
    """judgments.get: copies and item values are the text they were"""
    for pointer, value in {
        "/big": "18446744073709551616",
        "/exp": "1e400",
        "/dup": "2",
        "/esc": r'"\u00e9\u0000\ud83d"',
        "": VERBATIM,
    }.items():
        item = {"key": f"verbatim {pointer}", "pointer": pointer}
        judgment = judge(world, "run-verbatim", item=item)
        world.client().judgments.get(judgment.id)
        text = world.recorder.answers[-1].text
        that(f'"output":{VERBATIM},' in text, f"the output is another text: {text}")
        ends = (f'"itemValue":{value},', f'"itemValue":{value}}}')
        that(any(end in text for end in ends), f"{pointer} is another text: {text}")


def a_null_value(world: World) -> None:
    """judgments.get: an item whose value is null has itemValue null, one without pointer none"""
    client = world.client()
    run = world.finish_run(output={"a": None})
    pointed = judge(world, run, item={"key": "a", "pointer": "/a"})
    shown = client.judgments.get(pointed.id)
    that("item_value" in shown.model_fields_set, "no itemValue")
    same(shown.item_value, None, "itemValue")
    shown = client.judgments.get(judge(world, run, item={"key": "b"}).id)
    that("item_value" not in shown.model_fields_set, "an itemValue without a pointer")


def listed_by_filter(world: World) -> None:
    """judgments.list: each filter takes what it names and nothing else"""
    client = world.client()
    scope = {"kind": "project", "projectId": world.project}
    label = client.judge_classes.create(scope=scope, name=f"user {uuid4()}", weight=1)
    agent = f"agent {uuid4()}"
    flow = f"flow {uuid4()}"
    person = f"person {uuid4()}"
    runs = {
        "old": world.finish_run(agentId=agent, agentVersion="1"),
        "new": world.finish_run(agentId=agent, agentVersion="2"),
        "flow": world.finish_run(flowId=flow),
    }
    made = {
        "old": judge(world, runs["old"], participantId=person),
        "new": judge(world, runs["new"], judgeClassId=label.id),
        "flow": judge(world, runs["flow"], verdict="no"),
    }
    names = {judgment.id: name for name, judgment in made.items()}
    project: dict[str, Any] = {"scope_kind": "project", "scope_id": world.project}
    for filters, expected in [
        ({"run_id": runs["old"]}, {"old"}),
        ({"run_id": runs["old"], "agent_id": "another"}, set()),
        ({"agent_id": agent}, {"old", "new"}),
        ({"agent_id": agent, "agent_version": "2"}, {"new"}),
        ({"flow_id": flow}, {"flow"}),
        ({"judge_class_id": label.id}, {"new"}),
        ({"participant_id": person}, {"old"}),
        ({"verdict": "no", **project}, {"flow"}),
        ({"verdict": "yes", **project}, {"old", "new"}),
        (project, {"old", "new", "flow"}),
        ({"agent_id": agent, "scope_kind": "tenant"}, {"old", "new"}),
        ({"agent_id": agent, "scope_kind": "org", "scope_id": ORG}, set()),
    ]:
        found = {names.get(j.id) for j in paginate(client.judgments.list, limit=100, **filters)}
        same(found - {None}, expected, str(filters))
    alone = {names.get(j.id) for j in client.judgments.list(agent_id=agent, verdict="yes").data}
    same(alone, {"old", "new"}, "agentId and verdict")


def listed_by_organisation(world: World) -> None:
    """judgments.list: an organisation has the judgments of its projects"""
    made = judge(world, "run-other-project", key=f"item {uuid4()}")
    listing = world.client().judgments.list
    for org, expected in ((ORG, True), ("another", False)):
        rows = paginate(listing, limit=100, scope_kind="org", scope_id=org)
        same(made.id in {row.id for row in rows}, expected, org)


def listed_by_permission(world: World) -> None:
    """judgments.list: what the caller may not read is not there, and pages stay full"""
    run = world.finish_run()
    for key in ("a", "b"):
        judge(world, run, key=key)
    hidden = world.client("project-token").judgments.list(run_id=run)
    same((hidden.data, hidden.has_more), ([], False), "another project's rows")
    hidden = world.client("other-tenant-token").judgments.list()
    same(hidden.data, [], "another tenant's rows")
    seen = world.client("reader-token").judgments.list(run_id=run, limit=1)
    same((len(seen.data), seen.has_more), (1, True), "a reader's page")


def paged(world: World) -> None:
    """judgments.list: a walk yields every row once, newest first, in full pages"""
    run = world.finish_run()
    made = [judge(world, run, key=f"item {n}").id for n in range(60)]
    client = world.client()
    sizes, rows, cursor = [], [], None
    while True:
        page = client.judgments.list(run_id=run, limit=7, cursor=cursor)
        sizes.append(len(page.data))
        rows += page.data
        same(page.next_cursor is not None, page.has_more, "nextCursor exactly when hasMore")
        cursor = page.next_cursor
        if cursor is None:
            break
    same(sizes, [7] * 8 + [4], "page sizes")
    same(sorted(row.id for row in rows), sorted(made), "rows")
    order = [(row.created_at, row.id) for row in rows]
    same(order, sorted(order, reverse=True), "order")
    same(len(client.judgments.list(run_id=run).data), 25, "the default page")
    walked = [row.id for row in paginate(client.judgments.list, run_id=run, limit=30)]
    same(walked, [row.id for row in rows], "the client's own walk")


def removed(world: World) -> None:
    """judgments.unregister: it lists no more, reads by id, and is removed once"""
    client = world.client()
    run = world.finish_run()
    judgment = judge(world, run, token="judge-token")
    gone = client.judgments.unregister(judgment.id)
    same((gone.judgment_id, gone.unregistered), (judgment.id, True))
    same(client.judgments.list(run_id=run).data, [], "live judgments")
    shown = client.judgments.get(judgment.id)
    that(shown.unregistered_at is not None, "no unregisteredAt")
    same(shown.superseded_by, None, "supersededBy")
    again = partial(client.judgments.unregister, judgment.id)
    refused(NotFoundError, 404, "judgment-not-found", again)
    anew = judge(world, run, token="judge-token")
    same([j.id for j in client.judgments.list(run_id=run).data], [anew.id], "judged again")


def erased(world: World) -> None:
    """judgments.get: after erasure the verdict stays and the content is null"""
    client = world.client()
    run = world.finish_run()
    judgment = judge(world, run, reason="because")
    world.erase_run(run)
    shown = client.judgments.get(judgment.id)
    same((shown.verdict, shown.reason, shown.item_value), ("yes", None, None))
    same((shown.run.input, shown.run.output, shown.run.context), (None, None, None))
    same([j.id for j in client.judgments.list(run_id=run).data], [judgment.id], "still listed")
    refused(NotFoundError, 410, "run-erased", lambda: judge(world, run))


def keyed(world: World) -> None:
    """Idempotency-Key: every write takes one"""
    client = world.client()
    body = models.CreateJudgmentBody.model_validate(
        {"runId": world.finish_run(), "item": {"key": "k"}, "verdict": "yes"}
    )
    judgment = client.judgments.create(body, idempotency_key="!" + "~" * 254)
    client.judgments.unregister(judgment.id, idempotency_key=str(uuid4()))
    scope = {"kind": "project", "projectId": world.project}
    label = client.judge_classes.create(
        {"scope": scope, "name": f"keyed {uuid4()}", "weight": 1}, idempotency_key=str(uuid4())
    )
    client.judge_classes.update(label.id, {"weight": 2}, idempotency_key=str(uuid4()))
    client.judge_classes.unregister(label.id, idempotency_key=str(uuid4()))


CASES = (
    created_with_every_field,
    created_by_a_service,
    superseded,
    corrected,
    copied,
    copied_flow,
    copied_replay,
    copied_verbatim,
    a_null_value,
    listed_by_organisation,
    listed_by_permission,
    paged,
    removed,
    erased,
    keyed,
    listed_by_filter,
)
