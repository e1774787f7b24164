"""Sees every answer as it comes over the wire, before the client reads it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx

from .contract import Contract, Operation, faults

# Its keys repeat on purpose, and so do those of what is copied from it.
REPEATS_KEYS = "run-verbatim"


@dataclass(frozen=True)
class Answer:
    """One answer of an operation, parsed."""

    operation: Operation
    status: int
    body: Any
    text: str


class Recorder:
    """Checks every answer against the contract, and keeps it."""

    def __init__(self, contract: Contract, mount: str) -> None:
        self.answers: list[Answer] = []
        self._contract = contract
        self._mount = mount
        self._faults: list[str] = []

    def take_faults(self) -> list[str]:
        """What was wrong since this was last asked."""
        taken, self._faults = self._faults, []
        return taken

    def see(self, response: httpx.Response) -> None:
        """An event hook: one answer came in."""
        response.read()
        request = response.request
        path = request.url.raw_path.decode("ascii").partition("?")[0]
        where = f"{request.method} {path} {response.status_code}"
        found = list(self._check(response, request.method, path.removeprefix(self._mount)))
        self._faults += [f"{where}: {fault}" for fault in found]

    def _check(self, response: httpx.Response, method: str, path: str) -> list[str]:
        found = header_faults(response)
        if response.request.method == "HEAD":
            return found + ([] if response.content == b"" else ["HEAD has a body"])
        try:
            body = json.loads(response.text, object_pairs_hook=no_repeated_keys)
        except RepeatedKey as repeated:
            body = json.loads(response.text)
            if REPEATS_KEYS not in response.text:
                found.append(f"the key {repeated} is there twice")
        except ValueError as error:
            return [*found, f"the body isn't JSON: {error}"]

        operation = self._contract.operation(method, path)
        if operation is None:
            # No operation's, so an error that every route may give.
            validator = self._contract.error_validator()
        else:
            validator = self._contract.validator(operation, response.status_code)
            if validator is None:
                return [*found, f"{operation.id} has no such status"]
            self.answers.append(Answer(operation, response.status_code, body, response.text))
        found += faults(validator, body)
        if response.status_code >= 400 and not found:
            found += self._error_faults(response, body["error"])
        return found

    def _error_faults(self, response: httpx.Response, error: dict[str, Any]) -> list[str]:
        found = []
        expected = self._contract.status_of_code[error["code"]]
        if expected != response.status_code:
            found.append(f"{error['code']} belongs to status {expected}")
        if error["requestId"] != response.headers["x-request-id"]:
            found.append("requestId isn't what X-Request-Id says")
        if error["message"] == "":
            found.append("an empty message")
        return found


def header_faults(response: httpx.Response) -> list[str]:
    """What is wrong with the headers that every answer has."""
    headers = response.headers
    found = []
    if headers.get("content-type") != "application/json":
        found.append(f"content-type is {headers.get('content-type')}")
    if headers.get("cache-control") != "no-store":
        found.append(f"cache-control is {headers.get('cache-control')}")
    if not headers.get("x-request-id"):
        found.append("no x-request-id")
    if response.status_code == 401 and headers.get("www-authenticate") != "Bearer":
        found.append(f"www-authenticate is {headers.get('www-authenticate')}")
    if response.status_code == 405 and not headers.get("allow"):
        found.append("no allow")
    return found


class RepeatedKey(Exception):
    """A key that an object has twice."""


def no_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Builds an object, unless a key repeats."""
    built: dict[str, Any] = {}
    for key, value in pairs:
        if key in built:
            raise RepeatedKey(key)
        built[key] = value
    return built
