/* SPDX-License-Identifier: MIT
 * Parses words of installs: requirements, constraints, MatchSpecs, npm's specifiers. */
#include "analyzer/packages/spec.h"

#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

#include <ctype.h>

static bool has(struct cbx_str text, const char *part)
{
    return text.len > 0 && memmem(text.p, text.len, part, strlen(part)) != NULL;
}

static bool starts_with_any(struct cbx_str text, const char *const *starts)
{
    while (*starts != NULL && !cbx_str_starts(text, cbx_str_of(*starts))) {
        starts++;
    }
    return *starts != NULL;
}

static bool ends_with_any(struct cbx_str text, const char *const *ends)
{
    while (*ends != NULL && !cbx_str_ends(text, cbx_str_of(*ends))) {
        ends++;
    }
    return *ends != NULL;
}

static struct cbx_str before(struct cbx_str text, const char *set)
{
    size_t n = 0;
    while (n < text.len && strchr(set, text.p[n]) == NULL) {
        n++;
    }
    return cbx_str_sub(text, 0, n);
}

static struct cbx_str behind(struct cbx_str text, struct cbx_str part, size_t more)
{
    return cbx_str_sub(text, part.len + more, text.len);
}

/* --- addresses -------------------------------------------------------------------------------- */

static enum cbx_origin origin_of(struct cbx_str address)
{
    static const char *const vcs[] = { "git+", "hg+",     "svn+",    "bzr+",       "git:",  "git@",
                                       "ssh:", "github:", "gitlab:", "bitbucket:", "gist:", NULL };
    static const char *const path[] = { "file:", "workspace:", "link:", "portal:", "patch:", NULL };
    if (starts_with_any(address, vcs)) {
        return CBX_FROM_VCS;
    }
    if (starts_with_any(address, path)) {
        return CBX_FROM_PATH;
    }
    return has(address, ":") ? CBX_FROM_URL : CBX_FROM_PATH;
}

/* Reads the name and the version in a file name (name-1.2-py3-none-any.whl, name-1.2.tar.gz) or
 * in "#egg=". */
static void read_file_name(struct cbx_str address, struct cbx_spec *out)
{
    const char *egg = address.len > 0 ? memmem(address.p, address.len, "#egg=", 5) : NULL;
    if (egg != NULL) {
        struct cbx_str name = cbx_str_sub(address, (size_t)(egg - address.p) + 5, address.len);
        out->name = before(name, "[&#");
        return;
    }
    struct cbx_str file = before(address, "?#");
    const char *slash = file.len > 0 ? memrchr(file.p, '/', file.len) : NULL;
    file = slash != NULL ? cbx_str_sub(file, (size_t)(slash - file.p) + 1, file.len) : file;
    struct cbx_str name = before(file, "-");
    if (cbx_str_ends(file, CBX_STR(".whl")) && name.len < file.len) {
        out->name = name;
        out->version = before(behind(file, name, 1), "-");
        out->pinned = true;
        return;
    }
    const char *dash = file.len > 0 ? memrchr(file.p, '-', file.len) : NULL;
    size_t ending = cbx_str_ends(file, CBX_STR(".tar.gz")) ? 7
                    : cbx_str_ends(file, CBX_STR(".zip"))  ? 4
                                                           : 0;
    if (dash != NULL && ending > 0) {
        out->name = cbx_str_sub(file, 0, (size_t)(dash - file.p));
        out->version = cbx_str_sub(file, out->name.len + 1, file.len - ending);
        out->pinned = true;
    }
}

/* --- pip -------------------------------------------------------------------------------------- */

/* "name @ address" is a requirement even with slashes in it. */
static bool is_direct(struct cbx_str text)
{
    struct cbx_str name = before(text, "@/\\:;");
    return name.len > 0 && name.len < text.len && text.p[name.len] == '@' && text.p[0] != '.';
}

static bool is_address(struct cbx_str text)
{
    static const char *const files[] = { ".whl", ".tar.gz", ".tgz",    ".zip", ".tar.bz2",
                                         ".egg", ".tar",    ".tar.xz", NULL };
    struct cbx_str plain = before(text, ";");
    return !is_direct(text) &&
           (has(plain, "/") || has(plain, "\\") || text.p[0] == '.' || text.p[0] == '~' ||
            origin_of(plain) != CBX_FROM_PATH || cbx_str_starts(text, CBX_STR("file:")) ||
            ends_with_any(plain, files));
}

