#!/bin/bash
# SPDX-License-Identifier: MIT
# The audit log for an operator: files, filters, keys, pruning, syslog servers that come and go, and
# a disk that takes no record.
source "$(dirname "$0")/lib.sh"
root=$PWD
cd "$work"
audit() { "$codebox" audit "$@" --state "$state"; }
check() { post /v1/check "$(jq -n --arg c "$1" '{code: $c, language: "python"}')"; }
checks() { # N
    for _ in $(seq "$1"); do check "print('$RANDOM')" >/dev/null; done
}
# The current file may be empty.
last_seq() { cat "$state"/audit-*.jsonl "$state/audit.jsonl" 2>/dev/null | tail -n 1 | jq .seq; }

# --- several files
start_server --audit-max-size 8
check $'import os\nos.system("\e[31mid")' >"$work/denied"
checks 30
files_are_many() { [ "$(ls "$state" | grep -c '^audit-[0-9]\{20\}\.jsonl$')" -ge 3 ]; }
ok 'a file of the log is closed at its size, and the next one begins' files_are_many
ok 'verify reads all of them' gives 0 'all in order' audit verify
seqs_are_whole() { cat "$state"/audit-*.jsonl "$state/audit.jsonl" | jq -se 'map(.seq) == [range(1; length + 1)]'; }
ok '  whose names sort as records do' seqs_are_whole
touched() { # runs the command on a copy of the log
    rm -rf "$work/copy"
    cp -r "$state" "$work/copy"
    local problem=$1 first second
    first=$(ls "$work/copy" | grep '^audit-' | sed -n 1p) second=$(ls "$work/copy" | grep '^audit-' | sed -n 2p)
    cd "$work/copy"
    "$2" "$first" "$second"
    cd - >/dev/null
    gives 1 "$problem" "$codebox" audit verify --state "$work/copy"
}
remove_first() { rm "$1"; }
remove_second() { rm "$2"; }
rename_second() { mv "$2" audit-00000000000000009999.jsonl; }
change_second() { sed -i '1s/"verdict":"allow"/"verdict":"deny"/' "$2"; }
cut_second() { truncate -s -1 "$2"; }
empty_current() { : >audit.jsonl; }
add_file() { cp "$1" audit-x.jsonl; }
ok 'a missing first file is found' touched 'removed, added or' remove_first
ok '  and a missing one in the middle' touched 'removed, added or' remove_second
ok '  and a renamed one' touched 'removed, added or' rename_second
ok '  and a changed one' touched 'its hash does not fit' change_second
ok '  and a cut one' touched 'torn' cut_second
ok '  and the loss of the newest records' touched 'records at the end are missing' empty_current
ok '  and a file that is none of the log' touched 'none of the audit log' add_file

# --- tail and show
id=$(jq -r '.id // .decision' "$work/denied")
ok 'tail shows the last records' gives 0 'decision' audit tail --lines 3
only_denied() { audit tail --lines 100 --verdict deny >"$work/tail" && [ "$(wc -l <"$work/tail")" = 1 ] && grep -q os.system "$work/tail"; }
ok '  with a verdict alone' only_denied
ok '  of a rule' gives 0 'os.system' audit tail --rule 'py.*'
nothing() { audit tail "$@" >"$work/tail" && [ ! -s "$work/tail" ]; }
ok '  of nobody' nothing --principal nobody
ok '  of another frontend' nothing --origin mcp
ok '  of a time' nothing --until 2020-01-01
ok '  since a time' gives 0 'decision' audit tail --since 1h
ok '  and says when a time is none' gives 2 'allowed is a time' audit tail --since yesterday
"$codebox" audit tail -f --lines 1 --state "$state" >"$work/follow" &
follower=$!
checks 12
followed() { tail -n 1 "$work/follow" | grep -q "^ *$(last_seq) "; }
ok 'tail -f goes on over the end of a file' wait_until followed
kill "$follower"
shown() {
    audit show "$1" >"$work/show"
    grep -q 'by rule py.process os.system' "$work/show" && lacks $'\e' <"$work/show"
}
seq_of_denied=$(cat "$state"/audit-*.jsonl "$state/audit.jsonl" | jq 'select(.body.verdict == "deny") | .seq')
ok 'show prints a decision by its number' shown "$seq_of_denied"
id=$(cat "$state"/audit-*.jsonl "$state/audit.jsonl" | jq -r 'select(.body.verdict == "deny") | .body.id')
ok '  and by its id' shown "$id"
ok '  and says when there is none' gives 1 'no record' audit show nonsense
"$codebox" run --state "$state" $'/tmp/\e]0;title\a.py' >/dev/null 2>&1 || true
printf 'import os; os.system("id")' >"$work/"$'x\e[31m.py'
"$codebox" run --state "$state" "$work/"$'x\e[31m.py' >/dev/null 2>&1 || true
harmless() { audit tail --lines 3 | lacks $'\e' && audit show "$(last_seq)" | lacks $'\e'; }
ok 'control sequences in the log do not reach the terminal' harmless

