"""The six operations of judging rules that make, change and show them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from kindgi.client import AuthError, InvalidRequestError, NotFoundError, paginate

from .cases_errors import wire
from .expect import refused, same, that
from .world import ADMIN, SECOND_PROJECT, World

WRITERS = 50


def project(world: World) -> str:
    """A project of its own: it is there once a run of it is."""
    name = f"rules {uuid4()}"
    world.finish_run(projectId=name)
    return name


def create(world: World, where: str, **fields: Any):
    """Creates a rule that matches every run unless said otherwise."""
    body = {"name": f"rule {uuid4()}", "when": {}, **fields}
    return world.client().projects.judging_rules.create(where, body)


def sent(model: Any) -> Any:
    """A model as it is on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def created(world: World) -> None:
    """judgingRules.create and get: a rule comes back as it was sent, with the defaults"""
    where, rules = project(world), world.client().projects.judging_rules
    scope = {"kind": "project", "projectId": where}
    label = world.client().judge_classes.create(scope=scope, name="experts", weight=2)
    whens: list[dict[str, Any]] = [
        {},
        {"agentIds": ["acme.matcher", "b"], "versions": ["live", "1.2.0"]},
        {"flowIds": ["acme.flow"], "status": ["completed"], "includeDryRuns": True},
        {"includeDryRuns": False},
    ]
    for when in whens:
        made = create(world, where, when=when)
        for seen in (made, rules.get(where, made.rule_id)):
            same(sent(seen.when), when, "when")
            same((seen.project_id, seen.version, seen.name), (where, 1, made.name))
            same((seen.sample, seen.enabled), (1, True), "defaults")
            same((seen.max_open, seen.judge_class_id, seen.unregistered_at), (None, None, None))
            same(seen.created_by, f"user:{ADMIN}", "createdBy")
    fields = {"sample": 1e-05, "maxOpen": 10000, "judgeClassId": label.id, "enabled": False}
    made = create(world, where, **fields)
    for seen in (made, rules.get(where, made.rule_id)):
        found = sent(seen)
        same({key: found[key] for key in fields}, fields)
    made = world.client("service-token").projects.judging_rules.create(where, name="s", when={})
    same(made.created_by, "service_account:svc-1", "createdBy")
    made = create(world, where, when={"agentIds": ["b", "a", "b", "a"]})
    same(sent(made.when), {"agentIds": ["b", "a"]}, "repeats are dropped in order")


def listed(world: World) -> None:
    """judgingRules.list: live rules' latest versions, oldest first, each once"""
    where, rules = project(world), world.client("reader-token").projects.judging_rules
    same(rules.list(where).data, [], "a project without rules")
    made = [create(world, where).rule_id for _ in range(12)]
    write = world.client().projects.judging_rules
    write.update(where, made[0], name="changed")
    write.unregister(where, made[5])
    page = rules.list(where, limit=5)
    same((len(page.data), page.has_more), (5, True), "the first page")
    rows = list(paginate(rules.list, where, limit=5))
    same(sorted(row.rule_id for row in rows), sorted({*made} - {made[5]}), "rows")
    firsts = [rules.versions(where, row.rule_id).data[-1] for row in rows]
    order = [(first.created_at, first.rule_id) for first in firsts]
    same(order, sorted(order), "order")
    same([row.name for row in rows if row.rule_id == made[0]], ["changed"])
    same(rules.list(SECOND_PROJECT).data, [], "another project's")


