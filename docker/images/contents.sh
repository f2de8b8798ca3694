# SPDX-License-Identifier: MIT
# Runs in an image without packages of a language when it is built, and prints what the label codebox.contents has: the runtime, and those
# of Debian's packages that the recipe names (separated by commas). Versions are those of the programs: without Debian's epoch and revision.
version_of() { dpkg-query -W -f '${Version}' "$1" | sed 's/^[0-9]*://; s/[-+~].*//'; }
if [ -x /usr/bin/gcc ]; then
    runtime=gcc runtime_version=$(gcc -dumpfullversion)
else
    runtime=bash runtime_version=$(bash -c 'echo "${BASH_VERSION%%(*}"')
fi
printf '{"version":1,"runtime":{"name":"%s","version":"%s"},"packages":[' "$runtime" "$runtime_version"
between=''
for package in $(echo "$1" | tr , ' '); do
    printf '%s{"name":"%s","version":"%s","modules":[]}' "$between" "$package" "$(version_of "$package")"
    between=,
done
printf ']}\n'
