#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetched keys of issuers: rotation, unreachable servers, wrong responses, killed processes, SIGHUP.
# test_identity.sh tests the tokens themselves.
source "$(dirname "$0")/lib.sh"
root=$PWD
chmod 711 "$work" # processes with their own users cannot read this folder; the configuration belongs to this user
keys=$work/keys
mkdir "$keys"
issuer_server= port=
trap 'kill -9 $server $issuer_server $other_server 2>/dev/null || true; rm -rf "$work"' EXIT
other_server=

certificate() { # FILE NAME
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$2" -addext "subjectAltName=DNS:$2" -keyout "$work/$1.key" -out "$work/$1.crt" 2>/dev/null
}
certificate issuer localhost
certificate other localhost
start_issuer() { # always at the same port
    rm -f "$keys/port"
    python3 "$root/tests/system/issuers/https_server.py" "$keys" "$work/issuer.crt" "$work/issuer.key" $port &
    issuer_server=$!
    wait_until test -e "$keys/port"
    port=$(cat "$keys/port")
}
stop_process() { kill -9 "$1"; wait "$1" 2>/dev/null || true; }
stop_issuer() { stop_process "$issuer_server"; issuer_server=; }

make_key() { openssl genpkey -algorithm ed25519 -out "$work/$1.pem" 2>/dev/null; }
openssl genrsa -out "$work/rsa.pem" 2048 2>/dev/null
make_key first
make_key second
publish() { # publishes a key of the issuer
    node tests/system/make_jwks.mjs "$work/$2.pem" "$work/rsa.pem" | jq -c --arg kid "$3" '.keys[0].kid = $kid' >"$keys/$1.new"
    mv "$keys/$1.new" "$keys/$1.json"
}
jwt() { # ISSUER KEY KID
    node tests/system/make_jwt.mjs "$work/$2.pem" "$work/rsa.pem" "{\"iss\": \"https://$1.test\", \"kid\": \"$3\"}"
}
gets() { # checks the status of a request with the token; the headers are in $work/headers
    local status
    status=$(curl -sS -o "$work/body" -D "$work/headers" -w '%{http_code}' -H "Authorization: Bearer $2" "$base/v1/sessions")
    [ "$status" = "$1" ] || { echo "status $status, not $1: $(cat "$work/body")"; return 1; }
}
logged() { grep -qE "$1" "$work/server.log" || { echo "the log has no '$1'"; return 1; }; }
times_logged() { [ "$(grep -cE "$2" "$work/server.log")" = "$1" ] || { grep -E "$2" "$work/server.log"; return 1; }; }
child() { pgrep -P "$server" -x "$1"; }
requests() { grep -c "^$1 " "$keys/requests" || true; }

row() { # NAME [URL [MORE]]
    echo "  - {name: $1, issuer: \"https://$1.test\", audience: \"https://gateway.test/mcp\", jwks: \"${2:-https://localhost:$port/$1}\", ${3-ca: $work/issuer.crt}}"
}
config() { # ROWS
    printf 'policy: default\nissuers:\n%s\n' "$1" >"$work/codebox.yaml"
    chmod 644 "$work/codebox.yaml"
}

# --- the configuration
for name in corp good; do publish "$name" first one; done
start_issuer
accepts() { config "$(row corp "$@")"; gives 0 ok "$codebox" config check "$work/codebox.yaml"; }
refuses() { # FRAGMENT COLUMN URL ...
    local fragment=$1 column=$2
    shift 2
    config "$(row corp "$@")"
    gives 1 "$fragment" "$codebox" config check "$work/codebox.yaml"
    grep -qF "codebox.yaml:3:$column" "$work/out.txt"
}
ok 'a URL is accepted' accepts
ok 'and an address with a port, a path and a query' accepts 'https://[::1]:8443/tenants/a%20b/keys?p=one'
url_column=91 row_column=5
ok 'another scheme is refused, with line and column' refuses "'jwks' is a URL of another scheme, allowed is the path of a file, or https://HOST[:PORT]/PATH" $url_column 'http://localhost/keys'
ok 'so is user information' refuses 'a URL with user information' $url_column 'https://ann:secret@localhost/keys'
ok 'a fragment' refuses 'a URL with a fragment' $url_column 'https://localhost/keys#one'
ok 'authorities for a file of keys' refuses "'ca' is for keys that are fetched" $row_column keys.json
ok 'an interval of a second' refuses 'from 60 to 86400' 132 "" "refresh: 1"
no_certificate() { echo nothing >"$work/none.crt"; config "$(row corp '' "ca: $work/none.crt")"; gives 1 'it has no certificate' "$codebox" config check "$work/codebox.yaml"; }
ok 'authorities that are none' no_certificate
of_another() { cp "$work/issuer.crt" "$work/open.crt"; chmod 666 "$work/open.crt"; config "$(row corp '' "ca: $work/open.crt")"; gives 1 'the file of authorities has mode 666' "$codebox" config check "$work/codebox.yaml"; }
ok 'and those that others can write' of_another

