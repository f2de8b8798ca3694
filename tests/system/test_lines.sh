#!/bin/bash
# SPDX-License-Identifier: MIT
# Notebook lines in sessions, over REST and MCP: the kernel evaluates only judged texts, a value
# never becomes code of the shell, and lines of ordinary notebooks work.
source "$(dirname "$0")/lib.sh"
start_server

# --- every magic of the image is in the table
program=$work/magics.ipy
echo 'print(*sorted({name for kind in get_ipython().magics_manager.magics.values() for name in kind}), sep="\n")' >"$program"
complete() {
    "$codebox" run --state "$work/other" --policy permissive "$program" 2>/dev/null >"$work/image"
    grep -q '^matplotlib$' "$work/image"
    grep -o 'CBX_MAGIC("[^"]*"' analyzer/lang/python/notebook/magics.def | cut -d'"' -f2 | sort >"$work/table"
    lacks . < <(sort "$work/image" | comm -23 - "$work/table")
}
ok 'the table has every magic of the image' complete

# --- lines that hide code: each is denied, or runs without the code, under both policies
evil='__import__("os").system("id")'
hidden=("%cd {$evil}" "%env {$evil}" "%env A={$evil}" "%who {$evil}" "%pprint {$evil}" "%xmode {$evil}" "%pinfo {$evil}" "%psource {$evil}"
    "%precision {$evil}" "%matplotlib {$evil}" "%config InlineBackend.rc = $evil" '%config InlineBackend.rc = self.shell.system("id")' "%config {$evil}"
    "!echo '{$evil}'" "!echo {$evil}" "x = !echo {$evil}" '%time -__import__("os").system("id")' '%timeit -z __import__("os").system("id")'
    $'%%bash -c "id"\nls' "%%capture {$evil}"$'\nx' "%%html {$evil}"$'\nx' "%%writefile {$evil}"$'\nx' $'%%time\n!id' "%ls {$evil}" "%pip {$evil}"
    "%load_ext {$evil}" "%reset -f {$evil}" "%hist {$evil}")
runs_nothing() { # no output of the session contains the output of id
    local answer
    answer=$(post /execute "$(jq -n --arg c "$2" --arg s "$1" '{code: $c, session_id: $s}')")
    if jq -e .request_id <<<"$answer" >"$work/id"; then
        wait_until is_over "$(jq -r . "$work/id")"
        answer=$(results_of "$(jq -r . "$work/id")")
    else
        expect '.type == "urn:codebox:problem:denied"' <<<"$answer"
    fi
    lacks 'uid=' <<<"$answer"
}
holds() {
    local session line
    session=$(new_session)
    for line in "${hidden[@]}"; do
        echo "$line"
        runs_nothing "$session" "$line"
    done
    curl -sS -X DELETE "$base/sessions/$session"
}
ok 'code in the arguments of lines does not run' holds
stop_server
start_server --policy strict
ok '  nor under strict' holds
stop_server
start_server

# --- values from files
session=$(new_session)
run_in "$session" $'for text in ("\'; id; \'", \'"; id; "\', "$(id)", "`id`", "{__import__(\'os\').system(\'id\')}", "\\\\\'; id #"):\n    open(str(hash(text)) + ".txt", "w").write(text)' >/dev/null
quoted() {
    run_in "$session" $'import glob\ndef show(v):\n    !echo {v} "{v}" \'{v}\' $v {v!r} a{v}b\nfor name in glob.glob("*.txt"):\n    show(open(name).read())' >"$work/quoted"
    expect '.status == "completed" and ([.output[].content] | join("") | contains("$(id)") and contains("; id; ") and contains("__import__"))' "$work/quoted"
    lacks 'uid=' <"$work/quoted"
}
ok 'the value of a file is a word of the shell, whatever it has' quoted
twice() {
    run_in "$session" $'for name in glob.glob("*.txt"):\n    v = open(name).read()\n    %env VALUE={v}\n    %cd {v}\n    %ls {v}\n    x = !echo {v}\n    print(x)' >"$work/twice"
    expect '[.output[].content] | join("") | contains("VALUE={__import__")' "$work/twice"
    lacks 'uid=' <"$work/twice"
}
ok 'a value that looks like an expression is not expanded again' twice
subclass() {
    run_in "$session" $'class Text(str):\n    def replace(self, *a):\n        return self\n    def __str__(self):\n        return self\nt = Text(open(glob.glob("*.txt")[0]).read() + "\'; id; \'")\n!echo {t}' >"$work/subclass"
    expect '.status == "completed"' "$work/subclass"
    lacks 'uid=' <"$work/subclass"
}
ok 'a text with methods of its own is quoted too' subclass
# The analyzer computes the value; the program changes it in a way that the analysis does not
# follow.
printf '%s\n' 'where = "."' 'get_ipython().user_ns["where"] = "; id"' '!ls {where}' >"$work/changed.ipy"
changed() {
    local status=0
    "$codebox" run --state "$work/other" --policy permissive "$work/changed.ipy" >"$work/changed" 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q 'was judged with' "$work/changed" && lacks 'uid=' <"$work/changed"
}
ok 'a value that is another one when it runs is an error' changed

