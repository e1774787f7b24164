"""Validates the document, and runs schemathesis on each store."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from openapi_spec_validator import OpenAPIV31SpecValidator

from .host import DemoHost
from .world import TOKEN

EXAMPLES = os.environ.get("EXAMPLES", "15")
SEED = os.environ.get("SEED", "1")
# Unset where PostgreSQL isn't installed, which run.sh has said.
POSTGRES = os.environ.get("POSTGRES_URL")
STORES = os.environ.get("STORES", f"memory sqlite{' postgres' if POSTGRES else ''}").split()
# The stateful phase goes on with ids that the service made, which are others in each run, so it
# finds something else each time: for the long form.
PHASES = os.environ.get("PHASES", "examples,coverage,fuzzing")


def main() -> int:
    seed = str(random.randrange(2**32)) if SEED == "random" else SEED
    failed = []
    with tempfile.TemporaryDirectory() as work:
        databases = {
            "memory": "memory:",
            "sqlite": f"sqlite:{work}/schemathesis.db",
            "postgres": POSTGRES,
        }
        for store in STORES:
            with DemoHost(os.environ["AXUM_HOST"], databases[store]) as host:
                if not passes(host.base_url, store, seed, Path(work)):
                    failed.append(store)
    if failed:
        print(f"failed on {', '.join(failed)}, with SEED={seed} EXAMPLES={EXAMPLES}")
    return 1 if failed else 0


def passes(base_url: str, store: str, seed: str, work: Path) -> bool:
    location = f"{base_url}/v1/openapi.json"
    with urlopen(location) as answer:
        document = json.load(answer)
    OpenAPIV31SpecValidator(document).validate()
    operations = [
        operation["operationId"]
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if path != "/v1/openapi.json"
    ]
    assert document["servers"] == [{"url": "/"}], document["servers"]
    print(f"{store}: the document is valid OpenAPI 3.1; {len(operations)} operations")

    summary = work / f"{store}.json"
    told = os.environ | {
        "SCHEMATHESIS_HOOKS": "suite.hooks",
        "SUITE_BASE_URL": base_url,
        "SUITE_SUMMARY": str(summary),
        "PYTHONPATH": ".",
    }
    command = [
        Path(sys.executable).with_name("st"),
        "--config-file=schemathesis.toml",
        "run",
        location,
        f"--header=Authorization: Bearer {TOKEN}",
        "--checks=all",
        # Ours are in their place. The one of valid requests is stricter: it takes no refusal by
        # state that isn't listed.
        "--exclude-checks=positive_data_acceptance,negative_data_rejection",
        f"--max-examples={EXAMPLES}",
        f"--seed={seed}",
        f"--phases={PHASES}",
        "--continue-on-failure",
        "--warnings=off",
        "--no-color",
    ]
    run = subprocess.run(command, env=told, text=True, capture_output=True)
    output = run.stdout + run.stderr
    if run.returncode != 0:
        print(output)
        return False
    found = json.loads(summary.read_text())
    print(*(f"  {line.strip()}" for line in output.splitlines() if "generated" in line), sep="\n")
    exempted = sorted(found["exempted"].items())
    print("  refused as exempt: " + ", ".join(f"{what} ({n})" for what, n in exempted))
    refused = sorted(found["refused"].items())
    print("  invalid and refused: " + ", ".join(f"by {status} ({n})" for status, n in refused))
    never = sorted(set(operations) - set(found["accepted"]))
    if never:
        print(f"  no valid request was taken by {', '.join(never)}")
    return not never


sys.exit(main())
