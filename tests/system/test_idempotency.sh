#!/bin/bash
# SPDX-License-Identifier: MIT
# A request that is repeated with its Idempotency-Key has its effect once.
source "$(dirname "$0")/lib.sh"
start_server

keyed() { # KEY PATH JSON: prints the status and the body
    curl -sS -X POST -w '\n%{http_code}' -H "Idempotency-Key: $1" -H 'Content-Type: application/json' --data-binary "$3" "$base$2" | sed '$!{h;d}; G; s/\n/ /'
}
run='{"code": "import uuid\nprint(uuid.uuid4())"}'
same() { local one two; one=$(keyed k1 /v1/executions "$run"); two=$(keyed k1 /v1/executions "$run"); [[ $one == 200* ]]; [ "$(jq -S 'del(.created_at)' <<<"${one#* }")" = "$(jq -S 'del(.created_at)' <<<"${two#* }")" ] || { echo "$one"; echo "$two"; return 1; }; }
ok 'an execution that is asked for twice runs once, and both have its result' same
once() { [ "$(jq -s 'map(select(.type == "decision")) | length' "$state/audit.jsonl")" = 1 ]; }
ok 'the audit log has it once' once
other() { local one; one=$(keyed k2 /v1/executions "$run"); [[ $one == 200* ]]; [ "$(jq -r '.output[0].text' <<<"${one#* }")" != "$(jq -r '.output[0].text' <<<"$(keyed k1 /v1/executions "$run" | cut -d' ' -f2-)")" ]; }
ok 'another key is another execution' other
changed() { keyed k1 /v1/executions '{"code": "print(2)"}' | grep -q '^422.*another request'; }
ok 'a key that comes with another request is refused' changed
bad() { keyed "$(printf 'x%.0s' $(seq 300))" /v1/executions "$run" | grep -q '^400 .*Idempotency-Key has 300 bytes'; }
ok 'so is one that is too long' bad
slow='{"code": "import time\ntime.sleep(3)\nprint(1)"}'
at_once() {
    for i in 1 2 3 4; do keyed k3 /v1/executions "$slow" >"$work/r$i" & done
    wait $(jobs -p | grep -vx "$server") || true
    [ "$(jq -s 'map(select(.type == "decision" and .body.origin == "rest")) | length' "$state/audit.jsonl")" = 3 ]
    grep -l '^200' "$work"/r? | wc -l | grep -qx 1
    grep -hE '^(202|409)' "$work"/r? | wc -l | grep -qx 3
    keyed k3 /v1/executions "$slow" | grep -q '^200 .*"1\\n"'
}
ok 'of four at the same time one runs; the others learn that it does' at_once
denied() { keyed k4 /v1/executions '{"code": "import subprocess"}' | grep -q '^400'; keyed k4 /v1/executions "$run" | grep -q '^200'; }
ok 'a denial leaves the key free' denied
session() { local one two; one=$(keyed s1 /v1/sessions '{}'); two=$(keyed s1 /v1/sessions '{}'); [[ $one == 201* ]]; [ "$one" = "$two" ] || { echo "$one $two"; return 1; }; [ "$(curl -sS "$base/v1/sessions" | jq '.sessions | length')" = 1 ]; }
ok 'a session that is asked for twice is opened once' session
stop_server
start_server
again() { keyed k1 /v1/executions "$run" | grep -q '^200'; [ "$(jq -s 'map(select(.type == "decision" and .body.origin == "rest" and .body.action == "run")) | length' "$state/audit.jsonl")" = 5 ]; }
ok 'a restart forgets nothing' again
stop_server
ann=$("$codebox" token create --state "$state" --principal ann 2>/dev/null) bob=$("$codebox" token create --state "$state" --principal bob 2>/dev/null)
start_server
as() { curl -sS -X POST -H "Authorization: Bearer $1" -H 'Idempotency-Key: k1' -H 'Content-Type: application/json' --data-binary "$run" "$base/v1/executions" | jq -er .execution_id; }
tokens() { local of_ann of_bob; of_ann=$(as "$ann") of_bob=$(as "$bob"); [ "$of_ann" != "$of_bob" ] && [ "$of_ann" = "$(as "$ann")" ]; }
ok 'keys are each principal'\''s own' tokens
finish
