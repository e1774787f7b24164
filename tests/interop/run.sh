#!/bin/sh
# Runs every operation of the API with the public Python client against the demo host, and checks
# every answer against the API's schemas.
#
#   tests/interop/run.sh              starts the demo host, once for each store, and below a path
#   tests/interop/run.sh BASE_URL     uses a fresh demo host that runs already; BASE_URL ends
#                                     with its MOUNT, if it has one
#
# AXUM_HOST names a host's binary to start; unset, cargo builds it. The client is installed into a
# virtual environment below cargo's target directory, once for each change of requirements.txt.
#
# Exits 0 when everything passed, 1 when something failed, and 3 when it could not run at all
# (1 in CI, where the variable CI is `true`).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what='the real client'
. "$here/../setup.sh"

need_venv
if [ $# -eq 0 ]; then
    need_host
    start_postgres
fi

cd "$here"
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" -m suite "$@"
