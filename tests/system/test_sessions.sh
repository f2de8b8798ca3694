#!/bin/bash
# SPDX-License-Identifier: MIT
# A session is one program: the gateway judges and runs its cells, files and resets together, in
# every order, over every interface, and with processes killed in between.
source "$(dirname "$0")/lib.sh"
start_server

execute() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{code: $c, session_id: $s}')"; }
put() { curl -sS -X PUT --data-binary "$3" "$base/v1/sessions/$1/files/$2"; }
reset() { post "/v1/sessions/$1/reset" '{}'; }
at_once=6 # the checks mostly wait for sandboxes
open_session() { post /v1/sessions "{\"language\":\"${1:-python}\"}" | jq -er .session_id; }
close_session() { curl -sS -X DELETE "$base/v1/sessions/$1" >/dev/null; }
step() { # SESSION STEP: "PATH<-TEXT" uploads, "RESET" resets, anything else is a cell
    case $2 in
        RESET) reset "$1" ;;
        *'<-'*) put "$1" "${2%%<-*}" "${2#*<-}" ;;
        *) execute "$1" "$2" ;;
    esac
}
# --- sequences that would run `id`: one of their steps is denied, or fails; no step prints the
# output of id
attacks=(
    python $'import os as o' $'o.system("id")' --
    python $'def f(m): return m.system("id")' $'import os' $'f(os)' --
    python $'helper.py<-import os as o' $'import helper' $'helper.o.system("id")' --
    python $'helper.py<-import os as o' $'from helper import o as q\nq.system("id")' --
    python $'helper.py<-import os as o' $'from helper import *\no.system("id")' --
    python $'a.py<-import os as o' $'b.py<-import a\np = a.o' $'import b\nb.p.system("id")' --
    python $'helper.py<-def f(m): return m.system("id")' $'import os, helper\nhelper.f(os)' --
    python $'helper.py<-import os as o' RESET $'import helper\nhelper.o.system("id")' --
    python $'data.dat<-import os\nos.system("id")' $'import shutil\nshutil.copy("data.dat", "mod" + ".py")' $'import mod' --
    python $'data.dat<-import os\nos.system("id")' $'import os\nos.rename("data.dat", "m.p" + "y")' $'import m' --
    python $'M.PY<-import os\nos.system("id")' $'import os\nos.rename("M.PY", "mm.p" + "y")' $'import mm' --
    python $'helper.py<-x = 1' $'open("helper" + ".py", "w").write("import o" + "s; os.sys" + "tem(\'id\')")' $'import helper' --
    python $'import zipfile\nz = zipfile.ZipFile("a.zip", "w")\nz.writestr("zm.py", "import os; os.system(\'id\')")\nz.close()' $'import sys\nsys.path.insert(0, "a.zip")' $'import zm' --
    python $'a.tar<-x' $'import zipfile\nz = zipfile.ZipFile("a.zip", "w")\nz.writestr("q/zm.py", "import os; os.system(\'id\')")\nz.close()\nzipfile.ZipFile("a.zip").extractall(".")' $'from q import zm' --
    python $'statistics.py<-import os as o' $'import statistics\nstatistics.o.system("id")' --
    python $'%%writefile helper.py\nimport os as o' $'import helper\nhelper.o.system("id")' --
    python $'g = None\ndef f(): return g.system("id")' $'import os as g' $'f()' --
    python $'import threading, time\ng = None\ndef f():\n    time.sleep(1)\n    g.system("id")' $'threading.Thread(target=f).start()' $'import os as g' $'import time\ntime.sleep(2)' --
    javascript $'var r = require' $'r("child_process").execSync("id")' --
    javascript $'var r = require' $'[0]' $'console.log(r("child_process").execSync("id").toString())' --
    javascript $'a.js<-exports.r = require' $'console.log(require("./a.js").r("child_process").execSync("id").toString())' --
    javascript $'evil.dat<-console.log(require("child_process").execSync("id").toString())' $'require("./evil.dat")' --
    javascript $'evil<-console.log(require("child_process").execSync("id").toString())' $'require("./evil")' --
    javascript $'EVIL.JS<-console.log(1)' $'require("fs").writeFileSync("EVIL.JS", "console.log(require(\'child_pro\' + \'cess\').execSync(\'id\').toString())")' $'require("./EVIL.JS")' --
    javascript $'p/package.json<-{"main":"x.dat"}' $'p/x.dat<-console.log(require("child_process").execSync("id").toString())' $'require("./p")' --
    typescript $'var r: any = require' $'r("child_process").execSync("id")' --
    c $'x.txt<-int f(void) { return system("id"); }' $'#include <stdlib.h>\n#include "x.txt"\nint main(void) { return f(); }' --
    shell $'data.txt<-id' $'source data.txt' --
    shell $'x=id' $'$x' --
    shell $'printf "id" > /tmp/codebox-state' $'. /tmp/codebox-state' --
    shell $'f<-a[$(id >&2)]' $'read -r x < f' $'echo $((x))' --
    shell $'f<-a[$(id >&2)]' $'declare -i n' $'read -r x < f; n=$x' --
    shell $'f<-a[$(id >&2)]' $'twice() { echo $(($1 * 2)); }' $'twice "$(cat f)"' --
    shell $'f<-a[$(id >&2)]' $'n=1' $'lib.sh<-read -r n < f' $'. ./lib.sh' $'echo $((n + 1))' --
    shell $'f<--exec id ;' $'x=$(cat f)' $'find . -maxdepth 0 $x' --
    shell $'readonly c=id' $'c=ls\n$c' --
    shell $'trap "c=id" DEBUG' $'c=ls\n$c' --
    shell $'f() { c=id; }; trap f DEBUG' $'c=ls\n$c' --
    shell $'IFS=x' $'c=idxls\n$c' --
    shell $'exit\nid() { ls; }' $'id' --
    shell $'lib.sh<-f() { ls; }' $'printf "i%s" d > lib.sh' $'. ./lib.sh' --
    shell $'lib.sh<-c=1' $'printf "i%s" d > x' $'mv x lib.sh' $'source lib.sh' --
    shell $'ls | sort | uniq | head -n 10' $'ls | sort | uniq | head -n 10\nid || true' --
)
attack() { # runs the steps in a new session
    local policy=$1 language=$2 session answer step_text
    shift 2
    session=$(post /v1/sessions "{\"language\":\"$language\",\"policy\":\"$policy\"}" | jq -er .session_id)
    echo "--- $policy, $language"
    for step_text in "$@"; do
        echo "$step_text"
        answer=$(step "$session" "$step_text")
        jq -c '[.status, .detail // (.error | if type == "object" then .evalue else . end) // (.output // [] | map(.text // "") | join(""))]' <<<"$answer"
        lacks 'uid=' <<<"$answer"
    done
    close_session "$session"
}
# Runs several attacks at a time, each in its own session. Each must pass.
run_attacks() { # POLICY
    local each=() step_text n=0
    mkdir -p "$work/attacks"
    for step_text in "${attacks[@]}"; do
        if [ "$step_text" != -- ]; then
            each+=("$step_text")
            continue
        fi
        [ "$(jobs -rp | wc -l)" -lt "$at_once" ] || wait -n || true
        n=$((n + 1))
        (set -e; attack "$1" "${each[@]}" >"$work/attacks/$1-$n" 2>&1; touch "$work/attacks/$1-$n.passed") &
        each=()
    done
    wait
    for ((i = 1; i <= n; i++)); do
        [ -e "$work/attacks/$1-$i.passed" ] || { cat "$work/attacks/$1-$i"; return 1; }
    done
}
stop_server
start_server --policy default --policy strict
ok 'files, cells and resets together run nothing that is denied' run_attacks default
ok '  nor under strict' run_attacks strict

