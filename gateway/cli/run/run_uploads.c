/* SPDX-License-Identifier: MIT
 * Files of the host for the workspace of `codebox run`. */
#include "gateway/cli/run/run_uploads.h"

#include "analyzer/folder_use.h"
#include "analyzer/lang/lang.h"
#include "docker/kernel_names.h"
#include "gateway/cli/cli.h"
#include "gateway/front/service/service_files.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- places ----------------------------------------------------------------------------------- */

/* Makes the absolute path without links, except for the last name: a link that the caller names
 * keeps its own place. False and errno on failure. */
static bool resolve(const char *path, char out[PATH_MAX])
{
    CBX_AUTO_DONE(buf) folder;
    cbx_buf_init(&folder, PATH_MAX);
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    struct cbx_str whole = cbx_str_sub(cbx_str_of(path), 0, len);
    const char *slash = memrchr(whole.p, '/', whole.len);
    size_t start = slash != NULL ? (size_t)(slash - whole.p) + 1 : 0;
    struct cbx_str name = cbx_str_sub(whole, start, whole.len);
    if (name.len == 0 || cbx_str_is(name, ".") || cbx_str_is(name, "..")) {
        return realpath(path, out) != NULL;
    }
    cbx_buf_add(&folder, start > 0 ? cbx_str_sub(whole, 0, start) : CBX_STR("."));
    char parent[PATH_MAX];
    if (folder.overflow || realpath(folder.p, parent) == NULL) {
        return false;
    }
    int n = snprintf(out, PATH_MAX, "%s/%.*s", strcmp(parent, "/") == 0 ? "" : parent,
                     CBX_STR_ARG(name));
    errno = ENAMETOOLONG;
    return n > 0 && n < PATH_MAX;
}

/* Returns the part of `path` beneath `folder`, both absolute: "" for the folder itself; NULL if
 * the path is not beneath it. */
static const char *beneath(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    len = strcmp(folder, "/") == 0 ? 0 : len;
    if (strncmp(path, folder, len) != 0 || (path[len] != '/' && path[len] != '\0')) {
        return NULL;
    }
    return path[len] == '/' ? path + len + 1 : "";
}

/* Determines the place in the workspace of a path of the caller; CBX_EIO if a folder on the way
 * cannot be read. */
static int find_place(const char *path, const char *folder, char out[PATH_MAX], struct cbx_err *err)
{
    char named[PATH_MAX], program[PATH_MAX], current[PATH_MAX];
    if (!resolve(path, named)) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    if (realpath(folder, program) == NULL || realpath(".", current) == NULL) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
    }
    const char *place = beneath(named, program);
    if (place == NULL) {
        place = beneath(named, current);
    }
    if (place == NULL) {
        place = strrchr(named, '/') + 1;
    }
    snprintf(out, PATH_MAX, "%s", place);
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_bytes(const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is neither a file nor a folder", path);
    }
    return cbx_cli_read(fd, path, out, err);
}

static const struct cbx_upload *find(const struct cbx_uploads *uploads, const char *place)
{
    for (size_t i = 0; i < uploads->count; i++) {
        if (strcmp(uploads->items[i].path, place) == 0) {
            return &uploads->items[i];
        }
    }
    return NULL;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static int add_file(struct cbx_uploads *uploads, const char *path, const char *place,
                    struct cbx_err *err)
{
    const struct cbx_upload *before = find(uploads, place);
    if (before != NULL && is_same_file(before->shown, path)) {
        return 0;
    }
    if (before != NULL) {
        return cbx_fail(err, CBX_EINVAL, "'%s' and '%s' would both be '%s' in the workspace",
                        before->shown, path, place);
    }
    if (uploads->count == CBX_UPLOADS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "more than %d files are given", CBX_UPLOADS_MAX);
    }
    uploads->items = cbx_grow(uploads->items, uploads->count, sizeof(*uploads->items));
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, CBX_UPLOAD_BYTES_MAX);
    int failed = read_bytes(path, &bytes, err);
    if (failed) {
        return failed;
    }
    if (bytes.len > CBX_UPLOADS_BYTES_MAX - uploads->total_bytes) {
        return cbx_fail(err, CBX_ETOOBIG, "the files have more than %d MiB",
                        CBX_UPLOADS_BYTES_MAX >> 20);
    }
    uploads->total_bytes += bytes.len;
    struct cbx_upload *upload = &uploads->items[uploads->count++];
    *upload = (struct cbx_upload){ .path = cbx_str_copy(cbx_str_of(place)),
                                   .shown = cbx_str_copy(cbx_str_of(path)),
                                   .bytes = bytes };
    cbx_buf_init(&bytes, 0); /* the uploads own both now */
    return 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

/* Returns true for an entry of a folder that is left out, and counts it. */
static bool leave_out(struct cbx_uploads *uploads, const FTSENT *entry)
{
    if (entry->fts_name[0] == '.' || cbx_folder_use_of(entry->fts_name) != CBX_FOLDER_OWN) {
        uploads->hidden++;
        return true;
    }
    if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE ||
        entry->fts_info == FTS_DEFAULT) {
        uploads->links++;
        return true;
    }
    if (entry->fts_info == FTS_F && cbx_service_is_loadable(cbx_str_of(entry->fts_name))) {
        uploads->compiled++;
        return true;
    }
    return false;
}

