#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox policy`: its output and exit status. Needs no engine.
source "$(dirname "$0")/lib.sh"
root=$PWD
cd "$work"

policy() { "$codebox" policy "$@"; }
write() { cat >"$1"; }

# --- errors
write key.yaml <<'END'
version: 1
name: x
rules:
  - id: a.b
    match: {calls: [os.system]}
END
mark() { gives 2 "did you mean 'call'" policy check key.yaml; grep -qF '      5 |     match: {calls: [os.system]}' out.txt; grep -qE '^ +\| {13}\^$' out.txt; }
ok 'an error shows the line, a mark below the place, and the nearest key' mark
printf 'version: 1\nname: x\nextends: [key.yaml]\n' >child.yaml
ok 'an error in a policy that is extended shows that policy' gives 2 "policy 'key.yaml'" policy check child.yaml
printf 'version: 1\nname: x\nextends: [default]\nrules: [{id: py.process, effect: warn}]\n' >laxer.yaml
ok 'a laxer rule needs override' gives 2 'override: true' policy check laxer.yaml
printf 'version: 1\nname: x\nrules: [{id: q, languages: [python], match: {query: "((call) @c (#is? @c))"}}]\n' >query.yaml
ok 'a query with an unknown predicate is refused' gives 2 '#is?' policy check query.yaml
ok 'a preset that does not exist is refused with the names of those that do' gives 2 'presets are default, strict' policy check nosuch
printf 'version: 1\nname: x\nextends: [default]\nexceptions: [{rule: nosuch, principal: a, until: 2020-01-01, reason: r}]\n' >exception.yaml
notes() { gives 0 'matches no rule' policy check exception.yaml; grep -q 'has ended' out.txt; }
ok 'exceptions that have ended, or match no rule, are noted' notes

printf 'version: 1\nname: x\npackages: {pip: {mode: blocklist, minimum: {numpy: banana}}}\n' >minimum.yaml
ok 'a minimum that is no version is refused' gives 2 "the minimum of 'numpy' is 'banana'" policy check minimum.yaml

# --- tests
printf 'version: 1\nname: x\nrules: [{id: a, match: {import: os}}, {id: b, match: {import: re}, tests: {deny: [import re], allow: [import os]}}]\n' >untested.yaml
ok 'a rule without tests is named' gives 0 'rule a has no tests' env CI= "$codebox" policy test untested.yaml
ok 'in CI a rule without tests fails' gives 1 'rule a has no tests' env CI=true "$codebox" policy test untested.yaml
printf 'version: 1\nname: x\nrules: [{id: a, match: {import: os}, tests: {deny: [import re]}}]\n' >wrong.yaml
ok 'a failing test is reported' gives 1 'rule a should find this' policy test wrong.yaml
printf 'version: 1\nname: x\nmounts: {allow: [{host: /srv}], container: [/data], tests: {deny: ["/srv:/data"], allow: ["/srv:/etc"]}}\n' >mounts.yaml
mounts() { gives 1 'should be refused' policy test mounts.yaml; grep -q 'should be allowed' out.txt; }
ok 'a failing test of mounts is reported' mounts

# --- diff
ok 'a policy has no difference from itself' gives 0 'allow the same' policy diff default default
differ() { gives 1 'default allows what strict does not' policy diff default strict; grep -qF 'rule py.http-client: what it finds is denied instead of warned of' out.txt; grep -qF 'import requests' out.txt; }
ok 'the difference of two policies has programs as examples' differ

# --- mounts
ok 'check-mount names the entry that refuses' gives 1 "mounts.deny has '/etc'" policy check-mount /srv/../etc/ssl:/data:ro
printf 'version: 1\nname: x\nmounts: {allow: [{host: /srv/data}], deny: [/etc], container: [/data]}\n' >data.yaml
ok 'check-mount refuses a malformed mount' gives 2 'HOST:CONTAINER' policy check-mount /srv
start_engine() { # INFO: the response of a stand-in
    [ -z "${engine:-}" ] || { kill "$engine" && wait "$engine" 2>/dev/null || true; }
    rm -rf sock && mkdir sock && : >engine.log
    node "$root/tests/system/engine_standin.mjs" sock/engine.sock "$1" '' >engine.log &
    engine=$!
    wait_until grep -q listening engine.log
}
mkdir -p data/2027 data/engine other
ln -s ../other data/leak
printf 'version: 1\nname: x\nmounts: {allow: [{host: %s/data}], deny: [/etc], container: [/data]}\n' "$PWD" >data.yaml
try_mount() { # checks the output of check-mount about data/FOLDER
    gives "$1" "$2" policy check-mount --policy data.yaml --state "$PWD/state" --docker-host "unix://$PWD/sock/engine.sock" "$PWD/data/$3:/data"
}
start_engine "{\"DockerRootDir\": \"$PWD/data/engine\"}"
ok 'check-mount names the entry that allows' try_mount 0 "mounts.allow has '$PWD/data' (ro)" 2027
ok '... and tries the mount as a run does' grep -qF 'mounted by a run on this host' out.txt
ok '... which refuses what is not there' try_mount 1 'does not exist' 2028
ok '... a link out of what is granted' try_mount 1 'is a link that leads out' leak
ok "... the engine's data" try_mount 1 "is, holds or lies in the engine's data" engine
start_engine '{"SecurityOptions": ["name=rootless"]}'
ok '... and every folder where the engine is rootless' try_mount 1 'runs without root' 2027
kill "$engine" && wait "$engine" 2>/dev/null || true
ok 'without an engine check-mount says that it tried nothing' try_mount 2 'not tried, and a run would fail' 2027

# --- words
ok 'explain describes conditions' gives 0 'when argument 1 or mode is like *[wax+]*' policy explain default
ok 'list names the presets' gives 0 'web-automation' policy list
ok 'an unknown verb is refused with the list of verbs' gives 2 'check-mount' policy nosuch
presets() { for p in $(policy list | cut -d' ' -f1); do policy check "$p"; done; }
ok 'every preset loads' presets

# --- the schema, by an independent validator
validate() { local status=0; "$root/tests/schema/validate" "$@" || status=$?; [ "$status" = 0 ] || [ "$status" = 77 ]; }
schema() { policy schema >schema.json; validate "$work/schema.json" accepted "$root"/policies/presets/*.yaml; }
ok 'the schema accepts every preset' schema
printf 'version: 1\nname: x\nrules: [{id: a, match: {fact: [dynamic-cod]}}]\n' >fact.yaml
printf 'version: 1\nname: x\nlimits: {wall: 3x}\n' >wall.yaml
printf 'version: 1\nname: x\nexceptions: [{rule: a, principal: b}]\n' >missing.yaml
ok 'the schema refuses unknown keys, names and units, and missing keys' validate "$work/schema.json" refused "$work"/{key,fact,wall,missing}.yaml
finish
