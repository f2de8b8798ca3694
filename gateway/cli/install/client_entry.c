/* SPDX-License-Identifier: MIT
 * The entry in JSON, and functions for all formats. */
#include "gateway/cli/install/client_entry.h"

int cbx_client_entry_check(bool (*has)(const void *entry, const char *member), const void *entry,
                           const char *name, struct cbx_err *err)
{
    static const char *const places[] = { "url", "serverUrl", "httpUrl", "uri" };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (has(entry, places[i])) {
            return cbx_fail(err, CBX_EINVAL,
                            "the entry '%s' is of a server at a URL ('%s'); remove it first", name,
                            places[i]);
        }
    }
    return 0;
}

json_t *cbx_client_entry_whole(const struct cbx_client_entry *entry)
{
    json_t *whole = json_copy((json_t *)(uintptr_t)entry->members);
    if (entry->once != NULL) {
        json_object_update(whole, (json_t *)(uintptr_t)entry->once);
    }
    return whole;
}

static bool has_member(const void *entry, const char *member)
{
    return json_object_get(entry, member) != NULL;
}

/* Sets each member separately, so that the text between members stays. */
static int set_members(struct cbx_str text, const struct cbx_client_entry *entry,
                       enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) now;
    CBX_AUTO_DONE(buf) next;
    const char *key;
    json_t *value;
    cbx_buf_init(&now, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    cbx_buf_init(&next, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    cbx_buf_add(&now, text);
    *what = CBX_SPLICE_SAME;
    json_object_foreach((json_t *)(uintptr_t)entry->members, key, value)
    {
        const char *const path[] = { entry->section, entry->name, key };
        enum cbx_splice one;
        cbx_buf_reset(&next);
        int failed = cbx_json_splice(cbx_buf_str(&now), path, 3, value, &one, &next, err);
        if (failed) {
            return failed;
        }
        *what = one == CBX_SPLICE_SAME ? *what : CBX_SPLICE_REPLACED;
        cbx_buf_reset(&now);
        cbx_buf_add(&now, cbx_buf_str(&next));
    }
    return cbx_buf_add(out, cbx_buf_str(&now));
}

int cbx_client_entry_json(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    const char *const path[] = { entry->section, entry->name };
    CBX_AUTO_JSON json = NULL;
    int failed = cbx_json_splice_read(text, &json, err);
    if (failed) {
        return failed;
    }
    const json_t *before = json_object_get(json_object_get(json, entry->section), entry->name);
    if (!json_is_object(before)) {
        CBX_AUTO_JSON whole = cbx_client_entry_whole(entry);
        return cbx_json_splice(text, path, 2, whole, what, out, err);
    }
    failed = cbx_client_entry_check(has_member, before, entry->name, err);
    if (failed) {
        return failed;
    }
    return set_members(text, entry, what, out, err);
}
