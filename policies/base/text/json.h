/* SPDX-License-Identifier: MIT
 * jansson with limits, and a reader that binds an object to a struct by a table. JSON from
 * outside: size cap first, duplicate keys refused, depth capped, unknown fields refused. */
#ifndef CBX_POLICIES_BASE_TEXT_JSON_H
#define CBX_POLICIES_BASE_TEXT_JSON_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/str.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

static inline void cbx_json_auto(json_t **p)
{
    json_decref(*p);
}
/* A json_t reference that is dropped at scope exit. */
#define CBX_AUTO_JSON __attribute__((cleanup(cbx_json_auto))) json_t *

enum { CBX_JSON_DEPTH_MAX = 64 };

/* Parses one JSON value. CBX_ETOOBIG over max_bytes or CBX_JSON_DEPTH_MAX nestings; CBX_EINVAL,
 * with line and column, for any text that violates RFC 8259 or repeats a key. *out is a new
 * reference. */
int cbx_json_parse(struct cbx_str text, size_t max_bytes, json_t **out, struct cbx_err *err);

/* Appends the canonical form (keys sorted, no white space, UTF-8): equal values give equal bytes.
 */
int cbx_json_write(struct cbx_buf *buf, const json_t *value);

/* The same, with the keys of objects in insertion order. */
int cbx_json_write_as_is(struct cbx_buf *buf, const json_t *value);

/* Returns a new string value. Bytes that are not UTF-8 become U+FFFD; NUL is kept. Never NULL. */
json_t *cbx_json_text(struct cbx_str bytes);

/* Returns an array of the text's lines, each by cbx_json_text; a line feed at the end begins no
 * line. A new reference. */
json_t *cbx_json_lines(const char *text);

/* The type of a field and of the member that it is bound to. */
enum cbx_json_type {
    CBX_JSON_STR,    /* struct cbx_str, borrowed from the json_t; absent = {NULL, 0} */
    CBX_JSON_BOOL,   /* bool */
    CBX_JSON_INT,    /* int64_t, min..max */
    CBX_JSON_NUMBER, /* double, min..max; integers too */
    CBX_JSON_OBJECT, /* const json_t *, borrowed; NULL = absent */
    CBX_JSON_ARRAY,  /* const json_t *, borrowed; NULL = absent */
    CBX_JSON_ANY,    /* const json_t *, borrowed; NULL = absent */
};

struct cbx_json_field {
    const char *name;
    enum cbx_json_type type;
    size_t offset; /* offset of the member in the struct */
    bool required;
    bool nullable; /* true if null counts as absent */
    /* range of a number, of a string's length in bytes, of an array's length. 0, 0 = any */
    int64_t min, max;
};

/* Reads `object` into `into`, which has the defaults. CBX_EINVAL with the field, the found and
 * the allowed value; an unknown field is an error with the nearest known name. */
int cbx_json_read(const json_t *object, const struct cbx_json_field *fields, size_t count,
                  void *into, struct cbx_err *err);

/* Returns json_string_value with its length; {NULL, 0} if the value is not a string. */
struct cbx_str cbx_json_str(const json_t *value);

/* printf: "%.*s", CBX_JSON_ARG(object, name). The text of a member; empty if it is not a string. */
#define CBX_JSON_ARG(object, name) CBX_STR_ARG(cbx_json_str(json_object_get(object, name)))

#endif
