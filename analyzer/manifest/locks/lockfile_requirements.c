/* SPDX-License-Identifier: MIT
 * requirements.txt with hashes: the subset that pip accepts with --require-hashes. */
#include "analyzer/manifest/locks/lockfile_internal.h"
#include "analyzer/manifest/manifest_internal.h"
#include "analyzer/packages/install.h"
#include "policies/versions/pinned.h"
#include "policies/versions/requirement.h"

/* Options that a line may have; others are refused. */
static const struct option {
    const char *name;
    bool index, value; /* index: the value is an index */
} options[] = {
    { "-i", true, true },
    { "--index-url", true, true },
    { "--extra-index-url", true, true },
    { "--require-hashes", false, false },
    { "--only-binary", false, true },
    { "--prefer-binary", false, false },
};

struct reading {
    struct cbx_lockfile *lockfile;
    struct cbx_arena *arena;
    struct cbx_buf *out;
    struct cbx_err *err;
    uint32_t place; /* of the line */
};

/* Removes and returns the part before the first run of blanks and '=', which is removed too. */
static struct cbx_str take_word(struct cbx_str *rest, const char *ends)
{
    size_t n = 0;
    while (n < rest->len && (rest->p[n] == '\0' || strchr(ends, rest->p[n]) == NULL)) {
        n++;
    }
    struct cbx_str word = cbx_str_sub(*rest, 0, n);
    while (n < rest->len && rest->p[n] != '\0' && strchr(ends, rest->p[n]) != NULL) {
        n++;
    }
    *rest = cbx_str_sub(*rest, n, rest->len);
    return word;
}

static int read_option(struct reading *r, struct cbx_str line)
{
    struct cbx_str value = line, name = take_word(&value, " \t=");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (!cbx_str_is(name, options[i].name) || options[i].value != (value.len > 0)) {
            continue;
        }
        if (!options[i].index) {
            return 0;
        }
        struct cbx_str file = r->lockfile->manifest.text;
        const char *newline = memchr(file.p + r->place, '\n', file.len - r->place);
        const struct cbx_manifest_word word = {
            .role = CBX_WORD_INDEX,
            .kind = CBX_SPEC_PIP,
            .text = cbx_arena_copy(r->arena, value),
            .start = r->place,
            .end = (uint32_t)(newline != NULL ? (size_t)(newline - file.p) : file.len)
        };
        if (word.text.p == NULL) {
            return cbx_fail(r->err, CBX_ETOOBIG, "out of the analysis's memory");
        }
        return cbx_manifest_add_word(&r->lockfile->manifest, r->arena, &word, r->err);
    }
    return cbx_lockfile_fail(r->lockfile, r->place, r->err,
                             "the option '%.*s', allowed are --index-url, --extra-index-url, "
                             "--require-hashes, --only-binary and --prefer-binary",
                             CBX_STR_SHOWN(line));
}

/* Reads "--hash=sha256:HEX" and "--hash sha256:HEX", any number of them, behind a requirement. */
static int add_hashes(struct reading *r, struct cbx_str name, struct cbx_str rest,
                      struct cbx_buf *line)
{
    while (rest.len > 0) {
        struct cbx_str option = take_word(&rest, " \t="), value = take_word(&rest, " \t");
        struct cbx_str digits = cbx_str_sub(value, 7, value.len);
        if (!cbx_str_is(option, "--hash") || !cbx_str_starts(value, CBX_STR("sha256:")) ||
            !cbx_pinned_is_sha256(digits)) {
            return cbx_lockfile_fail(
                r->lockfile, r->place, r->err,
                "'%.*s' has '%.*s %.*s', allowed is --hash=sha256: with 64 hexadecimal digits",
                CBX_STR_SHOWN(name), CBX_STR_SHOWN(option), CBX_STR_SHOWN(value));
        }
        cbx_buf_printf(line, " --hash=sha256:%.*s", CBX_STR_ARG(digits));
    }
    return 0;
}

