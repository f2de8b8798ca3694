/* SPDX-License-Identifier: MIT
 * Dependencies. */
#include "gateway/front/service/dependencies.h"

#include "analyzer/analyze.h"
#include "analyzer/packages/known.h"
#include "analyzer/packages/resolved.h"
#include "gateway/front/dialect.h"
#include "gateway/front/image_contents.h"
#include "gateway/front/service/service_packages.h"
#include "policies/base/sort.h"
#include "policies/language.h"
#include "policies/packages.h"
#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

/* --- what callers are told at once ------------------------------------------------------------ */

/* A row of highlights.def. */
struct highlight {
    const char *language;
    enum images { SMALL, FULL } images;
    const char *name, *module;
};
static const struct highlight highlights[] = {
#define CBX_HIGHLIGHT(language, images, name, module) { language, images, name, module },
#include "gateway/front/service/highlights.def"
};

static bool is_there(const struct highlight *highlight, const char *language, bool small)
{
    return (highlight->images == SMALL || !small) && strcmp(highlight->language, language) == 0;
}

const char *cbx_highlight_at(const char *language, bool small, size_t index)
{
    for (size_t i = 0; i < sizeof(highlights) / sizeof(highlights[0]); i++) {
        if (is_there(&highlights[i], language, small) && index-- == 0) {
            return highlights[i].name;
        }
    }
    return NULL;
}

/* True if a program that only imports the module may run: the analyzer judges it like every
 * program. */
static bool may_import(const struct cbx_policy *policy, const struct highlight *highlight)
{
    char source[128];
    struct cbx_decision decision;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(arena) arena;
    bool python = strcmp(highlight->language, "python") == 0;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    snprintf(source, sizeof(source), python ? "import %s\n" : "require(\"%s\");\n",
             highlight->module);
    struct cbx_analysis analysis = { .source = cbx_str_of(source),
                                     .language = cbx_str_of(highlight->language),
                                     .no_hints = true };
    return cbx_analyze(policy, &analysis, &arena, &decision, &err) == 0 &&
           decision.verdict == CBX_ALLOW;
}

/* True if the policy chooses an operator's own image for the language: its libraries are not
 * known here. */
static bool has_own_image(const struct cbx_policy *policy, const char *language)
{
    const struct cbx_str *name =
        strcmp(language, "python") == 0 ? &policy->images.python : &policy->images.javascript;
    return name->len > 0;
}

bool cbx_highlights_add(const struct cbx_policy *policy, const char *language, bool small,
                        struct cbx_buf *out)
{
    bool any = false;
    if (policy != NULL && has_own_image(policy, language)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(highlights) / sizeof(highlights[0]); i++) {
        const struct highlight *each = &highlights[i];
        if (is_there(each, language, small) && (policy == NULL || may_import(policy, each))) {
            cbx_buf_printf(out, "%s%s", any ? ", " : "", each->name);
            any = true;
        }
    }
    return any;
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

/* --- what the image has ----------------------------------------------------------------------- */

/* A caller's requirement. */
struct asked {
    const char *language;
    bool npm; /* true for npm packages */
    struct cbx_str text, name, extras, specifiers;
};

/* Parses "lodash", "lodash@^4.17", "@scope/name@1". */
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
    if (asked->text.len > CBX_REQUIREMENT_BYTES_MAX) {
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

/* A name that only a module of the image has: the package has another name. */
static int fail_module(const struct asked *asked, const struct cbx_image_package *provider,
                       struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL,
                    "'%.*s' is a module, not a package: it is in '%.*s' %.*s, which the sandbox "
                    "image has; ask for '%.*s'",
                    CBX_STR_SHOWN(asked->name), CBX_STR_SHOWN(provider->name),
                    CBX_STR_SHOWN(provider->version), CBX_STR_SHOWN(provider->name));
}

/* A module that comes with the language: "json" of Python, "fs" and "node:fs" of Node.js. A
 * package of the index with such a name is another one, which no program would load by that
 * name. */
static int check_builtin(const struct asked *asked, struct cbx_err *err)
{
    bool prefixed = asked->npm && cbx_str_starts(asked->text, CBX_STR("node:"));
    struct cbx_str name = prefixed ? cbx_str_sub(asked->text, 5, asked->text.len) : asked->text;
    if (cbx_known_builtin(name, !asked->npm)) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is part of %s, there is nothing to install; leave it out",
                        CBX_STR_SHOWN(cbx_str_sub(asked->text, 0, CBX_REQUIREMENT_BYTES_MAX)),
                        asked->npm ? "Node.js" : "Python");
    }
    return 0;
}