static void read_pip(struct cbx_str text, struct cbx_spec *out)
{
    struct cbx_requirement r;
    if (is_address(text)) {
        out->origin = origin_of(text);
        read_file_name(text, out);
        return;
    }
    out->malformed = !cbx_requirement_parse(text, &r);
    out->name = r.name;
    out->version = r.specifiers;
    out->never = r.never;
    if (r.url.len > 0) {
        out->origin = origin_of(r.url);
        struct cbx_spec file = { 0 };
        read_file_name(r.url, &file);
        out->version = file.version;
        out->pinned = file.pinned;
    }
}

/* pkg@^1.2, pkg@latest, pkg[extra]@1.2, pkg@URL. */
static void read_project(struct cbx_str text, struct cbx_spec *out)
{
    struct cbx_str front = before(text, "@"), constraint = behind(text, front, 1);
    while (constraint.len > 0 && constraint.p[0] == ' ') {
        constraint = cbx_str_sub(constraint, 1, constraint.len);
    }
    struct cbx_requirement r;
    bool plain = front.len < text.len && cbx_requirement_parse(front, &r) &&
                 !has(constraint, "/") && !has(constraint, ":");
    if (!plain || r.specifiers.len > 0) {
        read_pip(text, out);
        return;
    }
    out->name = r.name;
    out->version = constraint;
    out->pinned = constraint.len > 0 && isdigit((unsigned char)constraint.p[0]) &&
                  !has(constraint, "*") && !has(constraint, ",") && !has(constraint, "|");
}

/* --- conda ------------------------------------------------------------------------------------ */

/* [version='>=1',build=x,channel=c] */
static void read_brackets(struct cbx_str text, struct cbx_spec *out)
{
    while (text.len > 0) {
        struct cbx_str key = before(text, "="), value = behind(text, key, 1);
        bool quoted = value.len > 0 && (value.p[0] == '\'' || value.p[0] == '"');
        const char quote[] = { quoted ? value.p[0] : ',', '\0' };
        value = before(cbx_str_sub(value, quoted, value.len), quote);
        if (cbx_str_is(key, "version")) {
            out->version = value;
        } else if (cbx_str_is(key, "channel") || cbx_str_is(key, "url")) {
            out->channel = value;
        }
        const char *end = value.p != NULL ? value.p + value.len + quoted : text.p + text.len;
        text = cbx_str_sub(text, (size_t)(end - text.p) + 1, text.len);
    }
}

/* name=1.2 is 1.2.*; name=1.2=build is 1.2; name 1.2 build too. */
static void read_conda_version(struct cbx_str text, struct cbx_spec *out)
{
    while (text.len > 0 && text.p[0] == ' ') {
        text = cbx_str_sub(text, 1, text.len);
    }
    bool fuzzy = text.len > 1 && text.p[0] == '=' && text.p[1] != '=';
    struct cbx_str version = fuzzy ? before(cbx_str_sub(text, 1, text.len), "= ") : text;
    if (fuzzy) {
        struct cbx_str rest = behind(text, version, 1);
        out->pinned = rest.len > 0;
        out->version = out->pinned ? version : text;
        return;
    }
    bool compared = text.len > 0 && strchr("=<>!~", text.p[0]) != NULL;
    out->version = compared ? text : before(text, " =");
}

static bool is_conda_name(struct cbx_str name)
{
    size_t n = 0;
    while (n < name.len && (isalnum((unsigned char)name.p[n]) ||
                            (strchr("-_.", name.p[n]) != NULL && name.p[n] != '\0'))) {
        n++;
    }
    return n > 0 && n == name.len;
}

static void read_conda(struct cbx_str text, struct cbx_spec *out)
{
    static const char *const files[] = { ".tar.bz2", ".conda", NULL };
    const char *colons = memmem(text.p, text.len, "::", 2);
    if (colons != NULL) {
        out->channel = cbx_str_sub(text, 0, (size_t)(colons - text.p));
        text = cbx_str_sub(text, out->channel.len + 2, text.len);
    }
    if (has(before(text, "[= "), "/") || ends_with_any(text, files)) {
        out->origin = origin_of(text);
        return;
    }
    struct cbx_str main = before(text, "["), inside = before(behind(text, main, 1), "]");
    out->name = before(main, " =<>!~");
    read_conda_version(behind(main, out->name, 0), out);
    read_brackets(inside, out);
    bool closed = main.len == text.len || cbx_str_ends(text, CBX_STR("]"));
    out->malformed = !closed || !is_conda_name(out->name);
}

/* --- npm -------------------------------------------------------------------------------------- */

