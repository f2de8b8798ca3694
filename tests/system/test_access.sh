#!/bin/bash
# SPDX-License-Identifier: MIT
# Records of the audit log about callers: origins of requests, refused callers, readers of files,
# logins, missing approvals.
source "$(dirname "$0")/lib.sh"

token_of() { "$codebox" token create --state "$state" --principal "$1" 2>/dev/null; }
ann=$(token_of ann) officer=$(token_of officer)
cat >"$work/ask.yaml" <<'END'
version: 1
name: ask
description: Of the test.
extends: [default]
rules: [{id: t.ask, languages: [python], match: {import: [wave]}, effect: ask, tests: {}}]
END
cat >"$work/codebox.yaml" <<END
policy: [$work/ask.yaml]
principals:
  - {name: ann, rights: [execute]}
  - {name: officer, rights: [approve, "audit:read"]}
END
start_server --config "$work/codebox.yaml"
log="$state/audit.jsonl"
has() { jq -se "map(select($1)) | length >= 1" "$log" >/dev/null; } # JQ
code() { jq -n --arg c "$1" '{code: $c, language: "python"}'; }

# --- origins of requests
traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
traced() {
    curl -sS -D "$work/headers" -H "Authorization: Bearer $ann" -H 'Content-Type: application/json' -H "traceparent: $traceparent" \
        --data-binary "$(code 'print(1)')" "$base/v1/executions" | expect '.status == "completed"'
    local id; id=$(tr -d '\r' <"$work/headers" | sed -n 's/^[Xx]-[Rr]equest-[Ii]d: //p')
    [ -n "$id" ] && has ".type == \"decision\" and .body.address == \"127.0.0.1\" and .body.request_id == \"$id\" and .body.claimed_trace == \"$traceparent\""
}
ok 'a decision has the address, the id of the request and its trace' traced
follows() { wait_until has ".type == \"outcome\" and .body.claimed_trace == \"$traceparent\""; }
ok 'and so has the outcome' follows

# --- refused callers
refused() { gives_status 401 'not valid' as cbx_0123456789ab_wrong GET /v1/sessions; has '.type == "authentication-failed" and .body.address == "127.0.0.1" and (.body.reason | contains("not valid"))'; }
ok 'a credential that is none is recorded' refused
asks_how() { local n; n=$(jq -s 'map(select(.type == "authentication-failed")) | length' "$log"); curl -sS "$base/v1/sessions" >/dev/null; [ "$(jq -s 'map(select(.type == "authentication-failed")) | length' "$log")" = "$n" ]; }
ok 'a client that shows nothing is not: it asks how to be authenticated' asks_how
forbidden() { gives_status 403 "lacks the right 'execute'" as "$officer" POST /v1/executions "$(code 'print(1)')"; has '.type == "forbidden" and .body.principal == "officer" and (.body.credential | startswith("token "))'; }
ok 'a right that a caller lacks is' forbidden
flood() {
    local i; for i in $(seq 150); do curl -sS -H 'Authorization: Bearer cbx_0123456789ab_wrong' "$base/v1/sessions" >/dev/null; done
    [ "$(jq -s 'map(select(.type == "authentication-failed")) | length' "$log")" -lt 120 ]
}
ok 'a flood of them does not fill the disk' flood
omits() { as cbx_0123456789ab_wrong GET /v1/sessions >/dev/null; has '.type == "authentication-failed" and .body.omitted > 0'; }
ok 'and the next record has how many were left out' wait_until omits

# --- files
session=$(as "$ann" POST /v1/sessions '{}' | jq -r .session_id)
reads() { as "$ann" PUT "/v1/sessions/$session/files/notes.txt" hello >/dev/null; gives_status 200 hello as "$ann" GET "/v1/sessions/$session/files/notes.txt"; has '.type == "download" and .body.principal == "ann" and .body.path == "notes.txt" and .body.address == "127.0.0.1"'; }
ok 'who read which file of a session is recorded' reads

# --- approvals
denies() {
    local id; id=$(as "$ann" POST /v1/executions "$(code 'import wave')" | jq -r .decision)
    gives_status 200 'import wave' as "$officer" GET "/v1/decisions/$id"
    gives_status 200 denied as "$officer" POST "/v1/decisions/$id/deny"
    has ".type == \"approval-denied\" and .body.decision == \"$id\" and .body.principal == \"officer\""
}
ok 'an officer reads what waits for approval, and a denial is recorded' denies

# --- the page
logs_in() {
    curl -sS -c "$work/jar" -H "Origin: $base" --data-urlencode "token=$officer" "$base/login" >/dev/null
    has '.type == "login" and .body.principal == "officer"'
    curl -sS -b "$work/jar" -H "Origin: $base" -X POST "$base/logout" >/dev/null
    has '.type == "logout" and .body.principal == "officer"'
}
ok 'logins to the page, and logouts' logs_in

# --- reload
sed -i 's/\[execute\]/[execute, check]/' "$work/codebox.yaml"
kill -HUP "$server"
ok 'a reload of principals has the hash of who may call' wait_until has '.type == "reload" and (.body.identity | length) == 64'

words() {
    "$codebox" audit tail --lines 1000 --state "$state" >"$work/tail"
    grep -q "authentication-failed .*from 127.0.0.1: the token is not valid" "$work/tail"
    grep -q "forbidden .*officer .*lacks the right 'execute'" "$work/tail"
    grep -q "like this before it are not recorded" "$work/tail"
    grep -q "download .*notes.txt" "$work/tail"
    grep -q "reload .*principals and issuers" "$work/tail"
}
ok 'codebox audit tail has words for each' words
stop_server
audit_is_whole >/dev/null || { echo '  FAILED the audit log is whole'; failed=1; }
finish
