#!/bin/bash
# SPDX-License-Identifier: MIT
# nginx and HAProxy in front of the gateway: the configurations of gateway/examples, and an nginx
# whose configuration has only the gateway's address.
. "$(dirname "$0")/lib.sh"
start_server --public-url https://codebox.example.com --hsts 86400
gateway=${base##*/}
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=codebox.example.com -addext subjectAltName=DNS:codebox.example.com \
    -keyout "$work/codebox.key" -out "$work/codebox.crt" 2>/dev/null
cat "$work/codebox.crt" "$work/codebox.key" >"$work/codebox.pem"
free_port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'; }
proxies=()
trap 'kill "${proxies[@]}" $server 2>/dev/null || true; rm -rf "$work"' EXIT

ours() { # prints the file, with the addresses and the certificate of this test
    sed -e "s|/etc/ssl/|$work/|; s|127\.0\.0\.1:8000|$gateway|; s|listen 443|listen 127.0.0.1:$port|; s|bind :443|bind 127.0.0.1:$port|" "gateway/examples/$1"
}
start_nginx() { # SERVER BLOCK
    mkdir -p "$work/$port"
    printf '%s\n' 'daemon off;' "pid $work/$port/pid;" "error_log $work/$port/errors;" 'events { }' \
        "http { access_log off; client_body_temp_path $work/$port/bodies; proxy_temp_path $work/$port/proxy;" \
        "fastcgi_temp_path $work/$port/f; uwsgi_temp_path $work/$port/u; scgi_temp_path $work/$port/s;" "$1" '}' >"$work/$port/nginx.conf"
    [ "$(id -u)" != 0 ] || sed -i '1i user root;' "$work/$port/nginx.conf"
    PATH=$PATH:/usr/sbin nginx -e "$work/$port/errors" -c "$work/$port/nginx.conf" &
    proxies+=($!)
}

# --- checks behind each proxy
answers() { # PATH [OPTIONS ...]
    curl -sS --connect-to "::127.0.0.1:$port" --cacert "$work/codebox.crt" "${@:2}" "$front$1"
}
is_up() { [ "$(answers /healthz | jq -r .status)" = ok ]; }
runs() {
    [ "$(answers /v1/executions -H 'Content-Type: application/json' -d '{"code": "print(6 * 7)"}' | jq -r '.output[].text')" = 42 ]
}
has_head() { [ "$(answers /healthz --head -o "$work/head" -w '%{http_code} %{size_download}')" = '200 0' ] && grep -qi '^content-length: [1-9]' "$work/head"; }
head -c 40000000 /dev/zero | tr '\0' ' ' >"$work/large"
says_the_limit() {
    answers /v1/check -H 'Content-Type: application/json' --data-binary "@$work/large" -o "$work/answer" -w '%{http_code}' | grep -qx 413
    grep -q 'larger than the [0-9]* bytes' "$work/answer"
}
# A program that runs until it is cancelled: the proxy must not hold its output back until the end.
streams() {
    local id
    rm -f "$work/events"
    answers /v1/executions -N -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
        -d '{"language": "shell", "code": "echo begun; sleep 100"}' >"$work/events" &
    wait_until grep -q begun "$work/events"
    id=$(grep -om1 '"execution_id":"[^"]*"' "$work/events" | cut -d'"' -f4)
    [ "$(answers "/v1/executions/$id/cancel" -X POST -o "$work/answer" -w '%{http_code}')" = 202 ]
    wait $!
    grep -q '"outcome":' "$work/events"
}
all_hold() { # NAME
    ok "behind $1 the gateway is reached" wait_until is_up
    ok '  a program runs' runs
    ok '  HEAD is answered' has_head
    ok '  an event comes while the program runs' streams
}

port=$(free_port) front=https://codebox.example.com
start_nginx "$(ours nginx.conf)"
all_hold 'the example of nginx'
ok '  a body that is too large is 413 with the limit' says_the_limit
secure() { answers /healthz --head -o - | tr -d '\r' | grep -qix 'strict-transport-security: max-age=86400'; }
ok '  and --hsts is told to browsers' secure

port=$(free_port)
ours haproxy.cfg >"$work/haproxy.cfg"
PATH=$PATH:/usr/sbin haproxy -f "$work/haproxy.cfg" -db 2>"$work/haproxy.log" &
proxies+=($!)
all_hold 'the example of HAProxy'
ok '  a body that is too large is 413 with the limit' says_the_limit

port=$(free_port) front=http://127.0.0.1:$port
start_nginx "server { listen 127.0.0.1:$port; location / { proxy_pass http://$gateway; } }"
all_hold 'an nginx that speaks HTTP/1.0'
kill "${proxies[@]}"
wait "${proxies[@]}" 2>/dev/null || true
finish
