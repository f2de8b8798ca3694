rm -rf "$(pwd)/.."
rm -rf `pwd`/..
rm -rf "${PWD%/*}"
rm -rf ${HOME%/*}/x
rm -rf "$(dirname "$PWD")"
rm -rf "$(dirname "$(pwd)")/x"
rm -rf "$(realpath ..)"
rm -rf "$(cd .. && pwd)"
d=$(pwd)
up="$(dirname "$PWD")"
cd sub
rm -rf "$d/../x"
rm -rf "$up"
rm -rf "${HOME:?}/.."
# expect 1 sh.open-outside
# expect 2 sh.open-outside
# expect 3 sh.open-outside
# expect 4 sh.open-outside
# expect 5 sh.open-outside
# expect 6 sh.open-outside
# expect 7 sh.open-outside
# expect 8 sh.open-outside
# expect 12 sh.open-outside
# expect 13 sh.open-outside
# expect 14 sh.open-outside
