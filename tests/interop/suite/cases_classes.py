"""The five operations of judge classes."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from kindgi.client import AuthError, ConflictError, InvalidRequestError, NotFoundError, paginate

from .expect import refused, same, that
from .world import ADMIN, JUDGE, SECOND_PROJECT, TENANT, World


def create(world: World, scope: dict[str, Any] | None = None, **more: Any):
    """Creates a class, in the project of these cases unless said otherwise."""
    scope = scope or {"kind": "project", "projectId": world.project}
    body = {"scope": scope, "name": f"class {uuid4()}", "weight": 1, **more}
    return world.client().judge_classes.create(body)


def scopes(world: World) -> list[dict[str, Any]]:
    """One scope of each kind; the project is there once a run of it is."""
    world.finish_run()
    return [
        {"kind": "tenant"},
        {"kind": "project", "projectId": world.project},
        {"kind": "agent", "projectId": world.project, "agentId": "acme.matcher"},
    ]


def created_in_every_scope(world: World) -> None:
    """judgeClasses.create and get: a class of each scope comes back as it was sent"""
    client = world.client()
    for scope in scopes(world):
        made = create(world, scope, weight=0.25, description="knows the law")
        for seen in (made, client.judge_classes.get(made.id)):
            same(seen.tenant_id, TENANT, "tenantId")
            same(seen.scope.model_dump(by_alias=True), scope, "scope")
            same((seen.name, seen.weight), (made.name, 0.25))
            same(seen.description, "knows the law", "description")
            same((seen.assertable_by, seen.unregistered_at), (None, None))
            same(seen.created_at, seen.updated_at, "updatedAt")


def listed_by_scope(world: World) -> None:
    """judgeClasses.list: a scope takes exactly its own classes"""
    made = {scope["kind"]: create(world, scope).id for scope in scopes(world)}
    listing = world.client().judge_classes.list
    project = {"project_id": world.project}
    for filters, expected in [
        ({"scope_kind": "tenant"}, {"tenant"}),
        ({"scope_kind": "project", **project}, {"project"}),
        ({"scope_kind": "agent", **project, "agent_id": "acme.matcher"}, {"agent"}),
        ({"scope_kind": "agent", **project, "agent_id": "another"}, set()),
        ({"scope_kind": "project", "project_id": SECOND_PROJECT}, set()),
        ({}, {"tenant", "project", "agent"}),
    ]:
        found = {row.id for row in paginate(listing, limit=100, **filters)}
        same({kind for kind, id in made.items() if id in found}, expected, str(filters))


def paged(world: World) -> None:
    """judgeClasses.list: a walk yields every row once, newest first"""
    world.finish_run()
    scope = {"kind": "agent", "projectId": world.project, "agentId": f"agent {uuid4()}"}
    made = [create(world, scope).id for _ in range(12)]
    filters: dict[str, Any] = {
        "scope_kind": "agent",
        "project_id": scope["projectId"],
        "agent_id": scope["agentId"],
    }
    listing = world.client().judge_classes.list
    page = listing(limit=5, **filters)
    same((len(page.data), page.has_more), (5, True), "the first page")
    rows = list(paginate(listing, limit=5, **filters))
    same(sorted(row.id for row in rows), sorted(made), "rows")
    order = [(row.created_at, row.id) for row in rows]
    same(order, sorted(order, reverse=True), "order")


def changed(world: World) -> None:
    """judgeClasses.update: what is given changes, and the rest stays"""
    client = world.client()
    made = create(world, scopes(world)[1], weight=1, description="as it was")
    seen = client.judge_classes.update(made.id, weight=0)
    same((seen.weight, seen.description), (0, "as it was"))
    seen = client.judge_classes.update(made.id, description="as it is")
    same((seen.weight, seen.description), (0, "as it is"))
    seen = client.judge_classes.update(
        made.id, assertable_by={"minReviewerRole": "senior", "principalKinds": ["user", "service"]}
    )
    that(seen.assertable_by is not None, "no restriction")
    assert seen.assertable_by is not None
    same(seen.assertable_by.min_reviewer_role, "senior", "minReviewerRole")
    same(seen.assertable_by.principal_kinds, ["user", "service"], "principalKinds")
    same(seen.assertable_by.principal_count, None, "principalCount")
    seen = client.judge_classes.update(made.id, {"assertableBy": None})
    same(seen.assertable_by, None, "a lifted restriction")
    that(seen.updated_at >= seen.created_at, "updatedAt before createdAt")
    nothing = partial(client.judge_classes.update, made.id, {})
    refused(InvalidRequestError, 400, "bad-input", nothing)


def restricted(world: World) -> None:
    """A restricted class: who meets it judges under it, and the judgment says so"""
    world.finish_run()
    run = world.finish_run()
    made = create(world, assertableBy={"principalIds": [ADMIN], "minReviewerRole": "senior"})
    body = {
        "runId": run,
        "item": {"key": "k"},
        "verdict": "yes",
        "judgeClassId": made.id,
    }
    judgment = world.client().judgments.create(body)
    same(judgment.restricted, True, "restricted")
    for token in ("judge-token", "service-token"):
        judging = partial(world.client(token).judgments.create, body)
        error = refused(AuthError, 403, "judge-class-not-allowed", judging)
        assert isinstance(error, AuthError)
        same(error.reason, "forbidden", "reason")
    world.client().judge_classes.update(made.id, {"assertableBy": None})
    later = world.client("judge-token").judgments.create(body)
    same(later.restricted, None, "restricted once the restriction is lifted")
    same(world.client().judgments.get(judgment.id).restricted, True, "restricted stays")


def principals_hidden(world: World) -> None:
    """A restricted class: its principals are for an admin, their number for every reader"""
    world.finish_run()
    made = create(world, assertableBy={"principalIds": [ADMIN, JUDGE]})
    for token, shown in (("test-token", [ADMIN, JUDGE]), ("reader-token", None)):
        classes = world.client(token).judge_classes
        listed = [row for row in paginate(classes.list, limit=100) if row.id == made.id]
        for seen in (classes.get(made.id), *listed):
            by = seen.assertable_by
            that(by is not None, "no restriction")
            assert by is not None
            ids = None if by.principal_ids is None else [id.root for id in by.principal_ids]
            same((ids, by.principal_count), (shown, 2), token)
        same(len(listed), 1, "rows of it")


def retired(world: World) -> None:
    """judgeClasses.unregister: it reads by id, lists no more, takes nothing, frees its name"""
    client = world.client()
    run = world.finish_run()
    made = create(world)
    body = {"runId": run, "item": {"key": "k"}, "verdict": "yes", "judgeClassId": made.id}
    judgment = client.judgments.create(body)
    taken = partial(create, world, name=made.name)
    refused(ConflictError, 409, "judge-class-name-taken", taken)
    gone = client.judge_classes.unregister(made.id)
    same((gone.judge_class_id, gone.unregistered), (made.id, True))
    that(client.judge_classes.get(made.id).unregistered_at is not None, "no unregisteredAt")
    rows = paginate(client.judge_classes.list, limit=100)
    that(made.id not in {row.id for row in rows}, "it still lists")
    same(client.judgments.get(judgment.id).judge_class_id, made.id, "old judgments name it")
    judging = partial(client.judgments.create, body)
    refused(InvalidRequestError, 400, "judge-class-not-applicable", judging)
    for again in (
        lambda: client.judge_classes.unregister(made.id),
        lambda: client.judge_classes.update(made.id, weight=3),
    ):
        refused(NotFoundError, 404, "judge-class-not-found", again)
    create(world, name=made.name)


CASES = (
    created_in_every_scope,
    listed_by_scope,
    paged,
    changed,
    restricted,
    principals_hidden,
    retired,
)
