#!/bin/bash
# SPDX-License-Identifier: MIT
# Standard input of programs in every language: of `codebox run`, of executions over REST, of tools,
# and of cells; complete and streamed; also an input that never arrives, that no program reads, and
# a restart of the gateway meanwhile.
source "$(dirname "$0")/lib.sh"
cd "$work"

run() { "$codebox" run --state "$work/runs" --policy "${policy:-permissive}" "$@"; }
program() { printf '%s\n' "$2" >"$1"; }
printf 'version: 1\nname: quick\nextends: [permissive]\nlimits: {wall: 2s}\n' >quick.yaml

# --- `codebox run`: each program prints the SHA-256 of its input, or its length
program hash.py 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'
program hash.js "const h = require('crypto').createHash('sha256'); for await (const c of process.stdin) h.update(c); console.log(h.digest('hex'));"
program hash.ts "const h = require('crypto').createHash('sha256'); process.stdin.on('data', (c: Buffer) => { h.update(c); }); process.stdin.on('end', () => console.log(h.digest('hex')));"
program hash.sh "sha256sum | cut -d' ' -f1"
program size.c $'#include <stdio.h>\n#include <unistd.h>\nint main(void) { static char b[65536]; long n = 0, r; while ((r = read(0, b, sizeof b)) > 0) n += r; printf("%ld\\n", n); }'
head -c 5000000 /dev/urandom >large
printf 'caf\303\251\n\0\1\377\r\nend without a line end' >binary
: >empty
expected() { case $1 in *.c) stat -c %s "$2" ;; *) sha256sum <"$2" | cut -d' ' -f1 ;; esac; }
arrives() { # INPUT arrives as a file and through a pipe
    [ "$(run "$1" <"$2")" = "$(expected "$1" "$2")" ]
    [ "$(cat "$2" | run "$1")" = "$(expected "$1" "$2")" ]
}
for file in hash.py hash.js hash.ts hash.sh size.c; do
    ok_later "$file: bytes of every kind arrive" arrives "$file" binary
    ok_later "$file: 5 MB arrive" arrives "$file" large
    ok_later "$file: an input of no bytes is at its end" arrives "$file" empty
done
finish_later

program lines.py $'import sys\nprint([input(), next(sys.stdin), sys.stdin.readline(), sys.stdin.read(2), sys.stdin.read()])'
python() { [ "$(printf 'a\nb\nc\ndef\n' | run lines.py)" = "['a', 'b\\n', 'c\\n', 'de', 'f\\n']" ]; }
ok 'Python: input(), iteration, readline() and read() share one input' python
program sync.js "console.log(JSON.stringify(require('fs').readFileSync(0, 'utf8')))"
program device.js "console.log(JSON.stringify(require('fs').readFileSync('/dev/stdin', 'utf8')))"
program rl.js "const rl = require('readline').createInterface({ input: process.stdin }); rl.on('line', (l) => console.log('line ' + l)).on('close', () => console.log('closed'));"
javascript() {
    [ "$(printf 'a\nb' | run sync.js)" = '"a\nb"' ]
    [ "$(printf 'a\nb' | run device.js)" = '"a\nb"' ]
    [ "$(printf 'a\nb' | run rl.js)" = $'line a\nline b\nclosed' ]
}
ok 'JavaScript: readFileSync(0), /dev/stdin and readline read it' javascript
program parts.sh $'read -r x\necho "first $x"\ngrep -c o | cat\ncat /dev/stdin'
shell() { [ "$(printf '42\nfoo\nbar\n' | run parts.sh)" = $'first 42\n1' ]; }
ok 'shell: read takes a line, and the commands that it starts take the rest' shell
program scan.c $'#include <stdio.h>\nint main(void) { int x; if (scanf("%d", &x) != 1) return 3; printf("%d\\n", x * 2); }'
c() { [ "$(printf 21 | run scan.c)" = 42 ]; gives 3 '' run scan.c </dev/null; }
ok 'C: scanf reads it, and finds its end' c

