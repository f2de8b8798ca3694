/* SPDX-License-Identifier: MIT
 * The shell extractor's facts about command lines. Every word of the policy's list is allowed; a
 * fact is written as KIND:SYMBOL. Kinds are word (not listed), ? (unresolved), > (redirect), py and
 * js (code of that language that starts processes), pkg (an install). */
#include "analyzer/analyze.h"
#include "tests/unit/unit.h"

static const char text[] =
    "version: 1\nname: x\nlanguages: [python, javascript, shell]\n"
    "shell: {allow: [ls, cat, echo, printf, grep, wc, head, env, xargs, nohup, timeout, nice, "
    "sudo, command, "
    "exec, time, find, sh, bash, python, python3, node, perl, sort, tee, awk, sed, git, tar, npm, "
    "pip, read, "
    "eval, trap, test, \"true\", watch, flock, su, script, parallel, stdbuf, busybox, diff, cd, "
    "curl, alias, "
    "unset, chroot, strace, ssh, make, vim, uv, base64, \"./x\"]}\n"
    "packages: {pip: {mode: allowlist, allow: []}, npm: {mode: allowlist, allow: []}}\n"
    "rules:\n"
    "  - {id: word, match: {fact: shell-not-listed}}\n"
    "  - {id: \"unclear\", match: {fact: shell-unresolved}}\n"
    "  - {id: redirect, match: {fact: shell-redirect}}\n"
    "  - {id: syntax, match: {fact: syntax}}\n"
    "  - {id: data, match: {fact: shell-evaluated}}\n"
    "  - {id: pkg, match: {fact: [package-not-listed, package-source, package-unresolved]}}\n"
    "  - {id: py, languages: [python], match: {capability: start-process}}\n"
    "  - {id: js, languages: [javascript], match: {capability: start-process}}\n";

static const char *found(const char *language, const char *code)
{
    static struct cbx_policy *policy;
    static char out[2048];
    CBX_AUTO_DONE(arena) arena;
    struct cbx_err err = { 0 };
    struct cbx_decision decision;
    if (policy == NULL && cbx_policy_parse(cbx_str_of(text), "x", &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cbx_str_of(code), .language = cbx_str_of(language) };
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < decision.finding_count && used < sizeof(out); i++) {
        const struct cbx_finding *f = &decision.findings[i];
        const char *kind = cbx_str_is(f->rule->id, "unclear")    ? "?"
                           : cbx_str_is(f->rule->id, "redirect") ? ">"
                                                                 : f->rule->id.p;
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s:%.*s", i > 0 ? " " : "",
                                 kind == f->rule->id.p ? (int)f->rule->id.len : 1, kind,
                                 CBX_STR_ARG(f->symbol));
    }
    return out;
}

struct shell_case {
    const char *code, *expected;
};

static void check(const char *language, const struct shell_case *cases, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const char *got = found(language, cases[i].code);
        if (strcmp(got, cases[i].expected) != 0) {
            print_error("%s\n   is: %s\n   expected: %s\n", cases[i].code, got, cases[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}
#define CHECK(cases) check("shell", cases, sizeof(cases) / sizeof(cases[0]))

static void finds_every_command_word(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "ls -la | head -n 3 && cat x; echo y", "" },
        { "ls | rm x", "word:rm" },
        { "ls && rm x || id", "word:rm word:id" },
        { "(ls; rm x)", "word:rm" },
        { "{ ls; rm x; }", "word:rm" },
        { "echo $(rm x) `id`", "word:rm word:id" },
        { "echo \"a $(rm x) b\"", "word:rm" },
        { "diff <(ls a) <(rm b)", "word:rm" },
        { "diff <(ls a) <(ls b)", "" },
        { "if ls; then rm x; elif id; then w; else who; fi", "word:rm word:id word:w word:who" },
        { "while read l; do rm $l; done < x", "word:rm" },
        { "for f in a b; do rm $f; done", "word:rm" },
        { "case $x in a) rm x;; *) ls;; esac", "word:rm" },
        { "echo $((1 + $(rm x)))", "word:rm" },
        { "[[ -f $(rm x) ]] && ls", "word:rm" },
        { "x=$(rm y)", "word:rm" },
        { "a=(1 $(rm y))", "word:rm" },
        { "cat <<E\na $(rm x)\nE\n", "word:rm" },
        { "cat <<'E'\na $(rm x)\nE\n", "" },
        { "cat <<E | rm\nx\nE\n", "word:rm" },
        { "cat <<< \"$(rm x)\"", "word:rm" },
        { "! rm x", "word:rm" },
        { "ls & rm x", "word:rm" },
        { "until rm x; do ls; done", "word:rm" },
        { "export X=$(rm y)", "word:rm" },
        { "echo ${x:-$(rm y)}", "word:rm" },
        { "/bin/ls", "word:/bin/ls" },
        { "./x; ./y", "word:./y" },
        { "\\rm x; 'rm' y; r''m z; \"rm\" q; $'r\\x6d' p; $'\\162m' o",
          "word:rm word:rm word:rm word:rm word:rm word:rm" },
        { "l\\s", "" },
        { "cat <<E\n`rm x`\nE\n", "?:substitution" },
        { "echo ${x:-`rm y`}", "?:substitution" },
    };
    CHECK(cases);
}

static void what_hides_a_word_is_a_fact(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "$X", "?:command word" },         { "$(echo rm) x", "?:command word" },
        { "r$@m x", "?:command word" },     { "rm${IFS}x", "?:command word" },
        { "/bin/r?m x", "?:command word" }, { "l* x", "?:command word" },
        { "l{s,}", "?:command word" },      { "${!x}", "?:command word data:arithmetic" },
        { "$1 x", "?:command word" },       { "\"$@\"", "?:command word" },
        { "env $X", "?:command word" },     { "sudo /bin/r[m]", "?:command word" },
    };
    CHECK(cases);
}

