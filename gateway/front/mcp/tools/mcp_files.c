/* SPDX-License-Identifier: MIT
 * sandbox_read_file and sandbox_write_file. */
#include "gateway/front/denial/relaxed.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/mcp/tools/clean.h"
#include "gateway/front/mcp/tools/content_internal.h"
#include "gateway/front/mcp/tools/parts.h"
#include "gateway/front/mcp/tools/tools_internal.h"
#include "gateway/front/service/service_files.h"
#include "gateway/front/uri.h"
#include "policies/base/text/base64.h"

enum { LENGTH = 30000, BASE64_BYTES = 20000, FILE_MAX = 32 * 1024 * 1024 };

/* --- reading ---------------------------------------------------------------------------------- */

/* Adds the position of the rest of the file, for both halves of the result. */
static void add_place(struct cbx_content *c, size_t from, size_t to, size_t size)
{
    json_object_set_new(c->structured, "offset", json_integer((json_int_t)from));
    json_object_set_new(c->structured, "size", json_integer((json_int_t)size));
    if (to < size) {
        json_object_set_new(c->structured, "next_offset", json_integer((json_int_t)to));
        cbx_buf_printf(&c->text, "%s[bytes %zu to %zu of %zu; offset %zu goes on]\n",
                       cbx_str_ends(cbx_buf_str(&c->text), CBX_STR("\n")) ? "" : "\n", from, to,
                       size, to);
    } else if (from > 0) {
        cbx_buf_printf(&c->text, "%s[bytes %zu to %zu, the end]\n",
                       cbx_str_ends(cbx_buf_str(&c->text), CBX_STR("\n")) ? "" : "\n", from, to);
    }
}

/* Makes a piece of a text, without the status before it: the text is the file. */
static json_t *show_text(struct cbx_str all, size_t from, size_t length)
{
    struct cbx_content c;
    size_t to = from, cost = 0;
    from = cbx_str_cut(all, from).len;
    for (to = from; to < all.len && to - from < length && cost < CBX_CONTENT_MAX - 500; to++) {
        cost += cbx_clean_cost(cbx_str_sub(all, to, to + 1));
    }
    to = cbx_str_cut(all, to).len;
    if (to == from && to < all.len) { /* one character at least */
        to++;
        while (to < all.len && cbx_utf8_continues(all.p[to])) {
            to++;
        }
    }
    cbx_content_init(&c, "ok");
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 8 * LENGTH);
    cbx_clean(&clean, cbx_str_sub(all, from, to));
    cbx_buf_add(&c.text, cbx_buf_str(&clean));
    cbx_content_set(&c, "text", cbx_buf_str(&clean));
    if (all.len == 0) {
        cbx_buf_add_cstr(&c.text, "[the file is empty]\n");
    }
    add_place(&c, from, to, all.len);
    return cbx_content_finish(&c, false);
}

static json_t *show_picture(const struct cbx_resource *r)
{
    struct cbx_content c;
    CBX_AUTO_DONE(buf) base64;
    cbx_buf_init(&base64, 2 * CBX_CONTENT_IMAGE_MAX);
    cbx_base64_encode(cbx_buf_str(&r->bytes), &base64);
    cbx_content_init(&c, "ok");
    cbx_buf_printf(&c.text, "[picture: %s, ", r->type);
    cbx_content_add_size(&c.text, r->bytes.len);
    cbx_buf_add_cstr(&c.text, "]\n");
    json_object_set_new(c.structured, "type", json_string(r->type));
    json_object_set_new(c.structured, "size", json_integer((json_int_t)r->bytes.len));
    json_array_append_new(c.blocks,
                          json_pack("{s:s,s:o,s:s}", "type", "image", "data",
                                    cbx_json_text(cbx_buf_str(&base64)), "mimeType", r->type));
    return cbx_content_finish(&c, false);
}

/* Makes a piece of a file that is no text, in Base64. */
static json_t *show_bytes(const struct cbx_resource *r, size_t from, size_t length)
{
    struct cbx_content c;
    CBX_AUTO_DONE(buf) base64;
    cbx_buf_init(&base64, 2 * BASE64_BYTES);
    size_t most = length < BASE64_BYTES ? length : BASE64_BYTES,
           to = r->bytes.len - from < most ? r->bytes.len : from + most;
    cbx_base64_encode(cbx_str_sub(cbx_buf_str(&r->bytes), from, to), &base64);
    cbx_content_init(&c, "ok");
    cbx_buf_printf(&c.text, "%s, %zu bytes, in Base64:\n%s\n", r->type, r->bytes.len, base64.p);
    json_object_set_new(c.structured, "type", json_string(r->type));
    cbx_content_set(&c, "base64", cbx_buf_str(&base64));
    add_place(&c, from, to, r->bytes.len);
    return cbx_content_finish(&c, false);
}

static bool is_picture(const struct cbx_resource *r)
{
    return cbx_picture_name(r->type) != NULL && r->bytes.len <= CBX_CONTENT_IMAGE_MAX;
}

/* Finds the URI of the arguments: a path is one of the session. */
static int find_uri(const struct cbx_tool_arguments *arguments, struct cbx_buf *out,
                    struct cbx_err *err)
{
    struct cbx_str path = arguments->path;
    static const char scheme[] = "://";
    if (memmem(path.p, path.len, scheme, strlen(scheme)) != NULL) {
        return cbx_buf_add(out, path);
    }
    if (arguments->session.len == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "'session' is missing: a path is one in a session's working directory; "
                        "without a session, path is a URI that an answer named");
    }
    path = cbx_str_starts(path, CBX_STR("/workspace/")) ? cbx_str_sub(path, 11, path.len) : path;
    cbx_buf_printf(out, "session://%.*s/files/", CBX_STR_ARG(arguments->session));
    cbx_uri_add(out, path);
    return 0;
}

