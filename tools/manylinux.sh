#!/bin/bash
# Installs what cibuildwheel's image (AlmaLinux 9) lacks to build sonde: libdw, and a static SQLite, since the program sonde in a
# wheel cannot find shared libraries of the wheel.
set -euo pipefail
name=sqlite-autoconf-3530200
sum=588ad51949419a56ebe81fe56193d510c559eb94c9a57748387860b5d3069316

dnf -q -y install elfutils-devel zlib-devel
cd "$(mktemp -d)"
curl -fsSL --retry 3 -o source.tar.gz "https://www.sqlite.org/2026/$name.tar.gz"
echo "$sum  source.tar.gz" | sha256sum --check --quiet
tar -xzf source.tar.gz --strip-components=1
gcc -O2 -fPIC -c sqlite3.c
ar rcs /usr/lib64/libsqlite3.a sqlite3.o
cp sqlite3.h /usr/include
