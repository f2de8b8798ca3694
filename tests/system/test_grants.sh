#!/bin/bash
# SPDX-License-Identifier: MIT
# Claims of an issuer's token: required-claims, grants, verified addresses, expiry; and the metadata
# of a gateway without a configured public URL.
source "$(dirname "$0")/lib.sh"

header() { grep -i "^$1:" "$work/headers" | grep -qF -- "$2" || { cat "$work/headers"; return 1; }; }
code() { jq -n --arg c "$1" '{code: $c, language: "python"}'; }
chmod 711 "$work"
openssl genpkey -algorithm ed25519 -out "$work/key.pem" 2>/dev/null
openssl genrsa -out "$work/rsa.pem" 2048 2>/dev/null
node tests/system/make_jwks.mjs "$work/key.pem" "$work/rsa.pem" >"$work/keys.json"
for name in open lab; do printf 'version: 1\nname: %s\ndescription: As the default.\nextends: [default]\n' "$name" >"$work/$name.yaml"; done
cat >"$work/codebox.yaml" <<END
policy: [default, $work/open.yaml, $work/lab.yaml]
issuers:
  - name: team
    issuer: "https://team.test"
    audience: "https://gateway.test/mcp"
    jwks: keys.json
    required-claims: {tid: [one, "t-*"], azp: app}
    grants:
      - {name: analysts, claims: {groups: sandbox-users}, rights: [execute], policies: [open]}
      - {name: lab, claims: {groups: lab}, rights: [execute], policies: [lab]}
      - {name: checkers, claims: {scope: "codebox:check"}, rights: [check]}
      - {name: auditors, claims: {realm_access.roles: auditor, amr: mfa}, rights: ["audit:read"]}
  - {name: mail, issuer: "https://mail.test", audience: "https://gateway.test/mcp", jwks: keys.json, principal-claim: email}
  - {name: brief, issuer: "https://brief.test", audience: "https://gateway.test/mcp", jwks: keys.json, leeway-seconds: 0}
