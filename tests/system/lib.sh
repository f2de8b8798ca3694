# SPDX-License-Identifier: MIT
# Functions of the system tests: a server on a free port with its own state, and checks whose names
# are sentences.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
codebox=${CODEBOX:-$PWD/build/codebox} # CODEBOX=$PWD/build/asan/codebox takes another build
work=$(mktemp -d)
state=$work/state
server= base=
failed=0

ok() { # checks the status of the command, which runs in a subshell; every step of it must succeed
    local sentence=$1
    shift
    local status=0
    set +e # `set -e` has no effect within a condition
    (set -e; "$@") >"$work/out" 2>&1
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        echo "  ok    $sentence"
    else
        echo "  FAILED $sentence"
        sed 's/^/         /' "$work/out" | tail -n 15
        [ ! -s "$work/server.log" ] || { echo '         -- the log of the gateway:'; sed 's/^/         /' "$work/server.log" | cut -c1-300 | tail -n 8; }
        failed=1
    fi
}

# Like ok, for checks that share nothing: four run at a time. `finish_later` prints their results in
# order.
later=()
ok_later() { # SENTENCE COMMAND ...
    local n=${#later[@]}
    later+=("$1")
    shift
    (
        set +e
        (set -e; "$@") >"$work/later-$n" 2>&1
        echo $? >"$work/later-$n.status"
    ) &
    later_pids+=($!)
    [ ${#later_pids[@]} -lt 4 ] || await_later
}
later_pids=()
await_later() {
    [ ${#later_pids[@]} = 0 ] || wait "${later_pids[@]}" || true
    later_pids=()
}
finish_later() {
    local n
    await_later
    for n in "${!later[@]}"; do
        if [ "$(cat "$work/later-$n.status")" = 0 ]; then
            echo "  ok    ${later[$n]}"
        else
            echo "  FAILED ${later[$n]}"
            sed 's/^/         /' "$work/later-$n" | tail -n 15
            failed=1
        fi
    done
    later=()
}

gives() { # checks exit status, and text on stdout or stderr, which is written to $work/out.txt: tests run side by side in one folder
    local status=0 want=$1 fragment=$2
    shift 2
    "$@" >"$work/out.txt" 2>&1 || status=$?
    head -c 4000 "$work/out.txt"
    [ "$status" = "$want" ]
    [ -z "$fragment" ] || grep -qF -- "$fragment" "$work/out.txt"
}

wait_until() { # waits up to 20 s
    for _ in $(seq 200); do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.1
    done
    echo "waited in vain for: $*"
    return 1
}

start_server() { # MORE OPTIONS ...
    rm -f "$work/server.log" # the log of the previous server may already have the expected line
    "$codebox" serve --state "$state" --listen 127.0.0.1:0 "$@" 2>"$work/server.log" &
    server=$!
    echo "$server" >>"$work/servers"
    wait_until grep -q 'serving on' "$work/server.log" || { cat "$work/server.log"; exit 1; }
    base=$(sed -n 's/.*serving on \(https\{0,1\}:[^,]*\),.*/\1/p' "$work/server.log")
}

stop_server() {
    [ -n "$server" ] || return 0
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || true
    server=
}

# Kills the servers of subshells: a server that a check starts in its subshell would otherwise
# outlive the test.
leaves_no_server() {
    local pid
    for pid in $(cat "$work/servers" 2>/dev/null); do
        if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = codebox ] && ! grep -q '^State:.Z' "/proc/$pid/status"; then
            kill -TERM "$pid"
            echo "server $pid still runs: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
            return 1
        fi
    done
}

finish() {
    stop_server
    leaves_no_server || { echo '  FAILED the test leaves no server'; failed=1; }
    rm -rf "$work"
    exit "$failed"
}
trap 'kill -9 $server 2>/dev/null || true; rm -rf "$work"' EXIT

reload() { # sends SIGHUP, and waits until the log has another line like PATTERN
    local before
    before=$(grep -c "$1" "$work/server.log" || true)
    kill -HUP "$server"
    logged_again() { [ "$(grep -c "$1" "$work/server.log")" -gt "$2" ]; }
    wait_until logged_again "$1" "$before"
}

# For a gateway with authentication. $key is an Idempotency-Key.
as() { # prints the body; the status is in $work/status, the headers in $work/headers
    local token=$1 method=$2 path=$3 body=${4:-}
    curl -sS -X "$method" -D "$work/headers" -w '%{stderr}%{http_code}' ${token:+-H "Authorization: Bearer $token"} ${key:+-H "Idempotency-Key: $key"} \
        ${body:+-H 'Content-Type: application/json' --data-binary "$body"} "$base$path" 2>"$work/status"
}
gives_status() { # STATUS FRAGMENT as ...
    local want=$1 fragment=$2 body
    shift 2
    body=$("$@")
    [ "$(cat "$work/status")" = "$want" ] || { echo "status $(cat "$work/status"): $body"; return 1; }
    grep -qF -- "$fragment" <<<"$body" || { echo "$body"; return 1; }
}

post() { curl -sS -X POST -H 'Content-Type: application/json' --data-binary "$2" "$base$1"; }
status_of() { curl -sS -o "$work/body" -w '%{http_code}' "$@"; }
new_session() { post /sessions "${1:-{\}}" | jq -er .session_id; }
start_run() { post /execute "$(jq -n --arg c "$2" --arg s "$1" '{code: $c, session_id: $s}')" | jq -er .request_id; }
is_over() { curl -sS "$base/execute/$1/status" | jq -e '.status == "completed" or .status == "error"'; }
results_of() { curl -sS "$base/execute/$1/results"; }
run_in() { # prints the results of the code
    local id
    id=$(start_run "$1" "$2")
    wait_until is_over "$id"
    results_of "$id"
}
# Fails if the text occurs: `set -e` ignores a command after '!', so checks for absence use this
# function.
lacks() { if grep -E -- "$1"; then return 1; fi; }
expect() { # FILTER [FILE]: a filter that does not hold prints the JSON
    local json
    json=$(cat "${2:-/dev/stdin}")
    jq -e "$1" <<<"$json" || { printf 'the filter %s does not hold for %.1500s\n' "$1" "$json" >&2; return 1; }
}
# Process ids of the gateway: the master, and its children front, zygote with workers, and executor.
children_of() { pgrep -P "$1" || true; }
containers_of() { docker ps -aq --no-trunc --filter "id=${1:-none}"; } # ID as in a session's JSON
has_no_container() { [ -z "$(containers_of "$1")" ]; }
container_of() { curl -sS "$base/v1/sessions/$1" | jq -er .container; }
sandboxes() { docker ps -aq --filter label=codebox.sandbox; }

# Checks the order of the audit log. A process that is killed between a record and its signature
# leaves a range that is reported until it is acknowledged.
audit_is_whole() {
    local report
    report=$("$codebox" audit verify --state "$state" 2>&1) && return
    [[ $report == *'were never signed'* ]] &&
        "$codebox" audit acknowledge --state "$state" --reason 'processes were killed by the test' &&
        "$codebox" audit verify --state "$state"
}

# Checks that every permitted action has one outcome.
records() { cat "$state/audit.jsonl"; }
# Prints the ids of permitted actions, and their number of outcomes if it is not one.
odd_outcomes() {
    records | jq -rs '
        (map(select(.type == "outcome") | .body.decision) | group_by(.) | map({key: .[0], value: length}) | from_entries) as $outcomes
        | (map(select(.type == "approval") | .body.decision)) as $approved
        | map(select(.type == "decision" and .body.action != "check" and (.body.verdict == "allow" or (.body.id | IN($approved[]))))
              | "\(.body.id) \(.body.action) \($outcomes[.body.id] // 0)")
        | map(select(endswith(" 1") | not)) | .[]'
}
one_each() { [ "$(records | grep -c '"type":"outcome"')" -ge "${1:-1}" ] && odd_outcomes | lacks .; }

# Creates the image NAME: a plain Debian of the images' release with Python and Node.js. tests/live/run
# keeps it for other tests, and removes it at its end.
plain_debian() { # NAME
    local kept=codebox-test-plain:latest release=trixie lock=docker/images/lock
    if [ -n "${LIVE_KEEPS:-}" ] && docker image inspect "$kept" >/dev/null 2>&1; then
        docker tag "$kept" "$1"
        return
    fi
    # shellcheck source=/dev/null
    . <(sed -n '/^debian_sources()/,/^}/p' docker/images/build)
    debian_sources | mmdebstrap --quiet --mode=root --variant=minbase --include=python3,nodejs --aptopt='APT::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt=force-unsafe-io --hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr "$release" - - 2>"$work/bootstrap.log" |
        docker import --change 'CMD ["/bin/sh"]' - "$1" >/dev/null || { cat "$work/bootstrap.log"; return 1; }
    [ -z "${LIVE_KEEPS:-}" ] || docker tag "$1" "$kept"
}
