#!/bin/bash
# SPDX-License-Identifier: MIT
# The REST API on a real engine, used by a client of CodeBox-AI and by an attacker.
source "$(dirname "$0")/lib.sh"
start_server --pip-index http://127.0.0.1:9/simple/ # no server is at this port

# --- sessions and executions
session=$(new_session '{"dependencies": ["numpy"], "execution_options": {"timeout": 30, "memory_limit": "512m", "cpu_limit": "0.5", "environment_variables": null, "mount_points": []}}')
state_stays() { run_in "$session" 'x = 41' >/dev/null; run_in "$session" $'x += 1\nprint(x)\nx' | expect '.status == "completed" and .error == null and .output[0] == {type: "stream", name: "stdout", content: "42\n"} and .output[1].content == "42"'; }
ok 'a session keeps its state, and gives output and last value' state_stays
plot() { run_in "$session" $'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()' | jq -er '.files[0]' >"$work/plot"; base64 -d <"$work/plot" >"$work/plot.png"; cmp -n 8 "$work/plot.png" <(printf '\211PNG\r\n\032\n'); }
ok 'a plot comes back as a PNG' plot
fails() { run_in "$session" '1/0' | expect '.status == "error" and .error.ename == "ZeroDivisionError" and (.error.traceback | length) > 1'; }
ok 'a failed run has results, with its traceback' fails
rich() { run_in "$session" 'display({"text/html": "<b>x</b>"}, raw=True)' | expect '.output[0].type == "result" and .output[0].content == "" and .output[0].data["text/html"] == "<b>x</b>"'; }
ok 'a display without text is in the data of its item' rich
streams() { run_in "$session" $'import sys\nprint("out")\nprint("err", file=sys.stderr)' | expect '[.output[].name] == ["stdout", "stderr"]'; }
ok 'stdout and stderr are apart' streams
pages() {
    local next
    next=$(curl -sS "$base/v1/sessions/$session/history?limit=2" | jq -er 'select(.executions | length == 2).next')
    curl -sS "$base/v1/sessions/$session/history?limit=1&cursor=$next" | expect '(.executions | length) == 1 and (.executions[0].code | startswith("import matplotlib"))'
    [ "$(status_of "$base/v1/sessions?limit=0")" = 400 ] && grep -qF "'limit' is 0, allowed 1..1000" "$work/body"
}
ok 'a listing comes in pages' pages
cell() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{session_id: $s, code: $c}')"; } # SESSION CODE
past() { # each cell is judged with the previous ones
    local language id
    for language in javascript typescript; do
        id=$(post /v1/sessions "{\"language\": \"$language\"}" | jq -er .session_id)
        cell "$id" 'var r = require' | expect '.status == "completed"'
        cell "$id" '[1, 2].length' | expect '.status == "completed"'
        cell "$id" "r('child_process').execSync('id')" | expect '.verdict == "deny"'
        cell "$id" "r('fs').readdirSync('.').length" | expect '.status == "completed"'
    done
}
ok 'a cell of JavaScript or TypeScript is judged with the cells before it' past
limits() {
    local container
    container=$(container_of "$session")
    [ "$(docker inspect --format '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}' "$container")" = '536870912 500000000' ]
}
ok 'execution_options tighten the limits of the sandbox' limits
times_out() { local s; s=$(new_session '{"execution_options": {"timeout": 1}}'); run_in "$s" 'while True: pass' | expect '.status == "error" and .outcome == "timeout"'; curl -sS -X DELETE "$base/sessions/$s"; }
ok 'a timeout of a session is kept' times_out

