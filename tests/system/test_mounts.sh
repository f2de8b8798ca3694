#!/bin/bash
# SPDX-License-Identifier: MIT
# Folders of the host in sandboxes: programs read or write them as the policy grants, and reach
# nothing else, even if the folder's path changes meanwhile; each record lists the mounts. Over
# REST, MCP and `codebox run`.
source "$(dirname "$0")/lib.sh"
chmod 711 "$work"
host=$work/host
mkdir -p "$host/data/sub" "$host/out" "$host/other" "$work/secret"
echo granted >"$host/data/file"
echo deep >"$host/data/sub/file"
echo SECRET | tee "$work/secret/file" >"$host/other/file"
echo 'value = "code of a mount"' >"$host/data/unjudged.py"
echo 'exports.value = 1' >"$host/data/unjudged.js"
echo 'echo code of a mount' >"$host/data/unjudged.sh"
cp /bin/true "$host/data/tool"
chmod 4755 "$host/data/tool"
chmod 777 "$host/out"
ln -s "$work/secret" "$host/data/leak"
ln -s data "$host/alias"
ln -s "$work/secret" "$host/escape"
cat >"$work/policy.yaml" <<END
version: 1
name: mounted
description: Grants two folders.
extends: [default]
mounts:
  override: true
  allow: [{host: $host/data}, {host: $host/out, mode: rw}, {host: $host/alias}, {host: $host/escape}, {host: $host/swap}]
  container: [/data, /out, /mnt, /workspace]
  tests: {allow: ["$host/data/sub:/data:ro"], deny: ["$host/other:/data", "$host/data:/data:rw"]}
END
start_server --policy "$work/policy.yaml"

both=$(jq -nc --arg h "$host" '["\($h)/data:/data", "\($h)/out:/out:rw"]')
once() { post /v1/executions "$(jq -n --arg l "$1" --arg c "$2" --argjson m "${3:-$both}" '{language: $l, code: $c, mounts: $m}')"; }
open_session() { post /v1/sessions "$(jq -n --argjson m "${1:-$both}" '{mounts: $m}')"; }
execute() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{session_id: $s, code: $c}')"; }
shows() { local got; got=$(cat); grep -qF -- "$1" <<<"$got" || { echo "$got"; echo "not there: $1"; return 1; }; }
lacks_secret() { if grep -F SECRET; then return 1; fi; }
# The analyzer cannot compute this path.
hidden() { printf 'import os\np = os.environ.get("NONE", "%s")\n' "$1"; }

# --- reading and writing
reads() { once python $'print(open("/data/file").read(), open("/data/sub/file").read())' | shows 'granted\n deep\n'; }
ok_later 'a granted folder can be read, with what is below it' reads
reads_in() { once "$1" "$2" | shows granted; }
ok_later 'in JavaScript' reads_in javascript 'console.log(require("fs").readFileSync("/data/file", "utf8"))'
ok_later 'in the shell' reads_in shell 'cat /data/file'
ok_later 'in C' reads_in c $'#include <stdio.h>\nint main(void) { char b[64] = ""; FILE *f = fopen("/data/file", "r"); if (!f || !fgets(b, 64, f)) return 1; puts(b); }'
part() { once python 'print(open("/mnt/file").read())' "[\"$host/data/sub:/mnt\"]" | shows deep; }
ok_later 'a folder below a granted one can be mounted by itself' part
writes() { once python $'import os\nos.mkdir("/out/made")\nopen("/out/made/file", "w").write("from inside")' | expect '.status == "completed"'; [ "$(cat "$host/out/made/file")" = 'from inside' ]; }
ok_later 'a folder that is granted for writing can be written to' writes
writes_in() { once "$1" "$2" >"$work/w-$1"; expect '.status == "completed"' "$work/w-$1"; [ "$(cat "$host/out/$1")" = "$1" ]; }
ok_later 'in JavaScript' writes_in javascript 'require("fs").writeFileSync("/out/javascript", "javascript")'
ok_later 'in the shell, also by redirection' writes_in shell 'echo shell > /out/shell'
ok_later 'in C' writes_in c $'#include <stdio.h>\nint main(void) { FILE *f = fopen("/out/c", "w"); return f == NULL || fputs("c", f) < 0 || fclose(f); }'
finish_later

