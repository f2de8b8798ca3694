/* SPDX-License-Identifier: MIT
 * Well-known packages, look-alikes, imports. */
#include "analyzer/packages/known.h"

#include "policies/versions/version.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 64 };

struct row {
    const char *p;
    size_t len;
};
#define ROW(text) { text, sizeof(text) - 1 },

static const struct row pypi[] = {
#define CBX_PYPI(name) ROW(name)
#include "analyzer/packages/known.def"
};
static const struct row npm[] = {
#define CBX_NPM(name) ROW(name)
#include "analyzer/packages/known.def"
};
static const struct {
    struct row import, distributions;
} imports[] = {
#define CBX_IMPORT(import, distributions)                                                          \
    { { import, sizeof(import) - 1 }, { distributions, sizeof(distributions) - 1 } },
#include "analyzer/packages/imports.def"
};
static const struct row python_modules[] = {
#define CBX_PYTHON_MODULE(name) ROW(name)
#include "analyzer/packages/imports.def"
};
static const struct row node_modules[] = {
#define CBX_NODE_MODULE(name) ROW(name)
#include "analyzer/packages/imports.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct cbx_str text_of(const struct row *row)
{
    return (struct cbx_str){ .p = row->p, .len = row->len };
}

/* Binary search in a table that is sorted by bytes. */
static const struct row *find(const struct row *rows, size_t count, struct cbx_str name)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        size_t shared = rows[middle].len < name.len ? rows[middle].len : name.len;
        int o = memcmp(rows[middle].p, name.p, shared);
        if (o == 0 && rows[middle].len == name.len) {
            return &rows[middle];
        }
        bool below = o < 0 || (o == 0 && rows[middle].len < name.len);
        from = below ? middle + 1 : from;
        to = below ? to : middle;
    }
    return NULL;
}

/* --- one slip --------------------------------------------------------------------------------- */

/* Shorter names have too many neighbours that are packages of their own. */
enum { SWAP_MIN = 4, OMIT_MIN = 5, CHANGE_MIN = 6 };

static size_t shared_start(struct cbx_str a, struct cbx_str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.p[n] == b.p[n]) {
        n++;
    }
    return n;
}

static size_t shared_end(struct cbx_str a, struct cbx_str b, size_t most)
{
    size_t n = 0;
    while (n < most && a.p[a.len - 1 - n] == b.p[b.len - 1 - n]) {
        n++;
    }
    return n;
}

/* Characters that look alike. */
static bool are_alike(char a, char b)
{
    static const char pairs[] = "0o1l1iil5s";
    for (size_t i = 0; i + 1 < sizeof(pairs) - 1; i += 2) {
        if ((pairs[i] == a && pairs[i + 1] == b) || (pairs[i] == b && pairs[i + 1] == a)) {
            return true;
        }
    }
    return false;
}

/* Returns true if one character was changed, or two were swapped. */
static bool is_changed(struct cbx_str known, struct cbx_str name)
{
    size_t from = shared_start(known, name);
    size_t left = known.len - from - shared_end(known, name, known.len - from);
    bool swapped =
        left == 2 && known.p[from] == name.p[from + 1] && known.p[from + 1] == name.p[from];
    bool alike = left == 1 && are_alike(known.p[from], name.p[from]);
    return (swapped && known.len >= SWAP_MIN) || (alike && known.len >= SWAP_MIN) ||
           (left == 1 && known.len >= CHANGE_MIN);
}

/* Returns true if one character is missing, doubled, or superfluous. */
static bool is_resized(struct cbx_str known, struct cbx_str name)
{
    struct cbx_str longer = known.len > name.len ? known : name;
    struct cbx_str shorter = known.len > name.len ? name : known;
    size_t from = shared_start(longer, shorter);
    if (shared_end(longer, shorter, shorter.len - from) + from < shorter.len) {
        return false;
    }
    bool doubled = from > 0 && longer.p[from] == longer.p[from - 1];
    size_t least = doubled                                          ? SWAP_MIN
                   : known.len > name.len && known.len < CHANGE_MIN ? OMIT_MIN
                                                                    : CHANGE_MIN;
    return known.len >= least;
}

static bool is_slip(struct cbx_str known, struct cbx_str name)
{
    return known.len == name.len                                    ? is_changed(known, name)
           : known.len + 1 == name.len || known.len == name.len + 1 ? is_resized(known, name)
                                                                    : false;
}

/* --- usual tricks ----------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* crossenv is cross-env. */
static bool same_squashed(struct cbx_str a, struct cbx_str b)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a.len && is_separator(a.p[i])) {
            i++;
        }
        while (k < b.len && is_separator(b.p[k])) {
            k++;
        }
        if (i >= a.len || k >= b.len || a.p[i] != b.p[k]) {
            return i >= a.len && k >= b.len;
        }
    }
}

/* Usual prefixes and suffixes of names; `least`: minimum length of the rest. */
static const struct affix {
    const char *text;
    bool python, before;
    size_t least;
} affixes[] = {
    { "python-", true, true, 4 }, { "python3-", true, true, 4 }, { "py-", true, true, 4 },
    { "py", true, true, 5 },      { "-python", true, false, 4 }, { "-python3", true, false, 4 },
    { "-py", true, false, 4 },    { "node-", false, true, 4 },   { "js-", false, true, 4 },
    { "-node", false, false, 4 }, { "-js", false, false, 4 },    { ".js", false, false, 4 },
    { "js", false, false, 5 },
};

