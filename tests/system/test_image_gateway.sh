#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox image build gateway`: what is in the image, and the gateway in it as a cluster runs it:
# another user than root, a root file system that cannot be written, no capabilities, volumes with
# the owners and modes that a kubelet gives them. Needs an engine on this host.
. "$(dirname "$0")/lib.sh"
export DOCKER_HOST=${DOCKER_HOST:-$("$codebox" image host)}
case $DOCKER_HOST in
    unix://*) ;;
    *) echo '  skipped: the engine is not on this host'; exit 0 ;;
esac
export CODEBOX_IMAGES=codebox-test$$
image=$CODEBOX_IMAGES-gateway:latest
container=
clean() {
    [ -z "$container" ] || docker rm --force "$container" >/dev/null 2>&1
    kill ${standin:-} ${api:-} 2>/dev/null
    docker rmi "$image" >/dev/null 2>&1
    rm -rf "$work"
}
trap clean EXIT
chmod 755 "$work"

ok 'the image is built' gives 0 "$image is built" "$codebox" image build gateway
ok '  once: nothing has changed' gives 0 'gateway: current' "$codebox" image build gateway
settings() {
    docker image inspect "$image" >"$work/image.json"
    jq -e '.[0].Config | .User == "10001:10001" and .Entrypoint == ["/usr/bin/codebox"] and .Labels["org.opencontainers.image.title"] == "codebox"' "$work/image.json"
    [ "$(jq -r '.[0].Config.Labels["org.opencontainers.image.version"]' "$work/image.json")" = "$("$codebox" --version | cut -d' ' -f2)" ]
}
ok '  with a user of its own, one program, and the version' settings
printf '        size: %s MB\n' "$(docker image inspect --format '{{.Size}}' "$image" | awk '{ printf "%.0f", $1 / 1e6 }')"

mkdir "$work/root"
docker create --name "$CODEBOX_IMAGES" "$image" >/dev/null
docker export "$CODEBOX_IMAGES" | tar --extract --same-permissions --directory "$work/root" --exclude 'dev/*' --exclude 'etc/host*' --exclude etc/resolv.conf --exclude .dockerenv # these are the engine's
docker rm "$CODEBOX_IMAGES" >/dev/null
programs() { (cd "$work/root" && find . -type f -perm /111 ! -name '*.so*' | sort | tr '\n' ' '); }
only_ours() { programs && [ "$(programs)" = './usr/bin/codebox ./usr/bin/codebox-pod ' ]; }
ok 'no shell, no package manager: the only programs are codebox and the helper of its Pods' only_ours
ok '  and a linker that starts them' [ "$(cd "$work/root" && find . -name 'ld-*.so*' | wc -l)" = 1 ]
ok '  no file changes the user of who runs it' [ -z "$(find "$work/root" -type f -perm /6000)" ]
writable() { find "$work/root" \( -type f -o -type d \) \( -user 10001 -o -perm /022 \) | sed "s|$work/root||" | sort | tr '\n' ' '; }
few_writable() { writable && [ "$(writable)" = '/tmp /var/lib/codebox ' ]; }
ok '  its user can write to its state and to /tmp alone' few_writable
licences() {
    local package
    for package in "$work"/root/var/lib/dpkg/status.d/*; do
        [ -s "$work/root/usr/share/doc/${package##*/}/copyright" ] || { echo "no licence of ${package##*/}"; return 1; }
    done
    [ -n "${package:-}" ]
}
if command -v dpkg-query >/dev/null; then
    ok '  each library has its licence and its version' licences
fi

# As a kubelet makes them with fsGroup 10001: the root of a volume, and a projected volume, whose
# files are links to a folder of this version.
mkdir -p "$work/volume" "$work/config/..1"
chown 0:10001 "$work/volume"
chmod 2775 "$work/volume"
chmod 755 "$work/config/..1"
chmod 3777 "$work/config"
ln -s ..1 "$work/config/..data"
for file in codebox.yaml; do ln -s "..data/$file" "$work/config/$file"; done
cat >"$work/config/..1/codebox.yaml" <<YAML
listen: 0.0.0.0:8000
state: /var/lib/codebox
docker-host: unix:///run/engine.sock
log-format: json
YAML
chmod 644 "$work/config/..1/codebox.yaml"
hardened=(--read-only --cap-drop ALL --security-opt no-new-privileges)
node tests/system/engine_standin.mjs "$work/engine.sock" '{}' '' >"$work/standin.log" 2>&1 &
standin=$!
wait_until [ -S "$work/engine.sock" ]
chmod 666 "$work/engine.sock"

