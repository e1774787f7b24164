"""What the cases work with: the demo's people, each with a client of their own."""

from __future__ import annotations

from types import TracebackType
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from kindgi.client import Kindgi

from .contract import Contract
from .recorder import Recorder

TENANT = "00000000-0000-4000-8000-000000000001"
PROJECT = "00000000-0000-4000-8000-0000000000a1"
SECOND_PROJECT = "00000000-0000-4000-8000-0000000000a2"
ORG = "00000000-0000-4000-8000-0000000000e1"
ADMIN = "00000000-0000-4000-8000-0000000000c1"
JUDGE = "00000000-0000-4000-8000-0000000000c2"


class World:
    """A running demo host, seen by its callers. For a `with` block."""

    def __init__(self, base_url: str) -> None:
        self.contract = Contract()
        url = urlsplit(base_url.rstrip("/"))
        self.recorder = Recorder(self.contract, url.path)
        self._api = url.geturl()
        self._host = f"{url.scheme}://{url.netloc}"
        # Answers of the API are recorded; the host's own routes are not the API's.
        self._http = httpx.Client(event_hooks={"response": [self.recorder.see]}, timeout=60)
        self._plain = httpx.Client(timeout=60)
        self._clients: dict[str, Kindgi] = {}
        # Nobody else's, so that lists hold what the cases made and nothing else.
        self.project = f"interop {uuid4()}"

    def __enter__(self) -> World:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._http.close()
        self._plain.close()

    def client(self, token: str = "test-token") -> Kindgi:
        """The real client, as the owner of a token. It never tries again by itself."""
        if token not in self._clients:
            self._clients[token] = Kindgi(
                self._api, token=token, max_retries=0, http_client=self._http
            )
        return self._clients[token]

    def raw(self, method: str, path: str, **request: Any) -> httpx.Response:
        """A request that the client would not send, recorded like those that it does."""
        headers = {"Authorization": "Bearer test-token", **request.pop("headers", {})}
        return self._http.request(method, self._api + path, headers=headers, **request)

    def finish_run(self, **fields: Any) -> str:
        """Finishes a run in the host, in the project of these cases, and gives its id."""
        return str(self._demo("/demo/runs", {"projectId": self.project, **fields})["runId"])

    def erase_run(self, run: str) -> None:
        """Erases a run in the host."""
        self._demo(f"/demo/runs/{run}/erase", {})

    def _demo(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": "Bearer test-token"}
        answer = self._plain.post(self._host + path, headers=headers, json=body)
        answer.raise_for_status()
        return answer.json()

    def take_faults(self) -> list[str]:
        """What was wrong with the answers since this was last asked."""
        return self.recorder.take_faults()