/* --- what is installed ------------------------------------------------------------------------ */

static bool is_installed(const struct asked *asked, const struct cbx_resolved *installed)
{
    bool found = false;
    for (size_t i = 0; i < installed->count && !found; i++) {
        const struct cbx_resolved_package *p = &installed->items[i];
        const struct cbx_image_package package = { .name = p->name, .version = p->version };
        bool same = asked->npm ? cbx_str_equal(package.name, asked->name)
                               : cbx_package_same(package.name, asked->name);
        found = same && !cbx_resolved_is_nested(p) && holds(asked, &package);
    }
    return found;
}

/* --- the policy ------------------------------------------------------------------------------- */

/* Judges like the line of a notebook that would install it. The image's packages are not
 * installed, so the policy judges only the name: a version that it would not install may be
 * present, with Debian's fixes. */
static int judge(struct cbx_service *service, const struct cbx_dependencies *d,
                 const struct asked *asked, struct cbx_outcome *denial, struct cbx_err *err)
{
    char line[CBX_REQUIREMENT_BYTES_MAX + 32];
    snprintf(line, sizeof(line), "%%pip install '%.*s'",
             CBX_STR_ARG(asked->name)); /* a name has no quote */
    struct cbx_request request =
        cbx_service_request(CBX_ACTION_CHECK, d->principal, cbx_dialect_default(), d->policy,
                            CBX_STR(""), cbx_str_of(line), NULL, d->origin);
    if (!asked->npm) {
        return cbx_review(service->flow, &request, NULL, denial, err);
    }
    return 0;
}

/* --- one of them ------------------------------------------------------------------------------ */

/* The contents of the sandbox. */
struct sandbox {
    const struct cbx_contents *image;
    const struct cbx_resolved *installed;
};

/* The caller's requirements: those that the sandbox fulfils, and those to install. */
struct wanted {
    struct cbx_str items[CBX_REQUIREMENTS_MAX];
    size_t count;
    struct asked held[CBX_REQUIREMENTS_MAX];
    size_t held_count;
};

/* Adds an example; if the other manager's notation was used, an example of this one: "ms>=2" for
 * npm, "lodash@^4" for pip. */
static int fail_unreadable(const struct asked *asked, size_t i, struct cbx_err *err)
{
    struct cbx_requirement r;
    struct cbx_str text = cbx_str_sub(asked->text, 0, CBX_REQUIREMENT_BYTES_MAX);
    if (asked->npm && asked->text.len <= CBX_REQUIREMENT_BYTES_MAX &&
        cbx_requirement_parse(asked->text, &r) && cbx_requirement_is_plain(&r) &&
        r.specifiers.len > 0 && r.extras.len == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "dependencies[%zu] is '%.*s', as for Python; for npm write '%.*s@%.*s'", i,
                        CBX_STR_SHOWN(text), CBX_STR_SHOWN(r.name), CBX_STR_SHOWN(r.specifiers));
    }
    return cbx_fail(err, CBX_EINVAL,
                    asked->npm ? "dependencies[%zu] is '%.*s', allowed is a package name with an "
                                 "optional range: lodash, lodash@^4"
                               : "dependencies[%zu] is '%.*s', allowed is a package name with "
                                 "optional extras and versions: numpy, numpy>=2",
                    i, CBX_STR_SHOWN(text));
}

static int read_asked(const struct cbx_dependencies *d, size_t i, struct asked *out,
                      struct cbx_err *err)
{
    const json_t *item = json_array_get(d->list, i);
    const char *shown = cbx_dialect_shown(d->language);
    *out = (struct asked){ .language = shown,
                           .npm = cbx_language_manager(cbx_str_of(shown)) == CBX_MANAGER_NPM,
                           .text = cbx_json_str(item) };
    if (!json_is_string(item)) {
        return cbx_fail(err, CBX_EINVAL,
                        "dependencies[%zu] is no string, allowed is a package name such as 'numpy'",
                        i);
    }
    int builtin = check_builtin(out, err);
    if (builtin) {
        return builtin;
    }
    if (!parse(out)) {
        return fail_unreadable(out, i, err);
    }
    return 0;
}