END
chmod 644 "$work/codebox.yaml" "$work/keys.json" "$work"/*.yaml
jwt() { node tests/system/make_jwt.mjs "$work/key.pem" "$work/rsa.pem" "$1"; }
of() { jwt "$(jq -nc --arg iss "https://$1.test" --argjson more "$2" '{iss: $iss} + $more')"; } # ISSUER CLAIMS
team() { of team "$(jq -nc --argjson more "$1" '{tid: "one", azp: "app"} + $more')"; }
gets() { gives_status "$1" "$2" as "$3" GET /v1/sessions; } # STATUS FRAGMENT TOKEN
logged() { grep -qF "$1" "$work/server.log" || { tail -5 "$work/server.log"; return 1; }; }

ok 'codebox config check accepts required claims and grants' "$codebox" config check "$work/codebox.yaml"
wrong_config() { sed "$1" "$work/codebox.yaml" >"$work/wrong.yaml"; gives 1 "$2" "$codebox" config check "$work/wrong.yaml"; }
ok 'a grant without claims is refused, with its place' wrong_config 's/claims: {groups: lab}, //' "wrong.yaml:10:9: 'claims' is missing"
ok 'so is one with quotas, which are of principals' wrong_config 's/policies: \[lab\]/sessions: 1/' "unknown key 'sessions', there are name, claims, rights, policies"
start_server --config "$work/codebox.yaml"

# --- required claims
analyst=$(team '{"groups": ["sandbox-users"]}')
ok 'a token with the required claims and a grant is let in' gets 200 sessions "$analyst"
ok 'also with a value that a pattern allows' gets 200 sessions "$(team '{"groups": ["sandbox-users"], "tid": "t-2"}')"
without() { gets 401 'the token is not valid' "$(team "$1")"; as "$(team "$1")" GET /v1/sessions >"$work/answer"; cat "$work/answer" "$work/headers" | lacks '\b(tid|azp|app)\b'; logged "its claim '$2' is absent, or not as required-claims has it"; }
ok 'one without is refused, and only the log has the claim' without '{"groups": ["sandbox-users"], "tid": null}' tid
ok 'so is one with another value' without '{"groups": ["sandbox-users"], "azp": "other"}' azp

# --- grants
ok 'a token that has no grant, and no principal of its own, has nothing' gets 403 'may not use this gateway' "$(team '{}')"
ok '  also when it has a group that is none' gets 403 'may not use' "$(team '{"groups": ["sandbox"], "scope": "codebox:checks"}')"
own_policy() { gives_status 404 "no policy is called 'lab'; this gateway has open" as "$analyst" POST /v1/executions '{"code": "1", "language": "python", "policy": "lab"}'; }
ok 'a group has its own policies' own_policy
runs() {
    gives_status 200 completed as "$analyst" POST /v1/executions "$(code 'print(1)')"
    jq -se 'map(select(.type == "decision")) | last | .body.principal == "team:one" and .body.policy == "open" and .body.credential == "issuer team (analysts)"' "$state/audit.jsonl"
}
ok '  and rights, and the audit log has by which grant' runs
ok '  and no others' gives_status 403 audit:read as "$analyst" GET /metrics
adds_up() {
    local token
    token=$(team '{"groups": ["lab", "sandbox-users"], "scope": "openid codebox:check"}')
    as "$token" GET /v1/policies | expect '[.policies[].name] == ["open", "lab"]'
    gives_status 200 '"verdict":"allow"' as "$token" POST /v1/check "$(code 'x = 1')"
}
ok 'several grants add up' adds_up
only_scope() { gives_status 200 '"verdict":"allow"' as "$1" POST /v1/check "$(code 'x = 1')"; gives_status 403 "lacks the right 'execute'" as "$1" POST /v1/executions "$(code 'x = 1')"; }
ok 'a scope is a right' only_scope "$(team '{"scope": "openid codebox:check"}')"
nested() { gives_status 200 codebox_engine_up as "$(team '{"realm_access": {"roles": ["x", "auditor"]}, "amr": ["pwd", "mfa"]}')" GET /metrics; gives_status 403 'may not use' as "$(team '{"realm_access": {"roles": ["auditor"]}}')" GET /metrics; }
ok 'a claim in an object is named by its path, and all conditions must hold' nested

# --- addresses
ok 'a verified address names a principal' gets 200 sessions "$(of mail '{"email": "ann@example.com", "email_verified": true}')"
unverified() { gets 401 'the token is not valid' "$(of mail "$1")"; logged "'email_verified' is not true"; }
ok 'one that is not verified does not' unverified '{"email": "ann@example.com", "email_verified": false}'
ok 'nor one of which nothing is known' unverified '{"email": "ann@example.com"}'

# --- RFC 9728 without public-url
port=${base##*:}
metadata() { # HOST
    curl -sS -H "Host: $1:$port" "$base/.well-known/oauth-protected-resource/mcp" | expect ".resource == \"http://$1:$port/mcp\" and .authorization_servers[0] == \"https://team.test\""
    [ "$(curl -sS -o /dev/null -D "$work/headers" -w '%{http_code}' -H "Host: $1:$port" -X POST -H 'Content-Type: application/json' --data-binary '{}' "$base/mcp")" = 401 ]
    header WWW-Authenticate "resource_metadata=\"http://$1:$port/.well-known/oauth-protected-resource/mcp\""
}
ok 'without a public URL clients find the issuers by the address that they used' metadata 127.0.0.1
ok '  whichever it is' metadata localhost
foreign() { [ "$(status_of -H 'Host: evil.test' "$base/.well-known/oauth-protected-resource/mcp")" = 421 ]; }
ok '  of those that are the gateway' foreign

# --- expiry of a token
principals='principals:
  - {name: "brief:*", runs: 1}
  - {name: "team:*", rights: [], sessions: 1}'
sed -i "s/^issuers:/${principals//$'\n'/\\n}\nissuers:/" "$work/codebox.yaml"
"$codebox" config check "$work/codebox.yaml" >/dev/null
reload 'reload: done'
ok 'a row without rights of its own gives nothing without a grant' gives_status 403 "lacks the right 'check'" as "$(team '{}')" POST /v1/check "$(code 'x = 1')"
one_session() { gives_status 201 session_id as "$analyst" POST /v1/sessions '{}'; gives_status 429 'may have 1 sessions' as "$analyst" POST /v1/sessions '{}'; }
ok '  and its quotas are those of whoever has one' one_session
long=$(code $'import time\nprint("begun", flush=True)\ntime.sleep(50)')
async() { as "$1" POST /v1/executions "$(jq -c '. + {async: true}' <<<"$2")" | jq -er .execution_id; }
is() { as "$1" GET "/v1/executions/$2" | expect ".status == \"$3\""; }
brief=$(code $'import time\nprint("begun", flush=True)\ntime.sleep(12)')
later=$(of brief '{"exp": 600}') soon=$(of brief '{"exp": 8}')
curl -sSN -m 60 -H "Authorization: Bearer $soon" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' --data-binary "$brief" "$base/v1/executions" >"$work/stream" & reader=$!
ok 'a stream is open' wait_until grep -q 'event: stdout' "$work/stream"
waits=$(async "$soon" "$(code 'print("later")')")
ok 'and a run waits' wait_until is "$later" "$waits" queued
is_expired() { gives_status 401 'not valid' as "$soon" GET /v1/sessions; }
ok 'when the token has expired it asks for nothing more' wait_until is_expired
goes_on() { is "$later" "$waits" queued && kill -0 "$reader"; }
ok '  what it began goes on' goes_on
ended() { ! kill -0 "$reader" 2>/dev/null && grep -q '"outcome":"ok"' "$work/stream"; }
ok '  to its end' wait_until ended
ok '  and what waits has its turn' wait_until is "$later" "$waits" completed
ok '  and the principal goes on with another token' gives_status 200 completed as "$later" POST /v1/executions "$(code 'print(1)')"
held=$(async "$analyst" "$long")
ok 'what a grant allowed runs' wait_until is "$analyst" "$held" running
sed -i 's/groups: sandbox-users/groups: nobody/; s/name: analysts/name: others/' "$work/codebox.yaml"
reload 'reload: done'
ok 'when the grant is removed it ends' wait_until logged "of 'team:one' is cancelled: principal 'team:one' has not the right 'execute' any more"
ok '  and the token gives nothing any more' gives_status 403 "lacks the right 'execute'" as "$analyst" POST /v1/executions "$(code 'print(1)')"
stop_server
audit_is_whole >/dev/null || { echo '  FAILED the audit log is whole'; failed=1; }
finish
