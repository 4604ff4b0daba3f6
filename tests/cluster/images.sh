#!/usr/bin/env bash
# Builds both images for real, without a container engine, and makes the demo dataset inside the one
# for CPUs: `make test-images`. As root on Debian; ten minutes, 15 GB under $TMPDIR while it runs.
#
# The base is a fresh Debian 12 from debootstrap, given to the Dockerfiles as BASE. What is checked:
# both build; nothing in them is missing a library, runs as root, or is left over from building; every
# package is that of constraints.txt; `doctor` finds Cycles; files of the demo are byte-equal to those
# made outside; a Ray cluster started by the commands of compose.yaml makes the same bytes once more.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly OUTSIDE=".venv/bin/robustclevr"
readonly SITE="/opt/robustclevr/lib/python3.11/site-packages"
work="$(mktemp --directory -t robustclevr-images.XXXXXX)"
# vfs and chroot ask nothing of the kernel, so that this runs inside a container, too.
export BUILDAH_ISOLATION=chroot
containers=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs)
started=()

finish() {
    local pid
    for pid in "${started[@]}"; do
        kill -TERM -- "-$pid" 2>/dev/null && wait "$pid" || true
        # Daemons of Ray are no children of what started them; a container would end them with it.
        kill -KILL -- "-$pid" 2>/dev/null || true
    done
    "${containers[@]}" umount --all >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf 'images.sh: %s\n' "$*" >&2
    exit 1
}

need_programs() {
    command -v buildah debootstrap >/dev/null && return
    apt-get update --quiet=2
    apt-get install --quiet=2 --yes --no-install-recommends buildah debootstrap
}

make_base() {
    say "base: Debian 12"
    debootstrap --variant=minbase bookworm "$work/root" \
        >"$work/debootstrap.log" || fail "$(tail "$work/debootstrap.log")"
    # Authorities of this network, as a company's own base would have them.
    mkdir -p "$work/root/usr/local/share/ca-certificates"
    find /usr/local/share/ca-certificates -name '*.crt' \
        -exec cp -t "$work/root/usr/local/share/ca-certificates" {} +
    local container
    container="$("${containers[@]}" from scratch)"
    "${containers[@]}" add --quiet "$container" "$work/root" / >/dev/null
    "${containers[@]}" commit --quiet --rm "$container" localhost/debian >/dev/null
    rm -rf "$work/root"
}

build() { # NAME EXTRAS
    say "build: $1 ($2)"
    "${containers[@]}" bud --format docker --build-arg BASE=localhost/debian \
        --build-arg EXTRAS="$2" --file "docker/$1.Dockerfile" --tag "robustclevr:$1" . \
        >"$work/$1.log" 2>&1 || fail "$(tail -n 40 "$work/$1.log")"
}

inside() { "${containers[@]}" run "$@"; }

check_contents() { # NAME
    say "contents: $1"
    local container root
    container="$("${containers[@]}" from --name "$1" "localhost/robustclevr:$1")"
    root="$("${containers[@]}" mount "$container")"

    local entry
    entry="$("${containers[@]}" inspect --type image \
        --format '{{.Docker.Config.Entrypoint}} {{.Docker.Config.User}}' "localhost/robustclevr:$1")"
    [[ "$entry" == "[robustclevr] 10001:10001" ]] || fail "$1 starts $entry"

    local tool
    for tool in cc gcc make git pip pip3 uv; do
        [[ ! -e "$root/usr/bin/$tool" && ! -e "$root/opt/robustclevr/bin/$tool" ]] || fail "$1 has $tool"
    done
    [[ ! -e "$root/src" && ! -e "$root/dist" && ! -e "$root/opt/uv" ]] || fail "$1 keeps sources"
    [[ ! -e "$root$SITE/torch" ]] || fail "$1 has torch, which generating does without"
    grep -q '"editable": *true' "$root$SITE"/robustclevr-*.dist-info/direct_url.json 2>/dev/null \
        && fail "$1 has an editable install"

    # Only what a GPU's driver brings may be absent, and what Blender's Python alone would load.
    local missing
    missing="$(inside "$container" sh -c "find $SITE/bpy/__init__.so $SITE/bpy/lib -maxdepth 1 \
        -name '*.so*' -exec ldd {} + 2>/dev/null" | awk '/not found/ {print $1}' | sort -u \
        | grep -v -x -E 'libcuda\.so\.1|libamdhip64\.so\.6|libze_loader\.so\.1' || true)"
    [[ -z "$missing" ]] || fail "$1 lacks $missing"

    # The image's own Python lists what it has; names are compared as PEP 503 writes them.
    local listing='
import importlib.metadata as m, re
for d in m.distributions():
    if d.name != "robustclevr":
        print(re.sub(r"[-_.]+", "-", d.name).lower() + "==" + d.version)'
    comm -23 <(inside "$container" python -c "$listing" | sort -u) \
        <(sed -E -e '/^#/d' -e 's/==.*/\L&/; s/^([^=]+)/\L\1/' constraints.txt \
            | awk -F== '{gsub(/[-_.]+/, "-", $1); print $1 "==" $2}' | sort -u) >"$work/unpinned"
    [[ ! -s "$work/unpinned" ]] || fail "$1 has what constraints.txt does not pin: $(xargs <"$work/unpinned")"

    inside "$container" robustclevr doctor
}

