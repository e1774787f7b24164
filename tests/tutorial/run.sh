#!/bin/sh
# Does what the demo host's tutorial says, block by block, and compares what it prints with what
# the tutorial says it prints. Once for each store.
#
# AXUM_HOST names a host's binary to start; unset, cargo builds it.
#
# Exits 0 when everything was as said, 1 when something was not, and 3 when it could not run at
# all (1 in CI, where the variable CI is `true`).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what='the tutorial'
. "$here/../setup.sh"
page=$root/examples/axum-host/TUTORIAL.md

command -v curl >/dev/null 2>&1 || not_run "install curl"
need_host
start_postgres

work=$(mktemp -d)
host=
stop() {
    [ -z "$host" ] || kill "$host" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

# The lines of the page's blocks in a language.
blocks() { awk -v fence="\`\`\`$1" '/^```/ { on = ($0 == fence); next } on' "$page"; }
blocks sh >"$work/commands"
blocks text >"$work/said"
[ -s "$work/commands" ] && [ -s "$work/said" ] || {
    echo "no blocks in $page"
    exit 1
}

for database in memory: "sqlite:$work/tutorial.db" $POSTGRES_URL; do
    env -u MOUNT -u SEED_QUEUE -u REDIS_URL -u RATE_LIMIT -u RATE_BURST PORT=0 RUNS=20 \
        DATABASE_URL="$database" "$AXUM_HOST" >"$work/host" &
    host=$!
    # It says so itself once it listens.
    until address=$(sed -n 's/^listening on //p' "$work/host") && [ -n "$address" ]; do
        kill -0 "$host" 2>/dev/null || {
            echo "the host ended before it listened"
            exit 1
        }
        sleep 0.1
    done
    API=$address sh -eu "$work/commands" >"$work/printed"
    kill "$host"
    wait "$host" || true
    host=
    diff -u "$work/said" "$work/printed" || {
        echo "the tutorial prints something else on ${database%%:*}"
        exit 1
    }
    echo "the tutorial prints what it says on ${database%%:*}: $(wc -l <"$work/said") lines"
done
