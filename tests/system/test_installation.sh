#!/bin/bash
# SPDX-License-Identifier: MIT
# make install and uninstall, the installed programs, the systemd unit, and the gateway's messages
# to a service manager.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # for a sanitised build: the leak checker cannot inspect a confined process, and changes its exit status
root=$PWD
dest=$work/dest
in_dest() { (cd "$dest" && find . -type f | sort); }

make -s -C "$root" install DESTDIR="$dest" PREFIX=/usr >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
cd "$work"
[ -n "${CODEBOX:-}" ] || codebox=$dest/usr/bin/codebox
for file in usr/bin/codebox usr/bin/codebox-lint usr/share/man/man1/codebox.1 usr/share/bash-completion/completions/codebox \
    usr/share/zsh/site-functions/_codebox usr/share/fish/vendor_completions.d/codebox.fish usr/lib/systemd/system/codebox.service \
    usr/share/codebox/codebox.yaml usr/share/codebox/docker/images/build; do
    ok "$file is installed" [ -s "$dest/$file" ]
done
ok 'the files can be read by all' [ -z "$(find "$dest/usr" ! -perm -444)" ]
ok 'the program runs from there' gives 0 'codebox' "$codebox" --version
ok 'and judges' bash -c 'echo "print(1)" | "$0" --language python -' "$dest/usr/bin/codebox-lint"
ok 'the example configuration is accepted' gives 0 ': ok' "$codebox" config check "$dest/usr/share/codebox/codebox.yaml"
ok 'the unit names the installed program' grep -q '^ExecStart=/usr/bin/codebox serve$' "$dest/usr/lib/systemd/system/codebox.service"

if command -v systemd-analyze >/dev/null; then
    sed "s|/usr/bin/codebox|$dest/usr/bin/codebox|" "$dest/usr/lib/systemd/system/codebox.service" >"$work/codebox.service"
    verify() { # docker.service is not installed here
        systemd-analyze verify --man=no "$work/codebox.service" >"$work/verify" 2>&1 || true
        grep -F codebox.service "$work/verify" >"$work/said" || true
        lacks . <"$work/said"
    }
    ok 'systemd-analyze verify has nothing to say of the unit' verify
    exposure() { systemd-analyze security --offline=yes --threshold=40 "$work/codebox.service" | tail -n 3; }
    ok 'systemd-analyze security: an exposure of 4.0 at most' exposure
else
    echo '  skipped systemd-analyze: not installed'
fi

# A service manager: prints the states that it receives.
cat >"$work/manager.py" <<'PYTHON'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
print('listening', flush=True)
while True:
    data, credentials, _, _ = s.recvmsg(4096, 64)
    pid = int.from_bytes(credentials[0][2][:4], 'little')
    print(pid, data.decode().replace('\n', ' '), flush=True)
PYTHON
python3 "$work/manager.py" "$work/notify" >"$work/states" &
manager=$!
wait_until grep -q listening "$work/states"
# With the capabilities that the unit leaves, if this process has others to drop.
bound=()
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    kept=$(sed -n 's/^CapabilityBoundingSet=//p' "$root/gateway/cli/serve/codebox.service.in" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
    bound=(setpriv --bounding-set="-all,$kept" --no-new-privs)
fi
if command -v systemd-analyze >/dev/null; then
    bound+=(python3 "$root/tests/system/installation/restrict.py" "$dest/usr/lib/systemd/system/codebox.service")
fi
printf '%s\n' "state: $state" 'listen: 127.0.0.1:0' 'policy: default' >"$work/serve.yaml"
chmod 700 "$work"
ok 'the configuration is checked under them' gives 0 ': ok' "${bound[@]}" "$codebox" config check "$work/serve.yaml"
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" -gt 443 ]; then
    printf '%s\n' "state: $state" 'listen: 127.0.0.1:443' >"$work/low.yaml"
    ok 'a port below 1024 is refused under them' gives 1 'cannot listen on 127.0.0.1 port 443: Permission denied' "${bound[@]}" "$codebox" config check "$work/low.yaml"
    ok 'and accepted with the capability of the documented drop-in' gives 0 ': ok' setpriv --bounding-set="-all,$kept,+net_bind_service" --no-new-privs "$codebox" config check "$work/low.yaml"
fi
runtime() { grep -qx 'RuntimeDirectory=codebox' "$dest/usr/lib/systemd/system/codebox.service"; grep -qF 'AmbientCapabilities=CAP_NET_BIND_SERVICE' "$dest/usr/lib/systemd/system/codebox.service"; }
ok 'the unit makes the folder of the Unix socket, and has the drop-in for low ports' runtime
NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=4000000 "${bound[@]}" "$codebox" serve --config "$work/serve.yaml" 2>"$work/server.log" &
server=$!
ok 'the service manager is told when the gateway serves' wait_until grep -q ' READY=1' "$work/states"
ok 'it does so with the capabilities and filters of the unit' wait_until grep -q 'serving on' "$work/server.log"
base=$(sed -n 's/.*serving on \(http:[^,]*\),.*/\1/p' "$work/server.log")
ok 'requests are served then' [ "$(status_of "$base/readyz")" = 200 ]
ok 'programs run' bash -c 'curl -sS -H "Content-Type: application/json" -d "{\"language\":\"python\",\"code\":\"print(42)\"}" "$0/v1/executions" | jq -e ".status == \"completed\""' "$base"
ok 'the watchdog is told' wait_until grep -q ' WATCHDOG=1' "$work/states"
kill -HUP "$server"
ok 'a reload is announced, with its time' wait_until grep -q ' RELOADING=1 MONOTONIC_USEC=[0-9]' "$work/states"
again() { [ "$(grep -c ' READY=1' "$work/states")" = 2 ]; }
ok '... and its end' wait_until again
kill -TERM "$server"
wait "$server" && status=0 || status=$?
server=
ok 'it ends well' [ "$status" = 0 ]
ok 'so is the stop' wait_until grep -q ' STOPPING=1' "$work/states"
ok 'only the main process sends' [ "$(grep -c . <(grep = "$work/states" | cut -d' ' -f1 | sort -u))" = 1 ]
kill "$manager"

make -s -C "$root" uninstall DESTDIR="$dest" PREFIX=/usr >"$work/uninstall.log" 2>&1
ok 'make uninstall leaves no file' [ -z "$(in_dest)" ]
finish