# --- ordinary use
works() { # the last step prints EXPECTED
    local language=$1 session last answer
    shift
    session=$(open_session "$language")
    while [ $# -gt 1 ]; do
        answer=$(step "$session" "$1")
        jq -c '[.status, .detail // (.error | if type == "object" then .evalue else . end) // (.output // [] | map(.text // "") | join(""))]' <<<"$answer"
        shift
    done
    close_session "$session"
    jq -e --arg want "$1" '.status == "completed" and ((.output // [] | map(.text // "") | join("")) | contains($want))' <<<"$answer"
}
ok_later 'an uploaded module is imported' works python $'helper.py<-def f(): return 6 * 7' $'import helper\nprint(helper.f())' 42
ok_later 'a module of a cell is imported' works python $'%%writefile helper.py\ndef f():\n    return 6 * 7' $'import helper\nprint(helper.f())' 42
ok_later 'a package with relative imports' works python $'pkg/__init__.py<-from .core import add' $'pkg/core.py<-def add(a, b): return a + b' $'from pkg import add\nprint(add(40, 2))' 42
ok_later 'a module after a reset' works python $'helper.py<-def f(): return 6 * 7' RESET $'import helper\nprint(helper.f())' 42
ok_later 'a corrected module' works python $'helper.py<-def f(): return 1' $'import helper' $'helper.py<-def f(): return 6 * 7' $'import importlib\nimportlib.reload(helper)\nprint(helper.f())' 42
ok_later 'data is read whatever its name' works python $'data.json<-{"x": 42}' $'import json\nprint(json.load(open("data.json"))["x"])' 42
ok_later 'data of pandas' works python $'data.csv<-a,b\n40,2\n' $'import pandas as pd\ndf = pd.read_csv("data.csv")' $'print(int(df.sum().sum()) if False else int(df["a"][0] + df["b"][0]))' 42
ok_later 'require of an uploaded file' works javascript $'lib/a.js<-exports.add = (a, b) => a + b' $'const { add } = require("./lib/a.js")\nconsole.log(add(40, 2))' 42
ok_later 'import of an uploaded module' works javascript $'lib/a.mjs<-export const add = (a, b) => a + b' $'const m = await import("./lib/a.mjs")\nconsole.log(m.add(40, 2))' 42
ok_later 'a variable of the shell' works shell $'x=40' $'x=$((x + 2))' $'echo "$x"' 42
ok_later 'a function of the shell' works shell $'sum() { echo $(($1 + $2)); }' $'sum 40 2' 42
ok_later 'an uploaded script is sourced' works shell $'lib.sh<-sum() { echo $(($1 + $2)); }' $'source lib.sh\nsum 40 2' 42
ok_later '  and its functions stay' works shell $'lib.sh<-base=40; sum() { echo $(($1 + $2)); }' $'. ./lib.sh' $'sum "$base" 2' 42
ok_later 'data in the shell' works shell $'data.csv<-a,40\nb,2\n' $'total=0' $'while IFS=, read -r k n; do [[ $n =~ ^[0-9]+$ ]] || continue; total=$((total + n)); done < data.csv' $'echo "$total"' 42
ok_later 'an uploaded header is included' works c $'x.h<-#define X 42' $'#include <stdio.h>\n#include "x.h"\nint main(void) { printf("%d\\n", X); return 0; }' 42
ok_later 'a refused load says what to do' works python $'mod.dat<-x = 1' $'name.txt<-mod.py' $'import shutil\nx = shutil.copy("mod.dat", open("name.txt").read())' $'try:\n    import mod\nexcept ImportError as e:\n    print(e)' 'upload it, or write it in a cell with %%writefile'
finish_later

programs() { # the analyzer knows each program of the image: a function of an earlier cell with such a name is not certain
    docker run --rm --entrypoint /bin/sh codebox-bash:latest -c 'ls /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin' |
        grep -v -e ':$' -e '^\[$' -e '^$' | sort -u > "$work/programs"
    [ "$(wc -l < "$work/programs")" -gt 300 ]
    grep -o 'CBX_PROGRAM("[^"]*")' analyzer/lang/shell/programs.def | cut -d'"' -f2 | sort > "$work/known"
    ! comm -23 "$work/programs" "$work/known" | grep .
}
ok 'the names of all programs in the image of the shell are known' programs
allowed_programs() { # the image has all programs that `default` allows, except the shell's own words and programs of other images
    "$codebox" policy explain default | sed -n '/^Shell commands:/,/^$/p' | sed '1d; s/allowed://' | tr -s ', \n' '\n' | grep . | sort > "$work/allowed"
    [ "$(wc -l < "$work/allowed")" -gt 80 ]
    ! grep -vxE 'cd|pushd|gawk|strings|nvidia-smi|pip|pip3|npm' "$work/allowed" | comm -23 - "$work/programs" | grep .
    # The image also has each command that a denial's hint names.
    build/codebox-lint --explain sh.command | tr '\n' ' ' | grep -o 'ls, find, [^;]*;' | tr -s ',; ' '\n' | grep . | sort > "$work/hinted"
    [ "$(wc -l < "$work/hinted")" -gt 20 ]
    ! comm -23 "$work/hinted" "$work/allowed" | grep .
}
ok 'what the policy lets a shell start is in the image' allowed_programs

# --- the past of long sessions, and after killed processes
session=$(open_session)
ledger_of() { grep -F "\"session\":\"$1\"" "$state/audit.jsonl" | jq -r 'select(.type == "decision" and .body.action == "run") | .body.ledger'; }
fill() {
    execute "$session" 'import os as o' >/dev/null
    for i in $(seq 40); do
        execute "$session" "v$i = $i; print(v$i)" | jq -e '.status == "completed"' >/dev/null
    done
    [ "$(ledger_of "$session" | sort -u | wc -l)" = 41 ]
}
ok 'each decision of a session is made against another ledger' fill
denied_still() {
    execute "$session" 'o.system("id")' | jq -e '.type == "urn:codebox:problem:denied"'
    execute "$session" 'print(v7 + 35)' | jq -e '.output[0].text == "42\n"'
}
ok 'an old cell counts' denied_still
stop_server
start_server
ok '  after a restart of the gateway' denied_still
pkill -KILL -P "$server" -f cbx-executor 2>/dev/null || kill -9 "$(pgrep -P "$server" cbx-executor)" || true
ok '  after the executor was killed' denied_still
kill -9 "$server"
wait "$server" 2>/dev/null || true
sleep 1
start_server
ok '  after all of it was killed' denied_still
close_session "$session"

kill_between() { # processes are killed during uploads, cells and resets: afterwards the session continues, and an old cell counts
    local session i
    session=$(open_session)
    execute "$session" 'import os as o' >/dev/null
    for i in $(seq 12); do
        put "$session" "m$i.py" "def f(): return $i" >/dev/null &
        execute "$session" "x$i = $i" >/dev/null &
        [ $((i % 4)) != 0 ] || kill -9 "$(pgrep -P "$server" cbx-executor | head -n 1)" 2>/dev/null || true
        wait %1 %2 2>/dev/null || true
    done
    wait_until eval "execute '$session' 'print(6 * 7)' | jq -e '.output[0].text == \"42\\n\"'"
    execute "$session" 'o.system("id")' | jq -e '.type == "urn:codebox:problem:denied"'
    put "$session" last.py 'def f(): return 42'
    execute "$session" $'import last\nprint(last.f())' | jq -e '.output[0].text == "42\n"'
    close_session "$session"
}
ok 'kills between judging and running lose nothing' kill_between

together() { # many cells at a time over both interfaces: all are admitted, each against the previous ledger
    local session i
    session=$(open_session)
    for i in $(seq 8); do
        execute "$session" "a$i = $i" >"$work/together-$i" &
        put "$session" "t$i.py" "t = $i" >"$work/together-put-$i" &
        start_run "$session" "b$i = $i" >"$work/together-legacy-$i" &
    done
    wait $(jobs -p | grep -vx "$server") || true
    for i in $(seq 8); do
        jq -e '.status == "completed"' "$work/together-$i"
        jq -e '.size > 0' "$work/together-put-$i"
        wait_until is_over "$(cat "$work/together-legacy-$i")"
    done
    execute "$session" 'print(sum(globals()[f"a{i}"] if False else i for i in range(1, 9)))' >/dev/null
    execute "$session" 'print(a1 + a8 + b1 + b8)' | jq -e '.output[0].text == "18\n"'
    close_session "$session"
}
ok 'cells, files and legacy calls at the same time have one order' together

# --- the log has the complete session
log_has() {
    local session
    session=$(open_session)
    execute "$session" 'x = 1' >/dev/null
    put "$session" helper.py 'y = 1' >/dev/null
    put "$session" data.csv 'a,b' >/dev/null
    reset "$session" >/dev/null
    curl -sS -X DELETE "$base/v1/sessions/$session/files/data.csv" >/dev/null
    close_session "$session"
    grep -F "\"session\":\"$session\"" "$state/audit.jsonl" >"$work/records"
    jq -r 'if .type == "decision" then .body.action else .type end' "$work/records" | tr '\n' ' ' >"$work/kinds"
    cat "$work/kinds"
    grep -qE 'open .*run .*file .*upload .*reset .*deletion' "$work/kinds"
    jq -es 'map(select(.type == "reset")) | .[0].body.ledger | length == 64' "$work/records"
    audit_is_whole
}
ok 'uploads, resets and deletions are in the audit log, with the ledger' log_has
finish
