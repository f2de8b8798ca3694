#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox image build --lock`: exactly the packages of a lock file, from the test's own index and
# from npm's registry.
source "$(dirname "$0")/lib.sh"
certificates=/etc/ssl/certs/ca-certificates.crt # of this machine: npm's registry may have a private certificate
remove_images() { # an image can be removed after all images that are made from it
    local _
    for _ in 1 2 3; do
        { # layers have the label of their image
            docker image ls --quiet --filter label=codebox.own=locked
            docker image ls --quiet --filter reference="codebox-base-own:locked*" --filter reference="codebox-locked-plain"
        } | sort -u | xargs -r docker rmi -f >/dev/null 2>&1 || true
    done
}
index=$(docker run --detach --interactive --rm --entrypoint python3 --label codebox.test=lock codebox-python:latest -I -c "$(cat tests/live/docker/package_index.py)" 8080 8081)
trap 'docker rm -f "$index" >/dev/null 2>&1; remove_images; rm -rf "$work"' EXIT
wait_until sh -c "docker logs '$index' 2>&1 | grep -q '^ready '"
address=$(docker logs "$index" 2>&1 | sed -n 's/^ready //p')
ok 'a plain Debian is there' plain_debian codebox-locked-plain
cd "$work"

build() { "$codebox" image build --state "$state" --pip-index "http://$address:8080/simple/" --package-ca "$certificates" "$@"; }
make() { build --from codebox-locked-plain --name locked --lock "$@"; }
add() { build --name locked --lock "$@"; } # adds to the existing image
images() { docker image ls --no-trunc --format '{{.Repository}}:{{.Tag}} {{.ID}}' | grep -E '^codebox-[a-z-]+-locked:|^codebox-unfinished' | sort || true; }
nothing_is_there() { images; [ -z "$(images)" ]; }
hash_of() { curl -sSf "http://$address:8080/simple/$1/" | grep -o "$2[^\"]*#sha256=[0-9a-f]*" | sed 's/.*=//' | head -n 1; } # PACKAGE FILE
pinned() { echo "$1==$2 --hash=sha256:$(hash_of "${1//_/-}" "$1-$2")"; } # NAME VERSION
wrong=$(printf '0%.0s' $(seq 64))

# --- refused before anything is built
# ----------------------------------------------------------------------
mkdir open
printf 'requests>=2\n' >open/requirements.txt
ok 'a requirement without a version is refused with its line' gives 2 "open/requirements.txt: line 1, column 1: 'requests>=2' does not say which version is installed, allowed is NAME==VERSION --hash=sha256:HEX" make open/requirements.txt
printf '\ngood==1.0\n' >open/requirements.txt
ok '  and one without a hash' gives 2 "line 2, column 1: 'good==1.0' has no hash" make open/requirements.txt
printf 'good==1.0 --hash=sha256:%s\n--extra-index-url https://elsewhere.example/simple\n' "$wrong" >open/requirements.txt
ok '  an index that the policy does not have' gives 1 "line 2: '--extra-index-url https://elsewhere.example/simple' is of no index of policy 'default'" make open/requirements.txt
printf '{"lockfileVersion": 3, "packages": {"node_modules/a": {"version": "1.0.0", "resolved": "git+ssh://git@example.org/a.git"}}}' >open/package-lock.json
ok '  a repository in a package-lock.json' gives 2 "'node_modules/a' comes from git+ssh://git@example.org/a.git" make open/package-lock.json
touch poetry.lock
ok '  a lock file of another kind' gives 2 "allowed are requirements.txt with hashes, uv.lock, pylock.toml and package-lock.json" make poetry.lock
ok '  a lock file beside names' gives 2 'allowed is one of them' make open/requirements.txt --packages good
ok '  a lock file as a name' gives 2 'a lock file is given by --lock' build --name locked --packages open/requirements.txt
printf 'good==1.0 --hash=sha256:%s\n' "$wrong" >wrong.txt
ok '  packages for another language' gives 2 'allowed is python' make wrong.txt --language javascript
ok 'a file that does not have the locked hash fails the build, with the name of its package' gives 2 "the bytes of 'good' do not have the hash that they should have" make wrong.txt
ok '... and no image is there, finished or not' nothing_is_there

# --- requirements.txt ------------------------------------------------------------------------------------------------------------------
{
    echo "# written by hand"
    echo "good==1.0 \\"
    echo "    --hash=sha256:$wrong \\"
    echo "    --hash=sha256:$(hash_of good good-1.0)"
    pinned good_part 2.0
    echo "needs_first==1.0 ; sys_platform == 'win32' --hash=sha256:$wrong"
} >requirements.txt
made() {
    make requirements.txt | tee made.txt
    [ "$(grep -c 'PROBE .* attempts to get out were held' made.txt)" = 3 ]
    images
    images | grep -q codebox-python-locked:latest
    images | grep -q codebox-javascript-locked:latest
    images | grep -q codebox-installer-python-locked:latest
    ! images | grep unfinished
}
ok 'an image is made with the packages of a requirements.txt' made
printf 'version: 1\nname: own\nextends: default\nimages: {python: locked, javascript: locked}\n' >own.yaml
run() { "$codebox" run --state "$state" --policy own.yaml "$@"; }
printf 'import good, good_part\nprint(good.VALUE, good_part.VALUE)\n' >program.py
ok '  and programs have them' gives 0 '1.0 2.0' run program.py
listed() {
    "$codebox" image list >list.txt
    cat list.txt
    grep -A 4 '^codebox-python-locked:' list.txt | grep -q "built in: good 1.0 sha256:$(hash_of good good-1.0)"
    grep -A 4 '^codebox-python-locked:' list.txt | grep -q 'built in: good-part 2.0 sha256:'
    ! grep -q needs-first list.txt
    docker image inspect --format '{{index .Config.Labels "codebox.contents"}}' codebox-python-locked:latest | jq -e '[.packages[] | .name + " " + .version] | contains(["good 1.0", "good_part 2.0"])'
}
ok 'image list has what is locked for this platform, with its hashes' listed
recorded() { records | grep -q '"action":"install"' && records | grep -q '"action":"resolve"' && audit_is_whole; }
ok '  and the audit log how it was judged' recorded
replayed() { "$codebox" audit replay --state "$state" --policy default | tee replay.txt; }
ok '  and can be replayed' replayed
images >before.txt
unchanged() { images | diff before.txt -; }
fails_unchanged() { # STATUS FRAGMENT COMMAND ...
    gives "$@"
    unchanged
}
{ pinned good_part 2.0; pinned paramiko 3.0; } >blocked.txt
ok 'a package that the policy blocks is denied with a record, and images stay as they are' fails_unchanged 1 'denied by policy default (decision ' make blocked.txt
echo "altered==1.0 --hash=sha256:$wrong" >altered.txt
ok '  one of which the index says the locked hash, and has other bytes' fails_unchanged 2 "the bytes of 'altered' do not have the hash that they should have" add altered.txt
pinned pulls_old 1.0 >incomplete.txt
ok '  one whose dependency is not locked' fails_unchanged 2 "the package 'pulls_old' needs 'urllib3', which neither the lock file nor the image has" add incomplete.txt
echo "only_source==1.0 --hash=sha256:$wrong" >source.txt
ok '  one without a wheel' fails_unchanged 2 "'only_source' has no wheel for the sandbox's Python" add source.txt

# --- package-lock.json -----------------------------------------------------------------------------------------------------------------
mkdir js
echo '{"name": "me", "version": "1.0.0", "dependencies": {"debug": "4.3.4", "left-pad": "1.3.0"}}' >js/package.json
if (cd js && npm install --package-lock-only --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1); then
    printf 'const debug = require("debug/package.json"), ms = require("ms/package.json");\nconsole.log(debug.version, ms.version, require("left-pad")(7, 2, 0));\n' >program.js
    jq '.packages["node_modules/ms"].integrity = "sha512-" + ("A" * 86) + "=="' js/package-lock.json >js/other.json
    ok 'an archive of npm with another hash fails, with the name of its package' fails_unchanged 2 "the bytes of 'ms' do not have the hash that they should have" add js/other.json
    installed() {
        add js/package-lock.json
        gives 0 "4.3.4 $(jq -r '.packages["node_modules/ms"].version' js/package-lock.json) 07" run program.js
        "$codebox" image list | grep -A 3 '^codebox-javascript-locked:' | grep -q 'built in: node_modules/debug debug 4.3.4 sha512-'
    }
    ok 'package-lock.json is installed as it is locked, of the registry' installed
else
    echo "  skipped: npm's registry: $(tail -n 1 js/npm.log)"
fi

# --- uv.lock ---------------------------------------------------------------------------------------------------------------------------
uv_package() { # NAME VERSION FILE MORE
    printf '\n[[package]]\nname = "%s"\nversion = "%s"\nsource = { registry = "http://%s:8080/simple/" }\n%s\n' "$1" "$2" "$address" "${4:-}"
    printf 'wheels = [\n    { url = "http://%s:8080/files/%s", hash = "sha256:%s", size = 1 },\n]\n' "$address" "$3" "$(hash_of "$1" "$3")"
}
{
    printf 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n\n[[package]]\nname = "me"\nversion = "0.1.0"\nsource = { virtual = "." }\n'
    printf 'dependencies = [\n    { name = "needs-first" },\n    { name = "foreign", marker = "python_full_version < '\''3.9'\''" },\n]\n'
    uv_package needs-first 1.0 needs_first-1.0-py3-none-any.whl 'dependencies = [{ name = "good-part" }]'
    uv_package good-part 0.9 good_part-0.9-py3-none-any.whl
    printf '\n[[package]]\nname = "foreign"\nversion = "1.0"\nsource = { registry = "http://%s:8080/simple/" }\n' "$address"
} >uv.lock
cp uv.lock open/uv.lock
printf 'sdist = { url = "http://%s:8080/files/foreign-1.0.tar.gz", hash = "sha256:%s" }\n' "$address" "$wrong" >>open/uv.lock
ok 'a source distribution in uv.lock is refused' gives 2 "'foreign' has a source distribution alone" make open/uv.lock
printf 'wheels = [{ url = "http://%s:8080/files/foreign-1.0-py3-none-any.whl", hash = "sha256:%s" }]\n' "$address" "$wrong" >>uv.lock
printf 'import needs_first, good_part\nprint(needs_first.VALUE, good_part.VALUE)\n' >program.py
older() { # the index also has good-part 2.0
    make uv.lock --language python
    gives 0 '1.0 0.9' run program.py
    ! images | grep unfinished
}
ok 'uv.lock is installed as it is locked, by its markers' older
# --- pylock.toml -----------------------------------------------------------------------------------------------------------------------
pylock_package() { # NAME VERSION FILE
    printf '\n[[packages]]\nname = "%s"\nversion = "%s"\nindex = "http://%s:8080/simple/"\n' "$1" "$2" "$address"
    printf '[[packages.wheels]]\nname = "%s"\nurl = "http://%s:8080/files/%s"\n[packages.wheels.hashes]\nsha256 = "%s"\n' "$3" "$address" "$3" "$(hash_of "$1" "$3")"
}
{
    printf 'lock-version = "1.0"\ncreated-by = "pip"\n'
    pylock_package needs-first 1.0 needs_first-1.0-py3-none-any.whl
    pylock_package good-part 0.9 good_part-0.9-py3-none-any.whl
    printf '\n[[packages]]\nname = "foreign"\nversion = "1.0"\nmarker = "sys_platform == '\''win32'\''"\n'
} >pylock.toml
pylocked() {
    make pylock.toml --language python
    gives 0 '1.0 0.9' run program.py
    ! images | grep unfinished
}
ok 'pylock.toml is installed as it is locked, by its markers' pylocked
finish
