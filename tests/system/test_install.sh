#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox install`: the clients' files before and after, and what is refused; the registration files of the repository. Needs no engine.
source "$(dirname "$0")/lib.sh"
root=$PWD
binary=$(readlink -f "$codebox")
unset DOCKER_HOST XDG_STATE_HOME
export HOME=$work/home
mkdir -p "$HOME" "$work/project"
cd "$work/project"

install() { "$codebox" install "$@"; }
same() { cmp -s "$1" "$2"; }

# CLIENT | SCOPE | FILE | what its entry is
while IFS='|' read -r client scope file entry; do
    written() { gives 0 'undo: ' install --client "$client" --scope "$scope"; grep -qF "command: $binary mcp" "$work/out.txt"; jq -e --arg b "$binary" "$entry" "${file/#\~/$HOME}"; }
    ok "$client, $scope: $file" written
done <<'TABLE'
claude|user|~/.claude.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
claude|project|.mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
gemini|user|~/.gemini/settings.json|.mcpServers.codebox == {command: $b, args: ["mcp"]}
gemini|project|.gemini/settings.json|.mcpServers.codebox == {command: $b, args: ["mcp"]}
vscode|user|~/.config/Code/User/mcp.json|.servers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
vscode|project|.vscode/mcp.json|.servers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
cursor|user|~/.cursor/mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
cursor|project|.cursor/mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
TABLE
modes() { [ "$(stat -c %a "$HOME/.claude.json")" = 600 ]; (umask 022; rm -r .vscode; install --client vscode --scope project); [ "$(stat -c %a .vscode/mcp.json)" = 644 ]; }
ok "a file of the user is the user's alone, one of a project follows the umask" modes

# --- what is in the file already
cat >"$HOME/.claude.json" <<'END'
{
    "z": 1.0, "numbers": [0.1, 1e100, -0],
    "mcpServers": {
        "other": {"command": "x", "args": ["}", "\u00e9\/"]}
    },
    "projects": {"/a": {"mcpServers": {"codebox": 1}}}
}
END
chmod 640 "$HOME/.claude.json"
cp "$HOME/.claude.json" before.json
kept() {
    install --client claude
    diff before.json "$HOME/.claude.json" >changes.txt || true
    [ "$(grep -c '^<' changes.txt)" = 1 ] # the line that got a comma
    grep -q '^<  *"other"' changes.txt
    jq -e '.mcpServers | keys == ["codebox", "other"]' "$HOME/.claude.json"
    [ "$(stat -c %a "$HOME/.claude.json")" = 640 ]
}
ok 'what the file has stays byte by byte, and so does its mode' kept
again() { cp "$HOME/.claude.json" before.json; gives 0 'unchanged' install --client claude; same before.json "$HOME/.claude.json"; }
ok 'the same again changes nothing' again
replaced() { gives 0 'replaced in' install --client claude --policy strict; jq -e '.mcpServers.codebox.args == ["mcp", "--policy", "strict"]' "$HOME/.claude.json"; [ "$(grep -c '"codebox"' "$HOME/.claude.json")" = 2 ]; }
ok 'other options replace the entry' replaced

refused() { # FRAGMENT: the file is as it was, and what to put into it is printed
    cp .vscode/mcp.json before.json
    gives 2 "$1" install --client vscode --scope project
    sed -n '/^{/,$p' "$work/out.txt" | jq -e '.servers.codebox.type == "stdio"'
    same before.json .vscode/mcp.json
}
printf '{\n  // servers of the team\n  "servers": {}\n}\n' >.vscode/mcp.json
ok 'a file with comments is refused, with what to put into it' refused 'not valid JSON'
printf '{"servers": []}' >.vscode/mcp.json
ok 'servers that are a list are refused' refused 'servers is not an object'
printf '{}' >elsewhere.json
ln -sf ../elsewhere.json .vscode/mcp.json
link() { refused 'symbolic link'; [ "$(cat elsewhere.json)" = '{}' ] && [ -L .vscode/mcp.json ]; }
ok 'a link is refused' link
nothing_left() { [ -z "$(find "$HOME" "$work/project" -name '*.codebox-*')" ]; }
ok 'no temporary file is left' nothing_left

