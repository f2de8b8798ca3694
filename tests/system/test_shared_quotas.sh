#!/bin/bash
# SPDX-License-Identifier: MIT
# Quotas of principals over three replicas with one PostgreSQL database: sessions, runs, waiting
# executions and processor time are counted once, whichever replica is asked, and a replica that is
# killed keeps no places for ever.
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
for name in ann bob dan eve fay few ops; do
    "$codebox" token create --state "$work/state-a" --principal "$name" 2>/dev/null >"$work/$name.token"
done
cat >"$work/codebox.yaml" <<'X'
principals:
  - {name: ann, sessions: 4}
  - {name: bob, sessions: 2}
  - {name: dan, requests-per-minute: 60}
  - {name: eve, cpu-seconds-per-hour: 2}
  - {name: fay, requests-per-minute: 60}
  - {name: few, runs: 1, runs-waiting: 2}
  - {name: ops, rights: [admin]}
X
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
start_replica() { # NAME
    "$codebox" serve --config "$work/codebox.yaml" --state "$work/state-$1" --listen "127.0.0.1:$(cat "$work/$1.http")" --pool-min 1 --store "$url" \
        --instance-secret "$work/secret" --replica "$1" "${peers[@]}" --peer-listen "127.0.0.1:$(cat "$work/$1.port")" \
        --peer-certificate "$work/$1.pem" --peer-key "$work/$1.key" --peer-ca "$work/ca.pem" 2>>"$work/$1.log" &
    echo $! >"$work/$1.pid"
    echo $! >>"$work/servers"
    disown # the shell reports no kill
    answers() { curl -sf "http://127.0.0.1:$(cat "$work/$1.http")/livez"; }
    wait_until answers "$1" || { cat "$work/$1.log"; exit 1; }
}
kill_replica() {
    local pid
    pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0
    kill -KILL "$pid" $(children_of "$pid") 2>/dev/null || true
}
end_replica() {
    kill -TERM "$(cat "$work/$1.pid")" 2>/dev/null || true
    gone() { [ -z "$(children_of "$1")" ] && ! grep -qs codebox "/proc/$1/comm"; }
    wait_until gone "$(cat "$work/$1.pid")" || kill_replica "$1"
}
trap '[ ! -d "$work" ] || for name in a b c; do kill_replica $name; done; stop_pg 2>/dev/null || true; rm -rf "$work"' EXIT
for name in a b c; do start_replica $name; done

at() { # PRINCIPAL REPLICA METHOD PATH [BODY]: prints the body, and keeps the status as `as` does
    base=http://127.0.0.1:$(cat "$work/$2.http")
    as "$(cat "$work/$1.token")" "${@:3}"
}
open_at() { at "$1" "$2" POST /v1/sessions '{}' | jq -er .session_id; } # PRINCIPAL REPLICA
refused_at() { # PRINCIPAL REPLICA NUMBER
    gives_status 429 "may have $3 sessions at the same time, on all replicas together" at "$1" "$2" POST /v1/sessions '{}'
    grep -qi '^retry-after: 10' "$work/headers"
}
close_at() { gives_status 200 '' at "$1" "$2" DELETE "/v1/sessions/$3"; } # PRINCIPAL REPLICA SESSION
close_all() { local id; for id in $(at "$1" "$2" GET /v1/sessions | jq -r '.sessions[].session_id'); do close_at "$1" "$2" "$id"; done; }
holder_of() { sql "SELECT replica FROM sessions WHERE id='$1'"; }
all_live() { [ "$(sql 'SELECT count(*) FROM presence WHERE seen > (SELECT now_ms FROM clock) - 3000')" = 3 ]; }
wait_until all_live

# --- sessions
counted() {
    open_at ann a >"$work/first"
    open_at ann b
    open_at ann c
    open_at ann a
    local name
    for name in a b c; do refused_at ann $name 4; done
    open_at bob c
    open_at bob b
    for name in a b c; do refused_at bob $name 2; done
}
ok 'sessions of a principal are counted over all replicas' counted
frees() {
    close_at ann b "$(cat "$work/first")" # a has it
    open_at ann c
    refused_at ann b 4
}
ok '  and a closed one frees its place at once, at every replica' frees
at_once() {
    local i pids=() name
    close_all ann b
    for i in $(seq 20); do
        name=$(cut -c$((i % 3 + 1)) <<<abc)
        curl -sS -o "$work/body-$i" -w '%{http_code}\n' -X POST -H "Authorization: Bearer $(cat "$work/ann.token")" -H 'Content-Type: application/json' -d '{}' \
            "http://127.0.0.1:$(cat "$work/$name.http")/v1/sessions" >"$work/code-$i" &
        pids+=($!)
    done
    wait "${pids[@]}"
    cat "$work"/code-* | sort | uniq -c
    [ "$(cat "$work"/code-* | grep -c '^20[01]$')" = 4 ]
    [ "$(cat "$work"/code-* | grep -c '^429$')" = 16 ]
    [ "$(sql "SELECT count(*) FROM sessions WHERE principal='ann'")" = 4 ]
    [ "$(sql 'SELECT count(*) FROM openings')" = 0 ]
}
ok '  of 20 that are asked for at the same time, as many are opened as may be' at_once

