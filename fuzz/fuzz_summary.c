/* SPDX-License-Identifier: MIT
 * Cells behind summaries: the first byte selects the language, "\n#%%\n" separates cells. A cell
 * that is denied behind the text of the cells before it is denied behind their summaries. */
#include "analyzer/analyze.h"
#include "analyzer/past/past.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum cbx_verdict judge(const struct cbx_policy *policy, const struct cbx_entry *cell,
                              struct cbx_past *past, bool summarises)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cell->text,
                                    .language = cell->language,
                                    .past = past };
    struct cbx_decision decision;
    if (cbx_analyze(policy, &request, &arena, &decision, NULL) != 0) {
        abort();
    }
    if (decision.verdict == CBX_ALLOW) {
        cbx_past_add_cell_as(past, cell, summarises ? decision.summary : CBX_STR(""), &arena);
    }
    return decision.verdict;
}

/* What a worker reads back is what it wrote; other bytes deny. */
static void read_back(const struct cbx_past *past)
{
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_DONE(past) copy = { 0 };
    cbx_buf_init(&bytes, CBX_PAST_BYTES_MAX);
    cbx_past_write(past, &bytes);
    if (cbx_past_read(cbx_buf_str(&bytes), &copy, NULL) != 0 ||
        cbx_past_is_complete(&copy) != cbx_past_is_complete(past) ||
        !cbx_str_equal(cbx_buf_str(&copy.cells), cbx_buf_str(&past->cells))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const languages[] = { "ipython", "javascript", "typescript", "shell" };
    static struct cbx_policy *policy;
    struct cbx_err err;
    if ((policy == NULL && cbx_policy_load("default", &policy, &err) != 0) || size == 0) {
        return 0;
    }
    CBX_AUTO_DONE(past) whole;
    CBX_AUTO_DONE(past) summarised;
    cbx_past_begin(&whole, &(struct cbx_sha256){ 0 });
    cbx_past_begin(&summarised, &(struct cbx_sha256){ 0 });
    struct cbx_entry cell = { .kind = CBX_ENTRY_CELL,
                              .language = cbx_str_of(languages[data[0] % 4]) };
    struct cbx_str rest = { .p = (const char *)data + 1, .len = size - 1 };
    for (bool more = true; more;) {
        const char *end = rest.len > 0 ? memmem(rest.p, rest.len, "\n#%%\n", 5) : NULL;
        more = end != NULL;
        cell.text = cbx_str_sub(rest, 0, more ? (size_t)(end - rest.p) : rest.len);
        rest = more ? cbx_str_sub(rest, cell.text.len + 5, rest.len) : rest;
        enum cbx_verdict by_text = judge(policy, &cell, &whole, false);
        if (judge(policy, &cell, &summarised, true) > by_text) {
            abort();
        }
        if (by_text != CBX_ALLOW) {
            break; /* the two pasts may differ now */
        }
    }
    read_back(&summarised);
    CBX_AUTO_DONE(past) other = { 0 }; /* bytes that are none, mostly */
    cbx_past_read((struct cbx_str){ .p = (const char *)data, .len = size }, &other, NULL);
    judge(policy, &cell, &other, true);
    return 0;
}
