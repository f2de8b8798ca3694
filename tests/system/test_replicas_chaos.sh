#!/bin/bash
# SPDX-License-Identifier: MIT
# Kills and stops processes of three replicas on one engine at random moments under load, and sends
# SIGHUP: each Idempotency-Key has its effect once, and nothing is lost or left behind.
# CHAOS_SEED repeats the choices of a run; CHAOS_SECONDS (20) is the time of the faults, or
# CHAOS_KILLS their number.
. "$(dirname "$0")/lib.sh"
root=$PWD
chmod 700 "$work"
seed=${CHAOS_SEED:-$RANDOM}
echo "  -     CHAOS_SEED=$seed"
key_of() { openssl ecparam -name prime256v1 -genkey -noout -out "$1" 2>/dev/null; chmod 600 "$1"; }
key_of "$work/ca.key"
openssl req -x509 -new -key "$work/ca.key" -subj '/CN=ca' -days 30 -out "$work/ca.pem" 2>/dev/null
certificate() { # NAME
    key_of "$work/$1.key"
    openssl req -new -key "$work/$1.key" -subj "/CN=$1" 2>/dev/null | openssl x509 -req -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 30 \
        -extfile <(printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$1") -out "$work/$1.pem" 2>/dev/null
}
token=$("$codebox" token create --state "$work/state-a" --principal ann 2>/dev/null)
for name in b c; do mkdir -m 700 "$work/state-$name"; cp -p "$work/state-a/tokens.jsonl" "$work/state-$name/"; done
# Six ports that are free at the same time.
read -ra ports < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(6)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
n=0
for name in a b c; do
    certificate $name
    printf '%s\n' 'principals:' '  - {name: ann, rights: [execute, check]}' "state: $work/state-$name" "listen: 127.0.0.1:${ports[n]}" 'pool-min: 1' 'lease: 60' \
        "replica: $name" "peer-listen: 127.0.0.1:${ports[n + 3]}" "peer-certificate: $work/$name.pem" "peer-key: $work/$name.key" "peer-ca: $work/ca.pem" \
        "peer: [a=127.0.0.1:${ports[3]}, b=127.0.0.1:${ports[4]}, c=127.0.0.1:${ports[5]}]" >"$work/$name.yaml"
    n=$((n + 1))
done
before_files=$(ls -A "$root")
trap 'for pid in $(cat "$work/pids" 2>/dev/null); do kill -9 -- "-$pid" 2>/dev/null; done; rm -rf "$work"' EXIT
timeout -s KILL "${CHAOS_LIMIT:-1800}" node tests/abuse/replicas.mjs "$work" "${CHAOS_SECONDS:-20}" "${CHAOS_KILLS:-0}" "$seed" "$codebox" "$token" "${ports[@]:0:3}" || failed=1

masters=$(cat "$work/pids")
group_is_gone() { local pid; for pid in $masters; do ! pgrep -g "$pid" >/dev/null || return 1; done; }
ends() { kill -TERM $masters; wait_until group_is_gone || { pgrep -a -g "$(tr '\n' , <<<"$masters" | sed 's/,*$//')"; return 1; }; }
ok 'the replicas end, and leave no process' ends
containers_left() { local one; for one in "$work"/state-?/instances/*; do docker ps -aq --filter "label=codebox.instance=${one##*/}"; done; }
no_container() { [ -z "$(containers_left)" ]; }
ok 'no container is left' wait_until no_container
for name in a b c; do
    state=$work/state-$name
    ok "the audit log of $name is whole" audit_is_whole
done
no_file() { [ "$(ls -A "$root")" = "$before_files" ]; }
ok 'and no file is left' no_file
if [ "$failed" != 0 ]; then
    for name in a b c; do echo "-- the log of $name"; tail -n "${CHAOS_LOG:-15}" "$work/$name.log" | cut -c1-300; done
fi
finish
