/* SPDX-License-Identifier: MIT
 * The facts that count in a build. */
#include "analyzer/build.h"

/* Commands that print text which others may have written, or that hide its content. */
static const char *const sources[] = { "curl",    "wget",     "fetch", "aria2c", "http",   "nc",
                                       "ncat",    "socat",    "ftp",   "base64", "base32", "xxd",
                                       "openssl", "uudecode", "rev",   "gunzip", "zcat" };

/* Commands that run the text that they are given. */
static const char *const runners[] = { "sh",   "bash",    "dash", "ash",  "zsh",  "ksh",
                                       "eval", "source",  ".",    "node", "perl", "ruby",
                                       "php",  "python*", "env",  "sudo", "xargs" };

#define IS_ONE_OF(name, globs) is_one_of((name), (globs), sizeof(globs) / sizeof((globs)[0]))

static bool is_one_of(struct cbx_str name, const char *const *globs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cbx_str_glob(cbx_str_of(globs[i]), name)) {
            return true;
        }
    }
    return false;
}

static bool is_shell_call(const struct cbx_fact *fact)
{
    return fact->kind == CBX_IS_CALL && fact->language == CBX_SHELL;
}

static bool has_source(const struct cbx_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (is_shell_call(&facts->items[i]) && IS_ONE_OF(facts->items[i].name, sources)) {
            return true;
        }
    }
    return false;
}

/* Returns true for an install whose package is unknown: the word is computed, not malformed. */
static bool is_completed(const struct cbx_fact *fact)
{
    return fact->special == CBX_FACT_PACKAGE_UNRESOLVED && cbx_str_is(fact->name, "(computed)");
}

/* Returns true for a fact that is about the sandbox. `runs`: the command before it runs text. */
static bool is_about_sandbox(const struct cbx_fact *fact, bool downloads, bool runs)
{
    switch (fact->special) {
    case CBX_FACT_SHELL_NOT_LISTED:
    case CBX_FACT_SHELL_EVALUATED:
    case CBX_FACT_SHELL_OPTION:
    case CBX_FACT_SHELL_ARGUMENT:
    case CBX_FACT_SHELL_REDIRECT:
        return true;
    case CBX_FACT_SHELL_UNRESOLVED:
        return !cbx_str_is(fact->name, CBX_DOWNLOADS_RUN) &&
               !(downloads && runs && cbx_str_is(fact->name, "code"));
    default:
        return false;
    }
}

void cbx_build_keep(struct cbx_facts *facts, enum cbx_build build, struct cbx_downloads *earlier)
{
    bool downloads = has_source(facts), runs = false;
    struct cbx_downloads own;
    cbx_downloads_init(&own, facts->arena);
    cbx_downloads_follow(earlier != NULL ? earlier : &own, facts);
    size_t kept = 0;
    for (size_t i = 0; i < facts->count; i++) {
        struct cbx_fact fact = facts->items[i];
        bool shell = fact.language == CBX_SHELL;
        if (is_shell_call(&fact)) {
            runs = IS_ONE_OF(fact.name, runners);
        }
        bool drop =
            shell && (fact.kind == CBX_IS_CALL || fact.kind == CBX_IS_FILES ||
                      (fact.kind == CBX_IS_SPECIAL && is_about_sandbox(&fact, downloads, runs)));
        drop |= build == CBX_BUILD_COMPLETED && fact.kind == CBX_IS_SPECIAL && is_completed(&fact);
        if (!drop) {
            facts->items[kept++] = fact;
        }
    }
    facts->count = kept;
}
