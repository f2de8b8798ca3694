#!/bin/bash
# SPDX-License-Identifier: MIT
# The store in a PostgreSQL database: how it is configured, what is refused, and what happens while
# the server or the process of the database is away.
. "$(dirname "$0")/lib.sh"
chmod 711 "$work"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [ "$(id -u)" != 0 ] || [ ! -x "$bin/initdb" ]; then
    echo '  -     skipped: PostgreSQL (Debian postgresql) or root is missing'
    exit 0
fi
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# --- a server with TLS and a password, as the user postgres
pg=$work/pg
port=$(free_port)
as_postgres() { (cd / && setpriv --reuid postgres --regid postgres --clear-groups -- "$@"); }
install -d -m 700 -o postgres -g postgres "$pg"
openssl ecparam -name prime256v1 -genkey -noout -out "$work/ca.key" 2>/dev/null
openssl req -x509 -new -key "$work/ca.key" -subj '/CN=ca' -days 30 -out "$work/ca.pem" 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out "$pg/server.key" 2>/dev/null
openssl req -new -key "$pg/server.key" -subj '/CN=localhost' 2>/dev/null | openssl x509 -req -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
    -days 30 -extfile <(echo 'subjectAltName=DNS:localhost') -out "$pg/server.pem" 2>/dev/null
chown postgres:postgres "$pg"/server.*
chmod 600 "$pg/server.key"
printf 'first pass/word%%\n' >"$work/password"
chmod 600 "$work/password"
install -m 600 -o postgres -g postgres "$work/password" "$pg/password"
as_postgres "$bin/initdb" -D "$pg/data" -U codebox -A scram-sha-256 --pwfile="$pg/password" -E UTF8 --locale=C -N >/dev/null
as_postgres tee -a "$pg/data/postgresql.conf" >/dev/null <<X
listen_addresses = 'localhost'
port = $port
unix_socket_directories = '$pg'
ssl = on
ssl_cert_file = '$pg/server.pem'
ssl_key_file = '$pg/server.key'
fsync = off
X
start_pg() { as_postgres "$bin/pg_ctl" -D "$pg/data" -w -l "$pg/log" start >/dev/null; }
stop_pg() { as_postgres "$bin/pg_ctl" -D "$pg/data" -m immediate stop >/dev/null; }
sql() { PGPASSWORD=$(cat "$work/password") "$bin/psql" -h localhost -p "$port" -U codebox -At -d codebox -c "$1"; }
trap 'stop_pg 2>/dev/null || true; stop_server; rm -rf "$work"' EXIT
start_pg
PGPASSWORD=$(cat "$work/password") "$bin/createdb" -h localhost -p "$port" -U codebox codebox
url=postgres://codebox@localhost:$port/codebox

# --- what is refused at the start
refuses() { # TEXT OPTIONS ...
    gives 2 "$1" "$codebox" serve --state "$work/none" --listen 127.0.0.1:0 "${@:2}"
}
ok 'a URL that is none is refused' refuses 'no URL of PostgreSQL' --store mysql://h/d
ok '  and one without a host' refuses 'names no host' --store postgres:///codebox
ok '  and a Unix socket' refuses 'names a Unix socket' --store 'postgres:///codebox?host=/run/postgresql'
ok '  and a parameter that names a file' refuses "'sslrootcert', which is not allowed" --store "$url?sslrootcert=/etc/passwd"
ok '  and a server on the network without its authorities' refuses "give --store-ca FILE" --store postgres://codebox@db.example.com/codebox
ok '  and a password twice' refuses 'and --store-password too' --store postgres://codebox:x@localhost/codebox --store-password "$work/password"
ok '  and a password without a database' refuses 'not --store URL' --store-password "$work/password"
readable() { cp "$work/password" "$work/readable"; chmod 644 "$work/readable"; refuses 'every user can use the password' --store "$url" --store-password "$work/readable"; }
ok '  and a password that others can read' readable
checks() { printf 'store: postgres:///x\n' >"$work/x.yaml"; gives 1 'x.yaml:1:1: ' "$codebox" config check --config "$work/x.yaml"; grep -q 'names no host' "$work/out.txt"; }
ok 'config check finds the same, with its place' checks
reaches() {
    printf '%s\n' "store: $url" "store-password: $work/password" "store-ca: $work/ca.pem" >"$work/x.yaml"
    gives 0 '' "$codebox" config check --config "$work/x.yaml"
    lacks 'database' <"$work/out.txt"
    echo wrong >"$work/wrong"
    chmod 600 "$work/wrong"
    sed -i "s|store-password:.*|store-password: $work/wrong|" "$work/x.yaml"
    gives 0 'password authentication failed' "$codebox" config check --config "$work/x.yaml"
    lacks 'wrong$' <"$work/out.txt"
}
ok '  and warns about a server that it cannot use' reaches

