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
root=$(CDPATH='' cd -- "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
venv=$target/schemathesis-venv

not_run() {
    echo
    echo "NOT RUN: the OpenAPI document's test did not run: $1"
    echo
    [ "${CI:-}" = true ] && exit 1
    exit 3
}

command -v python3 >/dev/null 2>&1 ||
    not_run "install Python 3.11 or later (python3)"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    not_run "install Python 3.11 or later; python3 is $(python3 --version)"

wanted=$(python3 --version && cat "$here/requirements.txt")
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$venv"
    mkdir -p "$target"
    python3 -m venv "$venv" ||
        not_run "install Python's venv module (on Debian and Ubuntu: python3-venv)"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        -r "$here/requirements.txt" ||
        not_run "pip could not install $here/requirements.txt; it needs a package index"
    printf '%s\n' "$wanted" >"$venv/installed"
fi

if [ -z "${AXUM_HOST:-}" ]; then
    (cd "$root" && cargo build --quiet -p axum-host) || exit 1
    AXUM_HOST=$target/debug/axum-host
    export AXUM_HOST
fi

cd "$here"
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" -m suite
