/* SPDX-License-Identifier: MIT
 * Upper bounds of a run and of a session, from limits.def. Callers may request lower bounds,
 * never higher ones. */
#ifndef CBX_POLICIES_LIMITS_H
#define CBX_POLICIES_LIMITS_H

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of the limit `isolation`; the stricter one is lower. */
enum cbx_isolation {
    CBX_ISOLATION_GVISOR = 1,
    CBX_ISOLATION_CONTAINER,
};

/* The names in this order, NULL after the last; and the value of a name, CBX_LIMIT_UNSET for any
 * other text. */
extern const char *const cbx_isolation_names[];
int64_t cbx_isolation_of(struct cbx_str name);

struct cbx_limits {
#define CBX_LIMIT(member, ...) int64_t member;
#include "policies/limits.def"
#undef CBX_LIMIT
};

/* The limited object, which determines the place of enforcement. */
enum cbx_limit_scope {
    /* docker/engine/container_spec.c. A sandbox with another value cannot be used instead:
     * cbx_limits_same_container */
    CBX_LIMIT_CONTAINER,
    /* docker/inside/supervisor/, which receives it in the frame that starts a run */
    CBX_LIMIT_RUN,
    CBX_LIMIT_SESSION, /* gateway/executor/sessions/sessions_end.c */
    CBX_LIMIT_SOURCE,  /* analyzer/analyze.c */
};

/* No bound was requested. 0 is a bound: nothing at all. */
enum { CBX_LIMIT_UNSET = -1 };

struct cbx_limit_row {
    const char *name; /* name of the member in seals and requests */
    const char *key;  /* key in a policy */
    size_t offset;    /* offset of the int64_t in struct cbx_limits */
    int64_t lo, hi, initial;
    enum cbx_limit_scope scope;
    const char *title;
    double divisor;
    const char *suffix;
    const char *const *words; /* names of the values from `lo` on; NULL: they are numbers */
};

/* Returns the rows in order; NULL after the last. */
const struct cbx_limit_row *cbx_limit_row(size_t index);

/* Returns the member of a row. */
int64_t *cbx_limit_at(struct cbx_limits *limits, const struct cbx_limit_row *row);
int64_t cbx_limit_get(const struct cbx_limits *limits, const struct cbx_limit_row *row);

/* Set every member to CBX_LIMIT_UNSET; and to its default. */
void cbx_limits_unset(struct cbx_limits *limits);
void cbx_limits_default(struct cbx_limits *limits);

/* Lowers each member to the member of `by` if that is set and lower, or if the own one is unset. */
void cbx_limits_tighten(struct cbx_limits *limits, const struct cbx_limits *by);

/* Write every set member into `object` under its row's name, words as texts; and read them back.
 * A member that is absent, an unknown word, negative, or 0 where the row's lowest value is
 * larger, is CBX_LIMIT_UNSET. */
void cbx_limits_write(const struct cbx_limits *limits, json_t *object);
void cbx_limits_read(const json_t *object, struct cbx_limits *limits);

/* Returns the first row of this scope whose limit is not set, or 0; NULL if there is none. */
const struct cbx_limit_row *cbx_limits_missing(const struct cbx_limits *limits,
                                               enum cbx_limit_scope scope);

/* Appends every limit in words: "time: 60 s, processors: 1, ...", with this separator. */
void cbx_limits_describe(const struct cbx_limits *limits, const char *separator,
                         struct cbx_buf *out);

/* True if a sandbox made for `a` can be used for `b`: all limits of the container are equal. */
bool cbx_limits_same_container(const struct cbx_limits *a, const struct cbx_limits *b);

#endif
