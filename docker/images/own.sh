# SPDX-License-Identifier: MIT
# Sourced by `build` in this folder: builds images from a user's own image (codebox image build
# --from IMAGE --name NAME). Such an image has the files of IMAGE, without its configuration (its
# VOLUME or ENV would reach sandboxes), and the files of every sandbox image: supervisor, probe,
# kernels and guard. Each kernel that IMAGE can run gets an image codebox-KERNEL-NAME:latest.
# Policies select it by NAME (`images` of the policy).

own_kernels='python javascript typescript'

# The modules of IPython, all in pure Python, for an image without IPython.
ipython_modules='IPython traitlets decorator.py pexpect ptyprocess prompt_toolkit pygments stack_data executing asttokens pure_eval matplotlib_inline wcwidth'

fact() { sed -n "s/^$1 //p" "$work/facts"; } # NAME

refuse() { echo "codebox image build: $*" >&2; exit 1; }

# Prints the arguments that the kernel of JavaScript passes to Node, without the kernel's own file.
# No argument has a blank.
node_arguments() { sed -n 's/^CBX_KERNEL("javascript", *"[^"]*", *\(.*\), "[^"]*"\().*\)$/\1/p' docker/kernels.def | tr -d '",'; }

# Writes the facts about IMAGE to $work/facts. Runs only the shell, Python and Node of IMAGE,
# without a network.
read_facts() { # IMAGE
    docker image inspect "$1" >/dev/null 2>&1 || timeout 600 docker pull -q "$1" >/dev/null 2>&1 ||
        refuse "there is no image '$1' here, and it cannot be pulled"
    # shellcheck disable=SC2046
    docker run --rm --interactive --network none --user 0:0 --entrypoint sh "$1" -s -- $(node_arguments) <docker/images/own/facts.sh 2>"$work/facts.log" | head -c 65536 | LC_ALL=C tr -cd '[:print:]\n' >"$work/facts" ||
        refuse "'$1' cannot be examined, its shell does not run: $(tail -n 1 "$work/facts.log")"
    [ "$(fact libc)" = glibc ] || refuse "'$1' has the C library musl, and the guard needs that of GNU: take an image of Debian, Ubuntu or another distribution with it"
}

# Prints why a kernel cannot run in the image; nothing if it can.
lacks() { # KERNEL
    case $1 in
        python)
            if [ -z "$(fact python)" ]; then echo 'it has no python3 in its PATH'
            elif [ -n "$(fact python-broken)" ]; then echo "its Python does not start"
            elif [ "$(fact python-new-enough)" != yes ]; then echo "its Python is $(fact python-version), needed is CPython 3.11 or newer"
            elif [[ $(fact python-real) != /usr/* ]]; then echo "its Python is $(fact python-real), needed is one beneath /usr: the guard takes only that folder as the image's"
            fi ;;
        *)
            if [ -z "$(fact node)" ]; then echo 'it has no node in its PATH'
            fi ;;
    esac
}

# True if the kernel runs with the image's own Node.js; else it runs with Node.js of the gateway's
# images.
runs_own_node() { [ "$(fact node-new-enough)" = yes ] && [[ $(fact node-real) == /usr/* ]]; }

# Imports the files of the image as a base, without the image's configuration.
flatten() { # IMAGE TAG
    local container
    docker image inspect "$2" >/dev/null 2>&1 && return
    container=$(docker create --entrypoint /bin/sh "$1")
    docker export "$container" | docker import --change 'CMD ["/bin/sh"]' - "$2" >/dev/null || { docker rm "$container" >/dev/null; exit 1; }
    docker rm "$container" >/dev/null
}

# Copies IPython from the gateway's image of Python to ROOT.
add_ipython() { # ROOT
    local from
    for from in codebox-python:latest codebox-python-small:latest; do
        docker image inspect "$from" >/dev/null 2>&1 && break
    done
    mkdir -p "$1/usr/lib/codebox/python"
    # shellcheck disable=SC2086
    docker run --rm --network none --user 0:0 --entrypoint tar "$from" --create --directory /usr/lib/python3/dist-packages --dereference --exclude __pycache__ --exclude tests $ipython_modules 2>"$work/ipython.log" |
        tar --extract --no-same-owner --directory "$1/usr/lib/codebox/python" ||
        refuse "IPython, which the image lacks, comes from the image codebox-python, which cannot be read ('codebox image build python' makes it): $(tail -n 1 "$work/ipython.log")"
}

# Checks in the image that the kernel's interpreter starts and loads the kernel's modules.
try_kernel() { # TAG KERNEL
    case $2 in
        python) docker run --rm --network none --entrypoint /usr/bin/python3 "$1" -I -c 'import _imp, types, IPython; _imp.create_dynamic(types.SimpleNamespace(name="python_guard", origin="/codebox/python_guard.so"))' ;;
        # shellcheck disable=SC2046
        *) docker run --rm --network none --entrypoint /codebox/node "$1" $(node_arguments) -e 0 ;;
    esac >"$work/try.log" 2>&1 || refuse "the kernel of $2 does not start in it: $(tail -n 1 "$work/try.log")"
}

own_finish() { # KERNEL
    case $1 in
        python) echo "$(fact python) -I /codebox/build/prepare.py && /usr/bin/python3 -m compileall -q /codebox/kernels /usr/lib/codebox && /usr/bin/python3 -I /codebox/build/capabilities.py && mkdir -p /codebox/ipython/db" ;;
        *) echo "$(runs_own_node && echo "ln -s $(fact node-real) /codebox/node" || echo true) && mkdir -p /usr/local/lib/node_modules && ln -s usr/local/lib/node_modules /node_modules" ;;
    esac
    # Programs can write no file of the image, whoever owns it.
    echo '&& rm -rf /codebox/build && find / -xdev -path /tmp -prune -o \( -type d -o -type f \) -perm -0002 -exec chmod o-w {} +'
}

own_fingerprint() { # IMAGE-ID KERNEL
    { fingerprint "$2"; cat docker/images/own.sh docker/images/own/*; docker image inspect --format '{{.Id}}' codebox-python:latest 2>/dev/null; echo "$1 $2"; } | sha256sum | cut -c1-64
}

# Builds the image of one kernel. The recipe of the kernel names the files to add, and the lister.
build_own_kernel() { # IMAGE IMAGE-ID NAME KERNEL
    local tag=$prefix-$4-$3 base want have old contents context
    read_recipe "$4"
    want=$(own_fingerprint "$2" "$4")
    have=$(docker image inspect --format '{{index .Config.Labels "codebox.fingerprint"}}' "$tag:latest" 2>/dev/null || true)
    if [ "$want" = "$have" ] && [ -z "$(built_in "$tag:latest")" ]; then
        say "$4-$3: current"
        return
    fi
    say "$4-$3: building on $1"
    base=codebox-base-own:$3-${2:7:12}
    flatten "$1" "$base"
    context=$(mktemp -d -p "$work")
    cp docker/images/Dockerfile "$context/"
    scripts='' libraries=''
    if [ "$4" = python ]; then
        scripts='capabilities.py own/prepare.py'
        modules=''
    elif runs_own_node; then
        modules=${modules#node-linux-\*/bin/node}
    else
        say "$4-$3: its Node.js $(fact node-version) lacks options of the kernel; Node.js of the gateway's images runs programs"
    fi
    add_files "$4-$3" "$4"
    [ "$4" != python ] || [ "$(fact python-ipython)" = yes ] || add_ipython "$context/root"
    chmod -R u=rwX,go=rX "$context/root"
    old=$(docker image inspect --format '{{.Id}}' "$tag:latest" 2>/dev/null || true)
    DOCKER_BUILDKIT=0 docker build --quiet --force-rm --network none --build-arg "BASE=$base" --build-arg PACKAGES= --build-arg PREPARE= --build-arg AFTER= \
        --build-arg "FINISH=$(own_finish "$4" | tr '\n' ' ')" --tag "$tag:unlisted" "$context" >"$context/log" 2>&1 || { cat "$context/log" >&2; exit 1; }
    try_kernel "$tag:unlisted" "$4"
    contents=$(contents_of "$tag:unlisted")
    DOCKER_BUILDKIT=0 docker build --quiet --force-rm --network none --label "codebox.fingerprint=$want" --label "codebox.contents=$contents" --label "codebox.own=$3" \
        --label "codebox.kernel=$4" --label "codebox.from=$1 $2" --tag "$tag:latest" - >"$context/log" 2>&1 <<<"FROM $tag:unlisted" || { cat "$context/log" >&2; exit 1; }
    docker rmi "$tag:unlisted" >/dev/null
    [ -z "$old" ] || docker rmi "$old" >/dev/null 2>&1 || true
    say "$4-$3: $tag:latest is built from $1 (${2:7:12})"
}

