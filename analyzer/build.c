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

/* --- files of an image ------------------------------------------------------------------------ */

/* Files of the system and of homes that a rule may take for files of the host. Keys and tokens
 * are not among them: an image must not have them. */
static const char *const image_files[] = {
    "/etc/passwd*",    "/etc/group*", "/etc/shadow*",     "/etc/gshadow*",      "/etc/sudoers*",
    "/etc/profile*",   "/etc/cron*",  "/var/spool/cron*", "*/.bashrc",          "*/.profile",
    "*/.bash_profile", "*/.zshrc",    "~/.ssh",           "*/.ssh/known_hosts",
};

/* The same, as names in the working folder. */
static const char *const image_names[] = { ".bashrc", ".profile", ".bash_profile", ".zshrc" };

/* Returns the end of the path that begins at `at`. */
static size_t end_of_path(struct cbx_str text, size_t at)
{
    while (at < text.len && strchr(" \t\n\"'`;&|<>(),:=", text.p[at]) == NULL) {
        at++;
    }
    return at;
}

/* Returns true if a path begins at `at`, and no word before it: "/...", "~/...", and "*" for a
 * folder that is not known. */
static bool begins_path(struct cbx_str text, size_t at)
{
    char c = text.p[at];
    bool folder = (c == '~' || c == '*') && at + 1 < text.len && text.p[at + 1] == '/';
    return (folder || c == '/') && (at == 0 || end_of_path(text, at - 1) == at - 1);
}

/* Returns the text without the paths of the image's own files. /root becomes "~": a file of root's
 * home is none of the host's. */
static struct cbx_str without_image_files(struct cbx_arena *arena, struct cbx_str text)
{
    struct cbx_str out = { .p = text.p };
    size_t done = 0;
    if (IS_ONE_OF(text, image_names)) {
        return out;
    }
    for (size_t at = 0; at < text.len; at++) {
        if (!begins_path(text, at)) {
            continue;
        }
        size_t end = end_of_path(text, at);
        struct cbx_str path = cbx_str_sub(text, at, end), root = CBX_STR("/root");
        bool in_root = cbx_str_starts(path, root) && (path.len == 5 || path.p[5] == '/');
        if (in_root) {
            path = CBX_JOIN(arena, CBX_STR("~"), cbx_str_sub(path, root.len, path.len));
        }
        bool own = IS_ONE_OF(path, image_files);
        if (own || in_root) {
            out = CBX_JOIN(arena, out, cbx_str_sub(text, done, at), own ? CBX_STR("") : path);
            done = end;
        }
        at = end;
    }
    return done > 0 ? CBX_JOIN(arena, out, cbx_str_sub(text, done, text.len)) : text;
}

/* --- what counts ------------------------------------------------------------------------------ */

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
        if (build == CBX_BUILD_IMAGE && fact.kind == CBX_IS_LITERAL) {
            fact.name = without_image_files(facts->arena, fact.name);
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
