#!/bin/bash
# SPDX-License-Identifier: MIT
# Waiting executions: their order and position, cancelling in every state, quotas, and their state
# after a kill.
source "$(dirname "$0")/lib.sh"

token_of() { "$codebox" token create --state "$state" --principal "$1" 2>/dev/null; }
ann=$(token_of ann) bob=$(token_of bob) few=$(token_of few) ops=$(token_of ops)
cat >"$work/codebox.yaml" <<'EOF'
max-runs: 1
principals:
  - {name: ann}
  - {name: bob, rights: ["execute", "audit:read"]}
  - {name: few, runs: 1, runs-waiting: 2}
  - {name: ops, rights: [admin]}
EOF
serve() { start_server --config "$work/codebox.yaml"; }
serve
code() { jq -n --arg c "$1" --arg s "${2:-}" '{code: $c, language: "python", async: true} + (if $s == "" then {} else {session_id: $s} end)'; }
begin() { as "$1" POST /v1/executions "$(code "$2" "${3:-}")" | jq -er .execution_id; } # TOKEN CODE [SESSION]
state_of() { as "$1" GET "/v1/executions/$2" | jq -r '[.status, .ahead // empty] | join(" ")'; }
is() { [ "$(state_of "$1" "$2")" = "$3" ]; }
cancels() { gives_status 202 "$3" as "$1" POST "/v1/executions/$2/cancel"; }
quick='print("ran")' long='import time
for _ in range(600): time.sleep(0.1)'

# --- the order
busy=$(begin "$ann" "$long")
ok 'one runs' wait_until is "$ann" "$busy" running
a1=$(begin "$ann" "$quick") a2=$(begin "$ann" "$quick") a3=$(begin "$ann" "$quick")
ok 'the others are queued, each with how many are before it' wait_until is "$ann" "$a3" 'queued 2'
b1=$(begin "$bob" "$quick")
round_robin() { wait_until is "$bob" "$b1" 'queued 1' || is "$bob" "$b1" 'queued 0'; is "$ann" "$a1" 'queued 0' || is "$ann" "$a1" 'queued 1'; }
ok "another principal's first has at most one of this one's before it" round_robin
shown() {
    curl -sS "$base/readyz" | expect '.ready and .executions.queued == 4 and .executions.running == 1'
    as "$bob" GET /metrics >"$work/metrics"
    grep -qx 'codebox_executions{state="queued"} 4' "$work/metrics"
    grep -qx 'codebox_runs{state="waiting"} 4' "$work/metrics"
    grep -qx 'codebox_runs_waiting_principals 2' "$work/metrics"
}
ok '/readyz and /metrics show the queue' shown
listed() { as "$ann" GET "/v1/executions/$a2" | expect '.status == "queued" and .ahead >= 1 and .completed_at == null'; }
ok 'GET says so too' listed
legacy() { as "$ann" GET "/execute/$a2/status" | expect '.status == "running"'; }
ok 'clients of CodeBox-AI see a status that they know' legacy
streams() { # the position changes while the stream is open
    curl -sSN -m 20 -H "Authorization: Bearer $bob" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
        --data-binary '{"language": "python", "code": "print(1)"}' "$base/v1/executions" >"$work/stream"
}
streams & reader=$!
queued_in_stream() { grep -A1 '^event: queued' "$work/stream" | grep -q '"ahead":'; }
ok 'an event stream has its place' wait_until queued_in_stream

# --- cancelling
ok 'one that waits is cancelled' cancels "$ann" "$a2" cancelled
ok '... and says so at once' is "$ann" "$a2" cancelled
again() { gives_status 409 'is over' as "$ann" POST "/v1/executions/$a2/cancel"; }
ok '... once' wait_until again
foreign() { gives_status 404 'no such execution' as "$bob" POST "/v1/executions/$a3/cancel"; }
ok "another principal's is not there" foreign
ok 'one that runs is interrupted' cancels "$ann" "$busy" interrupted
ok '... and its status is cancelled' wait_until is "$ann" "$busy" cancelled
ok 'the others run' wait_until is "$ann" "$a3" completed
wait "$reader" || true
rest() { is "$ann" "$a1" completed && is "$bob" "$b1" completed && is "$ann" "$a2" cancelled && grep -q '"outcome":"ok"' "$work/stream"; }
ok '... all of them but the cancelled one' wait_until rest
never_ran() { as "$ann" GET "/v1/executions/$a2" | expect '.error == "cancelled before it began" and (.output | length) == 0'; }
ok 'which has no output' never_ran
recorded() { jq -se --arg d "$(as "$ann" GET "/v1/executions/$a2" | jq -r '.decision // ""')" 'map(select(.type == "outcome" and (.body.error // "" | contains("cancelled before it began")))) | length == 1' "$state/audit.jsonl"; }
ok 'that it did not begin is the outcome in the audit log' wait_until recorded

