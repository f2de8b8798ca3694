/* SPDX-License-Identifier: MIT
 * Versions and names of packages: PEP 440 and semver 2.0.0, exact; PEP 503 names; and the check
 * of a requirement against a minimum version. Numbers have no upper bound, nothing is allocated,
 * and results borrow from the parsed text. */
#ifndef CBX_POLICIES_VERSIONS_VERSION_H
#define CBX_POLICIES_VERSIONS_VERSION_H

#include "policies/base/str.h"

#include <stdbool.h>

/* PEP 503: lower case, runs of '-', '_' and '.' become one '-'. Writes at most size - 1 bytes and
 * a NUL. */
void cbx_package_normalise(struct cbx_str name, char *out, size_t size);

/* True if two names are the same distribution (PEP 503). */
bool cbx_package_same(struct cbx_str a, struct cbx_str b);

/* --- PEP 440 ---------------------------------------------------------------------------------- */

/* A version, in parts that borrow from its text. A number is its digits without leading zeros;
 * "" is 0. */
struct cbx_pep440 {
    struct cbx_str epoch;
    struct cbx_str release; /* digits and dots */
    struct cbx_str pre, post, dev, local;
    char pre_kind; /* 'a', 'b', 'r' (rc), or 0 */
    bool has_post, has_dev, has_local;
};

/* Reads a version in any spelling of the specification, including surrounding white space. False
 * if it is malformed; *out is then unchanged. */
bool cbx_pep440_parse(struct cbx_str text, struct cbx_pep440 *out);

/* The total order of the specification, local parts included: -1, 0, 1. */
int cbx_pep440_order(const struct cbx_pep440 *a, const struct cbx_pep440 *b);

/* Writes the normal form ("1.0a1" for "v1.0-ALPHA.01") and a NUL. False if it does not fit. */
bool cbx_pep440_write(const struct cbx_pep440 *version, char *out, size_t size);

/* Result of a match with specifiers; MALFORMED if one of them cannot be parsed. */
enum cbx_match_result { CBX_MATCH_NO = 0, CBX_MATCH_YES, CBX_MATCH_MALFORMED };

/* Checks whether all specifiers (">=1.0, !=1.3.*, <2") allow this version. Each is read by the
 * specification: "<1.0" excludes 1.0rc1, and ">1.0" excludes 1.0.post1 and 1.0+local. The
 * installer, not this function, decides whether pre-releases are considered at all. Without
 * specifiers: yes. */
enum cbx_match_result cbx_pep440_matches(struct cbx_str specifiers, struct cbx_str version);

/* Returns the same order for texts. *ok is false if one of them is not a version. */
int cbx_version_compare(struct cbx_str a, struct cbx_str b, bool *ok);

/* True if an installer that takes the newest version allowed by `specifiers` could install one
 * below `minimum`. False if they allow the minimum itself (the installer can take it), or no
 * version below it. More than one exclusion at or above the minimum counts as an attempt to
 * force an old version. True also for a malformed specifier or minimum. */
bool cbx_version_below(struct cbx_str specifiers, struct cbx_str minimum);

/* The same for the version part of a conda MatchSpec ("1.2", "=1.2", ">=1.2,<2|3.*"). */
bool cbx_conda_below(struct cbx_str version, struct cbx_str minimum);

/* --- semver and npm --------------------------------------------------------------------------- */

struct cbx_semver {
    struct cbx_str number[3]; /* digits without leading zeros; "" is 0 */
    struct cbx_str pre, build;
};

/* Reads Semver 2.0.0: "1.2.3-rc.1+build". False if it is malformed; *out is then unchanged. */
bool cbx_semver_parse(struct cbx_str text, struct cbx_semver *out);

/* Precedence: build metadata does not count. */
int cbx_semver_order(const struct cbx_semver *a, const struct cbx_semver *b);

/* Checks whether an npm range ("^4.17.0", "1.2 - 2", ">=3 <4 || 5.x", "*") allows this version.
 * A pre-release is allowed only if a comparator of the same alternative names one of the same
 * three numbers. Malformed: not a range (a tag, for example), or not a version. */
enum cbx_match_result cbx_npm_matches(struct cbx_str range, struct cbx_str version);

/* True if an install of this range or tag could be below `minimum`. Every tag except "latest"
 * could. */
bool cbx_npm_below(struct cbx_str range, struct cbx_str minimum);

#endif
