#!/bin/bash
# SPDX-License-Identifier: MIT
# `dependencies` and installs in cells: resolved, judged and installed before a program starts, from
# an index in a container.
source "$(dirname "$0")/lib.sh"
index=$(docker run --detach --interactive --rm --entrypoint python3 --label codebox.test=packages codebox-python:latest -I -c "$(cat tests/live/docker/package_index.py)" 8080 8081)
trap 'docker rm -f "$index" >/dev/null 2>&1; kill -9 $server 2>/dev/null || true; rm -rf "$work"' EXIT
wait_until sh -c "docker logs '$index' 2>&1 | grep -q '^ready '"
address=$(docker logs "$index" 2>&1 | sed -n 's/^ready //p')
cat >"$work/closed.yaml" <<'END'
version: 1
name: closed
extends: [default]
network: none
END
began=$(date +%s)
start_server --audit-code full --pip-index "http://$address:8080/simple/" --policy default --policy "$work/closed.yaml"

open_with() { post /v1/sessions "$(jq -n --args '{language: "python", dependencies: $ARGS.positional}' -- "$@")"; }
session_with() { open_with "$@" | jq -er '.session_id // halt_error'; }
execute() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{code: $c, session_id: $s}')"; }
once() { post /v1/executions "$(jq -n --arg c "$1" '{code: $c, language: "python"}')"; }
text_of() { jq -r '[.output[]?.text // empty] | join("")'; }
shows() { # FRAGMENT occurs in standard input
    local text
    text=$(cat)
    echo "$text"
    [[ $text == *"$1"* ]] || { echo "not there: $1"; return 1; }
}
refused() { # FRAGMENT DEPENDENCY ...
    local fragment=$1
    shift
    open_with "$@" | shows "$fragment" | lacks '"session_id":'
}

