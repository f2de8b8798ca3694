# SPDX-License-Identifier: MIT
# Runs in the base of the proxy image. Prints a tar archive of Squid and its libraries, with a page
# for each of Squid's errors: Squid reads all of them at its start. docker/images/build replaces
# some of these pages by the pages of errors/.
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
