#!/bin/bash
# SPDX-License-Identifier: MIT
# HTTPS: the certificate, the processes that have its key, requests of every kind, and certificates
# that change while the gateway serves.
. "$(dirname "$0")/lib.sh"
root=$PWD
chmod 700 "$work"
cd "$work"
certificate() { # NAME [OPTIONS ...]: a new certificate of localhost with its key
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=localhost" -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout "$1.key" -out "$1.crt" "${@:2}" 2>/dev/null
    chmod 600 "$1.key"
}
certificate first
certificate second
certificate weak -newkey rsa:1024
refuses() { # TEXT OPTIONS ...
    gives 2 "$1" "$codebox" serve --state "$state" --listen 127.0.0.1:0 "${@:2}"
}

# --- refused at the start
ok 'a certificate without its key is refused' refuses '--tls-key is missing' --tls-certificate first.crt
ok '  and a key that is another one'"'"'s' refuses 'cannot be used' --tls-certificate first.crt --tls-key second.key
ok '  and a weak one' refuses 'has 1024 bits' --tls-certificate weak.crt --tls-key weak.key
ok '  and a file that is none' refuses 'cannot be read' --tls-certificate first.key --tls-key first.key
ok '  and a file that is not there' refuses 'does not exist' --tls-certificate nothing --tls-key first.key
cp first.key open.key
chmod 644 open.key
ok '  and a key that everybody can read' refuses 'every user can use the private key' --tls-certificate first.crt --tls-key open.key
chmod 622 open.key
ok '  or write' refuses 'that only its owner can write to' --tls-certificate first.crt --tls-key open.key
openssl pkey -in first.key -aes256 -passout pass:x -out locked.key 2>/dev/null
ok '  or that is encrypted' refuses 'cannot be used' --tls-certificate first.crt --tls-key locked.key
openssl req -new -key first.key -subj /CN=localhost 2>/dev/null | openssl x509 -req -signkey first.key -days 0 -out expired.crt 2>/dev/null
ok '  and a certificate that has expired' refuses 'expired on' --tls-certificate expired.crt --tls-key first.key
ok 'config check finds the same' gives 1 'cannot be used' env CODEBOX_TLS_CERTIFICATE="$work/first.crt" CODEBOX_TLS_KEY="$work/second.key" "$codebox" config check
doctor() { { "$codebox" doctor --state "$state" --tls-certificate "$1.crt" --tls-key first.key 2>&1 || true; } | grep -E "$2"; }
ok_later 'doctor says how long a certificate is good' doctor first 'tls +the certificate expires on .* in (29|30) days'
ok_later '  and that a bad one is not' doctor second 'tls .*cannot be used'

# --- requests
cp first.crt server.crt
cp -p first.key server.key
printf '%s\n' "state: $state" 'listen: 127.0.0.1:0' 'pool-min: 1' "tls-certificate: $work/server.crt" "tls-key: $work/server.key" \
    "socket: $work/socket" >serve.yaml
