#!/bin/bash
# SPDX-License-Identifier: MIT
# `codebox install`: the clients' files before and after, and refusals; the registration files of
# the repository. Needs no engine.
source "$(dirname "$0")/lib.sh"
root=$PWD
binary=$(readlink -f "$codebox")
unset DOCKER_HOST XDG_STATE_HOME XDG_CONFIG_HOME CODEX_HOME COPILOT_HOME
export HOME=$work/home
mkdir -p "$HOME" "$work/project"
cd "$work/project"

install() { "$codebox" install "$@"; }
same() { cmp -s "$1" "$2"; }

# Prints a file of any format as JSON.
as_json() {
    case $1 in
    *.toml) python3 -c 'import json, sys, tomllib; json.dump(tomllib.load(open(sys.argv[1], "rb")), sys.stdout)' "$1" ;;
    *.yaml) python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)' "$1" ;;
    *) cat "$1" ;;
    esac
}

# CLIENT | SCOPE | FILE | jq filter of its entry
while IFS='|' read -r client scope file entry; do
    file=${file/#\~/$HOME}
    written() { gives 0 'undo: ' install --client "$client" --scope "$scope"; grep -qF "command: $binary mcp" "$work/out.txt"; as_json "$file" | jq -e --arg b "$binary" "$entry"; }
    ok "$client, $scope: $file" written
    twice() { cp "$file" "$work/before"; gives 0 'unchanged' install --client "$client" --scope "$scope"; same "$work/before" "$file"; }
    ok '... the same again changes nothing' twice
done <<'TABLE'
claude|user|~/.claude.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
claude|project|.mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
claude-desktop|user|~/.config/Claude/claude_desktop_config.json|.mcpServers.codebox == {command: $b, args: ["mcp"]}
cline|user|~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
codex|user|~/.codex/config.toml|.mcp_servers.codebox == {command: $b, args: ["mcp"]}
codex|project|.codex/config.toml|.mcp_servers.codebox == {command: $b, args: ["mcp"]}
continue|user|~/.continue/config.yaml|.mcpServers == [{name: "codebox", type: "stdio", command: $b, args: ["mcp"]}] and .schema == "v1"
continue|project|.continue/mcpServers/codebox.yaml|.mcpServers == [{name: "codebox", type: "stdio", command: $b, args: ["mcp"]}] and .schema == "v1"
copilot|user|~/.copilot/mcp-config.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"], tools: ["*"]}
copilot|project|.github/mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"], tools: ["*"]}
cursor|user|~/.cursor/mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
cursor|project|.cursor/mcp.json|.mcpServers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
gemini|user|~/.gemini/settings.json|.mcpServers.codebox == {command: $b, args: ["mcp"]}
gemini|project|.gemini/settings.json|.mcpServers.codebox == {command: $b, args: ["mcp"]}
goose|user|~/.config/goose/config.yaml|.extensions.codebox | .name == "codebox" and .type == "stdio" and .cmd == $b and .args == ["mcp"] and .enabled == true and .timeout == 300
opencode|user|~/.config/opencode/opencode.json|.mcp.codebox == {type: "local", command: [$b, "mcp"], enabled: true}
opencode|project|opencode.json|.mcp.codebox == {type: "local", command: [$b, "mcp"], enabled: true}
vscode|user|~/.config/Code/User/mcp.json|.servers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
vscode|project|.vscode/mcp.json|.servers.codebox == {type: "stdio", command: $b, args: ["mcp"]}
windsurf|user|~/.codeium/windsurf/mcp_config.json|.mcpServers.codebox == {command: $b, args: ["mcp"]}
zed|user|~/.config/zed/settings.json|.context_servers.codebox == {command: $b, args: ["mcp"]}
zed|project|.zed/settings.json|.context_servers.codebox == {command: $b, args: ["mcp"]}
TABLE
every_client() { # each client of the table has a row above, or its entry is only printed
    for client in $(install --client emacs 2>&1 | sed 's/.*allowed are: //'); do
        [ "$client" = jetbrains ] || grep -q "^$client|user|" "$root/tests/system/test_install.sh" || { echo "$client is not tested"; return 1; }
    done
}
ok 'every client that is known is tested' every_client
printed() { gives 2 '--print prints what to put into its settings' install --client jetbrains; install --client jetbrains --print | jq -e --arg b "$binary" '.mcpServers.codebox == {command: $b, args: ["mcp"]}'; }
ok 'JetBrains has no file: --print' printed
no_project() { gives 2 'has no file of a project' install --client windsurf --scope project; }
ok 'a client without files of projects says so' no_project
variables() {
    CODEX_HOME=$work/codex install --client codex && [ -s "$work/codex/config.toml" ]
    XDG_CONFIG_HOME=$work/xdg install --client goose && [ -s "$work/xdg/goose/config.yaml" ]
    mkdir -p "$work/xdg/opencode" && echo '// mine' >"$work/xdg/opencode/opencode.jsonc"
    XDG_CONFIG_HOME=$work/xdg install --client opencode && grep -q '"mcp"' "$work/xdg/opencode/opencode.jsonc" && [ ! -e "$work/xdg/opencode/opencode.json" ]
}
ok 'the folders of the environment are used, and the file that exists' variables
modes() { [ "$(stat -c %a "$HOME/.claude.json")" = 600 ]; (umask 022; rm -r .vscode; install --client vscode --scope project); [ "$(stat -c %a .vscode/mcp.json)" = 644 ]; }
ok "a file of the user is the user's alone, one of a project follows the umask" modes

# --- existing content of the file
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

refused() { # the file is unchanged, and the entry to add is printed
    cp .vscode/mcp.json before.json
    gives 2 "$1" install --client vscode --scope project
    sed -n '/^{/,$p' "$work/out.txt" | jq -e '.servers.codebox.type == "stdio"'
    same before.json .vscode/mcp.json
}
printf '{\n  "servers": {} }}\n' >.vscode/mcp.json
ok 'a file that is damaged is refused, with what to put into it' refused 'not valid JSON'
printf '{"servers": []}' >.vscode/mcp.json
ok 'servers that are a list are refused' refused 'servers is not an object'
printf '{"servers": {"codebox": {"type": "http", "url": "http://x/mcp"}}}' >.vscode/mcp.json
ok 'so is an entry of a server at a URL' refused "is of a server at a URL ('url'); remove it first"
printf '{}' >.vscode/mcp.json
chmod 444 .vscode/mcp.json
read_only() { refused 'is read-only'; [ "$(stat -c %a .vscode/mcp.json)" = 444 ]; }
ok 'a file that is read-only is refused' read_only
rm -f .vscode/mcp.json
printf '{}' >elsewhere.json
ln -sf ../elsewhere.json .vscode/mcp.json
link() { gives 0 "which leads to $work/project/elsewhere.json" install --client vscode --scope project; [ -L .vscode/mcp.json ]; jq -e .servers.codebox elsewhere.json; }
ok 'a link is followed, and stays one' link
printf '{}' >"$work/outside.json"
ln -sf "$work/outside.json" .vscode/mcp.json
outside() { gives 2 'is not in the project' install --client vscode --scope project; [ "$(cat "$work/outside.json")" = '{}' ]; }
ok '... but not out of a project, which others have written' outside
dotfiles() { mv "$HOME/.cursor/mcp.json" "$work/outside.json" && ln -s "$work/outside.json" "$HOME/.cursor/mcp.json" && install --client cursor --policy strict && [ -L "$HOME/.cursor/mcp.json" ] && grep -q strict "$work/outside.json"; }
ok '... while links in the home are the person'"'"'s own' dotfiles

# --- changes of a user in the entry, in each format
kept_by() { # entry and other content after an installation with other options
    gives 0 'replaced in' install --client "$1" --policy strict
    as_json "$2" | jq -e --arg b "$binary" "$3"
}
cat >"$HOME/.config/zed/settings.json" <<'END'
// Zed's settings, "context_servers": {
{
  "theme": "One Dark", // mine
  "context_servers": {
    "codebox": {
      "command": "/old", /* to be replaced */
      "args": ["mcp"],
      "env": {"TZ": "UTC"}, // for dates
      "enabled": false,
    },
  },
}
END
cp "$HOME/.config/zed/settings.json" before.json
jsonc() {
    gives 0 'replaced in' install --client zed --policy strict
    diff before.json "$HOME/.config/zed/settings.json" >changes.txt || true
    [ "$(grep -c '^<' changes.txt)" = 2 ] # command and args
    grep -qF "\"command\": \"$binary\", /* to be replaced */" "$HOME/.config/zed/settings.json"
    grep -qF '"env": {"TZ": "UTC"}, // for dates' "$HOME/.config/zed/settings.json"
}
ok 'comments, commas behind last members and other keys of JSONC stay' jsonc
cat >"$HOME/.codex/config.toml" <<'END'
model = "x" # mine
[mcp_servers.codebox]
command = "/old"
args = [
  "mcp", # one
]
enabled = false
[mcp_servers.codebox.env]
TZ = "UTC"
END
ok 'so do those of TOML' kept_by codex "$HOME/.codex/config.toml" '.model == "x" and .mcp_servers.codebox == {command: $b, args: ["mcp", "--policy", "strict"], enabled: false, env: {TZ: "UTC"}}'
toml_comment() { grep -qx 'model = "x" # mine' "$HOME/.codex/config.toml"; }
ok '... and its comments' toml_comment
cat >"$HOME/.config/goose/config.yaml" <<'END'
GOOSE_MODEL: x # mine
extensions:
  developer: {type: builtin, enabled: true}
  codebox:
    type: stdio
    name: codebox
    cmd: /old
    args:
    - mcp
    enabled: false # for now
    envs:
      TZ: UTC
    timeout: 5
END
ok 'and those of YAML' kept_by goose "$HOME/.config/goose/config.yaml" '.extensions.developer.type == "builtin" and .extensions.codebox == {type: "stdio", name: "codebox", cmd: $b, args: ["mcp", "--policy", "strict"], enabled: false, envs: {TZ: "UTC"}, timeout: 5}'
yaml_comment() { grep -qx '    enabled: false # for now' "$HOME/.config/goose/config.yaml"; }
ok '... and its comments' yaml_comment
nothing_left() { [ -z "$(find "$HOME" "$work/project" -name '*.codebox-*')" ]; }
ok 'no temporary file is left' nothing_left

# --- options
cp "$root/policies/presets/strict.yaml" team.yaml
arguments() { # prints args of the printed entry
    local expected=$1
    shift
    install --client cursor --print "$@" >printed.json
    expect ".mcpServers.codebox.args == $expected" printed.json
}
ok 'files of options are named by absolute paths' arguments "[\"mcp\", \"--policy\", \"$work/project/team.yaml\", \"--policy\", \"default\", \"--state\", \"$work/project/state\"]" --policy team.yaml --policy default --state state
ok 'all options of codebox mcp are handed on' arguments '["mcp", "--docker-host", "tcp://h:2375", "--runtime", "crun", "--max-runs", "3", "--log-level", "debug"]' --docker-host tcp://h:2375 --runtime crun --max-runs 3 --log-level debug
state_option='"--state", "/s/codebox", '
[ "$(id -u)" != 0 ] || state_option= # root's default is /var/lib/codebox
environment() { DOCKER_HOST=unix:///run/e.sock XDG_STATE_HOME=/s arguments "[\"mcp\", $state_option\"--docker-host\", \"unix:///run/e.sock\"]"; }
ok 'what the environment says becomes options' environment
prints_only() { rm -rf .cursor "$HOME/.cursor"; install --client cursor --print; [ ! -e .cursor ] && [ ! -e "$HOME/.cursor" ]; }
ok '--print writes no file' prints_only
ok 'an unknown client is refused with the names of those that there are' gives 2 'allowed are: claude claude-desktop cline codex continue copilot cursor gemini goose jetbrains opencode vscode windsurf zed' install --client emacs
ok 'no client is refused likewise' gives 2 'allowed are: claude claude-desktop cline codex continue copilot cursor gemini goose jetbrains opencode vscode windsurf zed' install
ok 'a policy that does not exist is refused' gives 2 'nosuch' install --client claude --policy nosuch
ok 'a home that is no path is refused' gives 2 '$HOME' env HOME=x "$codebox" install --client claude
ok 'the help of install lists its options' gives 0 '--client NAME' install --help
ok 'the help lists install' gives 0 "register 'codebox mcp' with an MCP client" "$codebox" --help

# --- the entry works: started from another folder, with the environment that clients pass on
works() {
    local -a words
    install --client claude --policy team.yaml --state "$work/state" >/dev/null
    mapfile -t words < <(jq -r '.mcpServers.codebox | .command, .args[]' "$HOME/.claude.json")
    cd /
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | env -i HOME="$HOME" PATH="$PATH" "${words[@]}" | jq -e '.result.tools | length > 0'
}
ok 'what was written starts the server' works

# --- the registration files in the root, by the rules of their readers: the schema 2025-12-11 of
# the MCP registry, and the requirements of Gemini CLI for an extension
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
ok 'every remote of server.json is a URL whose variables are described, and secrets are marked' by_rules server.json '
    def described($text; $variables): [$text | scan("\\{([a-zA-Z_][a-zA-Z0-9_]*)\\}")[0]] - ($variables // {} | keys) == [];
    (.websiteUrl | test("^https://")) and (.remotes | length > 0) and all(.remotes[];
        .type == "streamable-http" and (.url | test("^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$")) and described(.url; .variables)
        and all(.headers[]; (.name | length > 0) and described(.value; .variables) and .isSecret == true and all(.variables[]; .isSecret == true)))'
schema=${CODEBOX_SERVER_SCHEMA:-$root/build/schema/server.schema.json} # the registry's schema is not part of this repository
if [ -s "$schema" ]; then
    valid() { python3 -c 'import json, sys, jsonschema; jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))' "$schema" server.json; }
    ok 'server.json is valid by the schema of the registry' valid
else
    echo '  skipped the schema of the registry: not at hand (CODEBOX_SERVER_SCHEMA)'
fi
ok 'gemini-extension.json starts codebox mcp, and has our version' by_rules gemini-extension.json '
    (.name | test("^[a-zA-Z0-9-]+$")) and .version == $v and (.description | length > 0)
    and (.mcpServers | keys == ["codebox"]) and .mcpServers.codebox == {command: "codebox", args: ["mcp"]}'
finish
