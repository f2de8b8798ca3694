#!/bin/bash
# SPDX-License-Identifier: MIT
# The gateway for an operator: its log, readiness, metrics, and end.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # for a sanitised build: the leak checker cannot inspect a confined process, and changes its exit status
cd "$work"
codebox=$(readlink -f "$codebox")
parser=$OLDPWD/tests/system/metrics.py
start_json() {
    rm -f "$work/server.log" # the log of the previous server may already have the expected line
    "$codebox" serve --state "$state" --listen 127.0.0.1:0 --pool-min 1 --log-format json --log-level debug "$@" 2>"$work/server.log" &
    server=$!
    wait_until grep -q 'serving on' "$work/server.log" || { cat "$work/server.log"; exit 1; }
    base=$(sed -n 's/.*serving on \(http:[^,]*\),.*/\1/p' "$work/server.log")
}
run() { post /v1/executions "$(jq -n --arg c "$1" '{language: "python", code: $c}')"; }
ready() { [ "$(status_of "$base/readyz")" = "$1" ]; }
process() { for pid in $(children_of "$server"); do grep -q "$1" "/proc/$pid/comm" && echo "$pid"; done || true; }

ulimit -Sn 1024 # the limit of many shells
start_json
ok 'a gateway is ready' ready 200
front_limit() { awk '/Max open files/ { exit $4 < 4096 }' "/proc/$(process cbx-front)/limits"; }
ok '... with descriptors for its clients, whatever the soft limit was' front_limit
ok '... and says so' expect '.ready and .not_ready == {}' "$work/body"
run 'print(1)' >/dev/null
run 'import subprocess' >/dev/null
run 'import socket
socket.socket()' >/dev/null || true
post /v1/check '{"language": "python", "code": "print(1)"}' >/dev/null
status_of "$base/nothing-here" >/dev/null
status_of "$base/v1/sessions/abc" >/dev/null
curl -sS "$base/metrics" >metrics
ok 'the metrics are valid: a strict parser reads them' python3 "$parser" metrics
for sample in 'codebox_decisions_total{verdict="allow",language="[a-z]*"} [1-9]' 'codebox_decisions_total{verdict="deny",language="[a-z]*"} [1-9]' \
    'codebox_findings_total{rule="[a-z.-]*",effect="deny"} [1-9]' 'codebox_http_requests_total{route="other",status="404"} 1' \
    'codebox_http_requests_total{route="/v1/sessions/{id}",status="404"} 1' 'codebox_http_requests_total{route="/v1/executions",status="200"} [1-9]' \
    'codebox_check_duration_seconds_count 1' 'codebox_decision_duration_seconds_count [1-9]' 'codebox_run_queue_duration_seconds_count [1-9]' \
    'codebox_run_duration_seconds_bucket{le="+Inf"} [1-9]' 'codebox_audit_append_duration_seconds_count [1-9]' 'codebox_runs_total{outcome="ok"} [1-9]' \
    'codebox_sandboxes{state="ready"} [0-9]' 'codebox_pool_made_total [1-9]' 'codebox_audit_pending [0-9]' \
    'codebox_process_heap_bytes{process="executor"} [0-9]' 'codebox_process_peak_resident_bytes{process="front"} [1-9]' 'codebox_store_up 1'; do
    ok "... with ${sample%% *}" grep -q "^$sample" metrics
done
flood() { for i in $(seq 600); do echo "url = $base/x$i"; echo 'output = /dev/null'; done | curl -sS -K - >/dev/null; }
flood
curl -sS "$base/metrics" >more
ok 'unknown paths make no new series' [ "$(grep -c ^codebox_http_requests_total more)" -le "$(($(grep -c ^codebox_http_requests_total metrics) + 2))" ]
json_only() { jq -es 'all(.[]; (keys | sort) == ["component", "level", "message", "time"])' "$work/server.log"; }
ok 'every line of the log is an object' json_only

kill -STOP "$(process cbx-zygote)"
ok 'a zygote that hangs is not hidden' wait_until ready 503
ok '... the analyzer is named' bash -c 'curl -sS --max-time 40 "$0/readyz" | jq -e ".not_ready.analyzer"' "$base"
kill -9 "$(process cbx-zygote)"
ok '... and a new one is ready' wait_until ready 200
kill -9 "$(process cbx-front)"
ok 'a front that is started again is ready' wait_until ready 200
ok '... the master has a line about it' bash -c 'jq -es "any(.[]; .component == \"master\" and (.message | contains(\"front was killed\")))" "$0"' "$work/server.log"
mv "$state/audit.jsonl" "$state/audit.away"
ok 'without its audit log it is not ready' wait_until ready 503
ok '... the audit log is named' expect '.not_ready.audit | length > 0' "$work/body"
mv "$state/audit.away" "$state/audit.jsonl"
ok '... and it recovers' wait_until ready 200

# A client waits for a run while the gateway stops.
run 'import time
time.sleep(2)
print("finished")' >slow &
slow=$!
in_progress() { curl -sS "$base/metrics" | grep '^codebox_runs{state="running"} 1'; }
ok 'a run is in progress' wait_until in_progress
exec 5<>"/dev/tcp/127.0.0.1/${base##*:}" # an idle connection
kill -TERM "$server"
ok 'a gateway that stops is not ready' wait_until ready 503
ok '... and names the reason' expect '.not_ready.gateway' "$work/body"
ok '... takes no new work' [ "$(status_of -X POST -H 'Content-Type: application/json' --data-binary '{"language":"python","code":"1"}' "$base/v1/executions")" = 503 ]
wait "$slow"
ok '... answers the request in progress' grep -q finished slow
wait "$server" && status=0 || status=$?
ok '... ends, although a connection is open' [ "$status" = 0 ]
ok '... and its log has what it waited for' grep -q '1 request in progress; they are waited for' "$work/server.log"
exec 5>&-

start_json --stop-timeout 1
run 'import time
time.sleep(8)
print("later")' >slow &
slow=$!
ok 'a longer run is in progress' wait_until in_progress
kill -TERM "$server"
wait "$slow" || true
wait "$server" || true
ok 'after --stop-timeout the gateway says what continues' grep -q 'still in progress; what runs continues' "$work/server.log"
ok '... and its client is answered' grep -q 'again\|restart\|stopping' slow
server=
finish
