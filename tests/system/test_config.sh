#!/bin/bash
# SPDX-License-Identifier: MIT
# The configuration file for an operator: checked, explained, and read by the server.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # for a sanitised build: the leak checker cannot inspect a confined process, and changes its exit status
chmod 700 "$work"
root=$PWD
cd "$work"
printf '%s\n' '# a gateway' 'listen: 127.0.0.1:9999' 'policy: [default, strict]' 'max-runs: 4' >good.yaml
printf '%s\n' 'max-rums: 4' 'idle: soon' 'policy: [default, nonesuch]' 'package-ca: /nonesuch.pem' 'listen: nowhere' >bad.yaml

ok 'a good file is fine' gives 0 'good.yaml: ok' "$codebox" config check good.yaml
ok 'every problem of a bad file is reported, with its place' gives 1 "bad.yaml:1:1: unknown key 'max-rums'" "$codebox" config check bad.yaml
ok '... the value of a wrong type' grep -qF "bad.yaml:2:7: key 'idle' is 'soon', allowed are 1..1000000" out.txt
ok '... the policy that does not load' grep -qF "policy 'nonesuch'" out.txt
ok '... the file that is not there' grep -qF "/nonesuch.pem" out.txt
ok '... the address that is not allowed' grep -qF "'nowhere', allowed is ADDRESS:PORT" out.txt
ok 'explain tells where each value comes from' gives 0 'listen: "127.0.0.1:9999"  # good.yaml:2' env CODEBOX_IDLE=60 "$codebox" config explain good.yaml --lease 9
ok '... also from the environment' grep -qF 'idle: 60  # CODEBOX_IDLE' out.txt
ok '... from the command line' grep -qF 'lease: 9  # command line' out.txt
ok '... and what is not set' grep -qF '#max-sessions:  # default: 32' out.txt
ok 'the example is a file that is accepted' bash -c '"$0" config example >example.yaml && "$0" config check example.yaml' "$codebox"
ok '... with every key of serve' bash -c '"$0" serve --help | grep -o "^  --[a-z-]*" | grep -v -e --config -e --help |
    sed "s/^  --\(.*\)/^#\1: /" >keys && [ "$(grep -c -f keys example.yaml)" = "$(wc -l <keys)" ]' "$codebox"
ok 'a file that others can write to is refused' bash -c 'cp good.yaml open.yaml; chmod 666 open.yaml; ! "$0" config check open.yaml 2>&1' "$codebox"
ok 'serve refuses a bad file before it starts anything' gives 2 "unknown key" "$codebox" serve --config bad.yaml --state "$work/none"
ok '... and has made no state' [ ! -e "$work/none" ]
ok 'a variable that is no option is a problem' gives 1 "'CODEBOX_POLCY'" env CODEBOX_POLCY=strict "$codebox" config check good.yaml
ok 'an unknown verb is refused' gives 2 "allowed are" "$codebox" config fix