json_t *cbx_tool_read_file(const struct cbx_tool_call *call,
                           const struct cbx_tool_arguments *arguments)
{
    struct cbx_err err = { 0 };
    char id[40];
    int64_t offset = 0, length = 0;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(resource) resource = { 0 };
    cbx_buf_init(&text, 4 * CBX_PATH_MAX + 128);
    if (find_uri(arguments, &text, &err) != 0) {
        return cbx_content_of_error(&err, NULL);
    }
    struct cbx_str uri = cbx_buf_str(&text);
    if (cbx_resource_range(&uri, &offset, &length, &err) != 0) {
        return cbx_content_of_error(&err, NULL);
    }
    if (cbx_resource_is_execution(uri, id)) {
        return cbx_tool_await(call, id);
    }
    if (cbx_resource_read(call->mcp, cbx_mcp_caller(call->peer), call->claims, uri, &resource,
                          &err) != 0) {
        return cbx_content_of_error(&err, NULL);
    }
    size_t from = (size_t)(arguments->offset > 0 ? arguments->offset : offset);
    size_t most = (size_t)(length > 0 ? length : LENGTH);
    if (arguments->length > 0) {
        most = (size_t)arguments->length;
    }
    from = from < resource.bytes.len ? from : resource.bytes.len;
    if (resource.is_text) {
        return show_text(cbx_buf_str(&resource.bytes), from, most);
    }
    if (is_picture(&resource)) {
        return show_picture(&resource);
    }
    return show_bytes(&resource, from, most);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Appends the bytes. CBX_EINVAL for malformed Base64 (RFC 4648, section 4; white space is
 * ignored). */
static int decode(struct cbx_str base64, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, base64.len + 1);
    for (size_t i = 0; i < base64.len; i++) {
        if (memchr(" \t\r\n", base64.p[i], 4) == NULL) {
            cbx_buf_add_char(&text, base64.p[i]);
        }
    }
    if (!cbx_base64_decode(cbx_buf_str(&text), out)) {
        return cbx_fail(err, CBX_EINVAL, "'base64' is no Base64");
    }
    return 0;
}

enum { SESSION_BYTES = 65 };

/* Reads the session, the path in the workspace and the bytes of a file that a call writes. */
static int read_written(const struct cbx_tool_arguments *arguments, char session[SESSION_BYTES],
                        struct cbx_buf *path, struct cbx_buf *bytes, struct cbx_err *err)
{
    struct cbx_str name = arguments->path;
    name = cbx_str_starts(name, CBX_STR("/workspace/")) ? cbx_str_sub(name, 11, name.len) : name;
    snprintf(session, SESSION_BYTES, "%.*s", CBX_STR_ARG(arguments->session));
    cbx_buf_add(path, name);
    if ((arguments->text.p == NULL) == (arguments->base64.p == NULL)) {
        return cbx_fail(err, CBX_EINVAL, "give one of 'text' and 'base64'");
    }
    if (path->len == 0 || strlen(path->p) != name.len ||
        strlen(session) != arguments->session.len) {
        return cbx_fail(err, CBX_EINVAL, "'path' and 'session' have characters, and no NUL");
    }
    if (arguments->text.p != NULL) {
        return cbx_buf_add(bytes, arguments->text);
    }
    return decode(arguments->base64, bytes, err);
}

json_t *cbx_tool_write_file(const struct cbx_tool_call *call,
                            const struct cbx_tool_arguments *arguments)
{
    struct cbx_err err = { 0 };
    char session[SESSION_BYTES];
    CBX_AUTO_DONE(buf) path;
    CBX_AUTO_DONE(outcome) denial = { 0 };
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, FILE_MAX);
    cbx_buf_init(&path, CBX_PATH_MAX);
    int failed = read_written(arguments, session, &path, &bytes, &err);
    if (!failed) {
        failed =
            cbx_service_put_file(call->mcp->service, cbx_mcp_caller(call->peer)->principal, session,
                                 path.p, cbx_buf_str(&bytes), "mcp", call->claims, &denial, &err);
    }
    if (failed) {
        return cbx_content_of_error(&err, NULL);
    }
    if (denial.verdict != CBX_ALLOW) {
        return cbx_content_of_denial(&denial, cbx_buf_str(&bytes),
                                     "A file cannot be approved, only a run. Change it, or ask the "
                                     "operator of this gateway.");
    }
    struct cbx_content c;
    CBX_AUTO_DONE(buf) uri;
    cbx_buf_init(&uri, 4 * CBX_PATH_MAX);
    cbx_buf_printf(&uri, "session://%s/files/", session);
    cbx_uri_add(&uri, cbx_buf_str(&path));
    cbx_content_init(&c, "ok");
    cbx_buf_printf(&c.text, "ok: %zu bytes are in %s, %s\n", bytes.len, path.p, uri.p);
    CBX_AUTO_JSON warnings = cbx_relaxed_warnings(denial.decision);
    cbx_content_add_warnings(&c, warnings);
    json_object_set_new(c.structured, "files",
                        json_pack("[{s:o,s:I,s:s,s:s}]", "path", cbx_json_text(cbx_buf_str(&path)),
                                  "size", (json_int_t)bytes.len, "type", cbx_media_type(path.p),
                                  "uri", uri.p));
    return cbx_content_finish(&c, false);
}
