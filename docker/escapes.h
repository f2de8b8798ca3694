/* SPDX-License-Identifier: MIT
 * Versions against the table of known escapes, escapes.def. Pure: no engine is asked here. */
#ifndef CBX_DOCKER_ESCAPES_H
#define CBX_DOCKER_ESCAPES_H

#include <stdbool.h>
#include <stddef.h>

struct cbx_escape {
    const char *id, *component;
    const char *since; /* "" = from the beginning */
    const char *fixed; /* the first good version of each release line, oldest first */
    bool reachable;    /* false: a sandbox does not get there; `what` says why */
    const char *what;  /* one sentence */
};

/* The rows in their order; NULL behind the last. */
const struct cbx_escape *cbx_escape_at(size_t index);

/* Less than, equal to or greater than zero, as versions are ordered: "1.9" < "1.10",
 * "1.4.0-rc3" = "1.4.0-rc.3" < "1.4.0" = "1.4". What stands behind the numbers and is no "rc",
 * "beta" or "alpha" does not count. A leading "v" does not either. */
int cbx_release_compare(const char *a, const char *b);

/* Whether a version, by its number alone, has this hole. A fix counts for its own release line (the
 * numbers but the last); a line that has none is older than the fix, unless it is newer than the
 * last fixed one. */
bool cbx_escape_applies(const struct cbx_escape *escape, const char *version);

/* Whether the version says that a distribution or a vendor built it. Those carry fixes under old
 * numbers, so the number alone says nothing about a hole. */
bool cbx_release_is_packaged(const char *version);

#endif
