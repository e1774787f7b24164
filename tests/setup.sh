# What the scripts below tests/ share that drive the demo host. A script says what it tests, sets
# `here` to its own folder, and reads this file:
#
#   what='the tutorial'
#   . "$here/../setup.sh"

root=$(CDPATH='' cd -- "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

# Ends with 3, since it can't run here, or with 1 in CI; and says what to install.
not_run() {
    echo
    echo "NOT RUN: $what's test did not run: $1"
    echo
    [ "${CI:-}" = true ] && exit 1
    exit 3
}

# A virtual environment below cargo's target directory with what requirements.txt wants, made once
# for each change of it; `venv` is where. It is named after the script's folder.
need_venv() {
    command -v python3 >/dev/null 2>&1 ||
        not_run "install Python 3.11 or later (python3)"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        not_run "install Python 3.11 or later; python3 is $(python3 --version)"
    venv=$target/${here##*/}-venv
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
}

# The demo host's binary, `AXUM_HOST`, which cargo builds unless it is set.
need_host() {
    if [ -z "${AXUM_HOST:-}" ]; then
        (cd "$root" && cargo build --quiet -p axum-host) || exit 1
        AXUM_HOST=$target/debug/axum-host
    fi
    export AXUM_HOST
}

# The URL of a fresh database, `POSTGRES_URL`, on a PostgreSQL server of one's own that ends with this
# process, or with what it becomes by `exec`. Empty, and said loudly, where PostgreSQL isn't installed.
start_postgres() {
    (cd "$root" && cargo build --quiet -p kindgi-test-servers --bin test-postgres) || exit 1
    POSTGRES_URL=
    postgres=$(mktemp -d)
    mkfifo "$postgres/held"
    "$target/debug/test-postgres" <"$postgres/held" >"$postgres/said" &
    server=$!
    # The server's standard input ends when nobody has this open any more.
    exec 9>"$postgres/held"
    until [ "$(wc -l <"$postgres/said")" -ge 3 ]; do
        kill -0 "$server" 2>/dev/null || {
            status=0
            wait "$server" || status=$?
            rm -rf "$postgres"
            [ "$status" -eq 3 ] || exit 1
            echo
            echo "NOT RUN: $what's test on PostgreSQL: it isn't installed"
            echo
            [ "${CI:-}" = true ] && exit 1
            return 0
        }
        sleep 0.1
    done
    POSTGRES_URL=$(tail -n 1 "$postgres/said")
    export POSTGRES_URL
    rm -rf "$postgres"
}