static bool strip(const struct affix *affix, struct cbx_str *name)
{
    struct cbx_str text = cbx_str_of(affix->text);
    bool is = affix->before ? cbx_str_starts(*name, text) : cbx_str_ends(*name, text);
    if (!is || name->len < text.len + affix->least) {
        return false;
    }
    *name = affix->before ? cbx_str_sub(*name, text.len, name->len)
                          : cbx_str_sub(*name, 0, name->len - text.len);
    return true;
}

static struct cbx_str put_on(const struct affix *affix, struct cbx_str name, char *out, size_t size)
{
    int n = affix->before ? snprintf(out, size, "%s%.*s", affix->text, (int)name.len, name.p)
                          : snprintf(out, size, "%.*s%s", (int)name.len, name.p, affix->text);
    return cbx_str_of(n > 0 && (size_t)n < size ? out : "");
}

/* Tries the name with an additional affix, and without its affix. */
static const struct row *find_affixed(const struct row *rows, size_t count, struct cbx_str name,
                                      bool python)
{
    char longer[2 * NAME_MAX_BYTES];
    for (size_t a = 0; a < COUNT(affixes); a++) {
        const struct affix *affix = &affixes[a];
        struct cbx_str bare = name;
        const struct row *row = NULL;
        if (affix->python == python && strip(affix, &bare)) {
            row = find(rows, count, bare);
        } else if (affix->python && python && name.len >= affix->least) {
            row = find(rows, count, put_on(affix, name, longer, sizeof(longer)));
        }
        if (row != NULL) {
            return row;
        }
    }
    return NULL;
}

/* The word of pip install cv2 is the name of an import, which is another distribution or none. */
static struct cbx_str find_import(struct cbx_str name)
{
    for (size_t i = 0; i < COUNT(imports); i++) {
        struct cbx_str all = text_of(&imports[i].distributions);
        if (cbx_package_same(text_of(&imports[i].import), name)) {
            const char *space = memchr(all.p, ' ', all.len);
            return space != NULL ? cbx_str_sub(all, 0, (size_t)(space - all.p)) : all;
        }
    }
    return (struct cbx_str){ 0 };
}

/* --- look-alikes ------------------------------------------------------------------------------ */

static const struct row *find_near(const struct row *rows, size_t count, struct cbx_str name)
{
    for (size_t i = 0; i < count; i++) {
        struct cbx_str known = text_of(&rows[i]);
        if (is_slip(known, name) ||
            (known.len >= SWAP_MIN && known.p[0] == name.p[0] && same_squashed(known, name))) {
            return &rows[i];
        }
    }
    return NULL;
}

struct cbx_str cbx_known_meant(bool python, struct cbx_str name)
{
    char normal[NAME_MAX_BYTES + 1];
    const struct row *rows = python ? pypi : npm;
    size_t count = python ? COUNT(pypi) : COUNT(npm);
    if (name.len < 2 || name.len > NAME_MAX_BYTES) {
        return (struct cbx_str){ 0 };
    }
    if (python) {
        cbx_package_normalise(name, normal, sizeof(normal));
        name = cbx_str_of(normal);
    }
    if (name.len == 0 || find(rows, count, name) != NULL) {
        return (struct cbx_str){ 0 };
    }
    const struct row *meant = find_affixed(rows, count, name, python);
    meant = meant != NULL ? meant : find_near(rows, count, name);
    return meant != NULL ? text_of(meant) : python ? find_import(name) : (struct cbx_str){ 0 };
}

/* --- imports ---------------------------------------------------------------------------------- */

/* Returns the first name of a module, or the package of a path: "lodash" of "lodash/fp", "@x/y"
 * of "@x/y/z". */
static struct cbx_str first_part(struct cbx_str import, bool python)
{
    size_t n = 0, slashes = !python && import.len > 0 && import.p[0] == '@' ? 2 : 1;
    while (n < import.len) {
        slashes -= import.p[n] == (python ? '.' : '/');
        if (slashes == 0) {
            break;
        }
        n++;
    }
    return cbx_str_sub(import, 0, n);
}

struct cbx_str cbx_known_distributions(struct cbx_str import, bool python)
{
    struct cbx_str best = { 0 }, first = first_part(import, python);
    bool address = first.len == 0 || import.p[0] == '.' || import.p[0] == '/' ||
                   memchr(first.p, ':', first.len) != NULL;
    if (address || !python) {
        return address ? best : first;
    }
    size_t longest = 0;
    for (size_t i = 0; i < COUNT(imports); i++) {
        struct cbx_str row = text_of(&imports[i].import);
        if (row.p[0] == import.p[0] && row.len > longest && cbx_str_starts(import, row) &&
            (import.len == row.len || import.p[row.len] == '.')) {
            longest = row.len;
            best = text_of(&imports[i].distributions);
        }
    }
    return longest > 0 ? best : first;
}

bool cbx_known_import_at(size_t index, struct cbx_str *import, struct cbx_str *distributions)
{
    if (index >= COUNT(imports)) {
        return false;
    }
    *import = text_of(&imports[index].import);
    *distributions = text_of(&imports[index].distributions);
    return true;
}

bool cbx_known_builtin(struct cbx_str import, bool python)
{
    struct cbx_str first = first_part(import, python);
    return python ? find(python_modules, COUNT(python_modules), first) != NULL
                  : find(node_modules, COUNT(node_modules), first) != NULL;
}
