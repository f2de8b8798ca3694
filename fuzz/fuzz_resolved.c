/* SPDX-License-Identifier: MIT
 * What a package manager resolved: what is accepted can be judged, shown and written, and none of its texts could be read as an option, a line
 * or a command. */
#include "analyzer/packages/resolved.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_text(struct cbx_str text)
{
    check(text.len == 0 || text.p[0] != '-');
    for (size_t i = 0; i < text.len; i++) {
        check(text.p[i] > ' ' && text.p[i] <= '~' && text.p[i] != '"' && text.p[i] != '\'');
    }
}

static void check_package(const struct cbx_resolved *set, size_t i)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    check_text(set->items[i].name);
    check_text(set->items[i].version);
    check_text(set->items[i].url);
    check_text(set->items[i].hash);
    check(set->items[i].by == CBX_RESOLVED_ASKED || set->items[i].by < set->count);
    cbx_resolved_add_chain(set, i, &text);
    check(text.len > 0);
}

static void judge(const struct cbx_resolved *set, const struct cbx_policy *policy)
{
    struct cbx_resolved_finding findings[16];
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    size_t count = cbx_resolved_judge(set, policy, findings, 16);
    check(count <= set->count * CBX_RESOLVED_FINDINGS_MAX);
    for (size_t i = 0; i < count && i < 16; i++) {
        cbx_resolved_add_finding(set, &findings[i], &text);
    }
    cbx_resolved_write(set, &text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cbx_policy *policy;
    if (policy == NULL) {
        check(cbx_policy_load("default", &policy, NULL) == 0);
    }
    for (int npm = 0; npm < 2; npm++) {
        CBX_AUTO_DONE(resolved) set = { 0 };
        struct cbx_str report = { .p = (const char *)data, .len = size };
        if (cbx_resolved_read(npm ? CBX_SPEC_NPM : CBX_SPEC_PIP, report, &set, NULL) != 0) {
            check(set.json == NULL && set.items == NULL && set.count == 0);
            continue;
        }
        for (size_t i = 0; i < set.count; i++) {
            check_package(&set, i);
        }
        judge(&set, policy);
    }
    return 0;
}