program unread.sh 'echo done'; program unread.py 'print("done")'; program unread.js 'console.log("done")'
unread() { # the input stays open, and another writer fills it
    mkfifo "$1.fifo"
    exec 9<>"$1.fifo"
    [ "$(timeout 30 "$codebox" run --state "$work/runs" --policy permissive "$1" <"$1.fifo" 9>&-)" = done ]
    [ "$(head -c 3000000 /dev/zero | run "$1")" = done ]
}
for file in unread.sh unread.py unread.js; do ok "$file: a program that reads nothing is not held up" unread "$file"; done
program wait.sh 'cat'; program wait.py 'import sys; sys.stdin.read()'; program wait.js 'require("fs").readFileSync(0)'; program wait.c $'#include <unistd.h>\nint main(void) { char c; return read(0, &c, 1) < 0; }'
waits() {
    mkfifo "$1.fifo"
    exec 9<>"$1.fifo"
    policy=./quick.yaml gives 124 'which was still open' run "$1" <"$1.fifo" 9>&-
}
for file in wait.sh wait.py wait.js wait.c; do ok "$file: one that waits for input ends at its time limit, and the result says that it was open" waits "$file"; done
truncate -s 1073741825 sparse
ok 'a file that is too large is refused before anything runs' gives 2 '1073741825 bytes, allowed are 1073741824' run unread.sh <sparse
ok 'a folder is no input' gives 2 'standard input: Is a directory' run wait.sh <.
recorded() { # the audit log has its length and its hash
    printf 'secret data' | run hash.sh
    jq -se --arg hash "$(printf 'secret data' | sha256sum | cut -d' ' -f1)" 'map(select(.type == "outcome")) | last | .body | .input_bytes == 11 and .input_sha256 == $hash' "$work/runs/audit.jsonl"
    lacks 'secret data' <"$work/runs/audit.jsonl"
}
ok 'the audit log has the length and the hash of the input, not its bytes' recorded

