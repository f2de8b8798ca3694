/* SPDX-License-Identifier: MIT
 * Every row of redact_forms.def: a text that it finds, and that nothing finds without it. */
#include "gateway/executor/redact/redact.h"

#include "tests/unit/unit.h"

#include <string.h>

/* A secret of 60 bytes, so that base64, base32 and base 85 need no padding, also for its UTF-16. It
 * has letters of both cases, digits, and characters whose numbers have two digits. */
#define SECRET "sk-Proj_A8fjK29dkf+LQpz/71XyTw~Gv5Nb%h3Mc0Rs4UeIaOHlBW6tDZxE"

struct row {
    const char *kind, *name;
};

static const struct row rows[] = {
#define CBX_BEFORE(name)                            { "BEFORE", #name },
#define CBX_RADIX(name, bits, view, alphabet)       { "RADIX", name },
#define CBX_BYTES(name, view, prefix, base, digits) { "BYTES", name },
#define CBX_COUNTED(name, view, first)              { "COUNTED", name },
#include "gateway/executor/redact/redact_forms.def"
#undef CBX_BEFORE
#undef CBX_RADIX
#undef CBX_BYTES
#undef CBX_COUNTED
};

static const struct {
    struct row row;
    bool is_long;
    struct cbx_str text;
} samples[] = {
#define CBX_SAMPLE(kind, name, text) { { #kind, name }, false, CBX_STR(text) },
#define CBX_LONG(kind, name, text)   { { #kind, name }, true, CBX_STR(text) },
#define CBX_LONG_SECRET(text)
#include "tests/unit/gateway/executor/redact/redact_samples.def"
#undef CBX_SAMPLE
#undef CBX_LONG
#undef CBX_LONG_SECRET
};
static const char long_secret[] =
#define CBX_SAMPLE(kind, name, text)
#define CBX_LONG(kind, name, text)
#define CBX_LONG_SECRET(text) text
#include "tests/unit/gateway/executor/redact/redact_samples.def"
#undef CBX_SAMPLE
#undef CBX_LONG
#undef CBX_LONG_SECRET
    ;
enum { ROWS = sizeof(rows) / sizeof(rows[0]), SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static bool is_same(const struct row *a, const struct row *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0;
}

static void every_row_has_one_text_and_every_text_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        size_t found = 0;
        for (size_t k = 0; k < SAMPLES; k++) {
            found += is_same(&rows[i], &samples[k].row);
        }
        if (found != 1) {
            fail_msg("the row %s '%s' has %zu texts in redact_samples.def", rows[i].kind,
                     rows[i].name, found);
        }
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        bool found = false;
        for (size_t i = 0; i < ROWS; i++) {
            found = found || is_same(&rows[i], &samples[k].row);
        }
        if (!found) {
            fail_msg("redact_forms.def has no row %s '%s'", samples[k].row.kind,
                     samples[k].row.name);
        }
    }
}

/* Replaced as one piece: other rows find parts of some texts. */
static void assert_whole(const struct cbx_redactor *redactor, const struct row *row,
                         struct cbx_str text)
{
    CBX_AUTO_DONE(buf) in;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&in, 1 << 20);
    cbx_buf_init(&out, 1 << 20);
    cbx_buf_add_cstr(&in, "the value ");
    cbx_buf_add(&in, text);
    cbx_buf_add_cstr(&in, " was read\n");
    CBX_AUTO(redact_stream) stream = cbx_redact_stream_new(redactor);
    cbx_redact_feed(stream, cbx_buf_str(&in), &out);
    cbx_redact_flush(stream, &out);
    if (strcmp(out.p, "the value [secret KEY] was read\n") != 0) {
        fail_msg("%s '%s': %s", row->kind, row->name, out.p);
    }
}

static void each_row_finds_its_text_whole(void **state)
{
    (void)state;
    const struct cbx_redact_secret secret = { .name = CBX_STR("KEY"), .value = CBX_STR(SECRET) },
                                   large = { .name = CBX_STR("KEY"),
                                             .value = cbx_str_of(long_secret) };
    CBX_AUTO(redactor) redactor = cbx_redactor_new(&secret, 1);
    CBX_AUTO(redactor) of_large = cbx_redactor_new(&large, 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        assert_whole(samples[i].is_long ? of_large : redactor, &samples[i].row, samples[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_one_text_and_every_text_a_row),
        cmocka_unit_test(each_row_finds_its_text_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
