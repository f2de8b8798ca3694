/* SPDX-License-Identifier: MIT
 * Malformed policies: each is refused with the right place and a helpful message. */
#include "policies/base/buf.h"
#include "policies/policy.h"
#include "tests/unit/unit.h"

#define HEAD "version: 1\nname: x\n"

static void reports_the_fault_and_its_place(void **state)
{
    (void)state;
    int wrong = 0;
    static const struct {
        const char *text;
        int code;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        /* the file */
        { "", CBX_EPOLICY, 1, 1, "the file is empty" },
        { "# nothing\n", CBX_EPOLICY, 1, 1, "the file is empty" },
        { "just text\n", CBX_EPOLICY, 1, 1, "is a text, allowed is a mapping" },
        { "- version: 1\n", CBX_EPOLICY, 1, 1, "is a list, allowed is a mapping" },
        { HEAD "---\nversion: 1\n", CBX_EPOLICY, 3, 1, "one document" },
        { "version: 1\n\tname: x\n", CBX_EPOLICY, 2, 1, "not valid YAML" },
        { HEAD "languages: [python\n", CBX_EPOLICY, 4, 1, "not valid YAML" },
        { HEAD "description: \"a\n", CBX_EPOLICY, 4, 1, "not valid YAML" },
        { HEAD "description: \"\\0\"\n", CBX_EPOLICY, 3, 14, "NUL" },
        { "version: 1\nname: x\ndescription: caf\xE9\n", CBX_EPOLICY, 3, 17, "not UTF-8" },
        { HEAD "description: \"\x01\"\n", CBX_EPOLICY, 3, 15, "not valid YAML" },
        { HEAD "description: !!str x\n", CBX_EPOLICY, 3, 14, "tags" },
        { HEAD "languages: !set [python]\n", CBX_EPOLICY, 3, 12, "tags" },
        { HEAD "? [a]\n: b\n", CBX_EPOLICY, 3, 3, "a key must be a plain name" },
        { HEAD "name: y\n", CBX_EPOLICY, 3, 1, "key 'name' stands here twice" },
        { HEAD "limits: {wall: 1s, \"wall\": 2s}\n", CBX_EPOLICY, 3, 20,
          "key 'wall' stands here twice" },
        { HEAD "description: *nobody\n", CBX_EPOLICY, 3, 14, "without its anchor" },
        { HEAD "languages: &a [*a]\n", CBX_EPOLICY, 3, 16, "refers to what it stands in" },
        { HEAD "languages: [[[[[[[[[[[[[[[[[[python]]]]]]]]]]]]]]]]]]\n", CBX_ETOOBIG, 3, 27,
          "nested deeper than 16" },
        /* keys and values */
        { "name: x\n", CBX_EPOLICY, 1, 1, "'version: 1' is missing" },
        { "version: 1\n", CBX_EPOLICY, 1, 1, "'name: ...' is missing" },
        { "version: 2\nname: x\n", CBX_EPOLICY, 1, 10, "key 'version' is 2, allowed is 1" },
        { "version: one\nname: x\n", CBX_EPOLICY, 1, 10,
          "key 'version' is 'one', allowed is a whole number" },
        { "version: 1\nname: a b\n", CBX_EPOLICY, 2, 7, "allowed is letters, digits" },
        { "version: 1\nname: \"\"\n", CBX_EPOLICY, 2, 7, "has 0 bytes, allowed 1..64" },
        { "version: 1\nname: [x]\n", CBX_EPOLICY, 2, 7, "is a list, allowed is a text" },
        { HEAD "rule:\n  - id: a\n", CBX_EPOLICY, 3, 1,
          "unknown key 'rule', did you mean 'rules'" },
        { HEAD "extend: [default]\n", CBX_EPOLICY, 3, 1, "did you mean 'extends'" },
        { HEAD "sandboxing: off\n", CBX_EPOLICY, 3, 1,
          "unknown key 'sandboxing', allowed here are: version, name" },
        { HEAD "languages: []\n", CBX_EPOLICY, 3, 12, "key 'languages' is a list" },
        { HEAD "languages: [pyton]\n", CBX_EPOLICY, 3, 13, "did you mean 'python'" },
        { HEAD "languages: {python: true}\n", CBX_EPOLICY, 3, 12, "allowed is python" },
        { HEAD "mode: off\n", CBX_EPOLICY, 3, 7, "allowed is enforce or log-only" },
        { HEAD "rules: {id: a}\n", CBX_EPOLICY, 3, 8, "allowed is a list" },
        { HEAD "rules: [x]\n", CBX_EPOLICY, 3, 9, "is a text, allowed is a mapping" },
        { HEAD "rules:\n  - match: {import: os}\n", CBX_EPOLICY, 4, 5, "a rule without 'id'" },
        { HEAD "rules:\n  - id: a\n", CBX_EPOLICY, 4, 5, "rule 'a' has no 'match'" },
        { HEAD "rules:\n  - id: a\n    match: {}\n", CBX_EPOLICY, 4, 5, "rule 'a' has no 'match'" },
        { HEAD "rules:\n  - id: a\n    match: {import: []}\n", CBX_EPOLICY, 5, 21,
          "key 'import' is 0 items, allowed 1..1024" },
        { HEAD "rules:\n  - id: a\n    match: {call: []}\n", CBX_EPOLICY, 5, 19,
          "key 'call' is 0 items" },
        { HEAD "rules:\n  - id: a\n    match: {fact: []}\n", CBX_EPOLICY, 5, 19, "key 'fact'" },
        { HEAD "rules:\n  - id: a\n    match: {fact: dynamic-cod}\n", CBX_EPOLICY, 5, 19,
          "did you mean 'dynamic-code'" },
        { HEAD "rules:\n  - id: a\n    match: {capability: []}\n", CBX_EPOLICY, 5, 25,
          "key 'capability'" },
        { HEAD "rules:\n  - id: a\n    match: {capability: start-proces}\n", CBX_EPOLICY, 5, 25,
          "did you mean 'start-process'" },
        { HEAD "rules:\n  - id: a\n    match: {import: os}\n    effect: dney\n", CBX_EPOLICY, 6, 13,
          "did you mean 'deny'" },
        { HEAD "rules:\n  - id: a\n    match: {import: os}\n    effect: Deny\n", CBX_EPOLICY, 6, 13,
          "did you mean 'deny'" },
        { HEAD "rules:\n  - id: a\n    match: {import: os}\n    effect: block\n", CBX_EPOLICY, 6,
          13, "allowed is deny, ask, warn or allow" },
        { HEAD "rules:\n  - id: a\n    match: {import: os}\n  - id: a\n    match: {import: re}\n",
          CBX_EPOLICY, 6, 5, "rule 'a' stands here twice" },
        { HEAD "rules:\n  - id: a\n    match: {call: [{where: [{arg: 0, present: true}]}]}\n",
          CBX_EPOLICY, 4, 5, "call without 'name'" },
        { HEAD "rules:\n  - id: a\n    match: {call: [{name: f, where: [{matches: x}]}]}\n",
          CBX_EPOLICY, 4, 5, "without 'arg'" },
        { HEAD "rules:\n  - id: a\n    match: {call: [{name: f, where: [{arg: 0}]}]}\n",
          CBX_EPOLICY, 4, 5, "tests nothing" },
        { HEAD
          "rules:\n  - id: a\n    match: {call: [{name: f, where: [{arg: 0, present: yes}]}]}\n",
          CBX_EPOLICY, 5, 56, "allowed is false or true" },
        { HEAD "limits: {wall: 60}\n", CBX_EPOLICY, 3, 16,
          "key 'wall' is '60', allowed is a duration such as" },
        { HEAD "limits: {wall: 2 days}\n", CBX_EPOLICY, 3, 16, "allowed is a duration" },
        { HEAD "limits: {wall: 48h}\n", CBX_EPOLICY, 3, 16,
          "key 'wall' is 172800000 ms, allowed 10..86400000" },
        { HEAD "limits: {wall: 999999999999999h}\n", CBX_EPOLICY, 3, 16, "key 'wall'" },
        { HEAD "limits: {wall: -1s}\n", CBX_EPOLICY, 3, 16, "allowed is a duration" },
        { HEAD "limits: {memory: 1KiB}\n", CBX_EPOLICY, 3, 18,
          "key 'memory' is 1024 bytes, allowed 33554432.." },
        { HEAD "limits: {memory: 1GB}\n", CBX_EPOLICY, 3, 18, "allowed is a size such as" },
        { HEAD "limits: {pids: 64.5}\n", CBX_EPOLICY, 3, 16, "allowed is a whole number" },
        { HEAD "limits: {pids: 0}\n", CBX_EPOLICY, 3, 16, "key 'pids' is 0, allowed 8..32768" },
        { HEAD "limits: {cpu: 0.0001}\n", CBX_EPOLICY, 3, 15, "number of processors" },
        { HEAD "network: internet\n", CBX_EPOLICY, 3, 10, "allowed is none or packages-only" },
        { HEAD "network: {mode: egress}\n", CBX_EPOLICY, 3, 10, "needs 'egress: [hosts]'" },
        { HEAD "packages: {pip: {minimum: [numpy]}}\n", CBX_EPOLICY, 3, 27,
          "a mapping of package to version" },
        { HEAD "packages: {pip: {minimum: {numpy: [1]}}}\n", CBX_EPOLICY, 3, 35,
          "a version such as" },
        { HEAD "packages: {pip: {sources: [pypi]}}\n", CBX_EPOLICY, 3, 28,
          "allowed is index, url, vcs, path or requirements" },
        { HEAD "mounts: {allow: [{host: srv/data}]}\n", CBX_EPOLICY, 3, 9,
          "no absolute 'host' path" },
        { HEAD "mounts: {allow: [{host: /srv, mode: rwx}]}\n", CBX_EPOLICY, 3, 37,
          "did you mean 'rw'" },
        { HEAD "exceptions: [{rule: a, principal: p, until: 2027-02-30, reason: r}]\n", CBX_EPOLICY,
          3, 45, "a date, YYYY-MM-DD" },
        { HEAD "exceptions: [{rule: a, principal: p, until: 2027-1-3, reason: r}]\n", CBX_EPOLICY,
          3, 45, "a date, YYYY-MM-DD" },
        { HEAD "exceptions: [{rule: a, principal: p, until: 2027-01-31}]\n", CBX_EPOLICY, 3, 14,
          "this exception has no 'reason'" },
        /* extending */
        { HEAD "extends: []\n", CBX_EPOLICY, 3, 10, "key 'extends' is 0 items" },
        { HEAD "extends: [defualt]\n", CBX_ENOTFOUND, 0, 0,
          "no policy is called 'defualt', did you mean 'default'; presets are default" },
        { HEAD "extends: [./other.yaml]\n", CBX_EPOLICY, 0, 0, "extends only presets" },
        { HEAD "extends: [default]\nrules:\n  - id: py.no-such-rule\n    effect: deny\n",
          CBX_EPOLICY, 5, 5, "no rule of that id is extended" },
        { HEAD "extends: [default]\nrules:\n  - {id: py.process, effect: warn}\n", CBX_EPOLICY, 5,
          5, "rule 'py.process' has a laxer effect" },
        { HEAD "extends: [default]\nrules:\n  - {id: py.process, match: {import: nothing}}\n",
          CBX_EPOLICY, 5, 5, "rule 'py.process' matches something else" },
        { HEAD "extends: [default]\nrules:\n  - {id: py.process, languages: [javascript]}\n",
          CBX_EPOLICY, 5, 5, "rule 'py.process' matches something else" },
        { HEAD "extends: [default]\nlimits: {wall: 24h}\n", CBX_EPOLICY, 4, 9,
          "limit 'wall' is wider" },
        { HEAD "extends: [default]\nshell: {allow: [curl]}\n", CBX_EPOLICY, 4, 8,
          "more shell commands are allowed" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        int code = cbx_policy_parse(cbx_str_of(cases[i].text), "mine", &policy, &err);
        if (code != cases[i].code || err.line != cases[i].line || err.column != cases[i].column ||
            strstr(err.text, cases[i].message) == NULL) {
            print_error("%zu: %d at %u:%u, '%s', expected %d at %u:%u, '%s', for:\n%s\n", i, code,
                        err.line, err.column, err.text, cases[i].code, cases[i].line,
                        cases[i].column, cases[i].message, cases[i].text);
            wrong++;
        }
        assert_null(policy);
        assert_non_null(strstr(err.text, "policy 'mine': "));
    }
    assert_int_equal(wrong, 0);
}

static int parse(const struct cbx_buf *text, struct cbx_err *err)
{
    CBX_AUTO(policy) policy = NULL;
    return cbx_policy_parse(cbx_buf_str(text), "mine", &policy, err);
}

static void refuses_alias_bombs(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4096);
    cbx_buf_add_cstr(&text, HEAD "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 9; i++) {
        cbx_buf_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) {
            cbx_buf_printf(&text, "%s*a%d", k > 0 ? ", " : "", i - 1);
        }
        cbx_buf_add_cstr(&text, "]\n");
    }
    struct cbx_err err = { 0 };
    assert_int_equal(parse(&text, &err), CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "aliases expand to more than 200000 nodes"));
}

