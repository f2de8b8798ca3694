#!/bin/bash
# SPDX-License-Identifier: MIT
# The manifests of docker/kubernetes, without a cluster: rendered by `kubectl kustomize`, the chart by
# manifests/go_templates.py, both checked by manifests/manifests.py and compared. Each check must find
# its inputs of manifests/wrong.tsv.
set -uo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
python=python3
"$python" -c 'import yaml' 2>/dev/null || python=/usr/bin/python3
"$python" -c 'import yaml' 2>/dev/null || { echo '  skipped: no YAML for Python (Debian: apt-get install python3-yaml)'; exit 0; }

ok() { # SENTENCE COMMAND ...
    local sentence=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        echo "  ok    $sentence"
    else
        echo "  FAILED $sentence"
        sed 's/^/         /' "$work/out" | tail -n 15
        failures=$((failures + 1))
    fi
}
manifests() { "$python" -B tests/system/manifests/manifests.py "$@"; }

ok 'copies, links, schema of the values, alerts and dashboard agree' manifests files
ok 'the chart keeps the rules' manifests chart '{}'
ok '  with one replica' manifests chart '{"replicas": 1}'
ok '  with all that it can add' manifests chart '{"replicas": 5, "seccomp": {"install": true}, "runtimeClass": {"enabled": true}, "monitoring": {"serviceMonitor": true, "rules": true}, "tls": {"secret": "codebox-tls"}, "database": {"secret": "codebox-database"}, "takeover": {"secret": "codebox-takeover"}, "packages": {"enabled": true, "secret": "codebox-registry"}}'

ok 'the base keeps the rules' manifests base
ok '  the chart has the same objects' manifests same base '{}'
# Debian 12's kubectl has a kustomize that is too old for these files.
kustomize=
if command -v kubectl >/dev/null && kubectl kustomize docker/kubernetes/base >"$work/base.yaml" 2>"$work/log"; then
    kustomize=yes
    for overlay in single seccomp runtimeclass; do
        ok "the overlay $overlay is rendered" bash -c "kubectl kustomize docker/kubernetes/overlays/$overlay >$work/$overlay.yaml"
    done
    mkdir "$work/tls"
    cp -r docker/kubernetes "$work/kubernetes"
    printf '%s\n' 'resources: [../kubernetes/overlays/runtimeclass]' 'components: [../kubernetes/overlays/tls]' >"$work/tls/kustomization.yaml"
    ok '  with HTTPS for clients' bash -c "kubectl kustomize $work/tls >$work/tls.yaml"
    mkdir "$work/database"
    printf '%s\n' 'resources: [../kubernetes/overlays/seccomp]' 'components: [../kubernetes/overlays/database, ../kubernetes/overlays/takeover]' >"$work/database/kustomization.yaml"
    ok '  with a database, and takeover' bash -c "kubectl kustomize $work/database >$work/database.yaml"
    ok 'monitoring is rendered' kubectl kustomize docker/kubernetes/monitoring
    mkdir "$work/packages"
    printf '%s\n' 'resources: [../kubernetes/base]' 'components: [../kubernetes/overlays/packages]' 'configMapGenerator:' \
        '  - {name: codebox-config, namespace: codebox, behavior: merge, files: [cluster.yaml]}' >"$work/packages/kustomization.yaml"
    { cat docker/kubernetes/base/config/cluster.yaml; printf '%s\n' 'packages: true' 'registry-credentials: /etc/codebox-registry/config.json'; } >"$work/packages/cluster.yaml"
    ok '  with packages' bash -c "kubectl kustomize $work/packages >$work/packages.yaml"
    for name in base single seccomp runtimeclass tls database packages; do
        ok "$name keeps the rules when it is rendered" manifests objects "$work/$name.yaml"
    done
    ok 'the chart has the same objects as the rendered base' manifests same "$work/base.yaml" '{}'
    ok '  as the overlay single' manifests same "$work/single.yaml" '{"replicas": 1}'
    ok '  as the overlay seccomp' manifests same "$work/seccomp.yaml" '{"seccomp": {"install": true}}'
    ok '  as the overlay runtimeclass' manifests same "$work/runtimeclass.yaml" '{"seccomp": {"install": true}, "runtimeClass": {"enabled": true}}'
    ok '  and with packages' manifests same "$work/packages.yaml" '{"packages": {"enabled": true, "secret": "codebox-registry"}}'
    ok '  and with a database, and takeover' manifests same "$work/database.yaml" '{"seccomp": {"install": true}, "database": {"secret": "codebox-database"}, "takeover": {"secret": "codebox-takeover"}}'
    ok '  and with HTTPS' manifests same "$work/tls.yaml" '{"seccomp": {"install": true}, "runtimeClass": {"enabled": true}, "tls": {"secret": "codebox-tls"}}'
else
    echo "  skipped: kustomize: no kubectl of version 1.21 or newer ($(head -n 1 "$work/log" 2>/dev/null))"
fi

# --- Helm -------------------------------------------------------------------------------------------------------------

