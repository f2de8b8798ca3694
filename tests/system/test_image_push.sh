#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox image push` with a registry of this machine (Debian's docker-registry), whose storage is
# a temporary folder. Needs an engine with the image codebox-bash.
source "$(dirname "$0")/lib.sh"
command -v docker-registry >/dev/null || { echo '  skipped: no docker-registry (Debian: apt-get install docker-registry)'; exit 0; }
DOCKER_HOST=${DOCKER_HOST:-$("$codebox" image host)}
export DOCKER_HOST
# Podman takes no registry without TLS, and an engine of another host does not reach this registry.
case $DOCKER_HOST in
    unix://*) ! docker version --format '{{json .Server}}' | grep -q Podman || { echo '  skipped: the engine is Podman'; exit 0; } ;;
    *) echo '  skipped: the engine is not on this host'; exit 0 ;;
esac
cd "$work"

registries=()
own=codebox-bash-pushed$$:latest
clean() {
    kill "${registries[@]}" 2>/dev/null || true
    docker rmi "$own" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap clean EXIT

start_registry() { # NAME MORE-YAML: sets $registry to HOST:PORT
    cat >"$1.yml" <<YAML
version: 0.1
storage: {filesystem: {rootdirectory: $work/$1-storage}}
http: {addr: "127.0.0.1:0"}
$2
YAML
    docker-registry serve "$1.yml" >"$1.log" 2>&1 &
    registries+=($!)
    wait_until grep -q 'listening on' "$1.log" || { cat "$1.log"; exit 1; }
    registry=$(sed -n 's/.*listening on \(127\.0\.0\.1:[0-9]*\).*/\1/p' "$1.log" | head -n 1)
}
start_registry open ''
open=$registry
# A hash of no password: every request without credentials is refused, and no others are made.
printf 'nobody:!\n' >htpasswd
start_registry closed "auth: {htpasswd: {realm: test, path: $work/htpasswd}}"
closed=$registry

push() { "$codebox" image push "$@"; }
field() { jq -r --arg name "$2" ".[\$name].$3" "$1"; } # FILE IMAGE FIELD
bash_id=$(docker image inspect --format '{{.Id}}' codebox-bash:latest)
manifest() { # FILE IMAGE: prints the manifest that the reference of the file names
    local reference
    reference=$(field "$1" "$2" reference)
    curl -fsS -D headers -H 'Accept: application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json' \
        "http://${reference%%/*}/v2/$(sed 's|^[^/]*/\(.*\)@.*|\1|' <<<"$reference")/manifests/${reference##*@}"
}
answers() { # FILE IMAGE: the registry has the manifest of the digest, with the id of the file as its configuration
    local digest
    digest=$(field "$1" "$2" reference)
    digest=${digest##*@}
    [ "sha256:$(manifest "$1" "$2" | sha256sum | cut -d ' ' -f 1)" = "$digest" ]
    grep -qix "docker-content-digest: $digest"$'\r' headers
    [ "$(manifest "$1" "$2" | jq -r .config.digest)" = "$(field "$1" "$2" id)" ]
}
tags_of() { docker image ls --format '{{.Repository}}:{{.Tag}}' | grep -F "$1/" || true; } # REGISTRY

ok 'an image is pushed' gives 0 'images.json written' push "$open/team" bash
ok '  the registry answers with its manifest at the digest of the file' answers images.json codebox-bash:latest
same_id() { [ "$(field images.json codebox-bash:latest id)" = "$bash_id" ]; }
ok '  the id is that of the engine' same_id
same_facts() {
    [ "$(field images.json codebox-bash:latest size)" = "$(docker image inspect --format '{{.Size}}' codebox-bash:latest)" ]
    [ "$(jq -S '."codebox-bash:latest".labels' images.json)" = "$(docker image inspect codebox-bash:latest | jq -S '.[0].Config.Labels')" ]
    [ "$(stat -c %a images.json)" = 644 ]
}
ok '  as size and labels are, and all users may read the file' same_facts
no_tag() { [ -z "$(tags_of "$open")" ]; }
ok '  the engine has no other tag than before' no_tag
pulled() {
    local reference
    reference=$(field images.json codebox-bash:latest reference)
    docker pull -q "$reference"
    [ "$(docker image inspect --format '{{.Id}}' "$reference")" = "$bash_id" ]
    docker rmi "$reference"
}
ok '  an engine pulls the image by the reference' pulled

printf 'FROM codebox-bash:latest\nLABEL codebox.own=pushed%s codebox.kernel=bash codebox.from=test\n' $$ | docker build --quiet --tag "$own" - >build.log 2>&1 || cat build.log
ok "an image of one's own is pushed beside it" gives 0 'own.json written' push "$open" bash "bash-pushed$$" --images-file own.json
both() { answers own.json codebox-bash:latest && answers own.json "$own" && [ "$(jq length own.json)" = 2 ]; }
ok '  the file has both' both
named() {
    push --local --name "pushed$$" --images-file local.json
    [ "$(jq '[keys[] | select(contains("-installer-") | not)] | length' local.json)" = 6 ]
    [ "$(field local.json "$own" reference)" = "$own" ]
    [ "$(field local.json "$own" id)" = "$(docker image inspect --format '{{.Id}}' "$own")" ]
}
ok 'with --name and --local the file has the images of all kernels and this one' named
installers() {
    local name
    for name in codebox-installer-python:latest codebox-installer-javascript:latest; do
        [ "$(field local.json "$name" id)" = "$(docker image inspect --format '{{.Id}}' "$name")" ]
    done
}
ok '  and their installers' installers

cp images.json earlier.json
ok 'a registry that wants credentials is named, with the command to log in' gives 2 "docker login $closed" push "$closed" bash
unchanged() { cmp images.json earlier.json && [ -z "$(tags_of "$closed")" ] && ! ls | grep -q codebox-; }
ok '  the earlier file stays, and nothing else does' unchanged

if command -v skopeo >/dev/null; then
    mkdir bin
    for tool in bash cat cut grep mktemp rm sed skopeo tail tr; do ln -s "$(command -v "$tool")" "bin/$tool"; done
    push_by_skopeo() { PATH=$work/bin "$codebox" image push "$@"; }
    ok 'skopeo pushes where there is no docker client' gives 0 'skopeo.json written' push_by_skopeo "$open/skopeo" bash --images-file skopeo.json
    ok '  the registry answers with its manifest at the digest of the file' answers skopeo.json codebox-bash:latest
    ok '  a registry that wants credentials is named' gives 2 "skopeo login $closed" push_by_skopeo "$closed" bash
else
    echo '  skipped skopeo: not installed'
fi
kill "${registries[@]}"
docker rmi "$own" >/dev/null
finish
