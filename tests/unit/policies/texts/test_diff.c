/* SPDX-License-Identifier: MIT
 * Differences between policies. */
#include "policies/texts/diff.h"
#include "tests/unit/unit.h"

struct told {
    size_t more, less;
    char texts[32][256];
    bool directions[32];
};

static void tell(void *context, const struct cbx_policy_difference *difference)
{
    struct told *told = context;
    size_t i = told->more + told->less;
    *(difference->more ? &told->more : &told->less) += 1;
    if (i < 32) {
        snprintf(told->texts[i], sizeof(told->texts[i]), "%.*s", CBX_STR_ARG(difference->text));
        told->directions[i] = difference->more;
    }
}

static struct told compare(const char *a, const char *b)
{
    struct told told = { 0 };
    CBX_AUTO(policy) first = NULL;
    CBX_AUTO(policy) second = NULL;
    struct cbx_err err = { 0 };
    if (cbx_policy_parse(cbx_str_of(a), "a", &first, &err) != 0 ||
        cbx_policy_parse(cbx_str_of(b), "b", &second, &err) != 0) {
        fail_msg("%s", err.text);
    }
    cbx_policy_diff(first, second, tell, &told);
    return told;
}

#define HEAD "version: 1\nname: x\nlanguages: [python]\n"

static void every_difference_is_reported_in_its_direction(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *text; /* b allows more */
    } cases[] = {
        { "rules: [{id: r, match: {import: os}}]", "", "rule r: what it finds is allowed" },
        { "rules: [{id: r, match: {import: os}}]",
          "rules: [{id: r, match: {import: os}, effect: warn}]", "warned of instead of denied" },
        { "rules: [{id: r, match: {import: [os, re]}}]", "rules: [{id: r, match: {import: os}}]",
          "rule r, import: re" },
        { "rules: [{id: r, match: {import: os}}]",
          "rules: [{id: r, match: {import: [os, \"!os.path\"]}}]", "all but os.path" },
        { "rules: [{id: r, match: {capability: [socket, ui]}}]",
          "rules: [{id: r, match: {capability: socket}}]", "rule r, capability: ui" },
        { "rules: [{id: r, match: {capability: file-write, outside: [/a]}}]",
          "rules: [{id: r, match: {capability: file-write, outside: [/a, /b]}}]",
          "rule r, outside: /b" },
        { "rules: [{id: r, match: {import: os}}]",
          "rules: [{id: r, match: {import: os}, guarded: start-process}]",
          "rule r: where the guard refuses start-process its denial is a warning" },
        { "", "shell: {allow: [git]}", "shell commands: git" },
        { "", "suppressions: {inline: true}", "suppressions in the source, for codebox-lint" },
        { "limits: {wall: 5s}", "limits: {wall: 10s}", "limit of time: 10 s instead of 5 s" },
        { "limits: {isolation: gvisor}", "limits: {wall: 60s}",
          "isolation container instead of gvisor" },
        { "packages: {pip: {mode: none}}", "packages: {pip: {mode: blocklist}}",
          "mode blocklist instead of none" },
        { "packages: {pip: {mode: allowlist, allow: [a]}}",
          "packages: {pip: {mode: allowlist, allow: [a, b]}}", "on the allow list: b" },
        { "packages: {pip: {mode: blocklist, block: [a]}}", "packages: {pip: {mode: blocklist}}",
          "on the block list: a" },
        { "packages: {pip: {mode: blocklist, minimum: {a: 2.0}}}",
          "packages: {pip: {mode: blocklist, minimum: {a: 1.10}}}", "from 1.10 on instead of 2.0" },
        { "packages: {pip: {mode: blocklist, minimum: {a: 2.0}}}",
          "packages: {pip: {mode: blocklist}}", "of any version" },
        { "", "mounts: {allow: [{host: /srv/a}]}", "mounts of: /srv/a" },
        { "mounts: {allow: [{host: /srv/a}]}", "mounts: {allow: [{host: /srv/a, mode: rw}]}",
          "mounts of: /srv/a for writing" },
        { "mounts: {deny: [/etc]}", "mounts: {deny: []}", "never mounted: /etc" },
        { "network: none", "network: {egress: [example.org]}", "network egress instead of none" },
        { "", "mode: log-only", "mode log-only instead of enforce" },
        { "", "environment: {pass: [TZ]}", "variables passed in: TZ" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char a[512], b[512];
        snprintf(a, sizeof(a), HEAD "%s\n", cases[i].a);
        snprintf(b, sizeof(b), HEAD "%s\n", cases[i].b);
        struct told told = compare(a, b), back = compare(b, a);
        bool found = false;
        for (size_t k = 0; k < told.more + told.less && k < 32; k++) {
            found |= told.directions[k] && strstr(told.texts[k], cases[i].text) != NULL;
        }
        if (!found || told.less != 0 || back.more != 0 || back.less != told.more) {
            fail_msg("%s / %s: %zu more, %zu less, first '%s'", cases[i].a, cases[i].b, told.more,
                     told.less, told.texts[0]);
        }
    }
}

static void texts_for_readers_are_no_difference(void **state)
{
    (void)state;
    struct told told =
        compare(HEAD "description: a\nrules: [{id: r, match: {import: os}, message: a}]\n",
                HEAD "rules: [{id: r, match: {import: os}, hint: b, severity: low, tests: {deny: "
                     "[\"import os\"]}}]\n");
    assert_int_equal(told.more + told.less, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_difference_is_reported_in_its_direction),
        cmocka_unit_test(texts_for_readers_are_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
