/* SPDX-License-Identifier: MIT
 * Converts pylock.toml (PEP 751) to requirements with hashes. The file is a list: each package has
 * its marker itself, and pip evaluates the markers. */
#include "analyzer/manifest/locks/lockfile_internal.h"
#include "policies/versions/pinned.h"
#include "policies/versions/requirement.h"

struct reading {
    struct cbx_lockfile *lockfile;
    struct cbx_buf *out;
    struct cbx_err *err;
};

/* The project that the file is of; its packages are installed without it. */
static bool is_project(const struct cbx_doc_node *package)
{
    struct cbx_str path = cbx_doc_text(cbx_doc_get(package, "directory"), "path");
    return cbx_str_is(path, ".") || cbx_str_is(path, "./");
}

static int check_source(struct reading *r, const struct cbx_doc_node *package)
{
    static const char *const sources[] = { "vcs", "directory", "archive" };
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (cbx_doc_get(package, sources[i]) != NULL) {
            return cbx_lockfile_fail(r->lockfile, package->start, r->err,
                                     "'%.*s' has a source '%s', allowed are packages of an index "
                                     "with wheels",
                                     CBX_STR_SHOWN(cbx_doc_text(package, "name")), sources[i]);
        }
    }
    return 0;
}

/* A package of an extra or a group is installed on request alone, and nothing is requested here:
 * a file with such packages is refused, since pip knows no such marker in requirements. */
static int add_marker(struct reading *r, const struct cbx_doc_node *marker, struct cbx_buf *line)
{
    static const char *const sets[] = { "extras", "dependency_groups" };
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        if (memmem(marker->text.p, marker->text.len, sets[i], strlen(sets[i])) != NULL) {
            return cbx_lockfile_fail(r->lockfile, marker->start, r->err,
                                     "the marker '%.*s' depends on %s, allowed is a lock file of "
                                     "one set of packages",
                                     CBX_STR_SHOWN(marker->text), sets[i]);
        }
    }
    cbx_buf_add_cstr(line, " ; ");
    return cbx_lockfile_add_marker(r->lockfile, marker->text, marker->start, line, r->err);
}

static int read_package(void *context, const struct cbx_doc_node *package)
{
    struct reading *r = context;
    const struct cbx_doc_node *marker = cbx_doc_get(package, "marker");
    bool conditional = marker != NULL && marker->text.len > 0;
    if (package->kind != CBX_DOC_MAP) {
        return cbx_lockfile_fail(r->lockfile, package->start, r->err,
                                 "a package that is no table, allowed is [[packages]]");
    }
    if (is_project(package)) {
        return 0;
    }
    if (conditional && cbx_marker_read(marker->text) == CBX_MARKER_NEVER) {
        return 0; /* for another platform */
    }
    int failed = check_source(r, package);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_PINNED_BYTES_MAX + 1);
    cbx_buf_printf(&line, "%.*s==%.*s", CBX_STR_ARG(cbx_doc_text(package, "name")),
                   CBX_STR_ARG(cbx_doc_text(package, "version")));
    if (conditional) {
        failed = add_marker(r, marker, &line);
    }
    if (!failed) {
        failed = cbx_lockfile_add_wheels(r->lockfile, package, &line, r->err);
    }
    if (failed) {
        return failed;
    }
    if (line.overflow) {
        return cbx_lockfile_fail(r->lockfile, package->start, r->err,
                                 "a package has more than %d bytes of conditions and hashes",
                                 CBX_PINNED_BYTES_MAX);
    }
    return cbx_lockfile_add_line(r->lockfile, cbx_buf_str(&line), package->start, r->out, r->err);
}

int cbx_lockfile_read_pylock(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                             struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    struct reading r = { .lockfile = lockfile, .out = out, .err = err };
    int failed = cbx_doc_read_toml(lockfile->manifest.text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_str version = cbx_doc_text(doc.root, "lock-version");
    if (!cbx_str_starts(version, CBX_STR("1."))) {
        return cbx_fail(err, CBX_EINVAL, "lock-version is '%.*s', allowed is \"1.0\" (PEP 751)",
                        CBX_STR_SHOWN(version));
    }
    return cbx_doc_each(&doc, "packages[]", read_package, &r, err);
}
