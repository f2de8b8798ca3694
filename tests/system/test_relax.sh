#!/bin/bash
# SPDX-License-Identifier: MIT
# Policies in mode log-only, and the right policy:relax: the principals that may use such a policy,
# by every route and spelling; messages to callers; records of the audit log, which include the
# credential of each caller.
source "$(dirname "$0")/lib.sh"
codebox=$(readlink -f "$codebox")
cd "$work"
chmod 700 "$work"

token_of() { "$codebox" token create --state "$state" --principal "$@" 2>/dev/null; }
code() { jq -n --arg c "$1" --arg p "${2:-}" --arg s "${3:-}" '{code: $c, language: "python"} + (if $p == "" then {} else {policy: $p} end) + (if $s == "" then {} else {session_id: $s} end)'; }
mcp() { # TOKEN TOOL ARGUMENTS
    as "$1" POST /mcp "$(jq -n --arg t "$2" --argjson a "$3" '{jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: $t, arguments: $a}}')"
}
decisions() { jq -c 'select(.type == "decision")' "$state/audit.jsonl"; }
count_decisions() { decisions | wc -l; }
policy() { # NAME MODE
    printf 'version: 1\nname: %s\ndescription: Of the test.\nextends: [default]\nmode: %s\n' "$1" "$2" >"$1.yaml"
}
config() { # RIGHTS of rex
    cat >codebox.yaml <<END
policy: [$work/lax.yaml, strict, $work/ops.yaml]
audit-code: full
principals:
  - {name: rex, rights: [$1]}
  - {name: ann}
  - {name: bob, policies: [strict, ops]}
  - {name: carol, rights: [execute, check, approve, "audit:read"]}
END
}
RELAX='execute, check, approve, "policy:relax"'
starts=$'import subprocess\nprint(subprocess.run(["echo", "started"], capture_output=True, text=True).stdout)'

# --- places that load such a policy
policy lax log-only
policy ops enforce
printf 'print(1)\n' >hello.py
allowed_is="allowed is mode enforce, or 'codebox serve' with principals"
ok 'codebox run refuses a policy in mode log-only, and says what is allowed' gives 2 "$allowed_is" "$codebox" run --policy ./lax.yaml hello.py
ok 'so does the MCP server on stdio' gives 2 "$allowed_is" "$codebox" mcp --policy ./lax.yaml --state "$state"
ok 'and codebox serve that authenticates nobody' gives 2 "$allowed_is" "$codebox" serve --policy ./lax.yaml --state "$state" --listen 127.0.0.1:0
config "$RELAX"
ok 'with principals in the configuration it loads' "$codebox" config check codebox.yaml
sed '/^principals/,$d' codebox.yaml >without.yaml
ok 'without them it does not' gives 1 "$allowed_is" "$codebox" config check without.yaml
unused() {
    config 'execute'
    start_server --config codebox.yaml
    grep -q "policy 'lax' is in mode log-only, and no principal has the right 'policy:relax'" server.log
    stop_server
}
ok 'a gateway on which nobody may use it says so in its log' unused
config "$RELAX"
start_server --config codebox.yaml
rex=$(token_of rex) ann=$(token_of ann) bob=$(token_of bob) carol=$(token_of carol)

