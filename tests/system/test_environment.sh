#!/bin/bash
# SPDX-License-Identifier: MIT
# Variables of the policy and of callers reach programs of every language, and no other process,
# file or configuration. A secret leaves a sandbox only as "[secret NAME]", in every form that
# programs print.
source "$(dirname "$0")/lib.sh"
token=tok-Zq81RvXw04LmPd77 password=pw-K3hT9sBnE62yUcAj
printf '%s\n' "$password" >"$work/password"
chmod 600 "$work/password"
cat >"$work/policy.yaml" <<END
version: 1
name: granted
description: Passes one variable and two secrets.
extends: [default]
environment: {pass: [REGION, NOT_SET_HERE], secrets: [API_TOKEN, {name: DB_PASSWORD, file: $work/password}]}
END
export REGION=eu-north-7 API_TOKEN=$token
start_server --policy "$work/policy.yaml"
unset REGION API_TOKEN

execute() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{code: $c, session_id: $s}')"; }
once() { post /v1/executions "$(jq -n --arg l "$1" --arg c "$2" '{code: $c, language: $l}')"; }
open_session() { post /v1/sessions "${1:-{\}}" | jq -er .session_id; }
shows() { local text; text=$(cat); grep -qF -- "$1" <<<"$text" || { echo "not there: $1"; echo "but: ${text:0:1500}" | tr -d '\r'; return 1; }; }
has_no_value() { lacks "Zq81RvXw|K3hT9sBn"; }

# --- every language
reads() { # LANGUAGE CODE: prints the region and the token
    local got
    got=$(once "$1" "$2" | jq -r '[.results[].text // empty] | join("")' 2>/dev/null || true)
    [ -n "$got" ] || got=$(once "$1" "$2")
    echo "$got"
    shows 'eu-north-7 [secret API_TOKEN]' <<<"$got"
    has_no_value <<<"$got"
}
ok_later 'Python has them' reads python $'import os\nprint(os.environ["REGION"], os.getenv("API_TOKEN"))'
ok_later 'JavaScript has them' reads javascript 'console.log(process.env.REGION, process.env.API_TOKEN)'
ok_later 'TypeScript has them' reads typescript 'const r: string = process.env.REGION!; console.log(r, process.env.API_TOKEN)'
ok_later 'the shell has them' reads shell 'echo "$REGION $API_TOKEN"'
ok_later 'C has them' reads c $'#include <stdio.h>\n#include <stdlib.h>\nint main(void) { printf("%s %s\\n", getenv("REGION"), getenv("API_TOKEN")); }'
finish_later

# --- output of a sandbox
session=$(open_session)
secret_from_a_file() { execute "$session" $'import os\nprint("<" + os.environ["DB_PASSWORD"] + ">")' | tee "$work/a" | shows '<[secret DB_PASSWORD]>'; has_no_value <"$work/a"; }
ok 'a secret comes from a file, without its line end' secret_from_a_file
missing() { execute "$session" $'import os\nprint("NOT_SET_HERE" in os.environ)' | shows False; grep -q "passes 'NOT_SET_HERE'" "$work/server.log"; }
ok 'a variable that the gateway does not have is missing, and the log says so once' missing
encoded() {
    local code=$'import os, base64, urllib.parse, json, sys\ns = os.environ["API_TOKEN"]; b = s.encode()\n'
    code+=$'for t in (base64.b64encode(b).decode(), base64.b32encode(b).decode(), b.hex(), b.hex(":"), s[::-1], s.upper(), urllib.parse.quote("".join("%%%02x" % c for c in b)), "".join("\\\\u%04x" % c for c in b), str(list(b)), " ".join(s), "\\n".join(s), s.encode("utf-16-le").decode("latin-1"), json.dumps(json.dumps([s]))): print("|", t, "|")\n'
    execute "$session" "$code" >"$work/a"
    has_no_value <"$work/a"
    [ "$(grep -o '\[secret API_TOKEN\]' "$work/a" | wc -l)" -ge 13 ]
}
ok 'encodings of a secret are replaced' encoded
split() {
    execute "$session" $'import os, sys\nfor c in os.environ["API_TOKEN"]:\n    sys.stdout.write(c); sys.stdout.flush()\nprint(" end")' | tee "$work/a" | shows '[secret API_TOKEN] end'
}
ok 'a secret that is written one character at a time is replaced' split
elsewhere() {
    execute "$session" $'import os\nraise ValueError("no " + os.environ["API_TOKEN"])' | tee "$work/a" | shows 'no [secret API_TOKEN]'
    has_no_value <"$work/a"
    execute "$session" $'import os\nos.environ["API_TOKEN"]' | tee "$work/a" | shows '[secret API_TOKEN]'
    has_no_value <"$work/a"
    execute "$session" $'import os\nopen(os.environ["API_TOKEN"] + ".txt", "w").write("x")\nopen("data.txt", "w").write("key=" + os.environ["API_TOKEN"])' >"$work/a"
    has_no_value <"$work/a"
    curl -sS "$base/v1/sessions/$session/files/" | tee "$work/a" | shows '[secret API_TOKEN].txt'
    has_no_value <"$work/a"
    [ "$(curl -sS "$base/v1/sessions/$session/files/data.txt")" = 'key=[secret API_TOKEN]' ]
}
ok 'so are errors, values, names of files and their contents' elsewhere

