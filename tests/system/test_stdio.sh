#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox mcp` as a process on a real engine: its end, and cancelled calls. Clients close the
# input, send SIGTERM two seconds later and SIGKILL after two more seconds: these are the only time
# limits here.
source "$(dirname "$0")/lib.sh"
CLIENT_MS=2000

start_mcp() {
    rm -f "$work/in" "$work/answers"
    mkfifo "$work/in"
    "$codebox" mcp --state "$state" <"$work/in" >"$work/answers" &
    server=$!
    exec 7>"$work/in"
}
tell() { printf '%s\n' "$1" >&7; }
python() { tell "$(jq -nc --argjson id "$1" --arg code "$2" '{jsonrpc: "2.0", id: $id, method: "tools/call", params: {name: "run_python_code", arguments: {code: $code}}}')"; }
ping() { tell "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"ping\"}"; }
is_answered() { jq -es --argjson id "$1" 'any(.[]; .id == $id)' "$work/answers"; }
answer() { jq -c --argjson id "$1" 'select(.id == $id).result.structuredContent' "$work/answers"; }
# Only the sandboxes of this gateway: others may use the engine.
our_sandboxes() { local name; name=$(ls "$state/instances" 2>/dev/null) && [ -n "$name" ] && docker ps -aq --filter "label=codebox.instance=$name"; }

ends_in_time() { # the process ends before a client would send a signal, or within MS
    local began=$EPOCHREALTIME status=0 took
    wait "$server" || status=$?
    took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
    server=
    echo "took $took ms, exit status $status"
    [ "$status" = "$1" ] && [ "$took" -lt "${2:-$CLIENT_MS}" ]
}
nothing_is_left() { [ -z "$(docker ps -aq --filter "label=codebox.instance=$instance")" ]; }

# `ok` runs its command in a subshell, which cannot wait for a process of this shell. So the
# subshell also starts the process.
idle_end() { start_mcp; ping 1; wait_until is_answered 1; exec 7>&-; ends_in_time 0; }
ok 'the end of the input ends it' idle_end
interrupted() { start_mcp; ping 1; wait_until is_answered 1; kill -INT "$server"; ends_in_time 130; }
ok 'SIGINT ends it with status 130' interrupted
terminated() { start_mcp; ping 1; wait_until is_answered 1; kill -TERM "$server"; ends_in_time 143; }
ok 'SIGTERM ends it with status 143' terminated

in_session() { # ID SESSION CODE
    tell "$(jq -nc --argjson id "$1" --arg session "$2" --arg code "$3" \
        '{jsonrpc: "2.0", id: $id, method: "tools/call", params: {name: "execute_code", arguments: {language: "python", session: $session, code: $code}}}')"
}
late_call() { # a call in a session, whose sandbox exists
    start_mcp
    in_session 1 new 'x = 6'
    wait_until is_answered 1
    in_session 2 "$(answer 1 | jq -er .session)" 'print(x * 7)'
    exec 7>&-
    ends_in_time 0
    answer 2 | expect '.stdout == "42\n"'
}
ok 'a call that is short is answered after the end of the input' late_call

# A client that keeps the input open and reads no more: no program continues for it.
deaf_client() {
    rm -f "$work/in" "$work/answers"
    mkfifo "$work/in" "$work/answers"
    "$codebox" mcp --state "$state" <"$work/in" >"$work/answers" &
    server=$!
    exec 7>"$work/in" 6<"$work/answers"
    python 1 'import time; time.sleep(60)'
    ping 2
    head -c 1 <&6 >/dev/null
    exec 6<&-
    ends_in_time 0
    exec 7>&-
    rm -f "$work/answers"
}
ok 'a closed output ends it' deaf_client
twice() { # a response with the id would be taken for the response to the running call
    start_mcp
    python 1 'import time; time.sleep(1); print("first")'
    python 1 'print("second")'
    wait_until grep -q '"error"' "$work/answers"
    jq -e 'has("id") | not' <(grep '"error"' "$work/answers")
    grep '"error"' "$work/answers" | grep -qF 'a request with the id 1 is under way'
    wait_until is_answered 1
    answer 1 | expect '.stdout == "first\n"'
    exec 7>&-
    ends_in_time 0
}
ok 'a second request under the id of one that runs is refused under no id' twice

# The engine stops answering while a sandbox for the next call is created. No client waits for the
# sandbox, and stderr is closed as well. The sandbox is removed when the engine continues.
cat >"$work/relay.py" <<'PYTHON'
import socket, sys, threading
def copy(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
def relay(client):
    engine = socket.socket(socket.AF_UNIX)
    engine.connect(sys.argv[1])
    for pair in (client, engine), (engine, client):
        threading.Thread(target=copy, args=pair, daemon=True).start()
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2])
listener.listen(100)
print('ready', flush=True)
while True:
    relay(listener.accept()[0])