# --- away at the start
stop_issuer
config "$(row corp; row other)"
https_proxy=http://127.0.0.1:1 start_server --config "$work/codebox.yaml"
corp=$(jwt corp first one)
not_yet() { gets 503 "$corp"; grep -qi '^Retry-After: [0-9]' "$work/headers"; grep -q 'tokens of this issuer cannot be verified now' "$work/body"; }
ok 'while the server of the keys is away, tokens of the issuer are answered 503 with Retry-After' not_yet
others() { [ "$(status_of "$base/healthz")" = 200 ]; gets 401 "$(jwt nobody first one)"; }
ok '  and everybody else as always' others
ok '  the log has the reason' wait_until logged "issuer 'corp': its keys cannot be fetched: .*(refused|connect).*503"
start_issuer
ok 'when it is back, they are accepted' wait_until gets 200 "$corp"
once() { times_logged 1 "issuer 'corp': its keys cannot be fetched"; times_logged 1 "issuer 'corp': its keys were fetched again"; }
ok '  and the log has each change once' once
forged() { gets 401 "$(jwt corp second one)"; }
ok 'a token that another key signed is refused' forged
plain() { grep -q '^corp None codebox/' "$keys/requests"; }
ok 'the request shows no credential, and takes no proxy of the environment' plain
metrics() {
    local text
    text=$(curl -sS -H "Authorization: Bearer $("$codebox" token create --state "$state" --principal ops 2>/dev/null)" "$base/metrics")
    grep -qE '^codebox_issuer_keys_age_seconds\{issuer="corp"\} [0-9.]+$' <<<"$text"
    grep -qE '^codebox_issuer_keys_failed_fetches_total\{issuer="corp"\} [1-9]' <<<"$text"
    lacks 'keys_age_seconds.issuer="other"' <<<"$text"
}
stop_server

# --- confinement
config "$(row corp; row other)"'
principals:
  - {name: ops, rights: ["audit:read"]}
  - {name: "corp:*"}
  - {name: "other:*"}'
start_server --config "$work/codebox.yaml"
wait_until gets 200 "$corp"
ok 'the age of the keys and failed fetches are metrics' wait_until metrics
confined() { grep -qE '^Seccomp:\s+2' "/proc/$(child cbx-keys)/status"; grep -qE '^CapEff:\s+0+$' "/proc/$(child cbx-keys)/status"; grep -qE '^NoNewPrivs:\s+1' "/proc/$(child cbx-keys)/status"; }
ok 'the process that fetches has no capabilities and a filter of system calls' confined
if [ "$(id -u)" = 0 ]; then
    own_user() { local uid; uid=$(awk '/^Uid:/ { print $2 }' "/proc/$(child cbx-keys)/status"); [ "$uid" -gt 2080000000 ]; [ "$uid" != "$(awk '/^Uid:/ { print $2 }' "/proc/$(child cbx-front)/status")" ]; }
    ok '  and a user of its own' own_user
    sockets() { local fd; fd=$(ls -l "/proc/$(child cbx-keys)/fd" | grep -cE 'codebox|tokens|audit|state' || true); [ "$fd" = 0 ]; }
    ok '  and no file of the gateway' sockets
fi

