/* SPDX-License-Identifier: MIT
 * Determines how codebox-lint treats a file. */
#include "analyzer/lint/files/kind.h"

#include "analyzer/manifest/manifest.h"
#include "policies/base/text/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_kind(struct cbx_lint_kind *kind, const struct cbx_filetype *type)
{
    kind->language = type->lang != NULL ? type->lang->name : NULL;
    kind->foreign = type->foreign;
}

static void read_head(const char *path, int flags, struct cbx_lint_kind *out)
{
    struct stat status;
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    ssize_t n = -1;
    if (fd >= 0 && fstat(fd, &status) == 0) {
        n = S_ISREG(status.st_mode) ? read(fd, out->head, sizeof(out->head)) : 0;
    }
    out->error = n < 0 ? errno : 0;
    struct cbx_str head = { .p = out->head, .len = n > 0 ? (size_t)n : 0 };
    struct cbx_filetype type = cbx_filetype_of_head(head);
    out->binary = cbx_filetype_is_binary(head);
    set_kind(out, &type);
}

enum {
    SKILL_LEVELS = 4
}; /* references/x.md and similar files lie at most this deep in the folder of a skill */

/* Returns true if SKILL.md is in the folder of the path, or in a folder above it in the path. */
static bool is_of_skill(const char *path)
{
    char file[PATH_MAX];
    size_t len = strlen(path);
    for (int level = 0; level < SKILL_LEVELS; level++) {
        const char *slash = memrchr(path, '/', len);
        len = slash != NULL ? (size_t)(slash - path) : 0;
        int n = snprintf(file, sizeof(file), "%.*s%sSKILL.md", (int)len, path,
                         slash != NULL ? "/" : "");
        if (n > 0 && (size_t)n < sizeof(file) && access(file, F_OK) == 0) {
            return true;
        }
        if (slash == NULL) {
            return false;
        }
    }
    return false;
}

void cbx_lint_kind_of_name(const char *path, struct cbx_lint_kind *out)
{
    struct cbx_str name = cbx_str_of(path);
    struct cbx_filetype type = cbx_filetype_of_name(name);
    *out = (struct cbx_lint_kind){ 0 };
    set_kind(out, &type);
    const struct cbx_manifest_reader *reader = cbx_manifest_reader_of(name);
    if (reader != NULL && type.lang == NULL) {
        out->language = reader->name;
    }
    bool markdown = out->language != NULL && strcmp(out->language, "markdown") == 0;
    if (markdown && is_of_skill(path)) {
        out->language = "skill";
    }
    out->document = markdown && strcmp(out->language, "markdown") == 0;
    if (cbx_str_ends(name, CBX_STR(".ipynb"))) {
        out->language = CBX_LINT_NOTEBOOK;
    }
}

void cbx_lint_kind_of_file(const char *path, int flags, struct cbx_lint_kind *out)
{
    cbx_lint_kind_of_name(path, out);
    if (out->language == NULL && out->foreign.len == 0) {
        read_head(path, flags, out);
    }
}

bool cbx_lint_kind_is_code(const struct cbx_lint_kind *kind)
{
    return (kind->language != NULL && !kind->document) || kind->foreign.len > 0 || kind->error != 0;
}

void cbx_lint_kind_describe(const struct cbx_lint_kind *kind, char *out, size_t size)
{
    if (kind->error != 0) {
        snprintf(out, size, "%s", strerror(kind->error));
    } else if (kind->foreign.len > 0) {
        CBX_AUTO_DONE(buf) shown;
        cbx_buf_init(&shown, CBX_PRINTABLE_GROWTH * CBX_FILETYPE_HEAD_BYTES);
        cbx_printable_add(&shown, kind->foreign, CBX_PRINTABLE_LINE);
        snprintf(out, size, "no analyzer for '%.60s'; say --language %s", shown.p,
                 cbx_lang_names());
    } else {
        snprintf(out, size,
                 "no language has files of this name, and its first line names none; say "
                 "--language %s",
                 cbx_lang_names());
    }
}