static bool is_npm_name(struct cbx_str name)
{
    bool scoped = name.len > 0 && name.p[0] == '@';
    size_t slashes = 0;
    for (size_t i = scoped; i < name.len; i++) {
        slashes += name.p[i] == '/';
        if (!isalnum((unsigned char)name.p[i]) && strchr("-_.~!'()*/", name.p[i]) == NULL) {
            return false;
        }
    }
    return name.len > scoped && name.p[0] != '.' && name.p[0] != '_' && slashes == scoped &&
           name.p[name.len - 1] != '/';
}

/* user/repo, and folders, files and URLs. */
static bool read_npm_address(struct cbx_str text, struct cbx_spec *out)
{
    static const char *const paths[] = { ".", "/", "~/", "file:", "link:", "workspace:", NULL };
    static const char *const files[] = { ".tgz", ".tar.gz", ".tar", NULL };
    if (text.len == 0 || text.p[0] == '@') {
        return false;
    }
    bool path = starts_with_any(text, paths);
    bool short_hand = !path && !has(text, ":") && has(text, "/");
    if (path || (ends_with_any(text, files) && !has(text, ":"))) {
        out->origin = CBX_FROM_PATH;
    } else if (has(text, ":") || short_hand) {
        bool git = short_hand || ends_with_any(before(text, "#"), (const char *[]){ ".git", NULL });
        out->origin = git ? CBX_FROM_VCS : origin_of(text);
    }
    return out->origin != CBX_FROM_INDEX;
}

static void read_npm(struct cbx_str text, struct cbx_spec *out)
{
    /* x@npm:y@1 is y@1 under the name x */
    const char *alias = memmem(text.p, text.len, "npm:", 4);
    if (alias != NULL && (alias == text.p || alias[-1] == '@')) {
        text = cbx_str_sub(text, (size_t)(alias - text.p) + 4, text.len);
    }
    bool remote = cbx_str_starts(text, CBX_STR("git@")); /* git@host:user/repo */
    const char *at = text.len > 1 && !remote ? memchr(text.p + 1, '@', text.len - 1) : NULL;
    struct cbx_str name = at != NULL ? cbx_str_sub(text, 0, (size_t)(at - text.p)) : text;
    bool named = is_npm_name(name);
    if (!named && read_npm_address(text, out)) {
        return;
    }
    if (at == NULL && read_npm_address(text, out)) { /* x.tgz */
        return;
    }
    out->name = name;
    out->version = behind(text, name, 1);
    out->malformed = !named;
    read_npm_address(out->version, out);
}

/* --- all -------------------------------------------------------------------------------------- */

enum cbx_spec_kind cbx_spec_kind_of(enum cbx_manager manager)
{
    return manager == CBX_MANAGER_NPM ? CBX_SPEC_NPM : CBX_SPEC_PIP;
}

void cbx_spec_read(enum cbx_spec_kind kind, struct cbx_str word, struct cbx_spec *out)
{
    static void (*const readers[])(struct cbx_str, struct cbx_spec *) = {
        [CBX_SPEC_PIP] = read_pip,
        [CBX_SPEC_PROJECT] = read_project,
        [CBX_SPEC_CONDA] = read_conda,
        [CBX_SPEC_NPM] = read_npm,
    };
    *out = (struct cbx_spec){ .malformed = word.len == 0 };
    if (word.len > 0) {
        readers[kind](word, out);
    }
}

/* Constraints of poetry: ^ and ~ as npm has them, else as PEP 440. */
static bool constraint_below(struct cbx_str text, struct cbx_str minimum)
{
    bool npm = text.len > 1 && (text.p[0] == '^' || (text.p[0] == '~' && text.p[1] != '='));
    if (cbx_str_is(text, "latest") || cbx_str_is(text, "*")) {
        return false;
    }
    return npm                                                 ? cbx_npm_below(text, minimum)
           : text.len > 0 && isdigit((unsigned char)text.p[0]) ? cbx_conda_below(text, minimum)
                                                               : cbx_version_below(text, minimum);
}

bool cbx_spec_below(enum cbx_spec_kind kind, const struct cbx_spec *spec, struct cbx_str minimum)
{
    struct cbx_str version = spec->version;
    bool ok = true;
    if (spec->origin != CBX_FROM_INDEX && !spec->pinned) {
        return true; /* undecidable */
    }
    if (spec->pinned) {
        return cbx_version_compare(version, minimum, &ok) < 0 || !ok;
    }
    switch (kind) {
    case CBX_SPEC_CONDA:
        return cbx_conda_below(version, minimum);
    case CBX_SPEC_NPM:
        return cbx_npm_below(version, minimum);
    case CBX_SPEC_PROJECT:
        return constraint_below(version, minimum);
    default:
        return cbx_version_below(version, minimum);
    }
}