/* Checks for one specifier: "==" with a version. */
static bool has_one_version(const struct cbx_requirement *requirement, struct cbx_str *version)
{
    struct cbx_str text = requirement->specifiers;
    if (!cbx_str_starts(text, CBX_STR("==")) || cbx_str_starts(text, CBX_STR("===")) ||
        memchr(text.p, ',', text.len) != NULL || memchr(text.p, '*', text.len) != NULL) {
        return false;
    }
    size_t from = 2;
    while (from < text.len && text.p[from] == ' ') {
        from++;
    }
    *version = cbx_str_sub(text, from, text.len);
    return version->len > 0;
}

static int read_requirement(struct reading *r, struct cbx_str line)
{
    const char *at = memmem(line.p, line.len, " --", 3);
    size_t end = at != NULL ? (size_t)(at - line.p) : line.len;
    struct cbx_str text = cbx_str_sub(line, 0, end), version;
    struct cbx_requirement requirement;
    bool good = cbx_requirement_parse(text, &requirement);
    if (!good || requirement.url.len > 0) {
        return cbx_lockfile_fail(r->lockfile, r->place, r->err,
                                 "'%.*s' is no package of an index, allowed is NAME==VERSION "
                                 "--hash=sha256:HEX",
                                 CBX_STR_SHOWN(text));
    }
    if (!has_one_version(&requirement, &version)) {
        return cbx_lockfile_fail(r->lockfile, r->place, r->err,
                                 "'%.*s' does not say which version is installed, allowed is "
                                 "NAME==VERSION --hash=sha256:HEX",
                                 CBX_STR_SHOWN(text));
    }
    if (at == NULL) {
        return cbx_lockfile_fail(r->lockfile, r->place, r->err,
                                 "'%.*s' has no hash, allowed is NAME==VERSION --hash=sha256:HEX "
                                 "('pip-compile --generate-hashes' writes it)",
                                 CBX_STR_SHOWN(text));
    }
    CBX_AUTO_DONE(buf) pinned;
    cbx_buf_init(&pinned, CBX_PINNED_BYTES_MAX + 1);
    cbx_buf_printf(&pinned, "%.*s==%.*s", CBX_STR_ARG(requirement.name), CBX_STR_ARG(version));
    int failed = 0;
    if (requirement.marker.p != NULL) {
        cbx_buf_add_cstr(&pinned, " ; ");
        failed = cbx_lockfile_add_marker(r->lockfile, cbx_str_trim_start(requirement.marker),
                                         r->place, &pinned, r->err);
    }
    if (failed) {
        return failed;
    }
    failed = add_hashes(r, requirement.name, cbx_str_sub(line, end + 1, line.len), &pinned);
    if (failed) {
        return failed;
    }
    return cbx_lockfile_add_line(r->lockfile, cbx_buf_str(&pinned), r->place, r->out, r->err);
}

/* Joins lines that end with a backslash. */
static int take_line(struct reading *r, struct cbx_str *rest, struct cbx_buf *line)
{
    bool continues = true;
    while (continues && rest->len > 0) {
        struct cbx_str part = cbx_packages_take_line(rest, &continues);
        cbx_buf_add_cstr(line, line->len > 0 && part.len > 0 ? " " : "");
        cbx_buf_add(line, part);
    }
    if (line->overflow) {
        cbx_lockfile_fail(r->lockfile, r->place, r->err,
                          "a requirement has more than %d bytes with its hashes",
                          CBX_PINNED_BYTES_MAX);
        return CBX_ETOOBIG;
    }
    return 0;
}

int cbx_lockfile_read_requirements(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                                   struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_str rest = lockfile->manifest.text;
    struct reading r = { .lockfile = lockfile, .arena = arena, .out = out, .err = err };
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_PINNED_BYTES_MAX);
    while (rest.len > 0) {
        r.place = (uint32_t)(lockfile->manifest.text.len - rest.len);
        cbx_buf_reset(&line);
        int failed = take_line(&r, &rest, &line);
        if (failed) {
            return failed;
        }
        struct cbx_str text = cbx_buf_str(&line);
        if (text.len == 0) {
            continue;
        }
        if (text.p[0] == '-') {
            failed = read_option(&r, text);
        } else {
            failed = read_requirement(&r, text);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}