/* Adds the i-th to the present or missing ones of `wanted`. Judges nothing. */
static int sort_out(const struct cbx_dependencies *d, size_t i, const struct sandbox *sandbox,
                    struct wanted *wanted, struct cbx_err *err)
{
    struct asked asked;
    int failed = read_asked(d, i, &asked, err);
    if (failed) {
        return failed;
    }
    const struct cbx_image_package *package = cbx_contents_find(sandbox->image, asked.name),
                                   *provider = cbx_contents_provider(sandbox->image, asked.name);
    if ((package != NULL && holds(&asked, package)) || is_installed(&asked, sandbox->installed)) {
        wanted->held[wanted->held_count++] = asked;
        return 0;
    }
    if (package == NULL && provider != NULL) {
        return fail_module(&asked, provider, err);
    }
    if (d->exists) {
        return cbx_fail(err, CBX_ESTATE,
                        "this session does not have '%.*s', and what a session has is installed "
                        "when it is opened; open a new one with these dependencies",
                        CBX_STR_SHOWN(asked.text));
    }
    wanted->items[wanted->count++] = asked.text;
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    return cbx_str_compare(*(const struct cbx_str *)a, *(const struct cbx_str *)b);
}

/* Adds the image's version of it, or similar names. */
static int explain(int failed, const struct cbx_contents *contents, const struct wanted *wanted,
                   struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) nearest;
    cbx_buf_init(&nearest, 1024);
    struct cbx_requirement requirement;
    const struct cbx_image_package *package = NULL;
    bool later = failed == CBX_EQUOTA || failed == CBX_EBUSY || failed == CBX_ECANCELLED;
    if (!failed || later || wanted->count != 1) {
        return failed;
    }
    if (cbx_requirement_parse(wanted->items[0], &requirement)) {
        package = cbx_contents_find(contents, requirement.name);
    }
    if (package != NULL) {
        cbx_image_package_add(package, &nearest);
    }
    if (package != NULL || cbx_contents_add_nearest(contents, wanted->items[0], &nearest)) {
        const struct cbx_err before = *err;
        cbx_fail(err, failed, "%s; the sandbox image has %s", before.text, nearest.p);
    }
    return failed;
}

static int install(struct cbx_service *service, const struct cbx_dependencies *d,
                   const struct cbx_contents *contents, struct wanted *wanted, struct cbx_buf *set,
                   struct cbx_outcome *denial, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) requirements;
    cbx_buf_init(&requirements, (size_t)CBX_REQUIREMENTS_MAX * (CBX_REQUIREMENT_BYTES_MAX + 1));
    cbx_sort_heap(wanted->items, wanted->count, sizeof(wanted->items[0]), compare_texts);
    for (size_t i = 0; i < wanted->count; i++) {
        cbx_buf_add(&requirements, wanted->items[i]);
        cbx_buf_add_char(&requirements, '\n');
    }
    const struct cbx_package_order order = { .policy = d->policy,
                                             .language = d->language,
                                             .requirements = cbx_buf_str(&requirements),
                                             .origin = d->origin,
                                             .principal = d->principal,
                                             .claims = d->claims,
                                             .progress = d->progress,
                                             .gone = d->gone,
                                             .context = d->context };
    return explain(cbx_service_install(service, &order, set, denial, err), contents, wanted, err);
}

/* Compares the i-th with those before it: npm would silently install the last one of a name. pip
 * combines all ranges. */
static int check_name(const struct cbx_dependencies *d, size_t i, struct cbx_err *err)
{
    struct asked asked, before;
    int failed = read_asked(d, i, &asked, err);
    if (failed || !asked.npm) {
        return failed;
    }
    for (size_t k = 0; k < i; k++) {
        bool same = read_asked(d, k, &before, err) == 0 && cbx_str_equal(asked.name, before.name);
        if (same && !cbx_str_equal(asked.text, before.text)) {
            return cbx_fail(err, CBX_EINVAL,
                            "dependencies has '%.*s' and '%.*s': programs load one version of a "
                            "package",
                            CBX_STR_SHOWN(before.text), CBX_STR_SHOWN(asked.text));
        }
    }
    return 0;
}

static int read_sandbox(struct cbx_service *service, const struct cbx_dependencies *d,
                        struct cbx_contents *image, struct cbx_resolved *installed,
                        struct cbx_err *err)
{
    struct cbx_str language = cbx_str_of(cbx_dialect_shown(d->language));
    enum cbx_spec_kind kind = cbx_spec_kind_of(cbx_language_manager(language));
    int failed = cbx_contents_ask(service->flow, language, d->policy, image, err);
    if (failed) {
        return failed;
    }
    return cbx_resolved_read_set(kind, d->installed, installed, err);
}

/* --- mistakes --------------------------------------------------------------------------------- */

/* Mistakes in the caller's list: a model corrects all of them at once if all are reported. */
struct mistakes {
    bool wrong[CBX_REQUIREMENTS_MAX];
    size_t count, told;
    int code;            /* code of the first one */
    struct cbx_buf text; /* as many of them as fit an error */
};

