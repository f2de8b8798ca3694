/* SPDX-License-Identifier: MIT
 * Functions for tests of manifests: the findings and the pieces of a text under a name, as a
 * line. */
#ifndef CBX_TESTS_MANIFEST_RIG_H
#define CBX_TESTS_MANIFEST_RIG_H

#include "analyzer/analyze.h"
#include "analyzer/manifest/manifest.h"
#include "tests/unit/unit.h"

static struct cbx_policy *policy;
static struct cbx_arena arena;

static inline int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    return cbx_policy_load("default", &policy, &err);
}

static inline int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    cbx_arena_done(&arena);
    return 0;
}

/* Reads a file of this name. False, with the error appended, when it is refused. */
static inline bool read_manifest(const char *name, const char *text, struct cbx_manifest *manifest,
                                 struct cbx_buf *out)
{
    struct cbx_err err = { 0 };
    cbx_arena_reset(&arena);
    const struct cbx_manifest_reader *reader = cbx_manifest_reader_of(cbx_str_of(name));
    assert_non_null(reader);
    if (reader->read(cbx_str_of(text), &arena, manifest, &err) != 0) {
        cbx_buf_add_cstr(out, err.text);
        return false;
    }
    return true;
}

/* "rule line:column-column" of each finding, with "; " between them. */
static inline void judge(const char *name, const char *text, struct cbx_buf *out)
{
    struct cbx_manifest manifest;
    struct cbx_decision decision;
    struct cbx_err err = { 0 };
    if (!read_manifest(name, text, &manifest, out)) {
        return;
    }
    assert_int_equal(cbx_manifest_judge(policy, &manifest, 0, &arena, &decision, &err), 0);
    for (size_t i = 0; i < decision.finding_count; i++) {
        const struct cbx_finding *f = &decision.findings[i];
        cbx_buf_printf(out, "%s%.*s %u:%u-%u", i > 0 ? "; " : "", CBX_STR_ARG(f->rule->id),
                       f->span.line, f->span.column, f->span.end_column);
    }
}

/* "language<text>line:column" of each piece; the place is that of its last byte. */
static inline void take_apart(const char *name, const char *text, struct cbx_buf *out)
{
    struct cbx_manifest manifest;
    if (!read_manifest(name, text, &manifest, out)) {
        return;
    }
    for (size_t i = 0; i < manifest.piece_count; i++) {
        const struct cbx_manifest_piece *p = &manifest.pieces[i];
        struct cbx_span last = { .start_byte = (uint32_t)p->text.len - 1,
                                 .end_byte = (uint32_t)p->text.len };
        cbx_manifest_map(&manifest, p, &last);
        cbx_buf_printf(out, "%s<%.*s>%u:%u", p->language, CBX_STR_ARG(p->text), last.line,
                       last.column);
    }
}

struct expected {
    const char *text, *findings;
};

static inline void check_each(void (*show)(const char *name, const char *text, struct cbx_buf *out),
                              const char *name, const struct expected *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 65536);
        show(name, cases[i].text, &out);
        if (strcmp(out.p, cases[i].findings) != 0) {
            fail_msg("%s:\n%s\nfound:    %s\nexpected: %s", name, cases[i].text, out.p,
                     cases[i].findings);
        }
    }
}

/* Each text, in a file of this name, has these findings. */
static inline void check(const char *name, const struct expected *cases, size_t count)
{
    check_each(judge, name, cases, count);
}

/* Each text has these pieces. */
static inline void check_pieces(const char *name, const struct expected *cases, size_t count)
{
    check_each(take_apart, name, cases, count);
}

#endif
