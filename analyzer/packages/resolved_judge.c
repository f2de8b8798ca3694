/* SPDX-License-Identifier: MIT
 * Judges resolved packages against the policy, and writes its findings. */
#include "analyzer/packages/known.h"
#include "analyzer/packages/package_check.h"
#include "analyzer/packages/resolved.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/versions/version.h"

#include <string.h>

enum { CHAIN_MAX = 16, NAME_BYTES = 256 };

struct judging {
    const struct cbx_resolved *resolved;
    const struct cbx_packages *packages; /* of the policy */
    struct cbx_resolved_finding *out;
    size_t count, max;
};

static void note(struct judging *j, size_t package, enum cbx_resolved_problem problem,
                 struct cbx_str wanted)
{
    if (j->count < j->max) {
        j->out[j->count] = (struct cbx_resolved_finding){ package, problem, wanted };
    }
    j->count++;
}

static bool is_below(enum cbx_spec_kind kind, struct cbx_str version, struct cbx_str minimum)
{
    struct cbx_semver have, least;
    bool ok = true;
    if (kind != CBX_SPEC_NPM) {
        int order = cbx_version_compare(version, minimum, &ok);
        return !ok || order < 0;
    }
    return !cbx_semver_parse(version, &have) || !cbx_semver_parse(minimum, &least) ||
           cbx_semver_order(&have, &least) < 0;
}

static void judge_version(struct judging *j, size_t i)
{
    const struct cbx_resolved_package *p = &j->resolved->items[i];
    bool python = j->resolved->kind != CBX_SPEC_NPM;
    for (size_t m = 0; m < j->packages->minimum_count; m++) {
        const struct cbx_minimum *minimum = &j->packages->minimum[m];
        bool same = python ? cbx_package_same(p->name, minimum->name)
                           : cbx_str_equal(p->name, minimum->name);
        if (same && is_below(j->resolved->kind, p->version, minimum->version)) {
            note(j, i, CBX_RESOLVED_BELOW, minimum->version);
        }
    }
}

static void judge_name(struct judging *j, size_t i)
{
    const struct cbx_resolved_package *p = &j->resolved->items[i];
    bool python = j->resolved->kind != CBX_SPEC_NPM;
    bool blocked = cbx_packages_blocks(j->packages, p->name, python, false);
    bool allowed = cbx_packages_lists(&j->packages->allow, p->name, python);
    /* A stranger chooses the names that a package of the index requires. Installed packages were
     * judged before. */
    bool installed = j->resolved->json == NULL;
    struct cbx_str meant =
        blocked || allowed || installed ? CBX_STR("") : cbx_known_meant(python, p->name);
    if (blocked) {
        note(j, i, CBX_RESOLVED_BLOCKED, CBX_STR(""));
    } else if (j->packages->mode == CBX_PACKAGES_NONE ||
               (j->packages->mode == CBX_PACKAGES_ALLOWLIST && !allowed)) {
        note(j, i, CBX_RESOLVED_NOT_LISTED, CBX_STR(""));
    }
    if (meant.len > 0) {
        note(j, i, CBX_RESOLVED_LOOK_ALIKE, meant);
    }
    judge_version(j, i);
}

static void judge_file(struct judging *j, size_t i)
{
    const struct cbx_resolved_package *p = &j->resolved->items[i];
    const struct {
        bool holds;
        enum cbx_resolved_problem problem;
    } rows[] = {
        { p->is_direct && !cbx_packages_source(j->packages, "url"), CBX_RESOLVED_DIRECT },
        { p->is_source, CBX_RESOLVED_SOURCE },
        { p->is_yanked, CBX_RESOLVED_YANKED },
        { p->hash.len == 0, CBX_RESOLVED_NO_HASH },
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        if (rows[r].holds) {
            note(j, i, rows[r].problem, CBX_STR(""));
        }
    }
}

size_t cbx_resolved_judge(const struct cbx_resolved *resolved, const struct cbx_policy *policy,
                          struct cbx_resolved_finding *out, size_t max)
{
    struct judging j = { .resolved = resolved,
                         .packages = cbx_packages_of(policy, resolved->kind),
                         .out = out,
                         .max = max };
    for (size_t i = 0; i < resolved->count; i++) {
        if (j.packages->transitive || resolved->items[i].by == CBX_RESOLVED_ASKED) {
            judge_name(&j, i);
        }
        judge_file(&j, i);
    }
    return j.count;
}

