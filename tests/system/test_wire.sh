#!/bin/bash
# SPDX-License-Identifier: MIT
# Lines that a client of `codebox mcp` may send, and the code and id of the response. A ping follows
# each line, and the server must answer it. No line needs an engine.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C # lines are bytes

# Prints "CODE ID" of the responses to the lines of a file and a ping, without the ping's; code 0 is
# a result.
answers() { # FILE
    { cat "$1"; printf '\n{"jsonrpc":"2.0","id":"end","method":"ping"}\n'; } |
        timeout 20 "$codebox" mcp --state "$state" >"$work/answers" || return 1
    grep -qxF '{"jsonrpc":"2.0","id":"end","result":{}}' "$work/answers" || { echo 'the ping was not answered'; return 1; }
    grep -vF '"id":"end"' "$work/answers" |
        sed -E 's/^\{"jsonrpc":"2.0",("id":("([^"\\]|\\.)*"|-?[0-9]+),)?"(error":\{"code":(-[0-9]+)|result").*/\5 \2/; s/^ /0 /' || true
}
answered() { # EXPECTED: "CODE ID", "CODE" without an id, or "none"
    local found
    found=$(answers "$work/line")
    [ "${found:-none}" = "$1" ] || [ "$found" = "$1 " ] || { echo "answered: ${found:-none}, expected: $1"; return 1; }
}
shown() { if [ ${#1} -le 96 ]; then echo "$1"; else echo "${1:0:60}... (${#1} bytes)"; fi; }

# EXPECTED | LINE. <ff> is the byte ff, CLAIM the _meta of 2026-07-28, CAPABILITIES its second half,
# DEEP 20,000 brackets, LONG 300 digits, PAD 11 MiB of letters.
table() {
    cat <<'TABLE'
0 1 | {"jsonrpc":"2.0","id":1,"method":"ping"}
0 "1" | {"jsonrpc":"2.0","id":"1","method":"ping"}
0 -7 | {"method":"ping","jsonrpc":"2.0","id":-7}
0 9007199254740993 | {"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}
0 "A/" | {"jsonrpc":"2.0","id":"\u0041\/","method":"ping"}
0 2 | {"jsonrpc":"2.0","\u0069d":2,"method":"ping"}
0 "�" | {"jsonrpc":"2.0","id":"\ud83d","method":"ping"}
0 "" | {"jsonrpc":"2.0","id":"","method":"ping"}
none | {"jsonrpc":"2.0","method":"ping"}
none | {"jsonrpc":"2.0","method":"no/such"}
none | {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"\ud83d"}}
none | {"jsonrpc":"2.0","id":3,"result":{}}
none | {"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"\udead"}}
none | 
-32601 3 | {"jsonrpc":"2.0","id":3,"method":"no/such"}
-32600 | {"jsonrpc":"2.0","id":null,"method":"ping"}
-32600 | {"jsonrpc":"2.0","id":1.0,"method":"ping"}
-32600 | {"jsonrpc":"2.0","id":true,"method":"ping"}
-32600 | {"jsonrpc":"2.0","id":{"id":4},"method":"ping"}
-32600 | {"jsonrpc":"2.0","id":"LONG","method":"ping"}
-32600 | [{"jsonrpc":"2.0","id":4,"method":"ping"}]
-32600 | "ping"
-32600 4 | {"jsonrpc":"1.0","id":4,"method":"ping"}
-32600 4 | {"id":4,"method":"ping"}
-32600 4 | {"jsonrpc":"2.0","id":4}
-32600 4 | {"jsonrpc":"2.0","id":4,"method":7}
-32600 4 | {"jsonrpc":"2.0","id":4,"method":"ping","result":{}}
-32602 4 | {"jsonrpc":"2.0","id":4,"method":"ping","params":[]}
-32600 | {"jsonrpc":"2.0","method":"ping","params":[]}
-32700 | ping
-32700 | {"jsonrpc":"2.0","method":"ping"
-32700 | {"jsonrpc":"2.0","id":5,"method":"ping"
-32700 | {"jsonrpc":"2.0","id":5,"method":"ping"}{"jsonrpc":"2.0","id":6,"method":"ping"}
-32700 | {"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/list"}
-32700 | {"jsonrpc":"2.0","method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1","code":"2"}},"id":5}
-32700 | {"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}
-32700 | {"jsonrpc":"2.0","id":6,"method":"ping<ff>"}
-32700 | {"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print('<c3>')"}},"jsonrpc":"2.0","id":6}
-32700 | {"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"<ed><a0><80>"}},"jsonrpc":"2.0","id":6}
-32700 | <ef><bb><bf>{"jsonrpc":"2.0","id":6,"method":"ping"}
-32700 | {"jsonrpc":"2.0","id":6,"method":"ping","params":{"x":"<00>"}}
-32700 | {"jsonrpc":"2.0","method":"ping","params":{"x":NaN},"id":6}
-32700 | {"jsonrpc":"2.0","method":"ping","params":{"x":"\x"},"id":6}
-32700 | {"jsonrpc":"2.0","method":"ping","params":{"x":[1,]},"id":6}
-32700 | {"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}
-32700 | {"jsonrpc":"2.0","id":7,"result":"<ff>"}
-32700 | {"params":{"code":"print("x","id":7)"},"method":"ping","id":8}
-32600 | {"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":DEEP}}
-32600 | {"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"PAD"}}}
-32600 | {"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"\"id\":1,{PAD\ud83d<ff>"}},"jsonrpc":"2.0","id":9}
-32600 | {"jsonrpc":"2.0","method":"notifications/PAD"}
-32600 | PAD
0 10 | {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print('\ud83d')"}}}
-32602 10 | {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"no_such"}}
-32602 10 | {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{}}
-32602 11 | {"jsonrpc":"2.0","id":11,"method":"server/discover"}
-32602 11 | {"jsonrpc":"2.0","id":11,"method":"server/discover","params":{}}
-32602 11 | {"jsonrpc":"2.0","id":11,"method":"server/discover","params":{"_meta":{}}}
0 11 | {"jsonrpc":"2.0","id":11,"method":"server/discover","params":{"_meta":{CLAIM}}}
-32602 11 | {"jsonrpc":"2.0","id":11,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
-32022 11 | {"jsonrpc":"2.0","id":11,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01",CAPABILITIES}}}
0 12 | {"jsonrpc":"2.0","id":12,"method":"tools/list","params":{"_meta":{CLAIM,"io.modelcontextprotocol/logLevel":"warning"}}}
-32602 12 | {"jsonrpc":"2.0","id":12,"method":"tools/list","params":{"_meta":{CLAIM,"io.modelcontextprotocol/logLevel":"loud"}}}
-32602 12 | {"jsonrpc":"2.0","id":12,"method":"tools/list","params":{"_meta":{CLAIM,"io.modelcontextprotocol/logLevel":3}}}
-32601 12 | {"jsonrpc":"2.0","id":12,"method":"logging/setLevel","params":{"level":"info","_meta":{CLAIM}}}
0 12 | {"jsonrpc":"2.0","id":12,"method":"logging/setLevel","params":{"level":"info"}}
-32602 12 | {"jsonrpc":"2.0","id":12,"method":"logging/setLevel","params":{"level":"loud"}}
-32602 12 | {"jsonrpc":"2.0","id":12,"method":"logging/setLevel"}
TABLE
}
capabilities='"io.modelcontextprotocol/clientCapabilities":{}'
claim='"io.modelcontextprotocol/protocolVersion":"2026-07-28",'$capabilities
pad=$(head -c 11534336 /dev/zero | tr '\0' x)
while IFS= read -r row; do
    expected=${row%% |*} line=${row#* | }
    printf '%s' "$line" |
        CLAIM=$claim CAPABILITIES=$capabilities LONG=$(printf %0300d 0) perl -pe 's/\b(CLAIM|CAPABILITIES|LONG)\b/$ENV{$1}/g; s/<([0-9a-f]{2})>/chr hex $1/ge' |
        perl -pe 's/\bDEEP\b/"[" x 20000 . "]" x 20000/e; s/(?<![A-Z])PAD(?![A-Z])/"x" x 11534336/e' >"$work/line"
    ok "$expected  <-  $(shown "$line")" answered "$expected"
done < <(table)

all_at_once() { # one process, in order: lines of all lengths do not affect each other
    for _ in 1 2 3; do printf '{"method":"%s","id":1}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n{"id":3,"method":"\xff"}\n' "$pad"; done >"$work/line"
    [ "$(answers "$work/line" | tr '\n' ' ')" = '-32600  0 2 -32700  -32600  0 2 -32700  -32600  0 2 -32700  ' ]
}
ok 'each of nine lines has its own answer, in order' all_at_once
says_why() { # the message names the found value and the allowed ones
    printf '{"method":"%s","id":1}\n' "$pad" >"$work/line"
    answers "$work/line" >/dev/null
    head -n 1 "$work/answers" | expect '.error.message == "the message has 11534356 bytes, allowed are 10485760"'
}
ok 'the answer to a line that is too long has its length and the limit' says_why
bounded() { # 200 MiB in one line: the front stores a fraction of it
    mkfifo "$work/pipe"
    "$codebox" mcp --state "$state" <"$work/pipe" >"$work/answers" &
    local gateway=$! front peak
    exec 7>"$work/pipe"
    { printf '{"method":"'; head -c 209715200 /dev/zero | tr '\0' x; printf '","id":1}\n'; } >&7
    wait_until test -s "$work/answers"
    front=$(for pid in $(children_of "$gateway"); do grep -lx cbx-front "/proc/$pid/comm" || true; done)
    peak=$(awk '/^VmHWM:/ {print $2}' "${front%/comm}/status")
    exec 7>&-
    wait "$gateway"
    echo "peak: $peak KiB"
    [ "$peak" -lt 102400 ]
    grep -q '"error":{"code":-32600' "$work/answers"
}
ok 'a line of 200 MiB is answered, and not kept' bounded
finish