cannot_write() { once python "$(hidden /data/new)"$'\nopen(p, os.environ.get("NONE", "w"))' >"$work/a"; shows PermissionError <"$work/a"; shows write-outside <"$work/a"; [ ! -e "$host/data/new" ]; }
ok_later 'what is granted for reading cannot be written to, and the attempt is reported' cannot_write
analyzer() { once python 'open("/data/new", "w")' | shows py.open-outside; once python 'open("/out/new", "w")' '[]' | shows py.open-outside; once shell 'echo x > /data/new' | shows sh.command; once shell 'echo x > /out/../etc/new' | shows sh.command; }
ok_later 'the analyzer denies writing to a constant path there, and to one that is mounted in another sandbox' analyzer
link_out() { once python "$(hidden /data/leak/file)"$'\nprint(os.path.exists(p))\nprint(open(p).read())' >"$work/b"; shows FileNotFoundError <"$work/b"; lacks_secret <"$work/b"; }
ok_later 'a link in it that leads out of it leads nowhere' link_out
no_special() { once python "$(hidden /out/link)"$'\nfor f in (lambda: os.symlink("file", p), lambda: os.mkfifo(p)):\n    try: f()\n    except PermissionError: print("refused")' | shows 'refused\nrefused'; [ ! -L "$host/out/link" ] && [ ! -e "$host/out/link" ]; }
ok_later 'a program leaves no link and no pipe there' no_special
no_rights() {
    once python $'import os\nopen("/out/plain", "w").close()\nfor mode in (0o4755, 0o2755):\n    try: os.chmod("/out/plain", mode)\n    except PermissionError: print("refused")\n    try: os.close(os.open(f"/out/made{mode}", os.O_CREAT | os.O_WRONLY, mode))\n    except PermissionError: print("refused")\ntry: os.link("/out/plain", "/out/second")\nexcept PermissionError: print("refused")\nos.chmod("/out/plain", 0o755)' | shows 'refused\nrefused\nrefused\nrefused\nrefused'
    [ -z "$(find "$host/out" -perm /6000)" ] && [ ! -e "$host/out/second" ] && [ "$(stat -c %a "$host/out/plain")" = 755 ]
}
ok_later 'a program leaves no set-user-id file and no hard link there' no_rights
no_import() { once python $'import sys\nsys.path.insert(0, "/data")\nimport unjudged' | shows 'was not judged'; }
ok_later 'Python does not import code of it' no_import
no_require() { once javascript 'require("/data/unjudged.js")' >"$work/c"; lacks '"value"' <"$work/c"; shows 'judged' <"$work/c"; }
ok_later 'JavaScript does not load code of it' no_require
no_source() { once shell '. /data/unjudged.sh' >"$work/d"; lacks '"text":"code of a mount' <"$work/d"; }
ok_later 'the shell does not read commands from it' no_source
no_program() { once shell '/data/tool && echo it ran' >"$work/e"; lacks '"it ran' <"$work/e"; }
ok_later 'no program of it is started' no_program
finish_later

