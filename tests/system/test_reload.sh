#!/bin/bash
# SPDX-License-Identifier: MIT
# SIGHUP: the gateway loads policies again while it serves. No request fails, an invalid policy
# leaves the previous one in use, and sessions of a changed policy are told so.
. "$(dirname "$0")/lib.sh"
chmod 700 "$work"
cd "$work"
codebox_of() { readlink -f "$codebox"; }
codebox=$(codebox_of)

policy() { # writes the effect of the hash rule in the policy 'ops'
    printf '%s\n' 'version: 1' 'name: ops' 'extends: default' 'rules:' '  - id: team.no-md5' '    match: {call: ["hashlib.md5"]}' "    effect: $1" \
        '    message: MD5 is not used here' '    hint: use hashlib.sha256' '    tests: {}' >ops.yaml
}
check() { post /v1/check "$(jq -n --arg p "${2:-ops}" --arg c "$1" '{code: $c, language: "python", policy: $p}')" | jq -r .verdict; }
export stdout='[.output[]? | select(.kind == "stdout").text] | join("")'
md5='import hashlib
print(hashlib.md5(b"x").hexdigest())'

policy warn
printf '%s\n' "state: $state" 'listen: 127.0.0.1:0' "policy: [default, $work/ops.yaml]" 'pool-min: 1' >serve.yaml
"$codebox" policy check ops.yaml || true
"$codebox" serve --config serve.yaml 2>"$work/server.log" &
server=$!
wait_until grep -q 'serving on' "$work/server.log" || { cat "$work/server.log"; exit 1; }
base=$(sed -n 's/.*serving on \(http:[^,]*\),.*/\1/p' "$work/server.log")

ok 'the first policy allows it' [ "$(check "$md5")" = allow ]
kept=$(post /v1/sessions '{"language": "python", "policy": "default"}' | jq -er .session_id)
old=$(post /v1/sessions '{"language": "python", "policy": "ops"}' | jq -er .session_id)
run_v1() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{session_id: $s, code: $c}')"; }
run_v1 "$kept" 'x = 1' >/dev/null
run_v1 "$old" 'x = 1' >/dev/null

reload 'reload: nothing changed'
ok 'a reload without a change says so' grep -q 'reload: nothing changed' "$work/server.log"

echo 'version: 1' >ops.yaml
reload 'reload: failed'
ok 'a bad policy is in the log, with the reason' grep -q "reload: .*ops.yaml" "$work/server.log"
ok '... and the old one stays in use' [ "$(check "$md5")" = allow ]

# Requests arrive all the time.
(
    for _ in $(seq 200); do
        curl -sS -o /dev/null -w '%{http_code}\n' -X POST -H 'Content-Type: application/json' \
            --data-binary '{"language": "python", "policy": "default", "code": "print(1)"}' "$base/v1/check"
    done >codes
) &
checks=$!
(
    for _ in $(seq 30); do
        post /v1/executions '{"language": "python", "code": "print(6 * 7)"}' | jq -r ".status + \" \" + ($stdout)"
    done >runs
) &
runs=$!
long=$(post /v1/executions "$(jq -n --arg s "$kept" '{session_id: $s, async: true, code: "import time\ntime.sleep(3)\nprint(x + 41)"}')" | jq -er .execution_id)
pids=$(children_of "$server" | sort | tr '\n' ' ')
policy deny
reload 'reload: done'
policy warn
reload 'reload: done'
policy deny
reload 'reload: done'
wait "$checks" "$runs"
ok 'no check failed meanwhile' [ "$(sort -u codes)" = 200 ]
ok 'no run failed meanwhile' [ "$(grep . runs | sort | uniq -c | awk '{print $1, $2, $3}')" = '30 completed 42' ]
ok 'the new policy denies it' [ "$(check "$md5")" = deny ]
ok 'a run that was in progress has ended well' wait_until bash -c 'curl -sS "$0/v1/executions/$1" | jq -e ".status == \"completed\""' "$base" "$long"
ok '... with its result' bash -c 'curl -sS "$0/v1/executions/$1" | jq -e "($stdout) == \"42\n\""' "$base" "$long"
ok 'a session of a policy that did not change has its state' [ "$(run_v1 "$kept" 'print(x)' | jq -r "$stdout")" = 1 ]
told() { run_v1 "$old" 'print(x)' | tee told.json | grep -q 'another version of it'; }
ok 'a session of the policy that changed is told so' told
fresh=$(post /v1/sessions '{"language": "python", "policy": "ops"}' | jq -er .session_id)
ok 'a new session of it runs' [ "$(run_v1 "$fresh" 'print(7)' | jq -r "$stdout")" = 7 ]
ok 'front and executor are the same processes' [ "$(comm -12 <(tr ' ' '\n' <<<"$pids" | sort) <(children_of "$server" | sort) | grep -c .)" = 2 ]
ok 'the reload is in the audit log, with old and new hash' bash -c 'grep "\"type\":\"reload\"" "$0/audit.jsonl" | tail -n 1 |
    jq -e ".body.policies[] | select(.name == \"ops\") | .old != .new and (.old | length) == 64 and (.new | length) == 64"' "$state"

sed -i 's/^pool-min.*/pool-min: 2/; s/^policy.*/policy: [default]/' serve.yaml
reload 'reload: done'
ok 'a policy that is off the list is unknown' bash -c 'curl -sS -X POST -H "Content-Type: application/json" --data-binary "{\"language\":\"python\",\"policy\":\"ops\",\"code\":\"1\"}" "$0/v1/check" | grep "no policy is called"' "$base"
ok 'another setting that changed is named' grep -q "'pool-min' changed; it is used from the next start on" "$work/server.log"
kill -9 "$(children_of "$server" | xargs -I{} sh -c 'grep -q cbx-executor /proc/{}/comm && echo {}')"
ok 'an executor that is started again has what was loaded' wait_until bash -c '[ "$(curl -sS -X POST -H "Content-Type: application/json" --data-binary "{\"language\":\"python\",\"code\":\"print(5)\"}" "$0/v1/executions" | jq -r "$stdout")" = 5 ]' "$base"
stop_server
ok 'the audit log is whole' audit_is_whole
finish