/* --- texts ------------------------------------------------------------------------------------ */

void cbx_resolved_add_chain(const struct cbx_resolved *resolved, size_t package,
                            struct cbx_buf *out)
{
    size_t chain[CHAIN_MAX], count = 0;
    while (package != CBX_RESOLVED_ASKED && count < CHAIN_MAX) {
        chain[count++] = package;
        package = resolved->items[package].by;
    }
    cbx_buf_add_cstr(out, package != CBX_RESOLVED_ASKED ? "... -> " : "");
    while (count-- > 0) {
        const struct cbx_resolved_package *p = &resolved->items[chain[count]];
        cbx_buf_add(out, p->name);
        cbx_buf_add_char(out, ' ');
        cbx_buf_add(out, p->version);
        cbx_buf_add_cstr(out, count > 0 ? " -> " : "");
    }
}

void cbx_resolved_add_finding(const struct cbx_resolved *resolved,
                              const struct cbx_resolved_finding *finding, struct cbx_buf *out)
{
    static const struct {
        const char *problem, *before, *after; /* the minimum stands between the last two parts */
    } texts[] = {
        [CBX_RESOLVED_BLOCKED] = { "is blocked by the policy", "", "" },
        [CBX_RESOLVED_NOT_LISTED] = { "is not one of the packages that the policy allows", "", "" },
        [CBX_RESOLVED_BELOW] = { "is older than the policy allows", "; ask for version ",
                                 " or newer" },
        [CBX_RESOLVED_LOOK_ALIKE] = { "looks like another package", "; did you mean ", "?" },
        [CBX_RESOLVED_DIRECT] = { "comes from a URL, not from the index", "", "" },
        [CBX_RESOLVED_SOURCE] = { "is no wheel: code of its own would run when it is installed", "",
                                  "" },
        [CBX_RESOLVED_YANKED] = { "was withdrawn by its authors", "", "; ask for another version" },
        [CBX_RESOLVED_NO_HASH] = { "has no hash in the index", "", "" },
    };
    const struct cbx_resolved_package *p = &resolved->items[finding->package];
    cbx_resolved_add_chain(resolved, finding->package, out);
    cbx_buf_printf(out, ": %.*s %s%s", CBX_STR_ARG(p->name), texts[finding->problem].problem,
                   texts[finding->problem].before);
    cbx_buf_add(out, finding->wanted);
    cbx_buf_add_cstr(out, texts[finding->problem].after);
}

/* --- the text of a set ------------------------------------------------------------------------ */

struct line {
    char name[NAME_BYTES];
    const struct cbx_resolved_package *package;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = cbx_str_compare(x->package->path, y->package->path);
    if (order != 0) {
        return order;
    }
    order = strcmp(x->name, y->name);
    if (order != 0) {
        return order;
    }
    order = cbx_str_compare(x->package->version, y->package->version);
    if (order != 0) {
        return order;
    }
    return cbx_str_compare(x->package->hash, y->package->hash);
}

static void add_field(struct cbx_buf *out, const char *before, struct cbx_str field)
{
    cbx_buf_add_cstr(out, before);
    cbx_buf_add(out, field.len > 0 ? field : CBX_STR("-"));
}

void cbx_resolved_write(const struct cbx_resolved *resolved, struct cbx_buf *out)
{
    struct line *lines = cbx_new_array(resolved->count + 1, sizeof(*lines));
    bool npm = resolved->kind == CBX_SPEC_NPM;
    for (size_t i = 0; i < resolved->count; i++) {
        const struct cbx_resolved_package *p = &resolved->items[i];
        lines[i].package = p;
        if (npm) {
            snprintf(lines[i].name, NAME_BYTES, "%.*s", (int)p->name.len, p->name.p);
        } else {
            cbx_package_normalise(p->name, lines[i].name, NAME_BYTES);
        }
    }
    cbx_sort_heap(lines, resolved->count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < resolved->count; i++) {
        const struct cbx_resolved_package *p = lines[i].package;
        if (npm) {
            add_field(out, "", p->path);
        }
        add_field(out, npm ? " " : "", cbx_str_of(lines[i].name));
        add_field(out, " ", p->version);
        add_field(out, npm || p->hash.len == 0 ? " " : " sha256:", p->hash);
        if (npm) {
            add_field(out, " ", p->url);
        }
        cbx_buf_add_char(out, '\n');
    }
    free(lines);
}