# --- places of the values
configuration() { docker inspect "$(container_of "$session")" | tee "$work/a" | shows '"Image"'; has_no_value <"$work/a"; lacks 'eu-north-7' <"$work/a"; }
ok 'no value is in the configuration of a container' configuration
others() {
    local pid
    for pid in "$server" $(children_of "$server"); do
        tr '\0' '\n' <"/proc/$pid/environ" >"$work/a"
        shows 'API_TOKEN=' <"$work/a"
        has_no_value <"$work/a"
        lacks 'eu-north-7' <"$work/a"
    done
}
ok 'no process of the gateway shows a value in its environment' others
memory() { # the front and the workers have handled requests before
    node tests/system/values_in_memory.mjs "$server" "$token" "$password" | tee "$work/a"
    lacks '(codebox|front|zygote|analyzer) [1-9]' <"$work/a"
    grep -q 'cbx-executor [1-9]' "$work/a"
}
if command -v node >/dev/null && [ "$(id -u)" = 0 ]; then
    ok 'no process but the executor has one in its memory' memory
fi
named() { status_of "$base/v1/sessions/$session/files/$token" >/dev/null; has_no_value <"$work/body"; }
ok 'an error that repeats what a caller sent is cleaned as well' named
record() { "$codebox" audit verify --state "$state" >/dev/null; jq -se 'map(select(.type == "decision").body.environment | select(. != null)) | all(.pass == ["REGION"] and .secrets == ["API_TOKEN", "DB_PASSWORD"])' "$state/audit.jsonl"; }
ok 'the audit log has the names of what was granted' record

