#!/bin/bash
# SPDX-License-Identifier: MIT
# Identity of callers: tokens of the gateway and of issuers, principals with rights, policies and
# quotas, and addresses that are not loopback. tests/clients/tenants.mjs tests over every route that
# no principal reaches another's objects.
source "$(dirname "$0")/lib.sh"

token_of() { "$codebox" token create --state "$state" --principal "$@" 2>/dev/null; }
header() { grep -i "^$1:" "$work/headers" | grep -qF -- "$2" || { cat "$work/headers"; return 1; }; }
code() { jq -n --arg c "$1" '{code: $c, language: "python"}'; }

# --- addresses
public() { gives 2 'nobody is authenticated' "$codebox" serve --state "$state" --listen 0.0.0.0:0; }
(cd "$work" && true)
ok 'without tokens an address that is not loopback is refused, with what to do' public

# --- tokens
ann=$(token_of ann) bob=$(token_of bob --days 1)
secret=${ann#cbx_????????????_} # the secret may contain "_" and begin with "-"
shown_once() { [[ $ann =~ ^cbx_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$ ]]; [ -z "$(grep -arF -- "$secret" "$state")" ]; }
ok 'a token is shown once; the state directory has its hash alone' shown_once
private() { [ "$(stat -c %a "$state/tokens.jsonl")" = 600 ]; }
ok 'and nobody else can read the file of hashes' private
start_server --listen 0.0.0.0:0 --host gateway.test --socket "$work/socket"
socket_needs_one() { [ "$(curl -sS -o "$work/body" -w '%{http_code}' --unix-socket "$work/socket" http://localhost/v1/sessions)" = 401 ]; }
ok 'without principals a Unix socket needs a token as well' socket_needs_one
base=http://127.0.0.1:${base##*:}
ok 'with tokens a public address is served' gives_status 200 '{"sessions":[]}' as "$ann" GET /v1/sessions
by_name() { curl -sS -H 'Host: gateway.test' -H "Authorization: Bearer $ann" "$base/v1/sessions" | grep -q sessions; [ "$(status_of -H 'Host: evil.test' -H "Authorization: Bearer $ann" "$base/v1/sessions")" = 421 ]; }
ok 'by its name, and by no other one' by_name
nobody() { gives_status 401 'needs a token' as '' GET /v1/sessions; header WWW-Authenticate 'Bearer realm="codebox"'; }
ok 'a request without a token is answered 401, with the challenge' nobody
wrong() { gives_status 401 'not valid' as "$1" GET /v1/sessions; header WWW-Authenticate 'error="invalid_token"'; }
ok 'so is one with another token' wrong "${ann%?}x"
ok 'with half of one' wrong "${ann:0:40}"
ok 'with the hash of one' wrong "cbx_$(jq -r 'select(.principal == "ann") | .id + "_" + .sha256[0:43]' "$state/tokens.jsonl")"
basic() { [ "$(status_of -u "ann:$ann" "$base/v1/sessions")" = 401 ]; }
ok 'and with another scheme' basic
twice() { [ "$(status_of -H "Authorization: Bearer $ann" -H "Authorization: Bearer $bob" "$base/v1/sessions")" = 400 ]; }
ok 'two of them are refused' twice
record() { gives_status 200 completed as "$ann" POST /v1/executions "$(code 'print(1)')"; jq -se 'map(select(.type == "decision")) | length > 0 and all(.body.principal == "ann")' "$state/audit.jsonl"; }
ok 'decisions stand in the audit log with the principal' record
new_one() { gives_status 200 sessions as "$(token_of ann)" GET /v1/sessions; }
ok 'a token that is made while the gateway runs is valid at once' new_one
id_of() { cut -d_ -f2 <<<"$1"; }
revoked() { "$codebox" token revoke --state "$state" "$(id_of "$bob")"; wrong "$bob"; gives_status 200 sessions as "$ann" GET /v1/sessions; }
ok 'one that is revoked is refused at once, and no other one' revoked
listed() { "$codebox" token list --state "$state" | tee "$work/list"; grep -q "$(id_of "$bob") *revoked" "$work/list"; grep -q "$(id_of "$ann") *valid" "$work/list"; lacks "$secret" <"$work/list"; }
ok 'codebox token list shows both' listed
again() { gives 2 'revoked before' "$codebox" token revoke --state "$state" "$(id_of "$bob")"; gives 2 'there is no token' "$codebox" token revoke --state "$state" 000000000000; }
ok 'a token is revoked once' again
in_log() { jq -se 'map(select(.type == "token").body.operation) == ["create", "create", "create", "revoke"]' "$state/audit.jsonl"; }
ok 'both stand in the audit log' in_log
follows() { # the text that runs has no byte order mark, and the voucher is for that text
    local id child
    id=$(as "$ann" POST /v1/executions "$(jq -n '{language: "python", async: true, code: "\ufeffimport time\nfor i in range(60):\n    print(i, flush=True)\n    time.sleep(0.1)"}')" | jq -er .execution_id)
    runs() { as "$ann" GET "/v1/executions/$id" | grep -q '"running"'; }
    wait_until runs
    for child in cbx-front cbx-executor; do
        kill -9 "$(pgrep -P "$server" -x "$child")"
        wait_until curl -sSf "$base/healthz"
    done
    ended() { as "$ann" GET "/v1/executions/$id" | grep -q '"completed"'; }
    wait_until ended
    as "$ann" GET "/v1/executions/$id" | jq -e '[.output[].text] | join("") == ([range(60) | "\(.)\n"] | join(""))'
}
ok 'a run goes on when front and executor are killed, and the executor gives its events to its principal' follows
torn() { printf '{"op":"create","id"' >>"$state/tokens.jsonl"; gives_status 200 sessions as "$ann" GET /v1/sessions; gives_status 200 sessions as "$(token_of ann)" GET /v1/sessions; }
ok 'half of a line in the file lets nobody in and keeps nobody out' torn
replaced() { cp "$state/tokens.jsonl" "$work/copy"; mv "$work/copy" "$state/tokens.jsonl"; gives_status 503 'no token can be verified' as "$ann" GET /v1/sessions; }
ok 'a file that was replaced lets nobody in until the gateway starts again' replaced
killed() { kill -9 "$(pgrep -P "$server" -x cbx-front)"; wait_until curl -sS "$base/healthz"; gives_status 503 'no token' as "$ann" GET /v1/sessions; }
ok 'also when its front was killed meanwhile' killed
stop_server
damaged() { cp "$state/tokens.jsonl" "$work/good"; sed -i '1s/principal/principle/' "$state/tokens.jsonl"; gives 2 'line 1 of the file of tokens' "$codebox" serve --state "$state" --listen 127.0.0.1:0; cat "$work/good" >"$state/tokens.jsonl"; }
ok 'a file that is damaged is refused at the start, with the line' damaged

# --- principals
cat >"$work/open.yaml" <<'END'
version: 1
name: open
description: As the default.
extends: [default]
END
openssl genpkey -algorithm ed25519 -out "$work/key.pem" 2>/dev/null
openssl genrsa -out "$work/rsa.pem" 2048 2>/dev/null
node tests/system/make_jwks.mjs "$work/key.pem" "$work/rsa.pem" >"$work/keys.json"
cat >"$work/codebox.yaml" <<END
policy: [default, $work/open.yaml]
public-url: https://gateway.test
principals:
  - {name: ann, policies: [open]}
  - {name: checker, rights: [check]}
  - {name: auditor, rights: ["audit:read"]}
  - {name: slow, requests-per-minute: 6}
  - {name: few, sessions: 2}
  - {name: three, requests-at-once: 3}
  - {name: lazy, cpu-seconds-per-hour: 1}
  - {name: "uid:4321"}
  - {name: "corp:*", rights: [execute, check], sessions: 1}
issuers:
  - {name: corp, issuer: "https://login.test", audience: "https://gateway.test/mcp", jwks: keys.json}
END
chmod 644 "$work/codebox.yaml" "$work/keys.json"
chmod 700 "$work"
ok 'codebox config check accepts principals and issuers' "$codebox" config check "$work/codebox.yaml"
wrong_config() { sed "$1" "$work/codebox.yaml" >"$work/wrong.yaml"; gives 1 "$2" "$codebox" config check "$work/wrong.yaml"; }
ok 'it refuses an unknown right, and says which there are' wrong_config 's/\[check\]/[chek]/' "'rights' has 'chek', allowed are execute, check"
ok 'a key that is misspelt' wrong_config 's/sessions: 2/session: 2/' "unknown key 'session', there are name, rights"
ok 'a number out of bounds' wrong_config 's/minute: 6/minute: 0/' 'from 1 to 1000000'
ok 'two of one name' wrong_config 's/name: few/name: slow/' "two principals are called 'slow'"
chmod 711 "$work"
start_server --config "$work/codebox.yaml" --socket "$work/socket"
ann=$(token_of ann) checker=$(token_of checker) auditor=$(token_of auditor)
nobody_else() { gives_status 403 'may not use this gateway' as "$(token_of carol)" GET /v1/sessions; }
ok 'a principal that has no row may do nothing' nobody_else
own_policy() { gives_status 200 '"policy":"open"' as "$ann" POST /v1/check "$(code 'x = 1')"; gives_status 404 "no policy is called 'default'; this gateway has open" as "$ann" POST /v1/check '{"code": "x", "language": "python", "policy": "default"}'; }
ok 'a principal has its own policy, and sees no other one' own_policy
in_mcp() { as "$ann" POST /mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print(6*7)"}}}' | grep -q 42; jq -se 'map(select(.type == "decision")) | last | .body.policy == "open" and .body.principal == "ann" and .body.origin == "mcp"' "$state/audit.jsonl"; }
ok 'also over MCP' in_mcp
only_checks() { gives_status 200 '"verdict":"allow"' as "$checker" POST /v1/check "$(code 'x = 1')"; gives_status 403 "lacks the right 'execute'" as "$checker" POST /v1/executions "$(code 'x = 1')"; gives_status 403 execute as "$checker" GET /v1/sessions; }
ok 'one without the right to execute has code judged alone' only_checks
mcp_right() { as "$checker" POST /mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print(6*7)"}}}' | grep -q "lacks the right 'execute'"; as "$checker" POST /mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_code","arguments":{"code":"print(6*7)"}}}' | grep -q 'the policy allows it'; }
ok 'over MCP as well' mcp_right
metrics() { gives_status 200 codebox_engine_up as "$auditor" GET /metrics; gives_status 403 audit:read as "$ann" GET /metrics; }
ok 'metrics are for who may read the audit log' metrics
health() { gives_status 200 '{"status":"ok"}' as '' GET /healthz; gives_status 200 engine_ok as "$auditor" GET /healthz; }
ok 'a probe without a token learns that the gateway works, and no more' health

# --- the Unix socket
here() { curl -sS --unix-socket "$work/socket" "$@"; }
peers() {
    [ "$(here -o "$work/body" -w '%{http_code}' http://localhost/v1/sessions)" = 403 ] # no row names uid:0
    here -H "Authorization: Bearer $ann" http://localhost/v1/sessions | grep -q sessions
    [ "$(here -o "$work/body" -w '%{http_code}' -H 'Authorization: Bearer x' http://localhost/v1/sessions)" = 401 ]
}
ok 'over a Unix socket a user without a row is refused, and a token counts before the user' peers
if [ "$(id -u)" = 0 ]; then
    other_user() {
        setpriv --reuid=4321 --regid=4321 --clear-groups curl -sS --unix-socket "$work/socket" -H 'Content-Type: application/json' --data-binary "$(code 'print(1)')" http://localhost/v1/executions | grep -q completed
        jq -se 'map(select(.type == "decision").body.principal) | any(. == "uid:4321")' "$state/audit.jsonl"
        jq -se 'map(select(.body.principal == "uid:4321").body) | length > 0 and all(.credential == "Unix socket")' "$state/audit.jsonl"
    }
    ok 'one with a row is who it is' other_user
fi
local_host() { [ "$(here -o "$work/body" -w '%{http_code}' -H 'Host: evil.test' http://localhost/v1/sessions)" = 421 ]; }
ok 'Host is checked there as well' local_host

# --- quotas
slow=$(token_of slow)
rate() { gives_status 200 sessions as "$slow" GET /v1/sessions; gives_status 429 'may make 6 requests in a minute' as "$slow" GET /v1/sessions; grep -qiE '^Retry-After: ([5-9]|10)' "$work/headers"; gives_status 200 sessions as "$ann" GET /v1/sessions; }
ok 'too many requests are answered 429 with the time to wait, and those of others are not' rate
three=$(token_of three)
stream() { # starts a run whose events continue until it is stopped
    rm -f "$work/stream-$1"
    curl -sSN -H "Authorization: Bearer $three" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
        --data-binary "$(code $'import time\nprint("begun", flush=True)\ntime.sleep(60)')" "$base/v1/executions" >"$work/stream-$1" 2>&1 &
    echo $! >"$work/stream-$1.pid"
    wait_until grep -q 'event: stdout' "$work/stream-$1"
}
cancel() { as "$three" POST "/v1/executions/$(sed -n 's/.*"execution_id":"\([^"]*\)".*/\1/p' "$work/stream-$1" | head -n 1)/cancel"; }
mcp_42='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print(6*7)"}}}'
at_work() {
    stream 1 && stream 2 && stream 3
    gives_status 429 "'three' may have 3 requests at the same time" as "$three" GET /v1/sessions
    header Retry-After 1
    gives_status 429 'at the same time' as "$three" POST /mcp "$mcp_42"
    gives_status 200 sessions as "$ann" GET /v1/sessions
    gives_status 200 '"status":"ok"' as "$three" GET /healthz
    [ "$(status_of -X POST -H "Authorization: Bearer $three" -H 'Content-Type: application/json' --data-binary '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$base/mcp")" = 202 ]
}
ok 'requests at the same time are limited, and event streams are among them as long as they are open' at_work
room() { gives_status 200 "$@"; }
is_gone() { kill "$(cat "$work/stream-1.pid")" 2>/dev/null; room sessions as "$three" GET /v1/sessions; }
ok 'a client that goes away makes room' wait_until is_gone
ends() { cancel 2; wait_until grep -q 'event: done' "$work/stream-2"; wait_until room 42 as "$three" POST /mcp "$mcp_42"; cancel 3; cancel 1; }
ok 'a stream that ends does too' ends
many() { # 2,000 requests, 300 at a time
    local i
    for i in $(seq 2000); do echo "url = \"$base/v1/sessions\""; echo "output = /dev/null"; done >"$work/many"
    curl -sS -Z --parallel-max 300 -H "Authorization: Bearer $three" -w '%{http_code}\n' -K "$work/many" >"$work/codes"
    [ "$(wc -l <"$work/codes")" = 2000 ]
    sort "$work/codes" | uniq -c | tee "$work/counts"
    lacks '^ *[0-9]+ (000|4[013-9]|5)' <"$work/counts"
    grep -q ' 200' "$work/counts"
    wait_until room sessions as "$three" GET /v1/sessions
    stream 1 && stream 2
    room sessions as "$three" GET /v1/sessions # no place was lost: exactly one is free
    stream 3
    gives_status 429 'at the same time' as "$three" GET /v1/sessions
    kill "$(cat "$work/stream-3.pid")"
    wait_until cancel_all
}
cancel_all() { cancel 1 && cancel 2 && cancel 3 && [ "$(cat "$work/status")" = 202 ]; }
ok 'of 2,000 requests at once each gets an answer, 429 or its own, and no place is lost' many
few=$(token_of few)
open_few() { as "$few" POST /v1/sessions '{}' | jq -er .session_id; }
sessions() { first=$(open_few) && open_few; gives_status 429 'may have 2 sessions at the same time; close one' as "$few" POST /v1/sessions '{}'; as "$few" DELETE "/v1/sessions/$first"; open_few; }
ok 'sessions are limited, and closing one makes room' sessions
at_once() { for _ in 1 2 3 4 5 6; do as "$(cat "$work/corp")" POST /v1/sessions '{}' >/dev/null 2>&1 & done; wait; [ "$(as "$(cat "$work/corp")" GET /v1/sessions | jq '.sessions | length')" -le 1 ] && { as "$(cat "$work/corp")" POST /v1/sessions '{}' >/dev/null; [ "$(as "$(cat "$work/corp")" GET /v1/sessions | jq '.sessions | length')" = 1 ]; }; }
lazy=$(token_of lazy)
spend() { gives_status 200 completed as "$lazy" POST /v1/executions "$(code $'import time\nend = time.process_time() + 1.2\nwhile time.process_time() < end: pass')"; gives_status 429 'may use 1 seconds of processor time in an hour' as "$lazy" POST /v1/executions "$(code 'print(1)')"; grep -qiE '^Retry-After: [0-9]{3,}' "$work/headers"; }
ok 'so is the processor time of programs' spend
over_mcp() { as "$lazy" POST /mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print(6*7)"}}}' | grep -q 'may use 1 seconds of processor time'; }
ok 'over MCP too' over_mcp

# --- issuers
jwt() { node tests/system/make_jwt.mjs "$work/key.pem" "$work/rsa.pem" "$@"; }
is_let_in() { gives_status 200 sessions as "$(jwt "$@")" GET /v1/sessions; }
is_refused() { wrong "$(jwt "$@")"; }
ok "a token of the issuer is accepted" is_let_in '{}'
ok 'also one that is signed with RSA' is_let_in '{"alg": "RS256"}'
ok 'and with PSS' is_let_in '{"alg": "PS256"}'
ok 'one with several audiences' is_let_in '{"aud": ["other", "https://gateway.test/mcp"]}'
ok 'one that has expired is refused' is_refused '{"exp": -120}'
ok 'one without an expiry' is_refused '{"exp": null}'
ok 'one that is not valid yet' is_refused '{"nbf": 3600}'
ok 'one for another audience' is_refused '{"aud": "https://gateway.test"}'
ok 'one of another issuer' is_refused '{"iss": "https://evil.test"}'
ok 'one without a signature' is_refused '{"alg": "none"}'
ok 'one that is signed with the public key as a secret' is_refused '{"alg": "HS256"}'
ok 'one whose claims were changed' is_refused '{"tamper": true}'
ok 'one whose key is named and is another' is_refused '{"kid": "rsa", "alg": "EdDSA"}'
ok 'one with an extension that is critical' is_refused '{"crit": ["x"]}'
ok 'one of an explicit type is accepted' is_let_in '{"typ": "at+jwt"}'
ok '  and one of a type for another use is refused' is_refused '{"typ": "dpop+jwt"}'
ok 'so is an ID token' is_refused '{"at_hash": "x"}'
ok 'one whose subject is no name of a principal' is_refused '{"sub": "a b\"<script>"}'
ok 'and one without a subject' is_refused '{"sub": null}'
jwt '{}' >"$work/corp"
ok 'a limit of sessions holds also when they are opened at once' at_once
tenants() { gives_status 200 '{"sessions":[]}' as "$(jwt '{"sub": "two"}')" GET /v1/sessions; jq -se 'map(select(.type == "decision").body.principal) | any(. == "corp:one")' "$state/audit.jsonl"; jq -se 'map(select(.type == "decision" and .body.principal == "corp:one").body) | all(.credential == "issuer corp")' "$state/audit.jsonl"; }
ok 'each subject is a principal of its own' tenants
metadata() {
    gives_status 200 '"authorization_servers":["https://login.test"]' as '' GET /.well-known/oauth-protected-resource/mcp
    gives_status 200 '"resource":"https://gateway.test/mcp"' as '' GET /.well-known/oauth-protected-resource/mcp
    gives_status 401 'needs a token' as '' POST /mcp '{}'
    header WWW-Authenticate 'resource_metadata="https://gateway.test/.well-known/oauth-protected-resource/mcp"'
}
ok 'a client learns where to get a token (RFC 9728)' metadata
# --- reload
reload() { kill -HUP "$server"; wait_until grep -q "reload: $1" "$work/server.log"; : >"$work/server.log"; }
changed() {
    gives_status 403 'may not use' as "$(token_of late)" GET /v1/sessions
    sed -i 's/name: few, sessions: 2/name: late, sessions: 2/' "$work/codebox.yaml"
    reload done
    gives_status 200 sessions as "$(token_of late)" GET /v1/sessions
    gives_status 403 'may not use' as "$few" GET /v1/sessions
}
ok 'SIGHUP takes other principals over' changed
kept() {
    sed -i 's/name: late/nome: late/' "$work/codebox.yaml"
    reload failed
    gives_status 200 sessions as "$(token_of late)" GET /v1/sessions
    sed -i 's/nome: late/name: late/' "$work/codebox.yaml"
}
ok 'a mistake in them keeps those before' kept
rotated() {
    openssl genpkey -algorithm ed25519 -out "$work/next.pem" 2>/dev/null
    node tests/system/make_jwks.mjs "$work/next.pem" "$work/rsa.pem" >"$work/keys.json"
    is_let_in '{}'
    reload done
    is_refused '{}'
    cp "$work/next.pem" "$work/key.pem"
    is_let_in '{}'
}
ok 'and keys of an issuer, once they are reloaded: those before are refused' rotated
stop_server

# --- a file of tokens that gateways share (test_tokens.sh has its faults)
state=$work/sharing
mkdir -m 700 "$work/set"
set_token() { "$codebox" token create --state "$work/set" --principal "$1" 2>/dev/null; }
ann=$(set_token ann) bob=$(set_token bob)
start_server --tokens "$work/set/tokens.jsonl"
by_file() { gives_status 200 '"completed"' as "$ann" POST /v1/executions "$(code 'print(1)')"; }
ok 'a program runs by a token of a shared file' by_file
begin_long() { as "$1" POST /v1/executions "$(jq -n '{language: "python", async: true, code: "import time\ntime.sleep(60)"}')" | jq -er .execution_id; }
has_status() { as "$1" GET "/v1/executions/$2" | jq -e --arg s "$3" '.status == $s'; }
outcomes() { [ "$(jq -s 'map(select(.type == "outcome")) | length' "$state/audit.jsonl")" = "$1" ]; }
ends_runs() {
    local of_ann of_bob
    of_ann=$(begin_long "$ann") of_bob=$(begin_long "$bob")
    wait_until has_status "$ann" "$of_ann" running && wait_until has_status "$bob" "$of_bob" running
    "$codebox" token revoke --state "$work/set" "$(id_of "$ann")"
    kill -HUP "$server"
    wait_until outcomes 2
    has_status "$bob" "$of_bob" running
    "$codebox" stop --state "$state" --tokens "$work/set/tokens.jsonl" --token "$(id_of "$bob")"
    wait_until has_status "$bob" "$of_bob" cancelled
}
ok 'its revocation ends what runs, after SIGHUP, and so does a stop of another token' ends_runs
stop_server
audit_is_whole >/dev/null || { echo '  FAILED the audit log is whole'; failed=1; }
finish
