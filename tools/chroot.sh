#!/bin/bash
# Debian systems in folders: with interpreters that are newer than this system's, and with nothing else, to try wheels in.
#
#   tools/chroot.sh [-k KIND] make             makes it (arm64: 1 minute, others: 5), or makes it anew when it is broken or its recipe has changed
#   tools/chroot.sh [-k KIND] run COMMAND...   runs a command in it, in this clone and as the caller
#   tools/chroot.sh [-k KIND] remove           removes it
#   tools/chroot.sh newer                      lists the versions in unstable that this system has not, 3.14 or later
#   tools/chroot.sh obstacle                   prints why there can be none on this machine; nothing when there can
#
# KIND is unstable (all that sonde is built and tested with), bare-unstable or bare-12 (interpreters only), or arm64 (a Debian 12 for
# aarch64, with an interpreter and the headers and libraries that this system's compiler needs; elsewhere qemu runs its programs).
#
# They are shared by all clones and belong to root. Every run has mounts of its own, which end with it: nothing stays mounted,
# whatever happens. The clone has the same path inside; so have the folder SONDE_SHOW and, where sonde can be built, pip's and
# npm's configuration with the folders that they name, and this system's headers and libraries in /host.
set -euo pipefail

kind=unstable
if [ "${1-}" = -k ]; then
    kind=$2
    shift 2
fi
os_release=${SONDE_OS_RELEASE:-/etc/os-release} # a test gives another
here=$(cd "$(dirname "$0")/.." && pwd -P)
suite=sid
versions="3.13 3.14 3.15"
tools=""
own_arch=$(dpkg --print-architecture 2>/dev/null || true)
arch=$own_arch
case $kind in
unstable)
    tools="gcc g++ make pkg-config git ccache libdw-dev libsqlite3-dev zlib1g-dev
        libjemalloc2 strace tmux valgrind golang-go procps locales-all"
    ;;
bare-unstable) ;;
bare-12) suite=bookworm versions=3.11 ;;
arm64)
    suite=bookworm
    versions=3.11
    arch=arm64
    tools="libc6-dev libdw-dev libsqlite3-dev zlib1g-dev"
    ;;
*)
    echo "tools/chroot.sh: no kind of system: $kind" >&2
    exit 2
    ;;
esac
# shellcheck disable=SC2086 # a list of words
packages="ca-certificates $(printf 'python%s ' $versions) ${tools:+$(printf 'python%s-dev ' $versions)} $(printf 'python%s-venv ' $versions) $tools"
root=${SONDE_CHROOTS:-/var/cache/sonde}/$kind
mark=$root/etc/sonde-chroot

# Why there can be no such folder here. A machine where it could be made and cannot is a failure, not an obstacle.
obstacle() {
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        echo "it takes root or passwordless sudo to make one"
    elif ! command -v debootstrap >/dev/null && ! command -v apt-get >/dev/null; then
        echo "there is no debootstrap, and no apt-get to install it"
    elif [ -z "$(mirror)" ] && ! grep -qx 'ID="\?debian"\?' "$os_release"; then
        echo "this system is not Debian, and apt knows no mirror of Debian"
    elif ! as_root unshare --mount --propagation slave true 2>/dev/null; then
        echo "this machine does not let root mount anything"
    elif [ "$arch" != "$own_arch" ] && ! command -v qemu-aarch64-static >/dev/null && ! command -v apt-get >/dev/null; then
        echo "there is no qemu-user-static, and no apt-get to install it"
    elif [ "$arch" != "$own_arch" ] && ! as_root unshare --mount --propagation slave "$here/tools/chroot.sh" -k "$kind" inside-mount_binfmt 2>/dev/null; then
        echo "this machine does not let root mount binfmt_misc, so that the kernel cannot start programs for $arch"
    fi
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n --preserve-env "$@"; fi
}

# The mirror that this system uses, so that it works where only that one can be reached.
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -m1 -v -e security -e ports || true
}