# Images with packages are built under this prefix first (gateway/cli/image_command.c has the same
# prefix). A failed build creates no image under the name that policies select, and keeps the
# previous image of that name.
staged=codebox-unfinished

# Removes the remains of a build under this name: images, installers, and layers, which have the
# labels of their image.
drop_staged() { # NAME
    local kernel
    docker image ls --filter "reference=$staged-*" --filter "label=codebox.own=$1" --format '{{.Repository}}:{{.Tag}}' | xargs -r docker rmi >/dev/null 2>&1 || true
    for kernel in $own_kernels; do
        docker rmi "$staged-$kernel-$1:unlisted" >/dev/null 2>&1 || true
    done
}

stage_own() { # IMAGE NAME KERNEL
    drop_staged "$2"
    prefix=$staged installer_for=$3
    build_own "$1" "$2"
    [ -n "$(image_id "$prefix-$3-$2:latest")" ] || refuse "the packages are for $3, which '$1' cannot run: see above"
}

# Reads the set of packages from standard input.
finish_own() { # NAME KERNEL LAYER; LAYER is empty if the set has no package
    local kernel new old
    [ -z "$3" ] || build_packages_in "$2-$1" "$3"
    for kernel in $own_kernels; do
        new=$(image_id "$staged-$kernel-$1:latest")
        if [ -n "$new" ] && { [ "$kernel" != "$2" ] || [ -z "$3" ]; }; then
            old=$(image_id "$prefix-$kernel-$1:latest")
            docker tag "$new" "$prefix-$kernel-$1:latest"
            [ -z "$old" ] || [ "$old" = "$new" ] || docker rmi "$old" >/dev/null 2>&1 || true
            say "$kernel-$1: $prefix-$kernel-$1:latest is built"
        fi
        [ -z "$new" ] || case $kernel in python | javascript) build_installer "installer-$kernel-$1" ;; esac
    done
    drop_staged "$1"
}

build_own() { # IMAGE NAME
    local kernel why made='' reasons='' id
    read_facts "$1"
    id=$(docker image inspect --format '{{.Id}}' "$1")
    for kernel in $own_kernels; do
        why=$(lacks "$kernel")
        if [ -n "$why" ]; then
            say "$kernel-$2: not made, $why"
            continue
        fi
        build_own_kernel "$1" "$id" "$2" "$kernel"
        made=yes
        case $kernel in
            python | javascript) [ -n "${installer_for:-}" ] && [ "$kernel" != "${installer_for/typescript/javascript}" ] || build_installer "installer-$kernel-$2" ;;
        esac
    done
    [ -n "$made" ] || refuse "'$1' runs no language here: see above"
}
