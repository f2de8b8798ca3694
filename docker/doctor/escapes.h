/* SPDX-License-Identifier: MIT
 * Compares versions with the table of known escapes, escapes.def. Pure: no calls to an engine. */
#ifndef CBX_DOCKER_DOCTOR_ESCAPES_H
#define CBX_DOCKER_DOCTOR_ESCAPES_H

#include <stdbool.h>
#include <stddef.h>

struct cbx_escape {
    const char *id, *component;
    const char *since; /* first affected version; "" = all */
    const char *fixed; /* the first good version of each release line, oldest first */
    bool reachable;    /* false: not reachable from a sandbox; `what` has the reason */
    const char *what;  /* one sentence */
};

/* Returns the rows in their order; NULL after the last. */
const struct cbx_escape *cbx_escape_at(size_t index);

/* Compares versions: less than, equal to or greater than zero. "1.9" < "1.10", "1.4.0-rc3" =
 * "1.4.0-rc.3" < "1.4.0" = "1.4". A suffix other than "rc", "beta" or "alpha" is ignored, and so
 * is a leading "v". */
int cbx_release_compare(const char *a, const char *b);

/* True if a version, by its number alone, has this vulnerability. A fix counts for its release
 * line (all numbers but the last). A version of a line without a fix is affected, unless it is
 * newer than the last fix. */
bool cbx_escape_applies(const struct cbx_escape *escape, const char *version);

/* True if a distribution or vendor built this version. Such builds contain fixes under old
 * numbers, so the number proves nothing. */
bool cbx_release_is_packaged(const char *version);

#endif
