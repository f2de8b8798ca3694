/* SPDX-License-Identifier: MIT
 * Resources. */
#include "gateway/front/mcp/resources.h"

#include "docker/kernel_names.h"
#include "gateway/front/dialect.h"
#include "gateway/front/image_contents.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/mcp/tools/parts.h"
#include "gateway/front/service/dependencies.h"
#include "gateway/front/service/service_files.h"
#include "gateway/front/service/service_sessions.h"
#include "gateway/front/uri.h"
#include "policies/base/text/base64.h"
#include "policies/language.h"

enum { BYTES_MAX = 256 * 1024 * 1024 };

void cbx_resource_done(struct cbx_resource *resource)
{
    cbx_buf_done(&resource->bytes);
    *resource = (struct cbx_resource){ 0 };
}

static int set_json(struct cbx_resource *out, json_t *json)
{
    out->type = "application/json";
    cbx_json_write(&out->bytes, json);
    json_decref(json);
    return 0;
}

/* --- what the server knows about itself ------------------------------------------------------- */

/* A server without a flow (a test) has the full images. */
static bool has_small_images(const struct cbx_mcp *mcp)
{
    return mcp->service != NULL && mcp->service->flow->small_images;
}

static json_t *libraries_of(const struct cbx_mcp *mcp, const char *language)
{
    json_t *list = json_array();
    const char *name;
    for (size_t i = 0; (name = cbx_highlight_at(language, has_small_images(mcp), i)) != NULL; i++) {
        json_array_append_new(list, json_string(name));
    }
    return list;
}

/* Returns {name, version} of the runtime; null without a row. */
static json_t *runtime_of(const char *language)
{
    const struct cbx_runtime *runtime = cbx_runtime_of(language);
    return runtime != NULL
               ? json_pack("{s:s,s:s}", "name", runtime->program, "version", runtime->version)
               : json_null();
}

static int resource_environments(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                                 struct cbx_resource *out, struct cbx_err *err)
{
    (void)caller;
    (void)err;
    json_t *all = json_object();
    const char *name;
    for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
        const struct cbx_language_row *row = cbx_language_find(cbx_str_of(name));
        char image[CBX_IMAGE_NAME_BYTES];
        cbx_image_variant(row->kernel, has_small_images(mcp) ? CBX_VARIANT_SMALL : NULL, image);
        json_object_set_new(all, name,
                            json_pack("{s:o,s:o,s:s}", "image", json_sprintf("codebox-%s", image),
                                      "installed_libraries", libraries_of(mcp, name),
                                      "all_libraries", CBX_LIBRARIES_URI));
    }
    return set_json(out, all);
}

static int resource_languages(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                              struct cbx_resource *out, struct cbx_err *err)
{
    (void)caller;
    (void)err;
    json_t *list = json_array();
    const char *name;
    for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
        const struct cbx_language_row *row = cbx_language_find(cbx_str_of(name));
        json_t *aliases = json_array();
        for (size_t k = 0; row->aliases[k] != NULL; k++) {
            json_array_append_new(aliases, json_string(row->aliases[k]));
        }
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:o,s:o,s:o,s:s}", "name", name, "title", row->display,
                            "aliases", aliases, "runtime", runtime_of(name), "libraries",
                            libraries_of(mcp, name), "all_libraries", CBX_LIBRARIES_URI));
    }
    return set_json(out, json_pack("{s:o}", "languages", list));
}

/* Languages of the same image have one paragraph each: callers search for their language. */
static int resource_libraries(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                              struct cbx_resource *out, struct cbx_err *err)
{
    const struct cbx_policy *policy = cbx_mcp_policy(mcp, caller, err);
    if (policy == NULL) {
        return err->code;
    }
    const char *name;
    out->type = "text/plain";
    for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
        CBX_AUTO_DONE(contents) contents = { 0 };
        int failed =
            cbx_contents_ask(mcp->service->flow, cbx_str_of(name), policy->name, &contents, err);
        if (failed) {
            return failed;
        }
        cbx_buf_printf(&out->bytes, "%s%s (%.*s %.*s): ", i > 0 ? "\n" : "", name,
                       CBX_STR_ARG(contents.runtime), CBX_STR_ARG(contents.runtime_version));
        for (size_t k = 0; k < contents.count; k++) {
            cbx_buf_add_cstr(&out->bytes, k > 0 ? ", " : "");
            cbx_image_package_add(&contents.packages[k], &out->bytes);
        }
        cbx_buf_add_cstr(&out->bytes, "\n");
    }
    return 0;
}

static int resource_policy(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                           struct cbx_resource *out, struct cbx_err *err)
{
    const struct cbx_policy *policy = cbx_mcp_policy(mcp, caller, err);
    if (policy == NULL) {
        return err->code;
    }
    out->type = "text/plain";
    cbx_mcp_describe_policy(policy, NULL, has_small_images(mcp), &out->bytes);
    return 0;
}