start() {
    rm -f "$work/server.log"
    "$codebox" serve --config serve.yaml 2>"$work/server.log" &
    server=$!
    echo "$server" >>"$work/servers"
    wait_until grep -q 'serving on' "$work/server.log" || { cat "$work/server.log"; exit 1; }
    base=$(sed -n 's/.*serving on \(https:[^,]*\),.*/\1/p' "$work/server.log")
    port=${base##*:}
}
start
export CURL_CA_BUNDLE=$work/first.crt
serial() { openssl s_client -connect "127.0.0.1:$port" </dev/null 2>/dev/null | openssl x509 -noout -serial; }
serial_of() { openssl x509 -noout -serial -in "$1"; }
is_healthy() { curl -sS "$base/healthz" | expect '.status == "ok"'; }
ok 'requests are answered over TLS' is_healthy
ok '  under the name of the certificate' curl -sSf --resolve "localhost:$port:127.0.0.1" "https://localhost:$port/healthz"
with_version() { openssl s_client -connect "127.0.0.1:$port" "$1" </dev/null 2>&1; }
ok '  by TLS 1.3' with_version -tls1_3
ok '  and 1.2' with_version -tls1_2
not_version() { if openssl s_client -connect "127.0.0.1:$port" -cipher 'DEFAULT:@SECLEVEL=0' "$1" </dev/null; then return 1; fi; }
ok '  but not 1.1' not_version -tls1_1
with_suite() { openssl s_client -connect "127.0.0.1:$port" -tls1_2 -cipher "$1:@SECLEVEL=0" </dev/null 2>&1; }
without_suite() { if with_suite "$1"; then return 1; fi; }
ok '  with forward secrecy' with_suite ECDHE-RSA-AES256-GCM-SHA384
for suite in AES256-GCM-SHA384 AES128-GCM-SHA256 AES256-SHA ECDHE-RSA-AES256-SHA DHE-RSA-AES256-CCM ECDHE-RSA-AES128-SHA256; do
    ok "  and not by $suite" without_suite "$suite"
done
scanned() { sslscan --no-colour --xml="$work/scan.xml" "127.0.0.1:$port" && "$root/tests/system/tls/weaknesses.py" "$work/scan.xml"; }
if command -v sslscan >/dev/null; then
    ok '  sslscan finds TLS 1.2 and 1.3 alone, no weak suite and no weak group, and no renegotiation' scanned
else
    echo '  skipped the scan: sslscan is not installed (.ci/packages test)'
fi
uncompressed() { [ "$("$root/tests/system/tls/compression.py" 127.0.0.1 "$port")" = 0 ]; }
ok '  and a client that offers compression gets none' uncompressed
cleartext() {
    local status=0
    curl -sS "http://127.0.0.1:$port/healthz" || status=$?
    [ "$status" != 0 ]
}
ok 'cleartext gets no answer' cleartext
local_one() { curl -sS --unix-socket "$work/socket" http://localhost/healthz | expect '.status == "ok"'; }
ok 'the Unix socket has no TLS' local_one
one_shot() { post /v1/executions '{"language": "python", "code": "print(6 * 7)"}' | expect '.status == "completed"'; }
ok 'programs run' one_shot
streams() {
    curl -sSN -H 'Content-Type: application/json' -H 'Accept: text/event-stream' -d '{"language": "python", "code": "for i in range(300): print(i)"}' \
        "$base/v1/executions" >events
    grep -q '"text":.*299' events
}
ok 'and are streamed' streams
session=$(new_session)
head -c 6000000 /dev/urandom >large
file_comes_back() {
    curl -sSf -T large "$base/v1/sessions/$session/files/large"
    curl -sSf -o back "$base/v1/sessions/$session/files/large"
    cmp large back
}
ok 'a file of 6 MB comes back as it was' file_comes_back
of_origin() { [ "$(status_of -X POST -H "Origin: $1" -H 'Content-Type: application/json' -d '{"code": "1", "language": "python"}' "$base/v1/check")" = "$2" ]; }
ok 'pages of its own origin may call' of_origin "$base" 200
ok '  of the same host without TLS not' of_origin "http://127.0.0.1:$port" 403
many() { seq 300 | xargs -P 32 -I '{}' curl -sS -o /dev/null -w '%{http_code}\n' -X POST -H 'Content-Type: application/json' -d '{"code": "1", "language": "python"}' "$base/v1/check" | sort | uniq -c | grep -q '^ *300 200$'; }
ok 'three hundred connections, thirty-two at a time, are served' many
handshake_is_cut() { # the server closes the connection of a client that sends nothing
    python3 - "$port" <<'P'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(30)
s.send(b"\x16\x03\x01\x02\x00\x01")
while s.recv(100):
    pass
P
}
ok_later 'a handshake that is not finished is ended' handshake_is_cut

# --- processes with the key
processes() { children_of "$server"; }
holders() {
    local pid
    for pid in "$server" $(processes); do
        echo "$(cat "/proc/$pid/comm") $(python3 "$root/tests/system/tls/in_memory.py" "$pid" "$1")"
    done >holders
    cat holders
    grep -q '^cbx-front 1$' holders # the test finds the key in the process that has it
    [ "$(grep -cv -e '^cbx-front' -e '^codebox' <(grep ' 1$' holders))" = 0 ]
}
ok 'the private key is in the memory of the front and of the master, and in no other' holders server.key

# --- certificates that change
cp second.crt server.crt # not yet the key
reload 'reload: failed'
ok 'a certificate without its key keeps the one in use' is_healthy
ok '  and the log says why' grep -q 'reload: .*server.crt.*' "$work/server.log"
(
    for _ in $(seq 150); do curl -sS --cacert both.crt -o /dev/null -w '%{http_code}\n' "$base/healthz" || echo failed; done >codes
) &
requests=$!
cat first.crt second.crt >both.crt
curl -sSN -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \
    -d '{"language": "python", "code": "import time\nfor i in range(40):\n    print(i, flush=True)\n    time.sleep(0.1)"}' "$base/v1/executions" >long &
stream=$!
wait_until grep -q '"text"' long
cp second.key server.key
reload 'reload: done'
ok 'SIGHUP loads another certificate' [ "$(serial)" = "$(serial_of second.crt)" ]
wait "$requests" "$stream" || true
no_request_failed() { [ "$(sort codes | uniq -c | sed 's/^ *//')" = '150 200' ]; }
ok '  without a request that fails' no_request_failed
stream_was_whole() { grep -q '"text":.*39' long; }
ok '  and a stream that had begun goes on to its end' stream_was_whole
export CURL_CA_BUNDLE=$work/second.crt
expires() { curl -sS "$base/metrics" | grep '^codebox_tls_certificate_expires_timestamp_seconds [0-9.e+]*$'; }
ok '  and the metrics' expires
ok '  and the log says until when it is valid' grep -q 'the TLS certificate expires on' "$work/server.log"
ok '  and its key is where the first one was' holders server.key
front() { for pid in $(processes); do [[ $(cat "/proc/$pid/comm") != cbx-front ]] || echo "$pid"; done; }
before=$(front)
kill -9 "$before"
another_front() { [ -n "$(front)" ] && [ "$(front)" != "$before" ] && is_healthy; }
ok 'a front that was killed is replaced' wait_until another_front
ok '  by one with the new certificate' [ "$(serial)" = "$(serial_of second.crt)" ]
sed -i '/^tls-/d' serve.yaml
reload 'used from the next start on'
ok 'TLS is not switched off by a reload' is_healthy
finish_later
stop_server
finish
