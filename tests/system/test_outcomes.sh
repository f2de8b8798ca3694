#!/bin/bash
# SPDX-License-Identifier: MIT
# Every permitted action has one outcome in the audit log: after kills of executors, fronts and
# gateways, and with a full disk.
source "$(dirname "$0")/lib.sh"
cd "$work"
process_of() { for pid in $(children_of "$server"); do [[ $(cat "/proc/$pid/comm" 2>/dev/null) != "$1" ]] || echo "$pid"; done; }
is_new() { [ -n "$(process_of "$1")" ] && [ "$(process_of "$1")" != "$2" ]; }
kill_process() { # NAME
    local pid
    pid=$(process_of "$1")
    kill -9 "$pid"
    wait_until is_new "$1" "$pid"
}
begun() { curl -sS "$base/v1/executions/$1" | jq -e '.status == "running"'; }

start_server --pool-min 1 --lease 30
session=$(new_session)
run_in "$session" 'x = 1' >/dev/null
ok 'a run has one outcome' wait_until one_each 2

# --- the executor is killed
long='import time
for i in range(40):
    print(i, flush=True)
    time.sleep(0.1)'
id=$(start_run "$session" "$long")
wait_until begun "$id"
kill_process cbx-executor
wait_until is_over "$id"
ok 'a run over the end of its executor has one' wait_until one_each 3
id=$(start_run "$session" "$long")
wait_until begun "$id"
kill_process cbx-executor
wait_until begun "$id"
kill_process cbx-executor
wait_until is_over "$id"
ok '  and over the ends of two' wait_until one_each 4
ends_at() { # runs a program whose executor is killed at another moment
    local id
    id=$(start_run "$session" 'print(2)')
    sleep "$1"
    kill_process cbx-executor
    wait_until is_over "$id"
}
for moment in 0 0.02 0.05 0.1 0.2; do ends_at "$moment"; done
ok '  and at every moment of a short one' wait_until one_each 9
one_shot=$(post /v1/executions "$(jq -n --arg c "$long" '{code: $c, language: "python", async: true}')" | jq -r .execution_id)
wait_until begun "$one_shot"
kill_process cbx-executor
done_v1() { curl -sS "$base/v1/executions/$1" | jq -e '.status != "running" and .status != "queued"'; }
wait_until done_v1 "$one_shot"
ok '  and a run in a sandbox of its own' wait_until one_each 10

# --- the front is killed: the new front resumes a run that the executor follows
id=$(start_run "$session" "$long")
wait_until begun "$id"
kill_process cbx-front
wait_until is_over "$id"
ok 'a run over the end of the front has one' wait_until one_each 11

# --- the gateway is stopped, and killed
id=$(start_run "$session" "$long")
wait_until begun "$id"
kill -TERM "$server" && kill -TERM "$server" 2>/dev/null || true
wait "$server" 2>/dev/null || true
start_server --pool-min 1 --lease 30
kill_process cbx-executor
wait_until is_over "$id"
ok 'a run over a restart of the gateway, and the end of the next executor, has one' wait_until one_each 12
id=$(start_run "$session" "$long")
wait_until begun "$id"
sandbox=$(container_of "$session")
kill -9 $(children_of "$server") "$server" 2>/dev/null || true
wait "$server" 2>/dev/null || true
docker rm -f "$sandbox" >/dev/null
start_server --pool-min 1 --lease 30
ok 'a run whose sandbox is gone as well has one' wait_until one_each 13
is_lost() { records | jq -e 'select(.type == "outcome" and (.body.error // "" | startswith("outcome unknown")))'; }
ok '  which says that it is not known' is_lost
stop_server
start_server --pool-min 1
ok '  also after another start' wait_until one_each 13
ok 'the log is whole' audit_is_whole
stop_server

# --- a full disk
if mkdir "$work/small" && mount -t tmpfs -o size=160m none "$work/small" 2>/dev/null; then
    trap 'umount -l "$work/small" 2>/dev/null || true; kill -9 $server 2>/dev/null || true; rm -rf "$work"' EXIT
    chmod 700 "$work/small"
    state=$work/small
    start_server --pool-min 1
    session=$(new_session)
    run_in "$session" 'x = 1' >/dev/null
    pending() { [ "$(curl -sS "$base/metrics" | sed -n 's/^codebox_audit_pending //p')" "$@" ]; }
    # Several records: the last block of the log may have space for one.
    start_waiting() {
        local i
        for i in 1 2 3 4; do
            post /v1/executions '{"code": "import time; time.sleep(3)", "language": "python", "async": true}' | jq -r .execution_id >"$work/id"
        done
        wait_until begun "$(cat "$work/id")"
    }
    fill() {
        dd if=/dev/zero of="$work/small/fill" bs=1M 2>/dev/null || dd if=/dev/zero of="$work/small/fill1" bs=1k 2>/dev/null || true
        for _ in 1 2 3 4 5 6 7 8; do
            post /v1/check '{"code": "print(1)", "language": "python"}' >/dev/null
        done
        dd if=/dev/zero of="$work/small/fill2" bs=1k 2>/dev/null || true
    }
    not_recorded() { [ "$(grep -c 'the outcome of .* is not recorded' "$work/server.log")" -ge 3 ]; }
    missing() { [ "$(odd_outcomes | grep -c ' run 0')" -ge 3 ]; }
    start_waiting
    fill
    ok 'outcomes that meet a full disk are not in the log' wait_until not_recorded
    ok '  which the log of the gateway says' missing
    ok '  and they wait' wait_until pending -ge 3
    rm -f "$work/small"/fill*
    ok '  and are written once when there is space again' wait_until one_each 6
    ok '  and none waits then' wait_until pending -eq 0
    start_waiting
    fill
    wait_until not_recorded
    stop_server
    rm -f "$work/small"/fill*
    start_server --pool-min 1
    ok 'those that met a full disk to the end of the gateway are written by the next one' wait_until one_each 10
    stop_server
    start_server --pool-min 1
    ok '  once' wait_until one_each 10
    ok '  and the log is whole' gives 0 'all in order' "$codebox" audit verify --state "$state"
    stop_server
    umount "$work/small"
else
    echo '  skip  a full disk: no file system can be mounted'
fi
finish