# --- accepted
installs() {
    local session
    session=$(session_with good)
    execute "$session" $'import good, good_part\nprint(good.VALUE, good_part.VALUE, good.__file__)' | text_of | shows '1.0 2.0 /usr/local/lib/python3'
    echo "$session" >"$work/session"
}
ok 'a session has its dependencies, and what they need' installs
isolated() { execute "$(cat "$work/session")" $'import urllib.request\ntry:\n    urllib.request.urlopen("http://'"$address"$':8080/", timeout=2)\nexcept Exception as e:\n    print("failed", type(e).__name__)' | shows failed; }
ok 'its programs have no network' isolated
read_only() { execute "$(cat "$work/session")" $'import good\ntry:\n    open(good.__file__, "w")\nexcept OSError as e:\n    print("refused", e.errno)' | text_of | shows 'refused'; }
ok 'and cannot change what was installed' read_only
recorded() {
    "$codebox" audit tail --state "$state" --lines 30 >"$work/audit" || true
    shows 'good 1.0 sha256:' <"$state/audit.log" || grep -rF 'good 1.0 sha256:' "$state" >/dev/null
}
ok 'the audit log has packages, versions and hashes' recorded
installers() { # prints the containers that installed for this gateway
    docker events --since "$began" --until "$(date +%s)" --filter event=create --filter "label=codebox.instance=$(ls "$state/instances")" --format '{{index .Actor.Attributes "codebox.lease"}} {{.ID}}' | grep '^[0-9]'
}
shared() {
    installers >"$work/before"
    [ -s "$work/before" ]
    session_with good >/dev/null
    installers | cmp - "$work/before"
}
ok 'a second session with the same packages installs nothing' shared
of_the_image() { execute "$(session_with 'numpy>=1.20' good)" $'import numpy, good\nprint(numpy.__file__, good.VALUE)' | text_of | shows '/usr/lib/python3/dist-packages/numpy'; }
ok 'what the image has is not installed again' of_the_image
in_a_cell() { once $'%pip install good\nimport good\nprint("have", good.VALUE)' | tee "$work/a" | text_of | shows 'have 1.0'; shows 'Installed: good 1.0' <"$work/a"; }
ok '%pip in a program of its own installs before it starts' in_a_cell
in_range() { once $'%pip install good<2\nimport good\nprint("have", good.VALUE)' | text_of | shows 'have 1.0'; }
ok '... in a range that a shell would take for a redirection' in_range
with_bang() { once $'!pip install -q "good>=1"\nimport good\nprint("have", good.VALUE)' | text_of | shows 'have 1.0'; }
ok '!pip as well' with_bang
in_a_first_cell() {
    local session
    session=$(session_with)
    execute "$session" $'%pip install good\nimport good\nx = good.VALUE' | expect '.status == "completed" or .status == "ok"' || true
    execute "$session" 'print("still", x)' | text_of | shows 'still 1.0'
    execute "$session" $'import good_part\nprint(good_part.VALUE)' | text_of | shows 2.0
}
ok 'the first cell of a session installs for all of them' in_a_first_cell
in_a_later_cell() {
    local session
    session=$(session_with)
    execute "$session" 'x = 1' >/dev/null
    execute "$session" $'%pip install good' | shows 'before the first program of a sandbox starts'
    execute "$session" 'print("still", x)' | text_of | shows 'still 1'
}
ok 'in a later cell it says how to, and the session keeps its state' in_a_later_cell
in_two_cells() { # the cell with the install is sent first, and another cell overtakes it
    local session
    session=$(session_with)
    execute "$session" $'%pip install needs-first' >"$work/overtaken" &
    sleep 0.5
    execute "$session" 'x = 7' >/dev/null
    wait $!
    shows 'before the first program of a sandbox starts' <"$work/overtaken"
    execute "$session" 'print("still", x)' | text_of | shows 'still 7'
}
ok 'a cell that overtakes an install does not end the session' in_two_cells
streamed() { # prints the names of the events of an execution that installs the dependency
    curl -sSN -X POST -H 'Content-Type: application/json' -H 'Accept: text/event-stream' --data-binary "$(jq -n --arg d "$1" '{code: "import good_part\nprint(good_part.VALUE)", language: "python", dependencies: [$d]}')" "$base/v1/executions" >"$work/events-$1"
    cat "$work/events-$1"
    sed -n 's/^event: //p' "$work/events-$1" | uniq | xargs >"$work/names-$1"
}
progress() {
    streamed needs-second
    [ "$(cat "$work/names-needs-second")" = 'created progress stdout done' ]
    shows '"text":"collecting needs-second' <"$work/events-needs-second"
    grep '^data: .*"installed":{.*"packages":\["good-part 2.0","needs-second 1.0"' "$work/events-needs-second"
}
ok 'an event stream begins with the progress of what is installed' progress
progress_denied() {
    streamed pulls_blocked
    [ "$(cat "$work/names-pulls_blocked")" = 'created progress error' ]
    grep '^data: .*paramiko is blocked by the policy.*"status":400' "$work/events-pulls_blocked"
}
ok 'and ends with an error when a package is denied' progress_denied
early() {
    local session
    session=$(session_with bottleneck)
    sleep 5 # enough time for the imports of a waiting sandbox
    execute "$session" $'import sys\nprint("early", hasattr(sys, "early"))' | text_of | shows 'early False'
}
ok 'no code of a package runs before the guard holds' early
restart() {
    local session
    session=$(session_with good)
    docker kill "$(container_of "$session")" >/dev/null
    execute "$session" $'import good\nprint("again", good.VALUE)' | text_of | shows 'again 1.0'
}
ok 'a session whose sandbox died has its packages in the next one' restart

