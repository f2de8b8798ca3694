#!/bin/bash
# SPDX-License-Identifier: MIT
# The guard refuses actions that a policy denies, also while a program runs. In the policy of this
# test, the rules that would deny these programs beforehand only warn. Capabilities that rules deny
# are refused by the guard.
source "$(dirname "$0")/lib.sh"

cat > "$work/guarded.yaml" <<'YAML'
version: 1
name: guarded
description: The rules of default for texts only warn; the guard refuses what the rules of default would imply.
extends: [permissive]
rules:
  - {id: any.credentials, effect: warn, override: true}
  - {id: js.open-outside, effect: warn, override: true}
guard: {start-process: refuse, socket: refuse, signal-process: refuse, native-code: refuse, deserialise: refuse, reflect: refuse}
YAML
sed 's/^name: .*/name: ending/; s/^guard: {/&ends-run: true, /' "$work/guarded.yaml" > "$work/ending.yaml"
cat > "$work/importing.yaml" <<'YAML'
version: 1
name: importing
extends: [permissive]
rules:
  - {id: my.modules, match: {import: [subprocess, multiprocessing, xmlrpc, "!xmlrpc.client"]}}
YAML
printf 'version: 1\nname: loading\nextends: [permissive]\nrules:\n  - {id: any.credentials, effect: warn, override: true}\nguard: {evaluate-text: refuse}\n' >"$work/loading.yaml"
start_server --policy "$work/guarded.yaml" --policy "$work/loading.yaml" --policy "$work/ending.yaml" --policy "$work/importing.yaml" --policy default --policy permissive
run() { post /v1/executions "$(jq -n --arg c "$2" --arg l "$1" --arg p "${3:-guarded}" '{code: $c, language: $l, policy: $p}')"; }
text_of() { jq -r '[(.output // [])[] | .text // ""] | join("")'; }

declare -A sessions
for kernel in python javascript typescript shell c; do # one session for all attempts: each attempt meets the state of the previous ones
    sessions[$kernel]=$(post /v1/sessions "$(jq -n --arg l "$kernel" '{language: $l, policy: "guarded"}')" | jq -er .session_id)
done
refused() { # the attempt has no effect, and the result names the refused action
    local answer kernel=${1/ipython/python}
    answer=$(post /v1/executions "$(jq -n --arg c "$2" --arg l "$1" --arg s "${sessions[$kernel]}" '{code: $c, language: $l, session_id: $s}')")
    jq -c '[.status, .error, .blocked, .output, .detail]' <<<"$answer"
    lacks 'uid=\|root:x:0' <<<"$answer"
    jq -e --arg c "$3" '.blocked | any(.capability == $c and .count >= 1 and (.rule | length > 0) and (.message | length > 0) and (.hint | length > 0))' <<<"$answer"
}
ok 'Python starts no program: os.system' refused python $'import os\nprint(os.system("id"))' start-process
ok 'Python starts no program: subprocess' refused python $'import subprocess\nsubprocess.run(["id"])' start-process
ok 'Python starts no program: fork' refused python $'import os\nif os.fork() == 0:\n    os.execv("/usr/bin/id", ["id"])' start-process
ok 'Python starts no program: it becomes one' refused python $'import os\nos.execv("/usr/bin/id", ["id"])' start-process
ok 'Python starts no program: posix_spawn' refused python $'import os\nos.waitpid(os.posix_spawn("/usr/bin/id", ["id"], {}), 0)' start-process
ok 'Python starts no program: a worker process' refused python $'import multiprocessing\np = multiprocessing.Process(target=print)\np.start()' start-process
ok 'Python starts no program: from a thread' refused python $'import threading, os\nt = threading.Thread(target=lambda: os.system("id"))\nt.start()\nt.join()' start-process
ok 'Python opens no socket' refused python $'import socket\nsocket.socket()' socket
of_client() { # the record of a refusal for an MCP client has the client's name and its identifiers of the call
    local call='{jsonrpc: "2.0", id: 7, method: "tools/call", params: {name: "run_python_code", arguments: {code: "import os\nos.system(\"id\")"},
        _meta: {"io.modelcontextprotocol/clientInfo": {name: "some-agent", version: "1"}, "claudecode/toolUseId": "toolu_1"}}}'
    curl -sS -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' --data-binary "$(jq -n "$call")" "$base/mcp" |
        jq -e '.result.structuredContent.blocked | length > 0'
    wait_until recorded_for_client blocked
    wait_until recorded_for_client outcome
}
recorded_for_client() { # TYPE
    jq -es --arg t "$1" 'any(.[]; .type == $t and .body.claimed_client == "some-agent" and .body.claimed_tool_use == "toolu_1" and .body.claimed_request == "7")' \
        "$state/audit.jsonl"
}
ok 'the record of a refusal names the client and its call' of_client
of_modules() { # CODE MODULE: the import fails, and the result and the log name the rule; 'none': it succeeds
    local answer
    answer=$(run python $'import sys\nname = "".join(reversed("ssecorpbus"))\n'"$1" importing)
    jq -c '[.status, .error, .blocked, .output, .detail]' <<<"$answer"
    if [ "$2" = none ]; then
        jq -e '.status == "completed" and (.blocked | length == 0)' <<<"$answer"
        return
    fi
    jq -e --arg m "$2" '.error.ename == "ImportError" and (.blocked | length == 1) and (.blocked[0] | .capability == "import" and .rule == "my.modules" and .what == $m)' <<<"$answer"
    jq -es --arg m "$2" 'any(.[]; .type == "blocked" and .body.what == $m and .body.rule == "my.modules")' "$state/audit.jsonl"
}
ok 'code that is made at run time imports no module that the policy denies' of_modules 'exec(open(0).read() or "import " + name)' subprocess
ok '  nor by a name that is computed' of_modules '__import__(name + sys.argv[0][:0])' subprocess
ok '  nor a part of it' of_modules 'exec(open(0).read() or "from xmlrpc import server")' xmlrpc
ok '  but what the policy takes out' of_modules 'exec(open(0).read() or "from xmlrpc import client")' none
ok '  and libraries what they need' of_modules 'exec(open(0).read() or "import asyncio, webbrowser, pandas")' none
ok 'JavaScript starts no program' refused javascript $'console.log(String(require("child_process").execSync("id")))' start-process
ok 'TypeScript starts no program' refused typescript $'import { spawnSync } from "child_process"\nconsole.log(String(spawnSync("id").stdout))' start-process
ok 'JavaScript opens no socket' refused javascript $'require("net").connect(80, "127.0.0.1").on("error", (e) => console.log(e.code))' socket

