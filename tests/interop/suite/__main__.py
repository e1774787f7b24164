"""Runs all cases against a host, or against one for each store and one below a path."""

from __future__ import annotations

import os
import sys
import tempfile

from . import (
    cases_classes,
    cases_errors,
    cases_judgments,
    cases_queue,
    cases_results,
    cases_rules,
    cases_whole,
)
from .host import DemoHost
from .report import Report
from .world import World

CASES = (
    cases_judgments,
    cases_classes,
    cases_rules,
    cases_queue,
    cases_results,
    cases_errors,
    cases_whole,
)


def main(arguments: list[str]) -> int:
    report = Report()
    if arguments:
        run(arguments[0], report)
    else:
        binary = os.environ["AXUM_HOST"]
        with tempfile.TemporaryDirectory() as folder:
            databases = ["memory:", f"sqlite:{folder}/judgments.db"]
            # Unset where PostgreSQL isn't installed, which run.sh has said.
            databases += filter(None, [os.environ.get("POSTGRES_URL")])
            for database, mount in [*((database, "") for database in databases), ("memory:", "/kindgi")]:
                print(f"the host's store: {database}")
                with DemoHost(binary, database, mount) as host:
                    run(host.base_url, report)
    print(report.summary())
    return 0 if report.is_clean() else 1


def run(base_url: str, report: Report) -> None:
    print(f"the client against {base_url}")
    with World(base_url) as world:
        for module in CASES:
            for case in module.CASES:
                report.run(case, world)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
