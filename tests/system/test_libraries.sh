#!/bin/bash
# SPDX-License-Identifier: MIT
# Contents of the images, for the operator and for clients of MCP.
source "$(dirname "$0")/lib.sh"

list() { "$codebox" image list --contents >"$work/list"; }
listed() { list && grep -qx '    Python [0-9.]*' "$work/list" && grep -qx '    beautifulsoup4 [0-9.]* (import bs4)' "$work/list" && grep -qx '    lodash [0-9.]*' "$work/list" && grep -qx '    gcc [0-9.]*' "$work/list"; }
ok 'image list --contents has each package with its version and module' listed
listed_json() {
    "$codebox" image list --contents --json >"$work/list.json"
    expect '[.images[] | select(.used)] | length == 5 and all(.[]; .id and .size_bytes > 0 and .runtime.version)' "$work/list.json"
    expect 'any(.images[] | select(.name == "codebox-python:latest").packages[]; .name == "scikit-learn" and .modules == ["sklearn"])' "$work/list.json"
}
ok 'with --json it is one object' listed_json
sizes() { "$codebox" image list >"$work/list" && [ "$(grep -cE '^codebox-[a-z-]+:latest +[0-9]+ MB  sha256:[0-9a-f]{64}$' "$work/list")" -ge 5 ]; }
ok 'image list has size and id of each image' sizes

call() { jq -nc --argjson id "$1" --arg name "$2" --argjson arguments "$3" '{jsonrpc: "2.0", id: $id, method: "tools/call", params: {name: $name, arguments: $arguments}}'; }
{
    call 1 execute_code '{"code": "import yaml, sklearn; print(yaml.safe_load(\"a: 1\"), sklearn.__version__)", "libraries": ["PyYAML>=5", "scikit-learn"]}'
    call 2 execute_code '{"code": "1", "libraries": ["yaml"]}'
    call 3 execute_code '{"code": "console.log(require(\"lodash\").chunk([1, 2, 3], 2).length)", "language": "javascript", "dependencies": ["lodash@^4"]}'
    call 4 execute_code '{"code": "1", "language": "javascript", "dependencies": ["lodash@3"]}'
    call 5 read_file '{"path": "sandbox://libraries"}'
    call 6 execute_code '{"code": "import yml"}'
    call 7 execute_code '{"code": "const { default: _ } = await import(\"lodash\"); _.sum([1, 2])", "language": "javascript", "session": "new"}'
} >"$work/calls"
answered() { [ "$(wc -l <"$work/answers")" -ge 7 ]; }
touch "$work/answers"
{ cat "$work/calls"; wait_until answered >&2 || true; } | "$codebox" mcp --state "$state" --npm-registry http://127.0.0.1:9/ >"$work/answers" 2>"$work/mcp.log" || cat "$work/mcp.log"
text_of() { jq -r --argjson id "$1" 'select(.id == $id).result.content[0].text' "$work/answers"; }
says() { text_of "$1" | tee /dev/stderr | grep -qE -- "$2"; }
ok 'MCP: libraries that the image has are accepted, and programs use them' says 1 "^\{'a': 1\} 1\."
ok 'MCP: a module in the place of a package is refused, with the package' says 2 "it is in 'PyYAML'"
ok 'MCP: JavaScript has the packages of npm, by name and range' says 3 '^2$'
ok 'MCP: another version is asked of the registry, and the answer says which one is there' says 4 'the sandbox image has lodash 4\.'
ok 'MCP: read_file lists all libraries by language' says 5 '^python \(Python 3.*numpy 2\..*scipy 1\.'
ok 'MCP: a program that misses a module is told of one with such a name' says 6 "did you mean 'PyYAML'"
ok 'MCP: a session of JavaScript imports them too' says 7 '3'
finish
