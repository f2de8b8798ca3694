/* SPDX-License-Identifier: MIT
 * A hostile configuration file. Every problem has a text; what is accepted can be explained, and the
 * explanation is a file with the same settings. */
#include "gateway/cli/settings/cli_options.h"

#include <stdlib.h>

struct read {
    struct cbx_options options;
    struct cbx_problems problems;
};

static void read_text(struct cbx_str text, struct read *out)
{
    *out = (struct read){ 0 };
    cbx_arena_init(&out->options.arena, CBX_OPTIONS_ARENA_MAX);
    struct cbx_option_table table = cbx_cli_options_table('c');
    struct cbx_option_values values = { .into = &out->options,
                                        .arena = &out->options.arena,
                                        .origins = out->options.origins };
    cbx_settings_read_text(text, "f", &table, &values, out->options.sections, &out->problems);
}

static void explain(struct read *r, struct cbx_buf *out)
{
    struct cbx_option_table table = cbx_cli_options_table('c');
    struct cbx_option_values values = { .into = &r->options, .origins = r->options.origins };
    for (size_t i = 0; i < CBX_OPTION_ROWS; i++) {
        r->options.origins[i].line = 0; /* the lines of the explanation are others */
    }
    cbx_settings_explain(&table, &values, "f", r->options.sections, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct read first, second;
    read_text((struct cbx_str){ .p = (const char *)data, .len = size }, &first);
    for (size_t i = 0; i < first.problems.count; i++) {
        if (first.problems.items[i].text[0] == '\0') {
            abort();
        }
    }
    if (first.problems.count == 0) {
        CBX_AUTO_DONE(buf) one;
        CBX_AUTO_DONE(buf) two;
        cbx_buf_init(&one, 64 << 20);
        cbx_buf_init(&two, 64 << 20);
        memset(first.options.sections, 0, sizeof(first.options.sections));
        explain(&first, &one);
        read_text(cbx_buf_str(&one), &second);
        memset(second.options.sections, 0, sizeof(second.options.sections));
        explain(&second, &two);
        bool only_comments =
            second.problems.count == 1; /* which the file's reader takes for none */
        if (!only_comments && !cbx_str_equal(cbx_buf_str(&one), cbx_buf_str(&two))) {
            abort();
        }
        cbx_cli_options_done(&second.options);
    }
    cbx_cli_options_done(&first.options);
    return 0;
}
