#!/bin/bash
# SPDX-License-Identifier: MIT
# `network: {egress: [...]}`: programs reach the hosts that their policy grants, through a proxy in
# its own container, and no other host.
source "$(dirname "$0")/lib.sh"
public=codebox-test-public-$$ private=codebox-test-private-$$
containers=()
clean() {
    docker rm -f "${containers[@]}" >/dev/null 2>&1 || true
    docker network rm "$public" "$private" >/dev/null 2>&1 || true
}
trap 'kill -9 $server 2>/dev/null || true; clean; rm -rf "$work"' EXIT
# Addresses like those of the Internet, which this machine routes to a network of the engine; and
# private addresses.
docker network create --subnet 11.22.33.0/24 "$public" >/dev/null
docker network create --subnet 10.99.77.0/24 "$private" >/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=api.example.test -addext subjectAltName=DNS:api.example.test -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
serve_hosts() { # NETWORK ALIAS ...
    local network=$1 options=()
    shift
    for alias in "$@"; do options+=(--network-alias "$alias"); done
    containers+=("$(docker run --detach --user 0:0 --network "$network" "${options[@]}" --label codebox.test=network --env PAIR="$(cat "$work/key.pem" "$work/cert.pem")" \
        --entrypoint python3 codebox-python:latest -I -c "$(cat tests/live/docker/hosts.py)")")
    wait_until sh -c "docker logs '${containers[-1]}' 2>&1 | grep -q '^ready'"
}
serve_hosts "$public" api.example.test a.wild.example.test other.example.test
serve_hosts "$private" api.example.test inside.example.test
cat >"$work/granted.yaml" <<'END'
version: 1
name: granted
extends: [default]
network: {override: true, egress: [api.example.test, "*.wild.example.test", "inside.example.test:8080", nowhere.example.test, "api.example.test:8080"]}
limits: {override: true, connections: 30, network-bytes: 4MiB}
END
start_server --policy default --policy "$work/granted.yaml" --egress-network "$public"

session_under() { post /v1/sessions "$(jq -n --arg p "$1" --arg l "${2:-python}" '{language: $l, policy: $p}')" | jq -er '.session_id // halt_error'; }
execute() { post /v1/executions "$(jq -n --arg s "$1" --arg c "$2" '{code: $c, session_id: $s}')"; }
once() { post /v1/executions "$(jq -n --arg c "$1" --arg l "${2:-python}" --arg p "${3:-granted}" '{code: $c, language: $l, policy: $p}')"; }
text_of() { jq -r '[.output[]?.text // empty] | join("")'; }
shows() { # FRAGMENT occurs in standard input
    local text
    text=$(cat)
    echo "$text"
    [[ $text == *"$1"* ]] || { echo "not there: $1"; return 1; }
}
get() { # prints the response for a program
    once $'import urllib.request, urllib.error\ntry:\n    print("got", urllib.request.urlopen("'"$1"$'", timeout=20).read().decode())\nexcept urllib.error.HTTPError as e:\n    print("failed", e.code, e.read().decode()[:300])\nexcept Exception as e:\n    print("failed", e)'
}
records() { jq -c 'select(.type == "network") | .body' "$state"/audit.jsonl; }
recorded() { # a record matches FILTER
    records | tail -n 50
    records | jq -se "map(select($1)) | length > 0"
}

