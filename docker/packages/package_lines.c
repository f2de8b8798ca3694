/* SPDX-License-Identifier: MIT
 * The lines given to installers: requirements, and sets. A line that passes is no option, path
 * or URL for any manager. */
#include "docker/packages/packages_internal.h"

#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/versions/pinned.h"

#include <stdlib.h>

enum { NAME_BYTES = 128, VERSION_BYTES = 64, URL_BYTES = 1024, PATH_BYTES = 1024, FIELDS = 5 };

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters, digits and the bytes of `others`; 1 to `max` of them, the first a letter or a digit. */
static bool is_word(struct cbx_str text, const char *others, size_t max)
{
    bool good = text.len > 0 && text.len <= max && is_alnum(text.p[0]);
    for (size_t i = 0; good && i < text.len; i++) {
        good = is_alnum(text.p[i]) || (text.p[i] != '\0' && strchr(others, text.p[i]) != NULL);
    }
    return good;
}

struct cbx_str cbx_package_take_until(struct cbx_str *text, char end)
{
    const char *at = text->len > 0 ? memchr(text->p, end, text->len) : NULL;
    size_t len = at != NULL ? (size_t)(at - text->p) : text->len;
    struct cbx_str taken = cbx_str_sub(*text, 0, len);
    *text = cbx_str_sub(*text, len + (at != NULL ? 1 : 0), text->len);
    return taken;
}

static struct cbx_str trim(struct cbx_str text)
{
    while (text.len > 0 && text.p[0] == ' ') {
        text = cbx_str_sub(text, 1, text.len);
    }
    while (text.len > 0 && text.p[text.len - 1] == ' ') {
        text.len--;
    }
    return text;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool is_pip_name(struct cbx_str name)
{
    return is_word(name, "._-", NAME_BYTES) && is_alnum(name.p[name.len - 1]);
}

static bool is_npm_part(struct cbx_str part)
{
    return is_word(part, "._~-", NAME_BYTES) && !cbx_str_is(part, "node_modules");
}

static bool is_npm_name(struct cbx_str name)
{
    if (!cbx_str_starts(name, CBX_STR("@"))) {
        return is_npm_part(name);
    }
    struct cbx_str rest = cbx_str_sub(name, 1, name.len),
                   scope = cbx_package_take_until(&rest, '/');
    return name.len <= NAME_BYTES && is_npm_part(scope) && is_npm_part(rest);
}

/* "node_modules/a/node_modules/@b/c" */
static bool is_npm_path(struct cbx_str path)
{
    static const struct cbx_str between = { .p = "/node_modules/", .len = 14 };
    if (path.len > PATH_BYTES || !cbx_str_starts(path, CBX_STR("node_modules/"))) {
        return false;
    }
    path = cbx_str_sub(path, 13, path.len);
    for (const char *at; (at = memmem(path.p, path.len, between.p, between.len)) != NULL;) {
        size_t len = (size_t)(at - path.p);
        if (!is_npm_name(cbx_str_sub(path, 0, len))) {
            return false;
        }
        path = cbx_str_sub(path, len + between.len, path.len);
    }
    return is_npm_name(path);
}

/* --- hashes ----------------------------------------------------------------------------------- */

static bool is_sha256(struct cbx_str text)
{
    return cbx_str_starts(text, CBX_STR("sha256:")) &&
           cbx_pinned_is_sha256(cbx_str_sub(text, 7, text.len));
}

/* --- requirements ----------------------------------------------------------------------------- */

static bool is_specifier(struct cbx_str text)
{
    static const char *const operators[] = { "==", "!=", "<=", ">=", "~=", "<", ">" };
    text = trim(text);
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        struct cbx_str operator= cbx_str_of(operators[i]);
        if (cbx_str_starts(text, operator)) {
            return is_word(trim(cbx_str_sub(text, operator.len, text.len)), ".+!_*-",
                           VERSION_BYTES);
        }
    }
    return false;
}