# --- exports and the report
printf 'import os; os.system("id")' >"$work/a|b=c \\d= e.py"
"$codebox" run --state "$state" "$work/a|b=c \\d= e.py" >/dev/null 2>&1 || true
printf 'print(1)' >"$work/<script>alert(1)<"
"$codebox" run --state "$state" "$work/<script>alert(1)<" --language python >/dev/null 2>&1 || true
audit_hostile() { # writes records as the gateway does for a hostile caller, to a log of their own
    "$codebox" audit keygen --state "$work/hostile" >/dev/null
    python3 "$root"/tests/system/audit/write_records.py "$work/hostile"
}
audit_hostile
exported() { # FORMAT STATE
    "$codebox" audit export --format jsonl --state "$2" >"$work/jsonl"
    "$codebox" audit export --format "$1" --state "$2" >"$work/export"
    python3 "$root"/tests/system/audit/check_export.py "$1" "$work/export" "$work/jsonl"
}
for format in ecs ocsf cef; do
    ok "export prints $format as its rules have it" exported "$format" "$state"
    ok '  of every type of record, with hostile texts' exported "$format" "$work/hostile"
done
same_lines() { cmp "$work/jsonl" <(cat "$work/hostile/audit.jsonl"); }
ok '  and the records as they are' same_lines
reported() { # STATE WORD ...
    "$codebox" audit report --state "$1" --output "$work/report.html"
    python3 "$root"/tests/system/audit/check_report.py "$work/report.html" "${@:2}"
}
ok 'report writes a page without scripts, of the whole log' reported "$state" py.process local uid:
ok '  in which no text of the log is an element' reported "$work/hostile" '<img src=x onerror=alert(1)>' '</svg><script>alert(1)</script>'
cp -r "$work/hostile" "$work/odd"
sed -i 's/"time":"2026-11-23T10/"time":"2026-11-23T1\xc3\xbc/' "$work/odd/audit.jsonl"
ok '  also of a log with times that are none' reported "$work/odd" records

# --- keys
cp "$state/audit.pub" "$work/first.pub"
ok 'keygen replaces the signing key while the gateway runs' gives 0 'is replaced by' audit keygen --reason 'yearly change'
checks 3
ok '  and the gateway goes on' gives 0 'all in order' audit verify
ok '  and whoever trusts the old key can verify' gives 0 'given key' audit verify --public-key "$work/first.pub"
ok '  and whoever trusts the new one' gives 0 'given key' audit verify --public-key "$state/audit.pub"
openssl genpkey -algorithm ed25519 -out "$work/other.key" 2>/dev/null && openssl pkey -in "$work/other.key" -pubout -out "$work/other.pub"
ok '  but not with any other key' gives 1 'given public key' audit verify --public-key "$work/other.pub"

