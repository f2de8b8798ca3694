#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox image build` without an engine: stand-ins for the commands of the script record their
# arguments, and the checks examine the remains of a failure.
set -uo pipefail
cd "$(dirname "$0")/../.."
codebox=$PWD/build/codebox script=$PWD/docker/images/build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
ok() { printf '  ok    %s\n' "$1"; }
bad() { printf 'FAILED %s\n' "$1"; failures=$((failures + 1)); }
check() { if eval "$2"; then ok "$1"; else bad "$1"; fi; }

# Images are files; `mmdebstrap` fails $work/failures times, each time after half of an archive.
mkdir "$work/bin" "$work/images"
cat >"$work/bin/docker" <<SH
#!/bin/bash
images=$work/images
case "\$1 \$2" in
    "image inspect") name=\${!#}; [ -e "\$images/\${name//\//_}" ] ;;
    "import "*) cat >"\$images/\${!#}" ;;
    "tag "*) cp "\$images/\$2" "\$images/\$3" ;;
    "rmi "*) rm "\$images/\$2" ;;
    "build "*)
        touch "\$images/built"
        while [ "\$1" != --tag ]; do [ "\$1" != --label ] || echo "\$2" >>"$work/labels"; shift; done
        touch "\$images/\$2" ;;
    "run "*)
        case "\$*" in
            */natives*) tar --list >"$work/sources"; echo compiled >"$work/shell-loader.so"; tar --create --directory "$work" shell-loader.so ;;
            *) cat >"$work/lister"; [ ! -e "$work/no-list" ] && echo '{"version":1}' ;;
        esac ;;
    *) exit 1 ;;
