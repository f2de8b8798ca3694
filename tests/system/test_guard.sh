#!/bin/bash
# SPDX-License-Identifier: MIT
# The guard: what a policy denies is refused while a program runs too. The rules that would deny these programs before they run only warn here;
# capabilities that rules still deny are what the guard refuses.
source "$(dirname "$0")/lib.sh"

cat > "$work/guarded.yaml" <<'YAML'
version: 1
name: guarded
description: The rules of default for texts only warn; the guard refuses what a rule of this policy denies.
extends: [permissive]
rules:
  - id: guard.process
    languages: [python, javascript]
    match: {capability: [start-process, drive-browser], call: ["!*"], import: ["!*"], reference: ["!*"], attribute: [guarded_process]}
    message: No processes.
    hint: None.
    severity: high
    tests: {deny: ["x.guarded_process"], allow: ["import subprocess\nsubprocess.run(['id'])"]}
  - id: guard.socket
    languages: [python, javascript]
    match: {capability: [socket, network-client], call: ["!*"], import: ["!*"], reference: ["!*"], attribute: [guarded_socket]}
    message: No sockets.
    hint: None.
    severity: high
    tests: {deny: ["x.guarded_socket"], allow: ["import socket\nsocket.socket()"]}
YAML
start_server --policy "$work/guarded.yaml" --policy default --policy permissive
run() { post /v1/executions "$(jq -n --arg c "$2" --arg l "$1" --arg p "${3:-guarded}" '{code: $c, language: $l, policy: $p}')"; }
text_of() { jq -r '[(.output // [])[] | .text // ""] | join("")'; }

refused() { # LANGUAGE CODE CAPABILITY: no program ran, and the result says what was refused
    local answer
    answer=$(run "$1" "$2")
    jq -c '[.status, .error, .blocked, .output, .detail]' <<<"$answer"
    lacks 'uid=' <<<"$answer"
    jq -e --arg c "$3" '.blocked | any(.capability == $c and .count >= 1 and (.rule | startswith("guard.")) and (.message | length > 0) and (.hint | length > 0))' <<<"$answer"
}
ok 'Python starts no program: os.system' refused python $'import os\nprint(os.system("id"))' start-process
ok 'Python starts no program: subprocess' refused python $'import subprocess\nsubprocess.run(["id"])' start-process
ok 'Python starts no program: fork' refused python $'import os\nif os.fork() == 0:\n    os.execv("/usr/bin/id", ["id"])' start-process
ok 'Python starts no program: it becomes one' refused python $'import os\nos.execv("/usr/bin/id", ["id"])' start-process
ok 'Python starts no program: posix_spawn' refused python $'import os\nos.waitpid(os.posix_spawn("/usr/bin/id", ["id"], {}), 0)' start-process
ok 'Python starts no program: a worker process' refused python $'import multiprocessing\np = multiprocessing.Process(target=print)\np.start()' start-process
ok 'Python starts no program: system calls by number' refused python $'import ctypes\nlibc = ctypes.CDLL(None)\nlibc.syscall(57)\nlibc.syscall(59, b"/usr/bin/id", None, None)' start-process
ok 'Python starts no program: from a thread' refused python $'import threading, os\nt = threading.Thread(target=lambda: os.system("id"))\nt.start()\nt.join()' start-process
ok 'Python opens no socket' refused python $'import socket\nsocket.socket()' socket
ok 'JavaScript starts no program' refused javascript $'console.log(String(require("child_process").execSync("id")))' start-process
ok 'TypeScript starts no program' refused typescript $'import { spawnSync } from "child_process"\nconsole.log(String(spawnSync("id").stdout))' start-process
ok 'JavaScript opens no socket' refused javascript $'require("net").connect(80, "127.0.0.1").on("error", (e) => console.log(e.code))' socket

