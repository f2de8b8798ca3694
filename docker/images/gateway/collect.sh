#!/bin/bash
# SPDX-License-Identifier: MIT
# Collects the files of the gateway's image from this machine: the program, the libraries that it is
# linked to, the authorities of TLS, the names of its user. The licences and versions of the
# libraries are those of their Debian packages. No shell, no package manager, no other program but
# the helper of its Pods. Usage: collect.sh PROGRAM HELPER ROOT
set -euo pipefail
program=$1 helper=$2 root=$3
user=10001
bundle=/etc/ssl/certs/ca-certificates.crt
[ -s "$bundle" ] || { echo "codebox image build: '$bundle' is missing; install it (Debian: apt-get install ca-certificates)" >&2; exit 1; }

mkdir -p "$root"/usr/bin "$root"/usr/lib/ssl "$root"/etc/ssl/certs "$root"/etc/codebox "$root"/var/lib/codebox "$root"/var/lib/dpkg/status.d "$root"/tmp
cp "$program" "$root/usr/bin/codebox"
cp "$helper" "$root/usr/bin/codebox-pod"
cp "$bundle" "$root$bundle"
ln -s "$bundle" "$root/usr/lib/ssl/cert.pem" # where OpenSSL looks
printf 'root:x:0:0::/:/nonexistent\ncodebox:x:%s:%s::/var/lib/codebox:/nonexistent\n' "$user" "$user" >"$root/etc/passwd"
printf 'root:x:0:\ncodebox:x:%s:\n' "$user" >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"

# Prints the Debian package that a file belongs to. A library in /lib may belong to it as /usr/lib.
package_of() { # FILE
    { dpkg-query --search "$1" "/usr$1" "$(readlink -f "$1")" 2>/dev/null || true; } | sed -n 's/^\([^:, ]*\)[:,].*/\1/p' | head -n 1
}

libraries=$(ldd "$program" | grep -o '/[^ ]*' | sort -u)
for file in $libraries; do
    mkdir -p "$root${file%/*}"
    cp --dereference "$file" "$root$file"
done
command -v dpkg-query >/dev/null || exit 0
for package in ca-certificates $(for file in $libraries; do package_of "$file"; done | sort -u); do
    mkdir -p "$root/usr/share/doc/$package"
    cp --dereference "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/" 2>/dev/null || true
    dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package" # scanners read the versions here
done
