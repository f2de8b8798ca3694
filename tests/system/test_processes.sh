#!/bin/bash
# SPDX-License-Identifier: MIT
# Effects of a killed process of the gateway, and of a log that cannot be written.
source "$(dirname "$0")/lib.sh"

process() { # prints the process ids of NAME below the started process
    local below
    below=$(pgrep -P "$server" | tr '\n' ' ')
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
post /v1/check '{"code": "x = 1", "language": "python"}' >"$work/answer" # returns at the time limit of an analysis
denies() { expect '.verdict == "deny" and .findings[0].rule == "analysis-failed"' "$work/answer"; }
ok 'a source on which a worker exceeds its budget is denied' denies
ok 'the worker is replaced, and the gateway continues' check_answers
ok 'the worker that exceeded its budget has ended' is_gone "$worker"
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
front_jail() { local pid; pid=$(process cbx-front); grep -q '^Seccomp:.2' "/proc/$pid/status"; lacks 'audit|docker.sock' < <(ls -l "/proc/$pid/fd"); }
ok 'the front has its filter and does not have the audit log open' front_jail
front_confined() { # each thread is confined; for root also with the measures that need root
    local pid task
    pid=$(process cbx-front)
    for task in "/proc/$pid/task/"*; do
        grep -q '^Seccomp:.2' "$task/status"
        grep -q '^CapPrm:.0*$' "$task/status"
        grep -q '^NoNewPrivs:.1' "$task/status"
    done
    [ "$(id -u)" != 0 ] || [ "$(readlink "/proc/$pid/root")" = "$state/front" ]
    [ "$(id -u)" != 0 ] || [ "$(stat -c %u "$state/front/codebox.db")" = "$(awk '/^Uid:/ {print $2}' "/proc/$pid/status")" ]
}
ok 'every thread of the front is confined, and its files are its own' front_confined
filters() { # a process inherits the filter of the master, and adds its own
    local task
    for task in "/proc/$(process "$1")/task/"*; do
        grep -q '^Seccomp:.2' "$task/status"
        [ "$(awk '/^Seccomp_filters:/ {print $2}' "$task/status")" = "$2" ]
    done
}
all_filtered() { filters cbx-front 2; filters cbx-zygote 2; filters cbx-executor 2; filters cbx-analyzer 3; awk '/^Seccomp_filters:/ {print $2}' "/proc/$server/status" | grep -qx 1; }
ok 'every thread of every process has the filter of the master and its own' all_filtered
users() { # prints the users of the gateway's processes
    local name
    for name in cbx-front cbx-zygote cbx-executor; do awk '/^Uid:/ {print $2}' "/proc/$(process $name)/status"; done
}
separate() { [ "$(id -u)" != 0 ] || [ "$(users | sort -u | wc -l)" = 3 ]; }
ok 'started by root, front, zygote and executor have different user ids' separate
another_worker() {
    local before
    before=$(process cbx-analyzer)
    check_answers
    wait_until replaced "$before"
}
replaced() { local now; now=$(process cbx-analyzer); [ -n "$now" ] && [ "$now" != "$1" ] && is_gone "$1"; }
ok 'the next source gets another worker' another_worker

# --- any process, during a run
counts='import time
for i in range(12):
    print(i, flush=True)
    time.sleep(.25)
kept * 7'
whole() { wait_until is_over "$1"; curl -sS "$base/v1/executions/$1" | expect '.status == "completed" and .output[0].text == "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n" and .output[1].data["text/plain"] == "42"'; }
has_begun() { wait_until is_running; }
is_running() { docker top "$(container_of "$session")" >/dev/null && [ "$(executions_of "$session" | jq -r ".executions[-1].status")" = running ]; }
executions_of() { curl -sS "$base/v1/sessions/$1/history"; }
answers_again() { [ "$(status_of "$base/healthz")" = 200 ]; }
session=$(new_session)
run_in "$session" 'kept = 6' >/dev/null
container=$(container_of "$session")
for name in cbx-executor cbx-front cbx-zygote cbx-analyzer; do
    check_answers >/dev/null # starts an analyzer
    id=$(start_run "$session" "$counts")
    has_begun
    kill -9 "$(process "$name" | head -n 1)"
    ok "when the $name is killed in the middle of a run, the run continues and its result is whole" whole "$id"
    ok '  and the gateway answers' wait_until answers_again
    ok '  and judges' wait_until check_answers
done
same() { [ "$(container_of "$session")" = "$container" ]; }
ok 'the session is still in its sandbox' same
has_process() { [ -n "$(process "$1")" ]; }
once() { local id; wait_until has_process cbx-executor; id=$(start_run "$session" 'print(1)'); kill -9 "$(process cbx-executor)"; wait_until is_over "$id"; curl -sS "$base/v1/executions/$id" | expect '.status == "completed" and .output == [{kind: "stdout", text: "1\n"}]'; }
for _ in 1 2 3; do
    ok 'a run that an executor was about to begin when it was killed has its result, and ran once' once
done

# --- the order of a session
line_up() { # posts eight runs after a slow one, whose id is $id
    start_run "$session" $'import time\norder = []\ntime.sleep(1.5)' >/dev/null
    for i in 1 2 3 4 5 6 7 8; do start_run "$session" "order.append($i)" >/dev/null; done
    id=$(start_run "$session" 'order')
}
in_order() { wait_until is_over "$id"; curl -sS "$base/v1/executions/$id" | expect '.output[0].data["text/plain"] == "[1, 2, 3, 4, 5, 6, 7, 8]"'; }
line_up
ok 'executions of a session run in the order in which they were posted' in_order
for name in cbx-executor cbx-front; do
    wait_until has_process "$name"
    line_up
    kill -9 "$(process "$name")"
    ok "  also when the $name is killed meanwhile" in_order
done
wait_until answers_again
line_up
kill -9 "$server"
wait "$server" 2>/dev/null || true
start_server --workers 1
ok '  and when the gateway is' in_order
ok '  in the same sandbox' same

# --- the whole gateway
id=$(start_run "$session" "$counts")
has_begun
wait_until has_process cbx-executor
before=$(process cbx-executor)
kill -9 "$server"
wait "$server" 2>/dev/null || true
ok 'when the gateway is killed its executor ends' wait_until is_gone "$before"
start_server --workers 1
ok 'the next gateway adopts the session and has the result of its run' whole "$id"
ok '  in the same sandbox' same
id=$(start_run "$session" "$counts")
has_begun
stop_server
start_server --workers 1
ok 'a gateway that SIGTERM stopped leaves its sessions to the next one, too' whole "$id"
denied() { post /execute "$(jq -n --arg s "$session" '{code: "f = kept\nimport os as kept\nkept.system(\"id\")", session_id: $s}')" | expect '.status == "error"'; }
ok 'a cell is judged with the cells that ran before the restart' denied
curl -sS -X DELETE "$base/sessions/$session" >/dev/null
session=$(new_session)
container=$(container_of "$session")
stopped=("$(process cbx-executor)" "$(process cbx-front)")
kill -STOP "${stopped[@]}"
kill -9 "$server"
wait "$server" 2>/dev/null || true
kill -9 "${stopped[@]}" 2>/dev/null || true
ok 'the audit log is whole after all these' audit_is_whole
start_server --workers 1 --idle 1
is_closed() { ! docker inspect "$container" 2>/dev/null | grep -q .Id..; }
ok 'an idle session is closed, also an adopted one' wait_until is_closed
stop_server

# --- health: results of the last attempts and of a probe; each change is logged once
cat >"$work/proxy.mjs" <<'JS'
import { connect, createServer } from 'node:net';
createServer((client) => {
  const engine = connect(process.argv[3]);
  client.pipe(engine).pipe(client);
  for (const end of [client, engine]) end.on('error', () => { client.destroy(); engine.destroy(); });
}).listen(process.argv[2]);
JS
engine=$("$codebox" image host)
engine=${engine#unix://}
start_proxy() { rm -f "$work/engine.sock"; node "$work/proxy.mjs" "$work/engine.sock" "$engine" & proxy=$!; disown; wait_until test -S "$work/engine.sock"; }
health_is() { [ "$(status_of "$base/healthz")" = "$1" ]; }
if [ -S "$engine" ]; then
    start_proxy
    start_server --docker-host "unix://$work/engine.sock"
    ok 'the gateway is healthy while the engine answers' wait_until health_is 200
    kill -9 "$proxy"
    ok 'the gateway is not healthy without its engine' wait_until health_is 503
    reason() { expect '.status == "failing" and .engine_ok == false and .audit_ok == true and (.engine | length) > 0 and (.checks[0].since_ms > 0)' "$work/body"; }
    ok '  with the part that fails, since when, and why' reason
    for _ in 1 2 3; do status_of "$base/healthz" >/dev/null; done
    logged_once() { [ "$(grep -c 'the engine cannot be used' "$work/server.log")" = 1 ]; }
    ok '  and its log has one line about it' logged_once
    start_proxy
    ok 'the gateway is healthy again when the engine is back' wait_until health_is 200
    ok '  and the log has a line about the recovery' wait_until grep -q 'the engine can be used again' "$work/server.log"
    kill -9 "$proxy"
    stop_server
fi
start_server --docker-host unix:///nonexistent/engine.sock
refused() { # the log has the reason of a 5xx, with the id of its request
    post /v1/executions '{"code": "1", "language": "python"}' >/dev/null
    local id
    id=$(curl -sS -D - -o /dev/null -H 'Content-Type: application/json' -d '{"code": "1", "language": "python"}' "$base/v1/executions" | tr -d '\r' | sed -n 's/^[Xx]-[Rr]equest-[Ii]d: //p')
    [ -n "$id" ]
    grep -q "warning.*request $id: POST /v1/executions answered 503: .*engine" "$work/server.log"
}
ok 'the log has the reason of each 503' refused
stop_server

# --- a full disk
mkdir "$work/small"
if mount -t tmpfs -o size=256k,mode=0700 tmpfs "$work/small" 2>/dev/null; then
    trap 'kill -9 $server 2>/dev/null || true; umount -l "$work/small" 2>/dev/null || true; rm -rf "$work"' EXIT
    echo 'print("first")' >"$work/first.py"
    echo 'print("second")' >"$work/second.py"
    "$codebox" run --state "$work/small" "$work/first.py" >/dev/null
    head -c 1M /dev/zero >"$work/small/filler" 2>/dev/null || true
    full() { # the last page of the log has space for some more records
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
    ok 'with the log on a full disk nothing runs, and the caller gets the reason' full
    rm "$work/small/filler"
    whole() { "$codebox" run --state "$work/small" "$work/first.py" | grep -q first; "$codebox" audit verify --state "$work/small"; }
    ok 'when there is room again the log continues, whole' whole
    umount "$work/small"
else
    echo '  -     a full disk is not tested: no tmpfs can be mounted here'
fi
finish
