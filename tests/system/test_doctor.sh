#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox doctor` on a real engine: what it prints, its exit status, and each thing that it must notice.
source "$(dirname "$0")/lib.sh"
cd "$work"

doctor() { "$codebox" doctor --state "$state" "$@"; }

ok 'nothing fails on the engine in use' gives 0 ' 0 failing' doctor
ok 'each sandbox image was probed' grep -q '^ok  *probe  *in a python sandbox \([0-9]*\) of \1 attempts' out.txt
ok 'also that of JavaScript' grep -q '^ok  *probe  *in a javascript sandbox \([0-9]*\) of \1 attempts' out.txt
nothing_left() { [ -z "$(docker ps -aq --filter label=codebox.instance=doctor)" ]; }
ok 'and no container is left' wait_until nothing_left
machine() { doctor --format json >report.json; expect '.failing == 0 and (.checks | length) > 8 and all(.checks[]; .name and .health and .found)' report.json; }
ok 'the same as JSON' machine

# A package's version is never said to be good or bad by its number alone.
packaged() {
    local version
    version=$(docker version --format '{{range .Server.Components}}{{if eq .Name "runc"}}{{.Details.GitCommit}}{{end}}{{end}}')
    case $version in
    *+deb* | *ubuntu*) expect '[.checks[] | select(.name == "runc")] == [] or any(.checks[]; .name == "runc" and .health == "warning" and (.advice | contains("packager")))' report.json ;;
    esac
}
ok "a packager's runtime is a warning that says why" packaged

ok 'an engine that is not there fails, and says what was tried' gives 1 'no-such.sock' doctor --docker-host "unix://$work/no-such.sock"
ok 'so does a runtime that the engine has not' gives 1 "no runtime 'no-such'" doctor --runtime no-such
ok 'and an AppArmor profile where there is none, or one that is not loaded' gives 1 failing doctor --apparmor no-such-profile
ok 'a policy that does not load fails' gives 1 'no-such-policy' doctor --policy no-such-policy
ok 'a word that is no option could not be tried: 2' gives 2 'options only' doctor now
ok 'nor an unknown format' gives 2 '--format' doctor --format xml

profile() { command -v apparmor_parser; apparmor_parser -Q -K -S "$OLDPWD/docker/apparmor/codebox-sandbox" >compiled; [ -s compiled ]; }
ok 'the AppArmor profile compiles' profile

mkdir -p open && chmod 777 open
ok 'a state directory that others can write to fails' gives 1 'mode 777' "$codebox" doctor --state open
printf 'console.log(1)' >a.js
"$codebox" run --state "$state" a.js >/dev/null
ok 'a good audit log is counted' gives 0 'records, unbroken' doctor
sed -i 's/"principal":"uid:/"principal":"uid:9/' "$state/audit.jsonl"
ok 'a changed one fails, with the line' gives 1 'line 1' doctor
finish
