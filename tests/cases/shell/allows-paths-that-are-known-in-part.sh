# Such paths in the workspace, and places that the script finds by itself.
read -r name < names.txt
rm -rf "out/$name" ./{a,b}/x "$(pwd)/build" "${TMPDIR:-/tmp}/$name" "$name"/*
rm -rf "${0%/*}/out" "$(dirname "$0")/log"
mkdir -p "../out/$name"
