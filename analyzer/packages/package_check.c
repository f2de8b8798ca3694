/* SPDX-License-Identifier: MIT
 * Checks packages against the policy. */
#include "analyzer/packages/package_check.h"

#include "analyzer/packages/known.h"
#include "policies/versions/version.h"

#include <ctype.h>

enum { NAME_MAX_BYTES = 214 }; /* npm's limit on a name; PyPI allows longer names */

const struct cbx_packages *cbx_packages_of(const struct cbx_policy *policy, enum cbx_spec_kind kind)
{
    return kind == CBX_SPEC_NPM ? &policy->npm : &policy->pip;
}

static struct cbx_fact *add_named(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_str name,
                                  uint32_t start, uint32_t end)
{
    struct cbx_fact *fact = cbx_facts_add(facts, CBX_IS_SPECIAL, name, start, end);
    if (fact != NULL) {
        fact->special = id;
    }
    return fact;
}

void cbx_packages_add(struct cbx_parsed *parsed, enum cbx_fact_id id, const struct cbx_word *word)
{
    add_named(parsed->facts, id, word->known ? word->text : CBX_STR("(computed)"), word->start,
              word->end);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool glob_covers(struct cbx_str glob, struct cbx_str name)
{
    char pattern[256], text[256];
    cbx_package_normalise(name, text, sizeof(text));
    cbx_package_normalise(glob, pattern, sizeof(pattern));
    /* normalisation would break the ranges of a set */
    bool set = memchr(glob.p, '[', glob.len) != NULL;
    return cbx_str_glob(set ? glob : cbx_str_of(pattern), cbx_str_of(text));
}

static bool is_glob(struct cbx_str text)
{
    return text.len > 0 &&
           (memchr(text.p, '*', text.len) != NULL || memchr(text.p, '?', text.len) != NULL ||
            memchr(text.p, '[', text.len) != NULL);
}

/* A quick test: most names differ in their first letter. */
static bool may_cover(struct cbx_str item, struct cbx_str name)
{
    bool letters = item.len > 0 && name.len > 0 && isalnum((unsigned char)item.p[0]) &&
                   isalnum((unsigned char)name.p[0]);
    return !letters || (item.p[0] | 32) == (name.p[0] | 32);
}

static bool covers(struct cbx_str item, struct cbx_str name, bool python)
{
    if (python) {
        return is_glob(item) ? glob_covers(item, name) : cbx_package_same(item, name);
    }
    return is_glob(item) ? cbx_str_glob(item, name) : cbx_str_equal(item, name);
}

bool cbx_packages_lists(const struct cbx_strs *list, struct cbx_str name, bool python)
{
    for (size_t i = 0; i < list->count; i++) {
        struct cbx_str item = list->items[i];
        if (may_cover(item, name) && covers(item, name, python)) {
            return true;
        }
    }
    return false;
}

bool cbx_packages_blocks(const struct cbx_packages *packages, struct cbx_str name, bool python,
                         bool build)
{
    return cbx_packages_lists(&packages->block, name, python) ||
           (!build && cbx_packages_lists(&packages->block_in_sandboxes, name, python));
}

static void check_minimum(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                          const struct cbx_spec *spec, const struct cbx_word *word)
{
    const struct cbx_packages *packages = cbx_packages_of(parsed->policy, kind);
    for (size_t i = 0; i < packages->minimum_count; i++) {
        const struct cbx_minimum *m = &packages->minimum[i];
        bool same = kind == CBX_SPEC_NPM ? cbx_str_equal(spec->name, m->name)
                                         : cbx_package_same(spec->name, m->name);
        if (same && cbx_spec_below(kind, spec, m->version)) {
            cbx_packages_add(parsed, CBX_FACT_PACKAGE_BELOW_MINIMUM, word);
        }
    }
}

static void check_look_alike(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                             const struct cbx_spec *spec, const struct cbx_word *word)
{
    struct cbx_str meant = cbx_known_meant(kind != CBX_SPEC_NPM, spec->name);
    struct cbx_fact *fact = meant.len > 0 ? add_named(parsed->facts, CBX_FACT_PACKAGE_LOOK_ALIKE,
                                                      word->text, word->start, word->end)
                                          : NULL;
    if (fact != NULL) {
        fact->detail = meant;
    }
}

static void check_name(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                       const struct cbx_spec *spec, const struct cbx_word *word)
{
    const struct cbx_packages *packages = cbx_packages_of(parsed->policy, kind);
    bool python = kind != CBX_SPEC_NPM;
    bool blocked = cbx_packages_blocks(packages, spec->name, python, parsed->project);
    bool allowed = cbx_packages_lists(&packages->allow, spec->name, python);
    if (blocked) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_BLOCKED, word);
    }
    if (!parsed->locked && (packages->mode == CBX_PACKAGES_NONE ||
                            (packages->mode == CBX_PACKAGES_ALLOWLIST && !allowed))) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_NOT_LISTED, word);
    }
    if (!blocked && !allowed && spec->origin == CBX_FROM_INDEX) {
        check_look_alike(parsed, kind, spec, word);
    }
    check_minimum(parsed, kind, spec, word);
}

