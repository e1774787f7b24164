"""Refusals: the exceptions that the client makes of them, and those it can't provoke."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
from kindgi.client import AuthError, ConflictError, InvalidRequestError, NotFoundError

from .expect import refused, same, that
from .world import World

ITEM = {"key": "k", "pointer": "/matches/0"}


def authentication(world: World) -> None:
    """A token that lets nobody in is an AuthError with its reason"""
    for token, code, reason in (
        ("nobody's", "auth-missing", "unauthenticated"),
        ("expired-token", "auth-expired", "token-expired"),
        ("revoked-token", "auth-revoked", "unauthenticated"),
    ):
        error = refused(AuthError, 401, code, world.client(token).judgments.list)
        assert isinstance(error, AuthError)
        same(error.reason, reason, code)
    for value in ("", "Bearer", "test-token", "Basic dGVzdC10b2tlbg=="):
        wire(world, 401, "auth-missing", "GET", "/v1/judgments", headers={"Authorization": value})


def permission(world: World) -> None:
    """What may be read but not done is a 403, what may not be read a 404"""
    run = world.finish_run()
    body = {"runId": run, "item": ITEM, "verdict": "yes"}
    made = world.client().judgments.create(body)
    label = world.client().judge_classes.create(
        scope={"kind": "project", "projectId": world.project}, name=f"of {run}", weight=1
    )
    reader, stranger = world.client("reader-token"), world.client("project-token")
    for call in (
        lambda: reader.judgments.create(body),
        lambda: reader.judgments.unregister(made.id),
        lambda: reader.judge_classes.create(scope={"kind": "tenant"}, name="mine", weight=1),
        lambda: reader.judge_classes.update(label.id, weight=2),
        lambda: reader.judge_classes.unregister(label.id),
    ):
        error = refused(AuthError, 403, "permission-denied", call)
        assert isinstance(error, AuthError)
        same(error.reason, "forbidden", "reason")
    scope = {"kind": "project", "projectId": world.project}
    for code, call in (
        ("run-not-found", lambda: stranger.judgments.create(body)),
        ("judgment-not-found", lambda: stranger.judgments.get(made.id)),
        ("judgment-not-found", lambda: stranger.judgments.unregister(made.id)),
        ("judge-class-not-found", lambda: stranger.judge_classes.get(label.id)),
        ("judge-class-not-found", lambda: stranger.judge_classes.update(label.id, weight=2)),
        ("judge-class-not-found", lambda: stranger.judge_classes.unregister(label.id)),
        (
            "project-not-found",
            lambda: stranger.judge_classes.create(scope=scope, name="mine", weight=1),
        ),
    ):
        refused(NotFoundError, 404, code, call)


def state(world: World) -> None:
    """A run or an item that can't be judged says why"""
    client = world.client()

    def judging(run: str, pointer: str = "") -> Any:
        item = {"key": "k", "pointer": pointer}
        return partial(client.judgments.create, run_id=run, item=item, verdict="yes")

    for run in ("run-running", "run-failed", "run-null-output"):
        refused(ConflictError, 409, "run-not-finished", judging(run))
    refused(NotFoundError, 410, "run-erased", judging("run-erased"))
    for run in ("nothing", "run-other-tenant", "a/b?c#d é"):
        refused(NotFoundError, 404, "run-not-found", judging(run))
    run = world.finish_run()
    error = refused(InvalidRequestError, 400, "item-not-found", judging(run, "/matches/10"))
    same(error.details.get("field"), "/item/pointer", "details.field")
    error = refused(InvalidRequestError, 400, "bad-input", judging(run, "matches"))
    same(error.details.get("field"), "/item/pointer", "details.field")
    for read in (client.judgments.get, client.judgments.unregister):
        for id in ("nothing", "a/b", "?", "%"):
            refused(NotFoundError, 404, "judgment-not-found", partial(read, id))
    for call in (client.judge_classes.get, client.judge_classes.unregister):
        refused(NotFoundError, 404, "judge-class-not-found", partial(call, "a/b"))


