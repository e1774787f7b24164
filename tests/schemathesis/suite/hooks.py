"""Loaded by schemathesis: makes every second valid request one about something that is there,
and checks what schemathesis doesn't: that a refused valid request is an exemption, that an invalid
one is refused for its shape, and that an error's code is documented for its status."""

from __future__ import annotations

import atexit
import copy
import itertools
import json
import os
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import schemathesis
from schemathesis.core.transport import Response
from schemathesis.generation.meta import (
    CONTENT_TYPE_PROBES,
    CoverageScenario,
    coverage_scenario,
)
from schemathesis.specs.openapi.checks import negative_data_rejection

from .host import RUNS
from .single_fault import leave_single_fault
from .world import ORG, PROJECT, TOKEN, World

EXEMPTIONS = tomllib.loads((Path(__file__).parent.parent / "exemptions.toml").read_text())
WORLD = World(os.environ["SUITE_BASE_URL"], RUNS)
BEYOND_LIMITS = {
    CoverageScenario.VALUE_ABOVE_MAXIMUM,
    CoverageScenario.VALUE_BELOW_MINIMUM,
    CoverageScenario.STRING_ABOVE_MAX_LENGTH,
    CoverageScenario.STRING_BELOW_MIN_LENGTH,
    CoverageScenario.ARRAY_ABOVE_MAX_ITEMS,
    CoverageScenario.ARRAY_BELOW_MIN_ITEMS,
    CoverageScenario.OBJECT_ABOVE_MAX_PROPERTIES,
}
TURNS = itertools.count()
ACCEPTED: Counter[str] = Counter()
EXEMPTED: Counter[str] = Counter()
REFUSED: Counter[str] = Counter()
# The valid requests that were edited here. They stay valid, whatever schemathesis takes an edit for.
EDITED: set[str] = set()
# And the invalid ones, which stay invalid.
INVALID: set[str] = set()


def operation_id(case: Any) -> str:
    return case.operation.definition.raw["operationId"]


def is_valid(case: Any) -> bool:
    if case.id in EDITED or case.id in INVALID:
        return case.id in EDITED
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    if is_valid(case) and next(TURNS) % 2:
        EDITED.add(case.id)
        name = operation_id(case)
        # Cases share their parts.
        case.path_parameters = dict(case.path_parameters or {})
        case.query = dict(case.query or {})
        case.body = copy.deepcopy(case.body) if isinstance(case.body, dict) else case.body
        if "Idempotency-Key" in case.headers:
            case.headers["Idempotency-Key"] = WORLD.name().replace(" ", "-")
        about_what_is_there(case, name)
        if isinstance(case.body, dict):
            body_about_what_is_there(case.body, name)
        query_about_what_is_there(case, name)
    elif not is_valid(case) and case.meta is not None:
        INVALID.add(case.id)
        leave_single_fault(case, operation_id(case))


def about_what_is_there(case: Any, name: str) -> None:
    path = case.path_parameters
    if "projectId" in path:
        path["projectId"] = PROJECT
    if "ruleId" in path:
        path["ruleId"] = WORLD.rule()
    if "judgmentId" in path:
        path["judgmentId"] = WORLD.judgment()
    if "judgeClassId" in path:
        path["judgeClassId"] = WORLD.judge_class()
    if name == "projects.judgingQueue.dismiss":
        path["runId"] = WORLD.open_item()
    if name == "projects.judgingQueue.reopen":
        path["runId"] = WORLD.dismissed_item()


def body_about_what_is_there(body: dict[str, Any], name: str) -> None:
    if body.get("judgeClassId") is not None:
        body["judgeClassId"] = WORLD.judge_class()
    if name == "judgments.create":
        body["runId"] = WORLD.run()
        if "pointer" in body["item"]:
            body["item"]["pointer"] = "" if "correction" in body else "/matches/0"
    if name == "judgeClasses.create":
        body["name"] = WORLD.name()
        if "projectId" in body["scope"]:
            body["scope"]["projectId"] = PROJECT
    when = body.get("when", {})
    if "status" in when:
        when["status"] = ["completed"]
    if "agentIds" in when:
        when.pop("flowIds", None)


