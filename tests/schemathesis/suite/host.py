"""The demo host, with something of everything."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

import demo_host  # noqa: E402, from the folder above

RUNS = 400
QUEUED = 300


class DemoHost(demo_host.DemoHost):
    """A demo host at the root."""

    def __init__(self, binary: str, database: str) -> None:
        settings = {
            "DATABASE_URL": database,
            "MOUNT": "",
            "RUNS": str(RUNS),
            "SEED_QUEUE": str(QUEUED),
        }
        super().__init__(binary, settings)