/* --- words ------------------------------------------------------------------------------------ */

bool cbx_packages_source(const struct cbx_packages *packages, const char *source)
{
    for (size_t i = 0; i < packages->sources.count; i++) {
        if (cbx_str_is(packages->sources.items[i], source)) {
            return true;
        }
    }
    return false;
}

bool cbx_packages_takes_source(const struct cbx_parsed *parsed, const struct cbx_packages *packages,
                               const char *source)
{
    bool of_project = strcmp(source, "requirements") == 0 || strcmp(source, "path") == 0;
    return (parsed->project && of_project) || cbx_packages_source(packages, source);
}

void cbx_packages_check_text(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                             const struct cbx_word *word, struct cbx_str text)
{
    static const char *const sources[] = { "index", "url", "vcs", "path" };
    const struct cbx_packages *packages = cbx_packages_of(parsed->policy, kind);
    struct cbx_spec spec;
    cbx_spec_read(kind, text, &spec);
    if (spec.malformed || spec.name.len > NAME_MAX_BYTES) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_UNRESOLVED, word);
        /* "paramiko," is malformed, but the name is still checked. */
    }
    if (spec.never) {
        return;
    }
    bool channel = spec.channel.len > 0 && !cbx_packages_index(packages, kind, spec.channel);
    bool source = cbx_packages_takes_source(parsed, packages, sources[spec.origin]) && !channel;
    if (!source) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_SOURCE, word);
    }
    if (spec.name.len > 0 && spec.origin == CBX_FROM_INDEX && kind == CBX_SPEC_PIP) {
        add_named(parsed->facts, CBX_FACT_PACKAGE_REQUESTED, text, word->start, word->end);
    }
    bool named = !parsed->locked || packages->transitive;
    if (spec.name.len > 0 && named) {
        check_name(parsed, kind, &spec, word);
    } else if (spec.name.len == 0 && source && packages->mode != CBX_PACKAGES_BLOCKLIST &&
               !spec.malformed) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_NOT_LISTED, word);
    }
}

void cbx_packages_check(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                        const struct cbx_word *word)
{
    if (!word->known) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_UNRESOLVED, word);
    } else if (word->text.len > 0) {
        cbx_packages_check_text(parsed, kind, word, word->text);
    }
}

/* --- imports ---------------------------------------------------------------------------------- */

/* Returns true if all distributions that provide this import are blocked. *name is the first of
 * them. */
static bool is_import_blocked(const struct cbx_packages *packages, struct cbx_str import,
                              bool python, struct cbx_str *name)
{
    struct cbx_str rest = cbx_known_distributions(import, python);
    *name = (struct cbx_str){ 0 };
    while (rest.len > 0) {
        const char *space = memchr(rest.p, ' ', rest.len);
        size_t end = space != NULL ? (size_t)(space - rest.p) : rest.len;
        struct cbx_str one = cbx_str_sub(rest, 0, end);
        if (!cbx_packages_blocks(packages, one, python, false)) {
            return false;
        }
        *name = name->len > 0 ? *name : one;
        rest = cbx_str_sub(rest, end + 1, rest.len);
    }
    return name->len > 0 && !cbx_known_builtin(import, python);
}

static size_t count_blocked(const struct cbx_packages *packages)
{
    return packages->block.count + packages->block_in_sandboxes.count;
}

void cbx_packages_imports(const struct cbx_policy *policy, struct cbx_facts *facts)
{
    bool none = count_blocked(&policy->pip) + count_blocked(&policy->npm) == 0;
    for (size_t i = 0, count = none ? 0 : facts->count; i < count; i++) {
        struct cbx_fact fact = facts->items[i];
        bool python = fact.language == CBX_PYTHON;
        struct cbx_str name;
        if (fact.kind != CBX_IS_IMPORT || fact.language == CBX_SHELL ||
            !is_import_blocked(python ? &policy->pip : &policy->npm, fact.name, python, &name)) {
            continue;
        }
        struct cbx_fact *added = add_named(facts, CBX_FACT_PACKAGE_BLOCKED, name, 0, 0);
        if (added != NULL) {
            added->start = fact.start; /* facts->base is part of the place already */
            added->end = fact.end;
            added->language = fact.language;
        }
    }
}