# --- a gateway
serve() { start_server --pool-min 1 --store "$url" --store-password "$work/password" --store-ca "$work/ca.pem" "$@"; }
serve
run() { call POST /v1/executions "$(jq -n --arg c "$1" '{code: $c}')"; }
call() { curl -sS -X "$1" ${3:+-H 'Content-Type: application/json' --data-binary "$3"} "$base$2"; }
has_status() { [ "$(status_of "$base$1")" = "$2" ]; }
executions() {
    run 'print("h\u00e9 \"1\"")' >"$work/answer"
    expect '.output[0].text == "h\u00e9 \"1\"\n"' <"$work/answer"
    id=$(jq -r .execution_id "$work/answer")
    echo "$id" >"$work/id"
    call GET "/v1/executions/$id" | expect '.output[0].text == "h\u00e9 \"1\"\n"'
    [ "$(sql "SELECT status FROM executions WHERE id='$id'")" = completed ]
    [ ! -e "$work/state/front/codebox.db" ]
}
ok 'an execution is stored in the database, and in no file' executions
opens() {
    call POST /v1/sessions '{}' | jq -er .session_id >"$work/session"
    in_session 'n = 41' | expect '.status == "completed"'
}
in_session() { call POST /v1/executions "$(jq -n --arg s "$(cat "$work/session")" --arg c "$1" '{session_id: $s, code: $c}')"; }
ok 'a session is used' opens
stop_server
serve
survives() {
    in_session 'n + 1' | expect '.output[0].data["text/plain"] == "42"'
    call GET "/v1/executions/$(cat "$work/id")" | expect '.output[0].text == "h\u00e9 \"1\"\n"'
    call GET "/v1/sessions/$(cat "$work/session")/history" | expect '.executions | length == 2'
    call DELETE "/v1/sessions/$(cat "$work/session")" | expect .
}
ok '  and survives a restart, with all results' survives
holders() { # the processes that have the password in memory, as it is or encoded for a URL
    local password
    password=$(cat "$work/password")
    node tests/system/values_in_memory.mjs "$server" "$password" "$(printf %s "$password" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g' | tr a-f A-F)" |
        awk '$2 > 0 { print $1 }' | sort -u | xargs
}
known_by() { [ "$(holders)" = 'cbx-database codebox' ] || { holders; return 1; }; }
ok 'no process but that of the database, and the master, has the password' known_by
database_pid() { pgrep -P "$server" -x cbx-database; }
alone() {
    local pid name
    pid=$(database_pid)
    # Only sockets, the standard streams and the authorities, which are in memory.
    ! ls -l "/proc/$pid/fd" | sed -n 's/.* -> //p' | grep -vE '^(socket:|/dev/null|/memfd:authorities|pipe:|anon_inode:|'"$work"'/server.log)' || return 1
    [ "$(awk '/^CapEff/ { print $2 }' "/proc/$pid/status")" = 0000000000000000 ]
    [ "$(awk '/^Seccomp:/ { print $2 }' "/proc/$pid/status")" = 2 ]
    for name in front executor zygote; do
        pid=$(pgrep -P "$server" -x "cbx-$name")
        ! ss -tnp | grep ":$port " | grep -q "pid=$pid," || { echo "$name has a connection to the database"; return 1; }
    done
}
ok 'the process of the database has no file and no right, and no other process a connection' alone
killed() {
    local pid
    pid=$(database_pid)
    kill -KILL "$pid"
    another() { [ -n "$(database_pid)" ] && [ "$(database_pid)" != "$pid" ]; }
    wait_until another
    works() { run 'print(2)' | expect '.output[0].text == "2\n"'; }
    wait_until works
}
ok 'a process of the database that is killed is started again' killed
rotated() {
    local pid
    pid=$(database_pid)
    sql "ALTER USER codebox PASSWORD 'second'" >/dev/null
    echo second >"$work/password"
    kill -HUP "$server"
    wait_until logged 'reload: done'
    renewed() { [ -n "$(database_pid)" ] && [ "$(database_pid)" != "$pid" ]; }
    wait_until renewed
    run 'print(3)' | expect '.output[0].text == "3\n"'
    stop_pg
    start_pg
    wait_until works
}
logged() { grep -q "$1" "$work/server.log"; }
works() { run 'print(2)' | expect '.output[0].text == "2\n"'; }
ok 'a new password is loaded by SIGHUP' rotated