static bool is_pip_requirement(struct cbx_str line)
{
    size_t end = 0;
    while (end < line.len && (is_alnum(line.p[end]) || strchr("._-", line.p[end]) != NULL)) {
        if (line.p[end] == '\0') {
            return false;
        }
        end++;
    }
    struct cbx_str rest = trim(cbx_str_sub(line, end, line.len));
    bool good = is_pip_name(cbx_str_sub(line, 0, end));
    if (cbx_str_starts(rest, CBX_STR("["))) {
        rest = cbx_str_sub(rest, 1, rest.len);
        good = good && memchr(rest.p, ']', rest.len) != NULL;
        struct cbx_str extras = cbx_package_take_until(&rest, ']');
        do {
            good = good && is_pip_name(trim(cbx_package_take_until(&extras, ',')));
        } while (good && extras.len > 0);
        rest = trim(rest);
    }
    while (good && rest.len > 0) {
        bool more = memchr(rest.p, ',', rest.len) != NULL;
        good = is_specifier(cbx_package_take_until(&rest, ',')) && !(more && trim(rest).len == 0);
    }
    return good;
}

/* A requirement of a lock file, with the installer's limits of names and versions. */
static bool is_pinned(struct cbx_str line)
{
    struct cbx_pinned pinned;
    return cbx_pinned_parse(line, &pinned) && is_pip_name(pinned.name) &&
           is_word(pinned.version, ".+!_-", VERSION_BYTES);
}

static bool is_npm_requirement(struct cbx_str line)
{
    bool scoped = cbx_str_starts(line, CBX_STR("@"));
    struct cbx_str rest = cbx_str_sub(line, scoped ? 1 : 0, line.len);
    size_t name = cbx_package_take_until(&rest, '@').len + (scoped ? 1 : 0);
    bool good = is_npm_name(cbx_str_sub(line, 0, name));
    if (!good || name == line.len) {
        return good;
    }
    good = rest.len > 0 && rest.p[0] != '-' && rest.p[0] != ' ' && rest.p[rest.len - 1] != ' ';
    for (size_t i = 0; good && i < rest.len; i++) {
        good = is_alnum(rest.p[i]) || (rest.p[i] != '\0' && strchr(".^~<>=|*+- ", rest.p[i]));
    }
    return good;
}

bool cbx_requirements_are_pinned(struct cbx_str requirements)
{
    static const char hash[] = " --hash=";
    return requirements.len > 0 &&
           memmem(requirements.p, requirements.len, hash, sizeof(hash) - 1) != NULL;
}

/* The rules for the lines of a text. */
struct line_rule {
    bool (*allows)(struct cbx_str line);
    const char *allowed;
    unsigned lines_max, bytes_max;
};

int cbx_requirements_check(enum cbx_manager manager, struct cbx_str requirements,
                           struct cbx_err *err)
{
    static const struct line_rule pip = { is_pip_requirement,
                                          "a name with versions, as 'numpy>=1.26,<3'",
                                          CBX_REQUIREMENTS_MAX, CBX_REQUIREMENT_BYTES_MAX },
                                  npm = { is_npm_requirement,
                                          "a name with a range of versions, as 'lodash@^4'",
                                          CBX_REQUIREMENTS_MAX, CBX_REQUIREMENT_BYTES_MAX },
                                  pinned = { is_pinned, "NAME==VERSION --hash=sha256:HEX",
                                             CBX_PACKAGE_SET_MAX, CBX_PINNED_BYTES_MAX };
    const struct line_rule *rule = manager == CBX_MANAGER_PIP ? &pip : &npm;
    if (manager == CBX_MANAGER_PIP && cbx_requirements_are_pinned(requirements)) {
        rule = &pinned;
    }
    if (requirements.len > CBX_PACKAGE_SET_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the requirements have %zu bytes, allowed are %d",
                        requirements.len, CBX_PACKAGE_SET_BYTES_MAX);
    }
    unsigned count = 0;
    while (requirements.len > 0) {
        struct cbx_str line = cbx_package_take_until(&requirements, '\n');
        if (++count > rule->lines_max || line.len > rule->bytes_max) {
            return cbx_fail(err, CBX_ETOOBIG,
                            "requirement %u: allowed are %u lines of %u bytes each", count,
                            rule->lines_max, rule->bytes_max);
        }
        if (!rule->allows(line)) {
            return cbx_fail(err, CBX_EINVAL, "requirement %u is '%.*s', allowed is %s", count,
                            CBX_STR_SHOWN(line), rule->allowed);
        }
    }
    if (count == 0) {
        return cbx_fail(err, CBX_EINVAL, "no package is asked for");
    }
    return 0;
}

/* --- sets ------------------------------------------------------------------------------------- */

