#!/bin/bash
# SPDX-License-Identifier: MIT
# Three replicas on one engine: what one of them made is used through each of them, and what happens
# when one is not there.
. "$(dirname "$0")/lib.sh"
chmod 700 "$work"
cd "$work"
key_of() { openssl ecparam -name prime256v1 -genkey -noout -out "$1" 2>/dev/null; chmod 600 "$1"; }
authority() { key_of "$1.key"; openssl req -x509 -new -key "$1.key" -subj "/CN=$1" -days 30 -out "$1.pem" 2>/dev/null; }
certificate() { # NAME AUTHORITY DNS [USAGE]
    key_of "$1.key"
    openssl req -new -key "$1.key" -subj "/CN=$3" 2>/dev/null | openssl x509 -req -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 30 \
        -extfile <(printf 'subjectAltName=DNS:%s\nextendedKeyUsage=%s\n' "$3" "${4:-serverAuth,clientAuth}") -out "$1.pem" 2>/dev/null
}
authority ca
authority stranger
for name in a b c; do certificate $name ca $name; done
certificate other ca other
certificate foreign stranger a
certificate server-only ca a serverAuth

# --- what is refused at the start
links() { # NAME CERTIFICATE: the options of a replica
    printf '%s\n' --replica "$1" --peer-certificate "$work/$2.pem" --peer-key "$work/$2.key" --peer-ca "$work/ca.pem"
}
refuses() { # TEXT OPTIONS ...
    gives 2 "$1" "$codebox" serve --state "$work/none" --listen 127.0.0.1:0 "${@:2}"
}
ok 'a replica without its certificate is refused' refuses '--peer-certificate is missing' --replica a --peer b=127.0.0.1:1 --peer-listen 127.0.0.1:0
ok '  and a certificate of another replica' refuses 'needs DNS:a' $(links a b) --peer b=127.0.0.1:1 --peer-listen 127.0.0.1:0
ok '  and one of another authority' refuses 'not accepted by the authorities of --peer-ca' $(links a foreign) --peer b=127.0.0.1:1 --peer-listen 127.0.0.1:0
ok '  and one that is for servers alone' refuses 'serverAuth and clientAuth' $(links a server-only) --peer b=127.0.0.1:1 --peer-listen 127.0.0.1:0
ok '  and a malformed row' refuses "given as 'b:1'" $(links a a) --peer b:1 --peer-listen 127.0.0.1:0
ok '  and a name twice' refuses "'b' is given twice" $(links a a) --peer b=h:1 --peer b=h:2 --peer-listen 127.0.0.1:0
ok '  and others without a name of its own' refuses 'not --replica' --peer b=h:1
ok 'config check finds the same' gives 1 'needs DNS:a' env CODEBOX_REPLICA=a CODEBOX_PEER_CERTIFICATE="$work/b.pem" CODEBOX_PEER_KEY="$work/b.key" CODEBOX_PEER_CA="$work/ca.pem" CODEBOX_PEER_LISTEN=127.0.0.1:0 bash -c "printf 'peer: [b=127.0.0.1:1]\n' >x.yaml; $codebox config check --config x.yaml"