def bodies(world: World) -> None:
    """A wrong body says which field is wrong"""
    client = world.client()
    run = world.finish_run()

    def judging(**change: Any) -> Any:
        return {"runId": run, "item": ITEM, "verdict": "yes"} | change

    unknown = partial(client.judgments.create, judging(x=1))
    refused(InvalidRequestError, 400, "unknown-field", unknown)
    for body, field in (
        (judging(verdict="maybe"), "/verdict"),
        (judging(verdict=None), "/verdict"),
        (judging(item={"key": ""}), "/item/key"),
        (judging(item={"key": "k", "rank": 1.5}), "/item/rank"),
        (judging(item={"pointer": ""}), "/item/key"),
        (judging(reason="x" * 4001), "/reason"),
        (judging(reason="\0"), "/reason"),
        (judging(participantId=7), "/participantId"),
        (judging(item={"key": "kindgi:mine"}), "/item/key"),
    ):
        error = wire(world, 400, "bad-input", "POST", "/v1/judgments", json=body)
        same(error["details"].get("field"), field, str(body))
    for text in (
        b"",
        b"{",
        b"[]",
        b'\xef\xbb\xbf{"runId":"r"}',
        b'{"runId":"\xff"}',
        b'{"runId":"\\ud800","item":{"key":"k"},"verdict":"yes"}',
        b'{"runId":"r","runId":"r","item":{"key":"k"},"verdict":"yes"}',
    ):
        wire(world, 400, "bad-input", "POST", "/v1/judgments", content=text)
    key = {"Idempotency-Key": "x" * 256}
    wire(world, 400, "bad-input", "POST", "/v1/judgments", json=judging(), headers=key)
    kind = {"Content-Type": "text/plain"}
    wire(world, 415, "unsupported-media-type", "POST", "/v1/judgments", content=b"{}", headers=kind)


def too_large(world: World) -> None:
    """A body over the limit is refused with the limit"""
    large = {"runId": "r", "item": ITEM, "verdict": "yes", "reason": "x" * (1 << 20)}
    # Often, since an answer that closes the connection too early is lost only now and then.
    for _ in range(50):
        error = wire(world, 413, "request-too-large", "POST", "/v1/judgments", json=large)
        same(error["details"].get("maxBytes"), 1 << 20, "details.maxBytes")


def queries(world: World) -> None:
    """A misspelled or broken filter never widens a list"""
    run = world.finish_run()
    for key in ("a", "b", "c"):
        item = {"key": key}
        world.client().judgments.create(run_id=run, item=item, verdict="yes")
    first = world.client().judgments.list(run_id=run, limit=1)
    cursor = first.next_cursor or ""
    for query in (
        "limit=0",
        "limit=101",
        "limit=1.5",
        "limit=1&limit=1",
        "limit=",
        "run_id=x",
        "runId=",
        "inherit=true",
        "verdict=maybe",
        "agentVersion=1",
        "cursor=",
        "cursor=garbled",
        f"cursor={cursor}x",
        f"cursor={cursor}&runId=another",
        "runId=%ff",
    ):
        wire(world, 400, "bad-input", "GET", f"/v1/judgments?{query}")
    for query in ("scopeKind=org", "scopeKind=project", "scopeKind=planet", "scopeId=x"):
        wire(world, 400, "scope-invalid", "GET", f"/v1/judgments?{query}")
    wire(world, 400, "scope-invalid", "GET", "/v1/judgments?scopeKind=tenant&scopeId=x")
    for query in ("projectId=x", "scopeKind=project", "scopeKind=agent&projectId=x"):
        wire(world, 400, "bad-input", "GET", f"/v1/judge-classes?{query}")


def routes(world: World) -> None:
    """Unknown paths are 404, known ones with another method 405 with Allow, HEAD is GET"""
    for path in (
        "/v1/nothing",
        "/v1/judgments/",
        "/v1/judgments//unregister",
        "/v1/judge-classes/",
    ):
        wire(world, 404, "not-found", "GET", path)
    for method, path, allowed in (
        ("DELETE", "/v1/judgments", {"GET", "HEAD", "POST"}),
        ("PUT", "/v1/judge-classes/x", {"GET", "HEAD", "PATCH"}),
        ("GET", "/v1/judgments/x/unregister", {"POST"}),
    ):
        answer = world.raw(method, path)
        same(answer.status_code, 405, f"{method} {path}")
        same(answer.json()["error"]["code"], "method-not-allowed", path)
        allow = {name.strip() for name in answer.headers["allow"].split(",")}
        same(allow, allowed, f"Allow of {path}")
    for path, status in (("/v1/judgments", 200), ("/v1/judge-classes/nothing", 404)):
        same(world.raw("HEAD", path).status_code, status, f"HEAD {path}")


def wire(
    world: World, status: int, code: str, method: str, path: str, **request: Any
) -> dict[str, Any]:
    """Sends what the client would not, and gives the error it must meet."""
    answer: httpx.Response = world.raw(method, path, **request)
    error = answer.json().get("error", {})
    seen = (answer.status_code, error.get("code"))
    same(seen, (status, code), f"{method} {path[:80]} {str(request)[:80]}")
    that(bool(error.get("message")), "no message")
    return {"details": {}, **error}


CASES = (authentication, permission, state, bodies, too_large, queries, routes)
