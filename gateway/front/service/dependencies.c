/* SPDX-License-Identifier: MIT
 * Dependencies. */
#include "gateway/front/service/dependencies.h"

#include "analyzer/packages/requirement.h"
#include "analyzer/packages/spec.h"
#include "gateway/front/contents.h"
#include "gateway/front/dialect.h"
#include "policies/language.h"
#include "policies/version.h"

enum { REQUIREMENT_MAX = 200 };

const char *cbx_highlight_at(const char *language, bool small, size_t index)
{
    enum images { SMALL, FULL };
    static const struct {
        const char *language;
        enum images images;
        const char *name;
    } rows[] = {
#define CBX_HIGHLIGHT(language, images, name) { language, images, name },
#include "gateway/front/service/highlights.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool there = rows[i].images == SMALL || !small;
        if (there && strcmp(rows[i].language, language) == 0 && index-- == 0) {
            return rows[i].name;
        }
    }
    return NULL;
}

void cbx_highlights_add(const char *language, bool small, struct cbx_buf *out)
{
    const char *name;
    for (size_t i = 0; (name = cbx_highlight_at(language, small, i)) != NULL; i++) {
        cbx_buf_printf(out, "%s%s", i > 0 ? ", " : "", name);
    }
}

const struct cbx_runtime *cbx_runtime_of(const char *language)
{
    static const struct cbx_runtime runtimes[] = {
#define CBX_RUNTIME(language, program, version) { language, program, version },
#include "gateway/front/service/highlights.def"
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

/* --- what the image has ------------------------------------------------------------------------ */

/* What the caller asked for. */
struct asked {
    const char *language;
    bool npm; /* the packages of its language are npm's */
    struct cbx_str text, name, extras, specifiers;
};

/* "lodash", "lodash@^4.17", "@scope/name@1". */
static bool parse_npm(struct asked *asked)
{
    struct cbx_spec spec;
    cbx_spec_read(CBX_SPEC_NPM, asked->text, &spec);
    asked->name = spec.name;
    asked->specifiers = spec.version.len > 0 ? spec.version : CBX_STR("*");
    return !spec.malformed && spec.origin == CBX_FROM_INDEX && spec.name.len > 0;
}

static bool parse(struct asked *asked)
{
    struct cbx_requirement r;
    if (asked->text.len > REQUIREMENT_MAX) {
        return false;
    }
    if (asked->npm) {
        return parse_npm(asked);
    }
    bool good = cbx_requirement_parse(asked->text, &r) && cbx_requirement_is_plain(&r);
    asked->name = r.name;
    asked->extras = r.extras;
    asked->specifiers = r.specifiers;
    return good;
}

static bool holds(const struct asked *asked, const struct cbx_image_package *package)
{
    return asked->extras.len == 0 &&
           (asked->npm ? cbx_npm_matches(asked->specifiers, package->version)
                       : cbx_pep440_matches(asked->specifiers, package->version)) == CBX_MATCH_YES;
}

static void add_what_is_there(const struct asked *asked, const struct cbx_contents *contents,
                              bool small, struct cbx_buf *out)
{
    size_t named = 0;
    while (cbx_highlight_at(asked->language, small, named) != NULL) {
        named++;
    }
    if (named == 0) {
        cbx_buf_add_cstr(out, "; the image has no packages but those of the system");
        return;
    }
    cbx_buf_add_cstr(out, "; the image has ");
    cbx_highlights_add(asked->language, small, out);
    if (contents->count > named) {
        cbx_buf_printf(out, " and %zu more", contents->count - named);
    }
}

static int fail_missing(const struct asked *asked, const struct cbx_contents *contents, bool small,
                        struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) nearest;
    cbx_buf_init(&text, 4096);
    cbx_buf_init(&nearest, 1024);
    const struct cbx_image_package *provider = cbx_contents_provider(contents, asked->name);
    if (provider != NULL) {
        return cbx_fail(
            err, CBX_EINVAL,
            "'%.*s' is a module, not a package: it is in '%.*s' %.*s, which the sandbox "
            "image has; ask for '%.*s'",
            CBX_STR_ARG(asked->name), CBX_STR_ARG(provider->name), CBX_STR_ARG(provider->version),
            CBX_STR_ARG(provider->name));
    }
    cbx_buf_printf(&text,
                   "'%.*s' is not in the sandbox image, and packages cannot be installed yet",
                   CBX_STR_ARG(cbx_str_sub(asked->name, 0, 100)));
    if (cbx_contents_add_nearest(contents, asked->name, &nearest)) {
        cbx_buf_printf(&text, "; did you mean %s?", nearest.p);
    }
    add_what_is_there(asked, contents, small, &text);
    return cbx_fail(err, CBX_EINVAL, "%s", text.p);
}

static int fail_version(const struct asked *asked, const struct cbx_image_package *package,
                        struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL,
                    "'%.*s' is in the sandbox image in version %.*s without extras, and nothing "
                    "else can be installed yet",
                    CBX_STR_ARG(asked->name), CBX_STR_ARG(package->version));
}