# --- while the server is away
away() {
    local id
    call POST /v1/executions '{"code": "import time\ntime.sleep(3)\nprint(\"late\")", "async": true}' >"$work/answer"
    id=$(jq -er .execution_id "$work/answer")
    running() { call GET "/v1/executions/$id" | expect '.status == "running"'; }
    wait_until running
    stop_pg
    not_ready() { has_status /readyz 503; }
    wait_until not_ready
    gives_status 503 'the shared database' as '' POST /v1/executions '{"code": "print(4)"}'
    has_status /livez 200
    waits() { logged 'its results wait in the sandbox'; }
    wait_until waits
    start_pg
    ready() { has_status /readyz 200; }
    wait_until ready
    ended() { call GET "/v1/executions/$id" | expect '.output[0].text == "late\n"'; }
    wait_until ended
    works
}
ok 'while the server is away nothing new runs, and what ran is stored when it is back' away
leaves() {
    call POST /v1/executions '{"code": "import time\ntime.sleep(2)\nprint(\"kept\")", "async": true}' | jq -er .execution_id >"$work/id"
    running() { call GET "/v1/executions/$(cat "$work/id")" | expect '.status == "running"'; }
    wait_until running
    stop_pg
    waits() { [ "$(grep -c 'its results wait in the sandbox' "$work/server.log")" -ge 2 ]; }
    wait_until waits
    kill -KILL "$server" $(children_of "$server")
}
ok '  and a gateway that is killed meanwhile' leaves
wait "$server" 2>/dev/null || true
start_pg
serve
found() {
    ended() { call GET "/v1/executions/$(cat "$work/id")" | expect '.output[0].text == "kept\n"'; }
    wait_until ended
}
ok '    leaves its results to the next one' found
stopped() { # SIGSTOP of every process of the server: connections stay open and silent
    local pids
    pids=$(pgrep -u postgres)
    kill -STOP $pids
    gives_status 503 'the shared database' as '' POST /v1/executions '{"code": "print(5)"}'
    kill -CONT $pids
    wait_until works
}
ok 'a server that is silent is given up, and used again' stopped
stranger() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/other.key" 2>/dev/null
    openssl req -x509 -new -key "$work/other.key" -subj '/CN=other' -days 30 -out "$work/other.pem" 2>/dev/null
    "$codebox" serve --state "$work/state-2" --listen 127.0.0.1:0 --store "$url" --store-password "$work/password" --store-ca "$work/other.pem" 2>"$work/other.log" &
    local pid=$!
    says() { grep -q 'certificate verify failed' "$work/other.log"; }
    wait_until says
    kill -KILL $pid $(children_of $pid) 2>/dev/null || true
    ! grep -q second "$work/other.log" "$work/server.log"
}
ok 'a server that other authorities certify is not used, and no log has the password' stranger
twin() {
    "$codebox" serve --state "$work/state-3" --listen 127.0.0.1:0 --store "$url" --store-password "$work/password" --store-ca "$work/ca.pem" 2>"$work/twin.log" &
    local pid=$!
    says() { grep -q 'another gateway' "$work/twin.log"; }
    wait_until says
    kill -KILL $pid $(children_of $pid) 2>/dev/null || true
}
ok 'a second gateway of the same name does not use the database' twin
stop_server