helm=${HELM:-helm} # Debian has no package of it
if command -v "$helm" >/dev/null; then
    export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
    renders() { # VALUES.json
        echo "$1" >"$work/values.json"
        "$helm" template codebox docker/kubernetes/chart --namespace codebox --values "$work/values.json" >"$work/helm.yaml" && manifests helm "$work/helm.yaml" "$1"
    }
    ok 'helm lint finds no fault' "$helm" lint docker/kubernetes/chart
    ok 'helm renders the objects that the tests render' renders '{}'
    ok '  with one replica' renders '{"replicas": 1}'
    ok '  with all that the chart can add' renders '{"replicas": 5, "seccomp": {"install": true}, "runtimeClass": {"enabled": true, "name": "other"}, "monitoring": {"serviceMonitor": true, "rules": true}, "files": {"team.yaml": "version: 1\nname: team\n"}, "hosts": ["codebox.example.com"], "image": {"tag": "sha256:ab", "pullSecrets": ["pull"], "pullPolicy": "Always"}, "networkPolicy": {"blocks": ["10.0.0.0/8"]}, "storage": {"className": "fast"}, "tls": {"secret": "codebox-tls"}, "sandboxes": {"namespace": "boxes", "settings": {"host-users": true}}}'
    refuses_value() { # FRAGMENT SET
        ! "$helm" template codebox docker/kubernetes/chart --set "$2" >"$work/said" 2>&1 && grep -q "$1" "$work/said"
    }
    ok 'the schema refuses a number of replicas' refuses_value 'replicas' replicas=0
    ok '  a key that is none' refuses_value 'colour' colour=red
    ok '  and a setting that the chart makes' refuses_value 'settings' settings.listen=0.0.0.0:1
else
    echo '  skipped: Helm: not installed'
fi

# --- certificates of replicas -----------------------------------------------------------------------------------------

certificates() {
    docker/kubernetes/peer-certificates "$work/peer" codebox-0 codebox-1 codebox-2
    [ "$(ls "$work/peer" | tr '\n' ' ')" = 'ca.crt tls.crt tls.key ' ] && [ "$(stat -c %a "$work/peer/tls.key")" = 600 ] || return 1
    for purpose in sslserver sslclient; do
        for name in codebox-0 codebox-1 codebox-2; do
            openssl verify -x509_strict -CAfile "$work/peer/ca.crt" -purpose "$purpose" -verify_hostname "$name" "$work/peer/tls.crt" || return 1
        done
    done
    ! openssl verify -CAfile "$work/peer/ca.crt" -verify_hostname codebox-3 "$work/peer/tls.crt" || return 1
    [ "$(openssl x509 -in "$work/peer/tls.crt" -noout -pubkey)" = "$(openssl pkey -in "$work/peer/tls.key" -pubout)" ]
}
ok 'the certificate of replicas has their names, for both ends of a connection' certificates

# --- the gateway takes the settings -----------------------------------------------------------------------------------

# Keys of options that this build lacks are left out.
if [ -x build/codebox ]; then
    mkdir "$work/etc"
    cat >"$work/kubeconfig" <<YAML
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: a, user: {token: a}}]
YAML
    cp docker/kubernetes/overlays/runtimeclass/config/cluster.yaml "$work/etc/"
    echo '{}' >"$work/etc/images.json"
    build/codebox token create --state "$work/token" --principal ci >/dev/null 2>&1
    cp "$work/token/tokens.jsonl" "$work/etc/"
    has() { grep -q "^CBX_OPTION([a-z_]*, *\"$1\"" gateway/cli/settings/cli_options.def; } # OPTION
    takes() { # CODEBOX.YAML
        local key replica=
        sed "s|/etc/codebox/|$work/etc/|; s|/etc/codebox-peer/|$work/peer/|; s|^state: .*|state: $work/state|" "$1" >"$work/etc/codebox.yaml"
        for key in tokens peer peer-listen peer-certificate peer-key peer-ca; do
            has "$key" || sed -i "/^$key:/,/^[a-z#]/{/^$key:/d;/^  - /d}" "$work/etc/codebox.yaml"
        done
        ! has replica || replica=CODEBOX_REPLICA=codebox-0
        env $replica CODEBOX_RUNTIME=codebox CODEBOX_HOST='codebox codebox.codebox.svc 10.1.2.3' KUBECONFIG="$work/kubeconfig" \
            build/codebox config check --config "$work/etc/codebox.yaml" || { cat "$work/etc/codebox.yaml"; return 1; }
    }
    ok 'the gateway takes the settings of one replica' takes docker/kubernetes/overlays/single/config/codebox.yaml
    ok '  and of three' takes docker/kubernetes/base/config/codebox.yaml
fi

# --- the helper of the Pods -------------------------------------------------------------------------------------------

helper=build/release/codebox-pod
if [ -x "$helper" ]; then
    makes_state() {
        mkdir -m 2775 "$work/volume"
        "$helper" state "$work/volume/state" && "$helper" state "$work/volume/state" && [ "$(stat -c %a "$work/volume/state")" = 2700 ]
    }
    ok 'the helper makes a folder for the state' makes_state
    refuses_state() { # FOLDER FRAGMENT
        ! "$helper" state "$1" 2>"$work/said" && grep -q "$2" "$work/said"
    }
    chmod g+w "$work/volume/state"
    ok '  and refuses one that the group can write to' refuses_state "$work/volume/state" OnRootMismatch
    ln -s "$work" "$work/volume/link"
    ok '  and a link' refuses_state "$work/volume/link" 'allowed is a folder'
    ok '  and names a folder that it cannot make' refuses_state "$work/none/state" "cannot make the folder '$work/none/state'"
    keeps_profile() {
        "$helper" profile docker/engine/seccomp.json "$work/node/sandbox.json" &
        local pid=$! n status=0
        for n in $(seq 100); do [ ! -e "$work/node/sandbox.json" ] || break; sleep 0.1; done
        kill "$pid"
        wait "$pid" || status=$?
        [ "$status" = 0 ] && cmp docker/engine/seccomp.json "$work/node/sandbox.json" && [ "$(ls "$work/node")" = sandbox.json ]
    }
    ok 'the helper writes the profile and ends at SIGTERM' keeps_profile
fi

# --- inputs that are wrong --------------------------------------------------------------------------------------------

ok "inputs that are wrong are found: $(grep -vc '^#' tests/system/manifests/wrong.tsv) of wrong.tsv" manifests wrong tests/system/manifests/wrong.tsv
[ "$failures" = 0 ]