# --- pruning
ok 'prune removes nothing that is young' gives 0 'no file is old enough' audit prune --keep 1
ok '  and closed files when told so' gives 0 'are removed' audit prune --keep 0 --reason 'test'
ok '  after which the log verifies' gives 0 "as a record 'pruned' says" audit verify
checks 20
ok '  and goes on' gives 0 'all in order' audit verify
ok '  but a file that is removed by hand is found' touched 'removed, added or' remove_first
not_whole() {
    truncate -s -1 "$work/copy/$(ls "$work/copy" | grep '^audit-' | head -n 1)"
    gives 1 'audit-' "$codebox" audit prune --keep 0 --state "$work/copy"
    ls "$work/copy" | grep -q '^audit-'
}
ok '  and nothing is pruned from a log that is not whole' not_whole
stop_server

# --- syslog
sink= port=
start_sink() { # KIND [PORT]
    rm -f "$work/port"
    python3 "$root"/tests/system/audit/syslog_server.py "$1" "$work/port" "$work/messages" "${2:-0}" "$work/tls.crt" "$work/tls.key" 2>"$work/sink.log" &
    sink=$!
    wait_until test -e "$work/port"
    port=$(cat "$work/port")
}
stop_sink() { kill -9 "$sink" 2>/dev/null; wait "$sink" 2>/dev/null || true; sink=; }
trap 'kill -9 $server $sink 2>/dev/null || true; rm -rf "$work"' EXIT
sent() { grep -c . "$work/messages"; }
# Checks that each record arrived at least once, in the order of the log, with structured data as in
# RFC 5424.
all_arrived() { # [FIRST]
    cat $(ls "$state"/audit-*.jsonl 2>/dev/null) "$state/audit.jsonl" | jq -c 'select(.seq >= '"${1:-1}"')' | sort -u >"$work/want"
    sed -n 's/^<1[01][0-9]>1 [0-9T:.-]*Z [^ ]* codebox - [a-z-]* \[codebox@32473 seq="[0-9]*" hash="[0-9a-f]\{64\}"\] \(\xef\xbb\xbf\)\?//p' "$work/messages" >"$work/lines"
    [ "$(wc -l <"$work/lines")" = "$(wc -l <"$work/messages")" ] || { echo 'a message has another form'; return 1; }
    jq -c . "$work/lines" | sort -u | comm -23 "$work/want" - | lacks .
    jq .seq "$work/lines" | awk '!seen[$0]++' >"$work/order"
    sort -n -c "$work/order"
}
state=$work/forwarded
start_sink tcp
start_server --syslog "tcp://127.0.0.1:$port" --audit-max-size 8
checks 10
ok 'each record is sent to a syslog server over TCP' wait_until all_arrived
stop_sink
checks 15
has_records() { [ "$(last_seq)" -ge "$1" ]; }
ok 'decisions go on while the server is away' wait_until has_records 25
behind() { [ "$(curl -sS "$base/metrics" | sed -n 's/^codebox_audit_forward_behind //p')" "$@" ]; }
ok '  and the metrics say how many records it has not got' behind -ge 15
start_sink tcp "$port"
ok 'what is missing is sent when it is back, in order' wait_until all_arrived
ok '  and none is behind then' wait_until behind -eq 0
kill_forwarders() { for pid in $(children_of "$server"); do [[ $(cat "/proc/$pid/comm" 2>/dev/null) != cbx-syslog* ]] || kill -9 "$pid" 2>/dev/null || true; done; } # the master ends the other one
kill_forwarders
checks 5
ok 'the forwarding processes are started again when they are killed' wait_until all_arrived
stop_server
stop_sink
"$codebox" audit keygen --state "$state" >/dev/null
start_sink tcp "$port"
start_server --syslog "tcp://127.0.0.1:$port"
checks 2
ok 'a restarted gateway goes on from its cursor' wait_until all_arrived
few_twice() { [ "$(jq .seq "$work/lines" | sort | uniq -d | wc -l)" -le 30 ]; }
ok '  and sends few records twice' few_twice
stop_server
stop_sink