def query_about_what_is_there(case: Any, name: str) -> None:
    query = case.query
    query.pop("cursor", None)
    if name == "judgments.list":
        query.setdefault("agentId", "acme.matcher")
        scope = {"org": ORG, "project": PROJECT}.get(query.get("scopeKind"))
        query.pop("scopeId", None)
        if scope is not None:
            query["scopeId"] = scope
    if name == "judgeClasses.list":
        takes = {"project": ["projectId"], "agent": ["projectId", "agentId"]}
        takes = takes.get(query.get("scopeKind"), [])
        for field in ("projectId", "agentId"):
            query.pop(field, None)
        query.update((field, "some") for field in takes)
    if name == "projects.judgingRules.preview":
        if "agentIds" in query:
            query.pop("flowIds", None)
        if "ruleId" in query:
            query["ruleId"] = WORLD.rule()


@schemathesis.check
def valid_request_is_taken_or_exempt(ctx: Any, response: Response, case: Any) -> None:
    if not is_valid(case) or not has_its_method(case):
        return
    name = operation_id(case)
    if response.status_code < 400:
        ACCEPTED[name] += 1
        return
    # Checks of authentication take the token away.
    if response.status_code == 401:
        return
    error = response.json()["error"]
    field = error.get("details", {}).get("field", "")
    for exemption in EXEMPTIONS["exemption"]:
        if (
            name in exemption["operations"]
            and error["code"] == exemption["code"]
            and re.fullmatch(exemption.get("field", ".*"), field)
        ):
            EXEMPTED[f"{exemption['code']} {exemption.get('field', '')}".strip()] += 1
            return
    raise AssertionError(f"{name} refused a valid request: {response.text}")


@schemathesis.check
def invalid_request_is_refused(ctx: Any, response: Response, case: Any) -> None:
    """What the document doesn't allow is refused for its shape, by 400: the API checks that before
    it looks for anything. A 403, 404 or 409 would mean that the shape was taken, so it fails."""
    if is_valid(case) or case.meta is None:
        return
    expected = refused_for_no_shape(response, case)
    if expected is None:
        # With the statuses of `schemathesis.toml`. It lets pass what is valid once it is sent, such
        # as the one value of an array, and a parameter or header that the document doesn't have.
        negative_data_rejection(ctx, response, case)
        must = breaks_limit(case) or has_unknown_parameter(response, case)
        expected = 400 if must else None
    else:
        REFUSED[str(expected)] += 1
    if response.status_code == 400:
        REFUSED["400"] += 1
    assert expected in (None, response.status_code), (
        f"{operation_id(case)} answered an invalid request by {response.status_code}, "
        f"not {expected}: {response.text}"
    )


def refused_for_no_shape(response: Response, case: Any) -> int | None:
    """The status of a request that is wrong in what the API checks before its shape, if it is."""
    if not has_its_method(case):
        return 405
    if response.request.headers.get("Authorization") != f"Bearer {TOKEN}":
        return 401
    # Reads have no body, and so no type of it.
    if coverage_scenario(case) in CONTENT_TYPE_PROBES and case.method not in ("GET", "HEAD"):
        return 415
    return None


def breaks_limit(case: Any) -> bool:
    """Whether a value is just beyond a limit, which reads as such once it is sent, too."""
    return coverage_scenario(case) in BEYOND_LIMITS


def has_unknown_parameter(response: Response, case: Any) -> bool:
    """Whether the query, as it was sent, has a parameter that the operation hasn't. Headers may be
    any."""
    known = {parameter.name for parameter in case.operation.query}
    query = urlsplit(response.request.url or "").query
    return not known.issuperset(name for name, _ in parse_qsl(query, keep_blank_values=True))


@schemathesis.check
def error_code_is_documented(ctx: Any, response: Response, case: Any) -> None:
    if response.status_code < 400 or case.method == "HEAD" or not has_its_method(case):
        return
    responses = case.operation.definition.raw["responses"]
    code = response.json()["error"]["code"]
    documented = responses.get(str(response.status_code), {}).get("x-error-codes", [])
    assert code in documented, f"{code} isn't among {documented} of {response.status_code}"


def has_its_method(case: Any) -> bool:
    """Whether the request has the operation's own method, not one that the path hasn't."""
    return case.method.upper() == case.operation.method.upper()


@atexit.register
def write_summary() -> None:
    summary = {"accepted": ACCEPTED, "exempted": EXEMPTED, "refused": REFUSED}
    Path(os.environ["SUITE_SUMMARY"]).write_text(json.dumps(summary))