# --- three of them
# All have the same callers: a file of tokens that each one has a copy of.
token=$("$codebox" token create --state "$work/state-a" --principal ann 2>/dev/null)
bob=$("$codebox" token create --state "$work/state-a" --principal bob 2>/dev/null)
printf '%s\n' 'principals:' '  - {name: ann, rights: [execute, check, "audit:read", admin]}' '  - {name: bob}' >callers.yaml
for name in b c; do mkdir -m 700 "state-$name"; cp -p state-a/tokens.jsonl "state-$name/"; done
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
declare -A port
pid_of() { cat "$work/$1.pid"; }
url_of() { cat "$work/$1.url"; }
for name in a b c; do port[$name]=$(free_port); done
start() { # NAME [CERTIFICATE]
    local name=$1 each
    {
        cat callers.yaml
        printf '%s\n' "state: $work/state-$name" 'listen: 127.0.0.1:0' 'pool-min: 1' "replica: $name" "peer-listen: 127.0.0.1:${port[$name]}" \
            "peer-certificate: $work/$name.pem" "peer-key: $work/$name.key" "peer-ca: $work/ca.pem" "socket: $work/socket-$name" 'peer:'
        for each in a b c; do echo "  - $each=127.0.0.1:${port[$each]}"; done
    } >"$name.yaml"
    rm -f "$name.log"
    "$codebox" serve --config "$name.yaml" 2>"$name.log" &
    echo $! >"$name.pid"
    echo $! >>"$work/servers"
    wait_until grep -q 'serving on' "$name.log" || { cat "$name.log"; exit 1; }
    sed -n 's/.*serving on \(http:[^,]*\),.*/\1/p' "$name.log" >"$name.url"
}
has_ended() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
end() { kill -TERM "$(pid_of "$1")" && wait_until has_ended "$(pid_of "$1")"; }
kill_all() { # with its children
    local children
    children=$(children_of "$(pid_of "$1")")
    kill -KILL "$(pid_of "$1")" $children 2>/dev/null || true
}
trap 'kill -9 $(cat "$work"/servers 2>/dev/null) 2>/dev/null || true; rm -rf "$work"' EXIT
for name in a b c; do start $name; done
at() { base=$(url_of $1); as "$token" "${@:2}"; } # REPLICA METHOD PATH [BODY]
tagged() { grep -qE '^[0-9a-f]{8}-[0-9a-f]{4}-8' <<<"$1"; }
session=$(at a POST /v1/sessions '{"language": "python"}' | jq -er .session_id)
ok 'the identifier of a session is a UUID of version 8' tagged "$session"
run() { at "$1" POST /v1/executions "$(jq -n --arg s "$session" --arg c "$2" '{session_id: $s, code: $c}')"; }
counts() {
    local name n=0
    for name in a b c b a; do
        n=$((n + 1))
        run $name 'n = globals().get("n", 0) + 1; print(n)' | expect ".output[0].text == \"$n\\n\""
    done
}
ok 'its variables are the same through each replica' counts
describes() { local name; for name in a b c; do at $name GET "/v1/sessions/$session" | expect ".session_id == \"$session\""; done; }
ok 'and its description' describes
files() {
    curl -sS -X PUT -H "Authorization: Bearer $token" --data-binary 'x,y' "$(url_of b)/v1/sessions/$session/files/a%20b.csv" | expect '.path == "a b.csv"'
    [ "$(curl -sS -H "Authorization: Bearer $token" "$(url_of c)/v1/sessions/$session/files/a%20b.csv")" = x,y ]
    head -c 3000000 /dev/urandom >big
    curl -sS -X PUT -H "Authorization: Bearer $token" --data-binary @big "$(url_of b)/v1/sessions/$session/files/big" >/dev/null
    curl -sS -H "Authorization: Bearer $token" -o big.back "$(url_of c)/v1/sessions/$session/files/big"
    cmp big big.back
    curl -sSI -H "Authorization: Bearer $token" "$(url_of c)/v1/sessions/$session/files/big" | tr -d '\r' >head
    grep -qi '^content-length: 3000000$' head
    grep -qi '^content-disposition: attachment' head
    [ "$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE -H "Authorization: Bearer $token" "$(url_of b)/v1/sessions/$session/files/big")" = 200 ]
}
ok 'files are written, read and removed through another replica' files
executions() {
    local id
    id=$(run c 'print("here")' | jq -er .execution_id)
    tagged "$id"
    at b GET "/v1/executions/$id" | expect '.output[0].text == "here\n"'
    at a GET "/v1/sessions/$session/history?limit=2" | expect '(.executions | length) == 2 and has("next")'
}
ok 'an execution and the history are read through another replica' executions
decisions() {
    local id
    id=$(run c 'print(1)' | jq -er .decision)
    at b GET "/v1/decisions/$id" | expect ".id == \"$id\" and .code == \"print(1)\""
}
ok 'and its decision' decisions
stream() {
    run_stream() { curl -sSN -X POST -H "Authorization: Bearer $token" -H 'Content-Type: application/json' --data-binary "$1" "$(url_of b)/v1/executions"; }
    run_stream "$(jq -n --arg s "$session" '{session_id: $s, stream: true, code: "import time\nprint(\"one\", flush=True)\ntime.sleep(2)\nprint(\"two\")"}')" |
        while IFS= read -r line; do printf '%s %s\n' "$(date +%s%N)" "$line"; done >events
    grep -q 'event: done' events
    local one two
    one=$(grep -m 1 'one' events | cut -d' ' -f1) two=$(grep -m 1 'two' events | cut -d' ' -f1)
    [ $(((two - one) / 1000000)) -gt 1000 ] # the first event did not wait for the last one
}
ok 'events of a stream come as they happen' stream
cancel() {
    local id
    id=$(at b POST /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, async: true, code: "while True: pass"}')" | jq -er .execution_id)
    is_running() { at c GET "/v1/executions/$id" | expect '.status == "running"'; }
    wait_until is_running
    at c POST "/v1/executions/$id/cancel" | expect .
    is_done() { at a GET "/v1/executions/$id" | expect '.status != "running"'; }
    wait_until is_done
}
ok 'a run is cancelled through another replica' cancel
input() {
    local id
    id=$(at c POST /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, async: true, input: "stream", code: "import sys\nprint(sys.stdin.read().upper())"}')" | jq -er .execution_id)
    feed() { [ "$(curl -sS -o /dev/null -w '%{http_code}' -X POST -H "Authorization: Bearer $token" -H 'Content-Type: application/octet-stream' --data-binary hello "$(url_of b)/v1/executions/$id/input?end=true")" = 202 ]; }
    wait_until feed
    has_answer() { at a GET "/v1/executions/$id" | expect '[.output[].text] | add | contains("HELLO")'; }
    wait_until has_answer
}
ok 'and its standard input is written' input
legacy() {
    local s id
    s=$(at b POST /sessions '{}' | jq -er .session_id)
    id=$(at c POST /execute "$(jq -n --arg s "$s" '{session_id: $s, code: "print(6 * 7)"}')" | jq -er .request_id)
    over() { at a GET "/execute/$id/status" | expect '.status == "completed"'; }
    wait_until over
    at c GET "/execute/$id/results" | grep -q 42
    at a DELETE "/sessions/$s" | expect '.status == "cleaned up"'
}
ok 'so are the routes for clients of CodeBox-AI' legacy
others() { base=$(url_of b); gives_status 404 'session' as "$bob" GET "/v1/sessions/$session"; base=$(url_of c) gives_status 401 '' as wrong GET "/v1/sessions/$session"; }
ok 'another principal finds nothing, and no caller is let in without a token' others

