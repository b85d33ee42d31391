#!/bin/sh
# usage: empty-root.sh PROGRAM [EMULATOR]
#
# Shows that the program needs no file but itself: it runs in a root that holds it, a data folder
# and, where it measures, /proc. Under an emulator a lab cannot be made, and loopback is measured.
set -eu
program=$1
emulator=${2-}
data=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :; rm -rf "$data"' EXIT

# Runs the program there; the words before `--` are more options of the sandbox.
alone() {
    options=
    while [ "$1" != -- ]; do options="$options $1"; shift; done
    shift
    # shellcheck disable=SC2086  # options are words without blanks
    bwrap --unshare-user --unshare-pid --die-with-parent --clearenv $options \
        --ro-bind "$program" /v6gap ${emulator:+--ro-bind "$emulator" /emulator} \
        ${emulator:+/emulator} /v6gap "$@"
}
measuring="--proc /proc --bind $data /data --setenv V6GAP_DATA /data"

echo "== nothing but the program"
alone -- --version
alone -- predict --mtu 1500 --rate 100M >"$data/predict"
grep -q IPv6 "$data/predict"
alone -- man | grep -q '^\.TH v6gap 1'

echo "== a server and a client"
port=$((20000 + $$ % 10000))
alone $measuring -- serve -1 -p $port --listen 127.0.0.1 --listen ::1 >"$data/served" &
server=$!
for _ in $(seq 100); do grep -q Serving "$data/served" && break; sleep 0.1; done
alone $measuring -- run here --v4 127.0.0.1 --v6 ::1 -p $port --measure rtt --pairs 6 --json \
    >"$data/result.json"
wait "$server"
server=
grep -q '"verdict"' "$data/result.json"
head -n 3 "$data/served"

echo "== demo"
if [ -n "$emulator" ]; then set -- --loopback; else set --; fi
alone $measuring -- demo --quick "$@" >"$data/demo"
cat "$data/demo"
if [ -z "$emulator" ]; then grep -q 'lab link' "$data/demo"; fi