# --- with the right
runs() { gives_status 200 'started' as "$rex" POST /v1/executions "$(code "$starts")"; jq -e '.outcome == "ok" and (.warnings | length > 0 and (.[0] | test("^line 1: .*would be denied by rule")))' <<<"$(as "$rex" POST /v1/executions "$(code "$starts")")"; }
ok 'who has the right runs what would be denied, and is told so in a warning' runs
quiet() { as "$rex" POST /v1/executions "$(code 'print(1)')" | jq -e '.outcome == "ok" and .warnings == null'; }
ok 'what would not be denied has no warning' quiet
checks() { as "$rex" POST /v1/check "$(code "$starts")" | jq -e '.verdict == "allow" and .mode == "log-only" and (.warnings | length > 0) and (.findings[0] | .effect == "warn" and .would == "deny")'; }
ok 'a check says what would be denied' checks
in_mcp() { mcp "$rex" execute_code "$(code "$starts")" | jq -e '.result.structuredContent | .status == "ok" and (.warnings[0] | test("would be denied"))'; mcp "$rex" check_code "$(code "$starts")" | jq -e '.result | (.content[0].text | test("warning: line 1")) and (.structuredContent.warnings | length > 0)'; }
ok 'so do the tools of MCP' in_mcp
legacy() {
    local session request
    session=$(as "$rex" POST /sessions '{}' | jq -er .session_id)
    request=$(as "$rex" POST /execute "$(jq -n --arg c "$starts" --arg s "$session" '{code: $c, session_id: $s}')" | jq -er .request_id)
    over() { as "$rex" GET "/execute/$request/status" | jq -e '.status == "completed"'; }
    wait_until over
    as "$rex" GET "/execute/$request/results" | jq -e '.warnings | length > 0'
    as "$rex" DELETE "/sessions/$session"
}
ok 'and the endpoints of CodeBox-AI' legacy
puts() {
    local session
    session=$(as "$rex" POST /v1/sessions '{}' | jq -er .session_id)
    curl -sS -X PUT -H "Authorization: Bearer $rex" --data-binary 'import subprocess' "$base/v1/sessions/$session/files/m.py" | jq -e '.warnings | length == 1'
    as "$rex" DELETE "/v1/sessions/$session"
}
ok 'a file of code that is put gets the warning too' puts
listed() { as "$rex" GET /v1/policies | jq -e '[.policies[] | [.name, .mode, .default]] == [["lax", "log-only", true], ["strict", "enforce", false], ["ops", "enforce", false]]'; gives_status 200 'Mode log-only: nothing is denied' as "$rex" GET /v1/policies/lax; mcp "$rex" get_policy '{}' | grep -q 'Mode log-only: nothing is denied'; }
ok 'its modes stand in the list of policies, and in words' listed

# --- without it
opened=$(as "$rex" POST /v1/sessions '{}' | jq -er .session_id)
refused='in mode log-only, which needs the right'
before=$(count_decisions)
refuses() { gives_status 403 "$refused" as "$@"; grep -qi '^content-type: application/problem+json' "$work/headers"; }
open_route() { refuses "$ann" POST /v1/sessions '{}' && refuses "$ann" POST /v1/sessions '{"policy": "lax"}' && refuses "$ann" POST /sessions '{}'; }
ok 'a principal without the right opens no session under it' open_route
run_route() { refuses "$ann" POST /v1/executions "$(code 'x = 1')"; refuses "$ann" POST /v1/executions "$(code 'x = 1' lax)"; refuses "$ann" POST /v1/executions "$(code 'x = 1' | jq '. + {async: true}')"; refuses "$ann" POST /v1/executions "$(code 'x = 1' | jq '. + {stream: true}')"; refuses "$ann" POST /v1/executions "$(code 'x = 1' | jq '. + {dependencies: ["six"]}')"; }
ok 'runs nothing' run_route
ok 'and has nothing judged' refuses "$ann" POST /v1/check "$(code 'x = 1')"
names() { gives_status 403 'the policies that it may use: strict, ops' as "$ann" POST /v1/check "$(code 'x = 1')"; gives_status 200 '"policy":"strict"' as "$ann" POST /v1/check "$(code 'x = 1' strict)"; gives_status 200 '"policy":"strict"' as "$bob" POST /v1/check "$(code 'x = 1')"; }
ok 'the refusal names the policies that may be used, and these can be' names
spelled() { local n; for n in LAX 'lax ' ' lax' 'lax\u0000' './lax' "$work/lax.yaml" 'strict,lax'; do gives_status 404 'no policy is called' as "$ann" POST /v1/check "{\"code\": \"x = 1\", \"language\": \"python\", \"policy\": \"$n\"}" || { [ "$(cat "$work/status")" = 400 ]; }; done; }
ok 'no other spelling of its name leads to it' spelled
tools() {
    local t
    for t in execute_code check_code; do mcp "$ann" $t "$(code 'x = 1')" | jq -e --arg r "$refused" '.result | .isError and (.structuredContent | .status == "invalid" and (.message | contains($r)))'; done
    mcp "$ann" execute_code '{"code": "x = 1", "session": "new"}' | grep -qF "$refused"
    mcp "$ann" run_python_code '{"code": "x = 1"}' | grep -qF "$refused"
    mcp "$ann" get_policy '{}' | grep -qF "$refused"
}
ok 'the tools of MCP refuse with the same words' tools
resource() { as "$ann" POST /mcp '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"sandbox://policy"}}' | grep -qF "$refused"; }
ok 'and so does the policy as a resource' resource
not_listed() { as "$ann" GET /v1/policies | jq -e '[.policies[].name] == ["strict", "ops"]'; refuses "$ann" GET /v1/policies/lax; gives_status 404 'this gateway has strict, ops' as "$bob" GET /v1/policies/lax; }
ok 'the list of policies has it for those who may use it alone' not_listed
foreign() { gives_status 404 'Session not found' as "$ann" POST /v1/executions "$(code 'x = 1' '' "$opened")"; }
ok 'the session of somebody who has it is not reached' foreign
own_session() {
    local session
    session=$(as "$ann" POST /v1/sessions '{"policy": "strict"}' | jq -er .session_id)
    mcp "$ann" execute_code "$(jq -n --arg s "$session" '{code: "print(6 * 7)", session: $s}')" | grep -q 42
    as "$ann" DELETE "/v1/sessions/$session"
}
ok 'a session under a policy that may be used is used over MCP as well' own_session
ready() { [ "$(status_of "$base/readyz")" = 200 ]; }
ok 'the gateway is ready although its first policy is for some callers alone' ready
nothing_judged() { [ -z "$(decisions | tail -n +$((before + 1)) | jq -c 'select(.body.principal == "ann" and .body.policy == "lax")')" ]; }
ok 'of all that was refused nothing is in the audit log as a decision' nothing_judged

