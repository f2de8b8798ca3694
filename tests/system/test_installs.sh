#!/bin/bash
# SPDX-License-Identifier: MIT
# Queue of installs: an index that hangs blocks neither other principals nor installed packages, and
# the gateway installs nothing for a client that has disconnected. The container of the index has
# the package `hangs`, whose page never arrives.
source "$(dirname "$0")/lib.sh"
index=$(docker run --detach --interactive --rm --entrypoint python3 --label codebox.test=installs codebox-python:latest -I -c "$(cat tests/live/docker/package_index.py)" 8080 8081)
trap 'docker rm -f "$index" >/dev/null 2>&1; kill -9 $server 2>/dev/null || true; rm -rf "$work"' EXIT
wait_until sh -c "docker logs '$index' 2>&1 | grep -q '^ready '"
address=$(docker logs "$index" 2>&1 | sed -n 's/^ready //p')
token_of() { "$codebox" token create --state "$state" --principal "$1" 2>/dev/null; }
ann=$(token_of ann) bob=$(token_of bob)
cat >"$work/codebox.yaml" <<END2
pip-index: http://$address:8080/simple/
stop-timeout: 1
install-timeout: 600
max-installs: 2
principals:
  - {name: ann}
  - {name: bob, rights: ["execute", "audit:read"]}
END2
start_server --config "$work/codebox.yaml"

body_of() { jq -n --args '{language: "python", dependencies: $ARGS.positional}' -- "$@"; }
opens() { # TOKEN DEPENDENCY ...
    local token=$1
    shift
    as "$token" POST /v1/sessions "$(body_of "$@")" | expect .session_id
}
clients=()
hangs() { # starts a client in the background that waits for the index
    local token=$1
    shift
    curl -sS -o /dev/null -X POST -H "Authorization: Bearer $token" -H 'Content-Type: application/json' --data-binary "$(body_of hangs "$@")" "$base/v1/sessions" 2>/dev/null &
    clients+=($!)
}
leave() {
    kill "${clients[@]}" 2>/dev/null || true
    wait "${clients[@]}" 2>/dev/null || true
    clients=()
}
installs_are() { # RUNNING WAITING
    as "$bob" GET /metrics >"$work/metrics"
    grep -qx "codebox_installs{state=\"running\"} $1" "$work/metrics" && grep -qx "codebox_installs{state=\"waiting\"} $2" "$work/metrics"
}
started() { # prints the number of installers that this gateway has started since TIME
    docker events --since "$1" --until "$(date +%s.%N)" --filter event=create --filter "label=codebox.instance=$(ls "$state/instances")" --format '{{index .Actor.Attributes "codebox.lease"}}' | grep -c '^[0-9]' || true
}
installers() { docker ps -aq --filter "label=codebox.instance=$(ls "$state/instances")" --filter label=codebox.lease | xargs -r docker inspect --format '{{.Config.Hostname}} {{.Id}}' | grep '^installer' | sort; }

ok 'packages are installed' opens "$bob" good
hangs "$ann" good
ok 'an index that does not answer holds an installer' wait_until installs_are 1 0
hangs "$ann" good-part
ok 'further installs of the same principal wait' wait_until installs_are 1 1
ok "another principal's do not" opens "$bob" needs-second
since=$(date +%s.%N)
ok 'what is installed already needs no installer, also for the principal whose installs hang' opens "$ann" good
none_started() { [ "$(started "$since")" = 0 ]; }
ok '... and none was started' none_started
queued() { grep -q '"text":"queued: 1 install is before this one"' "$work/stream"; }
curl -sSN -H "Authorization: Bearer $ann" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
    --data-binary "$(jq -n '{code: "1", language: "python", dependencies: ["hangs", "six"]}')" "$base/v1/executions" >"$work/stream" 2>/dev/null &
clients+=($!)
ok 'an event stream says that its install is queued' wait_until queued
oldest() { installs_are 1 2; grep -q '^codebox_installs_oldest_waiting_seconds [0-9.]*[1-9]' "$work/metrics"; }
ok 'the metrics say how long the oldest has waited' wait_until oldest
ready() { curl -sS "$base/readyz" | expect '.ready and .degraded == {}'; }
ok '/readyz is ready, as runs are served' ready
leave
ok 'an install ends when its client leaves' wait_until installs_are 0 0
none_left() { ! installers | grep -q .; }
ok '... and its container is removed' wait_until none_left

# The server sends the page of the package `held` when this file exists.
resolves() { jq -r 'select(.type == "decision") | .body | select(.action == "resolve") | .id' "$state/audit.jsonl" | wc -l; }
before=$(resolves)
curl -sSN -H "Authorization: Bearer $ann" -H 'Content-Type: application/json' -o /dev/null --data-binary "$(body_of held)" "$base/v1/sessions" 2>/dev/null &
clients=($!)
wait_until installs_are 1 0
curl -sSN -H "Authorization: Bearer $bob" -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
    --data-binary "$(jq -n '{code: "import held\nprint(held.VALUE)", language: "python", dependencies: ["held"]}')" "$base/v1/executions" >"$work/stream" 2>/dev/null &
follower=$!
follows() { grep -q '"text":"queued: another request installs the same packages"' "$work/stream"; }
ok 'a second client of the same packages waits for the first' wait_until follows
leave
docker exec "$index" touch /tmp/released
wait "$follower"
follower_has() { cat "$work/stream"; grep -q '"text":"1.0' "$work/stream"; [ "$(resolves)" = $((before + 1)) ]; }
ok '... and the install goes on when the first has left' follower_has

for i in $(seq 32); do
    hangs "$ann" "p$i"
done
ok 'a principal may have so many' wait_until installs_are 1 31
many() { gives_status 429 'installs of packages of ann run or wait, the most is 32' as "$ann" POST /v1/sessions "$(body_of hangs more)"; grep -qi '^retry-after: 10' "$work/headers"; }
ok '... and no more: 429, with Retry-After' many
ok "another principal's are still taken" opens "$bob" good-part
stopped() {
    "$codebox" stop --state "$state" --principal ann
    wait_until installs_are 0 0
}
ok '`codebox stop` ends them' stopped
leave

hangs "$bob" good
hangs "$bob" six
ok 'again one installs and one waits' wait_until installs_are 1 1
stops() {
    local began=$SECONDS
    stop_server
    [ $((SECONDS - began)) -lt 15 ]
    wait_until none_left
}
ok 'SIGTERM ends what installs, and starts nothing that waits' stops
leave

start_server --config "$work/codebox.yaml"
before=$(resolves) since=$(date +%s.%N)
ok 'after a restart the same packages are there' opens "$bob" good
asks_nobody() { [ "$(resolves)" = "$before" ] && none_started; }
ok '... and no index was asked' asks_nobody
ok 'the audit log is in order' audit_is_whole
finish
