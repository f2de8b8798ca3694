/* SPDX-License-Identifier: MIT
 * Versions and names of packages: PEP 440 and semver 2.0.0, exact; PEP 503 names; and the check of
 * a requirement against a minimum version. Numbers have no upper bound, nothing is allocated, and
 * results borrow from the text that was parsed. */
#ifndef CBX_POLICIES_VERSIONS_VERSION_H
#define CBX_POLICIES_VERSIONS_VERSION_H

#include "policies/base/str.h"

#include <stdbool.h>

/* PEP 503: lower case, runs of '-', '_' and '.' become one '-'. Writes at most size - 1 bytes and
 * a NUL. */
void cbx_package_normalise(struct cbx_str name, char *out, size_t size);

/* Are two names one distribution (PEP 503)? */
bool cbx_package_same(struct cbx_str a, struct cbx_str b);

/* --- PEP 440 ---------------------------------------------------------------------------------- */

/* A version, in parts that lie in its text. A number is its digits without leading zeros; ""
 * is 0. */
struct cbx_pep440 {
    struct cbx_str epoch;
    struct cbx_str release; /* digits and dots */
    struct cbx_str pre, post, dev, local;
    char pre_kind; /* 'a', 'b', 'r' (rc), or 0 */
    bool has_post, has_dev, has_local;
};

/* Reads a version in any spelling of the specification, white space around it included. False when
 * it is none; *out is then not touched. */
bool cbx_pep440_parse(struct cbx_str text, struct cbx_pep440 *out);

/* The total order of the specification, local parts included: -1, 0, 1. */
int cbx_pep440_order(const struct cbx_pep440 *a, const struct cbx_pep440 *b);

/* Writes the normal form ("1.0a1" for "v1.0-ALPHA.01") and a NUL. False when it does not fit. */
bool cbx_pep440_write(const struct cbx_pep440 *version, char *out, size_t size);

/* Whether specifiers allow a version; MALFORMED when one of them cannot be parsed. */
enum cbx_match_result { CBX_MATCH_NO = 0, CBX_MATCH_YES, CBX_MATCH_MALFORMED };

/* Whether all specifiers (">=1.0, !=1.3.*, <2") allow this version. Each is read by the
 * specification: "<1.0" excludes 1.0rc1, and ">1.0" excludes 1.0.post1 and 1.0+local. Whether
 * pre-releases are considered at all is the installer's choice and not decided here. Without
 * specifiers: yes. */
enum cbx_match_result cbx_pep440_matches(struct cbx_str specifiers, struct cbx_str version);

/* The same order for texts. *ok is false when one of them is not a version. */
int cbx_version_compare(struct cbx_str a, struct cbx_str b, bool *ok);

/* True when an installer that takes the newest version that `specifiers` allow could install one
 * below `minimum`. False when they allow the minimum itself (the installer can take it), or nothing
 * below it. More than one exclusion at or above the minimum counts as an attempt to force an old
 * version. True also when it cannot be decided (a malformed specifier or minimum). */
bool cbx_version_below(struct cbx_str specifiers, struct cbx_str minimum);

/* The same of the version part of a conda MatchSpec ("1.2", "=1.2", ">=1.2,<2|3.*"). */
bool cbx_conda_below(struct cbx_str version, struct cbx_str minimum);

/* --- semver and npm --------------------------------------------------------------------------- */

struct cbx_semver {
    struct cbx_str number[3]; /* digits without leading zeros; "" is 0 */
    struct cbx_str pre, build;
};

/* Semver 2.0.0: "1.2.3-rc.1+build". False when it is none; *out is then not touched. */
bool cbx_semver_parse(struct cbx_str text, struct cbx_semver *out);

/* Precedence: build metadata does not count. */
int cbx_semver_order(const struct cbx_semver *a, const struct cbx_semver *b);

/* Does an npm range ("^4.17.0", "1.2 - 2", ">=3 <4 || 5.x", "*") allow this version? A pre-release
 * is allowed only where a comparator of the same alternative names one of the same three numbers.
 * Malformed: no range (a tag, say), or no version. */
enum cbx_match_result cbx_npm_matches(struct cbx_str range, struct cbx_str version);

/* True when an install of this range or tag could be below `minimum`. Any tag but "latest"
 * could. */
bool cbx_npm_below(struct cbx_str range, struct cbx_str minimum);

#endif