def changed(world: World) -> None:
    """judgingRules.update: what is given changes, the rest stays, and each is a version"""
    where, rules = project(world), world.client().projects.judging_rules
    label = world.client().judge_classes.create(
        scope={"kind": "tenant"}, name=f"label {uuid4()}", weight=1
    )
    more = {"maxOpen": 5, "judgeClassId": label.id}
    made = create(world, where, when={"agentIds": ["a"]}, sample=0.5, **more)
    expected = {key: value for key, value in sent(made).items() if key != "createdAt"}
    changes: list[dict[str, Any]] = [
        {"name": "m"},
        {"when": {"flowIds": ["f"]}},
        {"sample": 0.25},
        {"maxOpen": 7},
        {"maxOpen": None},
        {"judgeClassId": None},
        {"judgeClassId": label.id},
        {"enabled": False},
    ]
    for number, change in enumerate(changes, 2):
        expected = {**expected, **change, "version": number}
        expected = {key: value for key, value in expected.items() if value is not None}
        for seen in (rules.update(where, made.rule_id, change), rules.get(where, made.rule_id)):
            found = {key: value for key, value in sent(seen).items() if key != "createdAt"}
            same(found, expected, str(change))
    for nothing in ({}, {"enabled": False}, {"maxOpen": None}):
        seen = rules.update(where, made.rule_id, nothing)
        same(seen.version, 9, "a change of nothing")
    without = partial(rules.update, where, made.rule_id, {"when": None})
    refused(InvalidRequestError, 400, "bad-input", without)


def changed_at_once(world: World) -> None:
    """judgingRules.update: changes at once are consecutive versions, and none is lost"""
    where, rules = project(world), world.client().projects.judging_rules
    made = create(world, where)
    barrier = Barrier(WRITERS)

    def change(number: int) -> Any:
        barrier.wait()
        return rules.update(where, made.rule_id, name=f"by {number}")

    with ThreadPoolExecutor(WRITERS) as threads:
        answered = {seen.version: seen for seen in threads.map(change, range(WRITERS))}
    kept = list(paginate(rules.versions, where, made.rule_id, limit=7))
    same([row.version for row in kept], list(range(WRITERS + 1, 0, -1)), "versions")
    for row in kept[:-1]:
        same(sent(row), sent(answered[row.version]), f"version {row.version}")


def versions(world: World) -> None:
    """judgingRules.versions: every version, newest first, as it was written"""
    where, rules = project(world), world.client().projects.judging_rules
    written = [create(world, where)]
    for number in range(2, 13):
        written.insert(0, rules.update(where, written[0].rule_id, name=f"version {number}"))
    rule = written[0].rule_id
    read = world.client("reader-token").projects.judging_rules.versions
    page = read(where, rule, limit=5)
    same((len(page.data), page.has_more), (5, True), "the first page")
    rows = list(paginate(read, where, rule, limit=5))
    same([sent(row) for row in rows], [sent(row) for row in written], "versions")
    for cursor in (page.next_cursor, "garbled"):
        unknown = partial(read, where, "none", cursor=cursor)
        refused(NotFoundError, 404, "judging-rule-not-found", unknown)
    other = create(world, where).rule_id
    for wrong in (
        partial(rules.versions, where, rule, cursor="garbled"),
        partial(rules.versions, where, rule, cursor=page.next_cursor),
        partial(read, where, other, cursor=page.next_cursor),
        partial(rules.list, where, cursor=page.next_cursor),
    ):
        refused(InvalidRequestError, 400, "bad-input", wrong)


def stopped(world: World) -> None:
    """judgingRules.unregister: once for good; the rule reads by id, and lists and changes no more"""
    where, rules = project(world), world.client().projects.judging_rules
    made = create(world, where)
    for lived in (True, False, False):
        gone = rules.unregister(where, made.rule_id)
        same((gone.rule_id, gone.unregistered), (made.rule_id, lived))
    seen = rules.get(where, made.rule_id)
    that(seen.unregistered_at is not None, "no unregisteredAt")
    same(sent(rules.versions(where, made.rule_id).data[0]), sent(seen), "its version")
    same(rules.list(where).data, [], "rules")
    for change in ({"name": "m"}, {}):
        again = partial(rules.update, where, made.rule_id, change)
        refused(NotFoundError, 404, "judging-rule-not-found", again)


