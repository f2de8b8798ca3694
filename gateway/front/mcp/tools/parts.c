/* SPDX-License-Identifier: MIT
 * Parts of executions. */
#include "gateway/front/mcp/tools/parts.h"

#include "gateway/front/mcp/tools/clean.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/printable.h"

enum { TEXT_MAX = 256 * 1024 * 1024 };

static bool has_kind(const json_t *item, const char *kind)
{
    return cbx_str_is(cbx_json_str(json_object_get(item, "kind")), kind);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* The note about omitted output stands in each stream that has text: the count is of both
 * together. */
void cbx_part_stream(const json_t *execution, const char *stream, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) all;
    cbx_buf_init(&all, TEXT_MAX);
    size_t i;
    json_t *item;
    bool any = false;
    json_array_foreach(json_object_get(execution, "output"), i, item)
    {
        if (has_kind(item, stream)) {
            any = true;
            cbx_buf_add(&all, cbx_json_str(json_object_get(item, "text")));
        } else if (has_kind(item, "cut")) {
            cbx_buf_printf(&all, "\n[... %lld bytes of output are left out here ...]\n",
                           (long long)json_integer_value(json_object_get(item, "size")));
        }
    }
    if (any) {
        cbx_clean(out, cbx_buf_str(&all));
    }
}

/* The most informative text of a value: IPython's text for its own wrapper objects carries no
 * information. */
static struct cbx_str text_of_bundle(const json_t *data)
{
    static const char *const richer[] = { "text/markdown", "text/latex", "application/json",
                                          "image/svg+xml", "text/html" };
    struct cbx_str plain = cbx_json_str(json_object_get(data, "text/plain"));
    bool is_informative =
        plain.p != NULL && !cbx_str_starts(plain, CBX_STR("<IPython.core.display."));
    for (size_t i = 0; !is_informative && i < sizeof(richer) / sizeof(richer[0]); i++) {
        struct cbx_str text = cbx_json_str(json_object_get(data, richer[i]));
        if (text.p != NULL) {
            return text;
        }
    }
    return plain;
}

static const char *const pictures[][2] = { { "image/png", "PNG" },
                                           { "image/jpeg", "JPEG" },
                                           { "image/gif", "GIF" },
                                           { "image/webp", "WebP" } };
enum { PICTURES = sizeof(pictures) / sizeof(pictures[0]) };

const char *cbx_picture_name(const char *type)
{
    for (size_t i = 0; i < PICTURES; i++) {
        if (strcmp(type, pictures[i][0]) == 0) {
            return pictures[i][1];
        }
    }
    return NULL;
}

/* Finds the picture of a bundle, which is one object in several forms; false if it has none. */
static bool find_picture(const json_t *data, struct cbx_picture *out)
{
    for (size_t i = 0; i < PICTURES; i++) {
        struct cbx_str base64 = cbx_json_str(json_object_get(data, pictures[i][0]));
        if (base64.p != NULL) {
            *out = (struct cbx_picture){ pictures[i][0], pictures[i][1], base64 };
            return true;
        }
    }
    return false;
}

/* Returns the data of the next bundle from *at on; NULL after the last. */
static const json_t *next_bundle(const json_t *execution, size_t *at)
{
    const json_t *output = json_object_get(execution, "output");
    while (*at < json_array_size(output)) {
        const json_t *item = json_array_get(output, (*at)++);
        if (has_kind(item, "display") || has_kind(item, "result")) {
            return json_object_get(item, "data");
        }
    }
    return NULL;
}

void cbx_part_values(const json_t *execution, struct cbx_buf *out)
{
    struct cbx_picture picture;
    const json_t *data;
    for (size_t at = 0; (data = next_bundle(execution, &at)) != NULL;) {
        struct cbx_str text = text_of_bundle(data);
        if (find_picture(data, &picture)) {
            continue;
        }
        if (text.p != NULL) {
            cbx_clean(out, text);
            cbx_buf_add_char(out, '\n');
            continue;
        }
        const char *type = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)data));
        cbx_buf_add_cstr(out, "[a value of type ");
        cbx_printable_add(out, cbx_str_of(type != NULL ? type : "none"), CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(out, " cannot be shown here]\n");
    }
}

void cbx_part_traceback(const json_t *execution, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) raw;
    cbx_buf_init(&raw, TEXT_MAX);
    const json_t *error = json_object_get(execution, "error");
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(error, "traceback"), i, line)
    {
        cbx_buf_add(&raw, cbx_json_str(line));
        cbx_buf_add_char(&raw, '\n');
    }
    cbx_clean(out, cbx_buf_str(&raw));
}

int cbx_part_text(const json_t *execution, struct cbx_str part, struct cbx_resource *out)
{
    out->type = "text/plain";
    if (cbx_str_is(part, "stdout") || cbx_str_is(part, "stderr")) {
        cbx_part_stream(execution, cbx_str_is(part, "stdout") ? "stdout" : "stderr", &out->bytes);
    } else if (cbx_str_is(part, "result")) {
        cbx_part_values(execution, &out->bytes);
    } else if (cbx_str_is(part, "traceback")) {
        cbx_part_traceback(execution, &out->bytes);
    } else {
        return CBX_ENOTFOUND;
    }
    return 0;
}

/* --- pictures --------------------------------------------------------------------------------- */

bool cbx_part_picture_at(const json_t *execution, size_t number, struct cbx_picture *out)
{
    const json_t *data;
    for (size_t at = 0; (data = next_bundle(execution, &at)) != NULL;) {
        if (find_picture(data, out) && --number == 0) {
            return true;
        }
    }
    return false;
}

int cbx_part_picture(const json_t *execution, struct cbx_str number, struct cbx_resource *out)
{
    struct cbx_picture picture;
    char text[8];
    snprintf(text, sizeof(text), "%.*s", CBX_STR_ARG(cbx_str_sub(number, 0, 7)));
    unsigned long n = text[0] >= '1' && text[0] <= '9' ? strtoul(text, NULL, 10) : 0;
    if (n == 0 || !cbx_part_picture_at(execution, n, &picture)) {
        return CBX_ENOTFOUND;
    }
    out->type = picture.type;
    return cbx_base64_decode(picture.base64, &out->bytes) ? 0 : CBX_ENOTFOUND;
}
