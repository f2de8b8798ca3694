#!/bin/bash
# SPDX-License-Identifier: MIT
# The configuration file as an operator uses it: checked, explained, and read by the server.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # of a build with it: the leak checker cannot look into a confined process, and changes its exit status
chmod 700 "$work"
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
ok '... with every key of serve' bash -c '"$0" serve --help | grep -o "^  --[a-z-]*" | grep -v -e --config -e --help -e --conformance |
    sed "s/^  --\(.*\)/^#\1: /" >keys && [ "$(grep -c -f keys example.yaml)" = "$(wc -l <keys)" ]' "$codebox"
ok 'a file that others can write to is refused' bash -c 'cp good.yaml open.yaml; chmod 666 open.yaml; ! "$0" config check open.yaml 2>&1' "$codebox"
ok 'serve refuses a bad file before it starts anything' gives 2 "unknown key" "$codebox" serve --config bad.yaml --state "$work/none"
ok '... and has made no state' [ ! -e "$work/none" ]
ok 'a variable that is no option is a problem' gives 1 "'CODEBOX_POLCY'" env CODEBOX_POLCY=strict "$codebox" config check good.yaml
ok 'an unknown verb is refused' gives 2 "allowed are" "$codebox" config fix

serves_by_the_file() {
    printf '%s\n' 'listen: 127.0.0.1:0' "state: $state" 'policy: [strict, default]' >serve.yaml
    CODEBOX_MAX_SESSIONS=3 "$codebox" serve --config serve.yaml 2>"$work/server.log" &
    server=$!
    wait_until grep -q 'serving on' "$work/server.log"
    grep -q 'policies strict' "$work/server.log"
    kill -TERM "$server"
    wait "$server"
}
ok 'serve reads the file' serves_by_the_file
finish
