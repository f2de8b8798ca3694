#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox doctor` on a real engine: its output, its exit status, and each fault that it must
# report. The advice must also fit an installed program, which has no Makefile.
source "$(dirname "$0")/lib.sh"
root=$PWD
cd "$work"

lacks() { ! grep -qF -- "$1" out.txt; }
doctor() { "$codebox" doctor --state "$state" "$@"; }

ok 'nothing fails on the engine in use' gives 0 ' 0 failing' doctor
ok 'each sandbox image was probed' grep -q '^ok  *probe  *in a python sandbox \([0-9]*\) of \1 attempts' out.txt
ok 'the probe ran in the JavaScript image too' grep -q '^ok  *probe  *in a javascript sandbox \([0-9]*\) of \1 attempts' out.txt
confined() { grep -q '^ok  *users ' out.txt; grep -q '^ok  *capabilities ' out.txt; grep -q '^ok  *system calls ' out.txt; grep -Eq '^(ok|warning)  *landlock ' out.txt; }
ok 'what confines our own processes was tried' confined
here() { grep -q "^ok  *engine disk  *the engine's disk has [0-9]* MiB free of [0-9]*, as this host sees it" out.txt; }
ok "the space on the engine's disk was looked at" here
elsewhere() { # the same engine over TCP, whose folder could be on another host
    local forwarder
    python3 -I -c "$(cat "$root/tests/system/forward_tcp.py")" "$(docker context inspect --format '{{.Endpoints.docker.Host}}' | sed 's,^unix://,,')" >port &
    forwarder=$!
    wait_until test -s port
    doctor --docker-host "tcp://127.0.0.1:$(cat port)" >tcp.txt 2>&1 || true
    kill "$forwarder"
    grep -q "^ok  *engine disk  *the engine's disk has [0-9]* MiB free of [0-9]*, as a container sees it" tcp.txt
    [ "$(sed -n "s/.*engine's disk has [0-9]* MiB free of \([0-9]*\),.*/\1/p" tcp.txt)" = "$(sed -n "s/.*engine's disk has [0-9]* MiB free of \([0-9]*\),.*/\1/p" out.txt)" ]
}
ok 'of an engine over TCP by a container, with the same result' elsewhere
nothing_left() { [ -z "$(docker ps -aq --filter label=codebox.instance=doctor)" ]; }
ok 'no container of the probe is left' wait_until nothing_left
machine() { doctor --format json >report.json; expect '.failing == 0 and (.checks | length) > 8 and all(.checks[]; .name and .health and .found)' report.json; }
ok 'the JSON report has the same checks' machine

# The version number of a packaged component alone gives neither 'ok' nor 'failing'.
packaged() {
    local version
    version=$(docker version --format '{{range .Server.Components}}{{if eq .Name "runc"}}{{.Details.GitCommit}}{{end}}{{end}}')
    case $version in
    *+deb* | *ubuntu*) expect '[.checks[] | select(.name == "runc")] == [] or any(.checks[]; .name == "runc" and .health == "warning" and (.advice | contains("packager")))' report.json ;;
    esac
}
ok "a packaged runtime is a warning with the reason" packaged

ok 'an engine that does not exist fails, with the address that was tried' gives 1 'no-such.sock' doctor --docker-host "unix://$work/no-such.sock"
ok 'a runtime that the engine does not have fails' gives 1 "no runtime 'no-such'" doctor --runtime no-such
ok 'an AppArmor profile that is not loaded fails' gives 1 failing doctor --apparmor no-such-profile
ok 'a policy that does not load fails' gives 1 'no-such-policy' doctor --policy no-such-policy
ok 'an argument is a usage error: exit status 2' gives 2 'options only' doctor now
ok 'an unknown format is a usage error' gives 2 '--format' doctor --format xml

installed() { # doctor of an installed program, on a machine without an engine
    make -C "$root" --no-print-directory install DESTDIR="$work/root" PREFIX=/usr >install.log 2>&1 || { cat install.log; return 1; }
    "$work/root/usr/bin/codebox" doctor --state "$state" --docker-host "unix://$work/no-such.sock" >installed.txt || [ $? = 1 ]
    grep -q 'apt-get install docker.io' installed.txt
    ! grep -E 'make |docker/engine-up' installed.txt
}
ok 'the advice of an installed program names nothing of the source tree' installed
profile_installed() {
    "$work/root/usr/bin/codebox" doctor --state "$state" --format json >report.json
    local file
    file=$(jq -r '.checks[] | select(.name == "apparmor") | .advice' report.json | sed -n "s/.*'\(.*\)' is a profile.*/\1/p")
    [ -z "$file" ] || [ -r "$file" ]
}
ok 'the AppArmor profile that it names is a file' profile_installed

profile() { command -v apparmor_parser; apparmor_parser -Q -K -S "$root/docker/apparmor/codebox-sandbox" >compiled; [ -s compiled ]; }
ok 'the AppArmor profile compiles' profile

mkdir -p open && chmod 777 open
ok 'a state directory that others can write to fails' gives 1 'mode 777' "$codebox" doctor --state open
printf 'console.log(1)' >a.js
"$codebox" run --state "$state" a.js >/dev/null
ok 'the records of a good audit log are counted' gives 0 'records, unbroken' doctor
cp "$state/audit.head" head.old
"$codebox" run --state "$state" a.js >/dev/null
cp head.old "$state/audit.head" # as after a crash between the record and its signature
"$codebox" run --state "$state" a.js >/dev/null
ok 'records that were never signed are a warning, with the command that explains them' gives 0 'audit acknowledge' doctor
ok 'an acknowledgement ends the warning' gives 0 '' "$codebox" audit acknowledge --state "$state" --reason 'made by this test'
ok 'audit tail says which records were never signed' gives 0 'were never signed' "$codebox" audit tail --state "$state"
ok 'audit tail shows the reason of the acknowledgement' gives 0 'uid:0: made by this test' "$codebox" audit tail --state "$state"
ok 'the log is good again' gives 0 'records, unbroken' doctor
ok 'the warning ends' lacks 'never signed'
sed -i 's/"principal":"uid:/"principal":"uid:9/' "$state/audit.jsonl"
ok 'a changed record fails, with its file and line' gives 1 'audit.jsonl:1: ' doctor
finish
