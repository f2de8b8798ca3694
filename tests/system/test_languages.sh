#!/bin/bash
# SPDX-License-Identifier: MIT
# Shell, C and TypeScript through `codebox run` on a real engine: judged, run, stopped.
source "$(dirname "$0")/lib.sh"
cd "$work"

run() { "$codebox" run --state "$state" "$@"; }
program() { printf '%s\n' "$2" >"$1"; }
gives_exactly() { # STATUS STDOUT COMMAND ...
    local status=0 out
    out=$("${@:3}" 2>err.txt) || status=$?
    cat err.txt
    [ "$out $status" = "$2 $1" ]
}
printf 'version: 1\nname: quick\nextends: [permissive]\nlimits: {override: true, wall: 2s, memory: 128MiB}\n' >quick.yaml

# --- shell
program ok.sh $'count() {\n  wc -l <<E\n$1\ntwo\nE\n}\nx=$(count one)\necho "$x"\nls /nothing 2>/dev/null'
ok 'a script runs, with functions and here-documents, and its last status is its exit status' gives_exactly 2 2 run ok.sh
program denied.sh $'ls\ncurl https://example.org'
ok 'a command that is not on the list of the policy denies the whole script' gives 1 'sh.command' run denied.sh
program exit.sh 'echo on; exit 7'
ok 'exit gives the status' gives_exactly 7 on run --policy permissive exit.sh
program errexit.sh $'set -euo pipefail\necho on\nfalse | true\necho never'
ok 'set -e and pipefail end a script' gives_exactly 1 on run --policy permissive errexit.sh
program read.sh $'read -r line || echo "no input: $?"'
ok 'the standard input of a script may be empty' gives_exactly 0 'no input: 1' run --policy permissive read.sh </dev/null
ok 'bash is another name of shell' gives_exactly 2 2 run --language bash ok.sh
program loop.sh 'while true; do :; done'
ok 'an endless loop is stopped' gives 124 'time limit' run --policy ./quick.yaml loop.sh
program bomb.sh 'f() { f | f & }; f; while true; do :; done'
ok 'so is a fork bomb' gives 124 'time limit' run --policy ./quick.yaml bomb.sh
program flood.sh 'yes | head -c 30000000'
flood() { [ "$(run --policy permissive flood.sh 2>err.txt | wc -c)" = 4194304 ]; grep -q 'cut at' err.txt; }
ok 'a flood of output is cut' flood

# --- C
program hello.c $'#include <stdio.h>\nint main(void) { puts("hello"); fputs("trouble\\n", stderr); return 3; }'
ok 'a program in C is compiled and run' gives_exactly 3 hello run hello.c
ok 'stderr of a C program is that of codebox' gives 3 trouble run hello.c
program broken.c $'int main(void) {\n  return x;\n}'
ok 'messages of the compiler are printed' gives 1 'main.c:2:10: error' run broken.c
program crash.c 'int main(void) { *(volatile int *)0 = 1; }'
ok 'a crash is reported with its signal' gives 139 'Segmentation fault' run crash.c
program evil.c $'#define P(a, b) a##b\nint main(void) { return P(sys, tem)("id"); }'
ok 'a denied program is not compiled' gives 1 'c.process' run evil.c
program loop.c 'int main(void) { for (;;) {} }'
ok 'an endless loop is stopped' gives 124 'time limit' run --policy ./quick.yaml loop.c
program bomb.c $'#include <unistd.h>\nint main(void) { for (;;) fork(); }'
ok 'so is a fork bomb, where the policy lets it begin' gives 124 'time limit' run --policy ./quick.yaml bomb.c
program slow.c $'#define A x x x x x x x x x x\n#define B A A A A A A A A A A\n#define C B B B B B B B B B B\n#define D C C C C C C C C C C\n#define E D D D D D D D D D D\n#define F E E E E E E E E E E\n#define G F F F F F F F F F F\nG G G G'
ok 'macros that grow without end are denied, not compiled' gives 1 'too-complex' run slow.c

# --- TypeScript
program ok.ts $'enum E { A = 2 }\nconst f = <T,>(x: T): T => x;\nconsole.log(f<number>(E.A) as number, await Promise.resolve("x"));'
ok 'a TypeScript program runs' gives_exactly 0 '2 x' run ok.ts
program throw.ts $'class Bad extends Error { constructor(readonly n: number) { super(`n is ${n}`); } }\nthrow new Bad(3);'
ok 'an exception is reported' gives 1 'n is 3' run throw.ts
program evil.ts $'import cp = require("child_process");\n(cp as any)!.exec("id");'
ok 'a denied program does not run' gives 1 'js.process' run evil.ts

printf 'version: 1\nname: python-only\nextends: [default]\nlanguages: [python]\n' >python.yaml
for file in ok.sh hello.c ok.ts; do
    ok "a policy without its language does not run $file" gives 1 source.language run --policy ./python.yaml "$file"
done
finish
