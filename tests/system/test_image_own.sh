#!/bin/bash
# SPDX-License-Identifier: MIT
# Images from a user's own image: every image with Python or Node becomes an image that policies
# select by name.
source "$(dirname "$0")/lib.sh"
root=$PWD
cd "$work"
remove_images() { # an image can be removed after all images that are made from it
    local _
    for _ in 1 2 3; do
        docker image ls --quiet --filter reference="codebox-*-own*" --filter reference="codebox-base-own*" --filter reference="codebox-own-*" | sort -u | xargs -r docker rmi -f >/dev/null 2>&1 || true
    done
}
trap 'kill -9 $server 2>/dev/null || true; remove_images; rm -rf "$work"' EXIT

# A plain Debian, like a company's: its own Python, settings that must not reach a sandbox, and
# modules.
company_debian() {
    (cd "$root" && plain_debian codebox-own-plain)
    docker build --quiet --tag codebox-own-company - >/dev/null <<'DOCKERFILE'
FROM codebox-own-plain
RUN python3 -m venv --without-pip /opt/venv && echo 'VALUE = 42' >/opt/venv/lib/python3.13/site-packages/acme.py && \
    mkdir -p /usr/local/lib/node_modules/acme && echo '{"name": "acme", "version": "1.2.3"}' >/usr/local/lib/node_modules/acme/package.json && \
    echo 'exports.VALUE = 43;' >/usr/local/lib/node_modules/acme/index.js && touch /usr/bin/raise && chmod 4777 /usr/bin/raise
ENV PATH=/opt/venv/bin:/usr/bin:/bin PYTHONPATH=/tmp SECRET=of-the-image
VOLUME /data
ONBUILD RUN false
DOCKERFILE
}
ok 'a plain Debian is there' company_debian
make_own() { "$codebox" image build --from codebox-own-company --name own >"$work/build.txt" 2>&1 || { cat "$work/build.txt"; return 1; }; }
ok 'image build --from makes images for the languages that it has' make_own
probed() { [ "$(grep -c 'of .* attempts to get out were held' "$work/build.txt")" = 3 ] && ! grep -v 'PROBE.*were held' "$work/build.txt" | grep PROBE; }
ok '  and runs the probe in each' probed
again() { "$codebox" image build --from codebox-own-company --name own 2>&1 | grep -c ': current$' | grep -qx 5; }
ok '  once: the second time all are current' again
listed() { "$codebox" image list | grep -A 1 codebox-python-own:latest | grep -q 'made from codebox-own-company'; }
ok 'image list has them, with what they are made from' listed

printf 'version: 1\nname: own\nextends: default\nimages: {python: own, javascript: own}\n' >own.yaml
run() { "$codebox" run --state "$state" --policy own.yaml "$@"; }
program() { printf '%s\n' "$2" >"$1"; }
program module.py $'import acme, os, sys\nprint(acme.VALUE, os.environ.get("SECRET"), os.path.exists("/data"), "/tmp" in sys.path)'
ok 'a program finds the modules of the image, and none of its settings' gives 0 '42 None False False' run module.py
program value.ipy '{"a": 1}'
ok 'a cell shows its value, though the image has no IPython' gives 0 "{'a': 1}" run value.ipy
# The rules that would deny these programs beforehand only warn here, so that the image's guard has
# to refuse.
printf 'version: 1\nname: guarded\nextends: [permissive]\nimages: {python: own, javascript: own}\nguard: {start-process: refuse, socket: refuse}\n' >guarded.yaml
guarded() { "$codebox" run --state "$state" --policy guarded.yaml "$@"; }
program start.py $'import os\nprint(os.system("id"))'
ok 'the guard refuses programs there' gives 0 'refused by rule' guarded start.py # os.system returns a status
program socket.py $'import socket\nsocket.socket()'
ok '  and sockets' gives 1 'refused by rule' guarded socket.py
program start.js 'console.log(require("child_process").execSync("id").toString());'
ok '  in JavaScript too' gives 1 'refused by rule' guarded start.js
program module.js 'console.log(require("acme").VALUE);'
ok 'JavaScript too' gives 0 43 run module.js
program module.ts 'const value: number = require("acme").VALUE; console.log(value);'
ok 'and TypeScript' gives 0 43 run module.ts
program shell.sh 'echo from the image of the gateway'
ok 'other languages have the images of the gateway' gives 0 'from the image of the gateway' run shell.sh
printf 'version: 1\nname: other\nextends: default\nimages: {python: nothing}\n' >other.yaml
ok 'an image that is missing is named, with the command that makes it' gives 2 "takes the image 'nothing' for python, which is missing" "$codebox" run --state "$state" --policy other.yaml module.py
ok 'what runs nothing is refused' gives 1 'runs no language here' "$codebox" image build --from codebox-bash:latest --name ownbad
ok 'an image that is not there is refused' gives 1 'there is no image' "$codebox" image build --from codebox-own-nothing --name ownbad
ok 'a name that is none is refused' gives 2 'allowed are at most 32 small letters' "$codebox" image build --from codebox-own-company --name Own

start_server --policy own.yaml --policy default
sessions() {
    local session
    session=$(post /v1/sessions '{"language": "python"}' | jq -er .session_id)
    post /v1/executions "{\"session_id\": \"$session\", \"code\": \"import acme; x = acme.VALUE\"}" >/dev/null
    post /v1/executions "{\"session_id\": \"$session\", \"code\": \"print(x + 1)\"}" | jq -e '[.output[]?.text // empty] | join("") == "43\n"' >/dev/null
    curl -sSf -X DELETE "$base/v1/sessions/$session" >/dev/null
    post /v1/executions '{"policy": "default", "language": "python", "code": "import acme"}' | jq -e '.error.ename == "ModuleNotFoundError" or (tostring | contains("No module named"))' >/dev/null
}
ok 'sessions of a gateway too, and another policy has the image of the gateway' sessions
stop_server
finish
