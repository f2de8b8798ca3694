#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples run. gateway/examples: tests/system/model_standin.mjs replaces a model's API; codebox
# and its sandboxes are real. READMEs: each line of each `sh` block runs, in order, in a folder with
# the files that the examples name, against a server of this test, unless examples/exceptions.tsv
# has the reason why it cannot run. Usage: test_examples.sh [README ...]
source "$(dirname "$0")/lib.sh"
exceptions=$PWD/tests/system/examples/exceptions.tsv # README, beginning of the line, exit status or "not here", reason

# --- gateway/examples
model_examples() {
    token=$("$codebox" token create --state "$state" --principal example 2>/dev/null)
    start_server
    node tests/system/model_standin.mjs >"$work/port" &
    model=$!
    wait_until [ -s "$work/port" ]
    converse() { # EXAMPLE
        CODEBOX_URL=$base CODEBOX_TOKEN=$token MODEL_URL=http://127.0.0.1:$(cat "$work/port") MODEL_KEY=key MODEL=stand-in \
            timeout 120 python3 -B "gateway/examples/$1" 'How many primes are below 1000, and which is the last one?' | tee "$work/answer"
        grep -q '^nothing ran: .*py.process.*| 168 | 997$' "$work/answer"
    }
    ok 'a model that speaks like OpenAI reads the denial, writes another program, and goes on in its session' converse openai_tools.py
    ok 'so does one that speaks like Gemini' converse gemini_tools.py
    closed() { [ "$(curl -sS -H "Authorization: Bearer $token" "$base/v1/sessions" | jq '.sessions | length')" = 0 ]; }
    ok 'and both close their sessions' closed
    kill "$model"
    stop_server
}
[ $# -gt 0 ] || model_examples

# --- READMEs
block() { # prints the lines of the blocks; in sh, joins a line that ends in a backslash with the next
    awk -v fence='```'"$1" '$0 == fence { in_block = 1; next } /^```/ { in_block = 0 } in_block' "$2" | sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}'
}
# The files that examples name.
files() {
    mkdir -p lib project src "$work/home"
    printf 'import sys\nprint("report", *sys.argv[1:])\nopen("made.txt", "w").write("made")\n' >report.py
    printf 'name,euros\na,1\n' | tee data.csv >part1
    printf 'b,2\n' >part2
    printf 'def half(x):\n    return x / 2\n' | tee lib/helper.py src/main.py buffer >/dev/null
    printf 'print("project")\n' >project/main.py
    printf 'one\ntwo\n' | gzip >log.gz
    printf 'wc -l\n' >count.sh
    printf 'console.log(1)\n' | tee file.js >program.js
    block yaml "$root/README.md" >team.yaml
    printf 'listen: 127.0.0.1:8000\nmax-runs: 8\n' >codebox.yaml
    chmod 644 codebox.yaml
}
# Configuration of the server for the examples: principals, and a rule that asks for approval.
authenticating() {
    cat >ask.yaml <<'YAML'
version: 1
name: ask
extends: [default]
rules:
  - id: ask.sleep
    languages: [python]
    match: {call: [time.sleep]}
    effect: ask
    message: Waiting needs an approval.
    hint: Do not wait.
    tests: {deny: ["import time\ntime.sleep(1)"], allow: ["import time"]}
YAML
    cat >server.yaml <<YAML
policy: [$PWD/ask.yaml]
principals:
  - {name: ci}
  - {name: agent}
  - {name: officer, rights: [approve, "audit:read"]}
YAML
    chmod 644 ask.yaml server.yaml
}
exception() { # prints the row of the line; nothing without a row
    awk -F'\t' -v readme="$1" -v line="$2" '$1 == readme && index(line, $2) == 1 { print $3; print FNR >>"'"$work/rows"'"; exit }' "$exceptions"
}
# Replaces the commands by those with the state directory of this test.
codebox() {
    [[ "$*" != image\ [bp]* ]] || { refused; return; }
    case $1 in
        run | token | stop | audit | doctor) "$program" "$1" --state "$state" "${@:2}" ;;
        *) "$program" "$@" ;;
    esac
}
# A line that changes this machine, or images of other tests, needs an exception.
refused() {
    echo 'needs a row of exceptions.tsv'
    return 99
}
make() { refused; }
install() { refused; }
systemctl() { refused; }
curl() { command curl -S --fail-with-body --max-time 60 "$@"; }
examples() { # README
    local line want status ran=0 readme=$1 left=0
    cd "$here"
    set +e
    set -o pipefail
    while IFS= read -r line <&8; do
        [[ $line =~ ^[[:space:]]*(#|$) ]] && continue
        want=$(exception "$readme" "$line")
        [ "$want" != 'not here' ] || { left=$((left + 1)); continue; }
        line=${line//127.0.0.1:8000/${base#http://}}
        line=${line//build\/codebox-lint/\"\$lint\"}
        line=${line//build\/codebox/codebox}
        status=0
        eval "$line" </dev/null >"$here.out" 2>&1 || status=$?
        ran=$((ran + 1))
        [ "$status" = "${want:-0}" ] && continue
        echo "$readme: exit status $status of: $line"
        head -c 1500 "$here.out"
        return 1
    done 8< <(block sh "$root/$readme")
    echo "$ran lines, $left left out" >"$here.count"
    [ "$ran" -gt 0 ] || [ "$left" -gt 0 ]
}
root=$PWD program=$codebox lint=$PWD/build/codebox-lint
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
touch "$work/rows"
while read -r readme; do
    grep -q '^```sh$' "$readme" || continue
    [ $# = 0 ] || [[ " $* " = *" $readme "* ]] || continue
    here=$work/$(tr '/.' '__' <<<"$readme")
    state=$here.state
    mkdir -p "$here"
    (cd "$here" && files && authenticating)
    export CODEBOX_CONFIG=$here/codebox.yaml
    # The log has records, and the folder has a copy of its key.
    (cd "$here" && "$program" run --state "$state" report.py </dev/null >/dev/null 2>&1 && cp "$state/audit.pub" .)
    if grep -q 'token create' "$readme"; then
        start_server --config "$here/server.yaml"
    elif block sh "$readme" | grep -q 127.0.0.1:8000; then
        start_server
    fi
    ok "the examples of $readme" examples "$readme"
    [ ! -s "$here.count" ] || sed 's/^/          /' "$here.count"
    stop_server
done < <(git ls-files -co --exclude-standard '*README.md')
no_other() { # only sh blocks call curl and codebox, so that no example is missed
    ! git ls-files -co --exclude-standard '*README.md' | xargs grep -nE '^    (build/)?(codebox|codebox-lint|curl) '
}
ok 'no README has a command of codebox or curl outside of these blocks' no_other
used() {
    local number
    for number in $(seq 2 "$(wc -l <"$exceptions")"); do
        grep -qx "$number" "$work/rows" || { sed -n "${number}p" "$exceptions"; return 1; }
    done
}
[ $# -gt 0 ] || ok 'each exception is one of a line that is there' used
pictures() {
    mkdir "$work/pictures"
    tests/pictures/make "$work/pictures"
    [ -s "$work/pictures/terminal.svg" ] && [ -s "$work/pictures/page.png" ]
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/pictures/terminal.svg"
}
[ $# -gt 0 ] || ! command -v chromium >/dev/null || ok 'the pictures of the READMEs can be made' pictures
finish