ok 'Python reads no file outside' refused python $'open("/etc/" + "passwd").read()' read-outside
ok '  by a path that climbs' refused python $'print(open("../etc/passwd").read())' read-outside
ok '  by a link that it makes' refused python $'import os\nos.symlink("/etc/passwd", "l")\nprint(open("l").read())' read-outside
ok '  by a link that lay there' refused ipython $'!ln -s /etc m\nprint(open("m/passwd").read())' read-outside
ok '  by another working directory' refused python $'import os\nos.chdir("/etc")\ntry:\n    print(open("passwd").read())\nfinally:\n    os.chdir("/workspace")' read-outside
ok '  by a folder' refused python $'import os\nprint(os.read(os.open("passwd", os.O_RDONLY, dir_fd=os.open("/etc", os.O_RDONLY)), 99))' read-outside
ok '  by a database' refused python $'import sqlite3\nprint(sqlite3.connect("/etc/passwd").execute("select * from t"))' read-outside
ok '  by a library in C' refused python $'import ssl\nssl.create_default_context().load_verify_locations("/etc/passwd")' read-outside
ok '  by a program that a line of shell starts' refused ipython $'!cat /etc/passwd' read-outside
ok '  nor does that change a file' refused ipython $'!rm -f /etc/hostname' write-outside
ok '  by a descriptor' refused python $'import os\nprint(os.read(os.open("/etc/passwd", os.O_RDONLY), 99))' read-outside
ok '  nor the environment of another process' refused python $'print(open("/proc/1/environ").read())' read-outside
ok 'Python writes no file outside' refused python $'open("/usr/lib/python3/dist-packages/x.py", "w").write("x")' write-outside
ok 'Python signals no other process' refused python $'import os\nos.kill(1, 15)' signal-process
ok '  nor limits it' refused python $'import resource\nresource.prlimit(1, resource.RLIMIT_CPU, (1, 1))' signal-process
ok '  nor slows it down' refused python $'import os\nos.setpriority(os.PRIO_USER, 0, 19)' signal-process
ok 'Python makes no memory executable' refused python $'import mmap\nmmap.mmap(-1, 4096, prot=mmap.PROT_EXEC | mmap.PROT_WRITE)' native-code
ok '  nor calls native code by ctypes' refused python $'import ctypes\nctypes.CDLL(None).puts(b"uid=")' native-code
ok '  nor by a thread of a library' refused python $'import ctypes\nfrom concurrent.futures import ThreadPoolExecutor\nprint(ThreadPoolExecutor().submit(ctypes.string_at, id(1)).result())' native-code
ok '  nor with functions of modules replaced' refused python $'import ctypes, re, builtins, _imp, types\nfrom concurrent.futures import ThreadPoolExecutor\nold = re.search, builtins.any, _imp.get_frozen_object, types.CodeType\nre.search = builtins.any = lambda *a, **k: True\n_imp.get_frozen_object = lambda name: (lambda: 0).__code__\ntry:\n    print(ThreadPoolExecutor().submit(ctypes.string_at, id(1)).result())\nfinally:\n    re.search, builtins.any, _imp.get_frozen_object, types.CodeType = old' native-code
ok 'Python gets no frame' refused python $'import sys\nprint(sys._getframe().f_builtins)' reflect
ok '  by a function that gets it' refused python $'import inspect\nprint(inspect.currentframe())' reflect
ok '  by a function of the image that calls it' refused python $'import sys\nfrom concurrent.futures import ThreadPoolExecutor\nprint(ThreadPoolExecutor().submit(sys._getframe).result())' reflect
ok '  of an error' refused python $'try:\n    1 / 0\nexcept Exception as e:\n    print(e.__traceback__.tb_frame.f_globals)' reflect
ok 'Python gets no objects of the garbage collector' refused python $'import gc\nprint(len(gc.get_objects()))' reflect
ok 'Python makes no code object' refused python $'def f(): pass\nf.__code__.replace(co_consts=(1,))' reflect
ok '  from bytes' refused python $'import marshal\nmarshal.loads(marshal.dumps(compile("1", "x", "eval")))' deserialise
ok '  by code that passes for a library' refused python $'import sys\nexec(compile("print(sys._getframe().f_builtins)", "/usr/lib/python3.13/collections/__init__.py", "exec"))' reflect
ok 'Python loads no pickle that names a function' refused python $'import pickle, os\nclass E:\n    def __reduce__(self):\n        return (os.getcwd, ())\nprint(pickle.loads(pickle.dumps(E())))' deserialise
ok 'JavaScript reads no file outside' refused javascript $'console.log(String(require("fs").readFileSync("/etc/passwd")))' read-outside
ok '  by a promise' refused javascript $'require("fs/promises").readFile("/etc/passwd").then((t) => console.log(String(t)), (e) => console.log(e.code))' read-outside
ok 'JavaScript writes no file outside' refused javascript $'require("fs").writeFileSync("/etc/x", "x")' write-outside
ok 'JavaScript signals no other process' refused javascript $'process.kill(1)' signal-process
ok 'shell starts no program that is not listed' refused shell 'id' start-process
ok '  by its path' refused shell '/usr/bin/id' start-process
ok '  by the loader of programs' refused shell '/lib64/ld-linux-x86-64.so.2 /usr/bin/id' start-process
ok '  by exec' refused shell 'exec id' start-process
ok '  from find' refused shell 'find . -maxdepth 0 -exec id \;' start-process
ok '  from xargs' refused shell 'echo x | xargs id' start-process
ok '  from awk' refused shell $'awk \'BEGIN { system("id") }\'' start-process
ok '  a copy of it' refused shell 'cp /usr/bin/id ./cat; chmod +x cat; ./cat' start-process
ok '  a script' refused shell $'printf \'#!/bin/sh\\nid\\n\' > s; chmod +x s; ./s' start-process
ok '  an interpreter' refused shell 'perl -e "print 1"' start-process
ok '  in the background, and in functions' refused shell $'f() { id & wait; }\nf' start-process
ok 'shell reads no file outside' refused shell 'cat /etc/passwd' read-outside
ok '  by a redirection' refused shell 'cat < /etc/passwd' read-outside
ok '  by a builtin' refused shell 'mapfile -t a < /etc/passwd; echo "${a[0]}"' read-outside
ok '  by a link' refused shell 'ln -s /etc/passwd l; cat l' read-outside
ok 'shell writes no file outside' refused shell 'echo x > /etc/x' write-outside
ok '  from a program' refused shell 'touch /etc/x' write-outside
ok 'shell opens no socket' refused shell 'echo x > /dev/tcp/127.0.0.1/80' socket
ok 'shell signals neither the kernel nor the supervisor' refused shell 'kill $PPID; kill -9 -1; kill 1; echo alive' signal-process
ok 'C starts nothing: system' refused c $'#include <stdlib.h>\nint main(void) { return system("id"); }' start-process
ok '  exec' refused c $'#include <unistd.h>\nint main(void) { execl("/usr/bin/id", "id", (char *)0); return 1; }' start-process
ok '  fork' refused c $'#include <stdio.h>\n#include <unistd.h>\nint main(void) { if (fork() == 0) puts("uid="); return 0; }' start-process
ok '  itself' refused c $'#include <unistd.h>\nint main(int n, char **v) { execv("/proc/self/exe", v); return n; }' start-process
ok 'C reads no file outside' refused c $'#include <stdio.h>\nint main(void) { char b[99]; FILE *f = fopen("/etc/passwd", "r"); if (f) puts(fgets(b, 99, f)); return 0; }' read-outside
ok 'C writes no file outside' refused c $'#include <stdio.h>\nint main(void) { return fopen("/etc/x", "w") == 0; }' write-outside
ok 'C opens no socket' refused c $'#include <sys/socket.h>\nint main(void) { return socket(AF_INET, SOCK_STREAM, 0) < 0; }' socket
ok 'C signals no other process' refused c $'#include <signal.h>\nint main(void) { return kill(1, 15); }' signal-process
ok 'C makes no memory executable' refused c $'#include <sys/mman.h>\nint main(void) { return mmap(0, 4096, PROT_EXEC | PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED; }' native-code
ok 'judged lines of shell start what is listed alone' refused ipython '!id' start-process
ok '  and open nothing for the rest of the cell' refused ipython $'!echo x\nimport subprocess\nprint(subprocess.run(["id"], capture_output=True))' start-process

