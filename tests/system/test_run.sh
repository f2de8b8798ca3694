#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox run` on a real engine: results, and a clear refusal of each bad input, after which
# nothing remains.
source "$(dirname "$0")/lib.sh"
cd "$work"

run() { "$codebox" run --state "$state" "$@"; }
program() { printf '%s\n' "$2" >"$1"; }

# --- results
program hello.py 'import sys; print("hello"); print("trouble", file=sys.stderr)'
apart() { [ "$(run hello.py 2>/dev/null)" = hello ]; [ "$(run hello.py 2>&1 >/dev/null)" = trouble ]; }
ok 'stdout and stderr of the program are those of codebox' apart
program exit.py 'import sys; sys.exit(7)'
ok 'the exit status of the program is that of codebox' gives 7 '' run exit.py
program raise.py '1/0'
ok 'an exception is status 1 with its traceback' gives 1 'ZeroDivisionError' run raise.py
program surrogate.py 'raise ValueError("a\ud800b")'
ok 'an exception whose text cannot be encoded is status 1 with its traceback' gives 1 'ValueError: a\ud800b' run surrogate.py
program leave.ipy $'x = 1\nexit()'
ok 'exit() of a cell is an end, not an error' gives 0 '' run leave.ipy
program plot.py $'import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()'
plot() { run plot.py; cmp -n 8 plot-1.png <(printf '\211PNG\r\n\032\n'); }
ok 'a plot becomes a file' plot
program ok.js 'const {a} = {a: 1}; console.log(await Promise.resolve(a + 1)); process.exitCode = 3'
javascript() { local status=0 out; out=$(run ok.js) || status=$?; [ "$out $status" = '2 3' ]; }
ok 'JavaScript runs, with top-level await and its exit code' javascript
program main.py $'if __name__ == "__main__":\n    print("main")'
ok 'a program is __main__' gives 0 main run main.py
stdin() { echo 'print(6 * 7)' | run --language python - | grep -qx 42; }
ok 'a program may come from standard input' stdin
program cell.ipy $'x = 20\n%time y = x + 1\ny * 2'
ok 'a notebook cell gives its last value' gives 0 42 run cell.ipy
program install.ipy $'%pip install numpy\nx = !pip install pandas\nprint("after", x[0][:17])'
ok 'an install of what the image has says so' gives 0 'after Installed: pandas' run install.ipy
program install2.ipy $'!pip install -r requirements.txt\nprint("after")'
ok 'an install that the policy does not allow is denied' gives 1 'pkg.source' run install2.ipy
program install3.ipy $'%pip list'
ok 'pip itself is not there' gives 1 'pip is not in this sandbox' run install3.ipy
program loop.py 'while True: pass'
printf 'version: 1\nname: quick\nextends: [default]\nlanguages: [python]\nlimits: {wall: 1s}\n' >quick.yaml
ok 'a program over its time is stopped: 124' gives 124 'time limit' run --policy ./quick.yaml loop.py
program flood.py 'print("x" * 30000000)'
flood() { [ "$(run flood.py 2>err.txt | wc -c)" = 1048576 ]; grep -q 'cut at' err.txt; }
ok 'a flood of output is cut at the limit, with a message' flood

# --- arguments, standard input, files
program args.py 'import sys; print(sys.argv[1:], __file__)'
ok 'words behind FILE are the arguments of a Python program, options too' gives 0 "['a', 'b c', '--state', '--help'] /workspace/args.py" run args.py a 'b c' --state --help
program args.js 'console.log(JSON.stringify(process.argv.slice(2)), require("path").basename(__filename))'
ok 'words behind FILE are the arguments of a JavaScript program' gives 0 '["a","b c"] args.js' run args.js a 'b c'
program args.sh 'echo "$0 $# $2"'
ok 'words behind FILE are the arguments of a shell script' gives 0 'args.sh 2 b c' run args.sh a 'b c'
program args.c $'#include <stdio.h>\nint main(int argc, char **argv) { printf("%d %s\\n", argc, argv[2]); }'
ok 'words behind FILE are the arguments of a C program' gives 0 '3 b c' run args.c a 'b c'
recorded() { tail -n 20 "$state/audit.jsonl" | jq -se 'map(select(.type == "decision")) | last | .body.arguments == ["a", "b c"] and .body.file_name == "args.c"'; }
ok 'the audit log has the arguments' recorded
ok 'an argument that is not UTF-8 is refused' gives 2 'argument 2 of the program is not UTF-8' run args.py a $'\377'
ok 'too many arguments are refused' gives 2 'arguments, allowed are 256' run args.py $(seq 300)