static int add_entry(struct cbx_uploads *uploads, const FTSENT *entry, size_t skip,
                     const char *place, struct cbx_err *err)
{
    char path[PATH_MAX];
    switch (entry->fts_info) {
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return cbx_fail(err, CBX_EIO, "'%s': %s", entry->fts_path, strerror(entry->fts_errno));
    case FTS_F:
        break;
    default:
        return 0;
    }
    const char *below = entry->fts_path + skip;
    below += strspn(below, "/");
    int n = snprintf(path, sizeof(path), "%s%s%s", place, place[0] != '\0' ? "/" : "", below);
    if (n < 0 || n >= (int)sizeof(path)) {
        return cbx_fail(err, CBX_ETOOBIG, "'%s': the path is too long", entry->fts_path);
    }
    return add_file(uploads, entry->fts_path, path, err);
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_folder(struct cbx_uploads *uploads, const char *folder, const char *place,
                      struct cbx_err *err)
{
    char *roots[] = { (char *)(uintptr_t)folder, NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
    if (walk == NULL) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
    }
    int failed = 0;
    FTSENT *entry;
    while (!failed && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_level > 0 && entry->fts_info != FTS_DP && leave_out(uploads, entry)) {
            fts_set(walk, entry, FTS_SKIP);
            continue;
        }
        failed = add_entry(uploads, entry, strlen(folder), place, err);
    }
    fts_close(walk);
    return failed;
}

int cbx_uploads_add(struct cbx_uploads *uploads, const char *path, const char *folder,
                    struct cbx_err *err)
{
    char place[PATH_MAX];
    struct stat status;
    if (stat(path, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    int failed = find_place(path, folder, place, err);
    if (failed) {
        return failed;
    }
    if (S_ISDIR(status.st_mode)) {
        return add_folder(uploads, path, place, err);
    }
    return add_file(uploads, path, place, err);
}

void cbx_uploads_done(struct cbx_uploads *uploads)
{
    for (size_t i = 0; i < uploads->count; i++) {
        free(uploads->items[i].path);
        free(uploads->items[i].shown);
        cbx_buf_done(&uploads->items[i].bytes);
    }
    free(uploads->items);
    *uploads = (struct cbx_uploads){ 0 };
}

void cbx_uploads_print_left_out(const struct cbx_uploads *uploads)
{
    const struct {
        size_t count;
        const char *one, *many;
    } kinds[] = {
        { uploads->hidden, "hidden file, cache or folder of dependencies",
          "hidden files, caches and folders of dependencies" },
        { uploads->links, "link or special file", "links and special files" },
        { uploads->compiled, "file of compiled code", "files of compiled code" },
    };
    const char *before = "codebox: not in the workspace: ";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].count > 0) {
            fprintf(stderr, "%s%zu %s", before, kinds[i].count,
                    kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
            before = ", ";
        }
    }
    if (before[0] == ',') {
        fputc('\n', stderr);
    }
}

/* --- the program of a folder ------------------------------------------------------------------ */

/* Finds FOLDER/STEM.ENDING for each ending of each language; *out is the first. Returns their
 * number. */
static size_t find_stem(const char *folder, const char *stem, char out[PATH_MAX])
{
    size_t count = 0;
    const char *name;
    for (size_t i = 0; (name = cbx_language_at(i)) != NULL; i++) {
        const struct cbx_lang *lang = cbx_lang_find(cbx_str_of(name));
        for (size_t e = 0; lang != NULL && lang->endings[e] != NULL; e++) {
            char path[PATH_MAX];
            int n = snprintf(path, sizeof(path), "%s/%s%s", folder, stem, lang->endings[e]);
            bool is_program = strcmp(lang->endings[e], ".h") != 0 && n > 0 &&
                              n < (int)sizeof(path) && access(path, F_OK) == 0;
            if (!is_program || (count > 0 && strcmp(out, path) == 0)) {
                continue;
            }
            if (count == 0) {
                memcpy(out, path, (size_t)n + 1);
            }
            count++;
        }
    }
    return count;
}

int cbx_uploads_find_main(const char *folder, char **out, struct cbx_err *err)
{
    static const char *const stems[] = { "__main__", "main", "index" };
    for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
        char path[PATH_MAX];
        size_t count = find_stem(folder, stems[i], path);
        if (count > 1) {
            return cbx_fail(err, CBX_EINVAL,
                            "the folder '%s' has several files '%s.*': name the one that is the "
                            "program, with --file '%s' for the others",
                            folder, stems[i], folder);
        }
        if (count == 1) {
            *out = strdup(path);
            return 0;
        }
    }
    return cbx_fail(err, CBX_ENOTFOUND,
                    "'%s' is a folder without a file __main__.py, main.* or index.* of a language "
                    "that runs here: name the file that is the program, with --file '%s' for the "
                    "others",
                    folder, folder);
}
