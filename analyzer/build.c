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

/* Commands that write what they download to a file. */
static const char *const downloaders[] = { "curl", "wget", "aria2c", "fetch", "http" };

/* Commands that compare a file with what its author published. */
static const char *const checks[] = { "sha*sum", "shasum",  "b2sum",    "gpg*",
                                      "cosign",  "openssl", "minisign", "signify" };

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

/* --- files that were downloaded --------------------------------------------------------------- */

enum { FILES_MAX = 256 };

/* The files that the source has downloaded and not checked. */
struct downloads {
    struct cbx_str files[FILES_MAX];
    size_t count;
    bool full;   /* there are more, so each file may be one of them */
    bool writes; /* the last call was a download: a redirection behind it is its file */
    bool keeps;  /* and an address behind it has the name of its file */
};

/* Returns the text of an argument; empty if it is unknown. */
static struct cbx_str text_of(const struct cbx_arg *arg)
{
    if (arg->known && arg->constant) {
        return arg->value;
    }
    return arg->partial_count == 1 ? arg->partials[0] : CBX_STR("");
}

static struct cbx_str without_dot(struct cbx_str path)
{
    while (cbx_str_starts(path, CBX_STR("./"))) {
        path = cbx_str_sub(path, 2, path.len);
    }
    return path;
}

static void add_file(struct downloads *d, struct cbx_str path)
{
    path = without_dot(path);
    if (path.len == 0 || memchr(path.p, '*', path.len) != NULL) {
        return;
    }
    d->full |= d->count == FILES_MAX;
    if (!d->full) {
        d->files[d->count++] = path;
    }
}

static bool has_file(const struct downloads *d, struct cbx_str path)
{
    path = without_dot(path);
    size_t i = 0;
    while (i < d->count && !cbx_str_equal(d->files[i], path)) {
        i++;
    }
    return i < d->count || d->full;
}

/* Returns the name under which a file of this address is stored. */
static struct cbx_str name_in_address(struct cbx_str address)
{
    const char *scheme = address.len > 0 ? memmem(address.p, address.len, "://", 3) : NULL;
    if (scheme == NULL) {
        return CBX_STR("");
    }
    size_t end = 0;
    while (end < address.len && address.p[end] != '?' && address.p[end] != '#') {
        end++;
    }
    struct cbx_str path = cbx_str_sub(address, (size_t)(scheme - address.p) + 3, end);
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    return slash != NULL ? cbx_str_sub(path, (size_t)(slash - path.p) + 1, path.len) : CBX_STR("");
}

/* curl has -O, also behind other letters (-fsSLO); the other commands do it by themselves. */
static bool keeps_name(const struct cbx_fact *call)
{
    bool keeps = !cbx_str_is(call->name, "curl");
    for (uint32_t i = 0; i < call->arg_count && !keeps; i++) {
        struct cbx_str option = text_of(&call->args[i]);
        bool letters = option.len > 1 && option.p[0] == '-' && option.p[1] != '-';
        keeps = cbx_str_starts(option, CBX_STR("--remote-name")) ||
                (letters && (option.p[1] == 'O' || option.p[option.len - 1] == 'O'));
    }
    return keeps;
}

static void follow_call(struct downloads *d, const struct cbx_fact *call)
{
    if (cbx_str_is(call->name, ">")) {
        if (d->writes && call->arg_count > 0) {
            add_file(d, text_of(&call->args[0]));
        }
        return;
    }
    d->writes = IS_ONE_OF(call->name, downloaders);
    if (IS_ONE_OF(call->name, checks)) {
        d->count = 0;
        d->full = false;
    }
    d->keeps = d->writes && keeps_name(call);
}

/* Returns true if the call runs a file that was downloaded: it is the first argument that is no
 * option. */
static bool runs_file(const struct downloads *d, const struct cbx_fact *call)
{
    uint32_t i = 0;
    while (i < call->arg_count && cbx_str_starts(text_of(&call->args[i]), CBX_STR("-"))) {
        i++;
    }
    return d->count > 0 && i < call->arg_count && IS_ONE_OF(call->name, runners) &&
           has_file(d, text_of(&call->args[i]));
}

/* Returns true if the command is a file that was downloaded. A name without a slash is one of
 * PATH. */
static bool is_file(const struct downloads *d, const struct cbx_fact *fact)
{
    return fact->kind == CBX_IS_SPECIAL && fact->special == CBX_FACT_SHELL_NOT_LISTED &&
           fact->name.len > 0 && memchr(fact->name.p, '/', fact->name.len) != NULL &&
           has_file(d, fact->name);
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
        return !(downloads && runs && cbx_str_is(fact->name, "code"));
    default:
        return false;
    }
}

void cbx_build_keep(struct cbx_facts *facts, enum cbx_build build)
{
    bool downloads = has_source(facts), runs = false;
    struct downloads unchecked = { .count = 0 };
    size_t kept = 0;
    for (size_t i = 0; i < facts->count; i++) {
        struct cbx_fact fact = facts->items[i];
        bool shell = fact.language == CBX_SHELL;
        if ((is_shell_call(&fact) && runs_file(&unchecked, &fact)) || is_file(&unchecked, &fact)) {
            facts->items[kept++] = (struct cbx_fact){ .kind = CBX_IS_SPECIAL,
                                                      .special = CBX_FACT_SHELL_UNRESOLVED,
                                                      .name = CBX_STR("code"),
                                                      .start = fact.start,
                                                      .end = fact.end,
                                                      .language = CBX_SHELL };
            continue;
        }
        if (unchecked.keeps && shell && fact.kind == CBX_IS_LITERAL) {
            add_file(&unchecked, name_in_address(fact.name));
        }
        if (is_shell_call(&fact)) {
            follow_call(&unchecked, &fact);
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