# --- REST
cd - >/dev/null
start_server --policy permissive
execute() { post /v1/executions "$1"; }
stdout_of() { jq -r '[.output[]? | select(.kind == "stdout").text] | join("")'; }
given() {
    execute '{"language": "shell", "code": "read -r x; echo got $x; wc -c", "stdin": "42\nabc"}' >"$work/answer"
    [ "$(stdout_of <"$work/answer")" = $'got 42\n3' ]
    expect '.input == {size: 6, sha256: "'"$(printf '42\nabc' | sha256sum | cut -d' ' -f1)"'"}' "$work/answer"
}
ok 'REST: stdin is the standard input' given
base64() { [ "$(execute '{"language": "python", "code": "import sys; print(sys.stdin.buffer.read())", "stdin_base64": "AAH/"}' | stdout_of)" = "b'\\x00\\x01\\xff'" ]; }
ok 'REST: stdin_base64 has bytes of every kind' base64
decided() { jq -se 'map(select(.type == "decision")) | last | .body.input_bytes == 3' "$state/audit.jsonl"; }
ok 'the record of the decision, before anything ran, has the input that was given' decided
absent() { [ "$(execute '{"language": "shell", "code": "read -r x || echo end"}' | stdout_of)" = end ]; }
ok 'REST: without one the program finds the end at once' absent
refused() { [ "$(status_of -H 'Content-Type: application/json' --data-binary "$2" "$base/v1/executions")" = "$1" ]; grep -qF -- "$3" "$work/body"; }
ok 'both forms are refused' refused 400 '{"code": "1", "stdin": "a", "stdin_base64": "YQ=="}' 'allowed is one of them'
ok 'bad Base64 is refused' refused 400 '{"code": "1", "stdin_base64": "*"}' 'no Base64'
ok 'an unknown input is refused' refused 400 '{"code": "1", "input": "later"}' 'allowed is stream'
ok 'interactive and an input exclude each other' refused 400 '{"code": "1", "interactive": true, "input": "stream"}' 'cannot be'
legacy() {
    local s id
    s=$(new_session)
    id=$(post /execute "$(jq -n --arg s "$s" '{code: "print(input() * 2)", session_id: $s, stdin: "ab\n"}')" | jq -er .request_id)
    wait_until is_over "$id"
    results_of "$id" | grep -qF abab
}
ok '/execute takes stdin too' legacy
begin() { execute "$1" | jq -er .execution_id; } # starts a streamed execution
feed() { curl -sS -o "$work/fed" -w '%{http_code}' -H 'Content-Type: application/octet-stream' --data-binary "$2" "$base/v1/executions/$1/input${3:-}"; } # ID BYTES [QUERY]
ended() { curl -sS "$base/v1/executions/$1" | jq -e '.status != "running" and .status != "queued"'; }
runs() { curl -sS "$base/v1/executions/$1" | jq -e '.status == "running"'; }
output_of() { curl -sS "$base/v1/executions/$1" | stdout_of; }
streams() { # three posts while the program runs
    local id
    id=$(begin "$(jq -n --arg l "$1" --arg c "$2" '{language: $l, code: $c, input: "stream", async: true}')")
    [ "$(feed "$id" $'one\n')" = 202 ]
    [ "$(feed "$id" $'two\n')" = 202 ]
    [ "$(feed "$id" $'three\n' '?end=true')" = 202 ]
    wait_until ended "$id"
    [ "$(output_of "$id")" = "$3" ]
    [ "$(feed "$id" x)" = 409 ]
}
ok 'Python: three posts are one input' streams python 'import sys; print([l.strip() for l in sys.stdin])' "['one', 'two', 'three']"
ok 'JavaScript: three posts are one input' streams javascript 'let s = ""; for await (const c of process.stdin) s += c; console.log(JSON.stringify(s));' '"one\ntwo\nthree\n"'
ok 'TypeScript: three posts are one input' streams typescript 'let n: number = 0; for await (const c of process.stdin) n += c.length; console.log(n);' 14
ok 'shell: three posts are one input' streams shell 'while read -r x; do echo "<$x>"; done' $'<one>\n<two>\n<three>'
ok 'C: three posts are one input' streams c $'#include <stdio.h>\nint main(void) { int n = 0, c; while ((c = getchar()) != EOF) n++; printf("%d\\n", n); }' 14
reacts() { # the program reads the sent part before the input ends
    local id
    id=$(begin '{"language": "python", "code": "print(input(), flush=True); print(input())", "input": "stream", "stdin": "first\n", "async": true}')
    wait_until runs "$id"
    [ "$(feed "$id" $'second\n')" = 202 ]
    wait_until ended "$id"
    [ "$(output_of "$id")" = $'first\nsecond' ]
}
ok 'stdin and posts are one input, and a program need not wait for the end' reacts
ends() {
    local id
    id=$(begin '{"language": "shell", "code": "wc -c", "input": "stream", "async": true}')
    [ "$(curl -sS -o "$work/fed" -w '%{http_code}' -X POST "$base/v1/executions/$id/input?end=true")" = 202 ]
    wait_until ended "$id"
    [ "$(output_of "$id")" = 0 ]
}
ok 'a post without a body may end it' ends
takes_none() {
    local id
    id=$(begin '{"language": "shell", "code": "sleep 100", "async": true}')
    [ "$(feed "$id" x)" = 409 ]
    grep -q 'takes no more input' "$work/fed"
    post "/v1/executions/$id/cancel" '' >/dev/null
    wait_until ended "$id"
    [ "$(feed 11111111-1111-4111-8111-111111111111 x)" = 404 ]
}
ok 'an execution without a streamed input takes none, and an unknown one is not there' takes_none
full() { # input that no program reads is refused at a limit, and the rest of the gateway continues
    local id status=202
    head -c 6000000 /dev/zero >"$work/zeros"
    id=$(begin '{"language": "shell", "code": "sleep 100", "input": "stream", "async": true}')
    for _ in 1 2 3; do status=$(feed "$id" "@$work/zeros"); done
    [ "$status" = 413 ]
    grep -q 'allowed are 16777216' "$work/fed"
    post "/v1/executions/$id/cancel" '' >/dev/null
    wait_until ended "$id"
}
ok 'bytes that the program does not read are refused beyond a bound' full
cancelled() { # LANGUAGE CODE
    local id
    id=$(begin "$(jq -n --arg l "$1" --arg c "$2" '{language: $l, code: $c, input: "stream", async: true}')")
    wait_until runs "$id"
    post "/v1/executions/$id/cancel" '' >/dev/null
    wait_until ended "$id"
    curl -sS "$base/v1/executions/$id" | expect '.status == "cancelled"'
}
ok 'Python: one that waits for input is cancelled' cancelled python 'input()'
ok 'JavaScript: one that waits for input is cancelled' cancelled javascript 'require("fs").readFileSync(0)'
ok 'shell: one that waits for input is cancelled' cancelled shell cat