# --- refused
ok_later 'a package that another one pulls in is judged, and the chain is told' refused 'pulls_blocked 1.0 -> paramiko 3.0: paramiko is blocked by the policy' pulls_blocked
ok_later 'so is its version' refused 'urllib3 is older than the policy allows; ask for version 1.26.5 or newer' pulls_old
ok_later 'a package that has only a source archive is refused' refused 'only-source' only-source
ok_later 'a withdrawn release is refused' refused 'withdrawn' retracted==1.0
ok_later 'a file whose hash changed is refused' refused 'altered' altered
ok_later 'versions that exclude each other are told' refused 'good-part' needs-first needs-second
ok_later 'a package that does not exist is told' refused 'nowhere' nowhere-at-all
ok_later 'a module of the language is nothing to install' refused "'json' is part of Python, there is nothing to install" json good
node_with() { post /v1/sessions "$(jq -n --args '{language: "javascript", dependencies: $ARGS.positional}' -- "$@")"; }
ok_later '... of Node.js with and without its prefix' bash -c '[[ $1$2 == *fs*"is part of Node.js"*node:fs*"is part of Node.js"* ]]' - "$(node_with fs)" "$(node_with node:fs)"
twice() { node_with lodash@3 lodash@4 | shows "has 'lodash@3' and 'lodash@4': programs load one version"; }
ok_later 'two versions of one package are no set' twice
ok_later 'a redirect to another host is refused' refused 'redirect' moved
ok_later 'a file at a private address that is not the address of the index is refused' refused "at $address:8081, whose address $address is not public" points-elsewhere
ok_later 'however the address is written' refused 'whose address 127.0.0.1 is not public' points-inside
npm_file() { gives 2 "at $address:8081, whose address $address is not public" "$codebox" run --state "$state-npm" --npm-registry "http://$address:8080/" --with points-elsewhere --language javascript - <<<'1'; }
ok_later 'also one of npm' npm_file
ok_later 'a blocked package is refused before anything is asked for' refused 'pkg.blocked' paramiko
finish_later
for spec in '--index-url=http://evil.example/' 'good @ http://evil.example/x.whl' 'git+https://evil.example/x' './good' '-r x.txt' $'good\n--pre' '$(id)' "good'; import os"; do
    ok_later "'$(head -n 1 <<<"$spec")' is no requirement" refused 'allowed is a package name' "$spec"
done
finish_later
closed() { post /v1/sessions '{"policy": "closed", "dependencies": ["good"]}' | shows 'network: packages-only'; }
ok 'a policy without a network installs nothing' closed
pruned() { # layers that another program removes
    "$codebox" image prune all >/dev/null
    open_with good >/dev/null
    execute "$(session_with good)" 'import good; print("anew", good.VALUE)' | text_of | shows 'anew 1.0'
}
ok 'a layer that was removed is made anew' pruned
at_once() {
    "$codebox" image prune all >/dev/null
    open_with retracted >/dev/null
    local each pids=()
    for each in 1 2 3; do
        session_with good >"$work/at-once-$each" &
        pids+=($!)
    done
    wait "${pids[@]}"
    [ "$(sort -u "$work"/at-once-* | wc -l)" = 3 ]
}
ok 'sessions that ask for the same at the same time get it' at_once
layers() {
    "$codebox" image list | shows ' with packages, '
    "$codebox" image list --json | expect '[.images[] | select(.layer)] | length > 0 and all(.[]; .id and (.kernel == "python" or .kernel == "javascript" or .kernel == "typescript"))'
}
ok 'image list counts the layers' layers
replays() {
    "$codebox" audit replay --state "$state" --policy default --policy "$work/closed.yaml" >"$work/replay"
    cat "$work/replay"
    grep -q ' 0 to another one, 0 not replayable' "$work/replay"
    [ "$(jq -r 'select(.type == "decision") | .body | select(.packages) | .action' "$state/audit.jsonl" | sort -u | xargs)" = 'install open resolve run' ]
}
ok 'decisions about packages, and of programs that have some, are made again to the same answer' replays
# The temporary image of an install whose gateway was killed.
stop_server
left=$(docker create --label "codebox.instance=$(ls "$state/instances")" --entrypoint true codebox-python:latest)
image=$(docker commit "$left")
docker rm "$left" >/dev/null
start_server --policy default
forgotten() {
    session_with >/dev/null
    wait_until sh -c "! docker image inspect '$image'"
}
ok 'a gateway that starts removes what an install left' forgotten
clean() { wait_until sh -c '! docker ps -a --filter label=codebox.lease --format "{{.Label \"codebox.kernel\"}}" | grep -vx proxy'; }
ok 'no installer is left behind' clean
ok 'the audit log is in order' audit_is_whole
finish