# --- rotation
fresh=$(jwt corp second two)
rotate() {
    publish corp second two
    for i in 1 2 3 4 5 6; do gets_alone "$i" & done
    wait
    [ "$(cat "$work"/rotated-* | sort -u)" = 200 ] || { cat "$work"/rotated-*; return 1; }
}
gets_alone() { curl -sS -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $fresh" "$base/v1/sessions" >"$work/rotated-$1"; }
before=$(requests corp)
ok 'a token with a new key is accepted at once, and so are those that come with it' rotate
one_more() { [ "$(requests corp)" = $((before + 1)) ]; }
ok '  by one fetch' one_more
ok '  those of the key before are refused' gets 401 "$corp"
ok '  which asks for no second fetch' one_more

# --- killed
kill_child() { local pid; pid=$(child "$1"); kill -9 "$pid"; other_child() { [ -n "$(child "$1")" ] && [ "$(child "$1")" != "$2" ]; }; wait_until other_child "$1" "$pid"; }
kill_child cbx-front
ok 'a front that was killed has the keys again' wait_until gets 200 "$fresh"
stop_issuer
kill_child cbx-front
ok '  also while their server is away' wait_until gets 200 "$fresh"
start_issuer
kill_child cbx-keys
publish corp first three
third=$(jwt corp first three)
ok 'a process that fetches is started again, and fetches' wait_until gets 200 "$third"
ok '  the log says so' logged 'the process that fetches keys of issuers ended; it is started again'

# --- fails
kill_child cbx-front # a front requests an unknown key from an issuer once in 30 s
wait_until gets 200 "$third"
echo 500 >"$keys/corp.mode"
unknown() { gets 401 "$(jwt corp second four)"; }
ok 'a key that is not known while the server fails is refused' unknown
ok '  the keys in use stay' gets 200 "$third"
ok '  the log has the reason' logged "issuer 'corp': its keys cannot be fetched: the answer has the status 500, allowed is 200; those in use stay"
rm "$keys/corp.mode"
ok '  and that it works again' wait_until logged "issuer 'corp': its keys were fetched again"

kill_child cbx-front
wait_until gets 200 "$third"
: >"$work/server.log"
echo hang >"$keys/corp.mode"
while_it_hangs() {
    curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $(jwt corp second five)" "$base/v1/sessions" >"$work/waiting" &
    for _ in 1 2 3 4 5; do gets 200 "$third"; done
    wait $!
    [ "$(cat "$work/waiting")" = 401 ]
}
ok 'a server that hangs holds up the request with a key that is not known, and no other one' while_it_hangs
ok '  the fetch ends' wait_until logged "issuer 'corp': its keys cannot be fetched: .*timed out"
rm "$keys/corp.mode"
ok '  and the next one works' wait_until logged "issuer 'corp': its keys were fetched again"

# --- SIGHUP
stop_issuer
config "$(row corp; row good)"
reload 'reload: '
ok 'a row that stays keeps its keys, also while their server is away' gets 200 "$third"
good=$(jwt good first one)
ok '  a new one has none yet' gets 503 "$good"
start_issuer
ok '  and has them when they were fetched' wait_until gets 200 "$good"
config "$(row corp "https://localhost:$port/moved"; row good)"
publish moved second one
moved=$(jwt corp second one)
reload 'reload: '
ok 'with another URL there are other keys' wait_until gets 200 "$moved"
ok '  and those before are not valid' gets 401 "$third"
config "$(row good)"
reload 'reload: '
ok 'tokens of an issuer that was removed are refused' gets 401 "$moved"
ok '  and those of the rest are not' gets 200 "$good"
cp "$keys/good.json" "$work/good.json"
chmod 644 "$work/good.json"
config "$(row good good.json 'principal-claim: sub')"
reload 'reload: '
no_fetcher() { [ -z "$(child cbx-keys)" ]; }
ok 'without a URL no process fetches' wait_until no_fetcher
ok '  keys of a file are used' gets 200 "$good"
config "$(row good)"
reload 'reload: '
ok 'and with one there is one again' wait_until child cbx-keys
ok '  whose keys are used' wait_until gets 200 "$good"
stop_server

# --- malformed responses
rm -rf "$work/other"
mkdir "$work/other"
publish other first one
cp "$keys/other.json" "$work/other/unknown.json"
python3 "$root/tests/system/issuers/https_server.py" "$work/other" "$work/other.crt" "$work/other.key" &
other_server=$!
wait_until test -e "$work/other/port"
for name in redirect large no-json endless; do echo "$name" >"$keys/$name.mode"; done
publish named first one
config "$(for name in redirect large no-json endless absent good; do row "$name"; done
    row unknown "https://localhost:$(cat "$work/other/port")/unknown"
    row system "https://localhost:$port/good" 'principal-claim: sub'
    row named "https://127.0.0.1:$port/named")"
start_server --config "$work/codebox.yaml"
ok 'an issuer beside others that fail is served' wait_until gets 200 "$good"
gives_none() { # NAME REASON
    wait_until logged "issuer '$1': its keys cannot be fetched: .*$2"
    gets 503 "$(jwt "$1" first one)"
}
ok 'a redirect is not followed' gives_none redirect 'status 302, allowed is 200 \(redirects are not followed\)'
ok '300 kB are no keys' gives_none large 'the answer has more than 262144 bytes'
ok 'nor is an answer without an end' gives_none endless 'the answer has more than 262144 bytes'
ok 'nor one that is no JSON' gives_none no-json 'JSON|json|line 1|expected|token'
ok 'nor a status 404' gives_none absent 'status 404'
ok 'a certificate that its authorities did not make is refused' gives_none unknown 'certificate'
ok '  and one that the system does not know' gives_none system 'certificate'
ok '  and one for another name' gives_none named 'certificate.*(name|127.0.0.1)|alternative'
unasked() { [ ! -e "$work/other/requests" ] && [ "$(requests named)" = 0 ]; }
ok '  none of these servers got a request' unasked
stop_server
start_server --config "$work/codebox.yaml" --tls-certificate "$work/other.crt" --tls-key "$work/other.key"
ok 'a gateway with a certificate of its own fetches keys too' wait_until logged "issuer 'good': its keys were fetched"
stop_server
stop_process "$other_server"
stop_process "$issuer_server"
audit_is_whole >/dev/null || { echo '  FAILED the audit log is whole'; failed=1; }
finish