program ask.py $'try:\n    print("got", input("name? "))\nexcept EOFError:\n    print("no more")'
answers() { printf 'Ann\nBob\n' | run ask.py | grep -qx 'name? got Ann'; }
ok 'input() gets a line of standard input' answers
program ask2.py $'print(input() + input())'
two() { [ "$(printf 'a\nb\n' | run ask2.py)" = ab ]; [ "$(printf 'a\nb' | run ask2.py)" = ab ]; }
ok 'two lines in one piece are two answers, also when the last has no end' two
ended() { run ask.py </dev/null | grep -q 'no more'; }
ok 'the end of standard input is EOFError' ended
program forever.py 'input()'
held_open() { # the time limit applies while standard input is open and silent
    mkfifo fifo; exec 9<>fifo
    local status=0
    timeout 30 "$codebox" run --state "$state" --policy ./quick.yaml forever.py <fifo >held.txt 2>&1 || status=$?
    exec 9>&-
    cat held.txt
    [ "$status" = 124 ] && grep -q 'time limit' held.txt
}
ok 'a program that waits for input that never comes ends at its time limit' held_open

program files.py $'import os\nos.makedirs("sub")\nopen("a.csv", "w").write("1,2")\nopen("sub/b.txt", "w").write("b")\nopen("new\\nline", "w").write("c")'
listed() { gives 0 '--output DIR keeps them' run files.py; grep -qF 'a.csv (3 bytes)' out.txt; grep -qF 'new\x0aline' out.txt; [ ! -e a.csv ]; }
ok 'files that the program made are listed, with the option that keeps them' listed
kept() { local status=0; run --output kept files.py >out.txt 2>&1 || status=$?; cat out.txt; [ "$(cat kept/a.csv kept/sub/b.txt)" = 1,2b ]; [ "$status" = 1 ]; grep -q 'its name is not allowed' out.txt; [ "$(find kept -type f | wc -l)" = 2 ]; }
ok '--output keeps the files; one with a control character in its name is refused' kept
mkdir -p linked victim
ln -s "$PWD/victim" linked/sub
ln -s "$PWD/victim/file" linked/a.csv
through() { run --output linked files.py >out.txt 2>&1 || true; [ -z "$(ls victim)" ]; grep -q 'a link is in its way' out.txt; }
ok 'no link in the folder is followed' through
plotted() { run --output plots plot.py; cmp -n 8 plots/plot-1.png <(printf '\211PNG\r\n\032\n'); }
ok '--output keeps the pictures too' plotted
program window.py $'import cv2, numpy\nwhile True:\n    cv2.imshow("w", numpy.zeros((5, 5)))\n    if cv2.waitKey(1) == 27:\n        break'
windows() { gives 0 'there is no keyboard' run --output windows window.py; cmp -n 8 windows/window-2.png <(printf '\211PNG\r\n\032\n'); }
ok 'the pictures of windows of OpenCV are kept too, and a loop that waits for a key ends' windows
program missing.py 'import no_such_module'
ok 'a missing module is named with the option that installs a package' gives 1 'codebox run --with PACKAGE' run missing.py
modes() { (umask 0; "$codebox" run --state "$work/fresh" --output open plot.py); [ "$(find "$work/fresh" -type f | wc -l)" -gt 3 ]; [ -z "$(find "$work/fresh" -perm /077)" ]; [ "$(stat -c %a open open/plot-1.png | xargs)" = '777 644' ]; }
ok 'the state is for its user alone, the files of the program have the modes that the caller asks for' modes

