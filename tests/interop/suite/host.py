"""The demo host, with an empty queue."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

import demo_host  # noqa: E402, from the folder above


class DemoHost(demo_host.DemoHost):
    """A demo host, mounted somewhere."""

    def __init__(self, binary: str, database: str, mount: str) -> None:
        settings = {"DATABASE_URL": database, "MOUNT": mount, "RUNS": "200", "SEED_QUEUE": "0"}
        super().__init__(binary, settings)
        self.base_url += mount