counted() { # many attempts are one entry with their number
    run python $'import os\nfor i in range(500):\n    try:\n        os.fork()\n    except PermissionError:\n        pass\nprint("still here")' > "$work/counted"
    jq -e '.status == "completed" and (.blocked | length) == 1 and .blocked[0].count == 500' "$work/counted"
    text_of < "$work/counted" | grep -q 'still here'
}
ok 'attempts are counted, not listed' counted
works() { # CODE TEXT [POLICY]: the program prints this, and nothing was refused
    run "$1" "$2" "${4:-default}" > "$work/works"
    cat "$work/works"
    jq -e '.status == "completed" and .blocked == []' "$work/works"
    text_of < "$work/works" | grep -q "$3"
}
ok 'threads work' works python $'import concurrent.futures as f\nwith f.ThreadPoolExecutor(4) as p:\n    print(sum(p.map(lambda x: x * 2, range(10))))' 90
ok 'numpy, pandas and matplotlib work' works python $'import numpy as np, pandas as pd, matplotlib.pyplot as plt\ndf = pd.DataFrame({"a": np.arange(4)})\nplt.plot(df["a"])\nplt.savefig("x.png")\nprint(int(df["a"].sum()))' 6
ok 'asyncio works' works python $'import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n    return 42\nprint(asyncio.run(main()))' 42
ok 'lines of shell work' works ipython '!echo 42' 42
ok '  in every form' works ipython $'x = !echo 41\n%sx echo 40\n!!echo 39\nprint(int(x[0]) + 1)' 42
ok '  and cells of shell' works ipython $'%%bash\necho $((6 * 7))' 42
ok 'Node works' works javascript $'setTimeout(() => console.log([1, 2].map((x) => x * 21)), 5)' 42
ok 'a policy without such a rule refuses nothing' works python $'import os\nprint(os.system("echo 42"))' 42 permissive
session=$(post /v1/sessions '{"language":"python","policy":"guarded"}' | jq -er .session_id)
in_session() { post /v1/executions "$(jq -n --arg c "$1" --arg s "$session" '{code: $c, session_id: $s}')"; }
lines() { # a function with a line may be called from another cell
    local session
    session=$(post /v1/sessions '{"language":"python","policy":"default"}' | jq -er .session_id)
    execute() { post /v1/executions "$(jq -n --arg c "$1" --arg s "$session" '{code: $c, session_id: $s}')"; }
    execute $'def f():\n    r = !echo 42\n    return r[0]' >/dev/null
    execute 'print(f())' | text_of | grep -q 42
}
ok 'a function with a line of shell works in the next cell' lines
ok 'a session goes on after a refusal, and after a reset' eval 'in_session "import os; os.system(\"id\")" | jq -e ".blocked[0].capability == \"start-process\"" && in_session "x = 41" | jq -e ".status == \"completed\" and .blocked == []" && in_session "print(x + 1)" | text_of | grep -q 42 && post "/v1/sessions/$session/reset" "{}" >/dev/null && in_session "print(6 * 7)" | text_of | grep -q 42 && in_session "import os; os.system(\"id\")" | jq -e ".blocked[0].capability == \"start-process\""'
crashed() { # the run that starts a new kernel is guarded too
    in_session 'import ctypes; ctypes.string_at(0)' >/dev/null
    in_session 'import os; os.system("id")' | tee "$work/crashed" | jq -e '.blocked[0].capability == "start-process"'
    lacks 'uid=' < "$work/crashed"
}
ok 'a session goes on guarded after a crash of its kernel' crashed
logged() {
    stop_server
    "$codebox" audit verify --state "$state"
    jq -e -s 'map(select(.type == "blocked")) | length >= 12 and all(.[]; .body.decision != "" and .body.principal != "" and (.body.rule | startswith("guard.")))' "$state/audit.jsonl"
    "$codebox" audit tail --state "$state" | grep 'blocked .*start-process by rule guard.process'
}
ok 'every refusal is in the audit log, with decision, principal and rule' logged
