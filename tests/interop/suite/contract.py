"""The API's facts, and whether an answer keeps to them.

Answers are checked closed: an object whose schema names its properties has no others, although
the facts leave that open for the sake of clients. Where a schema says nothing, anything may be.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.protocols import Validator

FILE = Path(__file__).parents[1] / "contract.json"
METHODS = ("get", "post", "put", "patch", "delete")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

formats = FormatChecker(formats=())


@formats.checks("date-time")
def is_time(value: object) -> bool:
    """RFC 3339 in UTC, with milliseconds and `Z`."""
    if not isinstance(value, str):
        return True
    if not TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Operation:
    """One operation of the API."""

    id: str
    method: str
    path: str
    responses: dict[str, Any]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{[^}]+\}", self.path)
        return re.compile("[^/]+".join(map(re.escape, parts)))


class Contract:
    """The facts file, with its operations."""

    def __init__(self) -> None:
        facts = json.loads(FILE.read_text(encoding="utf-8"))
        self.status_of_code: dict[str, int] = facts["x-error-codes"]
        self._components = close(facts["components"])
        self._validators: dict[str, Validator] = {}
        self.operations = [
            Operation(facts_of["operationId"], method.upper(), path, facts_of["responses"])
            for path, methods in facts["paths"].items()
            for method, facts_of in methods.items()
            if method in METHODS
        ]
        # A path without a parameter at a place comes before one with it.
        self.operations.sort(key=lambda operation: operation.path.count("{"))

    def operation(self, method: str, path: str) -> Operation | None:
        """The operation of a request, `path` being what follows the mount."""
        matching = [each for each in self.operations if each.pattern.fullmatch(path)]
        for operation in matching:
            if operation.method == method and operation.path == matching[0].path:
                return operation
        return None

    def validator(self, operation: Operation, status: int) -> Validator | None:
        """Checks an answer's body; `None` for a status that isn't the API's."""
        response = operation.responses.get(str(status))
        if response is None:
            return None
        return self._validator(response["content"]["application/json"]["schema"]["$ref"])

    def error_validator(self) -> Validator:
        """Checks the body of every error."""
        return self._validator("#/components/schemas/WireError")

    def _validator(self, reference: str) -> Validator:
        # Kept, because a validator reads all components before it checks anything.
        if reference not in self._validators:
            whole = {"$ref": reference, "components": self._components}
            validator = Draft202012Validator(whole, format_checker=formats)
            self._validators[reference] = validator
        return self._validators[reference]


def close(schema: Any) -> Any:
    """A copy of a schema in which objects that name their properties have no others."""
    if isinstance(schema, list):
        return [close(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


def faults(validator: Validator, body: Any) -> list[str]:
    """What is wrong with a body, and where."""
    return [
        f"{error.json_path}: {error.message[:300]}"
        for error in sorted(validator.iter_errors(body), key=lambda error: error.json_path)
    ]
