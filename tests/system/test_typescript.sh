#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs in TypeScript behave like the compiler's output: for each program of
# tests/live/typescript, the run of the program and of the JavaScript that tsc emits have the same
# output, errors and exit status.
source "$(dirname "$0")/lib.sh"
programs=tests/live/typescript

mkdir "$work/compiler" "$work/js"
cp docker/images/npm/package*.json "$work/compiler/"
(cd "$work/compiler" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >log 2>&1) || { cat "$work/compiler/log"; exit 1; }
cat >"$work/tsconfig.json" <<JSON
{"compilerOptions": {"target": "es2022", "module": "esnext", "moduleResolution": "bundler", "moduleDetection": "force", "jsx": "react", "types": [],
  "lib": ["es2024", "esnext.disposable", "dom"], "outDir": "$work/js", "rootDir": "$PWD/$programs"}, "include": ["$PWD/$programs/*"]}
JSON
# Names that need Node's types, and missing modules, are only type errors: tsc still emits the code.
node "$work/compiler/node_modules/typescript/bin/tsc" --project "$work/tsconfig.json" >"$work/types" || true
ok 'tsc emits JavaScript for each program' eval '[ "$(ls "$work"/js/*.js | wc -l)" = "$(ls "$programs" | wc -l)" ] && ! grep -E "error TS1[0-9]{3}:" "$work/types" | grep .'

run() { # OUTPUT FILE
    local status=0
    "$codebox" run --state "$work/state-$1-$2" "$3" >"$work/$1-$2" 2>&1 </dev/null || status=$?
    echo "exit status $status" >>"$work/$1-$2"
}
compare() { # PROGRAM
    local file=${1##*/} name
    name=${file%.*}
    run ts "$name" "$1"
    run js "$name" "$work/js/$name.js"
    diff "$work/js-$name" "$work/ts-$name" >"$work/diff-$name" || { echo "$name:"; head -n 20 "$work/diff-$name"; }
    [ "$(wc -l <"$work/ts-$name")" -ge 2 ] || echo "$name: prints nothing"
}
export -f run compare
export codebox work
printf '%s\n' "$programs"/* | xargs -P 2 -I '{}' bash -c 'compare {}' >"$work/different"
ok 'each program of TypeScript does what its JavaScript does' eval '! cat "$work/different" | grep .'
finish