static int resource_sessions(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                             struct cbx_resource *out, struct cbx_err *err)
{
    json_t *list;
    int failed = cbx_service_list_sessions(mcp->service, caller->principal, &list, NULL, err);
    if (failed) {
        return failed;
    }
    return set_json(out, json_pack("{s:o}", "sessions", list));
}

static const struct fixed {
    const char *uri, *name, *title, *type, *description;
    int (*read)(struct cbx_mcp *, const struct cbx_caller *, struct cbx_resource *,
                struct cbx_err *); /* NULL: a template */
} fixed[] = {
#define CBX_RESOURCE(uri, name, title, type, function, description)                                \
    { uri, name, title, type, description, resource_##function },
#define CBX_TEMPLATE(uri, name, title, type, description)                                          \
    { uri, name, title, type, description, NULL },
#include "gateway/front/mcp/resources.def"
#undef CBX_RESOURCE
#undef CBX_TEMPLATE
};
enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static json_t *list(bool templates)
{
    json_t *all = json_array();
    for (size_t i = 0; i < FIXED; i++) {
        const struct fixed *f = &fixed[i];
        if ((f->read == NULL) == templates) {
            json_array_append_new(all, json_pack("{s:s,s:s,s:s,s:s,s:s}",
                                                 templates ? "uriTemplate" : "uri", f->uri, "name",
                                                 f->name, "title", f->title, "mimeType", f->type,
                                                 "description", f->description));
        }
    }
    return all;
}

json_t *cbx_resources_list(void)
{
    return list(false);
}

json_t *cbx_resources_templates(void)
{
    return list(true);
}

/* --- sessions and executions ------------------------------------------------------------------ */

/* Takes the text up to the next '/', or all of it, from the beginning of *rest. */
static struct cbx_str take_segment(struct cbx_str *rest)
{
    const char *slash = rest->len > 0 ? memchr(rest->p, '/', rest->len) : NULL;
    size_t len = slash != NULL ? (size_t)(slash - rest->p) : rest->len;
    struct cbx_str segment = cbx_str_sub(*rest, 0, len);
    *rest = cbx_str_sub(*rest, slash != NULL ? len + 1 : len, rest->len);
    return segment;
}

/* Copies the id of a session or an execution, in the gateway's format. */
static bool copy_id(struct cbx_str text, char out[40])
{
    bool good = text.len > 0 && text.len < 40;
    for (size_t i = 0; good && i < text.len; i++) {
        char c = text.p[i], low = (char)(c | 32);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '-';
    }
    snprintf(out, 40, "%.*s", good ? (int)text.len : 0, good ? text.p : "");
    return good;
}

static int read_session(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                        const struct cbx_claims *claims, struct cbx_str rest,
                        struct cbx_resource *out, struct cbx_err *err)
{
    char id[40];
    struct cbx_str name = take_segment(&rest);
    if (!copy_id(name, id)) {
        return CBX_ENOTFOUND;
    }
    if (rest.len == 0) {
        json_t *session;
        int failed =
            cbx_service_describe_session(mcp->service, caller->principal, id, &session, err);
        if (failed) {
            return failed;
        }
        return set_json(out, session);
    }
    CBX_AUTO_DONE(buf) path;
    CBX_AUTO_DONE(message) answer;
    cbx_buf_init(&path, CBX_PATH_MAX);
    cbx_message_init(&answer);
    if (!cbx_str_is(take_segment(&rest), "files") || rest.len == 0) {
        return CBX_ENOTFOUND;
    }
    int failed = cbx_uri_decode(rest, &path, err);
    if (failed) {
        return failed;
    }
    failed = cbx_service_get_file(mcp->service, caller, claims, cbx_str_of(id), cbx_buf_str(&path),
                                  &answer, err);
    if (failed) {
        return failed;
    }
    out->type = cbx_media_type(path.p);
    cbx_buf_add(&out->bytes, cbx_buf_str(&answer.bytes));
    return 0;
}

static int read_execution(struct cbx_mcp *mcp, const struct cbx_caller *caller, struct cbx_str rest,
                          struct cbx_resource *out, struct cbx_err *err)
{
    char id[40];
    CBX_AUTO_JSON row = NULL;
    struct cbx_str name = take_segment(&rest);
    int failed;
    if (copy_id(name, id)) {
        failed = cbx_store_get_execution(mcp->service->store, caller->principal, id, &row, err);
    } else {
        failed = CBX_ENOTFOUND;
    }
    if (failed) {
        return failed;
    }
    if (json_is_true(json_object_get(row, "dropped"))) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "the results of execution %s were removed to make room for newer ones", id);
    }
    CBX_AUTO_JSON execution = cbx_execution_json(row);
    cbx_live_describe(mcp->service, id, execution);
    if (rest.len == 0) {
        return set_json(out, json_incref(execution));
    }
    struct cbx_str part = take_segment(&rest);
    return cbx_str_is(part, "pictures") ? cbx_part_picture(execution, rest, out)
           : rest.len == 0              ? cbx_part_text(execution, part, out)
                                        : CBX_ENOTFOUND;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int find(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                const struct cbx_claims *claims, struct cbx_str uri, struct cbx_resource *out,
                struct cbx_err *err)
{
    for (size_t i = 0; i < FIXED; i++) {
        if (fixed[i].read != NULL && cbx_str_is(uri, fixed[i].uri)) {
            return fixed[i].read(mcp, caller, out, err);
        }
    }
    const struct cbx_str session = CBX_STR("session://"), execution = CBX_STR(CBX_EXECUTION_URI);
    if (cbx_str_starts(uri, session)) {
        return read_session(mcp, caller, claims, cbx_str_sub(uri, session.len, uri.len), out, err);
    }
    if (cbx_str_starts(uri, execution)) {
        return read_execution(mcp, caller, cbx_str_sub(uri, execution.len, uri.len), out, err);
    }
    return CBX_ENOTFOUND;
}

