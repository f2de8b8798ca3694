/* SPDX-License-Identifier: MIT
 * Words of installs, as each package manager reads them, and whole install lines. The parts lie in
 * the word, and parsing twice gives the same. */
#include "analyzer/analyze.h"
#include "analyzer/packages/known.h"
#include "analyzer/packages/spec.h"
#include "policies/versions/pinned.h"
#include "policies/versions/requirement.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static bool lies_in(struct cbx_str part, struct cbx_str word)
{
    return part.len == 0 || (part.p >= word.p && part.p + part.len <= word.p + word.len);
}

static void check_requirement(struct cbx_str word)
{
    struct cbx_requirement r, again;
    bool ok = cbx_requirement_parse(word, &r);
    check(cbx_requirement_parse(word, &again) == ok && cbx_str_equal(r.name, again.name));
    check(lies_in(r.name, word) && lies_in(r.extras, word) && lies_in(r.specifiers, word) &&
          lies_in(r.url, word) && lies_in(r.marker, word));
    check(!ok || r.name.len > 0);
    check(!ok || r.marker.p == NULL || cbx_marker_read(r.marker) != CBX_MARKER_MALFORMED);
    check(!r.never || cbx_marker_read(r.marker) == CBX_MARKER_NEVER);
}

static void check_pinned(struct cbx_str line)
{
    struct cbx_pinned p;
    if (!cbx_pinned_parse(line, &p)) {
        return;
    }
    check(lies_in(p.requirement, line) && lies_in(p.name, line) && lies_in(p.version, line));
    check(p.name.len > 0 && p.version.len > 0);
    struct cbx_str hashes = p.hashes;
    check(cbx_pinned_is_sha256(cbx_pinned_take_hash(&hashes)));
}

static void check_specs(struct cbx_str word)
{
    for (int kind = CBX_SPEC_PIP; kind <= CBX_SPEC_NPM; kind++) {
        struct cbx_spec s;
        cbx_spec_read((enum cbx_spec_kind)kind, word, &s);
        check(lies_in(s.name, word) && lies_in(s.version, word) && lies_in(s.channel, word));
        check(word.len == 0 || s.malformed || s.name.len > 0 || s.origin != CBX_FROM_INDEX);
        cbx_spec_below((enum cbx_spec_kind)kind, &s, CBX_STR("1.22.2"));
        struct cbx_str meant = cbx_known_meant(kind != CBX_SPEC_NPM, s.name);
        check(cbx_known_meant(kind != CBX_SPEC_NPM, meant).len == 0);
    }
}

static void check_line(struct cbx_str line)
{
    static struct cbx_policy *policy;
    struct cbx_err err;
    if (policy == NULL && cbx_policy_load("default", &policy, &err) != 0) {
        abort();
    }
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = line, .language = CBX_STR("shell") };
    struct cbx_decision decision;
    check(cbx_analyze(policy, &request, &arena, &decision, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str all = { .p = (const char *)data, .len = size }, rest = all;
    while (rest.len > 0) {
        const char *end = memchr(rest.p, '\n', rest.len);
        size_t n = end != NULL ? (size_t)(end - rest.p) : rest.len;
        check_requirement(cbx_str_sub(rest, 0, n));
        check_pinned(cbx_str_sub(rest, 0, n));
        check_specs(cbx_str_sub(rest, 0, n));
        rest = cbx_str_sub(rest, n + 1, rest.len);
    }
    check_line(all);
    return 0;
}
