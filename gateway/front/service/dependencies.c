/* SPDX-License-Identifier: MIT
 * Dependencies. */
#include "gateway/front/service/dependencies.h"

#include "analyzer/packages/requirement.h"
#include "gateway/front/dialect.h"
#include "policies/language.h"
#include "policies/version.h"

enum { REQUIREMENT_MAX = 200 };

bool cbx_library_at(size_t index, struct cbx_library *out)
{
    static const struct cbx_library libraries[] = {
#define CBX_LIBRARY(language, name, version) { language, name, version },
#include "gateway/front/service/libraries.def"
    };
    bool there = index < sizeof(libraries) / sizeof(libraries[0]);
    *out = there ? libraries[index] : (struct cbx_library){ 0 };
    return there;
}

const struct cbx_runtime *cbx_runtime_of(const char *language)
{
    static const struct cbx_runtime runtimes[] = {
#define CBX_RUNTIME(language, program, version) { language, program, version },
#include "gateway/front/service/libraries.def"
    };
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
        if (strcmp(runtimes[i].language, language) == 0) {
            return &runtimes[i];
        }
    }
    return NULL;
}

void cbx_runtime_list(struct cbx_buf *out)
{
    const char *name;
    for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
        cbx_buf_add_cstr(out, i == 0 ? "" : cbx_dialect_at(i + 1) == NULL ? " and " : ", ");
        cbx_runtime_add(name, out);
    }
}

void cbx_runtime_add(const char *language, struct cbx_buf *out)
{
    const struct cbx_runtime *runtime = cbx_runtime_of(language);
    const char *title = cbx_language_find(cbx_str_of(language))->display;
    if (runtime == NULL) {
        cbx_buf_add_cstr(out, title);
    } else if (strcmp(runtime->program, title) == 0) {
        cbx_buf_printf(out, "%s %s", title, runtime->version);
    } else {
        cbx_buf_printf(out, "%s (%s %s)", title, runtime->program, runtime->version);
    }
}

static bool parse_requirement(struct cbx_str text, struct cbx_requirement *out)
{
    return text.len <= REQUIREMENT_MAX && cbx_requirement_parse(text, out) &&
           cbx_requirement_is_plain(out);
}

static int fail_missing(const char *language, struct cbx_str name, struct cbx_err *err)
{
    struct cbx_library each;
    CBX_AUTO_DONE(buf) known;
    cbx_buf_init(&known, 4096);
    for (size_t i = 0; cbx_library_at(i, &each); i++) {
        if (strcmp(each.language, language) == 0) {
            cbx_buf_printf(&known, "%s%s %s", known.len > 0 ? ", " : "", each.name, each.version);
        }
    }
    return cbx_fail(err, CBX_EINVAL,
                    "'%.*s' is not in the sandbox image, and packages cannot be installed yet; "
                    "there are: %s%sthe standard library",
                    CBX_STR_ARG(name), known.len > 0 ? known.p : "", known.len > 0 ? ", " : "");
}

static int check_image(const char *language, const struct cbx_requirement *r, struct cbx_err *err)
{
    struct cbx_library each;
    size_t i = 0;
    while (cbx_library_at(i, &each) && (strcmp(each.language, language) != 0 ||
                                        !cbx_package_same(r->name, cbx_str_of(each.name)))) {
        i++;
    }
    if (each.name == NULL) {
        return fail_missing(language, r->name, err);
    }
    if (cbx_pep440_matches(r->specifiers, cbx_str_of(each.version)) != CBX_MATCH_YES ||
        r->extras.len > 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is in the sandbox image in version %s without extras, and nothing "
                        "else can be installed yet",
                        CBX_STR_ARG(r->name), each.version);
    }
    return 0;
}

/* Judged as the line of a notebook that would install it. */
static int judge(struct cbx_service *service, struct cbx_str policy, struct cbx_str requirement,
                 struct cbx_str origin, struct cbx_outcome *denial, struct cbx_err *err)
{
    char line[REQUIREMENT_MAX + 32];
    snprintf(line, sizeof(line), "%%pip install '%.*s'",
             CBX_STR_ARG(requirement)); /* a requirement has no quote */
    struct cbx_request request =
        cbx_service_request(CBX_ACTION_CHECK, cbx_dialect_default(), policy, CBX_STR(""),
                            cbx_str_of(line), NULL, origin);
    return cbx_review(service->flow, &request, NULL, denial, err);
}

int cbx_service_check_dependencies(struct cbx_service *service, struct cbx_str policy,
                                   const char *language, const json_t *dependencies,
                                   struct cbx_str origin, struct cbx_outcome *denial,
                                   struct cbx_err *err)
{
    size_t i;
    const json_t *item;
    struct cbx_requirement requirement;
    int failed = 0;
    denial->verdict = CBX_ALLOW;
    json_array_foreach(dependencies, i, item)
    {
        struct cbx_str text = cbx_json_str(item);
        CBX_AUTO_DONE(outcome) outcome = { 0 };
        if (!json_is_string(item)) {
            return cbx_fail(
                err, CBX_EINVAL,
                "dependencies[%zu] is no string, allowed is a package name such as 'numpy'", i);
        }
        if (!parse_requirement(text, &requirement)) {
            return cbx_fail(err, CBX_EINVAL,
                            "dependencies[%zu] is '%.*s', allowed is a package name with optional "
                            "extras and versions",
                            i, CBX_STR_ARG(cbx_str_sub(text, 0, REQUIREMENT_MAX)));
        }
        bool python = strcmp(language, cbx_dialect_shown(cbx_dialect_default())) == 0;
        outcome.verdict = CBX_ALLOW;
        failed = python ? judge(service, policy, text, origin, &outcome, err) : 0;
        if (!failed && outcome.verdict != CBX_ALLOW) {
            *denial = outcome;
            outcome = (struct cbx_outcome){ 0 };
            return 0;
        }
        failed = failed ? failed : check_image(language, &requirement, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}
