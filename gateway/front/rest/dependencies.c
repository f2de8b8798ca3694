/* SPDX-License-Identifier: MIT
 * `dependencies` of a session. Nothing can be installed yet: each must be a requirement (PEP 508:
 * name, extras, versions; no URL, no marker) that the policy allows and that is in the sandbox
 * image. */
#include "gateway/front/rest/rest.h"

static const struct library {
    const char *language, *name;
} libraries[] = {
#define CBX_LIBRARY(language, name) { language, name },
#include "gateway/front/libraries.def"
#undef CBX_LIBRARY
};
enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]), REQUIREMENT_MAX = 200 };

struct requirement {
    struct cbx_str name, versions;
    bool extras;
};

static bool is_alnum(char c)
{
    char low = (char)(c | 32);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9');
}

/* The letters, digits and `others` at the start of *left, which moves behind them. */
static struct cbx_str take_word(struct cbx_str *left, struct cbx_str others)
{
    size_t len = 0;
    while (len < left->len &&
           (is_alnum(left->p[len]) || memchr(others.p, left->p[len], others.len) != NULL)) {
        len++;
    }
    struct cbx_str word = cbx_str_sub(*left, 0, len);
    *left = cbx_str_sub(*left, len, left->len);
    return word;
}

static bool take_char(struct cbx_str *left, char c)
{
    bool found = left->len > 0 && left->p[0] == c;
    *left = cbx_str_sub(*left, found, left->len);
    return found;
}

static void skip_spaces(struct cbx_str *left)
{
    while (take_char(left, ' ')) {
    }
}

static bool take_name(struct cbx_str *left, struct cbx_str *name)
{
    *name = take_word(left, CBX_STR("-_."));
    return name->len > 0 && is_alnum(name->p[0]) && is_alnum(name->p[name->len - 1]);
}

static bool take_extras(struct cbx_str *left)
{
    struct cbx_str name;
    do {
        skip_spaces(left);
        if (!take_name(left, &name)) {
            return false;
        }
        skip_spaces(left);
    } while (take_char(left, ','));
    return take_char(left, ']');
}

static bool take_versions(struct cbx_str *left)
{
    static const char *const operators[] = { "===", "==", "~=", "!=", "<=", ">=", "<", ">" };
    do {
        size_t i = 0;
        skip_spaces(left);
        while (i < sizeof(operators) / sizeof(operators[0]) &&
               !cbx_str_starts(*left, cbx_str_of(operators[i]))) {
            i++;
        }
        if (i == sizeof(operators) / sizeof(operators[0])) {
            return false;
        }
        *left = cbx_str_sub(*left, strlen(operators[i]), left->len);
        skip_spaces(left);
        if (take_word(left, CBX_STR(".*+!_-")).len == 0) {
            return false;
        }
        skip_spaces(left);
    } while (take_char(left, ','));
    return true;
}

static bool parse_requirement(struct cbx_str text, struct requirement *out)
{
    struct cbx_str left = text;
    struct requirement r = { 0 };
    if (text.len > REQUIREMENT_MAX || !take_name(&left, &r.name)) {
        return false;
    }
    skip_spaces(&left);
    r.extras = take_char(&left, '[');
    if (r.extras && !take_extras(&left)) {
        return false;
    }
    skip_spaces(&left);
    r.versions = left;
    if (left.len > 0 && !take_versions(&left)) {
        return false;
    }
    *out = r;
    return left.len == 0;
}

/* The names in our table are normalised already (PEP 503); the other's separators count as one '-'.
 */
static bool is_same_name(struct cbx_str name, const char *normal)
{
    size_t i = 0;
    for (; i < name.len && *normal != '\0'; normal++) {
        bool separator = !is_alnum(name.p[i]);
        char c = separator                              ? '-'
                 : name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 32)
                                                        : name.p[i];
        if (c != *normal) {
            return false;
        }
        for (i++; separator && i < name.len && !is_alnum(name.p[i]); i++) {
        }
    }
    return i == name.len && *normal == '\0';
}

static int check_image(const struct requirement *r, struct cbx_err *err)
{
    char known[256] = "";
    size_t used = 0;
    bool found = false;
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (strcmp(libraries[i].language, "python") == 0 && used < sizeof(known)) {
            int n = snprintf(known + used, sizeof(known) - used, "%s%s", used > 0 ? ", " : "",
                             libraries[i].name);
            used += n > 0 ? (size_t)n : 0;
            found = found || is_same_name(r->name, libraries[i].name);
        }
    }
    if (!found) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is not in the sandbox image, and packages cannot be installed yet; "
                        "there are: %s",
                        CBX_STR_ARG(r->name), known);
    }
    if (r->versions.len > 0 || r->extras) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is in the sandbox image in one version, and others cannot be "
                        "installed yet; ask for it without version and extras",
                        CBX_STR_ARG(r->name));
    }
    return 0;
}

/* Judged as the line of a notebook that would install it. */
static bool is_allowed(struct cbx_rest_call *call, struct cbx_str policy,
                       struct cbx_str requirement)
{
    char line[REQUIREMENT_MAX + 32];
    snprintf(line, sizeof(line), "%%pip install '%.*s'",
             CBX_STR_ARG(requirement)); /* a requirement has no quote */
    struct cbx_err err = { 0 };
    struct cbx_request request =
        cbx_rest_request(CBX_ACTION_CHECK, "ipython", policy, CBX_STR(""), cbx_str_of(line), NULL);
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    if (cbx_review(call->rest->flow, &request, NULL, &outcome, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    if (outcome.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &outcome);
        return false;
    }
    return true;
}

bool cbx_rest_check_dependencies(struct cbx_rest_call *call, struct cbx_str policy,
                                 const json_t *dependencies)
{
    size_t i;
    const json_t *item;
    struct requirement requirement;
    struct cbx_err err = { 0 };
    json_array_foreach(dependencies, i, item)
    {
        if (!json_is_string(item)) {
            cbx_fail(&err, CBX_EINVAL,
                     "dependencies[%zu] is no string, allowed is a package name such as 'numpy'",
                     i);
        } else if (!parse_requirement(cbx_json_str(item), &requirement)) {
            cbx_fail(&err, CBX_EINVAL,
                     "dependencies[%zu] is '%.*s', allowed is a package name with optional extras "
                     "and versions",
                     i, CBX_STR_ARG(cbx_json_str(item)));
        } else if (!is_allowed(call, policy, cbx_json_str(item))) {
            return false;
        } else if (check_image(&requirement, &err) == 0) {
            continue;
        }
        cbx_rest_fail(call, 400, &err);
        return false;
    }
    return true;
}
