root="$(pwd)"
out=$root/out
mkdir -p "$out" sub
rm -rf "$PWD/build" "$(pwd)/dist" "$root/tmp" "${HOME}/.cache/x" "${HOME:-/root}/y" "${PWD:?}/z"
cd "$root/sub" && rm -rf ../build "$(dirname "$PWD")/dist"
base=${PWD##*/}
echo "$base" "$(dirname "$root")" "${PWD%/*}"
for f in a/*.txt; do
  echo "${f%/*}"
done
[ "$(pwd)" = / ] && exit 1