# --- denials
program denied.py 'import subprocess'
ok 'a denied program does not run, and its finding has a hint' gives 1 'hint: ' run denied.py
ok 'the audit log has the decision of the denied program' gives 0 'py.process subprocess' "$codebox" audit tail --state "$state"
printf 'x = "\377"\n' >latin.py
ok 'a source that is not UTF-8 is denied' gives 1 'invalid UTF-8' run latin.py
head -c 1200000 /dev/zero | tr '\0' '#' >big.py
ok 'a source that is too large is denied, with both sizes' gives 1 '1200000 bytes, allowed are 1048576' run big.py
program broken.py 'print(1'
ok 'a syntax error is denied' gives 1 source.syntax run broken.py
printf 'version: 1\nname: js-only\nextends: [default]\nlanguages: [javascript]\n' >js.yaml
ok 'a language that the policy does not permit is denied' gives 1 source.language run --policy ./js.yaml hello.py

# --- usage errors
ok 'an unknown policy is refused with the names of the presets' gives 2 'presets are default, strict' run --policy nope hello.py
printf 'version: 1\nname: x\nrulez: []\n' >bad.yaml
ok 'a bad policy is refused with its place and the nearest key' gives 2 '      3 | rulez: []' run --policy ./bad.yaml hello.py
printf 'version: 1\nname: lax\nextends: [default]\nmode: log-only\n' >lax.yaml
ok 'a policy that only logs is refused' gives 2 'log-only' run --policy ./lax.yaml hello.py
ok 'an unknown language is refused with those that run, and their endings' gives 2 'shell (.sh, .bash), typescript (.ts, .mts, .cts, .tsx), c (.c, .h)' run --language cobol hello.py
program nothing.txt x
ok 'a file without a known ending is refused with the same list' gives 2 'python (.py, .pyw)' run nothing.txt
printf '#!/usr/bin/env python3\nprint(6 * 7)\n' >tool
ok 'the first line gives the language of a file without an ending' gives 0 42 run tool
printf '#!/usr/bin/ruby\n' >rtool
ok '  and one that does not run here is named' gives 2 "'rtool' is for Ruby" run rtool
ok 'a missing file is reported' gives 2 'No such file' run nothing.py
ok 'a missing engine is reported with its address' gives 2 'unix:///nonexistent' run --docker-host unix:///nonexistent hello.py
ok 'an unknown runtime is the engine'"'"'s to refuse' gives 2 nope run --runtime nope hello.py
program notadir x
ok 'a state directory that cannot be made is refused, and nothing runs' gives 2 notadir "$codebox" run --state notadir/x hello.py

# A stand-in for an old engine: it implements only the one response that the check needs.
cat >old.mjs <<'JS'
import http from 'node:http';
const server = http.createServer((request, response) => response.end('{"Version": "1.13.1", "ApiVersion": "1.26"}'));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
JS
node old.mjs >port.txt &
old=$!
wait_until test -s port.txt
ok 'an engine that is too old is refused, with both versions' gives 2 1.41 run --docker-host "tcp://127.0.0.1:$(cat port.txt)" hello.py
kill $old

