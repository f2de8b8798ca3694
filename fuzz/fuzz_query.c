/* SPDX-License-Identifier: MIT
 * The query of a target, as any client sends it, read by a table of fields. What is read is within
 * the bounds of its field, without NUL; what is refused gives nothing. */
#include "gateway/front/rest/query.h"

#include <stdint.h>
#include <stdlib.h>

struct query {
    int64_t limit;
    struct cbx_str cursor;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cbx_json_field fields[] = {
        { "limit", CBX_JSON_INT, offsetof(struct query, limit), false, false, 1, 1000 },
        { "cursor", CBX_JSON_STR, offsetof(struct query, cursor), false, false, 1, 64 },
    };
    struct query query = { .limit = 1 };
    struct cbx_err err;
    CBX_AUTO_JSON json = NULL;
    struct cbx_str text = { .p = (const char *)data, .len = size };
    int failed = cbx_query_read(text, fields, 2, &query, &json, &err);
    if ((failed != 0) != (json == NULL)) {
        abort();
    }
    if (failed) {
        return 0;
    }
    struct cbx_str cursor = query.cursor;
    if (query.limit < 1 || query.limit > 1000 || cursor.len > 64 || json_object_size(json) > 2 ||
        (cursor.len > 0 && memchr(cursor.p, '\0', cursor.len) != NULL)) {
        abort();
    }
    return 0;
}