static void follows_constant_variables(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "X=rm; $X y", "word:rm" },
        { "X=ls; $X y; \"$X\"; ${X}", "" },
        { "X='rm -rf'; $X /", "word:rm" },
        { "X='ls -l'; \"$X\" /", "word:ls -l" },
        { "X=; $X rm y", "word:rm" },
        { "X=l; ${X}s", "" },
        { "X=r; ${X}m z", "word:rm" },
        { "X=ls; X=rm; $X", "?:command word" },
        { "$X y; X=ls", "?:command word" },
        { "(X=ls); $X rm", "?:command word" },
        { "X=ls & $X rm", "?:command word" },
        { "true && X=ls; $X rm", "?:command word" },
        { "X=ls; read X; $X", "?:command word" },
        { "X=ls; printf -vX rm; $X", "?:command word" },
        { "X=ls; trap 'X=rm' DEBUG; $X", "?:command word" },
        { "X=ls; for X in rm; do $X; done", "word:rm" },
        { "for X in rm; do $X; done; $X", "word:rm ?:command word" },
        { "for X in ls; do read X; $X; done", "?:command word" },
        { "for X in ls cat; do $X; done", "" },
        { "X=ls; unset X; $X rm", "?:command word" },
        { "X=ls; f() { local X; $X rm; }; f", "?:command word" },
        { "X=ls; X+=x; $X", "?:command word" },
        { "X=ls; eval \"$Y\"; $X", "?:code ?:command word" },
        { "X=$Y; $X", "?:command word" },
        { "X=ls; declare -n Y=X; Y=rm; $X", "?:command word" },
        { "X='l*'; $X", "?:command word" },
        { "X=ls; : ${X:=rm}; $X", "?:command word" },
        { "export X=ls; $X", "" },
    };
    CHECK(cases);
}

static void assignments_are_facts_when_they_change_what_words_mean(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "x=1; y=$x; for i in a b; do echo $i; done; export FOO=bar", "" },
        { "local_thing=(1 2 3); echo ${local_thing[0]}", "" },
        { "PATH=.", "?:PATH" },
        { "PATH=/x ls", "?:PATH" },
        { "export PATH=/tmp:$PATH", "?:PATH" },
        { "LD_PRELOAD=./x.so ls", "?:LD_PRELOAD" },
        { "env LD_PRELOAD=./x.so ls", "?:LD_PRELOAD" },
        { "sudo PYTHONPATH=. ls", "?:PYTHONPATH" },
        { "declare -x ENV=,", "?:ENV" },
        { "read PATH", "?:PATH" },
        { "printf -v PATH x", "?:PATH" },
        { "printf -vPATH x", "?:PATH" },
        { "for PATH in a; do ls; done", "?:PATH" },
        { "export \"$x=1\"", "?:variable" },
        { "export 'PATH=x'", "?:PATH" },
        { "PIP_INDEX_URL=http://x pip list", "?:PIP_INDEX_URL" },
    };
    CHECK(cases);
}