int cbx_resource_read(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                      const struct cbx_claims *claims, struct cbx_str uri, struct cbx_resource *out,
                      struct cbx_err *err)
{
    struct cbx_err own = { 0 };
    *out = (struct cbx_resource){ .type = "text/plain" };
    cbx_buf_init(&out->bytes, BYTES_MAX);
    int failed = find(mcp, caller, claims, uri, out, &own);
    if (failed) {
        cbx_resource_done(out);
        if (own.text[0] != '\0') {
            return cbx_fail(err, failed, "%s", own.text);
        }
        return cbx_fail(err, failed,
                        "nothing is at '%.*s'; resources/list and resources/templates/list "
                        "have what there is",
                        CBX_STR_SHOWN(cbx_str_sub(uri, 0, 200)));
    }
    struct cbx_str bytes = cbx_buf_str(&out->bytes);
    out->is_text = cbx_str_is_utf8(bytes, NULL) &&
                   (bytes.len == 0 || memchr(bytes.p, '\0', bytes.len) == NULL);
    return 0;
}

json_t *cbx_resource_contents(struct cbx_str uri, const struct cbx_resource *resource,
                              size_t offset, size_t length)
{
    struct cbx_str all = cbx_buf_str(&resource->bytes);
    size_t from = offset < all.len ? offset : all.len,
           to = length > 0 && length < all.len - from ? from + length : all.len;
    json_t *contents =
        json_pack("{s:o,s:s}", "uri", cbx_json_text(uri), "mimeType", resource->type);
    if (!resource->is_text) {
        CBX_AUTO_DONE(buf) base64;
        cbx_buf_init(&base64, 2 * (to - from) + 8);
        cbx_base64_encode(cbx_str_sub(all, from, to), &base64);
        json_object_set_new(contents, "blob", cbx_json_text(cbx_buf_str(&base64)));
        return contents;
    }
    struct cbx_str before = cbx_str_cut(all, from), text = cbx_str_cut(all, to);
    json_object_set_new(contents, "text", cbx_json_text(cbx_str_sub(text, before.len, text.len)));
    return contents;
}

int cbx_resource_range(struct cbx_str *uri, int64_t *offset, int64_t *length, struct cbx_err *err)
{
    long long at = 0, most = 0;
    int used = 0;
    char query[64];
    const char *mark = uri->len > 0 ? memchr(uri->p, '?', uri->len) : NULL;
    *offset = *length = 0;
    if (mark == NULL) {
        return 0;
    }
    struct cbx_str text = cbx_str_sub(*uri, (size_t)(mark - uri->p) + 1, uri->len);
    snprintf(query, sizeof(query), "%.*s", CBX_STR_ARG(text));
    bool good = text.len < sizeof(query) &&
                ((sscanf(query, "offset=%18lld&length=%18lld%n", &at, &most, &used) == 2 &&
                  query[used] == '\0') ||
                 (sscanf(query, "offset=%18lld%n", &at, &used) == 1 && query[used] == '\0') ||
                 (sscanf(query, "length=%18lld%n", &most, &used) == 1 && query[used] == '\0'));
    if (!good || at < 0 || most < 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "the URI's query is '%.64s', allowed is ?offset=N&length=N", query);
    }
    *uri = cbx_str_sub(*uri, 0, (size_t)(mark - uri->p));
    *offset = at;
    *length = most;
    return 0;
}

bool cbx_resource_is_execution(struct cbx_str uri, char id[40])
{
    const struct cbx_str execution = CBX_STR(CBX_EXECUTION_URI);
    return cbx_str_starts(uri, execution) && copy_id(cbx_str_sub(uri, execution.len, uri.len), id);
}