# --- files beside the program
mkdir -p project/lib project/.hidden
printf 'def answer():\n    return 42\n' >project/lib/__init__.py
printf 'a,b\n1,2\n' >project/data.csv
printf 'import sys, lib\nprint(lib.answer(), open("data.csv").read().split(), sys.argv[1:])\n' >project/main.py
printf 'cat data.csv\n' >project/count.sh
printf '#include "lib.h"\n#include <stdio.h>\nint main(void) { printf("%%d\\n", ANSWER); }\n' >project/use.c
printf '#define ANSWER 42\n' >project/lib.h
printf "const {answer} = require('./part.js');\nconsole.log(answer);\n" >project/use.js
printf 'exports.answer = 42;\n' >project/part.js
cd project
ok 'a program finds the files and modules of --file beside it' gives 0 "42 ['a,b', '1,2'] ['x']" run --file data.csv --file lib main.py x
ok '  in C' gives 0 42 run --file lib.h use.c
ok '  in JavaScript' gives 0 42 run --file part.js use.js
ok '  in shell' gives 0 1,2 run --file data.csv count.sh
made_none() { run --file data.csv count.sh 2>&1 | grep -q 'the program made' && return 1 || true; }
ok '  and none of these files is one that the program made' made_none
cd ..
ok 'a folder with main.* runs with all its files' gives 0 "42 ['a,b', '1,2'] ['y']" run project y
ok '  and what is left out of it is counted' gives 0 'not in the workspace: 1 hidden file' run project
ok 'a folder without a program is refused, with what would be one' gives 2 'without a file __main__.py' run project/lib
ok 'a module that is missing and lies beside the program is named' gives 1 "add --file 'project/lib/'" run project/main.py
ok '  a file for a shell script too' gives 1 "add --file 'project/data.csv'" run project/count.sh
printf 'import os\nos.system("ls")\n' >project/lib/tool.py
ok 'code in a file is judged, and its denial names it' gives 1 'its file project/lib/tool.py is denied' run project
rm project/lib/tool.py
printf 'import lib\nlib.os.system("ls")\n' >program.py
printf 'import os\n' >project/lib/__init__.py
ok '  also what the program does by it' gives 1 'denied by policy rule py.process' run --file project/lib program.py
rm -r project program.py

# --- ^C: a terminal sends it to all processes of the command
begin() { # starts the program in a process group, and waits until it has printed
    : >"$work/interrupted"
    setsid "$codebox" run --state "$state" "$1" >"$work/interrupted" 2>&1 &
    running=$!
    wait_until grep -q begun "$work/interrupted"
}
ends_with() { # STATUS
    local status=0
    wait "$running" || status=$?
    [ "$status" = "$1" ]
}
program caught.py $'import time\nprint("begun", flush=True)\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print("cleaned up")'
catches() { begin caught.py && kill -INT -- "-$running" && ends_with 0 && grep -qx 'cleaned up' "$work/interrupted"; }
ok '^C is KeyboardInterrupt in the program, whose output is shown' catches
program endless.py $'import time\nprint("begun", flush=True)\nwhile True:\n    try:\n        time.sleep(60)\n    except BaseException:\n        print("ignored")'
ends() {
    begin endless.py
    kill -INT -- "-$running"
    wait_until grep -q 'once more ends it' "$work/interrupted"
    sleep 0.5 # a second ^C within a moment counts as the same
    kill -INT -- "-$running"
    ends_with 130
}
ok 'a second one ends a program that goes on' ends
program lines.sh $'echo begun\nsleep 60\necho not reached'
stops() { begin lines.sh && kill -INT "$running" && ends_with 130 && ! grep -q 'not reached' "$work/interrupted"; }
ok 'SIGINT for the first process alone does the same' stops

docker tag codebox-javascript:latest codebox-javascript:kept
restore() { docker tag codebox-javascript:kept codebox-javascript:latest; docker rmi codebox-javascript:kept >/dev/null; }
docker rmi codebox-javascript:latest >/dev/null
ok 'a missing image is reported, with the command that builds it' gives 2 'codebox image build' run ok.js
ok 'image list reports the missing image' gives 1 missing "$codebox" image list
restore
ok 'the audit log is whole' "$codebox" audit verify --state "$state"
leaves_nothing() { [ -z "$(ls "$state/instances")" ]; }
ok 'no process, container or file of the gateways is left' leaves_nothing
finish