# --- sessions: each cell has its own input
cell() { execute "$(jq -n --arg s "$1" --arg c "$2" --argjson m "$3" '{session_id: $s, code: $c} + $m')" | stdout_of; }
open() { post /v1/sessions "{\"language\": \"$1\"}" | jq -er .session_id; }
cells() { # LANGUAGE READ-A-LINE READ-ALL
    local s
    s=$(open "$1")
    [ "$(cell "$s" "$2" '{"stdin": "a\nb\nc\n"}')" = a ]
    [ "$(cell "$s" "$3" '{"stdin": "second"}')" = second ]
    [ -z "$(cell "$s" "$3" '{}')" ]
    [ "$(cell "$s" "$2" '{"stdin": "x\ny\n"}')" = x ]
    curl -sS -X DELETE "$base/v1/sessions/$s" >/dev/null
}
ok 'Python: what a cell does not read is not for the next one' cells python 'print(input())' 'import sys; print(sys.stdin.read(), end="")'
ok 'JavaScript: what a cell does not read is not for the next one' cells javascript 'var b = Buffer.alloc(2); require("fs").readSync(0, b); console.log(String(b).trim())' 'var t = ""; for await (const c of process.stdin) t += c; process.stdout.write(t)'
ok 'shell: what a cell does not read is not for the next one' cells shell 'read -r x; echo "$x"' 'cat'
left() { # a process that outlives its cell reads the end of the cell's input
    local s
    s=$(open shell)
    cell "$s" '(exec 8<&0; (cat <&8 >late.txt; touch late.done) &) >/dev/null' '{"stdin": "first"}' >/dev/null
    [ "$(cell "$s" 'until [ -e late.done ]; do sleep 0.05; done; echo ended' '{}')" = ended ]
    [ "$(cell "$s" 'cat' '{"stdin": "second"}')" = second ]
    curl -sS -X DELETE "$base/v1/sessions/$s" >/dev/null
}
ok 'a process that outlives its cell finds the end of the input with it' left
reset() {
    local s
    s=$(open python)
    cell "$s" 'print(input())' '{"stdin": "a\nb\n"}' >/dev/null
    curl -sS -X POST "$base/v1/sessions/$s/reset" >/dev/null
    [ "$(cell "$s" 'print(input())' '{"stdin": "c\n"}')" = c ]
    curl -sS -X DELETE "$base/v1/sessions/$s" >/dev/null
}
ok 'a reset leaves nothing of an input' reset
by_number() { # also in a cell that has loaded IPython
    local s
    s=$(open python)
    [ "$(cell "$s" 'import IPython; print(open(0).read())' '{"stdin": "abc"}')" = abc ]
    [ "$(cell "$s" 'print(open(0).read())' '{"stdin": "def"}')" = def ]
    curl -sS -X DELETE "$base/v1/sessions/$s" >/dev/null
}
ok 'Python: open(0) reads it, and closes it for its cell alone' by_number
closes() {
    local s
    s=$(open javascript)
    [ "$(cell "$s" 'let t = ""; for await (const c of require("fs").createReadStream(null, { fd: 0 })) t += c; console.log(t)' '{"stdin": "abc"}')" = abc ]
    [ "$(cell "$s" 'console.log(require("fs").readFileSync(0, "utf8"))' '{"stdin": "def"}')" = def ]
    curl -sS -X DELETE "$base/v1/sessions/$s" >/dev/null
}
ok 'JavaScript: a cell that closes it does so for itself' closes