# --- lists, keys, stop
lists() {
    local second third next first
    second=$(at b POST /v1/sessions '{"language": "bash"}' | jq -er .session_id)
    third=$(at c POST /v1/sessions '{"language": "bash"}' | jq -er .session_id)
    at a GET /v1/sessions | jq -r '.sessions[].session_id' >all
    printf '%s\n' "$session" "$second" "$third" | cmp - all
    first=$(at b GET '/v1/sessions?limit=2')
    next=$(jq -er .next <<<"$first")
    [ "$(jq -r '.sessions[].session_id' <<<"$first" | wc -l)" = 2 ]
    at c GET "/v1/sessions?limit=2&cursor=$next" | expect "(.sessions | length) == 1 and .sessions[0].session_id == \"$third\" and (has(\"next\") | not)"
}
ok 'a list of sessions has the ones of every replica, in pages whose cursor each replica reads' lists
all_decisions() {
    local name cursor= page
    for name in a b c; do
        cursor=
        while :; do
            page=$(at $name GET "/v1/decisions?limit=3${cursor:+&cursor=$cursor}")
            jq -r '.decisions[] | "\(.created_at) \(.id)"' <<<"$page"
            cursor=$(jq -r '.next // empty' <<<"$page")
            [ -n "$cursor" ] || break
        done >"decisions-$name"
        sort -r "decisions-$name" | cmp - "decisions-$name"
    done
    cmp decisions-a decisions-b
    cmp decisions-a decisions-c
    [ "$(sort -u decisions-a | wc -l)" = "$(wc -l <decisions-a)" ]
    [ "$(wc -l <decisions-a)" = "$(cat state-?/audit.jsonl | jq -s 'map(select(.type == "decision")) | length')" ]
}
ok 'the decisions of all are one list, each of them once' all_decisions
once() {
    local n name before
    ids() { for name in a b c b a; do key=$1 at $name POST /v1/executions '{"code": "import uuid\nprint(uuid.uuid4())"}' | jq -er .execution_id; done; }
    for n in 1 2 3 4; do ids "key $n" | sort -u | wc -l | grep -qx 1; done
    key=same at a POST /v1/sessions '{"language": "bash"}' | jq -er .session_id >one
    key=same at c POST /v1/sessions '{"language": "bash"}' | jq -er .session_id | cmp - one
    for n in 1 2 3 4; do ids "key $n"; done | sort -u >owners
    [ "$(wc -l <owners)" = 4 ]
}
ok 'a request with an Idempotency-Key has its effect once, whichever replicas it is sent to' once
at_once() {
    local name
    (for name in a b c a b c; do key=parallel at $name POST /v1/executions '{"code": "import time\ntime.sleep(1)"}' >"p-$name-$RANDOM" & done; wait)
    [ "$(cat state-?/audit.jsonl | jq -s 'map(select(.type == "decision" and (.body.sha256 == "'"$(printf 'import time\ntime.sleep(1)' | sha256sum | cut -d' ' -f1)"'"))) | length')" = 1 ]
}
ok '  also at the same time' at_once

