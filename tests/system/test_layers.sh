#!/bin/bash
# SPDX-License-Identifier: MIT
# Limits of layers of packages: size of one, of a principal's, of all, and free space of the disk.
# The least recently used layer is evicted. The index creates packages of 8 MiB that no layer has
# yet.
source "$(dirname "$0")/lib.sh"
index=$(docker run --detach --interactive --rm --entrypoint python3 --label codebox.test=layers codebox-python:latest -I -c "$(cat tests/live/docker/package_index.py)" 8080 8081 "$(cat /proc/sys/kernel/random/uuid)")
clean_up() {
    docker rm -f "$index" >/dev/null 2>&1
    kill -9 $server 2>/dev/null
    for digest in $(ls "$state/layers" 2>/dev/null); do
        docker rmi "codebox-python-layer:$digest" >/dev/null 2>&1
    done
    rm -rf "$work"
}
trap 'clean_up || true' EXIT
wait_until sh -c "docker logs '$index' 2>&1 | grep -q '^ready '"
address=$(docker logs "$index" 2>&1 | sed -n 's/^ready //p')
token_of() { "$codebox" token create --state "$state" --principal "$1" 2>/dev/null; }
ann=$(token_of ann) bob=$(token_of bob)
serve() { # LINES OF THE CONFIGURATION ...
    printf '%s\n' "pip-index: http://$address:8080/simple/" 'pool-idle: 1' 'principals:' '  - {name: ann, layers: 2}' '  - {name: bob, rights: ["execute", "audit:read"]}' "$@" >"$work/codebox.yaml"
    start_server --config "$work/codebox.yaml"
}
body_of() { jq -n --args '{language: "python", dependencies: $ARGS.positional}' -- "$@"; }
opens() { # prints the session's id
    local token=$1
    shift
    as "$token" POST /v1/sessions "$(body_of "$@")" | tee "$work/opened" | jq -er .session_id || { cat "$work/opened"; return 1; }
}
layer_of() { # prints the digest of this gateway's layer with the package; nothing if there is none
    local digest
    for digest in $(ls "$state/layers"); do
        ! docker image inspect "codebox-python-layer:$digest" 2>/dev/null | grep -cF "\\\"$1\\\"" >/dev/null || echo "$digest"
    done
}
has_layer() { [ -n "$(layer_of "$1")" ]; }
close() { as "$1" DELETE "/sessions/$2" | expect '.status == "cleaned up"'; }
no_sandbox_of() { [ -z "$(docker ps -aq --filter "ancestor=codebox-python-layer:$(layer_of "$1")")" ]; } # also checks the sandboxes of the pool
ages() { touch -d "$2 hours ago" "$state/layers/$(layer_of "$1")"; } # sets the time of its last use to HOURS ago
ends_sandboxes() { docker ps -q --filter "label=codebox.instance=$(ls "$state/instances")" | xargs -r docker rm -f >/dev/null 2>&1 || true; }

# --- size of one layer
serve 'layer-max-size: 4'
ok 'a layer may have so much' gives_status 413 'the packages have more than 4 MiB' as "$ann" POST /v1/sessions "$(body_of once-a)"
none_made() { ! has_layer once-a; }
ok '... and none is left of one that has more' none_made
stop_server

# --- free space of the disk
serve 'layers-keep-free: 1000000000'
full() {
    as "$ann" POST /v1/sessions "$(body_of once-a)" >"$work/answer"
    cat "$work/answer"
    [ "$(cat "$work/status")" = 503 ]
    grep -q "disk has [0-9]* MiB free, and 1000000192 are needed; 1000000000 of these stay free" "$work/answer"
}
ok 'nothing is installed when the disk would be full, and the error says how much there is' full
stop_server

# --- layers of a principal
serve 'layers-max-size: 20'
first=$(opens "$ann" once-a)
close "$ann" "$first" >/dev/null
second=$(opens "$ann" once-b)
ok 'a principal may have so many' has_layer once-b
third() { gives_status 429 "'ann' has 2 different sets of packages in use, which is as many as may be" as "$ann" POST /v1/sessions "$(body_of once-c)"; }
ok '... and no more while they are in use' third
ok 'another principal may' opens "$bob" good
ages once-a 1
ages once-b 2
wait_until no_sandbox_of once-a
ok 'one that is not used makes room' opens "$ann" once-c
first_gone() { has_layer once-b && has_layer once-c && ! has_layer once-a; }
ok '... not the one that a sandbox runs from, although it is older' first_gone
close "$ann" "$second" >/dev/null

# --- all layers
crowded() { gives_status 503 'the layers of packages in use have 24 MiB, and all may have 20' as "$bob" POST /v1/sessions "$(body_of once-e)"; }
touch "$state/layers"/*
ok 'all may have so much' opens "$bob" once-d
ok '... and no more while they are in use' crowded
ages once-b 3
ages once-c 2
stop_server
ends_sandboxes
serve 'layers-max-size: 20'
ok 'after a restart the one that was not used for longest goes first' opens "$bob" once-e
oldest_gone() { has_layer once-c && has_layer once-d && has_layer once-e && ! has_layer once-b; }
ok '... and that one alone' oldest_gone
ages once-c 1
again() { opens "$bob" once-b && has_layer once-b && ! has_layer once-c; }
ok 'packages whose layer was removed are installed again' again
known() {
    ages once-d 5
    ends_sandboxes
    opens "$bob" once-f
    ! has_layer once-d
    ages once-e 9
    opens "$bob" once-d
    ! has_layer once-e
}
ok '... also when the gateway knows what they were resolved to' known
shown() {
    as "$bob" GET /metrics >"$work/metrics"
    grep -E '^codebox_layers(_bytes|_evicted_total)? [1-9]' "$work/metrics" | wc -l | grep -qx 3
}
ok 'the metrics have the layers, their size and how many made room' shown
ok 'the audit log is in order' audit_is_whole
stop_server
leaves_no_server || failed=1
exit "$failed"
