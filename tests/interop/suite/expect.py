"""Assertions that say what they saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kindgi.client import KindgiApiError


def same(actual: object, expected: object, what: str = "") -> None:
    """Both are equal."""
    if actual != expected:
        raise AssertionError(f"{what or 'value'}: {actual!r} is not {expected!r}")


def that(holds: bool, what: str) -> None:
    """It holds."""
    if not holds:
        raise AssertionError(what)


def refused(
    kind: type[KindgiApiError], status: int, code: str, call: Callable[[], Any]
) -> KindgiApiError:
    """The call is refused: the client raises this exception, with status, code and request id."""
    try:
        answer = call()
    except KindgiApiError as error:
        same(type(error), kind, f"exception for {code}")
        same((error.status, error.server_code), (status, code), error.message)
        that(bool(error.request_id), "the exception carries no request id")
        that(bool(error.message), "the exception carries no message")
        return error
    raise AssertionError(f"{code} was expected, and it answered {answer!r}")