def wanted_class(world: World) -> None:
    """A rule wants a class that lives and can apply in its project"""
    where, client = project(world), world.client()
    classes = client.judge_classes
    rules = client.projects.judging_rules
    made = create(world, where)
    scope = {"kind": "project", "projectId": SECOND_PROJECT}
    elsewhere = classes.create(scope=scope, name=f"label {uuid4()}", weight=1).id
    scope = {"kind": "project", "projectId": where}
    retired = classes.create(scope=scope, name="gone", weight=1).id
    classes.unregister(retired)
    for id in ("none", elsewhere, retired):
        for wanting in (
            partial(create, world, where, judgeClassId=id),
            partial(rules.update, where, made.rule_id, judge_class_id=id),
        ):
            refused(NotFoundError, 404, "judge-class-not-found", wanting)


def refusals(world: World) -> None:
    """What is wrong with a rule is said with its field; who may not, may not"""
    where, rules = project(world), world.client().projects.judging_rules
    made = create(world, where)
    root = f"/v1/projects/{quote(where, safe='')}/judging-rules"
    one = f"{root}/{made.rule_id}"
    many = [str(number) for number in range(51)]
    for fields, field in (
        ({"when": {"agentIds": ["a"], "flowIds": ["f"]}}, "/when/flowIds"),
        ({"when": {"agentIds": []}}, "/when/agentIds"),
        ({"when": {"flowIds": many}}, "/when/flowIds"),
        ({"when": {"versions": [" "]}}, "/when/versions/0"),
        ({"when": {"status": ["failed"]}}, "/when/status/0"),
        ({"sample": 0}, "/sample"),
        ({"sample": 1.5}, "/sample"),
        ({"sample": "NaN"}, "/sample"),
        ({"maxOpen": 0}, "/maxOpen"),
        ({"maxOpen": 10001}, "/maxOpen"),
        ({"name": ""}, "/name"),
        ({"name": "x" * 201}, "/name"),
    ):
        # The client wouldn't send them.
        body = {"name": "n", "when": {}, **fields}
        for method, path, json in (("POST", root, body), ("PATCH", one, fields)):
            error = wire(world, 400, "bad-input", method, path, json=json)
            same(error["details"].get("field"), field, str(fields)[:80])
    for fields, code, field in (
        ({"maxOpen": None}, "bad-input", "/maxOpen"),
        ({"version": 1}, "unknown-field", "/version"),
    ):
        body = {"name": "n", "when": {}, **fields}
        error = wire(world, 400, code, "POST", root, json=body)
        same(error["details"].get("field"), field, str(fields))
    wire(world, 400, "bad-input", "PATCH", one, json={"when": None})
    for token, kind, status, code in (
        ("reader-token", AuthError, 403, "permission-denied"),
        ("project-token", NotFoundError, 404, "project-not-found"),
        ("other-tenant-token", NotFoundError, 404, "project-not-found"),
    ):
        theirs = world.client(token).projects.judging_rules
        for call in (
            partial(theirs.create, where, name="n", when={}),
            partial(theirs.update, where, made.rule_id, name="n"),
            partial(theirs.unregister, where, made.rule_id),
        ):
            refused(kind, status, code, call)
        if status == 404:
            for call in (
                partial(theirs.list, where),
                partial(theirs.get, where, made.rule_id),
                partial(theirs.versions, where, made.rule_id),
            ):
                refused(kind, status, code, call)
    for unknown in ("none", "a/b", "?", "%"):
        refused(NotFoundError, 404, "project-not-found", partial(rules.list, f"{unknown} {where}"))
        for call in (
            partial(rules.get, where, unknown),
            partial(rules.versions, where, unknown),
            partial(rules.update, where, unknown, name="n"),
            partial(rules.unregister, where, unknown),
        ):
            refused(NotFoundError, 404, "judging-rule-not-found", call)
    for path in ("/v1/projects//judging-rules", "/v1/projects/x/judging-rules//versions"):
        same(world.raw("GET", path).status_code, 404, path)


CASES = (
    created,
    listed,
    changed,
    changed_at_once,
    versions,
    stopped,
    wanted_class,
    refusals,
)