# --- granted hosts
granted_host() {
    get http://api.example.test/ >"$work/got"
    text_of <"$work/got" | shows 'got hello of api.example.test on 80'
    expect '.blocked == []' "$work/got"
}
ok 'a program reaches a host that the policy grants' granted_host
ok 'the audit log has the request, with the sandbox it came from' recorded '.outcome == "served" and .host == "api.example.test" and .port == 80 and (.sandbox | length) == 64 and .decision != "" and .received_bytes > 0'
granted() { jq -se 'map(select(.type == "decision" and .body.policy == "granted" and .body.action == "run")) | .[0].body.hosts | index("api.example.test") != null' "$state"/audit.jsonl; }
ok 'the record of a run has the hosts that were granted' granted
subdomain() { get http://a.wild.example.test/ | text_of | shows 'got hello of a.wild.example.test'; }
ok 'a wildcard grants sub-domains' subdomain
other_port() { get http://api.example.test:8080/ | text_of | shows 'on 8080'; }
ok 'a port is granted by its pattern' other_port
by_tls() {
    once $'import requests, urllib3\nurllib3.disable_warnings()\nprint(requests.get("https://api.example.test/", verify=False, timeout=20).text)' | text_of | shows 'hello of api.example.test on 443'
    recorded '.method == "CONNECT" and .port == 443 and .outcome == "served"'
}
ok 'HTTPS goes through a tunnel' by_tls
by_node() { once $'const r = await fetch("http://api.example.test/");\nconsole.log(await r.text());\nconst http = require("http");\nawait new Promise((done) => http.get("http://api.example.test/", (r) => { r.on("data", (d) => console.log("http", String(d))); r.on("end", done); }));\nawait new Promise((done) => require("https").get("https://api.example.test/", { rejectUnauthorized: false }, (r) => { r.on("data", (d) => console.log("https", String(d))); r.on("end", done); }));' javascript | text_of | tee "$work/node" | shows 'hello of api.example.test on 80'; shows 'http hello' <"$work/node"; shows 'https hello' <"$work/node"; }
ok 'fetch and http of Node use the proxy' by_node
by_session() {
    local session
    session=$(session_under granted)
    execute "$session" $'import urllib.request\nprint(urllib.request.urlopen("http://api.example.test/bytes/200000").read().count(b"x"))' | text_of | shows 200000
    execute "$session" $'print(urllib.request.urlopen("http://api.example.test/", data=b"y" * 300000).read())' | text_of | shows 'got 300000'
}
ok 'cells of a session send and receive' by_session
parallel() { once $'import urllib.request, concurrent.futures\ndef one(i):\n    return len(urllib.request.urlopen(f"http://api.example.test/bytes/{1000 + i}").read())\nwith concurrent.futures.ThreadPoolExecutor(10) as pool:\n    print(sum(pool.map(one, range(10))))' | text_of | shows 10045; }
ok 'connections work side by side' parallel
by_run() { "$codebox" run --state "$state-run" --policy "$work/granted.yaml" --egress-network "$public" --language python - <<<$'import urllib.request\nprint(urllib.request.urlopen("http://api.example.test/").read())' | shows 'hello of api'; }
ok 'codebox run reaches it too' by_run

# --- hosts that are not granted
denied() { # URL FRAGMENT FILTER
    get "$1" | text_of | shows "$2" | lacks '^got'
    [ -z "${3:-}" ] || recorded "$3"
}
ok_later 'another host is refused, and recorded' denied http://other.example.test/ 'failed 403' '.outcome == "refused" and .host == "other.example.test"'
ok_later 'so is another port' denied http://a.wild.example.test:8080/ 'failed 403' '.outcome == "refused" and .port == 8080'
ok_later 'so is the domain above a wildcard' denied http://wild.example.test/ 'failed 403'
ok_later 'so is an address in place of a granted name' denied "http://11.22.33.2/" 'failed 403' '.outcome == "refused" and .host == "11.22.33.2"'
ok_later 'so is a link-local address' denied http://169.254.7.7/ 'failed 403' '.outcome == "refused" and .host == "169.254.7.7"'
ok_later 'so is the bridge of the engine' denied http://172.17.0.1/ 'failed 403'
ok_later 'so is the proxy itself' denied http://127.0.0.1:3128/ failed
ok_later 'a redirect is asked anew' denied http://api.example.test/to/other.example.test/ 'failed 403'
ok_later 'so is one to the metadata service' denied 'http://api.example.test/to/169.254.16" + "9.254/' ''
host_field() { once $'import http.client\nc = http.client.HTTPConnection("127.0.0.1", 3128)\nc.putrequest("GET", "http://api.example.test/", skip_host=True)\nc.putheader("Host", "other.example.test")\nc.endheaders()\nprint(c.getresponse().read())' | text_of | shows 'hello of api.example.test on 80'; }
ok_later 'so does the field Host of a request: the host gets the name of the URL' host_field
ok_later 'user names in a URL change nothing' denied http://api.example.test@other.example.test/ failed
ok_later 'a name that does not exist is told' denied http://nowhere.example.test/ failed '.outcome != "served" and .host == "nowhere.example.test"'
# Opens a tunnel to a granted host; the program sends TLS for a name through it (None: without a
# name), or text.
tunnel() { # NAME FRAGMENT FILTER
    local answer # several calls run at a time
    answer=$(once $'import http.client, ssl\nc = http.client.HTTPConnection("127.0.0.1", 3128, timeout=10)\nc.set_tunnel("api.example.test", 443)\nc.connect()\ncontext = ssl.create_default_context()\ncontext.check_hostname = False\ncontext.verify_mode = ssl.CERT_NONE\nreceived, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()\ntls = context.wrap_bio(received, to_send, server_hostname='"$1"$')\ntry:\n    while True:\n        try:\n            tls.do_handshake()\n            break\n        except ssl.SSLWantReadError:\n            c.sock.sendall(to_send.read())\n            received.write(c.sock.recv(65536))\n    print("got", tls.version())\nexcept OSError as e:\n    print("failed", e)')
    expect '.outcome == "ok"' <<<"$answer"
    text_of <<<"$answer" | shows "$2"
    recorded "$3"
}
ok_later 'a tunnel carries TLS for its host' tunnel '"API.example.test"' 'got TLS' '.outcome == "served" and .method == "CONNECT"'
ok_later 'TLS for another host is refused in it, and recorded with the name' tunnel '"other.example.test"' 'unrecognized name' '.outcome == "refused" and .reason == "tls-name" and .host == "api.example.test" and .port == 443 and .tls_name == "other.example.test"'
ok_later 'so is TLS without a name' tunnel None 'unrecognized name' '.reason == "tls-name" and .tls_name == null'
no_tls() {
    once $'import http.client\nc = http.client.HTTPConnection("127.0.0.1", 3128, timeout=10)\nc.set_tunnel("api.example.test", 443)\nc.connect()\nc.sock.sendall(b"GET / HTTP/1.1\\r\\nHost: other.example.test\\r\\n\\r\\n")\nprint("got", c.sock.recv(1000))' | text_of | shows "got b''"
    recorded '.outcome == "refused" and .reason == "not-tls" and .host == "api.example.test"'
}
ok_later 'and what is no TLS' no_tls
second() {
    once $'import http.client\nc = http.client.HTTPConnection("127.0.0.1", 3128, timeout=10)\nc.connect()\ns = c.sock\ns.sendall(b"GET http://api.example.test/ HTTP/1.1\\r\\nHost: api.example.test\\r\\n\\r\\nCONNECT api.example.test:443 HTTP/1.1\\r\\n\\r\\n")\ngot = b""\nwhile part := s.recv(1000):\n    got += part\nprint("answers", got.count(b"HTTP/1.1 "))' | text_of | shows 'answers 1'
}
ok_later 'a connection has one request' second
no_dns() { once $'import socket\ntry:\n    print("got", socket.gethostbyname("api.example.test"))\nexcept Exception as e:\n    print("failed", type(e).__name__)' python granted | shows '' | lacks '"got 1'; }
ok_later 'names are not resolved inside' no_dns
direct() { once $'import http.client\ntry:\n    c = http.client.HTTPConnection("11.22.33.2", 80, timeout=3)\n    c.request("GET", "/")\n    print("got", c.getresponse().read())\nexcept OSError as e:\n    print("failed", e)' | tee "$work/direct" | shows 'failed' | lacks 'got b'; expect '.blocked[0].what | test("11.22.33.2, port 80, without the proxy")' "$work/direct"; }
ok_later 'without the proxy nothing is reached, and the attempt is reported' direct
server() { once $'import http.server\nhttp.server.HTTPServer' | expect '.outcome != "ok"'; }
ok_later 'a server is denied as without a network' server
by_default() { once $'import urllib.request\ntry:\n    print("got", urllib.request.urlopen("http://api.example.test/", timeout=5).read())\nexcept OSError as e:\n    print("failed", e)\n    raise' python default | shows 'programs reach no other machine under this policy' | lacks 'got b'; }
ok_later 'a policy without hosts grants none, and says how one is granted' by_default
named() { once $'import urllib.request\nurllib.request.urlopen("http://other.example.test/")' | shows 'programs reach only api.example.test'; }
ok_later 'an error says which hosts are granted' named
finish_later
many() {
    once $'import urllib.request\nok = 0\nfor i in range(40):\n    try:\n        urllib.request.urlopen("http://api.example.test/").read()\n        ok += 1\n    except OSError:\n        pass\nprint("served", ok)' | text_of | shows 'served 30'
    recorded '.outcome == "refused" and .reason == "limit-of-connections"'
}
ok 'a session has so many connections as its policy says' many
asks() { # one connection, many requests
    once $'import http.client, os\nc = http.client.HTTPConnection("127.0.0.1", 3128)\nn = 0\ntry:\n    for n in range(100):\n        c.request("GET", "http://other.example.test/")\n        c.getresponse().read()\nexcept (OSError, http.client.HTTPException) as e:\n    print("failed", n)' | text_of | shows failed
    [ "$(records | jq -r '.decision' | tail -n 60 | sort | uniq -c | sort -n | tail -n 1 | awk '{ print $1 }')" -le 33 ]
}
ok 'so many requests, also over one connection' asks
much() {
    once $'import urllib.request\ntry:\n    print(len(urllib.request.urlopen("http://api.example.test/bytes/8000000").read()))\nexcept OSError as e:\n    print("failed", e)\nexcept Exception as e:\n    print("failed", type(e))' | text_of | shows failed
    recorded '.reason == "limit-of-bytes"'
}
ok 'and so many bytes' much
proxies() { docker ps -q --no-trunc --filter label=codebox.kernel=proxy; }
wall() { # checks the routes of a proxy's container, which do not depend on the proxy
    local session proxy pid
    session=$(session_under granted)
    execute "$session" $'import urllib.request\nprint(urllib.request.urlopen("http://api.example.test/").read())' | text_of | shows hello
    proxy=$(proxies | head -n 1)
    pid=$(docker inspect --format '{{.State.Pid}}' "$proxy")
    for address in 169.254.169.254 10.99.77.2 172.17.0.1 192.168.1.1 100.100.100.200; do
        nsenter --net="/proc/$pid/ns/net" bash -c "(exec 3<>/dev/tcp/$address/80) || true" 2>&1 | shows 'Permission denied'
    done
    nsenter --net="/proc/$pid/ns/net" bash -c 'exec 3<>/dev/tcp/11.22.33.2/80 && echo connected' | shows connected
    [ "$(docker inspect --format '{{.HostConfig.ReadonlyRootfs}}' "$proxy")" = true ]
    grep '^CapEff:.*0000000000000000$' "/proc/$pid/status"
    grep '^Uid:.65532' "/proc/$pid/status"
}
ok 'the container of a proxy has no route to private addresses, and no capabilities' wall
no_one_left() { [ -z "$(proxies)" ]; }
ended() {
    local session
    session=$(session_under granted)
    execute "$session" $'import urllib.request\nprint(urllib.request.urlopen("http://api.example.test/").read())' | text_of | shows hello
    for id in $(curl -sS "$base/v1/sessions" | jq -r '.sessions[].session_id'); do curl -sS -X DELETE "$base/v1/sessions/$id" >/dev/null; done
    wait_until no_one_left
}
ok 'a proxy ends with its session' ended
after_a_crash() {
    local session executor
    session=$(session_under granted)
    execute "$session" $'import urllib.request\nprint(urllib.request.urlopen("http://api.example.test/").read())' | text_of | shows hello
    executor=$(pgrep -P "$server" cbx-executor)
    kill -9 "$executor"
    wait_until no_one_left
    execute "$session" $'print(urllib.request.urlopen("http://api.example.test/").read())' | text_of | shows hello
}
ok 'a proxy ends when its executor is killed, and the next executor starts another one' after_a_crash
stop_server
wait_until no_one_left
start_server --policy "$work/granted.yaml" --egress-network "$private"
rebound() {
    get http://api.example.test/ | text_of | shows failed | lacks '^got'
    recorded '.outcome == "refused" and .reason == "address-denied" and .host == "api.example.test"'
}
ok 'a granted name that resolves to a private address is refused' rebound
stop_server
start_server --policy "$work/granted.yaml" --egress-network "$private" --egress-range 10.99.77.0/24
inside() { get http://inside.example.test:8080/ | text_of | shows 'got hello of inside.example.test:8080'; }
ok 'an operator lets granted names have private addresses' inside
wrong_range() { cd "$work"; gives 2 "$2" timeout 20 "$codebox" serve --state "$state-x" --listen 127.0.0.1:0 --egress-range "$1"; }
ok 'a range that is none is refused at the start' wrong_range 10.0.0.1/8 "'10.0.0.1/8'"
host_network() { cd "$work"; gives 2 'the network of proxies' timeout 20 "$codebox" serve --state "$state-x" --listen 127.0.0.1:0 --egress-network host; }
ok 'the network of the host is refused, whose routes a proxy would restrict' host_network
ok 'loopback and metadata addresses are never allowed' wrong_range 169.254.0.0/16 'cannot be allowed'
ok 'the audit log is whole' audit_is_whole
clean
finish