static void note_mistake(struct mistakes *mistakes, size_t i, const struct cbx_err *err)
{
    enum { ROOM = CBX_ERR_TEXT_BYTES - 64 }; /* beside what tell_mistakes() adds */
    mistakes->code = mistakes->count == 0 ? err->code : mistakes->code;
    mistakes->wrong[i] = true;
    mistakes->count++;
    if (mistakes->count == 1 || mistakes->text.len + strlen(err->text) < ROOM) {
        cbx_buf_printf(&mistakes->text, "%s%s", mistakes->told > 0 ? "; " : "", err->text);
        mistakes->told++;
    }
}

static int tell_mistakes(const struct mistakes *mistakes, struct cbx_err *err)
{
    size_t more = mistakes->count - mistakes->told;
    if (mistakes->count == 1) {
        return cbx_fail(err, mistakes->code, "%s", mistakes->text.p);
    }
    if (more == 0) {
        return cbx_fail(err, mistakes->code, "%zu mistakes: %s", mistakes->count, mistakes->text.p);
    }
    return cbx_fail(err, mistakes->code, "%zu mistakes: %s; and %zu more", mistakes->count,
                    mistakes->text.p, more);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Checks each one alone, without calls to other processes. */
static void check_names(const struct cbx_dependencies *d, struct mistakes *mistakes)
{
    for (size_t i = 0; i < json_array_size(d->list); i++) {
        struct cbx_err err = { 0 };
        if (check_name(d, i, &err) != 0) {
            note_mistake(mistakes, i, &err);
        }
    }
}

/* Checks the correct ones against the contents of the sandbox. */
static void sort_all(const struct cbx_dependencies *d, const struct sandbox *sandbox,
                     struct wanted *wanted, struct mistakes *mistakes)
{
    for (size_t i = 0; i < json_array_size(d->list); i++) {
        struct cbx_err err = { 0 };
        if (!mistakes->wrong[i] && sort_out(d, i, sandbox, wanted, &err) != 0) {
            note_mistake(mistakes, i, &err);
        }
    }
}

/* Ends at the first denial. */
static int judge_held(struct cbx_service *service, const struct cbx_dependencies *d,
                      const struct wanted *wanted, struct cbx_outcome *denial, struct cbx_err *err)
{
    int failed = 0;
    for (size_t i = 0; i < wanted->held_count && !failed && denial->verdict == CBX_ALLOW; i++) {
        CBX_AUTO_DONE(outcome) outcome = { .verdict = CBX_ALLOW };
        failed = judge(service, d, &wanted->held[i], &outcome, err);
        if (!failed && outcome.verdict != CBX_ALLOW) {
            *denial = outcome;
            outcome = (struct cbx_outcome){ 0 };
        }
    }
    return failed;
}

static int have_all(struct cbx_service *service, const struct cbx_dependencies *d,
                    struct mistakes *mistakes, struct cbx_buf *set, struct cbx_outcome *denial,
                    struct cbx_err *err)
{
    CBX_AUTO_DONE(contents) image = { 0 };
    CBX_AUTO_DONE(resolved) installed = { 0 };
    const struct sandbox sandbox = { &image, &installed };
    struct wanted wanted = { .count = 0 };
    check_names(d, mistakes);
    int failed = read_sandbox(service, d, &image, &installed, err);
    if (!failed) {
        sort_all(d, &sandbox, &wanted, mistakes);
    }
    if (mistakes->count > 0) {
        return tell_mistakes(mistakes, err);
    }
    if (failed) {
        return failed;
    }
    failed = judge_held(service, d, &wanted, denial, err);
    if (failed || denial->verdict != CBX_ALLOW || wanted.count == 0) {
        return failed;
    }
    return install(service, d, &image, &wanted, set, denial, err);
}

int cbx_service_have_dependencies(struct cbx_service *service, const struct cbx_dependencies *d,
                                  struct cbx_buf *set, struct cbx_outcome *denial,
                                  struct cbx_err *err)
{
    struct mistakes mistakes = { .count = 0 };
    size_t count = json_array_size(d->list);
    denial->verdict = CBX_ALLOW;
    if (count == 0) {
        return 0;
    }
    if (count > CBX_REQUIREMENTS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "dependencies has %zu items, allowed are %d", count,
                        CBX_REQUIREMENTS_MAX);
    }
    cbx_buf_init(&mistakes.text, 4096);
    int failed = have_all(service, d, &mistakes, set, denial, err);
    cbx_buf_done(&mistakes.text);
    return failed;
}