# --- the audit log
recorded() { decisions | jq -se 'map(select(.body.principal == "rex" and .body.action == "run" and (.body.code | startswith("import subprocess")))) | length > 1 and all(.body | .verdict == "allow" and .mode == "log-only" and .findings[0].effect == "deny")'; }
ok 'a record says what would have been denied: allow, log-only, and the effect that the finding would have had' recorded
enforced() { decisions | jq -se 'map(select(.body.policy == "strict")) | length > 0 and all(.body.mode == null)'; }
ok 'records under other policies have no mode' enforced
id=$(decisions | jq -r 'select(.body.action == "run" and .body.mode == "log-only" and (.body.findings | length > 0)).body.id' | head -n 1)
shown() { "$codebox" audit show --state "$state" "$id" >shown.txt; grep -q '^  mode  *log-only$' shown.txt; grep -q 'would deny by rule' shown.txt; }
ok 'codebox audit show tells both' shown
tailed() { local t="$codebox audit tail --state $state --lines 1000"; $t >tail.txt; grep -q 'allow run .*lax (log-only) rex .*would deny' tail.txt; $t --verdict deny >tail.txt; lacks 'log-only' <tail.txt; $t --verdict allow >tail.txt; grep -q 'log-only' tail.txt; }
ok 'so does tail, under the verdict that it had' tailed
report() { "$codebox" audit report --state "$state" >report.html; grep -q 'would have been denied if their policy were not in mode log-only' report.html; grep -q 'Allowed in mode log-only, by the rule' report.html; }
ok 'the report counts them by rule' report
exports() {
    local all="$codebox audit export --state $state --type decision"
    $all --format ecs | jq -se 'map(select(.codebox.mode == "log-only" and .rule.name != null)) | length > 0 and all(.codebox.verdict == "allow")'
    $all --format ocsf | jq -se 'map(select(.unmapped.mode == "log-only")) | length > 0 and all(.class_uid == 6003)'
    $all --format cef >cef.txt
    grep -q 'act=allow .*flexString1=log-only' cef.txt
}
ok 'the exports have the mode' exports
page() { curl -sS -H "Authorization: Bearer $carol" "$base/" >page.html; grep -q 'log-only' page.html; grep -q '(would deny)' page.html; as "$carol" GET /v1/decisions | jq -e '[.decisions[] | select(.mode == "log-only")] | length > 0'; }
ok 'the page and the list of decisions show them as what they are' page
replayed() { "$codebox" audit replay --state "$state" --policy ./lax.yaml --policy strict >replay.txt || { cat replay.txt; return 1; }; grep -qE ', 0 to another one' replay.txt; grep -qE '^[0-9]+ decisions: [1-9][0-9]* decided again' replay.txt; }
ok 'replay decides them again to the same answer' replayed
shows_credentials() {
    local id=${rex#cbx_}
    id="token ${id%%_*}"
    jq -se --arg c "$id" 'map(select(.body.principal == "rex" and (.type == "decision" or .type == "upload" or .type == "reset" or .type == "deletion"))) | length > 0 and all(.body.credential == $c)' "$state/audit.jsonl"
    jq -se --arg c "$id" 'map(select(.type == "outcome" and .body.credential == $c)) | length > 0' "$state/audit.jsonl"
    jq -se 'map(select(.type == "decision")) | map(.body.credential) | unique | length >= 3' "$state/audit.jsonl"
    "$codebox" audit tail --state "$state" --lines 1000 >tail.txt
    grep -qF "lax (log-only) rex ($id) sha256" tail.txt
    grep -qF "by rex ($id)" tail.txt
    grep -q "^  credential  *$id" shown.txt
    "$codebox" audit export --state "$state" --format ecs | jq -se --arg c "$id" 'any(.codebox.credential == $c)'
    "$codebox" audit export --state "$state" --format ocsf | jq -se --arg c "$id" 'any(.actor.user.credential_uid == $c)'
    "$codebox" audit export --state "$state" --format cef >cef.txt
    grep -q "flexString2=$id" cef.txt
}
uses_files() {
    local session
    session=$(as "$rex" POST /v1/sessions '{}' | jq -er .session_id)
    curl -sS -X PUT -H "Authorization: Bearer $rex" --data-binary 'data' "$base/v1/sessions/$session/files/d.txt"
    as "$rex" DELETE "/v1/sessions/$session/files/d.txt"
    as "$rex" POST "/v1/sessions/$session/reset"
    as "$rex" DELETE "/v1/sessions/$session"
    jq -se '[.[].type] | (contains(["upload"]) and contains(["deletion"]) and contains(["reset"]))' "$state/audit.jsonl" | grep -q true
}
ok 'files are put and removed, and a session is reset' uses_files
ok 'each record has the token that its principal came with, and so have the outcomes; show, tail and the exports have it' shows_credentials
metric() { curl -sS -H "Authorization: Bearer $carol" "$base/metrics" >metrics.txt; grep -qE 'codebox_findings_total\{[^}]*effect="log-only"' metrics.txt; }
ok 'the metrics do not count them as denials' metric

# --- changes while the gateway runs
goes_on() { gives_status 200 started as "$rex" POST /v1/executions "$(code "$starts" '' "$opened")"; }
ok 'a session that was opened under it goes on' goes_on
of_ann=$(as "$ann" POST /v1/sessions '{"policy": "ops"}' | jq -er .session_id)
mcp_session() { # opens an MCP session of the handshake era
    curl -sS -D mcp.headers -o /dev/null -X POST -H "Authorization: Bearer $1" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' --data-binary \
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' "$base/mcp"
    sed -n 's/^mcp-session-id: *//Ip' mcp.headers | tr -d '\r'
}
in_session() { # TOKEN MCP-SESSION CODE
    curl -sS -X POST -H "Authorization: Bearer $1" -H "Mcp-Session-Id: $2" -H 'MCP-Protocol-Version: 2025-06-18' -H 'Content-Type: application/json' -H 'Accept: application/json' \
        --data-binary "$(jq -n --arg c "$3" '{jsonrpc: "2.0", id: 2, method: "tools/call", params: {name: "execute_code", arguments: {code: $c}}}')" "$base/mcp"
}
rex_mcp=$(mcp_session "$rex")
in_session "$rex" "$rex_mcp" "$starts" >mcp.json
ok 'an MCP session of who has the right runs' grep -q started mcp.json
as "$ann" POST /v1/executions "$(code 'y = 1' '' "$of_ann")" >/dev/null
key=first as "$rex" POST /v1/executions "$(code "$starts")" >first.json
turned() {
    policy ops log-only
    reload 'reload: done'
    refuses "$ann" POST /v1/executions "$(code 'print(y)' '' "$of_ann")"
    [ "$(curl -sS -o put.json -w '%{http_code}' -X PUT -H "Authorization: Bearer $ann" --data-binary 'import os' "$base/v1/sessions/$of_ann/files/n.py")" = 403 ]
    mcp "$ann" execute_code "$(jq -n --arg s "$of_ann" '{code: "print(y)", session: $s}')" | grep -qF "$refused"
    gives_status 403 'may use: strict' as "$ann" POST /v1/check "$(code 'x = 1' ops)"
    gives_status 200 '"verdict":"deny"' as "$bob" POST /v1/check "$(code "$starts")"
}
ok 'when SIGHUP turns the policy of a session into log-only, the next execution is refused' turned
lost() {
    config 'execute, check, approve'
    reload 'reload: done'
    refuses "$rex" POST /v1/executions "$(code 'print(1)' '' "$opened")"
    refuses "$rex" POST /v1/check "$(code 'x = 1')"
    in_session "$rex" "$rex_mcp" "$starts" | grep -qF "$refused"
    gives_status 200 idle as "$rex" GET "/v1/sessions/$opened"
}
ok 'a principal that lost the right is refused in sessions of before, over REST and MCP' lost
replayed_key() {
    local ran
    ran=$(count_decisions)
    key=first as "$rex" POST /v1/executions "$(code "$starts")" >again.json
    diff <(jq -S .execution_id first.json) <(jq -S .execution_id again.json)
    [ "$(count_decisions)" = "$ran" ]
    key=second gives_status 403 "$refused" as "$rex" POST /v1/executions "$(code "$starts")"
}
ok 'an idempotency key gives what it made before, and runs nothing' replayed_key
regained() {
    config "$RELAX"
    reload 'reload: done'
    gives_status 200 started as "$rex" POST /v1/executions "$(code "$starts" '' "$opened")"
    key=second gives_status 200 started as "$rex" POST /v1/executions "$(code "$starts")"
}
ok 'with the right again its session goes on' regained
removed() {
    cp codebox.yaml good.yaml
    sed -i '/^principals/,$d' codebox.yaml
    kill -HUP "$server"
    wait_until grep -q 'reload: ' server.log
    refuses_all() { [ "$(as "$rex" POST /v1/check "$(code 'x = 1')" | jq -r .status)" = 403 ]; }
    wait_until refuses_all
    cp good.yaml codebox.yaml
    reload 'reload: done'
}
ok 'without principals after a reload nobody may use it' removed

# --- approval
asks_then_relaxes() {
    local asked
    printf 'version: 1\nname: ops\ndescription: Of the test.\nextends: [default]\nrules: [{id: t.ask, languages: [python], match: {import: [secrets]}, effect: ask, tests: {}}]\n' >ops.yaml
    reload 'reload: done'
    as "$ann" POST /v1/executions "$(code 'import secrets' ops)" >asked.json
    asked=$(jq -er .approval asked.json)
    echo 'mode: log-only' >>ops.yaml
    reload 'reload: done'
    refuses "$carol" POST "/v1/decisions/$asked/approve"
    sed -i '/^mode/d' ops.yaml
    reload 'reload: done'
    gives_status 200 approved as "$carol" POST "/v1/decisions/$asked/approve"
    echo 'mode: log-only' >>ops.yaml
    reload 'reload: done'
    refuses "$ann" POST /v1/executions "$(code 'import secrets' ops | jq --arg a "$asked" '. + {approval: $a}')"
}
approved_by() {
    local asked
    sed -i '/^mode/d' ops.yaml
    reload 'reload: done'
    as "$ann" POST /v1/executions "$(code 'import secrets' ops)" >asked.json
    asked=$(jq -er .approval asked.json)
    gives_status 200 approved as "$carol" POST "/v1/decisions/$asked/approve"
    ann=$(token_of ann)
    gives_status 200 completed as "$ann" POST /v1/executions "$(code 'import secrets' ops | jq --arg a "$asked" '. + {approval: $a}')"
    jq -se --arg a "token $(cut -d_ -f2 <<<"$ann")" --arg c "token $(cut -d_ -f2 <<<"$carol")" 'map(select(.type == "approval")) | last.body | .credential == $a and .approved_by == {principal: "carol", credential: $c}' "$state/audit.jsonl"
}
ok 'a decision is not approved under a policy that only logs, and an approval of before does not run under it' asks_then_relaxes
ok 'an approval has the credentials of both, and is good for another token of the principal' approved_by
stop_server
audit_is_whole >/dev/null || { echo '  FAILED the audit log is whole'; failed=1; }
cd /
finish
