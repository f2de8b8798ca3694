/* SPDX-License-Identifier: MIT
 * An excerpt of any source with places that any finding claims: four numbers of a byte each, then the source. What
 * comes out has the tags of the excerpt, <b>, <mark> and <i>, each closed, and no other; no character that cannot be seen. */
#include "gateway/front/page/excerpt.h"

#include <stdint.h>
#include <stdlib.h>

static bool begins(const char *at, const char *tag)
{
    return strncmp(at, tag, strlen(tag)) == 0;
}

/* The length of the tag at a '<'; *depth counts those that are open. */
static size_t read_tag(const char *at, int *depth)
{
    static const struct {
        const char *tag;
        int opens;
    } tags[] = { { "<b>", 1 },    { "<i>", 1 },      { "<i class=\"gap\">", 1 },
                 { "<mark>", 1 }, { "</mark>", -1 }, { "</b>", -1 },
                 { "</i>", -1 } };
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        if (begins(at, tags[i].tag)) {
            *depth += tags[i].opens;
            return strlen(tags[i].tag);
        }
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { NUMBERS = 4, OUT_MAX = 1 << 20 };
    if (size < NUMBERS) {
        return 0;
    }
    CBX_AUTO_JSON findings =
        json_pack("[{s:i,s:i,s:i,s:i}]", "line", (int8_t)data[0], "column", (int8_t)data[1],
                  "end_line", (int8_t)data[2], "end_column", (int8_t)data[3]);
    struct cbx_str source = { .p = (const char *)data + NUMBERS, .len = size - NUMBERS };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, OUT_MAX);
    cbx_excerpt_add(&out, source, findings);
    int depth = 0;
    for (size_t i = 0; i < out.len;) {
        unsigned char c = (unsigned char)out.p[i];
        i += c == '<' ? read_tag(out.p + i, &depth) : 1;
        if (depth < 0 || depth > 1 || c == '"' || (c < ' ' && c != '\n' && c != '\t')) {
            abort();
        }
    }
    if (out.overflow || depth != 0) {
        abort();
    }
    return 0;
}
