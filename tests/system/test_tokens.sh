#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox serve --tokens FILE`: a file of tokens that several gateways share, as a Secret of
# Kubernetes mounts it, in place of the state directory's. Needs no engine.
source "$(dirname "$0")/lib.sh"
chmod 711 "$work"
mkdir -m 700 "$work/set"
secret=$work/secret
tokens=$secret/tokens.jsonl

token_in() { "$codebox" token create --state "$1" --principal "$2" 2>/dev/null; }
id_of() { cut -d_ -f2 <<<"$1"; }
publish() { # [FILE]: switches the mounted files at once, as kubelet does
    local version
    version=$(mktemp -d "$secret/..XXXXXX")
    chmod 755 "$version"
    install -m 440 "${1:-$work/set/tokens.jsonl}" "$version/tokens.jsonl"
    ln -s "$(basename "$version")" "$secret/..data_tmp"
    mv -T "$secret/..data_tmp" "$secret/..data"
}
mkdir -m 1777 "$secret"
ln -s ..data/tokens.jsonl "$tokens"
ann=$(token_in "$work/set" ann) boss=$(token_in "$work/set" boss) brief=$(token_in "$work/set" ann)
own=$(token_in "$state" ann)
publish
cat >"$work/codebox.yaml" <<END
listen: 0.0.0.0:0
state: $state
docker-host: unix://$work/no-engine.sock
tokens: $tokens
principals:
  - {name: ann}
  - {name: boss, rights: [admin]}
END
chmod 644 "$work/codebox.yaml"
serve() { "$codebox" serve --config "$work/codebox.yaml"; }
check() { "$codebox" config check "$work/codebox.yaml"; }

# --- the check
ok 'codebox config check accepts the file, and an address that is not loopback' gives 0 'codebox.yaml: ok' check
refused() { # MODE CONTENTS TEXT: by check and start, with the place of the key
    printf '%b' "$2" >"$work/bad"
    publish "$work/bad"
    chmod "$1" "$tokens"
    gives 1 "codebox.yaml:4:1: key 'tokens': $3" check
    gives 2 "codebox.yaml:4:1: key 'tokens': $3" serve
}
ok 'a file that others can write is refused' refused 0666 '' 'the file of tokens has mode 666, allowed is a file that only its owner can write to'
ok 'one that its group can write too' refused 0460 '' 'the file of tokens has mode 460'
ok 'one with other lines, with the line' refused 0440 '{"op":"create"}\nabc\n' 'line 1 of the file of tokens'
says_allowed() { gives 1 "allowed are lines that 'codebox token create' and 'codebox token revoke' wrote" check; }
ok '... and what is allowed' says_allowed
ok 'one that is no text' refused 0440 '\0\0377\0001' 'line 1 of the file of tokens'
large() { head -c 9000000 /dev/zero >"$work/bad"; publish "$work/bad"; gives 1 'the file of tokens has more than 8388608 bytes' check; }
ok 'one that is too large' large
absent() { mv "$secret/..data" "$work/away"; gives 1 "key 'tokens': the file of tokens cannot be opened" check; gives 2 "key 'tokens': the file of tokens cannot be opened" serve; mv "$work/away" "$secret/..data"; }
ok 'one that is absent' absent
if [ "$(id -u)" = 0 ]; then
    foreign() { publish; chown 4321 "$(readlink -f "$tokens")"; gives 1 'the file of tokens belongs to uid 4321, allowed is root' check; }
    ok 'one of another user' foreign
fi

# --- serving
publish
start_server --config "$work/codebox.yaml" --listen 0.0.0.0:0
base=http://127.0.0.1:${base##*:}
served() { gives_status 200 '"policies"' as "$1" GET /v1/policies; }
wrong() { gives_status 401 'not valid' as "$1" GET /v1/policies; }
ok 'a token of the file is valid' served "$ann"
ok 'one of the state directory is not' wrong "$own"
created() { wrong "$(token_in "$state" ann)"; }
ok 'nor one that is made there meanwhile' created
nobody() { gives_status 401 'needs a token' as '' GET /v1/policies; }
ok 'a request without one is refused' nobody

reload_is() { reload "reload: $1"; }
revoke() { "$codebox" token revoke --state "$work/set" "$(id_of "$brief")"; publish; served "$brief"; reload_is done; wrong "$brief"; served "$ann"; }
ok 'a revocation in the file holds from SIGHUP on, and for its token alone' revoke
added() { later=$(token_in "$work/set" ann); publish; wrong "$later"; reload_is done; served "$later"; }
ok 'so does a token that is new' added
nothing() { publish; reload_is 'nothing changed'; }
ok 'a file that was switched for the same lines changes nothing' nothing
recorded() { jq -se 'map(select(.type == "reload" and .body.identity != null)) | length == 2' "$state/audit.jsonl"; }
ok 'each change is in the audit log' recorded
kept() { # MODE CONTENTS TEXT: a reload that fails
    refused_by_reload() { grep -qF "$1" "$work/server.log"; }
    printf '%b' "$2" >"$work/bad"
    publish "$work/bad"
    chmod "$1" "$tokens"
    reload_is failed
    refused_by_reload "$3"
    served "$ann"
    wrong "$brief"
}
ok 'a reload of a damaged file fails, and the tokens stay' kept 0440 'junk\n' "reload: $work/codebox.yaml:4:1: key 'tokens': line 1 of the file of tokens"
ok 'so does one of a file that others can write' kept 0666 '' "key 'tokens': the file of tokens has mode 666"

# --- the executor, and stops
stop_as() { as "$1" POST /v1/stop "$2"; }
executor() { gives_status 202 '' stop_as "$boss" "{\"token\": \"$(id_of "$ann")\"}"; }
ok 'the executor proves callers by the file: POST /v1/stop of a token of it' executor
in_state() { jq -se --arg id "$(id_of "$ann")" 'map(select(.op == "stop")) | length == 1 and .[0].id == $id' "$state/tokens.jsonl"; lacks '"stop"' <"$work/set/tokens.jsonl"; }
ok '... which is written to the state directory alone' in_state
unknown() { gives_status 404 'there is no token' stop_as "$boss" '{"token": "000000000000"}'; gives_status 404 'there is no token' stop_as "$boss" "{\"token\": \"$(id_of "$own")\"}"; }
ok '... and of no other token' unknown
by_command() {
    publish
    gives 2 'there is no token' "$codebox" stop --state "$state" --token "$(id_of "$ann")"
    gives 0 'what was begun until now ends' "$codebox" stop --state "$state" --tokens "$tokens" --token "$(id_of "$ann")"
    gives 0 'what was begun until now ends' "$codebox" stop --state "$state" --principal ann
}
ok 'codebox stop finds a token of the file by --tokens' by_command
restarted() {
    local child
    for child in cbx-front cbx-executor; do
        kill -9 "$(pgrep -P "$server" -x "$child")"
        wait_until curl -sS "$base/healthz"
    done
    again() { served "$ann" && wrong "$brief" && wrong "$own"; }
    wait_until again
    wait_until gives_status 202 '' stop_as "$boss" '{"principal": "nobody"}'
}
ok 'front and executor that are started again have what was loaded last' restarted
emptied() { printf '' >"$work/bad"; publish "$work/bad"; reload_is done; wrong "$ann"; wrong "$own"; }
ok 'an empty file lets nobody in' emptied
stop_server
ok 'the audit log is whole' audit_is_whole
finish
