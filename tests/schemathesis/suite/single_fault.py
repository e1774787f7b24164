"""Leaves an invalid request the one fault that was made on purpose.

The API refuses some of what the schemas allow (`exemptions.toml`). Were such a thing in an invalid
request, too, it would be refused for that, and nobody would see that the fault itself was taken."""

from __future__ import annotations

import copy
from typing import Any

from jsonschema import Draft202012Validator
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoverageScenario, coverage_scenario


def leave_single_fault(case: Any, name: str) -> None:
    faulty = faulty_parameters(case)
    if faulty is not None and case.query:
        case.query = dict(case.query)
        mend_query(case.query, name, faulty)
    if isinstance(case.body, dict):
        body = copy.deepcopy(case.body)
        if coverage_scenario(case) == CoverageScenario.ARRAY_ABOVE_MAX_ITEMS:
            mend_items(body)
        if isinstance(body.get("when"), dict):
            mend_when(body["when"], case.operation.schema.raw_schema)
        case.body = body


def faulty_parameters(case: Any) -> set[str] | None:
    """The names of the query's parameters that are wrong on purpose, if that can be told."""
    data = case.meta.phase.data
    faults = [data, *data.mutations]
    faults = [fault for fault in faults if fault.parameter_location == ParameterLocation.QUERY]
    names = {fault.parameter for fault in faults}
    if None in names and case.meta.phase.name.value != "coverage":
        return None
    return names


def mend_query(query: dict[str, Any], name: str, faulty: set[str]) -> None:
    def drop(*parameters: str) -> None:
        if not faulty.intersection(parameters):
            for parameter in parameters:
                query.pop(parameter, None)

    drop("cursor")
    if name == "judgments.list":
        drop("scopeKind", "scopeId")
        if "agentId" not in query:
            drop("agentVersion")
    if name == "judgeClasses.list" and "scopeKind" not in faulty:
        query.pop("scopeKind", None)
        if "agentId" in query:
            query.setdefault("projectId", "some")
            query["scopeKind"] = "agent"
        elif "projectId" in query:
            query["scopeKind"] = "project"
    if name == "projects.judgingRules.preview" and "agentIds" in query:
        drop("flowIds")
        if "flowIds" in query:
            drop("agentIds")


def mend_when(when: dict[str, Any], document: dict[str, Any]) -> None:
    def fits(field: str) -> bool:
        schema = {"$ref": f"#/components/schemas/JudgingRuleWhen/properties/{field}"}
        validator = Draft202012Validator(schema | {"components": document["components"]})
        return validator.is_valid(when[field])

    if "agentIds" in when and "flowIds" in when:
        for field in ("flowIds", "agentIds"):
            if fits(field):
                del when[field]
                break
    if "status" in when and fits("status"):
        when["status"] = ["completed"]


def mend_items(body: Any) -> None:
    """A list that is too long is made up of texts that are too long as well: its texts get short
    ones in their place."""
    if isinstance(body, dict):
        for field, value in body.items():
            if isinstance(value, list) and len(value) > 1 and isinstance(value[0], str):
                body[field] = [str(n) for n in range(len(value))]
            else:
                mend_items(value)
