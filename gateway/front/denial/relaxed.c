/* SPDX-License-Identifier: MIT
 * Warnings under log-only. */
#include "gateway/front/denial/relaxed.h"

#include "policies/base/text/printable.h"

enum { PART_BYTES = 256, LINE_BYTES = 8 * 1024 };

static void add_part(struct cbx_buf *out, const char *before, const json_t *finding,
                     const char *member)
{
    struct cbx_str text = cbx_json_str(json_object_get(finding, member));
    if (text.len > 0) {
        cbx_buf_add_cstr(out, before);
        cbx_printable_add(out, cbx_str_sub(text, 0, PART_BYTES), CBX_PRINTABLE_LINE);
    }
}

/* Packages are on no line of a source. */
static json_t *describe(const json_t *finding, bool packages)
{
    json_int_t at = json_integer_value(json_object_get(finding, "line"));
    struct cbx_str would = cbx_json_str(json_object_get(finding, "would"));
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, LINE_BYTES);
    if (!packages && at > 0) {
        cbx_buf_printf(&line, "line %lld: ", (long long)at);
    }
    add_part(&line, "", finding, "symbol");
    cbx_buf_printf(&line, " would %s", cbx_str_is(would, "ask") ? "need approval" : "be denied");
    add_part(&line, " by rule ", finding, "rule");
    add_part(&line, ": ", finding, "message");
    add_part(&line, " Hint: ", finding, "hint");
    return cbx_json_text(cbx_buf_str(&line));
}

json_t *cbx_relaxed_warnings(const json_t *decision)
{
    CBX_AUTO_JSON lines = json_array();
    bool packages = json_is_true(json_object_get(decision, "packages"));
    size_t i, count = 0;
    const json_t *finding;
    json_array_foreach(json_object_get(decision, "findings"), i, finding)
    {
        if (json_object_get(finding, "would") != NULL && count++ < CBX_RELAXED_WARNINGS_MAX) {
            json_array_append_new(lines, describe(finding, packages));
        }
    }
    if (count > CBX_RELAXED_WARNINGS_MAX) {
        json_array_append_new(
            lines, json_sprintf("and %zu more findings", count - CBX_RELAXED_WARNINGS_MAX));
    }
    return count > 0 ? json_incref(lines) : NULL;
}

void cbx_relaxed_warn(const json_t *decision, json_t *answer)
{
    json_t *lines = cbx_relaxed_warnings(decision);
    if (lines != NULL) {
        json_object_set_new(answer, "warnings", lines);
    }
}