# --- ordinary lines
says() { # checks the output of a cell, as text of a notebook
    run_in "$session" "$2" >"$work/says"
    jq -er '[.output[] | .content] | join("")' "$work/says" | grep -qF -- "$1"
}
run_in "$session" $'import os\nos.makedirs("a folder", exist_ok=True)\nopen("a folder/f.csv", "w").write("1,2\\n")\nfolder = os.listdir()[os.listdir().index("a folder")]' >/dev/null
ok '!ls of a value' says f.csv '!ls {folder}'
ok '!cat of a path with a value' says 1,2 '!cat {folder}/f.csv'
ok 'a variable of the shell is one' says /workspace '!echo $HOME'
ok 'braces without a name stay' says '{a,b}' '!echo {a,b}'
ok 'doubled braces are braces' says '{x} 3' $'n = int("3")\n!echo {{x}} {n}'
ok 'awk keeps its braces' says 1 "!awk -F, '{print \$1}' 'a folder/f.csv'"
ok 'files = !ls' says "['f.csv']" $'files = !ls {folder}\nprint(files)'
ok 'an argument of a function' says 1,2 $'def show(path):\n    !cat {path}\nshow(os.path.join(folder, "f.csv"))'
ok '%cd of a value' says '/workspace/a folder' $'%cd {folder}\n%cd ..'
ok '%env of a value' says 'env: DATA=a folder' '%env DATA={folder}'
ok '%time' says 'Wall time' '%time sum(range(10))'
ok '%timeit' says 'per loop' '%timeit -n1 -r1 sum(range(10))'
ok '%who' says folder '%who'
ok '%matplotlib inline' says '' '%matplotlib inline'
ok '%config has an effect' says 'svg' $'%config InlineBackend.figure_formats = ["svg"]\n%config InlineBackend.figure_formats'
ok '%load_ext autoreload' says '' $'%load_ext autoreload\n%autoreload 2'
ok 'lines in a timed cell' says f.csv $'%%time\n!ls {folder}\n'
ok 'a captured cell' says '' $'%%capture out\n!ls {folder}'
ok '  its output is kept' says f.csv 'print(out.stdout)'
ok '%%writefile with a value' says 'Writing note-3.txt' $'%%writefile note-{n}.txt\nhello'
ok '%%bash with an argument' says 'got a folder' $'%%bash -s - {folder}\necho "got $1"'
ok 'help' says 'Return the number of items' 'len?'
line_of_error() { run_in "$session" $'x = 1\n!echo {x}\n1/0' | expect '.error.traceback | join("\n") | contains("line 3")'; }
ok 'a traceback has the line of the cell' line_of_error
missing() { run_in "$session" $'del n\n!echo {n}' | expect '.error.ename == "NameError"'; }
ok 'a name that is gone is an error' missing
curl -sS -X DELETE "$base/sessions/$session" >/dev/null

# --- MCP
call() { # prints the response of the tool, which arrives before the input ends
    : >"$work/out"
    { echo '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}'
      echo '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
      jq -cn --arg c "$1" '{jsonrpc: "2.0", id: 2, method: "tools/call", params: {name: "run_python_code", arguments: {code: $c}}}'; } >"$work/calls"
    { cat "$work/calls"
      for _ in {1..300}; do ! grep -q '"id":2' "$work/out" || break; sleep 0.1; done; } |
        "$codebox" mcp --state "$work/mcp" 2>/dev/null >"$work/out"
    jq -ec 'select(.id == 2)' "$work/out"
}
over_mcp() {
    local line
    for line in "${hidden[0]}" "${hidden[10]}" "${hidden[14]}"; do
        call "$line" >"$work/answer"
        expect '.result.isError' "$work/answer"
        lacks 'uid=' <"$work/answer"
    done
    call $'v = input.__name__ + "; id"\n!echo {v}' >"$work/answer"
    expect '.result.content[0].text | contains("input; id")' "$work/answer"
    lacks 'uid=' <"$work/answer"
}
ok 'over MCP the same holds' over_mcp

finish