static void functions_of_the_text_are_judged(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "f() { ls; }; f", "" },
        { "f() { rm x; }; f", "word:rm" },
        { "function f { ls; }\nf a b", "" },
        { "f; f() { ls; }", "word:f" },
        { "(f() { ls; }); f", "word:f" },
        { "true && f() { ls; }; f", "word:f" },
        { "f() { ls; }; unset -f f; f", "word:f" },
        { "f() { ls; }; command unset -f f; f", "word:f" },
        { "f() { printf '%s' \"$1\"; }; printf x \"$y\"; f", "" },
        { "f() { ls; }; sudo f; command f", "word:f word:f" },
        { "f() { ls; } & f", "word:f" },
        { "ls() { rm x; }", "word:rm" },
        { "exit() { echo; }", "?:exit" },
        { "f() { ls; }; /x/f", "word:/x/f" },
        { "rm() { ls; }; find . -exec rm {} \\;", "word:rm" },
    };
    CHECK(cases);
}

static void finds_the_command_in_a_command(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "env rm x", "word:rm" },
        { "env -i -u X A=1 rm x", "word:rm" },
        { "env -uX -C /tmp rm", "word:rm" },
        { "env --unset=X ls", "" },
        { "env -S 'rm x'", "word:rm" },
        { "env --split-string='rm x'", "word:rm" },
        { "xargs -I {} -n 1 rm {}", "word:rm" },
        { "xargs -I{} ls {}", "" },
        { "xargs -0 -P4 rm", "word:rm" },
        { "nohup rm x &", "word:rm" },
        { "timeout -s KILL 5 rm", "word:rm" },
        { "timeout 5 ls", "" },
        { "timeout --signal=KILL 5s rm", "word:rm" },
        { "nice -n 5 rm", "word:rm" },
        { "nice -5 rm", "word:rm" },
        { "sudo -u root rm", "word:rm" },
        { "sudo -u root -E X=1 ls", "" },
        { "sudo -iu root rm", "word:rm" },
        { "command rm; command -p rm", "word:rm word:rm" },
        { "exec rm; exec -a x rm", "word:rm word:rm" },
        { "time rm; time -p rm", "word:rm word:rm" },
        { "stdbuf -oL rm", "word:rm" },
        { "stdbuf -o L rm", "word:rm" },
        { "watch -n 1 'rm x'", "word:rm" },
        { "watch -n 1 rm x", "word:rm" },
        { "chroot /x rm", "word:rm" },
        { "strace -e trace=open -o f rm", "word:rm" },
        { "flock /tmp/l rm", "word:rm" },
        { "flock /tmp/l -c 'rm x'", "word:rm" },
        { "parallel rm {} ::: a b", "word:rm" },
        { "find . -name x -exec rm {} \\;", "word:rm" },
        { "find . -exec ls {} + -execdir rm {} \\;", "word:rm" },
        { "find . -exec ls {} \\; -ok rm {} \\;", "word:rm" },
        { "find . -name '*.py' | xargs grep x", "" },
        { "busybox rm", "word:rm" },
        { "su -c 'rm x' root", "word:rm" },
        { "script -c 'rm x' /dev/null", "word:rm" },
        { "ssh -p 22 host rm x", "word:rm" },
        { "ssh -o ProxyCommand='rm x' h", "?:code" },
        { "tar cf x --to-command='rm x' y", "word:rm" },
        { "tar cf x --checkpoint=1 --checkpoint-action=exec='rm x' y", "word:rm" },
        { "tar cf x -I 'rm x' y", "word:rm" },
        { "tar cf x --use-comp 'rm x' y", "word:rm" },
        { "tar czf x.tgz y", "" },
        { "sudo env nohup timeout 5 nice rm", "word:rm" },
        { "env env env env env env env env env env rm", "?:nesting" },
        { "git status; git commit -m 'x|y'", "" },
        { "git -c alias.x='!rm' x", "?:code" },
        { "git clone 'ext::rm x'", "?:code" },
        { "awk '{print $1}' f", "" },
        { "awk '$1 > 3 || $2 == \"a\" {print}' f", "" },
        { "awk 'BEGIN {system(\"rm x\")}'", "?:code" },
        { "awk 'BEGIN {print 1 | \"rm\"}'", "?:code" },
        { "sed -n 's/a/b/gp; 1,3d' f", "" },
        { "sed 's/whew/eww/g; /we/d' f", "" },
        { "sed '1e rm x' f", "?:code" },
        { "sed 's/a/rm/e' f", "?:code" },
        { "sed -e 's|a|b|w /etc/x' f", "?:code" },
        { "vim -c '!rm x'", "?:code" },
        { "make SHELL=/x", "?:code" },
        { "npm run x; npm test", "?:code ?:code" },
        { "trap 'rm x' EXIT", "word:rm" },
        { "trap - EXIT; trap", "" },
        { "trap \"$x\" EXIT", "?:code" },
        { "eval 'rm x'; eval ls", "word:rm" },
        { "eval \"$x\"", "?:code" },
        { ". /etc/x; source $y; . y z",
          "?:code of another file ?:code of another file ?:code of another file" },
        { "alias ll='rm x'", "word:rm" },
        { "alias ls=rm", "word:rm ?:alias" },
        { "sort -o /etc/x y", ">:/etc/x" },
        { "sort -uo /etc/x y; sort --outp=/etc/x y", ">:/etc/x >:/etc/x" },
        { "find . -fprint /etc/x", ">:/etc/x" },
        { "xargs -l rm", "word:rm" },
        { "xargs -eI rm", "?:command word" },
        { "xargs --replace rm {}", "word:rm" },
        { "xargs -I ls ls", "?:command word" },
        { "timeout $(echo 5 rm) ls", "?:argument" },
        { "sudo -u $(echo x) ls", "?:option" },
        { "npm --prefix d run y; npm install x", "?:code pkg:x" },
        { "tar cIf 'rm x' y z", "?:code" },
        { "sed 's/[/]/x/e'", "?:code" },
        { "sed -l 5 '1e rm'", "?:code" },
        { "sed --expr '1e rm'", "?:code" },
        { "sed -i.bak -E 's/(a)b/\\1/' x.txt where.txt", "" },
        { "sort -ox y; sort --output=/etc/x y", ">:/etc/x" },
        { "ls | tee -a /etc/x out", ">:/etc/x" },
    };
    CHECK(cases);
}

