"""What is there in the host for a valid request to be about."""

from __future__ import annotations

import itertools
import json
from typing import Any
from urllib.request import Request, urlopen

TOKEN = "test-token"
PROJECT = "00000000-0000-4000-8000-0000000000a1"
ORG = "00000000-0000-4000-8000-0000000000e1"
RULES = f"/v1/projects/{PROJECT}/judging-rules"
QUEUE = f"/v1/projects/{PROJECT}/judging-queue"


class World:
    """Makes things as they are needed, each once."""

    def __init__(self, base_url: str, runs: int) -> None:
        self._base_url = base_url
        self._count = itertools.count()
        self._runs = itertools.cycle(f"run-{n}" for n in range(runs))
        page = self._call("GET", f"{QUEUE}?limit=100&state=open")
        self._open = []
        while True:
            self._open += [item["runId"] for item in page["data"]]
            if not page["hasMore"]:
                break
            cursor = page["nextCursor"]
            page = self._call("GET", f"{QUEUE}?limit=100&state=open&cursor={cursor}")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        with urlopen(Request(self._base_url + path, data, headers, method=method)) as answer:
            return json.load(answer)

    def name(self) -> str:
        """A name that nothing has."""
        return f"made for the test, {next(self._count)}"

    def run(self) -> str:
        """A run that can be judged."""
        return next(self._runs)

    def judgment(self) -> str:
        """A live judgment."""
        body = {"runId": self.run(), "item": {"key": self.name()}, "verdict": "yes"}
        return self._call("POST", "/v1/judgments", body)["id"]

    def judge_class(self) -> str:
        """A live class of the tenant, for everyone."""
        body = {"scope": {"kind": "tenant"}, "name": self.name(), "weight": 1}
        return self._call("POST", "/v1/judge-classes", body)["id"]

    def rule(self) -> str:
        """A live rule."""
        body = {"name": self.name(), "when": {}, "enabled": False}
        return self._call("POST", RULES, body)["ruleId"]

    def open_item(self) -> str:
        """The run of an open item."""
        run = self._open.pop(0)
        self._open.append(run)
        path = f"{QUEUE}/{run}"
        state = self._state(run)
        if state == "dismissed":
            self._call("POST", f"{path}/reopen")
        return run

    def dismissed_item(self) -> str:
        """The run of a dismissed item."""
        run = self.open_item()
        self._call("POST", f"{QUEUE}/{run}/dismiss")
        return run

    def _state(self, run: str) -> str:
        path = f"{QUEUE}?limit=100&state=dismissed"
        dismissed = {item["runId"] for item in self._call("GET", path)["data"]}
        return "dismissed" if run in dismissed else "open"