helper() { docker run --rm "${hardened[@]}" --network none --volume "$work/volume:/volume" --entrypoint /usr/bin/codebox-pod "$image" "$@"; }
refused() { gives 2 'allowed is' docker run --rm "${hardened[@]}" --network none --volume "$work/volume:/var/lib/codebox" "$image" token create --principal ci; }
ok 'a volume that its group may write to is no folder for the state' refused
ok 'the helper makes one in it' helper state /volume/state
ok '  which is for the user of the gateway alone' [ "$(stat -c '%u %a' "$work/volume/state")" = '10001 2700' ]
ok '  and is there at the next start' helper state /volume/state
opened() {
    chmod g+rwx "$work/volume/state"
    gives 1 OnRootMismatch helper state /volume/state
    chmod g-rwx "$work/volume/state"
}
ok '  one whose modes were changed is refused, with the reason' opened
ok 'the helper refuses other words' gives 2 usage helper status

mounts=(--volume "$work/volume/state:/var/lib/codebox" --volume "$work/config:/etc/codebox:ro" --volume "$work/engine.sock:/run/engine.sock")
inside() { docker run --rm "${hardened[@]}" --network none "${mounts[@]}" "$image" "$@"; }
token=$(inside token create --principal ci 2>/dev/null)
ok 'the gateway makes a token there' [ "${#token}" -gt 20 ]
ok '  and takes the configuration of a projected volume' gives 0 '/etc/codebox/codebox.yaml: ok' inside config check --config /etc/codebox/codebox.yaml
container=$CODEBOX_IMAGES-serve
docker run --detach --name "$container" "${hardened[@]}" --publish 127.0.0.1:0:8000 "${mounts[@]}" "$image" serve --config /etc/codebox/codebox.yaml >/dev/null
logs() { docker logs "$container" 2>&1; }
serves() { logs | grep -q 'serving on'; }
ok 'the gateway serves' wait_until serves
port=$(docker port "$container" 8000/tcp | sed 's/.*://' | head -n 1)
ask() { curl -sS -H 'Host: localhost:8000' ${2:+-H "Authorization: Bearer $2"} "http://127.0.0.1:$port$1"; }
healthy() { ask /healthz | jq -e '.status == "ok"'; }
ok '  and is healthy' wait_until healthy
ok '  it confines itself: Landlock and the lists of system calls hold' bash -c "docker exec $container /usr/bin/codebox doctor | grep -E '^ok +(system calls|landlock) ' | [ \$(wc -l) = 2 ]"
ok '  it knows who calls' bash -c '[ "$(curl -s -o /dev/null -w "%{http_code}" -H "Host: localhost:8000" "$1/v1/policies")" = 401 ]' - "http://127.0.0.1:$port"
judges() { curl -sS -H 'Host: localhost:8000' -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d '{"code": "print(1)", "language": "python"}' "http://127.0.0.1:$port/v1/check" | jq -e '.verdict == "allow"'; }
ok '  it judges a program, and the record is in its volume' judges
ok '  which has the audit log' [ -s "$work/volume/state/audit.log" -o -n "$(ls "$work/volume/state" | grep '^audit')" ]
no_shell() { ! docker exec "$container" sh -c true && ! docker exec "$container" /bin/bash -c true; }
ok '  there is no shell to start in it' no_shell
reloaded() {
    docker exec "$container" /usr/bin/codebox-pod reload
    wait_until bash -c "docker logs $container 2>&1 | grep -q 'reload: '"
}
ok 'the helper makes it reload' reloaded
ended() {
    docker stop --time 30 "$container" >/dev/null
    [ "$(docker inspect --format '{{.State.ExitCode}}' "$container")" = 0 ]
}
ok 'SIGTERM ends it' ended

# --- as a Pod of the overlay `single`, with a stand-in of the API server ------------------------------------------------

# The projected volumes of settings, and of the service account, whose token the kubelet replaces by another folder.
project() { # FOLDER VERSION FILE=TEXT-FILE ...
    local folder=$1 version=$2 each
    shift 2
    mkdir -p "$folder/..$version"
    chmod 3777 "$folder"
    chmod 755 "$folder/..$version"
    for each; do
        install -m 440 -o 0 -g 10001 "${each#*=}" "$folder/..$version/${each%%=*}"
        ln -sfn "..data/${each%%=*}" "$folder/${each%%=*}"
    done
    ln -sfn "..$version" "$folder/..new"
    mv -T "$folder/..new" "$folder/..data"
}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=api -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$work/api.key" -out "$work/api.crt" 2>/dev/null
echo first-token >"$work/first"
echo second-token >"$work/second"
cp "$work/first" "$work/current"
echo codebox >"$work/namespace"
node tests/system/api_standin.mjs "$work/api.crt" "$work/api.key" "$work/current" >"$work/api.log" 2>&1 &
api=$!
wait_until grep -q listening "$work/api.log"
api_port=$(sed -n 's/^listening //p' "$work/api.log")
free_port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
# Keys of options that this build lacks are left out: the tokens are then those of the state.
sed "s/^listen: .*/listen: 127.0.0.1:$free_port/" docker/kubernetes/overlays/single/config/codebox.yaml >"$work/codebox.yaml"
grep -q '^CBX_OPTION([a-z_]*, *"tokens"' gateway/cli/settings/cli_options.def || sed -i '/^tokens:/d' "$work/codebox.yaml"
echo '{}' >"$work/images.json"
project "$work/settings" 1 codebox.yaml="$work/codebox.yaml" cluster.yaml=docker/kubernetes/base/config/cluster.yaml images.json="$work/images.json" \
    tokens.jsonl="$work/volume/state/tokens.jsonl"
