/* SPDX-License-Identifier: MIT
 * `dependencies` of a session. Nothing can be installed yet: each must be a requirement (PEP 508:
 * name, extras, versions; no URL, no marker) that the policy allows and that is in the sandbox
 * image. */
#include "gateway/front/dialect.h"
#include "gateway/front/rest/rest.h"

#include "analyzer/packages/requirement.h"
#include "policies/version.h"

static const struct library {
    const char *language, *name;
} libraries[] = {
#define CBX_LIBRARY(language, name) { language, name },
#include "gateway/front/libraries.def"
#undef CBX_LIBRARY
};
enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]), REQUIREMENT_MAX = 200 };

static bool parse_requirement(struct cbx_str text, struct cbx_requirement *out)
{
    return text.len <= REQUIREMENT_MAX && cbx_requirement_parse(text, out) &&
           cbx_requirement_is_plain(out);
}

static int check_image(const struct cbx_requirement *r, struct cbx_err *err)
{
    char known[256] = "";
    size_t used = 0;
    bool found = false;
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (strcmp(libraries[i].language, cbx_dialect_shown(cbx_dialect_default())) == 0 &&
            used < sizeof(known)) {
            int n = snprintf(known + used, sizeof(known) - used, "%s%s", used > 0 ? ", " : "",
                             libraries[i].name);
            used += n > 0 ? (size_t)n : 0;
            found = found || cbx_package_same(r->name, cbx_str_of(libraries[i].name));
        }
    }
    if (!found) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is not in the sandbox image, and packages cannot be installed yet; "
                        "there are: %s",
                        CBX_STR_ARG(r->name), known);
    }
    if (r->specifiers.len > 0 || r->extras.len > 0) {
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
        cbx_service_request(CBX_ACTION_CHECK, cbx_dialect_default(), policy, CBX_STR(""),
                            cbx_str_of(line), NULL, CBX_STR("rest"));
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    if (cbx_review(call->service->flow, &request, NULL, &outcome, &err) != 0) {
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
    struct cbx_requirement requirement;
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