# What the folder must have been made by.
recipe() {
    # shellcheck disable=SC2086 # a list of words
    printf '%s\n' "$suite" "$(mirror)" $packages | sha256sum | cut -d' ' -f1
}

whole() {
    [ "$(cat "$mark" 2>/dev/null)" = "$(recipe)" ] || return 1
    local version
    for version in $versions; do
        chroot "$root" "python$version" -c 'import ensurepip, venv' 2>/dev/null || return 1
    done
}

# Of what this system has itself the other targets take care, and of 3.13 also pyenv.
newer() {
    local own version
    own=$("$here/tools/pythons.sh" | cut -d. -f-2)
    for version in $versions; do
        [ "$version" = 3.13 ] || grep -qx "$version" <<<"$own" || echo "$version"
    done
}

# --- as root, with mounts of its own ---

# A file or folder of this system, at the same path inside.
show() {
    local target=$1$2
    if [ -d "$2" ]; then
        mkdir -p "$target"
    else
        mkdir -p "$(dirname "$target")"
        [ -e "$target" ] || : >"$target"
    fi
    mount --bind "$2" "$target"
}

mount_system() {
    mount -t proc proc "$1/proc" 2>/dev/null || mount --rbind /proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
    # Links to what another program keeps up to date: the text is what counts.
    cat /etc/resolv.conf >"$1/etc/resolv.conf" 2>/dev/null || true
    if [ -s /etc/ssl/certs/ca-certificates.crt ]; then
        mkdir -p "$1/etc/ssl/certs"
        cat /etc/ssl/certs/ca-certificates.crt >"$1/etc/ssl/certs/ca-certificates.crt"
    fi
}