# --- options
cp "$root/policies/presets/strict.yaml" team.yaml
arguments() { # EXPECTED OPTIONS ...: args of the printed entry
    local expected=$1
    shift
    install --client cursor --print "$@" >printed.json
    expect ".mcpServers.codebox.args == $expected" printed.json
}
ok 'files of options are named by absolute paths' arguments "[\"mcp\", \"--policy\", \"$work/project/team.yaml\", \"--policy\", \"default\", \"--state\", \"$work/project/state\"]" --policy team.yaml --policy default --state state
ok 'all options of codebox mcp are handed on' arguments '["mcp", "--docker-host", "tcp://h:2375", "--runtime", "crun", "--max-runs", "3", "--log-level", "debug"]' --docker-host tcp://h:2375 --runtime crun --max-runs 3 --log-level debug
state_option='"--state", "/s/codebox", '
[ "$(id -u)" != 0 ] || state_option= # root's is /var/lib/codebox
environment() { DOCKER_HOST=unix:///run/e.sock XDG_STATE_HOME=/s arguments "[\"mcp\", $state_option\"--docker-host\", \"unix:///run/e.sock\"]"; }
ok 'what the environment says becomes options' environment
prints_only() { rm -rf .cursor "$HOME/.cursor"; install --client cursor --print; [ ! -e .cursor ] && [ ! -e "$HOME/.cursor" ]; }
ok '--print writes no file' prints_only
ok 'an unknown client is refused with the names of those that there are' gives 2 'allowed are: claude gemini vscode cursor' install --client emacs
ok 'no client is refused likewise' gives 2 'allowed are: claude gemini vscode cursor' install
ok 'a policy that does not exist is refused' gives 2 'nosuch' install --client claude --policy nosuch
ok 'a home that is no path is refused' gives 2 '$HOME' env HOME=x "$codebox" install --client claude
ok 'the help of install lists its options' gives 0 '--client NAME' install --help
ok 'the help lists install' gives 0 "register 'codebox mcp' with an MCP client" "$codebox" --help

# --- the entry is one that works: started from another folder, with the environment that clients pass on
works() {
    local -a words
    install --client claude --policy team.yaml --state "$work/state" >/dev/null
    mapfile -t words < <(jq -r '.mcpServers.codebox | .command, .args[]' "$HOME/.claude.json")
    cd /
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | env -i HOME="$HOME" PATH="$PATH" "${words[@]}" | jq -e '.result.tools | length > 0'
}
ok 'what was written starts the server' works

# --- the registration files in the root, by the rules of their readers: the schema 2025-12-11 of the MCP registry, and what Gemini CLI
# requires of an extension
cd "$root"
version=$("$codebox" --version | cut -d' ' -f2)
by_rules() { # FILE FILTER
    jq -e --arg v "$version" "$2" "$1"
}
ok 'server.json has what the registry requires, and our version' by_rules server.json '
    .["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    and (.name | test("^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$") and length <= 200)
    and (.title | length >= 1 and length <= 100)
    and (.description | length >= 1 and length <= 100)
    and .version == $v
    and (.repository | (.url | test("^https://")) and .source == "github")
    and (keys - ["$schema", "name", "title", "description", "version", "repository", "websiteUrl", "icons", "packages", "remotes", "_meta"] == [])'
ok 'every package of server.json can be verified and is started over stdio' by_rules server.json '
    all(.packages[]?; .transport == {type: "stdio"}
        and ((.registryType == "oci" and (.identifier | endswith(":" + $v)))
             or (.registryType == "mcpb" and .version == $v and (.fileSha256 | test("^[a-f0-9]{64}$")) and (.identifier | test("^https://.*mcp")))))'
ok 'gemini-extension.json starts codebox mcp, and has our version' by_rules gemini-extension.json '
    (.name | test("^[a-zA-Z0-9-]+$")) and .version == $v and (.description | length > 0)
    and (.mcpServers | keys == ["codebox"]) and .mcpServers.codebox == {command: "codebox", args: ["mcp"]}'
finish
