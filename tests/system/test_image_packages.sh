#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox image build --packages`: packages that are built into an image. Changes
# codebox-python:latest, and restores it.
source "$(dirname "$0")/lib.sh"
index=$(docker run --detach --interactive --rm --entrypoint python3 --label codebox.test=packages codebox-python:latest -I -c "$(cat tests/live/docker/package_index.py)" 8080 8081)
trap 'docker rm -f "$index" >/dev/null 2>&1; kill -9 $server 2>/dev/null || true; [ -z "$(docker image inspect --format "{{index .Config.Labels \"codebox.packages\"}}" codebox-python:latest)" ] || "$codebox" image build python >/dev/null; rm -rf "$work"' EXIT
wait_until sh -c "docker logs '$index' 2>&1 | grep -q '^ready '"
address=$(docker logs "$index" 2>&1 | sed -n 's/^ready //p')
open_with() { post /v1/sessions "$(jq -n --args '{language: "python", dependencies: $ARGS.positional}' -- "$@")"; }
session_with() { open_with "$@" | jq -er '.session_id // halt_error'; }
execute() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{code: $c, session_id: $s}')"; }
text_of() { jq -r '[.output[]?.text // empty] | join("")'; }
shows() { # FRAGMENT occurs in standard input
    local text
    text=$(cat)
    echo "$text"
    [[ $text == *"$1"* ]] || { echo "not there: $1"; return 1; }
}
bake() { "$codebox" image build --state "$state-image" --pip-index "http://$address:8080/simple/" "$@"; }
run_baked() { "$codebox" run --state "$state-image" --language python - 2>&1; }
built_in() {
    bake --packages 'good>=1' python | shows 'good 1.0 sha256:'
    run_baked <<<$'import good, good_part\nprint("built in", good.VALUE, good_part.VALUE)' | shows 'built in 1.0 2.0'
    "$codebox" image list | shows 'built in: good 1.0 sha256:'
    "$codebox" image list --contents | shows 'good 1.0'
    "$codebox" audit tail --state "$state-image" --lines 20 | shows resolve
}
ok 'image build --packages puts packages into an image' built_in
start_server --pip-index "http://$address:8080/simple/"
other_version() {
    local session
    session=$(session_with good)
    execute "$session" $'import good\nprint("session", good.VALUE)' | text_of | shows 'session 1.0'
    open_with good-part==0.9 | shows 'the image has good-part 2.0 built in, and a sandbox cannot have another version of it'
}
ok "a session has what is built in, and no other version of it" other_version
judged() {
    local status=0
    bake --packages pulls_blocked python >"$work/judged" 2>&1 || status=$?
    [ "$status" = 1 ]
    shows 'pulls_blocked 1.0 -> paramiko 3.0: paramiko is blocked by the policy' <"$work/judged"
}
ok 'what they need is judged' judged
taken_out() {
    bake python
    run_baked <<<$'import good' >"$work/plain" || true
    shows "No module named 'good'" <"$work/plain"
}
ok 'image build without them makes the plain image again' taken_out
finish