# --- variables of callers
mine=$(new_session '{"execution_options": {"environment_variables": {"STAGE": "blue green", "EMPTY": ""}}}')
theirs() { [ "$(run_in "$mine" $'import os\nprint(repr(os.environ["STAGE"]), repr(os.environ["EMPTY"]))' | jq -r .output)" = "'blue green' ''" ]; }
has_mine() { run_in "$mine" $'import os\nprint(repr(os.environ.get("STAGE")), repr(os.environ.get("EMPTY")))' | tee "$work/a" | shows "'blue green' ''"; }
ok 'environment_variables of a session are there' has_mine
still() { has_mine; post "/v1/sessions/$mine/reset" '{}' >/dev/null; has_mine; }
ok 'in every cell, also after a reset' still
not_others() { execute "$session" $'import os\nprint(os.environ.get("STAGE"))' | shows None; }
ok 'and in no other session' not_others
refused() { # NAME FRAGMENT
    [ "$(status_of -X POST -H 'Content-Type: application/json' --data-binary "{\"execution_options\": {\"environment_variables\": {\"$1\": \"x\"}}}" "$base/sessions")" = 400 ]
    shows "$2" <"$work/body"
}
ok 'variables that loaders obey are refused, with the reason' refused LD_PRELOAD 'the dynamic loader obeys it'
ok 'so are those of the operator' refused API_TOKEN "the operator passes it"
hashed() { grep -q "\"STAGE\":\"$(printf 'blue green' | sha256sum | cut -c1-64)\"" "$state/audit.jsonl"; lacks 'blue green' <"$state/audit.jsonl"; }
ok 'the audit log has their names and hashes' hashed
shell=$(open_session '{"language": "shell", "environment": {"STAGE": "it'"'"'s $HOME"}}')
quoted() { execute "$shell" 'echo "<$STAGE>"; exit 3' | shows "<it's \$HOME>"; execute "$shell" 'echo "<$STAGE>"' | shows "<it's \$HOME>"; }
ok 'a shell has them as they are, also after it was ended' quoted

# --- restarts
killed() {
    kill -9 "$(pgrep -P "$server" -x cbx-executor)"
    execute "$session" $'print(os.environ["API_TOKEN"])' | tee "$work/a" | shows '[secret API_TOKEN]'
    once python $'import os\nprint(os.environ["REGION"], os.environ["API_TOKEN"])' | tee "$work/b" | shows 'eu-north-7 [secret API_TOKEN]'
    cat "$work/a" "$work/b" | has_no_value
}
ok 'the executor that takes the place of a killed one has the values, and redacts them' killed
restart() { # TOKEN
    stop_server
    export REGION=eu-north-7 API_TOKEN=$1
    start_server --policy "$work/policy.yaml"
    unset REGION API_TOKEN
}
same() { has_mine; execute "$session" $'print(os.environ["API_TOKEN"])' | tee "$work/a" | shows '[secret API_TOKEN]'; }
restart "$token"
ok 'after a restart with the same values sessions go on' same
is_busy() { curl -sS "$base/v1/sessions/$session" | expect '.status == "busy"'; }
pending=$(post /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, async: true, code: "import os, time\nprint(os.environ[\"API_TOKEN\"])\ntime.sleep(5)"}')" | jq -er .execution_id)
wait_until is_busy
restart "${token}-other"
withheld() {
    is_done() { curl -sS "$base/v1/executions/$pending" | tee "$work/a" | expect '.status != "running" and .status != "queued"'; }
    wait_until is_done
    has_no_value <"$work/a"
    shows 'withheld' <"$work/a"
}
ok 'a result from before a restart with another value is withheld, and says why' withheld
other() {
    execute "$session" $'print(os.environ["API_TOKEN"])' >"$work/a"
    has_no_value <"$work/a"
    grep -q 'other values of variables' "$work/server.log"
}
ok 'after a restart with another value the sandbox that has the old one is removed' other
stop_server
nothing_kept() { grep -rlaE 'Zq81RvXw|K3hT9sBn' "$state" "$work/server.log" && return 1 || return 0; }
ok 'no file of the state directory, and no line of the log, has a value' nothing_kept

# --- the other commands
printf 'import os\nprint(os.environ.get("REGION"), os.environ.get("API_TOKEN"))\n' >"$work/show.py"
run_it() { REGION=eu-north-7 API_TOKEN=$token "$codebox" run --state "$work/run" --policy "$work/policy.yaml" "$@" "$work/show.py" 2>"$work/err" | tee "$work/a"; }
run_all() { run_it; shows 'eu-north-7 [secret API_TOKEN]' <"$work/a"; }
ok 'codebox run passes them' run_all
run_some() { run_it --pass-env REGION; shows 'eu-north-7 None' <"$work/a"; }
ok '--pass-env passes only what it names' run_some
run_more() { ! run_it --pass-env PATH; shows "no policy passes" <"$work/err"; }
ok 'and nothing that the policy does not pass' run_more
over_mcp() {
    local call
    call=$(jq -nc --rawfile code "$work/show.py" '{jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "run_python_code", arguments: {code: $code}}}')
    { echo "$call"; wait_until grep -q '"id":1' "$work/answers"; } |
        REGION=eu-north-7 API_TOKEN=$token "$codebox" mcp --state "$work/mcp" --policy "$work/policy.yaml" >"$work/answers"
    shows 'eu-north-7 [secret API_TOKEN]' <"$work/answers"
    has_no_value <"$work/answers"
}
ok 'codebox mcp passes them' over_mcp
short() { ! API_TOKEN=short7! "$codebox" run --state "$work/run" --policy "$work/policy.yaml" "$work/show.py" 2>"$work/err"; shows "'API_TOKEN' has 7 bytes" <"$work/err"; }
ok 'a secret that is too short to be redacted is refused at the start' short
readable() { chmod 644 "$work/password"; ! run_it; shows 'has mode 0644' <"$work/err"; chmod 600 "$work/password"; }
ok 'so is a file of a secret that others may read' readable
explained() { "$codebox" policy explain "$work/policy.yaml" | tee "$work/a" | shows 'secret, redacted from all that leaves a sandbox: API_TOKEN'; shows "the gateway has no variable 'NOT_SET_HERE'" <"$work/a"; }
ok 'codebox policy explain names them, and what is missing' explained
finish