static void code_for_interpreters_is_judged(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "sh -c 'rm x'", "word:rm" },
        { "bash -ec 'rm x'; bash -lc 'ls'; bash -c -e 'rm x'", "word:rm word:rm" },
        { "bash -o pipefail -c 'rm x'", "word:rm" },
        { "bash --norc -c \"$x\"", "?:code" },
        { "bash -c \"ls $x\"", "?:code" },
        { "xargs sh -c 'rm $0'", "word:rm" },
        { "xargs -I{} sh -c 'ls {}'", "?:code" },
        { "find . -exec python -c '{}' \\;", "?:code" },
        { "python -m timeit 'x'", "?:code" },
        { "bash 0< <(ls)", "?:code" },
        { "gdb -ex x", "word:gdb ?:code" },
        { "find . -exec sh -c 'rm $0' {} \\;", "word:rm" },
        { "python -c 'import subprocess'", "py:subprocess" },
        { "python3 -Ic 'import subprocess'", "py:subprocess" },
        { "python3 -u -W ignore -c 'import subprocess' -c x", "py:subprocess" },
        { "python -c'import subprocess'", "py:subprocess" },
        { "python -c 'print(1)'", "" },
        { "python -m subprocess", "py:subprocess" },
        { "python -m json.tool x.json", "" },
        { "node -e 'require(\"child_process\")'", "js:child_process" },
        { "node -pe 'require(\"child_process\")'", "js:child_process" },
        { "node --eval='require(\"child_process\")'", "js:child_process" },
        { "node --print 1", "" },
        { "perl -e 'system 1'", "?:code" },
        { "perl -ne 'print'", "?:code" },
        { "python x.py; node x.js; bash x.sh", "" },
        { "python <(curl x)", "?:code" },
        { "bash -c \"$(curl x)\"", "?:code" },
        { "sudo -u a timeout 5 env A=1 python -c 'import subprocess'", "py:subprocess" },
    };
    CHECK(cases);
}