# --- folders that are not granted
refused() { # TEXT MOUNT
    local answer
    answer=$(open_session "[\"$2\"]")
    echo "$answer"
    shows "$1" <<<"$answer"
    jq -e '.session_id == null' <<<"$answer"
}
ok_later 'a folder that no entry covers is refused, and the text says so' refused 'no entry of mounts.allow covers' "$host/other:/data"
ok_later 'writing is refused where reading is granted' refused 'for reading only' "$host/data:/data:rw"
ok_later 'a folder of the list of denied ones is refused, without its entry' refused 'lies in a folder that is never mounted' /etc:/data
ok_later 'a place in the sandbox that the policy does not name is refused' refused 'in no folder of mounts.container' "$host/data:/elsewhere"
ok_later 'a folder that the sandbox has itself is not mounted over' refused 'that the sandbox has itself' "$host/data:/workspace/x"
ok_later 'a granted path that is a link out of what is granted is refused' refused 'is a link that leads out' "$host/escape:/data"
ok_later 'so is one through a link in a granted folder' refused 'is a link that leads out' "$host/data/leak:/data"
ok_later 'a file is no folder' refused 'is no folder' "$host/data/file:/data"
ok_later 'what does not exist is refused' refused 'does not exist' "$host/swap:/data"
finish_later
overlap() { open_session "[\"$host/data:/data\", \"$host/out:/data/out:rw\"]" | shows overlap; }
ok 'a mount in a mount is refused' overlap
check() { post /v1/check "$(jq -n --argjson m "$both" '{language: "python", code: "open(\"/out/x\", \"w\")", mounts: $m}')" | expect '.verdict == "allow"'; post /v1/check '{"language": "python", "code": "open(\"/out/x\", \"w\")"}' | expect '.verdict == "deny"'; }
ok 'a check judges code as in a sandbox with mounts' check
alias() { once python 'print(open("/mnt/file").read())' "[\"$host/alias:/mnt\"]" | shows granted; tail -n 6 "$state/audit.jsonl" | jq -se --arg h "$host" 'any(.[]; .body.mounted[0] == {host: "\($h)/data", asked: "\($h)/alias", container: "/mnt", mode: "ro"})'; }
ok 'a granted link into what is granted is followed, and the record has both paths' alias

# --- CodeBox-AI
legacy=$(jq -n --arg h "$host" '{execution_options: {mount_points: [{host_path: "\($h)/data", container_path: "/data"}]}}')
codebox_ai() { run_in "$(new_session "$legacy")" 'print(open("/data/file").read())' | shows granted; }
ok "mount_points of CodeBox-AI are mounted, for reading where 'read_only' is not said" codebox_ai

# --- sessions, records, and an executor that is killed
session=$(open_session | jq -er .session_id)
first() { execute "$session" $'data = open("/data/file").read()\nprint(data)' | shows granted; }
ok 'a session has its mounts in each run' first
later_run() { post /v1/executions "$(jq -n --arg s "$session" --argjson m "$both" '{session_id: $s, code: "1", mounts: $m}')" | shows "'mounts' is set when a session is opened"; }
ok 'a run of a session cannot bring others' later_run
reset() { post "/v1/sessions/$session/reset" '{}' >/dev/null; execute "$session" 'print(open("/data/file").read(), open("/out/x", "w").write("y"))' | shows granted; [ -e "$host/data/file" ] && [ -e "$host/out/made/file" ]; }
ok 'a reset leaves the folders as they are' reset
upload() {
    curl -sS -X PUT --data-binary 'def read(): return open("/data/file").read()' "$base/v1/sessions/$session/files/helper.py" >/dev/null
    execute "$session" $'import helper\nprint(helper.read())' | shows granted
}
ok 'a file that is uploaded is judged with the mounts of its session, and its code reads them' upload
killed() {
    execute "$session" 'kept = 41' >/dev/null
    kill -9 "$(pgrep -P "$server" -x cbx-executor)"
    execute "$session" 'print(kept + 1, open("/data/file").read())' | shows '42 granted'
}
ok 'the executor that takes the place of a killed one has the session, its sandbox and its mounts' killed
kill -9 "$server"
wait "$server" 2>/dev/null || true
start_server --policy "$work/policy.yaml"
again() { execute "$session" 'print(kept + 2, open("/data/file").read())' | shows '43 granted'; }
ok 'so has the gateway that takes the place of a killed one' again
records() {
    "$codebox" audit verify --state "$state" >/dev/null
    grep -F "\"session\":\"$session\"" "$state/audit.jsonl" | jq -se --arg h "$host" 'map(select(.type == "decision")) | length >= 4 and
        all(.[]; .body.mounts == ["\($h)/data:/data:ro", "\($h)/out:/out:rw"]) and all(.[]; [.body.mounted[] | [.host, .container, .mode]] == [["\($h)/data", "/data", "ro"], ["\($h)/out", "/out", "rw"]])'
    grep -F "\"session\":\"$session\"" "$state/audit.jsonl" | jq -se 'map(select(.type == "decision" and .body.action == "run")) | all(.[]; .body.mounted[0].flags == ["ro", "nosuid", "nodev", "noexec"])'
}
ok 'the records of the opening and of each run have what is mounted, with the flags that it has' records
failures() { jq -se 'any(.[]; .type == "outcome" and ((.body.error // "") | contains("a link that leads out")))' "$state/audit.jsonl"; }
ok 'what was refused when it was opened is the outcome of its decision' failures

# --- path swapped between check and use: at each moment the path is the granted folder, or a link
# to another folder
mkdir "$host/swap" "$host/spare"
echo granted >"$host/swap/file"
ln -s "$work/secret" "$host/trap"
swap() { while :; do mv -T "$host/swap" "$host/spare/away"; mv -T "$host/trap" "$host/swap"; mv -T "$host/swap" "$host/trap"; mv -T "$host/spare/away" "$host/swap"; done; }
swap 2>/dev/null &
swapper=$!
race() {
    local got=0 i
    for i in $(seq 16); do
        once python 'print(open("/data/file").read())' "[\"$host/swap:/data\"]" >"$work/race"
        lacks_secret <"$work/race"
        grep -qE 'granted|leads out|does not exist|is being changed' "$work/race" || { cat "$work/race"; return 1; }
        got=$((got + $(grep -c granted "$work/race" || true)))
    done
    echo "$got runs got the granted folder"
}
ok 'no run sees the other folder while a folder and a link are swapped' race
kill "$swapper" && wait "$swapper" 2>/dev/null || true

# --- nothing remains
volumes=$(docker inspect "$(curl -sS "$base/v1/sessions/$session" | jq -er .container)" | jq -er '.[0].Mounts[].Name')
instance=$(ls "$state/instances")
stop_server
no_sandbox() { [ -z "$(docker ps -aq --filter "label=codebox.instance=$instance")" ]; }
clean() {
    docker ps -aq --filter "label=codebox.instance=$instance" | xargs -r docker rm -fv >/dev/null 2>&1 || true # some containers are already being removed
    wait_until no_sandbox
    [ "$(wc -w <<<"$volumes")" = 2 ]
    docker volume ls -q >"$work/volumes"
    lacks "$(tr '\n' '|' <<<"$volumes")nothing" <"$work/volumes"
    lacks "$host" </proc/self/mountinfo
    [ "$(cat "$host/data/file")" = granted ] && [ "$(cat "$host/out/made/file")" = 'from inside' ]
}
ok 'with the sandboxes their mounts are gone, and the folders are as they were' clean

# --- codebox run, codebox mcp, codebox policy
run() { "$codebox" run --state "$state" --policy "$work/policy.yaml" "$@"; }
echo 'print(open("/data/file").read())' >"$work/a.py"
cd "$host"
ok 'codebox run --mount mounts for one run, relative to the working directory' gives 0 granted run --mount data:/data "$work/a.py"
ok 'what the policy does not mount ends it before it starts, with the entry and what to add' gives 2 "'mounts: {allow: [{host: DIR, mode: ro}]" run --mount "$host/other:/data" "$work/a.py"
are_answered() { jq -se 'map(.id) | contains([2, 3])' "$work/mcp"; }
speak() {
    : >"$work/mcp"
    { printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
        "$(jq -nc '{jsonrpc: "2.0", id: 2, method: "tools/call", params: {name: "execute_code", arguments: {language: "python", session: "new", code: "print(open(\"/data/file\").read())"}}}')" \
        "$(jq -nc '{jsonrpc: "2.0", id: 3, method: "tools/call", params: {name: "run_python_code", arguments: {code: "print(open(\"/data/file\").read())"}}}')"; wait_until are_answered; } |
        "$codebox" mcp --state "$state" --policy "$work/policy.yaml" --mount "$host/data:/data" >"$work/mcp"
    jq -se 'map(select(.id == 1))[0].result.instructions | contains("/data (read only)")' "$work/mcp"
    jq -se '[.[] | select(.id > 1).result.structuredContent.stdout] == ["granted\n\n", "granted\n\n"]' "$work/mcp"
}
ok 'codebox mcp --mount mounts in each session and each call, and names the folder to the model' speak
ok 'the policy tries its mounts' gives 0 '' "$codebox" policy test "$work/policy.yaml"
ok 'and explains them' gives 0 "$host/data" "$codebox" policy explain "$work/policy.yaml"
finish
