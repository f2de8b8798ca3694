/* SPDX-License-Identifier: MIT
 * The table of manifests, and the judgement of their packages. */
#include "analyzer/manifest/manifest.h"

#include "analyzer/manifest/readers.h"
#include "analyzer/packages/package_check.h"
#include "analyzer/rules.h"
#include "analyzer/syntax/source.h"

#include <ctype.h>
#include <string.h>

static const struct row {
    const char *glob;
    struct cbx_manifest_reader reader;
} rows[] = {
#define CBX_MANIFEST(glob, name) { glob, { #name, cbx_manifest_read_##name } },
#include "analyzer/manifest/manifest.def"
#undef CBX_MANIFEST
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* False when the last letter tells that the glob does not match: nearly all files are no manifest.
 */
static bool ends_alike(struct cbx_str path, const char *glob)
{
    char last = glob[strlen(glob) - 1];
    return isalnum((unsigned char)last) == 0 || (path.len > 0 && path.p[path.len - 1] == last);
}

/* The end of a path with as many names as the glob has. */
static struct cbx_str end_of_path(struct cbx_str path, const char *glob)
{
    size_t names = 1, at = path.len;
    for (const char *c = glob; *c != '\0'; c++) {
        names += *c == '/';
    }
    while (at > 0 && names > 0) {
        at--;
        names -= path.p[at] == '/';
    }
    return cbx_str_sub(path, names == 0 ? at + 1 : 0, path.len);
}

const struct cbx_manifest_reader *cbx_manifest_reader_of(struct cbx_str path)
{
    enum { PATH_BYTES = 1024 }; /* only the end of a longer path is read */
    char small[PATH_BYTES];
    path = cbx_str_sub(path, path.len > PATH_BYTES ? path.len - PATH_BYTES : 0, path.len);
    for (size_t i = 0; i < path.len; i++) {
        small[i] = (char)tolower((unsigned char)path.p[i]);
    }
    const struct cbx_str whole = { small, path.len };
    for (size_t i = 0; i < ROWS; i++) {
        if (ends_alike(whole, rows[i].glob) &&
            cbx_str_glob(cbx_str_of(rows[i].glob), end_of_path(whole, rows[i].glob))) {
            return &rows[i].reader;
        }
    }
    return NULL;
}

const struct cbx_manifest_reader *cbx_manifest_reader_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].reader.name, name) == 0) {
            return &rows[i].reader;
        }
    }
    return NULL;
}

static void add_word_facts(struct cbx_parsed *parsed, const struct cbx_manifest_word *w,
                           const struct cbx_word *word)
{
    const struct cbx_packages *packages = cbx_packages_of(parsed->policy, w->kind);
    bool listed = false;
    switch (w->role) {
    case CBX_WORD_PACKAGE:
    case CBX_WORD_LOCKED:
        parsed->locked = w->role == CBX_WORD_LOCKED;
        cbx_packages_check(parsed, w->kind, word);
        return;
    case CBX_WORD_FILE:
        listed = cbx_packages_takes_source(parsed, packages, "url");
        break;
    case CBX_WORD_INDEX:
        break;
    case CBX_WORD_CODE:
        cbx_packages_add(parsed, CBX_FACT_SHELL_UNRESOLVED, word);
        return;
    }
    if (!listed && !cbx_packages_takes_index(parsed, packages, w->kind, w->text)) {
        cbx_packages_add(parsed, CBX_FACT_PACKAGE_SOURCE, word);
    }
}

static void add_facts(const struct cbx_policy *policy, const struct cbx_manifest *manifest,
                      struct cbx_arena *arena, struct cbx_facts *facts)
{
    struct cbx_parsed parsed = {
        .policy = policy, .arena = arena, .facts = facts, .project = true
    };
    if (manifest->requirements) {
        cbx_packages_read_lines(&parsed, manifest->text);
    }
    for (size_t i = 0; i < manifest->word_count; i++) {
        const struct cbx_manifest_word *w = &manifest->words[i];
        struct cbx_word word = { w->text, true, w->start, w->end };
        add_word_facts(&parsed, w, &word);
    }
}

int cbx_manifest_judge(const struct cbx_policy *policy, const struct cbx_manifest *manifest,
                       int64_t now, struct cbx_arena *arena, struct cbx_decision *out,
                       struct cbx_err *err)
{
    struct cbx_facts facts = { .arena = arena, .language = CBX_SHELL, .source = CBX_SHELL };
    struct cbx_source source;
    struct cbx_hits hits = { 0 };
    struct cbx_finding *findings;
    *out = (struct cbx_decision){ .language = CBX_STR("shell"), .text = manifest->text };
    int failed = cbx_source_read(manifest->text, false, arena, &facts, &source);
    if (!failed) {
        add_facts(policy, manifest, arena, &facts);
        struct cbx_evidence evidence = { .facts = &facts, .text = source.text };
        failed = cbx_rules_match(policy, &evidence, arena, &hits);
    }
    const struct cbx_deciding deciding = {
        .policy = policy, .now = now, .source = &source, .arena = arena
    };
    if (!failed) {
        failed = cbx_decide(&deciding, &hits, out, &findings);
    }
    if (failed || arena->exhausted) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return 0;
}
