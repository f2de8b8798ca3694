# SPDX-License-Identifier: MIT
# Runs in the base of the proxy image: a tar archive of Squid and its libraries, and a page for each of its errors, as the start of Squid
# reads all of them. docker/images/build puts the pages of errors/ over these.
set -e
command -v squid >/dev/null || { apt-get update -q && apt-get install -qy --no-install-recommends squid; } >&2
pages=/tmp/root/etc/codebox/errors
mkdir -p "$pages" /tmp/root/run/codebox /tmp/root/usr/local/bin
for page in /usr/share/squid/errors/templates/ERR_*; do
    echo 'codebox: the proxy cannot serve this request: %c' >"$pages/${page##*/}"
done
{ command -v squid; ldd "$(command -v squid)" | grep -o '/[^ ]*'; } | sort -u >/tmp/files
tar --create --dereference --files-from /tmp/files | tar --extract --directory /tmp/root
tar --create --directory /tmp/root .