# --- a dry start: the errors of serve, with their places
state=$work/dry # a dry start creates nothing there
printf '%s\n' 'policy: [strict]' 'state: dry' >base.yaml
refused() { # LINES: the third line of the file and the following ones; refused by check and by serve
    local sentence=$1 fragment=$2
    shift 2
    { sed "s,dry,$state," base.yaml; printf '%s\n' "$@"; } >dry.yaml
    ok "$sentence" gives 1 "dry.yaml:$fragment" "$codebox" config check dry.yaml
    ok '... by serve as well' gives 2 "dry.yaml:$fragment" timeout 20 "$codebox" serve --config dry.yaml --state "$work/served"
}
ok 'a configuration that is fine passes' bash -c 'sed "s,dry,$1," base.yaml >dry.yaml; exec "$0" config check dry.yaml' "$codebox" "$state"
refused 'a public address without authentication is refused' "3:1: key 'listen': --listen is '0.0.0.0': whoever reaches" 'listen: 0.0.0.0:0'
refused 'an address that is none' "3:1: key 'listen': '127.0.0.1.5' is no IP address" 'listen: 127.0.0.1.5:80'
refused 'a socket without its folder' "3:1: key 'socket': cannot listen on '/nonesuch/socket'" 'socket: /nonesuch/socket' 'listen: 127.0.0.1:0'
refused 'a syslog target that is none' "3:1: key 'syslog': --syslog is 'ftp://x'" 'syslog: ftp://x' 'listen: 127.0.0.1:0'
refused 'a variable that no policy passes' "3:1: key 'pass-env': --pass-env names 'NOPE'" 'pass-env: [NOPE]' 'listen: 127.0.0.1:0'
refused 'a public range as a private one' "3:1: key 'egress-range'" 'egress-range: [8.8.8.8/32]' 'listen: 127.0.0.1:0'
refused 'a pool that waits without a bound' "3:1: key 'pool-empty'" 'pool-empty: wait' 'listen: 127.0.0.1:0'
refused 'a policy that no principal can have' "5:28: principal 'ann': no policy is called 'default'" 'listen: 127.0.0.1:0' 'principals:' '  - {name: ann, policies: [default]}'
refused 'keys of an issuer that are not there' "5:5: issuer 'corp': the file of keys cannot be opened" 'listen: 127.0.0.1:0' 'issuers:' '  - {name: corp, issuer: a, audience: b, jwks: nonesuch.json}'
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout one.key -out one.crt 2>/dev/null
openssl genrsa -out other.key 2048 2>/dev/null
chmod 600 ./*.key
refused 'a certificate with the key of another one' "3:1: key 'tls-certificate': TLS with" "tls-certificate: $work/one.crt" "tls-key: $work/other.key" 'listen: 127.0.0.1:0'
refused 'one without a key' "3:1: key 'tls-certificate': --tls-key is missing" "tls-certificate: $work/one.crt" 'listen: 127.0.0.1:0'
ok 'the check made no state directory' [ ! -e "$state" ]
if [ "$(id -u)" = 0 ]; then
    mkdir -m 755 closed
    chmod 711 "$work" && chmod 755 base.yaml
    as_user() { # runs the command as a user without write access to DIR
        printf '%s\n' 'listen: 127.0.0.1:0' "state: $1" >user.yaml
        chmod 644 user.yaml
        gives 1 "user.yaml:2:1: key 'state': the state directory cannot be" setpriv --reuid=4321 --regid=4321 --clear-groups "$codebox" config check "$work/user.yaml"
    }
    mkdir -m 755 "$work/closed/there"
    ok 'a state directory that cannot be made' as_user "$work/closed/new"
    ok '... and one that cannot be written to' as_user "$work/closed/there"
    ok '... are not made' [ ! -e "$work/closed/new" ]
    chmod 700 "$work"
fi
[ "$(id -u)" != 0 ] || for place in /proc/codebox /sys/codebox /proc/self/codebox; do
    of_linux() {
        printf '%s\n' 'listen: 127.0.0.1:0' "state: $place" >dry.yaml
        gives 1 "dry.yaml:2:1: key 'state': the state directory would be in a file system of Linux itself" "$codebox" config check dry.yaml
        gives 2 "dry.yaml:2:1: key 'state': the state directory would be in a file system of Linux itself" "$codebox" serve --config dry.yaml
    }
    ok "no state is kept in $(dirname "$place")" of_linux
done

# --- files that the processes open later: the audit log with its key, the database, the engine
mkdir -m 700 "$work/kept" "$work/sock"
printf '%s\n' 'listen: 127.0.0.1:0' "state: $work/kept" "docker-host: unix://$work/sock/engine.sock" >later.yaml
silent() { gives 0 "codebox: warning: later.yaml:3:1: key 'docker-host': the sandbox engine does not answer" "$codebox" config check later.yaml; }
ok 'an engine that does not answer is a warning, as serve starts without it' silent
all=$(for kernel in python javascript typescript bash c; do printf 'codebox-%s:latest,' "$kernel"; done)
engine_with() { # IMAGES
    rm -f sock/engine.sock && : >engine.log
    node "$root/tests/system/engine_standin.mjs" sock/engine.sock '{}' "$1" >engine.log &
    engine=$!
    wait_until grep -q listening engine.log
}
end_engine() { kill "$engine" && wait "$engine" 2>/dev/null || true; }
engine_with "$all"
answers() { gives 0 'later.yaml: ok' "$codebox" config check later.yaml; lacks warning <out.txt; }
ok 'one that answers, and has the images, is none' answers
end_engine
engine_with "${all/codebox-bash:latest,/}"
ok 'an image that is missing is a warning' gives 0 "key 'docker-host': the engine has no image 'codebox-bash:latest'" "$codebox" config check later.yaml
end_engine
listing() { find "$work/kept" -printf '%P %s %T@ %C@\n' | sort; }
log_of_serve() {
    start_server --state "$work/kept" --docker-host "unix://$work/sock/engine.sock"
    post /v1/check '{"language": "python", "code": "1"}' >/dev/null # writes a record, and so creates a log with its key
    running=$(listing)
    gives 0 'later.yaml: ok' "$codebox" config check later.yaml
    [ "$running" = "$(listing)" ]
    stop_server
    before=$(listing)
    gives 0 'later.yaml: ok' "$codebox" config check later.yaml
    [ "$before" = "$(listing)" ] && [ -s kept/audit.key ] && [ -s kept/front/codebox.db ]
}
ok 'a log, a key and a database that can be used pass, while a gateway runs and after it, and are not changed' log_of_serve
spoiled() { # the command changes the file, which is checked and restored
    local file=$work/kept/$1 text=$2
    shift 2
    cp -a "$file" "$work/whole"
    "$@" "$file"
    gives 1 "later.yaml:2:1: key 'state': $text" "$codebox" config check later.yaml
    cp -a "$work/whole" "$file"
}
put() { printf 'junk of a file that is no database, nor a key\n' >"$1"; }
cut_log() { sed -i '$d' "$1"; }
ok 'a key that others can read is refused' spoiled audit.key 'the audit key can be read or written by other users' chmod 644
ok 'a key that is none' spoiled audit.key 'the audit key cannot be read' put
ok 'a key that is missing beside its log' spoiled audit.key 'the audit key is missing beside its log' rm
ok 'a log that was cut' spoiled audit.jsonl 'the audit log ends after record' cut_log
ok 'a head that is none' spoiled audit.head 'the audit log has no signed head any more' put
ok 'a database that is none' spoiled front/codebox.db 'the database of the state directory: file is not a database' put
ok 'what was put back passes' gives 0 'later.yaml: ok' "$codebox" config check later.yaml

damaged() {
    mkdir -m 700 "$work/tokens"
    echo '{"op":' >"$work/tokens/tokens.jsonl" && echo '{}' >>"$work/tokens/tokens.jsonl"
    chmod 600 "$work/tokens/tokens.jsonl"
    printf '%s\n' 'listen: 127.0.0.1:0' "state: $work/tokens" >dry.yaml
    gives 1 "dry.yaml:2:1: key 'state': line 1 of the file of tokens" "$codebox" config check dry.yaml
    gives 2 "dry.yaml:2:1: key 'state': line 1 of the file of tokens" "$codebox" serve --config dry.yaml
}
ok 'a damaged file of tokens is refused by both' damaged
on_cluster() {
    printf '%s\n' 'namespace: boxes' >"$work/settings.yaml"
    printf '%s\n' 'version: 1' 'name: open' 'extends: [default]' 'network: {override: true, egress: [example.com]}' 'mounts: {override: true, allow: [{host: /srv/data}]}' 'limits: {isolation: gvisor}' >"$work/open.yaml"
    printf '%s\n' 'engine: kubernetes' "policy: [default, $work/open.yaml]" "cluster: $work/settings.yaml" 'listen: 127.0.0.1:0' "state: $state" >dry.yaml
    local key
    gives 1 "dry.yaml:1:1: key 'engine': policy 'open', key 'network'" "$codebox" config check dry.yaml
    for key in network mounts limits; do grep -qF "policy 'open', key '$key'" out.txt; done
    gives 2 "policy 'open', key 'limits'" timeout 20 "$codebox" serve --config dry.yaml
    for key in network mounts limits; do grep -qF "policy 'open', key '$key'" out.txt; done
    lacks "policy 'default', key '(network|mounts|limits)'" <out.txt
}
ok 'every promise of a policy that a cluster cannot hold is refused by both' on_cluster
reloaded() {
    sed -i 's/^policy.*/policy: [default]/' dry.yaml
    start_server --config dry.yaml
    sed -i "s|^policy.*|policy: [default, $work/open.yaml]|" dry.yaml
    reload 'reload: failed'
    for key in network mounts limits; do grep -q "reload: policy 'open', key '$key'" "$work/server.log"; done
    stop_server
}
ok '... and by a reload' reloaded
in_use() {
    start_server
    printf '%s\n' "listen: ${base#http://}" "state: $state" >dry.yaml
    gives 0 'is in use; that is right when this gateway runs' "$codebox" config check dry.yaml
    gives 2 "dry.yaml:1:1: key 'listen': cannot listen on 127.0.0.1" "$codebox" serve --config dry.yaml
    curl -sS "$base/healthz" >/dev/null
    stop_server
}
ok 'the check of a gateway that runs passes, with a word on the address' in_use
by_variable() { gives 1 "CODEBOX_SYSLOG: --syslog is 'ftp://x'" env CODEBOX_SYSLOG=ftp://x "$codebox" config check good.yaml; }
ok 'what a variable has wrong names the variable' by_variable

serves_by_the_file() {
    printf '%s\n' 'listen: 127.0.0.1:0' "state: $state" 'policy: [strict, default]' >serve.yaml
    rm -f "$work/server.log" # the log of the previous server may already have the expected line
    CODEBOX_MAX_SESSIONS=3 "$codebox" serve --config serve.yaml 2>"$work/server.log" &
    server=$!
    wait_until grep -q 'serving on' "$work/server.log"
    grep -q 'policies strict' "$work/server.log"
    kill -TERM "$server"
    wait "$server"
}
ok 'serve reads the file' serves_by_the_file
finish