/* --- the policy ------------------------------------------------------------------------------- */

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

/* What the image has is not installed, so the policy is asked for the name alone: a version that it would not install may be there, with
 * Debian's fixes. */
static int check(struct cbx_service *service, struct cbx_str policy, const struct asked *asked,
                 const struct cbx_contents *contents, struct cbx_str origin,
                 struct cbx_outcome *denial, struct cbx_err *err)
{
    const struct cbx_image_package *package = cbx_contents_find(contents, asked->name);
    bool there = package != NULL && holds(asked, package);
    bool judged = strcmp(asked->language, cbx_dialect_shown(cbx_dialect_default())) == 0;
    int failed =
        judged ? judge(service, policy, there ? asked->name : asked->text, origin, denial, err) : 0;
    if (failed || denial->verdict != CBX_ALLOW || there) {
        return failed;
    }
    return package != NULL ? fail_version(asked, package, err)
                           : fail_missing(asked, contents, service->flow->small_images, err);
}

int cbx_service_check_dependencies(struct cbx_service *service, struct cbx_str policy,
                                   const char *language, const json_t *dependencies,
                                   struct cbx_str origin, struct cbx_outcome *denial,
                                   struct cbx_err *err)
{
    size_t i;
    const json_t *item;
    CBX_AUTO_DONE(contents) contents = { 0 };
    const struct cbx_runtime *runtime = cbx_runtime_of(language);
    denial->verdict = CBX_ALLOW;
    json_array_foreach(dependencies, i, item)
    {
        struct asked asked = { .language = language,
                               .npm = runtime != NULL && strcmp(runtime->program, "Node.js") == 0,
                               .text = cbx_json_str(item) };
        CBX_AUTO_DONE(outcome) outcome = { .verdict = CBX_ALLOW };
        if (!json_is_string(item)) {
            return cbx_fail(
                err, CBX_EINVAL,
                "dependencies[%zu] is no string, allowed is a package name such as 'numpy'", i);
        }
        if (!parse(&asked)) {
            return cbx_fail(err, CBX_EINVAL,
                            "dependencies[%zu] is '%.*s', allowed is a package name with optional "
                            "extras and versions",
                            i, CBX_STR_ARG(cbx_str_sub(asked.text, 0, REQUIREMENT_MAX)));
        }
        int failed = contents.json == NULL
                         ? cbx_contents_ask(service->flow, cbx_str_of(language), &contents, err)
                         : 0;
        failed = failed ? failed : check(service, policy, &asked, &contents, origin, &outcome, err);
        if (failed) {
            return failed;
        }
        if (outcome.verdict != CBX_ALLOW) {
            *denial = outcome;
            outcome = (struct cbx_outcome){ 0 };
            return 0;
        }
    }
    return 0;
}