ok '  nor for the cells after it' refused python $'import os\nprint(os.system("echo uid=1"))' start-process
ok '  nor for a thread beside it' refused ipython $'import threading, os\nt = threading.Timer(0.05, lambda: os.system("echo uid=1"))\nt.start()\n!sleep 0.3\nt.join()' start-process
ok '  nor for an output stream of the program' refused ipython $'import sys, os\nclass S:\n    def write(self, t): os.system("echo uid=1")\n    def flush(self): pass\nold, sys.stdout = sys.stdout, S()\ntry:\n    !echo x\nfinally:\n    sys.stdout = old' start-process
ok '  nor for a call of the shell that is not judged' refused python $'exec(compile("import os; os.system(\'echo uid=1\')", "x", "exec"))' start-process
ok 'Python reads no file outside by an attached database' refused python $'import sqlite3\nsqlite3.connect(":memory:").execute("attach ? as a", ("/etc/passwd",)).execute("select * from a.t")' read-outside
ok 'JavaScript reads no environment by a descriptor' refused javascript $'console.log("uid=", String(require("fs").readFileSync("/dev/fd/../environ")))' read-outside
ok 'JavaScript links no file outside' refused javascript $'require("fs").symlinkSync("/etc/passwd", "n"); console.log("uid=")' read-outside
ok 'shell reads no file outside by a descriptor' refused shell 'cat /dev/fd/../../../etc/passwd' read-outside
ok '  nor changes its mode, owner or time' refused shell 'chmod 777 /etc/passwd; chown 1 /etc/passwd; touch -d 2020-01-01 /etc/passwd' write-outside
ok 'C makes no memory executable: shared memory' refused c $'#include <sys/shm.h>\nint main(void) { return shmat(shmget(IPC_PRIVATE, 4096, 0700 | IPC_CREAT), 0, SHM_EXEC) == (void *)-1; }' native-code
ok '  two mappings of one memory' refused c $'#include <fcntl.h>\n#include <sys/mman.h>\nint main(void) { return mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, open("/dev/zero", O_RDWR), 0) == MAP_FAILED; }' native-code
ok '  and executes no data: the end by SIGSEGV is a record' refused c $'struct s { void (*f)(void); long n; };\nstatic const char text[] = "\\303";\nint main(void) { struct s s; *(const char **)&s = text; s.f(); return 0; }' native-code
its_own_mistake() { # a fault of another kind is no attempt
    run c $'int main(void) { volatile int *p = 0; return *p; }' >"$work/fault"
    cat "$work/fault"; jq -e ".blocked == [] and .status != \"completed\"" "$work/fault"
}
ok '  a program that reads a null pointer made no attempt' its_own_mistake
ok 'C names no other process as receiver of signals' refused c $'#define _GNU_SOURCE\n#include <fcntl.h>\nint main(void) { return fcntl(0, F_SETOWN, 1); }' signal-process
does_not_start() { # a program with executable data does not start
    run c "$1" >"$work/unstarted"
    cat "$work/unstarted"
    text_of <"$work/unstarted" | lacks 'it runs'
    jq -e '.status != "completed"' "$work/unstarted"
}
ok 'C has no data that is executed' does_not_start $'#include <stdio.h>\n__attribute__((section(".hot,\\"awx\\",@progbits#"))) int a = 1;\nint main(void) { puts("it runs"); return a - 1; }'
ok '  and no executable stack' does_not_start $'#include <stdio.h>\nstatic int each(int (*f)(int)) { return f(1); }\nint main(void) { volatile int k = 2; int twice(int n) { return n * k; } printf("it runs %d\\n", each(twice)); return 0; }'
forged() { # a frame of the program on the kernel's channel is no report
    run javascript $'const b = Buffer.alloc(13); b.write("B", 0); b.writeUInt32LE(9, 1); b.writeUInt32LE(1, 5); b.writeUInt32LE(1, 9);\nrequire("fs").writeSync(3, Buffer.concat([b, Buffer.from("x")])); console.log(42)' >"$work/forged"
    jq -e '.blocked == []' "$work/forged"
}
ok 'a program forges no report' forged
made() { # LANGUAGE CODE: what the analyzer cannot follow, the guard of default refuses and records
    run "$1" "$2" default >"$work/made"
    jq -c '[.status, .error, .blocked, .output, .detail]' "$work/made"
    jq -e '.blocked | length == 1 and .[0].capability == "evaluate-text" and .[0].what == "code that was made at run time"' "$work/made"
    text_of <"$work/made" | lacks 'uid='
    wait_until is_recorded_for "$(jq -er .decision "$work/made")"
}
is_recorded_for() { # DECISION
    jq -es --arg d "$1" 'any(.[]; .type == "blocked" and .body.decision == $d and .body.capability == "evaluate-text" and (.body.rule | length > 0))' "$state/audit.jsonl"
}
loaded() { # a file of code that was not judged
    run python $'import io\nopen("mx.py", "w").write("print(1)")\ntry:\n    import mx\nexcept ImportError as e:\n    print("no", e)\ntry:\n    io.open_code("/etc/hostname")\nexcept OSError as e:\n    print("no", e)' loading >"$work/loaded"
    jq -c '[.status, .blocked, .output]' "$work/loaded"
    jq -e '.blocked | any(.capability == "evaluate-text" and .what == "a file that was not judged") and any(.capability == "read-outside")' "$work/loaded"
}
ok 'Python loads no file that was not judged, and reads none outside as code, with a record' loaded
written() { # sympy writes the name of a symbol into the code that it makes
    run python $'import sympy\nopen("n", "w").write("__import__(\\"os\\").getpid()")\nprint(sympy.lambdify(sympy.Symbol("x"), sympy.Symbol(open("n").read()))(1))' default >"$work/written"
    jq -c '[.status, .blocked, .output]' "$work/written"
    jq -e '.status == "error" and (.blocked | any(.capability == "evaluate-text"))' "$work/written"
}
ok 'Python evaluates no name of the interpreter that a library writes into code' written
path='const fs = require("fs"); fs.writeFileSync("k", "constructor"); const k = fs.readFileSync("k", "utf8"); const get = (o, ...ks) => ks.reduce((a, n) => a[n], o); const text = "console.log(\"uid=\")";'
ok 'JavaScript makes no code of a text: Function' made javascript "$path get([], k, k)(text)()"
ok '  nor as a constructor' made javascript "$path new (get([], k, k))(text)()"
ok '  nor a class of it' made javascript "$path class G extends get([], k, k) {}
new G(text)()"
ok '  nor the constructors of async functions and generators' made javascript "$path get(function* () {}, k)(text)().next()"
ok '  nor by the parent of their constructors' made javascript "$path Object.getPrototypeOf(get(async () => 1, k))(text)()"
ok '  nor eval' made javascript "$path const all = Object.assign({}, Object.getOwnPropertyDescriptors(globalThis)); const e = \"lave\".split(\"\").reverse().join(\"\") + k.slice(99); all[e].value(text)"
ok '  nor for a timer' made javascript "$path setTimeout(get([], k, k), 1, text)"
ok '  nor under the name of a file of the image' made javascript "//# sourceURL=/usr/lib/x.js
$path get([], k, k)(text)()"
ok '  nor with another stack, and another method of arrays' made javascript "$path Error.stackTraceLimit = 0; Object.defineProperty(Array.prototype, 2, { get: () => ({ scriptName: \"/usr/x\" }), set() {} }); get([], k, k)(text)()"
ok '  nor TypeScript' made typescript "import * as fs from 'fs'; fs.writeFileSync('k', 'constructor'); const k = fs.readFileSync('k', 'utf8'); class Box { constructor(private v: any) {} get(n: string): any { return this.v[n]; } } new Box(() => 0).get(k)('console.log(\"uid=\")')()"
ok 'Python makes no code of a text' made python $'import textwrap\nname = open("/dev/null").read() + "exec"\nfor v in textwrap.__dict__.values():\n    if type(v) is dict and "len" in v:\n        v[name]("print(\\"uid=\\")")'
frames='const b = Buffer.alloc(35); b[0] = 83; b[1] = 8; b[5] = 1; b[13] = 120; b[14] = 17; b[18] = 1; b[26] = 9; b[34] = 65;'
forged_refusal() { # nor can it report a refusal of the kernel in JavaScript: it does not know the secret
    run javascript "$frames require('fs').writeSync(3, b); console.log(42)" default >"$work/forged"
    jq -e '.blocked == [] and .status == "completed"' "$work/forged"
}
ok 'a program forges no refusal of the kernel' forged_refusal
flooded() { # many refusals of one capability hide none of another
    run shell $'ls /etc | while read -r f; do head -c 1 -- "/etc/$f"; done > /dev/null 2>&1\nls /etc | while read -r f; do head -c 1 -- "/etc//$f"; done > /dev/null 2>&1\nid' >"$work/flooded"
    jq -e '.blocked | (map(select(.capability == "read-outside")) | length > 10) and any(.capability == "start-process" and (.what | endswith("id")))' "$work/flooded"
}
ok 'a flood of refusals hides none of another kind' flooded
own_name() { # LANGUAGE CODE
    run "$1" "$2" default | tee "$work/own_name" | jq -e '.status == "completed" and .blocked == []'
    text_of <"$work/own_name" | grep -q sandbox
}
ok 'a program reads the name of its user: JavaScript' own_name javascript 'console.log(require("os").userInfo().username)'
ok '  C' own_name c $'#include <pwd.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts(getpwuid(getuid())->pw_name); return 0; }'
ok '  Python' own_name python $'import getpass\nprint(getpass.getuser())'
late() { # attempts of a thread after its run are recorded when the session is deleted
    local session
    session=$(post /v1/sessions '{"language": "python", "policy": "guarded"}' | jq -er .session_id)
    post /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, code: "import threading\ndef late():\n    try: open(\"/etc/shadow\")\n    except OSError: open(\"tried\", \"w\").close()\nt = threading.Timer(0.2, late)\nt.daemon = True\nt.start()"}')" >/dev/null
    has_tried() { curl -sS "$base/v1/sessions/$session/files/" | grep -q tried; }
    wait_until has_tried
    curl -sS -X DELETE "$base/v1/sessions/$session"
    is_recorded() { jq -es --arg s "$session" 'any(.[]; .type == "blocked" and .body.session == $s and .body.what == "/etc/shadow" and (.body.rule | length > 0))' "$state/audit.jsonl"; }
    wait_until is_recorded
}
ok 'a refusal after the last run of a session is recorded' late

