/* SPDX-License-Identifier: MIT
 * The modules that a policy denies by their names: the guard in the sandbox refuses them to code
 * that was not judged. Needs no source and no parser. */
#ifndef CBX_ANALYZER_IMPORTS_H
#define CBX_ANALYZER_IMPORTS_H

#include "policies/policy.h"

enum { CBX_IMPORTS_BYTES_MAX = 64 * 1024 };

/* The marks of a list. */
enum {
    CBX_IMPORT_DENIED = '-', /* denied to code that was not judged */
    /* denied to judged code too: the policy's key guard.import is `refuse` */
    CBX_IMPORT_REFUSED = '=',
    CBX_IMPORT_PASSED = '+', /* not denied, although a name around it is */
};

/* The importing principal, and the time (Unix seconds): exceptions depend on both. */
struct cbx_importer {
    const struct cbx_policy *policy;
    enum cbx_language language;
    struct cbx_str principal;
    int64_t now;
};

/* Appends for each module a mark, its name and a NUL, in the order of the names' bytes. A name
 * covers the names within it; of several that cover a module the longest counts. A name is
 * denied if `import NAME` alone would be. Of a rule's pattern for modules the part before the
 * first wildcard counts, if it ends in a dot. Empty for a language without modules that can do
 * anything. CBX_ETOOBIG, without a list, if `out` or memory does not suffice. */
int cbx_imports_list(const struct cbx_importer *importer, struct cbx_buf *out, struct cbx_err *err);

/* Returns the rule that denies the import of this module; NULL if none does. Borrowed from the
 * policy. */
const struct cbx_rule *cbx_imports_rule(const struct cbx_importer *importer, struct cbx_str module);

#endif