mount_binfmt() {
    [ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
}

# The kernel starts programs of another architecture with qemu; it keeps qemu open, so that there need be none inside.
enable_arch() {
    local name=qemu-aarch64
    [ "$arch" != "$own_arch" ] || return 0
    mount_binfmt
    command -v "$name-static" >/dev/null || install_here qemu-user-static
    # The package may have told the kernel itself.
    [ -e "/proc/sys/fs/binfmt_misc/$name" ] || cat "/usr/lib/binfmt.d/$name.conf" >/proc/sys/fs/binfmt_misc/register
}

install_here() {
    apt-get -qq update || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@" </dev/null
}

# What is compiled with these headers and libraries runs on systems as old as this one.
mount_host() {
    local folder
    for folder in /usr /lib /lib64; do
        if [ -L "$folder" ]; then
            mkdir -p "$1/host"
            ln -sfn "$(readlink "$folder")" "$1/host$folder"
        elif [ -d "$folder" ]; then
            mkdir -p "$1/host$folder"
            mount --bind "$folder" "$1/host$folder"
            mount -o remount,bind,ro "$1/host$folder"
        fi
    done
}

# pip's and npm's configuration, and every local folder that pip's names. What Debian has itself stays Debian's.
mount_settings() {
    local file word
    for file in /etc/npmrc "$HOME/.npmrc" "${NPM_CONFIG_USERCONFIG-}"; do
        [ ! -f "$file" ] || show "$1" "$file"
    done
    {
        printf '%s\n' "${PIP_FIND_LINKS-}" "${PIP_INDEX_URL-}" "${PIP_EXTRA_INDEX_URL-}"
        for file in /etc/pip.conf "$HOME/.pip/pip.conf" "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" "${PIP_CONFIG_FILE-}"; do
            [ -f "$file" ] || continue
            show "$1" "$file"
            cat "$file"
        done
    } | sed 's|file://|\n|g' | tr -s ' \t=,' '\n' | { grep '^/' || true; } | sort -u | while read -r word; do
        # An index may name files that lie beside it.
        [ "$(basename "$word")" != simple ] || word=$(dirname "$word")
        [ ! -d "$word" ] || [ -n "$(ls -A "$1$word" 2>/dev/null)" ] || show "$1" "$word"
    done
}

# With debootstrap and apt, as Debian means it.
install_packages() {
    debootstrap --arch "$arch" --variant=minbase --include=ca-certificates "$suite" "$root.new" "$(mirror)" || return
    # A mirror may be some days old.
    echo 'Acquire::Check-Valid-Until "false";' >"$root.new/etc/apt/apt.conf.d/99valid"
    mount_system "$root.new"
    chroot "$root.new" apt-get -qq update || return
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive chroot "$root.new" apt-get -qq -y --no-install-recommends install $packages </dev/null || return
    chroot "$root.new" apt-get -qq clean
    # Not a rename while something is mounted below it: the mounts end here.
    umount -R "$root.new/proc" "$root.new/dev" "$root.new/sys" "$root.new/tmp"
}

# The packages' files, without their scripts, which qemu would take ten minutes for.
unpack_packages() {
    # shellcheck disable=SC2086 # a list of words
    debootstrap --foreign --arch "$arch" --variant=minbase --include="$(printf '%s,' $packages)" "$suite" "$root.new" "$(mirror)" || return
    local package
    for package in "$root.new"/var/cache/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$root.new" || return
    done
    rm -r "$root.new"/var/cache/apt/archives/*.deb "$root.new/debootstrap"
    cp /etc/passwd /etc/group "$root.new/etc" # a script makes them elsewhere
}

make_it() {
    mkdir -p -m 700 "$(dirname "$root")"
    enable_arch
    ! whole || return 0
    exec 9>"$root.lock" # nobody uses it meanwhile, nor makes it as well
    flock 9
    ! whole || return 0
    command -v debootstrap >/dev/null || install_here debootstrap
    rm -rf --one-file-system "$root" "$root.new"
    echo "making $root"
    if [ "$kind" = arm64 ]; then unpack_packages; else install_packages; fi >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; return 1; }
    recipe >"$root.new/etc/sonde-chroot"
    mv "$root.new" "$root"
    whole
}

run_it() {
    local user=${SUDO_UID:-0}:${SUDO_GID:-0}
    enable_arch
    mkdir -p -m 700 "$(dirname "$root")"
    # Nobody makes it anew meanwhile; the command itself has no file of ours open.
    exec 9>"$root.lock"
    flock -s 9
    [ -e "$mark" ] || { echo "tools/chroot.sh: there is no $root yet; make it with: tools/chroot.sh -k $kind make" >&2; return 1; }
    mount_system "$root"
    if [ "$kind" = unstable ]; then
        mount_settings "$root"
        mount_host "$root"
    fi
    mkdir -p "$root$HOME"
    show "$root" "$here"
    [ -z "${SONDE_SHOW-}" ] || show "$root" "$SONDE_SHOW"
    # A home of its own there, which keeps what pip and ccache have cached.
    [ "$user" = 0:0 ] || chown "$user" "$root$HOME"
    # shellcheck disable=SC2016 # for the shell inside
    chroot --userspec="$user" "$root" /usr/bin/env -u SUDO_UID -u SUDO_GID -u SUDO_USER -u SUDO_COMMAND \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$HOME" LANG="${LANG:-C.UTF-8}" \
        sh -c 'cd "$1" && shift && exec "$@"' sh "$here" "$@" 9>&-
}

command=${1-}
shift || true
case $command in
make | run)
    why=$(obstacle)
    [ -z "$why" ] || { echo "tools/chroot.sh: $why" >&2; exit 1; }
    # The caller's home, also under sudo.
    as_root env HOME="$HOME" unshare --mount --propagation slave "$here/tools/chroot.sh" -k "$kind" "inside-$command" "$@"
    ;;
inside-make) make_it ;;
inside-run) run_it "$@" ;;
inside-mount_binfmt) mount_binfmt ;;
newer) newer ;;
obstacle) obstacle ;;
remove) as_root flock "$root.lock" rm -rf --one-file-system "$root" "$root.new" "$root.log" ;;
*)
    sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- >&2
    exit 2
    ;;
esac
