#!/bin/bash
# SPDX-License-Identifier: MIT
# Kept heads for an operator: a state directory that was restored from an older copy, two gateways
# with one folder, failing places, syslog.
source "$(dirname "$0")/lib.sh"
cd "$work"
audit() { "$codebox" audit "$@" --state "$state"; }
check() { post /v1/check "$(jq -n --arg c "$1" '{code: $c, language: "python"}')"; }
checks() { # N
    for _ in $(seq "$1"); do check "print('$RANDOM')" >/dev/null; done
}
metric() { curl -sS "$base/metrics" | sed -n "s/^$1 //p"; }
heads=$work/heads
mkdir -m 700 "$heads"

# --- a rollback
start_server --audit-heads "$heads"
checks 4
stop_server
ok 'the log matches the heads that were kept' gives 0 'the newest is of record 4' audit verify --head "$heads"
cp -a "$state" "$work/yesterday"
start_server --audit-heads "$heads"
checks 5
stop_server
ok '  and those of a gateway that was started anew' gives 0 'the newest is of record 9' audit verify --head "$heads"
mv "$state" "$work/today"
cp -a "$work/yesterday" "$state"
ok 'a state directory that was put back to an older copy is whole by itself' gives 0 '4 records, all in order' audit verify
ok '  and the kept heads say which record is missing' gives 1 'record 9 is missing' audit verify --head "$heads"
start_server
checks 10
stop_server
ok '  also when the gateway went on since' gives 1 'record 9 is another one' audit verify --head "$heads"
own=$(ls "$heads"/*.heads)
ok '  from the file' gives 1 'record 9 is another one' audit verify --head "$own"
from_stdin() { sed 's/^/Nov 26 10:00:00 host codebox: /' "$own" | audit verify --head -; }
ok '  from lines of syslog' gives 1 'record 9 is another one' from_stdin
rm -rf "$state" && mv "$work/today" "$state"

# --- malformed heads
forged() { sed '1s/.$/x/' "$own" >"$work/forged"; audit verify --head "$work/forged"; }
ok 'a head that is malformed is an error' gives 2 'forged:1: the head is malformed' forged
resigned() { tr 0-9a-f 1-9a-f0 <<<"$(cut -c 225- "$own" | head -n 1)" | paste -d ' ' <(head -n 1 "$own" | cut -c 1-223) - >"$work/forged"; audit verify --head "$work/forged"; }
ok '  and one with another signature' gives 2 'the signature of the head is not valid' resigned
ok '  and a file without heads' gives 2 'has no kept head' audit verify --head /etc/hostname
ok '  and a folder without any' gives 2 'has no kept heads' audit verify --head /etc
ok '  and a device' gives 2 'is a device' audit verify --head /dev/zero
ok '  and what is not there' gives 2 'No such file' audit verify --head "$work/none"
ok '--head is for verify' gives 2 "for 'audit verify' alone" audit tail --head "$heads"

# --- a URL
mkdir "$work/www"
cp "$own" "$work/www/heads"
printf 'GIF89a' >"$work/www/picture"
cat >"$work/www.py" <<'P'
import http.server, os, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/away':
            self.send_response(302)
            self.send_header('Location', 'file:///etc/passwd')
            self.end_headers()
        else:
            super().do_GET()
    def log_message(self, *args):
        pass
os.chdir(sys.argv[1])
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
open(sys.argv[2] + '.new', 'w').write(str(server.server_port))
os.rename(sys.argv[2] + '.new', sys.argv[2])
server.serve_forever()
P
python3 "$work/www.py" "$work/www" "$work/port" &
www=$!
trap 'kill -9 $server $www 2>/dev/null || true; rm -rf "$work"' EXIT
wait_until test -e "$work/port"
url=http://127.0.0.1:$(cat "$work/port")
ok 'heads are read from a URL' gives 0 'the newest is of record 9' audit verify --head "$url/heads"
ok '  without following a redirect' gives 2 'status 302, allowed is 200' audit verify --head "$url/away"
ok '  and what is not there is an error' gives 2 'status 404, allowed is 200' audit verify --head "$url/none"
ok '  and what is no head' gives 2 'has no kept head' audit verify --head "$url/picture"
ok '  and a file by its URL' gives 2 'Unsupported protocol' audit verify --head "file://$own"
kill "$www"

# --- pruning, a new key
start_server --audit-heads "$heads" --audit-max-size 4
checks 8
audit keygen --reason 'yearly change' >/dev/null
checks 8
stop_server
"$codebox" audit prune --keep 0 --state "$state" >/dev/null
ok 'heads match over a change of the key, and those of removed records are no finding' gives 0 'are of records that were removed' audit verify --head "$heads"

# --- two gateways, one folder
first=$state
state=$work/second
start_server --audit-heads "$heads"
checks 3
stop_server
ok 'two gateways keep their heads in one folder' gives 0 'are of other logs' audit verify --head "$heads"
ok '  but the file of one is not that of the other' gives 2 'is of another log' audit verify --head "$own"
mv "$heads/$(basename "$own")" "$work/aside"
ok '  and a log whose heads are gone has none' gives 2 'so is every other one' "$codebox" audit verify --state "$first" --head "$heads"
mv "$work/aside" "$heads/$(basename "$own")"

# --- run and mcp, doctor
echo 'print("it", "ran")' >"$work/ran.py"
last_seq() { tail -n 1 "$state/audit.jsonl" | jq .seq; }
ran() {
    gives 0 'it ran' "$codebox" run --state "$state" --audit-heads "$heads" "$work/ran.py"
    gives 0 "the newest is of record $(last_seq)" audit verify --head "$heads"
}
ok '`codebox run` keeps heads of what it records' ran
called() {
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check_code","arguments":{"code":"print(1)","language":"python"}}}' >"$work/calls"
    local before
    before=$(last_seq)
    : >"$work/answers"
    { cat "$work/calls"; wait_until grep -q '"id":2' "$work/answers"; } | "$codebox" mcp --state "$state" --audit-heads "$heads" >"$work/answers"
    [ "$(last_seq)" -gt "$before" ]
    wait_until gives 0 "the newest is of record $(last_seq)" audit verify --head "$heads"
}
ok '  and so does `codebox mcp`' called
doctor_says() { "$codebox" doctor --state "$1" --audit-heads "$heads" >"$work/doctor" 2>&1 || true; grep "audit heads" "$work/doctor" | grep "$2"; }
ok 'doctor compares them' doctor_says "$state" '^ok .* kept heads match the log'
cp -a "$work/yesterday" "$work/rolled"
ok '  and finds an older copy' doctor_says "$work/rolled" 'is missing'

# --- refused places
refused() { # FRAGMENT PLACE
    gives 2 "$1" "$codebox" serve --state "$state" --listen 127.0.0.1:0 --audit-heads "$2"
}
ok 'serve is not started with a folder that is missing' refused 'cannot be opened: No such file' "$work/nowhere"
mkdir -m 777 "$work/open" && chmod 777 "$work/open"
ok '  or that others can write to' refused 'has mode 777' "$work/open"
ln -s "$heads" "$work/link"
ok '  or that is a link' refused 'is a symbolic link' "$work/link"
mkdir -m 700 "$work/fifo" && mkfifo "$work/fifo/$(basename "$(ls -t "$heads"/*.heads | head -n 1)")"
ok '  or whose file is a FIFO' refused 'is no regular file' "$work/fifo"
ok '  or with a daemon that is not there' refused 'connect: No such file' "unix://$work/nowhere"
printf 'audit-heads: %s\nstate: %s\n' "$work/open" "$state" >"$work/config.yaml"
ok '  and config check says so, with the place in the file' gives 1 'config.yaml:1' "$codebox" config check --config "$work/config.yaml"

# --- a place that fails while it runs
if mkdir "$work/small" && mount -t tmpfs -o size=16k none "$work/small" 2>/dev/null; then
    trap 'umount -l "$work/small" 2>/dev/null || true; kill -9 $server $www 2>/dev/null || true; rm -rf "$work"' EXIT
    chmod 700 "$work/small"
    start_server --audit-heads "$work/small"
    dd if=/dev/zero of="$work/small/fill" bs=1k 2>/dev/null || true
    check 'print(1)' >"$work/answer"
    decided() { jq -e '.verdict == "allow"' "$work/answer"; }
    ok 'decisions go on when the folder is full' decided
    degraded() { curl -sS "$base/readyz" | jq -e '.ready and .degraded["audit-heads"]'; }
    fails() { [ "$(metric codebox_audit_heads_failures_total)" -ge 1 ] && [ "$(metric codebox_audit_heads_behind)" -ge 1 ]; }
    logged() { grep -q 'heads of the audit log cannot be kept' "$work/server.log"; }
    ok '  the metrics count it' wait_until fails
    ok '  readiness and log say it' wait_until degraded
    ok '  once' wait_until logged
    rm "$work/small/fill"
    kept() { grep -q 'are kept again' "$work/server.log"; }
    ok '  and heads are kept when there is space again' wait_until kept
    stop_server
    ok '  and match' gives 0 'kept heads match' audit verify --head "$work/small"
    umount "$work/small"
else
    echo '  skip  a folder that is full: no file system can be mounted'
fi

# --- syslog
cat >"$work/daemon.py" <<'P'
import os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
open(sys.argv[2], 'w').close()
while True:
    message = server.recv(65536)
    with open(sys.argv[2], 'ab') as log:
        log.write(message + b'\n')
P
python3 "$work/daemon.py" "$work/log.sock" "$work/syslog" &
www=$!
wait_until test -e "$work/syslog"
start_server --audit-heads "unix://$work/log.sock"
checks 3
stop_server
last=$(tail -n 1 "$state/audit.jsonl" | jq .seq)
arrived() { grep -q "codebox - head \[codebox@32473 seq=\"$last\" " "$work/syslog"; }
ok 'heads are sent to a syslog daemon, the last one at the end' wait_until arrived
from_log() { audit verify --head - <"$work/syslog"; }
ok '  and its lines are compared' gives 0 "the newest is of record $last" from_log
kill "$www"
finish