# --- two replicas with one database
certify() { # NAME
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$1.key" 2>/dev/null
    chmod 600 "$work/$1.key"
    openssl req -new -key "$work/$1.key" -subj "/CN=$1" 2>/dev/null | openssl x509 -req -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 30 \
        -extfile <(printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$1") -out "$work/$1.pem" 2>/dev/null
}
token=$("$codebox" token create --state "$work/state-a" --principal ann 2>/dev/null)
install -d -m 700 "$work/state-b"
cp -p "$work/state-a/tokens.jsonl" "$work/state-b/"
for name in a b; do certify $name; free_port >"$work/$name.port"; done
start_replica() { # NAME
    "$codebox" serve --state "$work/state-$1" --listen 127.0.0.1:0 --pool-min 1 --store "$url" --store-password "$work/password" --store-ca "$work/ca.pem" \
        --replica "$1" --peer "a=127.0.0.1:$(cat "$work/a.port")" --peer "b=127.0.0.1:$(cat "$work/b.port")" --peer-listen "127.0.0.1:$(cat "$work/$1.port")" \
        --peer-certificate "$work/$1.pem" --peer-key "$work/$1.key" --peer-ca "$work/ca.pem" 2>"$work/$1.log" &
    echo $! >"$work/$1.pid"
    echo $! >>"$work/servers"
    wait_until grep -q 'serving on' "$work/$1.log" || { cat "$work/$1.log"; exit 1; }
    sed -n 's/.*serving on \(http:[^,]*\),.*/\1/p' "$work/$1.log" >"$work/$1.url"
}
kill_replica() { local pid; pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0; kill -KILL "$pid" $(children_of "$pid") 2>/dev/null || true; }
trap 'stop_pg 2>/dev/null || true; kill_replica a; kill_replica b; stop_server; rm -rf "$work"' EXIT
for name in a b; do start_replica $name; done
at() { base=$(cat "$work/$1.url"); as "$token" "${@:2}"; } # REPLICA METHOD PATH [BODY]
shared() {
    at a POST /v1/executions '{"code": "print(\"of a\")"}' | jq -er .execution_id >"$work/id"
    at b GET "/v1/executions/$(cat "$work/id")" | expect '.output[0].text == "of a\n"'
    [ "$(sql "SELECT count(DISTINCT replica) FROM executions WHERE replica IN ('a', '')")" = 2 ]
    at b GET '/v1/sessions' | expect '.sessions | length == 0'
}
ok 'replicas share the database, each with its own rows' shared
once() { # of ten requests at the same time, through both
    local i name pids=()
    for i in 1 2 3 4 5; do
        for name in a b; do
            (key=once at $name POST /v1/executions '{"code": "print(\"once\")"}' | jq -r '.execution_id // empty' >"$work/once-$name-$i") & # 409 while the first one runs
            pids+=($!)
        done
    done
    wait "${pids[@]}"
    [ "$(cat "$work"/once-* | sort -u | wc -l)" = 1 ]
    [ "$(sql "SELECT count(*) FROM executions WHERE code LIKE '%once%'")" = 1 ]
}
ok 'an Idempotency-Key has its effect once' once
survivor() {
    kill_replica a
    read_there() { at b GET "/v1/executions/$(cat "$work/id")" | expect '.output[0].text == "of a\n"'; }
    wait_until read_there
    at b GET "/execute/$(cat "$work/id")/results" | expect .
    base=$(cat "$work/b.url")
    gives_status 404 'no such execution' as "$("$codebox" token create --state "$work/state-b" --principal bob 2>/dev/null)" GET "/v1/executions/$(cat "$work/id")"
}
ok 'what a replica stored is read through another one while it is away, by its principal alone' survivor
kill_replica b
wait
server=
ok 'the audit log is whole' audit_is_whole
finish
