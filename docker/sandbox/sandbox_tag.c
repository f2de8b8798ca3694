/* SPDX-License-Identifier: MIT
 * The owner of a sandbox: its tag, which the supervisor keeps for the next gateway, and the
 * comparison of permits with the sandbox. Both follow from tag.def. */
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/text/json.h"

#include <stddef.h>
#include <string.h>

enum { NO = 0, YES = 1 };

#define MEMBER_BYTES(type, member) sizeof(((type *)NULL)->member)

static const struct text {
    const char *key;
    size_t in_sandbox, in_permit, bytes;
} texts[] = {
#define CBX_TAG_TEXT(member, most)                                                                 \
    { #member, offsetof(struct cbx_sandbox, member), offsetof(struct cbx_permit, member),          \
      MEMBER_BYTES(struct cbx_sandbox, member) },
#define CBX_TAG_BOUND(...)
#define CBX_TAG_HASH(...)
#include "docker/sandbox/tag.def"
};
#define CBX_TAG_TEXT(member, most)                                                                 \
    _Static_assert(MEMBER_BYTES(struct cbx_sandbox, member) == (most) + 1 &&                       \
                       MEMBER_BYTES(struct cbx_permit, member) == (most) + 1,                      \
                   "the text is copied whole");
#define CBX_TAG_BOUND(...)
#define CBX_TAG_HASH(...)
#include "docker/sandbox/tag.def"

static const struct bound {
    const char *key;
    size_t in_sandbox, in_permit;
    bool always;
    int code;
    const char *difference;
} bounds[] = {
#define CBX_TAG_TEXT(...)
#define CBX_TAG_BOUND(key, member, required, always, code, difference)                             \
    { #key,                                                                                        \
      offsetof(struct cbx_sandbox, member),                                                        \
      offsetof(struct cbx_permit, key),                                                            \
      always,                                                                                      \
      code,                                                                                        \
      difference },
#define CBX_TAG_HASH(...)
#include "docker/sandbox/tag.def"
};

static const struct hash {
    const char *key;
    size_t in_sandbox;
} hashes[] = {
#define CBX_TAG_TEXT(...)
#define CBX_TAG_BOUND(key, member, ...) { #key, offsetof(struct cbx_sandbox, member) },
#define CBX_TAG_HASH(key, member)       { #key, offsetof(struct cbx_sandbox, member) },
#include "docker/sandbox/tag.def"
};

enum {
    TEXTS = sizeof(texts) / sizeof(texts[0]),
    BOUNDS = sizeof(bounds) / sizeof(bounds[0]),
    HASHES = sizeof(hashes) / sizeof(hashes[0])
};

static void *at(struct cbx_sandbox *sandbox, size_t offset)
{
    return (char *)sandbox + offset;
}

static const struct cbx_sha256 *hash_of(const void *object, size_t offset)
{
    return (const struct cbx_sha256 *)(const void *)((const char *)object + offset);
}

/* --- permits ---------------------------------------------------------------------------------- */

void cbx_sandbox_bind(struct cbx_sandbox *sandbox, const struct cbx_permit *permit)
{
    for (size_t i = 0; i < TEXTS; i++) {
        memcpy(at(sandbox, texts[i].in_sandbox), (const char *)permit + texts[i].in_permit,
               texts[i].bytes);
    }
    for (size_t i = 0; i < BOUNDS; i++) {
        memcpy(at(sandbox, bounds[i].in_sandbox), hash_of(permit, bounds[i].in_permit),
               sizeof(struct cbx_sha256));
    }
    sandbox->ledger = cbx_ledger_begin(cbx_str_of(permit->session), &permit->policy_sha256);
}

int cbx_sandbox_check_bound(const struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                            enum cbx_action action, struct cbx_err *err)
{
    for (size_t i = 0; i < BOUNDS; i++) {
        if (!bounds[i].always && action != CBX_ACTION_RUN) {
            continue;
        }
        if (!cbx_sha256_equal(hash_of(permit, bounds[i].in_permit),
                              hash_of(sandbox, bounds[i].in_sandbox))) {
            return cbx_fail(err, bounds[i].code, "%s", bounds[i].difference);
        }
    }
    return 0;
}

/* --- the tag ---------------------------------------------------------------------------------- */