PYTHON
stalled_engine() {
    local engine=${DOCKER_HOST:-unix:///var/run/docker.sock} reader instance
    python3 "$work/relay.py" "${engine#unix://}" "$work/engine.sock" >"$work/relay.out" 2>&1 &
    relay=$!
    trap 'kill -KILL "$relay"' EXIT # trap of the subshell
    wait_until grep -q ready "$work/relay.out"
    rm -f "$work/in" "$work/err"
    mkfifo "$work/in" "$work/err"
    cat "$work/err" >/dev/null &
    reader=$!
    DOCKER_HOST=unix://$work/engine.sock "$codebox" mcp --state "$state" <"$work/in" >"$work/answers" 2>"$work/err" &
    server=$!
    exec 7>"$work/in"
    python 1 'print(1)'
    wait_until is_answered 1
    kill -STOP "$relay"
    instance=$(ls "$state/instances")
    python 2 'print(2)' # takes a sandbox; the pool creates another one 50 ms later
    sleep 0.5
    exec 7>&-
    ends_in_time 0 4000 # clients then send SIGKILL
    wait_until is_gone "$reader"
    "$codebox" audit verify --state "$state"
    kill -CONT "$relay"
    wait_until executor_is_gone "$instance"
    wait_until nothing_is_left
}
is_gone() { ! kill -0 "$1"; }
executor_is_gone() { [ ! -e "$state/instances/$1" ]; } # the executor removes its instance file last
ok 'the end waits for no engine' stalled_engine

ends_while_running() { # STATUS HOW PROGRAM
    start_mcp
    local before
    before=$("$codebox" audit tail --lines 1000 --state "$state" 2>/dev/null | grep -c 'decision  *allow' || true)
    python 1 "$3"
    wait_until grew "$before"
    sleep 1 # the record is written first, then the sandbox gets the program
    local instance
    instance=$(ls "$state/instances")
    [ -n "$instance" ]
    $2
    ends_in_time "$1"
    wait_until nothing_is_left
}
grew() { [ "$("$codebox" audit tail --lines 1000 --state "$state" | grep -c 'decision  *allow')" -gt "$1" ]; }
by_end() { exec 7>&-; }
by_interrupt() { kill -INT "$server"; }
by_sigterm() { kill -TERM "$server"; }
stubborn='import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True: pass'
for how in 'end 0' 'interrupt 130' 'sigterm 143'; do
    ok "it ends while a program loops, by ${how% *}" ends_while_running "${how#* }" "by_${how% *}" 'while True: pass'
    ok "it ends while a program ignores signals, by ${how% *}" ends_while_running "${how#* }" "by_${how% *}" "$stubborn"
done
analysing() { # nearly 1 MB to judge
    start_mcp
    python 1 "x = [$(seq -s, 40000 | sed 's/[0-9]*,/f(&"a", {1: [2]}),/g')]"
    sleep 0.3
    exec 7>&-
    ends_in_time 0
}
ok 'it ends while a large source is judged' analysing

# Cancelled calls: their sandboxes are removed, they get no response, and the server continues.
cancels() { # PROGRAM
    start_mcp
    python 1 'print(1)'
    wait_until is_answered 1
    local before running
    before=$("$codebox" audit tail --lines 1000 --state "$state" | grep -c 'decision  *allow')
    python 7 "$1"
    wait_until grew "$before"
    sleep 1
    running=$(our_sandboxes | sort)
    tell '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"the user pressed escape"}}'
    wait_until one_is_gone "$running"
    wait_until last_is_outcome
    ping 8
    wait_until is_answered 8
    python 9 'print(9)'
    wait_until is_answered 9
    exec 7>&-
    ends_in_time 0
    if is_answered 7; then return 1; fi
}
one_is_gone() { [ -n "$(comm -23 <(echo "$1") <(our_sandboxes | sort))" ]; }
last_is_outcome() { "$codebox" audit tail --state "$state" | tail -n 1 | grep -q 'outcome '; }
ok 'a cancelled loop is ended' cancels 'while True: pass'
ok 'a cancelled program that ignores signals is ended' cancels "$stubborn"
ok 'a cancelled program that sleeps is ended' cancels 'import time; time.sleep(1000)'
ok 'a cancelled program that prints is ended' cancels 'while True: print("x" * 100)'
ok 'the audit log verifies' audit_is_whole
finish
