#!/bin/bash
# SPDX-License-Identifier: MIT
# The installer's script of the tree, in an installer image: files that a package must not contain,
# and addresses that an index must not name.
source "$(dirname "$0")/lib.sh"
index=$(docker run --detach --interactive --rm --entrypoint python3 --label codebox.test=installer codebox-python:latest -I -c "$(cat tests/live/docker/package_index.py)" 8080 8081)
trap 'docker rm -f "$index" >/dev/null 2>&1; rm -rf "$work"' EXIT
wait_until sh -c "docker logs '$index' 2>&1 | grep -q '^ready '"
address=$(docker logs "$index" 2>&1 | sed -n 's/^ready //p')
chmod 755 "$work"
cp docker/inside/installer/install.py "$work/install.py"
chmod 644 "$work/install.py"

mkfifo "$work/job"
run_job() { # prints the script's messages. The script runs as long as its standard input is open
    exec 9<>"$work/job"
    echo "$1" >&9
    timeout 60 docker run --interactive --rm --label codebox.test=installer --entrypoint python3 --volume "$work/install.py:/codebox/installer/install.py:ro" --tmpfs /tmp:size=256m,mode=1777 \
        codebox-installer-python:latest -I /codebox/installer/install.py <"$work/job" 2>&1 >/dev/null || true
    exec 9>&-
}
job() { # TASK PROVIDERS MEMBER
    jq -nc --arg task "$1" --arg index "http://$address:8080/simple/" --argjson providers "$2" --argjson what "$3" '{task: $task, index: $index, ca: null, unreachable: [], providers: $providers, answer_timeout_s: 15,
        download_bytes: 67108864, unpacked_bytes: 134217728, files: 10000, image: []} + $what'
}
hash_of() { curl -sS "http://$address:8080/simple/$1/" | tr '>' '\n' | sed -n "s/.*-$2-py3.*#sha256=\([0-9a-f]*\).*/\1/p"; } # PACKAGE VERSION
installs() { # PROVIDERS PACKAGE=VERSION ...
    local providers=$1 each list=()
    shift
    for each; do list+=("[\"${each%=*}\", \"${each#*=}\", \"sha256:$(hash_of "${each%=*}" "${each#*=}")\"]"); done
    run_job "$(job install "$providers" "{\"packages\": [$(IFS=,; echo "${list[*]}")]}")" >"$work/said"
    cat "$work/said"
}
refuses() { # TEXT installs ...
    local text=$1
    shift
    "$@"
    grep -qxF "codebox: $text" "$work/said"
}
accepts() { "$@"; ! grep -q '^codebox: ' "$work/said"; }

ok 'an ordinary package is installed' accepts installs '{}' good=1.0 good-part=2.0
ok 'a package may not have a module of Python' refuses 'brings shadows json Python' installs '{}' shadows=1.0
ok 'nor one of a package of the image' refuses 'brings squatter IPython ipython' installs '{}' squatter=1.0
ok 'nor one that a library of the image imports if it is there' refuses 'brings unguarded bottleneck bottleneck' installs '{}' unguarded=1.0
ok 'the package of that name may' accepts installs '{}' bottleneck=1.0
ok 'so may one that has it under another name' accepts installs '{"bottleneck": ["bottleneck", "unguarded"]}' unguarded=1.0
ok 'the analyzer and the kernel read a line that installs in the same way' python3 tests/system/pip_lines.py "${codebox%/*}/codebox-lint"
resolves() { run_job "$(job resolve '{}' '{"requirements": ["points-home"]}')" >"$work/said"; cat "$work/said"; }
ok 'an index that names a file of the file system is told' refuses 'file-link points_home-1.0-py3-none-any.whl' resolves
finish
