/* SPDX-License-Identifier: MIT
 * The packages that a manager would install, before anything is installed: the report of `pip
 * install --dry-run --report` (pip's reference, "Installation Report", version 1), or the package-
 * lock.json of npm (lockfileVersion 3). Both are hostile: a resolver with network access wrote
 * them. Pure. */
#ifndef CBX_ANALYZER_PACKAGES_RESOLVED_H
#define CBX_ANALYZER_PACKAGES_RESOLVED_H

#include "analyzer/packages/spec.h"
#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/text/json.h"
#include "policies/packages.h"

/* One package. Texts are borrowed from `json`, and have no control characters, quotes or blanks. */
struct cbx_resolved_package {
    struct cbx_str name,
        version; /* as the manager writes them; valid by PEP 503 and 440, or npm's rules */
    struct cbx_str url,
        /* url: for npm empty for the registry's own; hash: 64 hexadecimal digits, or
         * "sha512-BASE64"; empty: none */
        hash;
    struct cbx_str path; /* npm: the folder, "node_modules/a/node_modules/b" */
    size_t by;      /* number of the package that requires it; CBX_RESOLVED_ASKED: the caller */
    bool is_source; /* true if it is no wheel: its own code would run during the install */
    bool is_direct; /* true if it is from a URL, not from the index */
    bool is_yanked;
};
#define CBX_RESOLVED_ASKED ((size_t)-1)

/* Zeroed memory is an empty set. */
struct cbx_resolved {
    enum cbx_spec_kind kind;            /* CBX_SPEC_PIP or CBX_SPEC_NPM */
    json_t *json;                       /* NULL for a set that was read by cbx_resolved_read_set */
    struct cbx_resolved_package *items; /* in the order of the report */
    size_t count;
};

/* Reads a report. CBX_EINVAL for anything that no manager writes, CBX_ETOOBIG above the limits;
 * *out is then empty. */
int cbx_resolved_read(enum cbx_spec_kind kind, struct cbx_str report, struct cbx_resolved *out,
                      struct cbx_err *err);
void cbx_resolved_done(struct cbx_resolved *resolved);
CBX_DEFINE_AUTO_DONE(resolved)

/* The reason why a package may not be installed. */
enum cbx_resolved_problem {
    CBX_RESOLVED_BLOCKED = 1,
    CBX_RESOLVED_NOT_LISTED,
    CBX_RESOLVED_BELOW, /* a version below the policy's minimum */
    /* its name resembles a well-known package's; not reported for a set that was read back */
    CBX_RESOLVED_LOOK_ALIKE,
    CBX_RESOLVED_DIRECT, /* not from an index, and the policy does not allow that */
    CBX_RESOLVED_SOURCE,
    CBX_RESOLVED_YANKED,
    CBX_RESOLVED_NO_HASH,
};
struct cbx_resolved_finding {
    size_t package; /* its number */
    enum cbx_resolved_problem problem;
    /* the minimum version, or the package that was probably meant; or empty */
    struct cbx_str wanted;
};

/* Judges each package, including those that others require; unless the policy has `transitive`,
 * the latter only by the rules of every install (no source, a hash, not yanked). At most
 * CBX_RESOLVED_FINDINGS_MAX findings per package. Returns their number; the first `max` are in
 * `out`. */
enum { CBX_RESOLVED_FINDINGS_MAX = 8 };
size_t cbx_resolved_judge(const struct cbx_resolved *resolved, const struct cbx_policy *policy,
                          struct cbx_resolved_finding *out, size_t max);

/* Appends the packages that require a package: "pandas 2.2.0 -> numpy 1.26.4"; at most 16 of a
 * longer chain. */
void cbx_resolved_add_chain(const struct cbx_resolved *resolved, size_t package,
                            struct cbx_buf *out);

/* Appends a finding as a sentence that names package, chain, problem and the allowed values. */
void cbx_resolved_add_finding(const struct cbx_resolved *resolved,
                              const struct cbx_resolved_finding *finding, struct cbx_buf *out);

/* Appends the text of the set: sorted lines with the installed packages and nothing else, "NAME
 * VERSION sha256:HEX" for pip, names as PEP 503 normalises them, and "PATH NAME VERSION
 * sha512-BASE64 URL" for npm, "-" for the registry's own URL. Its SHA-256 is the identity of the
 * set. A package without a hash has "-". */
void cbx_resolved_write(const struct cbx_resolved *resolved, struct cbx_buf *out);

/* Reads such a text, from which *out borrows: each package counts as requested by the caller,
 * since the text does not tell. CBX_EINVAL for any text that cbx_resolved_write does not write,
 * CBX_ETOOBIG. */
int cbx_resolved_read_set(enum cbx_spec_kind kind, struct cbx_str text, struct cbx_resolved *out,
                          struct cbx_err *err);

/* Returns true for a package of npm that lies within another one
 * ("node_modules/a/node_modules/b"): programs cannot load it. */
bool cbx_resolved_is_nested(const struct cbx_resolved_package *package);

#endif