# --- MCP
tool() { # prints the text of the result, which arrives before the input ends
    : >"$work/mcp.out"
    { echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
      echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
      jq -nc --arg n "$1" --argjson a "$2" '{jsonrpc: "2.0", id: 2, method: "tools/call", params: {name: $n, arguments: $a}}'
      wait_until grep -q '"id":2' "$work/mcp.out" >/dev/null; } |
        "$codebox" mcp --state "$work/mcp" --policy permissive 2>"$work/mcp.log" >"$work/mcp.out"
    jq -r 'select(.id == 2) | .result.content[0].text' "$work/mcp.out"
}
tools() {
    tool run_python_code '{"code": "print(input()[::-1])", "stdin": "abc\n"}' | grep -qF cba
    tool run_javascript_code '{"code": "console.log(require(\"fs\").readFileSync(0).length)", "stdin": "12345"}' | grep -qx 5
    tool execute_code '{"language": "shell", "code": "wc -w", "stdin": "a b c"}' | grep -qx 3
}
ok 'MCP: the tools that run code have stdin' tools

# --- restarts
restarted() { # the executor is killed while a program waits for more input
    local id
    id=$(begin '{"language": "shell", "code": "cat; echo over", "input": "stream", "stdin": "some\n", "async": true}')
    wait_until runs "$id"
    [ "$(feed "$id" $'more\n')" = 202 ]
    kill -9 "$(pgrep -P "$server" -x cbx-executor)"
    wait_until ended "$id"
    curl -sS "$base/v1/executions/$id" >"$work/answer"
    [ "$(stdout_of <"$work/answer")" = $'some\nmore\nover' ]
    expect '.message | contains("restarted before the program had all of its standard input")' "$work/answer"
    [ "$(feed "$id" x)" = 409 ]
}
ok 'an executor that is killed: the input ends, and the result says that it was not complete' restarted
id=$(begin '{"language": "python", "code": "import sys; print(len(sys.stdin.read()))", "input": "stream", "stdin": "12345", "async": true}')
wait_until runs "$id"
stop_server
start_server --policy permissive
again() {
    wait_until ended "$id"
    curl -sS "$base/v1/executions/$id" >"$work/answer"
    [ "$(stdout_of <"$work/answer")" = 5 ]
    expect '.message | contains("restarted before")' "$work/answer"
}
ok 'a gateway that is restarted: the same' again
stop_server
ok 'the audit log is whole' audit_is_whole

# --- principals, and queued executions
ann=$("$codebox" token create --state "$state" --principal ann 2>/dev/null) bob=$("$codebox" token create --state "$state" --principal bob 2>/dev/null)
printf 'max-runs: 1\nprincipals: [{name: ann}, {name: bob}]\n' >"$work/codebox.yaml"
start_server --policy permissive --config "$work/codebox.yaml"
feed_as() { curl -sS -o "$work/fed" -w '%{http_code}' -H "Authorization: Bearer $1" -H 'Content-Type: application/octet-stream' --data-binary "$3" "$base/v1/executions/$2/input${4:-}"; } # TOKEN ID BYTES [QUERY]
status_is() { [ "$(as "$ann" GET "/v1/executions/$1" | jq -r .status)" = "$2" ]; }
queued() {
    local busy id
    busy=$(as "$ann" POST /v1/executions '{"language": "shell", "code": "sleep 100", "async": true}' | jq -er .execution_id)
    wait_until status_is "$busy" running
    id=$(as "$ann" POST /v1/executions '{"language": "shell", "code": "cat", "input": "stream", "async": true}' | jq -er .execution_id)
    wait_until status_is "$id" queued
    [ "$(feed_as "$ann" "$id" $'one\n')" = 202 ]
    [ "$(feed_as "$bob" "$id" $'two\n')" = 404 ]
    as "$ann" POST "/v1/executions/$busy/cancel" >/dev/null
    wait_until status_is "$id" running
    [ "$(feed_as "$ann" "$id" $'three\n' '?end=true')" = 202 ]
    wait_until status_is "$id" completed
    [ "$(as "$ann" GET "/v1/executions/$id" | stdout_of)" = $'one\nthree' ]
}
ok "what comes while it waits is read when it runs, and another principal's is not there" queued
stop_server
finish
