#!/bin/bash
# SPDX-License-Identifier: MIT
# What happens when a process of the gateway is killed in the middle of its work, and when the log cannot be written.
source "$(dirname "$0")/lib.sh"

process() { # NAME: its process ids below the server
    local front=$server below
    below=$(pgrep -P "$front" | tr '\n' ' ')
    for pid in $below $(for p in $below; do pgrep -P "$p"; done); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || echo "$pid"
    done
}
is_gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }
check_answers() { post /v1/check '{"code": "x = 1", "language": "python"}' | expect '.verdict == "allow"'; }
start_server --workers 1

# --- an analyzer worker
check_answers >/dev/null
worker=$(process cbx-analyzer)
kill -STOP "$worker"
post /v1/check '{"code": "x = 1", "language": "python"}' >"$work/answer" # comes back at the time limit of an analysis
denies() { expect '.verdict == "deny" and .findings[0].rule == "analysis-failed"' "$work/answer"; }
ok 'a worker that exceeds its budget is a denial' denies
ok 'it is replaced, and the gateway goes on' check_answers
ok 'and it is gone' is_gone "$worker"
kill -9 "$(process cbx-analyzer)"
ok 'a worker that is killed is replaced too' check_answers
sandboxed() {
    local pid
    pid=$(process cbx-analyzer)
    grep -q '^Seccomp:.2' "/proc/$pid/status"
    grep -q '^NoNewPrivs:.1' "/proc/$pid/status"
    [ "$(ls "/proc/$pid/fd" | wc -l)" -le 5 ]
    lacks 'docker.sock|audit|codebox.db' < <(ls -l "/proc/$pid/fd")
}
ok 'a worker is in its seccomp jail and holds neither files nor the engine' sandboxed
front_jail() { grep -q '^Seccomp:.2' "/proc/$server/status"; lacks audit < <(ls -l "/proc/$server/fd"); }
ok 'the front is in its jail and has not the audit log' front_jail

# --- the executor, in the middle of a run
session=$(new_session)
id=$(start_run "$session" 'while True: pass')
executor=$(process cbx-executor)
kill -9 "$executor"
ends() { wait_until is_over "$id"; results_of "$id" | expect '.status == "error" and (.error | contains("executor"))'; }
ok 'when the executor is killed its run ends with an error that says so' ends
refuses() { post /v1/check '{"code": "x", "language": "python"}' | expect '.status == 500 and (.detail | contains("nothing runs"))'; [ "$(status_of "$base/healthz")" = 503 ]; }
ok 'and nothing runs without it: every request is refused, health says so' refuses
ok 'and its container is gone' wait_until has_no_container "$session"
stop_server

# --- the front, in the middle of a run
start_server
session=$(new_session)
id=$(start_run "$session" 'while True: pass')
executor=$(process cbx-executor)
nursery=$(process cbx-nursery)
kill -9 "$server"
wait "$server" 2>/dev/null || true
ok 'when the front is killed its executor ends' wait_until is_gone "$executor"
ok 'and its nursery' wait_until is_gone "$nursery"
ok 'and the container of its session is gone' wait_until has_no_container "$session"
start_server
says_so() { results_of "$id" | expect '.status == "error" and (.error | contains("restarted"))'; }
ok 'a new gateway says of the run that it was cut short' says_so

# --- everything at once: what the executor could not remove any more, the next one does
session=$(new_session)
start_run "$session" 'while True: pass' >/dev/null
executor=$(process cbx-executor)
kill -STOP "$server"
kill -9 "$executor" "$server"
wait "$server" 2>/dev/null || true
start_server
curl -sS "$base/healthz" >/dev/null
ok 'after kill -9 of all, the next gateway leaves no container of the dead one' wait_until has_no_container "$session"
ok 'the audit log is whole after all that' "$codebox" audit verify --state "$state"
stop_server

# --- a full disk
mkdir "$work/small"
if mount -t tmpfs -o size=256k,mode=0700 tmpfs "$work/small" 2>/dev/null; then
    trap 'kill -9 $server 2>/dev/null || true; umount -l "$work/small" 2>/dev/null || true; rm -rf "$work"' EXIT
    echo 'print("first")' >"$work/first.py"
    echo 'print("second")' >"$work/second.py"
    "$codebox" run --state "$work/small" "$work/first.py" >/dev/null
    head -c 1M /dev/zero >"$work/small/filler" 2>/dev/null || true
    full() { # the last page of the log has room for a few more records
        local status=0 runs=0
        while [ "$status" = 0 ] && [ "$runs" -lt 30 ]; do
            runs=$((runs + 1))
            "$codebox" run --state "$work/small" "$work/second.py" >"$work/full.out" 2>"$work/full.err" || status=$?
        done
        cat "$work/full.err"
        [ "$status" = 2 ]
        lacks second <"$work/full.out"
        grep -qi 'space' "$work/full.err"
    }
    ok 'with the log on a full disk nothing runs, and the caller is told why' full
    rm "$work/small/filler"
    whole() { "$codebox" run --state "$work/small" "$work/first.py" | grep -q first; "$codebox" audit verify --state "$work/small"; }
    ok 'when there is room again the log goes on, whole' whole
    umount "$work/small"
else
    echo '  -     a full disk is not tested: no tmpfs can be mounted here'
fi
finish