esac
SH
cat >"$work/bin/mmdebstrap" <<SH
#!/bin/bash
ls /proc/self/fd >"$work/descriptors"
cat >"$work/deb-lines"
echo 'bc 0.0.1 cafe' >"\$CODEBOX_LISTED"
left=\$(cat "$work/failures")
echo half-an-archive
[ "\$left" = 0 ] && exit 0
echo \$((left - 1)) >"$work/failures"
echo "E: apt says: the mirror is away (\$left)" >&2
exit 1
SH
cat >"$work/bin/apt-get" <<SH
#!/bin/bash
release=\$(. /etc/os-release && echo "\$VERSION_CODENAME")
printf 'http://deb.example/%s main\n' "debian \$release" "debian \$release-updates" "debian-security \$release-security" "other \$release"
SH
chmod +x "$work"/bin/*
for program in supervisor probe command-kernel relay bridge; do cp /bin/true "$work/codebox-$program"; done

# The tools of every machine, and no others.
mkdir "$work/tools"
for tool in bash cat cut dirname awk find grep head ls mkdir mktemp rm sed sha256sum sort tail timeout wc xargs; do ln -s "$(command -v "$tool")" "$work/tools/$tool"; done
build_without() { # the same, on a machine without this program
    mkdir "$work/some"
    cp "$work"/bin/* "$work/some/"
    rm "$work/some/$1"
    PATH="$work/some:$work/tools" CODEBOX_SUPERVISOR="$work/codebox-supervisor" "$script" bash >"$work/out" 2>&1
    local status=$?
    rm -r "$work/some"
    return $status
}

build() { # FAILURES
    echo "$1" >"$work/failures"
    rm -f "$work"/images/*
    (exec 3</dev/null 5</dev/null 9</dev/null 10</dev/null 11</dev/null 12</dev/null 200</dev/null
     PATH="$work/bin:$PATH" CODEBOX_SUPERVISOR="$work/codebox-supervisor" "$script" bash) >"$work/out" 2>&1
}

build 0
check "an image is built on a base that was bootstrapped" '[ $? = 0 ] && [ -e "$work/images/built" ]'
check "the image is asked what it has, and the answer is its label" 'cmp "$work/lister" docker/images/contents.sh && grep -qx "codebox.contents={\"version\":1}" "$work/labels"'
check "no image without the label is left" '[ -e "$work/images/codebox-bash:latest" ] && ! ls "$work/images" | grep -q unlisted'
check "the bootstrap inherits no descriptor of the caller" '[ "$(tr "\n" " " <"$work/descriptors")" = "0 1 2 3 " ]' # ls opens 3 itself
check "the base is of the images' release, from this machine's Debian sources" \
    '[ "$(cat "$work/deb-lines")" = "$(printf "deb http://deb.example/%s main\n" "debian trixie" "debian trixie-updates" "debian-security trixie-security")" ]'
check "a base that differs from the lock says in what" 'grep -q "packages that differ from docker/images/lock .*: 1$" "$work/out" && grep -q "bc: 1[^ ]*, here 0.0.1" "$work/out"'
check "the library of the shell is compiled in a base, from the sources of this tree" 'grep -qx docker/inside/shell_loader/shell_loader.c "$work/sources"'
check "nothing unfinished is left" '! ls "$work/images" | grep -q unfinished'

touch "$work/no-list"
build 0
check "an image that does not tell what it has is not built" '[ $? != 0 ] && [ ! -e "$work/images/codebox-bash:latest" ]'
rm "$work/no-list"

build 2
check "a bootstrap that fails is tried again" '[ $? = 0 ] && [ -e "$work/images/built" ]'
check "the output of apt is printed each time" '[ "$(grep -c "the mirror is away" "$work/out")" = 2 ]'

build 9
check "a bootstrap that always fails is an error" '[ $? != 0 ]'
check "the bootstrap was tried three times" '[ "$(cat "$work/failures")" = 6 ]'
check "a bootstrap that always fails leaves no image" '[ -z "$(ls "$work/images")" ]'
build 0
check "the next build starts anew" '[ $? = 0 ] && [ -e "$work/images/built" ]'

rm -f "$work"/images/*
build_without docker
check "a machine without the docker client gets the name of the package" '[ $? = 1 ] && grep -q "docker.*is missing.*apt-get install docker.io" "$work/out"'
build_without mmdebstrap
check "a machine without mmdebstrap gets it at the first attempt" '[ $? = 1 ] && grep -q "mmdebstrap.*is missing" "$work/out" && ! grep -q attempt "$work/out"'

# codebox has open connections of its engine client when it starts the script.
tree=$work/tree
mkdir -p "$tree/build/release" "$tree/docker/images"
cp -L "$codebox" "$tree/build/release/codebox"
touch "$tree/docker/images/build"
chmod +x "$tree/docker/images/build"
cat >"$work/engine.mjs" <<'JS'
import { createServer } from 'node:http';
createServer((request, response) => response.end('{"ApiVersion": "1.41", "Version": "1"}')).listen(process.argv[2]);
JS
node "$work/engine.mjs" "$work/engine.sock" &
engine=$!
trap 'kill $engine 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -S "$work/engine.sock" ] && break; sleep 0.1; done
printf '#!/bin/bash\nls /proc/self/fd >"%s"\necho "$CODEBOX_PROGRAM" >"%s"\n' "$work/descriptors" "$work/program" >"$tree/docker/images/build"
(exec 10</dev/null 11</dev/null; "$tree/build/release/codebox" image build --docker-host "unix://$work/engine.sock") >"$work/out" 2>&1
check "the script is told the program, for the image of the gateway" '[ "$(cat "$work/program")" = "$tree/build/release/codebox" ]'
check "the script inherits no descriptor of codebox" '[ "$(tr "\n" " " <"$work/descriptors")" = "0 1 2 3 " ]'

# `image push`: what it refuses needs no engine; the engine here has all images but that of C, and the
# installer of one.
cat >"$work/images.mjs" <<'JS'
import { createServer } from 'node:http';
createServer((request, response) => {
    const image = /\/images\/codebox-([a-z-]+):latest\/json$/.exec(request.url);
    response.statusCode = image && /^c(-|$)|^installer-(?!python-lab)/.test(image[1]) ? 404 : 200;
    const labels = { 'codebox.contents': '{"a": "\u00fc"}', 'codebox.fingerprint': 'f' };
    response.end(JSON.stringify(image ? { Id: 'sha256:' + 'ab'.repeat(32), Size: 1234567, Config: { Labels: image[1] === 'bash' ? null : labels } }
        : request.url.includes('/images/json') ? [] : { ApiVersion: '1.41', Version: '1' }));
}).listen(process.argv[2]);
JS
node "$work/images.mjs" "$work/images.sock" &
images=$!
trap 'kill $engine $images 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -S "$work/images.sock" ] && break; sleep 0.1; done

mkdir "$work/push-bin" "$work/pushed"
cat >"$work/push-bin/docker" <<SH
#!/bin/bash
echo "\$*" >>"$work/docker-calls"
case "\$1 \$2" in
    "image inspect") cat "$work/tagged" 2>/dev/null ;;
    "push "*) cat "$work/answer"; exit "\$(cat "$work/push-status")" ;;
esac
SH
chmod +x "$work/push-bin/docker"
push() { # ARGUMENTS ...: in the folder `pushed`
    rm -f "$work/docker-calls"
    (cd "$work/pushed" && PATH="$work/push-bin:$PATH" "$codebox" image push --docker-host "unix://$work/images.sock" "$@") >"$work/out" 2>"$work/err"
}
refuses() { # FRAGMENT ARGUMENTS ...: one line, and nothing is called or written
    local fragment=$1 status=0
    shift
    push "$@" || status=$?
    [ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q '^codebox: ' "$work/err" && grep -qF -- "$fragment" "$work/err" &&
        [ ! -e "$work/docker-calls" ] && [ -z "$(ls "$work/pushed")" ]
}
wrong=
for registry in https://registry.example.com registry.example.com/Team Registry.example.com registry.example.com/a@sha256:12 'registry.example.com/a b' '' team \
    registry.example.com:0 registry.example.com:65536 registry.example.com/ registry.example.com//a registry.example.com/a..b registry.example.com/a:1 a_b.example.com \
    -registry.example.com "registry.example.com/$(printf 'a%.0s' $(seq 200))"; do
    refuses 'allowed is HOST[:PORT][/PATH]' -- "$registry" || wrong+=" '$registry'"
done
check "push refuses a registry with a scheme, capitals, blanks or a digest, and other names that are none$wrong" '[ -z "$wrong" ]'
check "push needs a registry" 'refuses "needs a REGISTRY"'
check "an image that is no kernel's is refused" 'refuses "there is no image '"'fish'"', allowed are" registry.example.com fish'
check "an image that is not built is named, with the command that builds it" 'refuses "codebox-c:latest'"'"' is not built; '"'"'codebox image build'"'"'" registry.example.com'
check "  with --local too" 'refuses "codebox image build" --local'
check "  and an image of one's own" 'refuses "codebox image build --from IMAGE --name lab" registry.example.com c-lab'
check "the image of the gateway is in no images file" 'refuses "has no image '"'gateway'"'" --local gateway'
check "images are given, or --name" 'refuses "allowed is one of them" registry.example.com bash --name lab'
check "a file that cannot be written is refused before the push" 'refuses "cannot be written" registry.example.com bash --images-file none/images.json'
check "  and a folder" 'refuses "not a regular file" registry.example.com bash --images-file .'

push --local python-small bash python-lab
check "push --local calls nothing and writes the file" '[ $? = 0 ] && [ ! -e "$work/docker-calls" ] && [ "$(ls "$work/pushed")" = images.json ]'
check "  for all users to read" '[ "$(stat -c %a "$work/pushed/images.json")" = 644 ]'
check "  with reference, id, size and labels of each image, and of an installer that is built" \
    'jq -e --arg id "sha256:$(printf "ab%.0s" $(seq 32))" ". == {
        \"codebox-python-small:latest\": {reference: \"codebox-python-small:latest\", id: \$id, size: 1234567, labels: {\"codebox.contents\": \"{\\\"a\\\": \\\"ü\\\"}\", \"codebox.fingerprint\": \"f\"}},
        \"codebox-installer-python-lab:latest\": {reference: \"codebox-installer-python-lab:latest\", id: \$id, size: 1234567, labels: {\"codebox.contents\": \"{\\\"a\\\": \\\"ü\\\"}\", \"codebox.fingerprint\": \"f\"}},
        \"codebox-bash:latest\": {reference: \"codebox-bash:latest\", id: \$id, size: 1234567, labels: {}},
        \"codebox-python-lab:latest\": {reference: \"codebox-python-lab:latest\", id: \$id, size: 1234567, labels: {\"codebox.contents\": \"{\\\"a\\\": \\\"ü\\\"}\", \"codebox.fingerprint\": \"f\"}}}" "$work/pushed/images.json" >/dev/null'

digest=sha256:$(printf 'cd%.0s' $(seq 32))
echo "latest: digest: $digest size: 528" >"$work/answer"
echo 0 >"$work/push-status"
push localhost:5000/a/b__c-d bash --images-file own.json
check "a push names the image by the digest of the registry" '[ $? = 0 ] && [ "$(jq -r .[].reference "$work/pushed/own.json")" = "localhost:5000/a/b__c-d/codebox-bash@$digest" ]'
reference=localhost:5000/a/b__c-d/codebox-bash:latest
printf '%s\n' "tag sha256:$(printf 'ab%.0s' $(seq 32)) $reference" "push $reference" "rmi $reference" >"$work/expected"
check "  pushes the id that the file has, and removes the tag" 'grep -v inspect "$work/docker-calls" | cmp - "$work/expected"'
echo sha256:before >"$work/tagged"
push localhost:5000 bash --images-file own.json
check "  and gives a tag back to the image that had it" '[ "$(tail -n 1 "$work/docker-calls")" = "tag sha256:before localhost:5000/codebox-bash:latest" ]'
rm "$work/tagged"
push localhost:5000 gateway --images-file gateway.json
check "the image of the gateway is pushed, its reference printed, and no file written" \
    '[ $? = 0 ] && grep -qx "  IMAGE localhost:5000/codebox-gateway@$digest" "$work/out" && [ ! -e "$work/pushed/gateway.json" ]'
push localhost:5000 bash gateway --images-file gateway.json
check "  beside others the file has those alone" '[ "$(jq -r "keys[]" "$work/pushed/gateway.json")" = codebox-bash:latest ]'
rm "$work/pushed/gateway.json"

cp "$work/pushed/own.json" "$work/earlier.json"
fails() { # FRAGMENT STATUS ANSWER: exit status 2, one line; the earlier file stays, and nothing else is left
    local fragment=$1 status=0
    echo "$2" >"$work/push-status"
    echo "$3" >"$work/answer"
    push registry.example.com:5000/team python bash --images-file own.json || status=$?
    [ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qF -- "$fragment" "$work/err" && cmp "$work/pushed/own.json" "$work/earlier.json" &&
        [ "$(ls "$work/pushed" | tr '\n' ' ')" = 'images.json own.json ' ] && tail -n 1 "$work/docker-calls" | grep -q '^rmi '
}
check "a registry that refuses is named, with the command to log in" "fails 'docker login registry.example.com:5000' 1 'denied: requested access to the resource is denied'"
check "  when it wants credentials too" "fails 'docker login registry.example.com:5000' 1 'no basic auth credentials'"
check "another failure is what the client says" "fails 'was not pushed: dial tcp: connection refused' 1 'dial tcp: connection refused'"
check "a push without a digest is a failure" "fails 'digest of' 0 'latest: pushed'"

[ "$failures" = 0 ]
