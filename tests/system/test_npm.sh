#!/bin/bash
# SPDX-License-Identifier: MIT
# A large package of npm's registry: TypeScript's compiler (9 MB of text in one file) in a
# JavaScript session. The gateway judges its name and version; `require` loads it from its layer,
# without a judgement of the code.
source "$(dirname "$0")/lib.sh"
certificates=/etc/ssl/certs/ca-certificates.crt # of this machine: its registry may have a private certificate
start_server ${CODEBOX_NETWORK:+--package-network "$CODEBOX_NETWORK"} --package-ca "$certificates"
open_with() { post /v1/sessions "$(jq -n --args '{language: "javascript", dependencies: $ARGS.positional}' -- "$@")"; }
execute() { post /v1/executions "$(jq -n --arg s "$session" --arg c "$1" '{code: $c, session_id: $s}')" | tee "$work/execution" | jq -r '[.output[]?.text // empty] | join("")'; }
shows() { # FRAGMENT occurs in standard input
    local text
    text=$(cat)
    echo "$text"
    [[ $text == *"$1"* ]] || { echo "not there: $1"; cat "$work/execution"; return 1; }
}

answer=$(open_with typescript@5.9)
session=$(jq -r '.session_id // empty' <<<"$answer")
if [ -z "$session" ] && grep -qE 'does not answer|did not answer|cannot be reached' <<<"$answer"; then
    echo "  skipped: npm's registry: $answer"
    finish
fi
opened() { echo "$answer"; [ -n "$session" ]; }
ok 'a JavaScript session is opened with typescript among its dependencies' opened
loaded() { execute 'const ts = require("typescript"); console.log(ts.version, require.resolve("typescript").startsWith("/codebox/") ? "of the image" : "of a layer");' | shows '5.9.'; shows 'of a layer' <"$work/execution"; }
ok '`require` loads it, from the layer' loaded
compiles() { execute 'console.log(ts.transpile("const x: number = 6 * 7; enum E { A }; console.log(x as any)").split("\n")[0]);' | shows 'var x = 6 * 7;'; }
ok '... it compiles a line' compiles
checks() { execute $'const host = ts.createCompilerHost({ noLib: true });\nconst read = host.getSourceFile;\nhost.getSourceFile = (name, ...rest) => name === "a.ts" ? ts.createSourceFile(name, "const x: number = \'seven\';", 99) : read(name, ...rest);\nconst program = ts.createProgram(["a.ts"], { noLib: true, types: [] }, host);\nconsole.log(ts.getPreEmitDiagnostics(program).map((d) => d.messageText).join("; "));' | shows "Type 'string' is not assignable to type 'number'"; }
ok '... and checks types' checks
in_a_cell() {
    session=$(post /v1/sessions '{"language": "javascript"}' | jq -er .session_id)
    execute 'const ts = require("typescript"); console.log(ts.version);' >/dev/null
    expect '[.. | strings] | any(contains("typescript"))' "$work/execution"
    expect '.status != "completed"' "$work/execution"
}
ok 'a session without it has none' in_a_cell
recorded() { jq -se 'any(.[]; .type == "decision" and (.body | tostring | test("typescript[ @]5\\.9\\.")))' "$state/audit.jsonl" >/dev/null && audit_is_whole; }
ok 'the audit log has its version' recorded
finish