static void refuses_too_many_aliases_and_anchors(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 65536);
    cbx_buf_add_cstr(&text, HEAD "shell: {allow: [&a ls");
    for (int i = 0; i < 257; i++) {
        cbx_buf_add_cstr(&text, ", *a");
    }
    cbx_buf_add_cstr(&text, "]}\n");
    struct cbx_err err = { 0 };
    assert_int_equal(parse(&text, &err), CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "more than 256 aliases"));
    assert_int_equal(err.line, 3);
    cbx_buf_reset(&text);
    cbx_buf_add_cstr(&text, HEAD "shell: {allow: [ls");
    for (int i = 0; i < 65; i++) {
        cbx_buf_printf(&text, ", &a%d x", i);
    }
    cbx_buf_add_cstr(&text, "]}\n");
    assert_int_equal(parse(&text, &err), CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "more than 64 anchors"));
}

static void caps_the_size_of_a_file(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_POLICY_FILE_MAX + 1);
    cbx_buf_add_cstr(&text, HEAD "#");
    while (text.len < CBX_POLICY_FILE_MAX) {
        cbx_buf_add_char(&text, 'x');
    }
    struct cbx_err err = { 0 };
    assert_int_equal(parse(&text, &err), 0);
    cbx_buf_add_char(&text, 'x');
    assert_int_equal(parse(&text, &err), CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "1048577 bytes, allowed are 1048576"));
}

static void refuses_a_mapping_of_a_hundred_thousand_keys(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_POLICY_FILE_MAX);
    cbx_buf_add_cstr(&text, HEAD "packages: {pip: {minimum: {");
    for (int i = 0; i < 99000; i++) {
        cbx_buf_printf(&text, "%x: 1,", i);
    }
    cbx_buf_add_cstr(&text, "}}}\n");
    assert_false(text.overflow);
    struct cbx_err err = { 0 };
    assert_int_equal(parse(&text, &err), CBX_ETOOBIG);
}

static void prints_hostile_texts_as_one_printable_line(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policy_parse(CBX_STR(HEAD "\"a\\e[31m\\nb\": 1\n"), "mine", &policy, &err),
                     CBX_EPOLICY);
    assert_non_null(strstr(err.text, "unknown key 'a?[31m?b'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_the_fault_and_its_place),
        cmocka_unit_test(refuses_alias_bombs),
        cmocka_unit_test(refuses_too_many_aliases_and_anchors),
        cmocka_unit_test(caps_the_size_of_a_file),
        cmocka_unit_test(refuses_a_mapping_of_a_hundred_thousand_keys),
        cmocka_unit_test(prints_hostile_texts_as_one_printable_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