static void code_on_standard_input_is_judged(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "echo 'import subprocess' | python", "py:subprocess" },
        { "echo 'import subprocess' | python -", "py:subprocess" },
        { "echo 'print(1)' | sudo python -u", "" },
        { "printf 'import subprocess' | python", "py:subprocess" },
        { "printf '%s\\n' 'import subprocess' | python", "py:subprocess" },
        { "curl x | sh", "?:code" },
        { "curl x | sudo bash -s -- a", "?:code" },
        { "curl x | { sh; }", "?:code" },
        { "curl x | (ls; bash)", "?:code" },
        { "curl x | while read l; do sh; done", "?:code" },
        { "base64 -d <<< aWQ= | sh", "?:code" },
        { "bash <<< 'rm x'", "word:rm" },
        { "bash <<< \"$x\"", "?:code" },
        { "bash <<'E'\nrm x\nE\n", "word:rm" },
        { "bash <<E\nrm x\nE\n", "word:rm" },
        { "bash <<E\n$x\nE\n", "?:code" },
        { "python - <<'E'\nimport subprocess\nE\n", "py:subprocess" },
        { "python <<'E' > out\nimport subprocess\nE\n", "py:subprocess" },
        { "cat <<'E' | python\nimport subprocess\nE\n", "py:subprocess" },
        { "cat <<E | sh\n$x\nE\n", "?:code" },
        { "cat <<E payload | sh\nls\nE\n", "syntax:syntax error" },
        { "cat <<E < payload | sh\nls\nE\n", "syntax:syntax error" },
        { "sh <<E < payload\nls\nE\n", "?:code" },
        { "cat() { curl x; }; cat <<< ls | sh", "?:code" },
        { "sh < x", "?:code" },
        { "ls | python -c 'print(1)'", "" },
        { "ls | python x.py", "" },
        { "echo ls | sh", "" },
        { "echo rm | xargs sh", "?:code" },
        { "echo rm | xargs env", "word:rm ?:command word" },
        { "f() { sh; }; curl x | f", "?:code" },
        { "curl x > >(sh)", "?:code" },
        { "cat <<-'E' | sh\n\trm x\n\tE\n", "word:rm" },
        { "while read l; do echo $l; done < x", "" },
        { "sh", "" },
    };
    CHECK(cases);
}

static void redirections_stay_in_the_workspace(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "ls > out; ls >> /tmp/x; ls 2>/dev/null; ls > /workspace/y 2>&1; ls >&2", "" },
        { "ls > /etc/x", ">:/etc/x" },
        { "ls >> ~/.bashrc", "" },
        { "ls >| ../x", ">:../x" },
        { "ls &> /etc/x", ">:/etc/x" },
        { "ls 2> /etc/x", ">:/etc/x" },
        { "ls >& /etc/x", ">:/etc/x" },
        { "ls > \"$x\"", ">:(computed)" },
        { "X=/etc/x; ls > $X", ">:/etc/x" },
        { "ls > $HOME/x", "" },
        { "cat < /dev/tcp/1.2.3.4/80", ">:/dev/tcp/1.2.3.4/80" },
        { "ls > /dev/udp/1.2.3.4/80", ">:/dev/udp/1.2.3.4/80" },
        { "cat < /usr/share/x", "" },
        { "{ ls; } > /etc/x", ">:/etc/x" },
        { "exec 3> /etc/x", ">:/etc/x" },
        { "cat <<E > /etc/x\na\nE\n", ">:/etc/x" },
        { "> /etc/x", ">:/etc/x" },
    };
    CHECK(cases);
}

static void installs_are_found_in_every_wrapper(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "pip list", "" },
        { "sudo pip install x", "pkg:x" },
        { "env X=1 pip install x", "pkg:x" },
        { "bash -c 'pip install x'", "pkg:x" },
        { "python -m pip install x", "pkg:x" },
        { "sudo -H python3 -m pip install x", "pkg:x" },
        { "uv pip install x", "pkg:x" },
        { "npm i x", "pkg:x" },
        { "/usr/bin/pip install x", "word:/usr/bin/pip pkg:x" },
        { "echo x | xargs pip install", "pkg:x pkg:(computed)" },
    };
    CHECK(cases);
}

