#!/bin/sh
# Checks that the Debian packages of a list are there, and installs those that are not.
#
#   tools/system.sh build PYTHON    what the package needs to be built for that interpreter, and ccache where it can be had
#   tools/system.sh test            what the Python tests use besides
#   tools/system.sh page            a browser, for the tests of the report page
#   tools/system.sh lint            what `make lint` needs besides
#   tools/system.sh cross           a compiler for aarch64
#   tools/system.sh words           the dictionary of the spell check
#
# Without root or passwordless sudo it prints the command and fails.
set -eu

# A tool may come from elsewhere, so a command of the package's name counts too.
installed() {
    command -v "$1" >/dev/null || dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# What the interpreter lacks: Debian keeps ensurepip and the headers in packages of their own.
python_packages() {
    "$1" - <<'END'
import importlib.util, os, sys, sysconfig

if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
    sys.exit("sonde needs CPython 3.11 or later, and %s is another one: give PYTHON=/path/to/python" % sys.executable)
name = "python%d.%d" % sys.version_info[:2]
headers = os.path.join(sysconfig.get_path("include"), "internal", "pycore_frame.h")
if importlib.util.find_spec("ensurepip") is None:
    print(name + "-venv")
if not os.path.exists(headers):
    print(name + "-dev")
END
}

wanted=""
wished=""
case "${1-}" in
build)
    if [ -z "${2-}" ]; then
        echo "sonde needs CPython 3.11 or later, and none was found: give PYTHON=/path/to/python" >&2
        exit 1
    fi
    wanted="gcc libdw-dev libsqlite3-dev zlib1g-dev $(python_packages "$2")"
    wished="ccache" # the core is built several times
    ;;
test)
    wanted="fish g++ libjemalloc2 man-db strace tmux valgrind zsh"
    command -v go >/dev/null || wanted="$wanted golang-go"
    ;;
page)
    wanted="chromium"
    ;;
lint)
    wanted="cppcheck"
    # On aarch64 itself the ordinary gcc has that name.
    command -v aarch64-linux-gnu-gcc >/dev/null || wanted="$wanted gcc-aarch64-linux-gnu"
    [ "$(uname -m)" = aarch64 ] || wanted="$wanted libc6-dev-arm64-cross"
    ;;
cross)
    # On aarch64 itself the ordinary gcc has that name.
    command -v aarch64-linux-gnu-gcc >/dev/null || wanted="gcc-aarch64-linux-gnu"
    ;;
words)
    wanted="wamerican"
    ;;
*)
    echo "usage: tools/system.sh build PYTHON | test | page | lint | cross | words" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "tools/system.sh: not a Debian system; these are needed, under their names here: $wanted" >&2
    exit 0
fi

missing=""
for package in $wanted; do
    installed "$package" || missing="$missing $package"
done
useful=""
for package in $wished; do
    installed "$package" || useful="$useful $package"
done
[ -n "$missing$useful" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root="env"
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n env"
elif [ -z "$missing" ]; then
    exit 0
else
    echo "sonde needs Debian packages that are not installed. Install them and start make again:" >&2
    echo "    sudo apt-get install$missing" >&2
    exit 1
fi
echo "installing$missing$useful"
# The lists may be stale or absent, and a mirror that cannot be reached need not matter: the install says.
$as_root apt-get -qq update || true
apt_install() {
    # Somebody else may be installing at this moment, such as an automatic upgrade: wait for it.
    # shellcheck disable=SC2086 # lists of words
    $as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@" </dev/null
}
# shellcheck disable=SC2086 # lists of words
[ -z "$useful" ] || apt_install $missing $useful || useful=""
# shellcheck disable=SC2086
[ -n "$useful" ] || [ -z "$missing" ] || apt_install $missing