ended() { # a policy can end the run at a refusal
    run python $'import os, time\ntry:\n    os.system("id")\nexcept OSError:\n    pass\ntime.sleep(600)\nprint("still here")' ending > "$work/ended"
    cat "$work/ended"
    jq -e '.status != "completed" and (.error | tostring | test("refused")) and .blocked[0].capability == "start-process"' "$work/ended"
    text_of < "$work/ended" | lacks 'still here'
}
ok 'a refusal ends the run where the policy wants it' ended
counted() { # many attempts are one entry with their number
    run python $'import os\nfor i in range(500):\n    try:\n        os.fork()\n    except PermissionError:\n        pass\nprint("still here")' > "$work/counted"
    jq -e '.status == "completed" and (.blocked | length) == 1 and .blocked[0].count == 500' "$work/counted"
    text_of < "$work/counted" | grep -q 'still here'
}
ok 'attempts are counted, not listed' counted
works() { # the program prints this text, and nothing is refused
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
ok 'files, tables and pickles of data work' works python $'import pickle, copy, json, csv, sqlite3, tempfile, os, pathlib\nimport numpy as np, pandas as pd\ndf = pickle.loads(pickle.dumps(pd.DataFrame({"d": pd.date_range("2020", periods=2), "s": ["a", "b"]})))\ndf.to_csv("t.csv")\npd.read_csv("t.csv")\ncopy.deepcopy([1])\nwith tempfile.TemporaryDirectory() as d:\n    pathlib.Path(d, "x").write_text("x")\nsqlite3.connect("db").execute("create table t (a)")\nopen("/proc/cpuinfo").read(); open("/etc/os-release").read(); os.listdir("/")\nprint(6 * 7)' 42 permissive
ok 'a shell works' works shell $'mkdir -p out; for f in a b; do echo "$f" > "out/$f.txt"; done\nls -l / out | sort | head -3 > l\ngzip -k out/a.txt; zcat out/a.txt.gz; tar czf o.tgz out; grep -P "a+" out/a.txt; sleep 0.1 & wait; echo $((6 * 7))' 42
ok 'C works' works c $'#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nstatic void *f(void *p) { return p; }\nint main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); FILE *o = fopen("x.txt", "w"); fputs("x", o); fclose(o); time_t n = time(0); localtime(&n); printf("%d\\n", 6 * 7); remove("x.txt"); return 0; }' 42
ok 'Node works' works javascript $'setTimeout(() => console.log([1, 2].map((x) => x * 21)), 5)' 42
ok 'a policy without such a rule refuses nothing' works python $'import os\nprint(os.system("echo 42"))' 42 permissive
ok '  nor worker processes, which joblib then uses' works python $'import os, multiprocessing\nfrom concurrent.futures import ProcessPoolExecutor\nwith multiprocessing.Pool(2) as p:\n    print(sum(p.map(abs, [-20, 22])))\nassert "JOBLIB_MULTIPROCESSING" not in os.environ' 42 permissive
ok 'libraries that look around find answers, and nothing is refused' works python $'import uuid, socket, ctypes, ctypes.util, platform, webbrowser, inspect, collections, logging, os\nassert uuid.uuid1() and not socket.has_ipv6 and ctypes.util.find_library("c") == "libc.so.6"\nplatform.platform(), platform.processor(), webbrowser.open("http://x")\ncollections.namedtuple("P", "a"); logging.warning("x"); inspect.getsource(collections.namedtuple)\nassert os.environ["JOBLIB_MULTIPROCESSING"] == "0"\nprint(6 * 7)' 42 guarded
session=$(post /v1/sessions '{"language":"python","policy":"guarded"}' | jq -er .session_id)
in_session() { post /v1/executions "$(jq -n --arg c "$1" --arg s "$session" '{code: $c, session_id: $s}')"; }
lines() { # another cell may call a function with a line
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
metric() { curl -sS "$base/metrics" | sed -n "s/^codebox_guard_refusals_total{capability=\"$1\"} //p"; }
counts() { # each refused attempt is counted
    local before
    before=$(metric socket)
    run python $'import socket\nfor _ in range(3):\n    try: socket.socket()\n    except OSError: pass' >/dev/null
    echo "$before, then $(metric socket)"
    [ "$(metric socket)" = $((before + 3)) ]
    [ "$(curl -sS -o "$work/metrics" -w '%{content_type}' "$base/metrics")" = 'text/plain; version=0.0.4; charset=utf-8' ]
}
ok 'GET /metrics counts what was refused' counts

logged() {
    stop_server
    "$codebox" audit verify --state "$state"
    jq -e -s 'map(select(.type == "blocked")) | length >= 40 and all(.[]; .body.decision != "" and .body.principal != "" and (.body.rule | length > 0))' "$state/audit.jsonl"
    "$codebox" audit tail --state "$state" | grep 'blocked .*start-process by rule guard.start-process'
}
ok 'every refusal is in the audit log, with decision, principal and rule' logged
finish