project "$work/account" 1 token="$work/first" ca.crt="$work/api.crt" namespace="$work/namespace"
docker rm "$container" >/dev/null
docker run --detach --name "$container" "${hardened[@]}" --network host --volume "$work/volume/state:/var/lib/codebox" --volume "$work/settings:/etc/codebox:ro" \
    --volume "$work/account:/var/run/secrets/kubernetes.io/serviceaccount:ro" --env KUBERNETES_SERVICE_HOST=127.0.0.1 --env "KUBERNETES_SERVICE_PORT=$api_port" \
    --env 'CODEBOX_HOST=codebox codebox.codebox.svc 10.1.2.3' "$image" serve --config /etc/codebox/codebox.yaml >/dev/null
project "$work/tls" 1 tls.crt="$work/api.crt" tls.key="$work/api.key"
by_https() {
    gives 0 '/etc/codebox/codebox.yaml: ok' docker run --rm "${hardened[@]}" --network host --volume "$work/volume/state:/var/lib/codebox" \
        --volume "$work/settings:/etc/codebox:ro" --volume "$work/tls:/etc/codebox-tls:ro" \
        --volume "$work/account:/var/run/secrets/kubernetes.io/serviceaccount:ro" --env KUBERNETES_SERVICE_HOST=127.0.0.1 --env "KUBERNETES_SERVICE_PORT=$api_port" \
        --env CODEBOX_TLS_CERTIFICATE=/etc/codebox-tls/tls.crt --env CODEBOX_TLS_KEY=/etc/codebox-tls/tls.key "$image" config check --config /etc/codebox/codebox.yaml
}
port=$free_port
ask() { curl -sS -H "Host: ${2:-localhost:$port}" "http://127.0.0.1:$port$1"; }
ok 'with the settings of the overlay single it is healthy' wait_until healthy
ok '  it asks the API server by its service account' grep -q '^200 GET /version$' "$work/api.log"
ok "  and reads the settings of the cluster: Pods of the sandboxes' namespace are listed" wait_until grep -q '^200 GET /api/v1/namespaces/codebox-sandboxes/pods$' "$work/api.log"
ok '  probes reach it by localhost, clients by the name of the Service' bash -c 'for host in localhost:$1 codebox.codebox.svc:$1 codebox; do curl -fsS -H "Host: $host" "http://127.0.0.1:$1/healthz" || exit 1; done' - "$port"
ok '  and not by another name' [ "$(curl -sS -o /dev/null -w '%{http_code}' -H 'Host: other.example.com' "http://127.0.0.1:$port/healthz")" = 421 ]
rotated() {
    local before
    project "$work/account" 2 token="$work/second" ca.crt="$work/api.crt" namespace="$work/namespace"
    rm -r "$work/account/..1"
    cp "$work/second" "$work/current"
    before=$(grep -c '^200 ' "$work/api.log")
    more() { [ "$(grep -c '^200 ' "$work/api.log")" -gt "$before" ]; }
    wait_until more && wait_until healthy
}
ok '  a token that the kubelet replaced is read, in spite of Landlock' rotated
doctor() { docker exec "$container" /usr/bin/codebox doctor --config /etc/codebox/codebox.yaml; }
reviewed() {
    doctor >"$work/doctor" || true
    cat "$work/doctor"
    grep -qE '^ok +' "$work/doctor" && ! grep -q 'Permission denied' "$work/doctor"
}
ok '  codebox doctor works in it' reviewed
docker rm --force "$container" >/dev/null
ok 'the key for HTTPS may be one that its group can read' by_https
kill "$api"

mkdir "$work/node"
installs() {
    docker run --detach --name "$CODEBOX_IMAGES-profile" --read-only --cap-drop ALL --user 0:0 --network none --volume "$work/node:/node" \
        --volume "$PWD/docker/engine/seccomp.json:/profile/sandbox.json:ro" --entrypoint /usr/bin/codebox-pod "$image" profile /profile/sandbox.json /node/codebox/sandbox.json
    wait_until cmp docker/engine/seccomp.json "$work/node/codebox/sandbox.json"
    docker stop --time 5 "$CODEBOX_IMAGES-profile"
    [ "$(docker inspect --format '{{.State.ExitCode}}' "$CODEBOX_IMAGES-profile")" = 0 ]
}
ok 'the helper installs the profile on a node and waits for its end' installs
docker rm --force "$CODEBOX_IMAGES-profile" >/dev/null 2>&1
exit "$failed"