# --- runs
begin_at() { at few "$1" POST /v1/executions "$(jq -n --arg c "$2" '{code: $c, async: true}')" | jq -er .execution_id; } # REPLICA CODE
is_done() { at few "$1" GET "/v1/executions/$2" | expect '.status == "completed"'; }
nap='import time
a = time.time(); time.sleep(1); print(a, time.time())'
one_by_one() {
    local name
    begin_at a "$nap" >"$work/run-a"
    runs() { [ "$(sql "SELECT count(*) FROM executions WHERE principal='few' AND begun=1 AND status='running'")" = 1 ]; }
    wait_until runs
    begin_at b "$nap" >"$work/run-b"
    begin_at c "$nap" >"$work/run-c"
    gives_status 429 'wait on all replicas together' at few a POST /v1/executions '{"code": "1", "async": true}'
    at few b GET "/v1/executions/$(cat "$work/run-b")" | expect '.status == "queued"'
    for name in a b c; do
        wait_until is_done $name "$(cat "$work/run-$name")"
        at few $name GET "/v1/executions/$(cat "$work/run-$name")" | jq -er '.output[0].text'
    done | grep . | sort >"$work/times"
    cat "$work/times"
    awk 'NR > 1 && $1 < ended { exit 1 } { ended = $2 } END { exit NR != 3 }' "$work/times"
}
ok 'runs of a principal with one at a time begin one after another, on three replicas' one_by_one

# --- processor time
spends() {
    at eve a POST /v1/executions '{"code": "import time\na = time.process_time()\nwhile time.process_time() < a + 2.5: pass"}' | expect '.status == "completed"'
    local name
    for name in b c a; do gives_status 429 'may use 2 seconds of processor time in an hour' at eve $name POST /v1/executions '{"code": "1"}'; done
    [ "$(sed -n 's/^retry-after: \([0-9]*\).*/\1/Ip' "$work/headers")" -gt 600 ]
}
ok 'processor time that was used at one replica is gone at the others' spends

# --- requests
shares() {
    local name i passed=0 began=$SECONDS
    for name in a b c; do
        for i in 1 2 3 4 5 6 7 8; do
            at dan $name GET /v1/policies >"$work/answer"
            [ "$(cat "$work/status")" = 429 ] || passed=$((passed + 1))
        done
        grep -q 'may make 60 requests in a minute, of which 20 at each of 3 replicas' "$work/answer"
    done
    echo "$passed passed"
    [ "$passed" -ge 9 ] # a sixth of each share
    [ "$passed" -le $((9 + 3 + SECONDS - began)) ] # and one in a second, of all together
}
ok 'a rate is divided among the replicas that live' shares
once() {
    local id i
    id=$(open_at fay a)
    for i in 1 2 3; do gives_status 200 '' at fay b GET "/v1/sessions/$id"; done
    for i in 1 2; do gives_status 200 '' at fay a GET "/v1/sessions/$id"; done
    close_at fay c "$id"
}
ok '  and a forwarded request counts at the replica that was asked' once

# --- a replica is killed
killed() {
    local id
    close_all ann b
    for name in a a b c; do open_at ann $name; done >"$work/sessions"
    id=$(head -n 1 "$work/sessions")
    kill_replica a
    refused_at ann b 4
    refused_at ann c 4
    taken() { [ "$(holder_of "$1")" != a ]; }
    still_refused() { refused_at ann b 4 && taken "$1"; }
    wait_until still_refused "$id"
    refused_at ann c 4
    ready() { at ann b GET "/v1/sessions/$1" | expect '.session_id'; }
    wait_until ready "$id"
    close_at ann b "$id"
    open_at ann c
    refused_at ann b 4
}
ok 'sessions of a killed replica count until another one has them, and once then' killed
wider() {
    divided() { at ops b GET /metrics | grep -q '^codebox_quota_replicas 2$'; }
    wait_until divided
}
ok '  and rates are divided among two' wider

# --- the database is away
away() {
    close_all bob b
    stop_pg
    gives_status 503 '' at bob b POST /v1/sessions '{}'
    gives_status 503 '' at eve c POST /v1/executions '{"code": "1"}'
    start_pg
    local name
    for name in b c; do wait_until open_at bob $name; done # each connects again by itself
    refused_at bob b 2
}
ok 'without the database nothing gets a place' away
ends() {
    close_all ann c
    close_all bob c
    [ "$(sql 'SELECT count(*) FROM sessions')" = 0 ]
    stray() { [ "$(sql "SELECT count(*) FROM openings WHERE replica<>'a'")" = 0 ]; }
    wait_until stray
}
ok 'at the end no place is left' ends
for name in b c; do end_replica $name; done
server=
finish