/* 64 bytes in Base64 are 86 digits and "==". */
static bool is_sha512(struct cbx_str text)
{
    return text.len == 7 + 88 && cbx_str_starts(text, CBX_STR("sha512-")) &&
           cbx_str_ends(text, CBX_STR("==")) && is_word(cbx_str_sub(text, 0, 93), "-+/", 93);
}

bool cbx_package_is_url(struct cbx_str url)
{
    bool good = url.len <= URL_BYTES && (cbx_str_starts(url, CBX_STR("https://")) ||
                                         cbx_str_starts(url, CBX_STR("http://")));
    for (size_t i = 0; good && i < url.len; i++) {
        good = is_alnum(url.p[i]) || (url.p[i] != '\0' && strchr(":/.-_~%+@?=&", url.p[i]));
    }
    return good;
}

static bool is_pip_package(const struct cbx_str field[FIELDS], size_t count)
{
    return count == 3 && is_pip_name(field[0]) && is_word(field[1], ".+!_-", VERSION_BYTES) &&
           is_sha256(field[2]);
}

static bool is_npm_package(const struct cbx_str field[FIELDS], size_t count)
{
    return count == 5 && is_npm_path(field[0]) && is_npm_name(field[1]) &&
           is_word(field[2], ".+-", VERSION_BYTES) && is_sha512(field[3]) &&
           (cbx_str_is(field[4], "-") || cbx_package_is_url(field[4]));
}

static int compare_names(const void *a, const void *b)
{
    return cbx_str_compare(*(const struct cbx_str *)a, *(const struct cbx_str *)b);
}

/* Checks a line; *name is the key that may occur once in a set. */
static int check_line(enum cbx_manager manager, struct cbx_str line, size_t number,
                      struct cbx_str *name, struct cbx_err *err)
{
    struct cbx_str field[FIELDS] = { 0 }, rest = line;
    size_t count = 0;
    while (count < FIELDS && rest.len > 0) {
        field[count++] = cbx_package_take_until(&rest, ' ');
    }
    bool pip = manager == CBX_MANAGER_PIP;
    *name = field[0];
    bool good = rest.len == 0 && !cbx_str_ends(line, CBX_STR(" ")) &&
                (pip ? is_pip_package : is_npm_package)(field, count);
    if (!good) {
        return cbx_fail(err, CBX_EINVAL, "package %zu of the set is '%.*s', allowed is '%s'",
                        number, CBX_STR_SHOWN(line),
                        pip ? "NAME VERSION sha256:HEX" : "PATH NAME VERSION sha512-BASE64 URL");
    }
    return 0;
}

static int check_lines(enum cbx_manager manager, struct cbx_str set, struct cbx_str *names,
                       size_t *count, struct cbx_err *err)
{
    int failed = 0;
    for (*count = 0; !failed && set.len > 0; (*count)++) {
        if (*count < CBX_PACKAGE_SET_MAX) {
            failed = check_line(manager, cbx_package_take_until(&set, '\n'), *count + 1,
                                &names[*count], err);
        } else {
            failed = cbx_fail(err, CBX_ETOOBIG, "the set has more than %d packages",
                              CBX_PACKAGE_SET_MAX);
        }
    }
    if (failed) {
        return failed;
    }
    cbx_sort_heap(names, *count, sizeof(*names), compare_names);
    for (size_t i = 1; i < *count; i++) {
        if (cbx_str_equal(names[i - 1], names[i])) {
            return cbx_fail(err, CBX_EINVAL, "the set has '%.*s' twice", CBX_STR_SHOWN(names[i]));
        }
    }
    return 0;
}

int cbx_package_set_check(enum cbx_manager manager, struct cbx_str set, size_t *count,
                          struct cbx_err *err)
{
    if (set.len > CBX_PACKAGE_SET_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the set has %zu bytes, allowed are %d", set.len,
                        CBX_PACKAGE_SET_BYTES_MAX);
    }
    if (!cbx_str_ends(set, CBX_STR("\n"))) {
        return cbx_fail(err, CBX_EINVAL,
                        set.len == 0 ? "the set has no packages"
                                     : "the last line of the set is incomplete");
    }
    struct cbx_str *names = cbx_new_array(CBX_PACKAGE_SET_MAX, sizeof(*names));
    size_t found = 0;
    int failed = check_lines(manager, set, names, &found, err);
    free(names);
    if (!failed && count != NULL) {
        *count = found;
    }
    return failed;
}
