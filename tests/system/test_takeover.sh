#!/bin/bash
# SPDX-License-Identifier: MIT
# Takeover: three replicas with one PostgreSQL database and one engine. What a dead replica had is
# served by another one, each run has one outcome, and the old owner, restarted or stopped and
# continued, changes nothing of it.
. "$(dirname "$0")/lib.sh"
chmod 711 "$work"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [ "$(id -u)" != 0 ] || [ ! -x "$bin/initdb" ]; then
    echo '  -     skipped: PostgreSQL (Debian postgresql) or root is missing'
    exit 0
fi
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# --- a server on this machine, as the user postgres
pg=$work/pg
port=$(free_port)
as_postgres() { (cd / && setpriv --reuid postgres --regid postgres --clear-groups -- "$@"); }
install -d -m 700 -o postgres -g postgres "$pg"
as_postgres "$bin/initdb" -D "$pg/data" -U codebox -A trust -E UTF8 --locale=C -N >/dev/null
as_postgres tee -a "$pg/data/postgresql.conf" >/dev/null <<X
listen_addresses = 'localhost'
port = $port
unix_socket_directories = '$pg'
fsync = off
X
start_pg() { as_postgres "$bin/pg_ctl" -D "$pg/data" -w -l "$pg/log" start >/dev/null; }
stop_pg() { as_postgres "$bin/pg_ctl" -D "$pg/data" -m immediate stop >/dev/null; }
sql() { "$bin/psql" -h localhost -p "$port" -U codebox -At -d codebox -c "$1"; }
start_pg
"$bin/createdb" -h localhost -p "$port" -U codebox codebox
url="postgres://codebox@localhost:$port/codebox?sslmode=disable"