# --- in a session
session=$(as "$ann" POST /v1/sessions '{"language": "python"}' | jq -er .session_id)
s1=$(begin "$ann" "$long" "$session")
ok 'a cell of a session runs' wait_until is "$ann" "$s1" running
s2=$(begin "$ann" 'x = 1' "$session") s3=$(begin "$ann" 'try:
    print(x)
except NameError:
    print("nothing")' "$session")
ok 'those behind it have their place in the session' wait_until is "$ann" "$s3" 'queued 1'
ok 'one in the middle is cancelled' cancels "$ann" "$s2" cancelled
ok 'the one that runs, too' cancels "$ann" "$s1" interrupted
after() { as "$ann" GET "/v1/executions/$s3"; is "$ann" "$s3" completed && as "$ann" GET "/v1/executions/$s3" | expect '.output[0].text == "nothing\n"'; }
wait_until after || true
ok 'the last finds nothing of the cancelled cell' after

# --- quotas
f1=$(begin "$few" "$long")
ok 'a principal with runs: 1 runs one' wait_until is "$few" "$f1" running
f2=$(begin "$few" "$quick") f3=$(begin "$few" "$quick")
ok 'more wait' wait_until is "$few" "$f3" 'queued 1'
too_many() { gives_status 429 'which is as many as may' as "$few" POST /v1/executions "$(code "$quick")"; grep -qi '^retry-after:' "$work/headers"; }
ok 'more than runs-waiting are refused, with Retry-After' too_many
ok 'what waits for the quota is cancelled' cancels "$few" "$f2" cancelled
ok '... and makes room' wait_until gives_status 202 queued as "$few" POST /v1/executions "$(code "$quick")"
cancels "$few" "$f1" interrupted >/dev/null
ok 'the next one runs' wait_until is "$few" "$f3" completed

# --- rights: runs of a revoked token or of a removed principal end
other=$(token_of ann)
held=$(begin "$other" "$long")
ok 'one runs that was begun with another token of the principal' wait_until is "$ann" "$held" running
waits=$(begin "$other" "$quick") own=$(begin "$ann" "$quick")
curl -sSN -m 30 -H "Authorization: Bearer $other" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
    --data-binary '{"language": "python", "code": "print(2)"}' "$base/v1/executions" >"$work/revoked" & reader=$!
opened() { grep -q '^event: created' "$work/revoked"; }
ok 'and a stream is open' wait_until opened
"$codebox" token revoke --state "$state" "$(cut -d_ -f2 <<<"$other")" 2>/dev/null
ok 'when the token is revoked what runs is ended' wait_until is "$ann" "$held" cancelled
ok '... what waits never begins' wait_until is "$ann" "$waits" cancelled
ended() { ! kill -0 "$reader" 2>/dev/null && grep -q '"status":"cancelled"' "$work/revoked"; }
ok '... its stream is closed' wait_until ended
ok "... and the principal's other work goes on" wait_until is "$ann" "$own" completed
lacks_output() { as "$ann" GET "/v1/executions/$waits" | expect '(.output | length) == 0'; }
ok '... without it' lacks_output
held=$(begin "$bob" "$long")
wait_until is "$bob" "$held" running
waits=$(begin "$bob" "$quick")
wait_until is "$bob" "$waits" 'queued 0' || true
sed -i '/name: bob/d' "$work/codebox.yaml"
reload 'reload'
gone_all() { jq -se 'map(select(.type == "outcome" and .body.decision != null)) | length > 0' "$state/audit.jsonl" >/dev/null; grep -c "of 'bob' is cancelled: principal 'bob' has not the right" "$work/server.log" | grep -qx 2; }
ok 'a principal that is removed by SIGHUP ends with all that it began' wait_until gone_all
free() { curl -sS "$base/readyz" | expect '.executions == {queued: 0, running: 0}'; }
ok '... and nothing of it is left' wait_until free
sed -i 's/^  - {name: ann}/  - {name: ann}\n  - {name: bob}/' "$work/codebox.yaml"
reload 'reload'
history() { is "$bob" "$held" cancelled && is "$bob" "$waits" cancelled; }
ok '... as its history says when it is back' wait_until history

# --- the operator ends runs of a principal, of a token, or all; also those of a gateway that does
# not run
stop() { "$codebox" stop --state "$state" "$@"; }
other=$(token_of ann)
held=$(begin "$ann" "$long")
wait_until is "$ann" "$held" running
waits=$(begin "$other" "$quick") also=$(begin "$bob" "$quick")
ok 'what a principal has begun is stopped' gives 0 'principal ann: what was begun until now ends' stop --principal ann
both() { is "$ann" "$held" cancelled && is "$ann" "$waits" cancelled; }
ok '... what runs and what waits' wait_until both
ok "... nobody else's" wait_until is "$bob" "$also" completed
held=$(begin "$ann" "$long")
ok '... and what it begins later runs' wait_until is "$ann" "$held" running
session=$(as "$ann" POST /v1/sessions '{"language": "python"}' | jq -er .session_id)
uploads() { gives_status 201 helper.py as "$ann" PUT "/v1/sessions/$session/files/helper.py" 'value = 42'; }
ok '... and source code that it uploads later is taken' uploads
resets() { gives_status 200 '' as "$ann" POST "/v1/sessions/$session/reset"; }
ok '... and its session is reset' resets
waits=$(begin "$other" "$quick") also=$(begin "$bob" "$quick")
ok 'what was begun with a token' stop --token "$(cut -d_ -f2 <<<"$other")"
ok '... ends' wait_until is "$ann" "$waits" cancelled
goes_on() { echo "$(state_of "$ann" "$held"), $(state_of "$bob" "$also")" | tee /dev/stderr | grep -qE '^running, queued [01]$'; }
ok '... what was not goes on' goes_on
kill -9 "$server" $(children_of "$server")
wait "$server" 2>/dev/null || true
stop --all >"$work/stopped"
serve
all_of_it() { echo "$(state_of "$ann" "$held"), $(state_of "$bob" "$also")" | tee /dev/stderr | grep -qE ', cancelled$'; }
ok 'all, while no gateway runs: what waited does not begin when one is started' wait_until all_of_it
told() {
    "$codebox" audit tail --state "$state" --lines 500 >"$work/tail"
    grep -q 'stop  *what principal ann began, by uid:' "$work/tail"
    grep -q 'stop  *what token [0-9a-f]* began, by uid:' "$work/tail"
    grep -q 'stop  *all, by uid:' "$work/tail"
    grep -q 'token  *create [0-9a-f]* of ann by uid:' "$work/tail"
}
ok '... and each is in the audit log, with who did it' told
ok 'stop needs one of the three' gives 2 'one of --principal' stop
ok '... not two' gives 2 'one of --principal' stop --all --principal ann
ok '... and a token that is there' gives 2 'no token' stop --token 000000000000
unauthenticated() { mkdir -m 700 "$work/other"; gives 2 'authenticates no callers' "$codebox" stop --state "$work/other" --all; [ ! -e "$work/other/tokens.jsonl" ]; }
ok '... where callers have tokens' unauthenticated

held=$(begin "$ann" "$long")
wait_until is "$ann" "$held" running
waits=$(begin "$ann" "$quick") also=$(begin "$bob" "$quick")
over_rest() { gives_status 202 stopping as "$ops" POST /v1/stop '{"principal": "ann"}'; }
ok 'an admin stops over REST what a principal has begun' over_rest
ok '... what runs and what waits' wait_until both
ok "... nobody else's" wait_until is "$bob" "$also" completed
may_not() { gives_status 403 "lacks the right 'admin'" as "$bob" POST /v1/stop '{"all": true}'; }
ok '... nobody else may' may_not
one_of() { gives_status 400 'allowed is one of them' as "$ops" POST /v1/stop '{}'; gives_status 400 'allowed is one of them' as "$ops" POST /v1/stop '{"all": true, "principal": "ann"}'; gives_status 404 'no token' as "$ops" POST /v1/stop '{"token": "000000000000"}'; }
ok '... and it takes one of the three' one_of
by_ops() { jq -se 'map(select(.type == "stop" and .body.by == "ops" and .body.principal == "ann" and .body.address == "127.0.0.1")) | length == 1' "$state/audit.jsonl"; }
ok '... and is a record' by_ops

# --- kills
busy=$(begin "$ann" "$long")
wait_until is "$ann" "$busy" running
k1=$(begin "$ann" "$quick") k2=$(begin "$ann" "$quick") k3=$(begin "$bob" "$quick")
wait_until is "$bob" "$k3" 'queued 1' || true
cancels "$ann" "$k2" cancelled >/dev/null
killed_all() { kill -9 "$server" $(children_of "$server"); wait "$server" 2>/dev/null || true; }
killed_all
serve
ok 'after a kill of the gateway what was cancelled stays cancelled' is "$ann" "$k2" cancelled
cancels "$ann" "$busy" '' >/dev/null || true
done_again() { is "$ann" "$k1" completed && is "$bob" "$k3" completed; }
ok 'what waited runs' wait_until done_again
still() { is "$ann" "$k2" cancelled && as "$ann" GET "/v1/executions/$k2" | expect '(.output | length) == 0'; }
ok 'and the cancelled one never does' still
busy=$(begin "$ann" "$long")
wait_until is "$ann" "$busy" running
k4=$(begin "$ann" "$quick")
wait_until is "$ann" "$k4" 'queued 0' || true
kill -9 "$(pgrep -P "$server" -x cbx-front)"
wait_until curl -sS "$base/healthz"
ok 'after a kill of the front alone one that waits can be cancelled' cancels "$ann" "$k4" cancelled
cancels "$ann" "$busy" interrupted >/dev/null || true
ok '... and what ran is interrupted' wait_until is "$ann" "$busy" cancelled
gone() { is "$ann" "$k4" cancelled; }
sleep 1
ok '... and it does not run later' gone
finish