int cbx_sandbox_write_tag(struct cbx_sandbox *sandbox, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_JSON json = json_object();
    json_t *limits = json_object();
    for (size_t i = 0; i < TEXTS; i++) {
        json_object_set_new(json, texts[i].key, json_string(at(sandbox, texts[i].in_sandbox)));
    }
    for (size_t i = 0; i < HASHES; i++) {
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(hash_of(sandbox, hashes[i].in_sandbox), hex);
        json_object_set_new(json, hashes[i].key, json_string(hex));
    }
    cbx_limits_write(&sandbox->limits, limits);
    json_object_set_new(json, "limits", limits);
    json_object_set_new(json, "kernel", json_string(sandbox->kernel));
    json_object_set_new(json, "claimed_ms", json_integer(sandbox->claimed_ms));
    if (sandbox->mounted != NULL) {
        json_object_set(json, "mounted", sandbox->mounted);
    }
    if (cbx_json_write(out, json) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the names of the sandbox's owner are too long");
    }
    return 0;
}

/* A tag as it is read. */
struct tag {
    struct cbx_str texts[TEXTS], hashes[HASHES], kernel;
    const json_t *limits, *mounted;
    int64_t claimed_ms;
};

/* Numbers of the rows. */
enum {
#define CBX_TAG_TEXT(member, most) TEXT_##member,
#define CBX_TAG_BOUND(...)
#define CBX_TAG_HASH(...)
#include "docker/sandbox/tag.def"
};
enum {
#define CBX_TAG_TEXT(...)
#define CBX_TAG_BOUND(key, ...) HASH_##key,
#define CBX_TAG_HASH(key, ...)  HASH_##key,
#include "docker/sandbox/tag.def"
};

static const struct cbx_json_field fields[] = {
#define CBX_TAG_TEXT(member, most)                                                                 \
    { #member, CBX_JSON_STR, offsetof(struct tag, texts[TEXT_##member]), true, false, 0, most },
#define CBX_TAG_BOUND(key, member, required, ...)                                                  \
    { #key,           CBX_JSON_STR,  offsetof(struct tag, hashes[HASH_##key]), required, false,    \
      CBX_SHA256_HEX, CBX_SHA256_HEX },
#define CBX_TAG_HASH(key, ...)                                                                     \
    { #key,           CBX_JSON_STR,  offsetof(struct tag, hashes[HASH_##key]), true, false,        \
      CBX_SHA256_HEX, CBX_SHA256_HEX },
#include "docker/sandbox/tag.def"
    { "mounted", CBX_JSON_ARRAY, offsetof(struct tag, mounted), false, false, 1, 16 },
    { "kernel", CBX_JSON_STR, offsetof(struct tag, kernel), true, false, 1, 31 },
    { "limits", CBX_JSON_OBJECT, offsetof(struct tag, limits), true, false, 0, 0 },
    { "claimed_ms", CBX_JSON_INT, offsetof(struct tag, claimed_ms), true, false, 0, INT64_MAX },
};

int cbx_sandbox_read_tag(struct cbx_sandbox *sandbox, struct cbx_str text, struct cbx_err *err)
{
    CBX_AUTO_JSON json = NULL;
    struct tag tag = { 0 };
    int failed = cbx_json_parse(text, CBX_FRAME_TAG_MAX, &json, err);
    if (failed) {
        return failed;
    }
    failed = cbx_json_read(json, fields, sizeof(fields) / sizeof(fields[0]), &tag, err);
    if (failed) {
        return failed;
    }
    for (size_t i = 0; i < HASHES; i++) {
        struct cbx_sha256 *hash = at(sandbox, hashes[i].in_sandbox);
        if (tag.hashes[i].len > 0 && !cbx_sha256_from_hex(tag.hashes[i], hash)) {
            return cbx_fail(err, CBX_EPROTO, "'%s' of the sandbox's tag is no hash", hashes[i].key);
        }
    }
    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(at(sandbox, texts[i].in_sandbox), texts[i].bytes, "%.*s",
                 CBX_STR_ARG(tag.texts[i]));
    }
    snprintf(sandbox->kernel, sizeof(sandbox->kernel), "%.*s", CBX_STR_ARG(tag.kernel));
    sandbox->claimed_ms = tag.claimed_ms;
    sandbox->mounted = tag.mounted != NULL ? json_deep_copy(tag.mounted) : NULL;
    cbx_limits_read(tag.limits, &sandbox->limits);
    /* made by a gateway version without the limit */
    if (sandbox->limits.isolation == CBX_LIMIT_UNSET) {
        sandbox->limits.isolation = CBX_ISOLATION_CONTAINER;
    }
    return 0;
}