# --- three replicas
openssl ecparam -name prime256v1 -genkey -noout -out "$work/ca.key" 2>/dev/null
openssl req -x509 -new -key "$work/ca.key" -subj '/CN=ca' -days 30 -out "$work/ca.pem" 2>/dev/null
certify() { # NAME
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$1.key" 2>/dev/null
    chmod 600 "$work/$1.key"
    openssl req -new -key "$work/$1.key" -subj "/CN=$1" 2>/dev/null | openssl x509 -req -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 30 \
        -extfile <(printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$1") -out "$work/$1.pem" 2>/dev/null
}
token=$("$codebox" token create --state "$work/state-a" --principal ann 2>/dev/null)
for name in b c; do
    install -d -m 700 "$work/state-$name"
    cp -p "$work/state-a/tokens.jsonl" "$work/state-$name/"
done
peers=()
for name in a b c; do
    certify $name
    free_port >"$work/$name.port"
    free_port >"$work/$name.http"
    peers+=(--peer "$name=127.0.0.1:$(cat "$work/$name.port")")
done
(umask 077; openssl rand 48 >"$work/secret")
printf 'version: 1\nname: p\nextends: [default]\n' >"$work/policy.yaml"
start_replica() { # NAME
    "$codebox" serve --state "$work/state-$1" --listen "127.0.0.1:$(cat "$work/$1.http")" --pool-min 1 --policy "$work/policy.yaml" --store "$url" --instance-secret "$work/secret" \
        --replica "$1" "${peers[@]}" --peer-listen "127.0.0.1:$(cat "$work/$1.port")" \
        --peer-certificate "$work/$1.pem" --peer-key "$work/$1.key" --peer-ca "$work/ca.pem" 2>>"$work/$1.log" &
    echo $! >"$work/$1.pid"
    echo $! >>"$work/servers"
    answers() { curl -sf "http://127.0.0.1:$(cat "$work/$1.http")/livez"; }
    wait_until answers "$1" || { cat "$work/$1.log"; exit 1; }
}
processes_of() { local pid; pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0; echo "$pid" $(children_of "$pid"); }
signal_replica() { kill "-$2" $(processes_of "$1") 2>/dev/null || true; }
end_replica() {
    local pid
    pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0
    kill -CONT $(processes_of "$1") 2>/dev/null || true
    kill -TERM "$pid" 2>/dev/null || true
    gone() { [ -z "$(children_of "$1")" ] && ! grep -qs codebox "/proc/$1/comm"; }
    wait_until gone "$pid" || kill -KILL $(processes_of "$1") 2>/dev/null || true
}
trap '[ ! -d "$work" ] || for name in a b c; do signal_replica $name KILL; done; stop_pg 2>/dev/null || true; rm -rf "$work"' EXIT

at() { base=http://127.0.0.1:$(cat "$work/$1.http"); as "$token" "${@:2}"; } # REPLICA METHOD PATH [BODY]
run_at() { # REPLICA SESSION CODE
    at "$1" POST /v1/executions "$(jq -n --arg s "$2" --arg c "$3" '{session_id: $s, code: $c}')"
}
begin_at() { # REPLICA SESSION CODE: prints the id of an execution that runs by itself
    at "$1" POST /v1/executions "$(jq -n --arg s "$2" --arg c "$3" '{code: $c, async: true} + if $s == "" then {} else {session_id: $s} end')" | jq -er .execution_id
}
open_at() { at "$1" POST /v1/sessions '{}' | jq -er .session_id; }
is_running() { at "$1" GET "/v1/executions/$2" | expect '.status == "running"'; }
gave() { at "$1" GET "/v1/executions/$2" | expect ".output[0].text == \"$3\\n\""; } # REPLICA EXECUTION TEXT
gives_42() { run_at "$1" "$2" 'x + 1' | expect '.output[0].data["text/plain"] == "42"'; }
holder_of() { sql "SELECT replica FROM sessions WHERE id='$1'"; }
taken() { [ -n "$(holder_of "$1")" ] && [ "$(holder_of "$1")" != "$2" ]; } # SESSION REPLICA
records_of() { cat "$work/state-$1/audit.jsonl"; }
outcomes_of() { cat "$work"/state-*/audit.jsonl | jq -r --arg d "$1" 'select(.type == "outcome" and .body.decision == $d) | .body.decision'; } # DECISION
decision_of() { sql "SELECT decision FROM executions WHERE id='$1'"; }
takeovers_from() { cat "$work"/state-*/audit.jsonl | jq -r --arg r "$1" 'select(.type == "takeover" and .body.replica == $r) | .body.epoch'; }

# --- what is refused
refuses() { gives 2 "$1" "$codebox" serve --state "$work/none" --listen 127.0.0.1:0 "${@:2}"; }
ok 'a secret without a name of this replica is refused' refuses 'not --replica NAME' --store "$url" --instance-secret "$work/secret"
ok '  and without a shared database' refuses 'not --store URL' --replica a --instance-secret "$work/secret"
short() { (umask 077; printf short >"$work/short"); refuses 'has 5 bytes, allowed are 32 and more' --store "$url" --replica a --instance-secret "$work/short"; }
ok '  and one that is too short' short
readable() { cp "$work/secret" "$work/readable"; chmod 644 "$work/readable"; refuses 'every user can use the secret' --store "$url" --replica a --instance-secret "$work/readable"; }
ok '  and one that others can read' readable
checks() { printf 'instance-secret: %s\n' "$work/secret" >"$work/x.yaml"; gives 1 'x.yaml:1:1: ' "$codebox" config check --config "$work/x.yaml"; grep -q 'not --replica NAME' "$work/out.txt"; }
ok 'config check finds the same, with its place' checks

# --- a replica is killed
for name in a b c; do start_replica $name; done
# The seeds that replicas derive from the secret, and the secret, in hexadecimal digits.
seeds_of() {
    python3 -c 'import hashlib, hmac, sys
secret = open(sys.argv[1], "rb").read()
for message in ("instance a", "instance b", "vouchers "): print(hmac.new(secret, ("codebox " + message).encode(), hashlib.sha256).hexdigest())' "$work/secret"
}
holders_of() { # HEX: the processes of a that have it in memory
    sed 's/const \[master, ...values\].*/const [master, ...hex] = process.argv.slice(2), values = hex.map((h) => Buffer.from(h, "hex").toString("latin1"));/' tests/system/values_in_memory.mjs >"$work/memory.mjs"
    node "$work/memory.mjs" "$(cat "$work/a.pid")" "$1" | awk '$2 > 0 { print $1 }' | sort -u | xargs
}
kept() {
    local seed
    for seed in $(seeds_of); do [ "$(holders_of "$seed")" = 'cbx-executor codebox' ] || { holders_of "$seed"; return 1; }; done
    [ "$(holders_of "$(od -An -v -tx1 "$work/secret" | tr -d ' \n')")" = '' ]
}
ok 'no process but the executor, and the master, has seeds of replicas, and none the secret' kept
reloaded() {
    printf 'version: 1\nname: p\nextends: [default]\ndescription: changed\n' >"$work/policy.yaml"
    local name
    done_there() { grep -q 'reload: done' "$work/$1.log"; }
    for name in a b c; do # sessions go on under the policy that they were opened with
        kill -HUP "$(cat "$work/$name.pid")"
        wait_until done_there $name
    done
    kept
}
ok '  also after a reload' reloaded
uses() {
    open_at a >"$work/session"
    run_at b "$(cat "$work/session")" 'x = 41' | expect '.status == "completed"'
    gives_42 a "$(cat "$work/session")"
}
ok 'a session is used' uses
# An Idempotency-Key that chooses a, and its session.
keyed() {
    local i id
    for i in $(seq 40); do
        id=$(key=key-$i at b POST /v1/sessions '{}' | jq -er .session_id)
        if [ "$(holder_of "$id")" = a ]; then
            echo "key-$i" >"$work/key"
            echo "$id" >"$work/keyed"
            return
        fi
        at b DELETE "/v1/sessions/$id" | expect .
    done
    return 1
}
ok 'a session is opened with an Idempotency-Key' keyed
repeats() { [ "$(key=$(cat "$work/key") at "$1" POST /v1/sessions '{}' | jq -er .session_id)" = "$(cat "$work/keyed")" ]; }
is_steady() { # a survivor takes nothing over before it has given signs of life for 8 s
    [ "$(sql "SELECT count(*) FROM replicas WHERE alive=1 AND seen > (SELECT now_ms FROM clock) - 3000")" = 3 ]
}
wait_until is_steady
answers_after_kill() {
    local session
    session=$(cat "$work/session")
    open_at a >"$work/busy"
    begin_at a "$(cat "$work/busy")" 'import time
time.sleep(4)
print("in a session")' >"$work/run"
    begin_at a '' 'import time
time.sleep(14)
print("one shot")' >"$work/shot"
    wait_until is_running a "$(cat "$work/run")"
    wait_until is_running a "$(cat "$work/shot")"
    decision_of "$(cat "$work/run")" >"$work/run.decision"
    decision_of "$(cat "$work/shot")" >"$work/shot.decision"
    signal_replica a KILL
    wait_until taken "$session" a
    wait_until gives_42 b "$session"
    wait_until gives_42 c "$session"
}
ok 'after it is killed, its session answers at the others, with its state' answers_after_kill
results() {
    wait_until gave b "$(cat "$work/run")" 'in a session'
    wait_until gave c "$(cat "$work/shot")" 'one shot'
}
ok '  and what ran has its result there' results
one_takeover() { [ "$(takeovers_from a | wc -l)" = 1 ]; }
ok '  one of the two survivors took over, which its log says' one_takeover
one_outcome() {
    local name
    for name in run shot; do
        has_one() { [ "$(outcomes_of "$(cat "$work/$1.decision")" | wc -l)" = 1 ]; }
        wait_until has_one $name || { outcomes_of "$(cat "$work/$name.decision")"; return 1; }
    done
}
ok '  and each run has one outcome' one_outcome
repeated() { repeats b; repeats c; }
ok '  and the key has no second effect' repeated
listed() { [ "$(at c GET /v1/sessions | jq --arg s "$(cat "$work/session")" '[.sessions[] | select(.session_id == $s)] | length')" = 1 ]; }
ok '  and a list has the session once' listed

# --- the old owner is started again
start_replica a
returned() {
    local session container
    session=$(cat "$work/session")
    container=$(at b GET "/v1/sessions/$session" | jq -er .container)
    wait_until gives_42 a "$session"
    [ "$(at a GET "/v1/sessions/$session" | jq -er .container)" = "$container" ]
    gave a "$(cat "$work/run")" 'in a session'
    [ "$(open_at a | cut -c1-8 | wc -c)" -gt 1 ]
}
ok 'the old owner forwards what it lost' returned
serves() { local session; session=$(open_at a); run_at a "$session" 'y = 1' | expect '.status == "completed"'; [ "$(holder_of "$session")" = a ]; at a DELETE "/v1/sessions/$session" | expect .; }
ok '  and serves new sessions' serves
gave_up() {
    records_of a | jq -se 'any(.type == "released" and .body.runs >= 2)'
    [ "$(takeovers_from a | wc -l)" = 1 ]
    one_outcome
}
ok '  and its log says what it gave up' gave_up

again_repeated() { repeats a; repeats b; at c DELETE "/v1/sessions/$(cat "$work/keyed")" | expect .; }
ok '  and the key still has its one effect' again_repeated

# --- a replica is stopped, and continued
stopped() {
    open_at a >"$work/session"
    run_at a "$(cat "$work/session")" 'x = 41' | expect '.status == "completed"'
    begin_at a "$(cat "$work/session")" 'import time
time.sleep(3)
print("while it was stopped")' >"$work/run"
    wait_until is_running a "$(cat "$work/run")"
    decision_of "$(cat "$work/run")" >"$work/run.decision"
    signal_replica a STOP
    wait_until taken "$(cat "$work/session")" a
    wait_until gave b "$(cat "$work/run")" 'while it was stopped'
    wait_until gives_42 c "$(cat "$work/session")"
    signal_replica a CONT
}
ok 'a replica that is stopped is taken over' stopped
continued() {
    begins_anew() { grep -q 'another replica has taken over what this one had' "$work/a.log"; }
    wait_until begins_anew
    wait_until gives_42 a "$(cat "$work/session")"
    wait_until gives_42 b "$(cat "$work/session")"
    local name=run
    has_one() { [ "$(outcomes_of "$(cat "$work/$1.decision")" | wc -l)" = 1 ]; }
    wait_until has_one run
    serves
}
ok '  and, continued, uses and ends nothing of it, and begins anew' continued
[ "$(takeovers_from a | wc -l)" = 2 ] || echo "  takeovers from a: $(takeovers_from a | xargs)"

# --- a replica does not reach the database
cut_off() {
    local session pid
    session=$(open_at a)
    run_at a "$session" 'x = 41' | expect '.status == "completed"'
    begin_at a "$session" 'import time
time.sleep(12)
print("cut off")' >"$work/run"
    wait_until is_running a "$(cat "$work/run")"
    decision_of "$(cat "$work/run")" >"$work/run.decision"
    pid=$(pgrep -P "$(cat "$work/a.pid")" -x cbx-database)
    kill -STOP "$pid"
    wait_until taken "$session" a
    gives_status 503 '' at a POST /v1/executions '{"code": "print(1)"}'
    wait_until gave b "$(cat "$work/run")" 'cut off' # its link to a closed meanwhile
    wait_until gives_42 b "$session"
    kill -CONT "$pid"
    wait_until gives_42 a "$session"
    wait_until serves
    has_one() { [ "$(outcomes_of "$(cat "$work/$1.decision")" | wc -l)" = 1 ]; }
    wait_until has_one run
    at b DELETE "/v1/sessions/$session" | expect .
}
ok 'a replica that is cut off from the database begins nothing, and is taken over' cut_off

# --- the survivor is killed too
again() {
    local session holder other
    session=$(cat "$work/session")
    holder=$(holder_of "$session")
    other=$([ "$holder" = b ] && echo c || echo b)
    signal_replica "$holder" KILL
    wait_until taken "$session" "$holder"
    wait_until gives_42 "$other" "$session"
    start_replica "$holder"
    wait_until gives_42 "$holder" "$session"
}
ok 'what was taken over is taken over once more' again

# --- the database is away for longer than a replica may be silent
away() {
    local before
    before=$(sql 'SELECT count(*) FROM takeovers')
    stop_pg
    refuses_runs() { gives_status 503 '' at "$1" POST /v1/executions '{"code": "print(1)"}'; }
    wait_until refuses_runs b
    sleep_until_dead() { [ $(($(date +%s) - $1)) -ge 9 ]; }
    wait_until sleep_until_dead "$(date +%s)"
    start_pg
    works() { at "$1" POST /v1/executions '{"code": "print(2)"}' | expect '.output[0].text == "2\n"'; }
    for name in a b c; do wait_until works $name; done
    wait_until gives_42 b "$(cat "$work/session")"
    [ "$(sql 'SELECT count(*) FROM takeovers')" = "$before" ]
}
ok 'a database that was away makes no replica take another one over' away

# --- logs
closes() { local id; for id in $(at c GET /v1/sessions | jq -r '.sessions[].session_id'); do at c DELETE "/v1/sessions/$id" | expect .; done; }
ok 'every session is closed through one of them' closes
for name in a b c; do end_replica $name; done
wait
whole() {
    local name
    for name in a b c; do state=$work/state-$name audit_is_whole; done
    "$codebox" audit verify --all "$work/state-a" "$work/state-b" "$work/state-c"
}
ok 'each log is whole, and each decision has one outcome in all of them' whole
says() {
    local name
    for name in a b c; do "$codebox" audit tail --state "$work/state-$name" --lines 1000; done >"$work/tail"
    grep -q 'takeover .*from replica a, epoch 2: 3 sessions, 2 runs' "$work/tail"
    grep -q 'released .*to replica [bc], epoch 2: the outcomes of 2 runs are in its log' "$work/tail"
    for name in ecs ocsf cef; do "$codebox" audit export --format $name --state "$work/state-a"; done | grep -c 'Runs left to another replica'
}
ok 'and a person reads who took over from whom' says
misses() { gives 1 'has no outcome in any of these logs' "$codebox" audit verify --all "$work/state-a"; }
ok 'verify --all of the old owner alone misses the outcomes that others have' misses
doubles() { gives 1 'has 2 outcomes, allowed is one' "$codebox" audit verify --all "$work/state-a" "$work/state-b" "$work/state-c" "$work/state-c"; }
ok '  and finds a decision with two' doubles
server=
finish