# --- denials
denied() {
    local before after
    before=$("$codebox" audit tail --state "$state" --lines 1000 | grep -c deny || true)
    [ "$(status_of -X POST -H 'Content-Type: application/json' -d "{\"code\": \"import subprocess\", \"session_id\": \"$session\"}" "$base/execute")" = 400 ]
    expect '.type == "urn:codebox:problem:denied" and .findings[0].rule == "py.process" and (.message | contains("Hint:")) and .status == "error"' "$work/body"
    after=$("$codebox" audit tail --state "$state" --lines 1000 | grep -c deny)
    [ "$after" = $((before + 1)) ]
}
ok 'a denied program is 400 with its finding, and is in the audit log' denied
alias() {
    local s code
    s=$(new_session)
    run_in "$s" 'import os as o' | expect '.status == "completed"'
    run_in "$s" 'print(o.getcwd())' | expect '.status == "completed"'
    code='{"code": "o.system(1)", "session_id": "'$s'"}'
    [ "$(status_of -X POST -H 'Content-Type: application/json' -d "$code" "$base/execute")" = 400 ]
    expect '.findings[0].symbol == "os.system"' "$work/body"
    curl -sS -X DELETE "$base/sessions/$s"
}
ok 'a name that an earlier cell bound means what it meant there' alias
check() { post /v1/check '{"code": "import socket", "language": "python"}' | expect '.verdict == "deny" and .findings[0].line == 1 and .decision != ""'; }
ok 'a check gives the decision and runs nothing' check
blocked() { post /sessions '{"dependencies": ["Paramiko"]}' | expect '.findings[0].rule == "pkg.blocked"'; }
ok 'a blocked dependency is denied by its rule' blocked
version() { "$codebox" image list --contents --json | jq -er --arg name "$1" 'first(.. | objects | select(.name? == $name)).version'; } # prints the version in the image
there() { new_session '{"dependencies": ["scipy>=1.9", "PyYAML", "scikit_learn", "Pillow=='"$(version pillow)"'", "lxml", "sympy", "requests=='"$(version requests)"'"]}'; }
ok 'dependencies that the image has in such a version are there' there

# --- mistakes of clients, and attacks: STATUS BODY-FRAGMENT PATH BODY
refuses() { # STATUS FRAGMENT PATH BODY
    [ "$(status_of -X POST -H 'Content-Type: application/json' --data-binary "$4" "$base$3")" = "$1" ] && grep -qF "$2" "$work/body" || { cat "$work/body"; return 1; }
}
printf '[%.0s' $(seq 100000) >"$work/deep"
head -c 20000000 /dev/zero | tr '\0' a >"$work/big"
ok 'an unknown session is 404' refuses 404 'Session not found' /execute '{"code": "1", "session_id": "nope"}'
ok 'disable_validation is refused' refuses 400 'cannot weaken' /execute '{"code": "1", "session_id": "nope", "disable_validation": ["all"]}'
ok 'a body that is no JSON is 400' refuses 400 'not valid JSON' /sessions '{"dependencies": ['
ok 'a key given twice is 400' refuses 400 'duplicate' /execute '{"code": "1", "code": "2", "session_id": "x"}'
ok 'an unknown field is 400, with the nearest field' refuses 400 "did you mean 'code'" /execute '{"code": "1", "session_id": "x", "kode": 1}'
ok 'a wrong type is 400, with the type that is allowed' refuses 400 'allowed is a string' /execute '{"code": 1, "session_id": "x"}'
ok 'JSON nested 100,000 deep is 400' refuses 400 'nested deeper' /v1/check "@$work/deep"
ok 'a body that is too large is 413' refuses 413 'larger' /v1/check "@$work/big"
one_dialect() { # the judgement of a cell is the same for check and for run
    local cell
    for cell in '%pip install numpy' '!ls' 'import subprocess' 'x = 1' 'x ='; do
        local checked run
        checked=$(post /v1/check "$(jq -n --arg c "$cell" '{code: $c, language: "python"}')" | jq -c '[.findings[] | .rule]')
        run=$(post /v1/executions "$(jq -n --arg c "$cell" '{code: $c, language: "python"}')" | jq -c '[.findings[]? | .rule]')
        [ "$run" = '[]' ] || [ "$checked" = "$run" ] || { echo "$cell: checked $checked, run $run"; return 1; }
    done
    post /v1/check '{"code": "%pip install numpy", "language": "python"}' | expect '[.findings[] | select(.rule == "syntax")] == [] and .language == "python"'
}
ok 'a check and an execution mean the same by python' one_dialect
ok 'an unknown language is 400, with those that are allowed' refuses 400 'allowed is one of' /v1/check '{"code": "x", "language": "cobol"}'
ok 'an unknown policy is 404, with those of the gateway' refuses 404 'this gateway has default' /v1/check '{"code": "x", "language": "python", "policy": "zz"}'
ok 'memory that is no size is 400' refuses 400 'allowed is a size' /sessions '{"execution_options": {"memory_limit": "banana"}}'
ok 'a dependency with shell in it is 400' refuses 400 'package name' /sessions '{"dependencies": ["numpy; id"]}'
ok 'a version that the image does not have is asked of the index, and the answer says which one it has' refuses 503 'the sandbox image has numpy '"$(version numpy)" /sessions '{"dependencies": ["numpy==99"]}'
ok 'a module in the place of a package is 400, with the package' refuses 400 "it is in 'beautifulsoup4'" /sessions '{"dependencies": ["bs4"]}'
ok 'an index that cannot be reached is named' refuses 503 'the index http://127.0.0.1:9 cannot be reached' /sessions '{"dependencies": ["torch"]}'
ok 'a session id that only begins like one is unknown' refuses 404 'Session not found' /execute "{\"code\": \"1\", \"session_id\": \"$session\\u0000x\"}"
ok 'a message that is cut inside a character is whole' refuses 400 "unknown field 'x" /sessions "{\"x$(printf 'é%.0s' $(seq 150))\": 1}"
ok 'code that is not UTF-8 is 400' refuses 400 'not valid JSON' /v1/check "$(printf '{"code": "\377", "language": "python"}')"
too_long() { { printf '{"language": "python", "code": "'; head -c 1200000 /dev/zero | tr '\0' '#'; printf '"}'; } >"$work/long"; post /v1/check "@$work/long" | expect '.verdict == "deny" and .findings[0].rule == "source.too-large"'; }
ok 'a source over the limit is denied, with the limit' too_long

chunked() { [ "$(curl -sS -o "$work/body" -w '%{http_code}' -X POST -H 'Content-Type: application/json' -H 'Transfer-Encoding: chunked' --data-binary "@$work/big" "$base/v1/check")" = 413 ]; expect '.status == 413' "$work/body"; }
ok 'a body that is too large is 413 in chunks too' chunked

raw() { # sends the bytes unchanged, and checks the status
    local port=${base##*:} line
    exec 9<>"/dev/tcp/127.0.0.1/$port"
    printf "$2" "$port" >&9
    IFS= read -r -t 5 line <&9
    exec 9>&-
    [[ $line == "HTTP/1.1 $1"* ]] || { echo "$line"; return 1; }
}
ok 'two Host headers are refused' raw 400 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nHost: x\r\n\r\n'
ok 'a foreign Host is refused' raw 421 'GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n'
ok 'a foreign Origin is refused' raw 403 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nOrigin: http://evil.example\r\n\r\n'
ok 'two lengths are refused' raw 400 'POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc'
ok 'a length beside a transfer coding is refused' raw 400 'POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'
ok 'an unknown transfer coding is refused' raw 400 'POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nTransfer-Encoding: xchunked\r\n\r\n'
ok 'a space before the colon is refused' raw 400 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nFoo : x\r\n\r\n'
ok 'a request without Host is refused' raw 400 'GET /healthz HTTP/1.1\r\n\r\n'
ok 'an Origin with no name is refused' raw 403 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nOrigin: null\r\n\r\n'
ok 'two Authorization headers are refused' raw 400 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n'
ok 'HTTP/1.0 is answered' raw 200 'GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n\r\n'
ok 'HEAD is answered as GET is' raw 200 'HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n'
ok 'HTTP/1.0 with a transfer coding is refused' raw 400 'POST /v1/check HTTP/1.0\r\nHost: 127.0.0.1:%s\r\nTransfer-Encoding: chunked\r\n\r\n'
ok 'a body that is compressed is refused' raw 415 'POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n'
ok 'an absolute target is refused' raw 400 'GET http://x/healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n'
ok 'an escaped slash is no slash' raw 404 'GET /execute/a%%2fb/status HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n'
ok 'a method that a path does not have is 405, with those that it has' raw 405 'PUT /sessions HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 0\r\n\r\n'

# --- the end
is_refused() { # the server does not start, and prints the reason
    ! timeout 10 "$codebox" serve "${@:2}" 2>"$work/refusal" && grep -qF "$1" "$work/refusal"
}
second() { is_refused 'another gateway' --state "$state" --listen 127.0.0.1:0; run_in "$session" 'print(1)' | expect '.status == "completed"'; }
ok 'a second gateway on the same state directory is refused, and the first keeps its sessions' second
ok 'a public address is refused' is_refused 'nobody is authenticated' --state "$work/other" --listen 0.0.0.0:0
container=$(container_of "$session")
deleted() { curl -sS -X DELETE "$base/sessions/$session" | expect '.status == "cleaned up"'; [ "$(status_of -X DELETE "$base/sessions/$session")" = 404 ]; wait_until has_no_container "$container"; }
ok 'a deleted session is removed, with its container' deleted
session=$(new_session)
id=$(start_run "$session" 'print("kept")')
wait_until is_over "$id"
stop_server
start_server --max-runs 2
survives() { results_of "$id" | expect '.output[0].content == "kept\n"'; }
ok 'results survive a restart' survives
queue() {
    local a b ids=()
    a=$(new_session)
    b=$(new_session)
    for i in 1 2 3 4 5 6; do
        ids+=("$(start_run "$a" "print($i)")" "$(start_run "$b" "print($i)")")
    done
    for id in "${ids[@]}"; do
        wait_until is_over "$id"
        results_of "$id" | expect '.status == "completed"'
    done
    curl -sS -X DELETE "$base/sessions/$a" "$base/sessions/$b"
}
ok 'more runs than there are places wait their turn' queue
session=$(new_session)
run_in "$session" 'x = 1' >/dev/null # a run that is interrupted during the kernel's imports ends without an exception
id=$(start_run "$session" 'while True: pass')
stop_server
start_server
goes_on() { curl -sS "$base/v1/executions/$id" | expect '.status == "running"'; post "/v1/executions/$id/cancel" '{}' | expect '.status == "interrupted"'; wait_until is_over "$id"; results_of "$id" >"$work/cancelled"; cat "$work/cancelled"; expect '.error.ename == "KeyboardInterrupt"' "$work/cancelled"; }
ok 'a run continues after SIGTERM to the server, and can be cancelled' goes_on
curl -sS -X DELETE "$base/sessions/$session" >/dev/null
ask_on() { # clients with open connections that continue to send requests
    local asked
    for asked in "$work"/asked{1,2,3,4}; do
        curl -s "$base/execute/a/status?[1-100000]" >"$asked" &
    done
    for asked in "$work"/asked{1,2,3,4}; do
        wait_until [ -s "$asked" ]
    done
}
ask_on
kill -TERM "$server"
stopped=0
wait "$server" || stopped=$?
server=
ok 'SIGTERM under load ends the server in order' [ "$stopped" = 0 ]
ok 'the audit log is whole' "$codebox" audit verify --state "$state"
finish