# --- MCP
rpc() { # REPLICA JSON [HEADER ...]
    curl -sS -X POST -D mcp.headers -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
        "${@:3}" --data-binary "$2" "$(url_of $1)/mcp"
}
handshake='{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}}'
call() { jq -n --argjson a "$1" --arg n "${2:-execute_code}" '{jsonrpc: "2.0", id: 7, method: "tools/call", params: {name: $n, arguments: $a}}'; }
mcp() {
    local id s
    rpc a "$handshake" | expect '.result.serverInfo.name'
    id=$(tr -d '\r' <mcp.headers | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p')
    [ ${#id} = 64 ]
    s=$(rpc b "$(call '{"code": "x = 5", "session": "new"}')" -H "Mcp-Session-Id: $id" -H 'MCP-Protocol-Version: 2025-06-18' | tee reply | jq -er '.result.structuredContent.session // .result.structuredContent.session_id')
    rpc c "$(call "{\"code\": \"print(x + 1)\", \"session\": \"$s\"}")" -H "Mcp-Session-Id: $id" -H 'MCP-Protocol-Version: 2025-06-18' | grep -q '6'
    rpc c "$(call "{\"code\": \"print(x + 2)\", \"session\": \"$s\"}")" | grep -q '7'
    rpc b "$(call "{\"code\": \"print(n + 100)\", \"session\": \"$session\"}")" -H "Mcp-Session-Id: $id" -H 'MCP-Protocol-Version: 2025-06-18' | grep -q '10'
    s=$(at b POST /v1/sessions '{"language": "python"}' | jq -er .session_id) # of the replica that is asked, in a session of MCP of another one
    rpc b "$(call "{\"code\": \"print(200 + 8)\", \"session\": \"$s\"}")" -H "Mcp-Session-Id: $id" -H 'MCP-Protocol-Version: 2025-06-18' | grep -q 208
    at c DELETE "/v1/sessions/$s" | expect .
    [ "$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE -H "Authorization: Bearer $token" -H "Mcp-Session-Id: $id" "$(url_of c)/mcp")" = 204 ]
    [ "$(rpc a "$(call '{"code": "1"}')" -H "Mcp-Session-Id: $id" -o /dev/null -w '%{http_code}')" = 404 ]
}
ok 'a session of MCP, and a session of the sandbox in it, are used through each replica' mcp
mcp_files() {
    rpc c "$(call "{\"session\": \"$session\", \"path\": \"m.txt\", \"text\": \"hello\"}" sandbox_write_file)" | grep -q '"isError":false\|m.txt'
    rpc b "$(call "{\"session\": \"$session\", \"path\": \"m.txt\"}" sandbox_read_file)" | grep -q hello
}
ok '  and its files' mcp_files
page() {
    local cookie
    cookie=$(curl -sS -o /dev/null -D - -X POST -d "token=$token" -H "Origin: $(url_of a)" "$(url_of a)/login" | tr -d '\r' | sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p')
    [ -n "$cookie" ]
    [ "$(curl -sS -o page.html -w '%{http_code}' -H "Cookie: $cookie" "$(url_of b)/")" = 200 ]
    grep -qi 'decision' page.html
}
ok 'a browser that logged in at one replica is known to each' page

# --- the log
log() {
    local line
    curl -sS -D reply.headers -o /dev/null -H "Authorization: Bearer $token" -H 'Content-Type: application/json' --data-binary "$(jq -n --arg s "$session" '{session_id: $s, code: "\"traced\""}')" "$(url_of c)/v1/executions"
    local request
    request=$(tr -d '\r' <reply.headers | sed -n 's/^X-Request-Id: //p')
    [ ${#request} = 26 ]
    line=$(grep -h "$request" state-a/audit.jsonl | head -n 1)
    expect '.body.address == "127.0.0.1" or (tostring | contains("127.0.0.1"))' <<<"$line"
}
ok 'the log of the owner has the address of the client, and the id that the client was told' log
reads_no_header() { at a GET /v1/sessions >/dev/null; curl -sS -H "Authorization: Bearer $token" -H 'Codebox-Replica: b' -H 'Codebox-Client: 9.9.9.9' "$(url_of a)/v1/sessions" | expect '(.sessions | length) >= 3'; }
ok 'a client cannot pretend to be a replica' reads_no_header

# --- who is let in
dial() { # CERTIFICATE: sends a request over TLS to replica a
    printf 'GET /v1/sessions HTTP/1.1\r\nHost: x\r\nCodebox-Replica: b\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$token" |
        timeout 10 openssl s_client -quiet -connect "127.0.0.1:${port[a]}" -CAfile ca.pem ${1:+-cert "$1.pem" -key "$1.key"} 2>/dev/null || true
}
ok 'a replica is let in' grep -q 'HTTP/1.1 200' <(dial b)
nobody() { dial '' | lacks HTTP; dial foreign | lacks HTTP; dial other | lacks HTTP; { curl -sS -i -m 3 "http://127.0.0.1:${port[a]}/healthz" 2>&1 || true; } | lacks 'HTTP/1'; }
ok 'nobody else: no certificate, one of another authority, one of the same authority with another name, no TLS' nobody
confined() {
    local links_pid
    links_pid=$(pgrep -P "$(pid_of a)" -x cbx-replicas)
    grep -qE '^Seccomp:\s+2' "/proc/$links_pid/status"
    grep -qE '^CapEff:\s+0+$' "/proc/$links_pid/status"
    [ "$(ls -l "/proc/$links_pid/fd" | grep -cE 'audit|tokens|codebox.db|state-a' || true)" = 0 ]
}
ok 'the process of links has no file of the gateway, and no right' confined
key_in_memory() { python3 - "$(pid_of a)" "$work/a.key" <<'PY'
import base64, re, subprocess, sys
master, key = sys.argv[1], open(sys.argv[2]).read()
middle = ''.join(key.split('\n')[1:-2])[20:52].encode()
def holds(pid):
    with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb') as mem:
        for line in maps:
            m = re.match(r'([0-9a-f]+)-([0-9a-f]+) r', line)
            if m and '[v' not in line:
                start, end = (int(x, 16) for x in m.groups())
                try:
                    mem.seek(start)
                    if middle in mem.read(end - start):
                        return True
                except (OSError, ValueError, OverflowError):
                    pass
    return False
children = subprocess.run(['pgrep', '-P', master], capture_output=True, text=True).stdout.split()
for pid in children:
    name = open(f'/proc/{pid}/comm').read().strip()
    if name != 'cbx-replicas' and holds(pid):
        sys.exit(f'{name} has the key')
PY
}
ok '  and no other child has its key' key_in_memory

# --- changes and faults
renew() {
    certificate a ca a
    curl -sSN -X POST -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
        --data-binary "$(jq -n --arg s "$session" '{session_id: $s, stream: true, code: "import time\nfor i in range(6):\n    print(i, flush=True)\n    time.sleep(0.5)"}')" "$(url_of b)/v1/executions" >during &
    local reader=$!
    sleep 1
    kill -HUP "$(pid_of a)"
    reloaded() { grep -q 'reload: done' a.log; }
    wait_until reloaded
    wait $reader
    grep -q 'event: done' during
    run c 'print(3)' | expect '.output[0].text == "3\n"'
}
ok 'a certificate is renewed by SIGHUP, and a stream over the old one ends by itself' renew
links_killed() { pkill -KILL -P "$(pid_of a)" -x cbx-replicas; again() { run b 'print(4)' | expect '.output[0].text == "4\n"'; }; wait_until again; }
ok 'the process of links is started again' links_killed
front_killed() { pkill -KILL -P "$(pid_of a)" -x cbx-front; again() { run b 'print(5)' | expect '.output[0].text == "5\n"'; }; wait_until again; }
ok '  and the front' front_killed
away() {
    end a
    base=$(url_of b)
    gives_status 503 "replica 'a', which serves this, cannot be reached" as "$token" GET "/v1/sessions/$session"
    gives_status 503 'Nothing was done' as "$token" POST /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, code: "1"}')"
    grep -qi '^retry-after' headers
    at b GET /v1/sessions | expect '.missing == ["a"] and (.sessions | length) >= 2'
    at b POST /v1/executions '{"code": "print(9)"}' | expect '.output[0].text == "9\n"'
}
tells() {
    told() { grep -q "replica 'a' cannot be reached" b.log && at b GET /readyz | expect ".ready and (.degraded.replicas | startswith(\"'a' cannot\"))"; }
    wait_until told
    at b GET /metrics | grep -q 'codebox_replica_up{replica="a"} 0'
    at b GET /metrics | grep -q 'codebox_replica_up{replica="c"} 1'
}
ok 'what a replica that is away has cannot be used, and everything else can' away
ok '  and the log, /readyz and the metrics tell it' tells
back() {
    start a
    again() { run c 'print(n)' | expect '.output[0].text == "5\n"'; } # a link that takes more than 4 s is 503, to be tried again
    wait_until again
    again
    told() { grep -q "replica 'a' is reached again" b.log && at b GET /readyz | expect '.degraded | has("replicas") | not'; }
    wait_until told
}
ok 'when it comes back its session goes on' back
silent() {
    local began=$SECONDS wrong= took
    pkill -STOP -P "$(pid_of a)" -x cbx-replicas
    base=$(url_of c)
    gives_status 503 "replica 'a'" as "$token" GET "/v1/sessions/$session" || wrong=1
    took=$((SECONDS - began))
    pkill -CONT -P "$(pid_of a)" -x cbx-replicas
    [ -z "$wrong" ]
    [ $took -le 30 ] || { echo "it took $took s"; return 1; } # 10 s on an idle machine; a stopped process would hold it for ever
    run c 'print(6)' | expect '.output[0].text == "6\n"'
}
ok 'a replica that is silent is given up' silent
broken() {
    base=$(url_of b)
    as "$token" POST /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, code: "import time\ntime.sleep(8)"}')" >reply &
    local reader=$!
    sleep 1.5
    kill_all a
    wait $reader
    [ "$(cat status)" = 502 ]
    grep -q 'is not known' reply
    start a
    run c 'print(7)' | expect '.output[0].text == "7\n"'
}
ok 'a replica that is killed during a run: its caller learns that the outcome is not known' broken
stops() {
    at b POST /v1/executions "$(jq -n --arg s "$session" '{session_id: $s, async: true, code: "while True: pass"}')" | jq -er .execution_id >id
    at c POST /v1/executions '{"async": true, "code": "while True: pass"}' | jq -er .execution_id >>id
    sleep 1
    at b POST /v1/stop '{"principal": "ann"}' | expect '.status == "stopping"'
    local id
    while read -r id; do
        stopped() { at a GET "/v1/executions/$id" | expect '.status != "running" and .status != "queued"'; }
        wait_until stopped
    done <id
    kill_all c
    base=$(url_of b)
    gives_status 503 "'c' could not be told" as "$token" POST /v1/stop '{"principal": "ann"}'
}
ok 'a stop ends what a principal runs at every replica, and says where it could not' stops
counted() { curl -sS -H "Authorization: Bearer $token" "$(url_of b)/metrics" | grep -q 'codebox_forwarded_requests_total{replica="a",result="ok"}'; }
ok 'forwarded requests are counted' counted
ends() { local name; for name in a b; do end $name; done; "$codebox" audit verify --state "$work/state-a" && "$codebox" audit verify --state "$work/state-b"; }
ok 'the replicas end, and their logs are whole' ends

# --- each log has the heads of the others
anchors_of() { jq -r 'select(.type == "anchor") | .body.replica' "state-$1/audit.jsonl" | sort -u | xargs; }
anchored() { [ "$(anchors_of a)" = 'b c' ] && [ "$(anchors_of b)" = 'a c' ]; }
ok 'the log of each replica has heads of the others' anchored
verifies_all() { "$codebox" audit verify --all state-a state-b state-c >all.out; }
matches() {
    verifies_all || { cat all.out; return 1; }
    [ "$(grep -c 'anchors of other replicas match; the newest is of record' all.out)" = 3 ]
    grep -q '^state-b:$' all.out
    "$codebox" audit tail --state "$work/state-a" --type anchor | grep -q 'replica b at record [0-9]'
}
ok 'verify --all compares every log with them' matches
misses() { gives 1 'no folder has the log of instance' "$codebox" audit verify --all state-a state-c; }
ok '  and misses the log of a replica that is not among the folders' misses
put_back() {
    local had seen
    cp -a state-b older
    for name in a b; do start $name; done
    at b POST /v1/executions '{"code": "print(1)"}' | expect '.output[0].text == "1\n"'
    had=$(wc -l <state-b/audit.jsonl)
    end a
    start a # its first anchor of a replica comes at once
    sees_newest() { seen=$(jq 'select(.type == "anchor" and .body.replica == "b") | .body.seq' state-a/audit.jsonl | tail -n 1); [ "$seen" -ge "$had" ]; }
    wait_until sees_newest
    end b
    mv state-b newer
    cp -a older state-b
    "$codebox" audit verify --state "$work/state-b" >/dev/null # whole, as far as it tells by itself
    gives 1 'it was cut, or put back to an older copy of itself' "$codebox" audit verify --all state-a state-b state-c
    start b
    says_so() { grep -q "the audit log of replica 'b' was changed" a.log && jq -e 'select(.type == "anchor" and .body.went_back_from)' state-a/audit.jsonl >/dev/null; }
    wait_until says_so
    "$codebox" audit tail --state "$work/state-a" --type anchor | grep -q 'behind record [0-9]* of before'
    for name in a b; do end $name; done
    # Put right again, the anchors of what ran meanwhile remain: two histories were signed.
    rm -rf state-b
    mv newer state-b
    gives 1 'state-a:' "$codebox" audit verify --all state-a state-b state-c
}
ok 'a log that was put back to an older copy is found by the others, at once and by verify --all' put_back
start c
close() { local id; for name in a b; do start $name; done; for id in $(at c GET /v1/sessions | jq -r '.sessions[].session_id'); do at c DELETE "/v1/sessions/$id" | expect .; done; }
ok 'and every session is closed through one of them' close
for name in a b c; do end $name; done
wait
finish