same_files() { # FOLDER FOLDER: everything but receipts, which say how long it took and on what Python
    diff --recursive --exclude='*.receipt.json' "$1" "$2" || fail "$1 and $2 differ"
    [[ "$(cd "$1" && find . | sort)" == "$(cd "$2" && find . | sort)" ]] || fail "other files in $2"
    find "$1" -type f ! -name '*.receipt.json' | wc -l
}

demo() {
    say "demo: outside and inside"
    mkdir --mode 1777 "$work/data"
    "$OUTSIDE" generate demo -o "$work/outside"
    inside --volume "$work/data:/data" cpu robustclevr generate demo -o /data/inside
    inside --volume "$work/data:/data:ro" cpu robustclevr verify /data/inside
    say "files that are byte-equal: $(same_files "$work/outside" "$work/data/inside")"
}

# Starts a service of compose.yaml in the image for CPUs; the host's network stands for compose's.
service() { # NAME [ARGUMENT]...
    local name="$1" command=()
    shift
    mapfile -d '' -t command < <(.venv/bin/python - "$name" <<'PYTHON'
import sys, yaml
service = yaml.safe_load(open("docker/compose.yaml"))["services"][sys.argv[1]]
for word in service["entrypoint"]:
    print(word.replace("$$", "$").replace("head:6379", "127.0.0.1:6379"), end="\0")
PYTHON
    )
    # One address is shared by all nodes here, so any of them may serve a program of another.
    inside --volume "$work/data:/data" --volume "$work/tmp:/tmp" --volume /dev/shm:/dev/shm \
        --env RAY_ADDRESS=127.0.0.1:6379 cpu "${command[@]}" "$@"
}

compose_cluster() {
    say "compose.yaml: a head, a worker and generate"
    mkdir --mode 1777 "$work/tmp"
    local nodes=0 name
    for name in head worker; do
        start "$name"
        nodes=$((nodes + 1))
        wait_for_nodes "$nodes" || fail "no $name: $(tail "$work/$name.log")"
    done
    start generate demo -o /data/ray
    wait "${started[-1]}" || fail "generate: $(tail "$work/generate.log")"
    say "files that are byte-equal: $(same_files "$work/outside" "$work/data/ray")"
}

start() { # NAME [ARGUMENT]...: in a process group of its own, which finish ends
    set -m
    service "$@" >"$work/$1.log" 2>&1 &
    started+=("$!")
    set +m
}

wait_for_nodes() { # COUNT
    for _ in $(seq 60); do
        inside cpu ray status --address=127.0.0.1:6379 >"$work/status" 2>&1 || true
        [[ "$(grep -c ' node_' "$work/status")" -ge "$1" ]] && return
        sleep 2
    done
    return 1
}

need_programs
make_base
build cpu "blender ray"
build gpu "blender"
check_contents cpu
check_contents gpu
demo
compose_cluster
"${containers[@]}" images
say "1 passed, 0 failed"