static void values_of_notebook_lines_are_unknown_words(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "!ls {folder}", "" },
        { "!ls $folder", "" },
        { "def f(x):\n    !{x} y", "?:command word" },
        { "def f(x):\n    !$x y", "?:command word" },
        { "def f(x):\n    !python -c '{x}'", "?:code" },
        { "def f(x):\n    !bash -c 'ls {x}'", "?:code" },
        { "def f(x):\n    !bash -c \"ls $x\"", "?:code" },
        { "def f(x):\n    !pip install {x}", "pkg:(computed)" },
        { "def f(x):\n    !ls > {x}", ">:(computed)" },
        { "def f(x):\n    !ls $(cat {x})",
          "?:{x} inside a substitution; make it a word of its own" },
        { "!$cmd x", "?:command word" },
        { "!X=ls; $X y", "" },
    };
    check("ipython", cases, sizeof(cases) / sizeof(cases[0]));
}

static void stays_bounded_on_hostile_lines(void **state)
{
    (void)state;
    enum { BYTES = 6000 };
    static const char *const pieces[] = { "$(",     "`",        "<(",       "\"$(",        "env ",
                                          "{ ",     "X=1;",     "a|",       "<<E ",        "${x:-",
                                          "eval '", "((",       "sh -c \"", "f(){ ",       "!",
                                          "xargs ", "export a", "\\",       "case x in a)" };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        char *code = malloc(BYTES + 64);
        size_t n = 0;
        while (n < BYTES) {
            memcpy(code + n, pieces[i], strlen(pieces[i]));
            n += strlen(pieces[i]);
        }
        code[n] = '\0';
        found("shell", code);
        free(code);
    }
}

static void data_is_a_number_where_a_test_before_admits_numbers_only(void **state)
{
    (void)state;
    static const struct shell_case cases[] = {
        { "read -r n; echo $((n + 1))", "data:arithmetic" },
        { "read -r n; [[ $n == +([0-9]) ]] || exit 1; echo $((n + 1))", "" },
        { "read -r n; [[ $n != +([0-9]) ]] && exit 1; echo $((n + 1))", "" },
        { "read -r n; [[ $n != +([0-9]) ]] || exit 1; echo $((n + 1))", "data:arithmetic" },
        { "read -r n; until [[ $n =~ ^[0-9]+$ ]]; do read -r n; done; echo $((n + 1))", "" },
        { "read -r n; while ! [[ $n =~ ^[0-9]+$ ]]; do read -r n; done; echo $((n + 1))", "" },
        { "until read -r n && [[ $n =~ ^[0-9]+$ ]]; do echo again; done; echo $((n + 1))", "" },
        { "read -r n; until [[ $n =~ ^[0-9]+$ ]]; do read -r n || break; done; echo $((n + 1))",
          "data:arithmetic" },
        { "read -r n; until [[ $n =~ ^[0-9]+$ ]]; do echo $((n)); read -r n; done",
          "data:arithmetic" },
        { "until [[ $n =~ ^[0-9]+$ ]]; do read -r n; done; read -r n; echo $((n + 1))",
          "data:arithmetic" },
        { "read -r n; until [[ $n =~ ^[0-9]+$ ]]; do read -r n; done & echo $((n + 1))",
          "data:arithmetic" },
        { "read -r n; if ! [[ $n =~ ^[0-9]+$ ]]; then exit 1; fi & echo $((n + 1))",
          "data:arithmetic" },
        { "read -r n; [[ $n =~ ^[0-9]+$ ]] || exit 1 & echo $((n + 1))", "data:arithmetic" },
        { "read -r n; echo $((10#$n))", "data:arithmetic" },
        { "read -r n; [[ $n =~ ^[0-9]+$ ]] || exit 1; echo $((10#$n))", "" },
    };
    check("shell", cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_command_word),
        cmocka_unit_test(what_hides_a_word_is_a_fact),
        cmocka_unit_test(follows_constant_variables),
        cmocka_unit_test(assignments_are_facts_when_they_change_what_words_mean),
        cmocka_unit_test(functions_of_the_text_are_judged),
        cmocka_unit_test(finds_the_command_in_a_command),
        cmocka_unit_test(code_for_interpreters_is_judged),
        cmocka_unit_test(code_on_standard_input_is_judged),
        cmocka_unit_test(redirections_stay_in_the_workspace),
        cmocka_unit_test(installs_are_found_in_every_wrapper),
        cmocka_unit_test(values_of_notebook_lines_are_unknown_words),
        cmocka_unit_test(stays_bounded_on_hostile_lines),
        cmocka_unit_test(data_is_a_number_where_a_test_before_admits_numbers_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
