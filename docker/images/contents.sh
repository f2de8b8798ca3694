# SPDX-License-Identifier: MIT
# Runs during the build of an image without packages of a language. Prints the label
# codebox.contents: the runtime, and the packages of Debian that the recipe names ($1, separated by
# commas). Versions have no epoch and no revision of Debian.
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