rm -f "$work/messages"
state=$work/hung
start_sink hang
start_server --syslog "tcp://127.0.0.1:$port"
checks 400
ok 'a server that accepts and never reads holds up no decision' has_records 400
log_warns() { grep -q 'records wait in the audit log' "$work/server.log"; }
ok '  and the log of the gateway names it' wait_until log_warns
stop_sink
: >"$work/messages"
start_sink tcp "$port"
late() { all_arrived "$(head -n 1 "$work/messages" | sed 's/.* seq="\([0-9]*\)".*/\1/')"; }
ok '  and what it did not take is sent to the next one' wait_until late
stop_server
stop_sink

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
rm -f "$work/messages"
state=$work/tls
start_sink tls
start_server --syslog "tls://localhost:$port" --syslog-ca "$work/tls.crt"
checks 5
ok 'records are sent over TLS' wait_until all_arrived
stop_server
rm -f "$work/messages"
start_server --syslog "tls://localhost:$port"
checks 2
refused() { grep -qE 'records wait in the audit log.*(certificate|mismatch)' "$work/server.log" && [ ! -s "$work/messages" ]; }
ok '  not to a server with an unknown certificate' wait_until refused
stop_server
rm -f "$work/messages"
start_server --syslog "tls://127.0.0.1:$port" --syslog-ca "$work/tls.crt"
checks 2
ok '  nor to one with another name' wait_until refused
stop_server
stop_sink

rm -f "$work/messages"
state=$work/udp
start_sink udp
start_server --syslog "udp://127.0.0.1:$port"
checks 5
ok 'records are sent over UDP' wait_until all_arrived
check "x = [$(seq -s, 3000)]; import os; os.system('$(printf 'a%.0s' $(seq 3000))')" >/dev/null
check "$(for i in $(seq 60); do echo 'import subprocess'; done)" >/dev/null
cut() { LC_ALL=C grep -q ' cut="[0-9]*"\] .*\.\.\.$' "$work/messages" && LC_ALL=C awk 'length > 2048 { exit 1 }' "$work/messages"; }
ok '  cut to a datagram, which says so' wait_until cut
stop_server
stop_sink
ok 'an address that is none is refused' gives 2 'allowed is udp://HOST:PORT' "$codebox" serve --state "$state" --syslog http://x:1

# --- replay
state=$work/replayed
start_server --audit-code full --pool-min 1
session=$(new_session)
for code in 'import math' 'x = math.sqrt(16)' $'def f():\n    import os\n    return os' 'f().system("id")' '%time print(x)' '!ls' 'y = "ünï"; print(y)'; do
    answer=$(post /execute "$(jq -n --arg c "$code" --arg s "$session" '{code: $c, session_id: $s}')")
    id=$(jq -r '.request_id // empty' <<<"$answer")
    [ -z "$id" ] || wait_until is_over "$id"
