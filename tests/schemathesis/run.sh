#!/bin/sh
# Checks the API's OpenAPI document, and has schemathesis make requests of it against the demo
# host, once for each store: odd ones that must be refused, and valid ones that must be taken.
#
#   tests/schemathesis/run.sh
#
# AXUM_HOST names a host's binary to start; unset, cargo builds it. EXAMPLES is how many requests
# are made up for each operation and store (15 unless set; 500 and more for the long form), SEED
# is where chance begins (1 unless set; `random` for a new one). What is needed is installed into a
# virtual environment below cargo's target directory, once for each change of requirements.txt.
#
# Exits 0 when everything passed, 1 when something failed, and 3 when it could not run at all
# (1 in CI, where the variable CI is `true`).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what='the OpenAPI document'
. "$here/../setup.sh"

need_venv
need_host
start_postgres

cd "$here"
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" -m suite