done
checks 3
post "/v1/sessions/$session/reset" '{}' >/dev/null
run_in "$session" 'z = 1' >/dev/null
run_in "$session" 'print(z)' >/dev/null
replayed() {
    audit replay >"$work/replay"
    cat "$work/replay"
    grep -q ' 0 to another one, 0 not replayable' "$work/replay"
    [ "$(sed -n 's/^\([0-9]*\) decisions.*/\1/p' "$work/replay")" -ge 12 ]
}
ok 'every decision of the log is made again, whole sessions in order' replayed
code_is_there() { audit show "$(jq 'select(.body.code == "import math") | .seq' "$state/audit.jsonl")" | grep '| import math'; }
ok '  and show prints the code' code_is_there
stop_server
rm -rf "$work/copy" && cp -r "$state" "$work/copy"
sed -i '/"code":"!ls"/!s/"verdict":"deny"/"verdict":"allow"/' "$work/copy/audit.jsonl"
ok '  and another answer is found' gives 1 'was allow' "$codebox" audit replay --state "$work/copy"
sed -i 's/"code":"import math"/"code":"import [redacted]"/' "$work/copy/audit.jsonl"
ok '  and a redacted program is counted' gives 0 'it was redacted' "$codebox" audit replay --state "$work/copy"
printf 'import os\nos.system("id")\n' >"$work/denied.py"
printf 'version: 1\nname: mine\nextends: [default]\nlanguages: [python]\n' >"$work/mine.yaml"
"$codebox" run --state "$work/mine" --policy "$work/mine.yaml" --audit-code full "$work/denied.py" >/dev/null 2>&1 || true
ok 'a decision under a policy that is not known is counted' gives 0 'the policy has changed, or is not known' "$codebox" audit replay --state "$work/mine"
ok '  and made again under a file with its hash' gives 0 '1 decided again to the same answer' "$codebox" audit replay --state "$work/mine" --policy "$work/mine.yaml"
"$codebox" run --state "$work/hashes" "$work/denied.py" >/dev/null 2>&1 || true
ok 'by default the log has the hash of a program alone' gives 0 'the code is not in the log' "$codebox" audit replay --state "$work/hashes"

# --- without a record, nothing runs
echo 'print("it", "ran")' >"$work/ran.py"
runs_not() { # STATE
    local status=0
    "$codebox" run --state "$1" "$work/ran.py" >"$work/output" 2>&1 || status=$?
    cat "$work/output"
    [ "$status" != 0 ] && lacks 'it ran' <"$work/output"
}
mkdir "$work/small"
if mount -t tmpfs -o size=512k none "$work/small" 2>/dev/null; then
    trap 'umount -l "$work/small" 2>/dev/null || true; kill -9 $server $sink 2>/dev/null || true; rm -rf "$work"' EXIT
    chmod 700 "$work/small"
    ok 'a program runs while there is space for its record' gives 0 'it ran' "$codebox" run --state "$work/small" "$work/ran.py"
    dd if=/dev/zero of="$work/small/fill" bs=1k 2>/dev/null || true
    fills_up() { # the last block of the log may have space for a record
        for _ in 1 2 3 4 5 6; do
            if runs_not "$work/small"; then return 0; fi
        done
        return 1
    }
    ok 'nothing runs on a full disk' fills_up
    rm "$work/small/fill"
    ok '  and it does when there is space again' gives 0 'it ran' "$codebox" run --state "$work/small" "$work/ran.py"
    mount -o remount,ro "$work/small"
    ok 'nothing runs when the log is read-only' runs_not "$work/small"
    mount -o remount,rw "$work/small"
    ok '  and the log is whole after all that' gives 0 'all in order' "$codebox" audit verify --state "$work/small"
    umount "$work/small"
else
    echo '  skip  a full disk and a read-only one: no file system can be mounted'
fi
state=$work/killed
start_server --audit-max-size 4
checks 3
executor_of() { for pid in $(children_of "$server"); do [[ $(cat "/proc/$pid/comm" 2>/dev/null) != cbx-executor ]] || echo "$pid"; done; }
is_new_executor() { [ -n "$(executor_of)" ] && [ "$(executor_of)" != "$killed" ]; }
killed=none
for _ in 1 2 3; do
    wait_until is_new_executor
    killed=$(executor_of)
    kill -9 "$killed"
    checks 3
done
ok 'a log whose writer was killed goes on' wait_until bash -c "curl -sS -X POST -H 'Content-Type: application/json' -d '{\"code\": \"1\", \"language\": \"python\"}' '$base/v1/check' | jq -e .verdict"
whole() { audit_is_whole; }
ok '  and is whole' whole
mv "$state" "$state.away"
fails() { [ "$(status_of -X POST -H 'Content-Type: application/json' -d '{"code": "1", "language": "python"}' "$base/v1/check")" -ge 500 ]; }
mv "$state.away/audit.jsonl" "$state.away/elsewhere"
ok 'nothing is decided when the log is gone' fails
stop_server
finish
