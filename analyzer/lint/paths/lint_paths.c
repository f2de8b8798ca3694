/* SPDX-License-Identifier: MIT
 * Finds the files to check. */
#include "analyzer/lint/paths/lint_paths.h"

#include "analyzer/folder_use.h"
#include "analyzer/lint/files/kind.h"
#include "policies/base/array.h"
#include "policies/base/list.h"
#include "policies/base/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>

enum { PATHS_MAX_BYTES = 1024 * 1024 * 1024 };

/* --- names ------------------------------------------------------------------------------------ */

/* Appends the names of `path` to the absolute path in `out`, which has no slash at its end. */
static void add_names(struct cbx_str path, struct cbx_buf *out)
{
    while (path.len > 0) {
        const char *slash = memchr(path.p, '/', path.len);
        size_t end = slash != NULL ? (size_t)(slash - path.p) : path.len;
        struct cbx_str name = cbx_str_sub(path, 0, end);
        path = cbx_str_sub(path, end + 1, path.len);
        if (cbx_str_is(name, "..")) {
            while (out->len > 0 && out->p[--out->len] != '/') {
            }
            out->p[out->len] = '\0';
        } else if (name.len > 0 && !cbx_str_is(name, ".")) {
            cbx_buf_add_char(out, '/');
            cbx_buf_add(out, name);
        }
    }
}

void cbx_lint_path_normal(struct cbx_str path, struct cbx_str folder, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) whole;
    cbx_buf_init(&whole, PATHS_MAX_BYTES);
    if (path.len == 0 || path.p[0] != '/') {
        add_names(folder, &whole);
    }
    add_names(path, &whole);
    struct cbx_str normal = cbx_buf_str(&whole);
    bool below =
        cbx_str_starts(normal, folder) && (normal.len == folder.len || normal.p[folder.len] == '/');
    if (!below) {
        cbx_buf_add(out, normal.len > 0 ? normal : CBX_STR("/"));
    } else {
        struct cbx_str rest = cbx_str_sub(normal, folder.len + 1, normal.len);
        cbx_buf_add(out, rest.len > 0 ? rest : CBX_STR("."));
    }
}

/* --- the list --------------------------------------------------------------------------------- */

int cbx_lint_paths_init(struct cbx_lint_paths *paths, struct cbx_err *err)
{
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof(folder)) == NULL) {
        return cbx_fail(err, CBX_EIO, "the working directory: %s", strerror(errno));
    }
    *paths = (struct cbx_lint_paths){ 0 };
    cbx_arena_init(&paths->arena, PATHS_MAX_BYTES);
    struct cbx_str name = cbx_str_of(folder);
    paths->folder = cbx_arena_copy(&paths->arena, cbx_str_is(name, "/") ? CBX_STR("") : name);
    return 0;
}

void cbx_lint_paths_done(struct cbx_lint_paths *paths)
{
    cbx_arena_done(&paths->arena);
}

static void add_path(struct cbx_lint_paths *paths, const char *path, const char *language,
                     const char *error)
{
    CBX_AUTO_DONE(buf) normal;
    cbx_buf_init(&normal, PATHS_MAX_BYTES);
    cbx_lint_path_normal(cbx_str_of(path), paths->folder, &normal);
    if (!CBX_ARRAY_RESERVE(&paths->arena, paths->items, paths->count, &paths->size, 1, SIZE_MAX)) {
        return;
    }
    paths->items[paths->count++] = (struct cbx_lint_path){
        .path = cbx_arena_copy(&paths->arena, cbx_str_of(path)),
        .normal = cbx_arena_copy(&paths->arena, cbx_buf_str(&normal)),
        .language = language,
        .error = cbx_arena_copy(&paths->arena, cbx_str_of(error)),
    };
}

static int compare_paths(const void *a, const void *b)
{
    const struct cbx_lint_path *x = a, *y = b;
    return cbx_str_compare(x->normal, y->normal);
}

void cbx_lint_paths_sort(struct cbx_lint_paths *paths)
{
    size_t kept = 0;
    cbx_sort_heap(paths->items, paths->count, sizeof(*paths->items), compare_paths);
    for (size_t i = 0; i < paths->count; i++) {
        bool again = kept > 0 &&
                     cbx_str_equal(paths->items[kept - 1].normal, paths->items[i].normal) &&
                     cbx_str_equal(paths->items[kept - 1].error, paths->items[i].error);
        paths->items[kept] = paths->items[i];
        kept += !again;
    }
    paths->count = kept;
}

/* --- patterns --------------------------------------------------------------------------------- */

/* The .gitignore files above a folder that is walked, up to the root of its repository. */
struct above {
    struct cbx_ignore *ignore;
    size_t prefix; /* offset in the folder's absolute path where the path below it begins */
    struct above *next;
};

struct walk {
    struct cbx_lint_paths *paths;
    const struct cbx_lint_filter *filter;
    char root[PATH_MAX]; /* absolute, links resolved */
    size_t root_len;     /* of the path that fts gives to the root */
    struct above *above; /* the nearest first */
};

/* A .gitignore that is a link, a pipe or too large is not read, and reported as an error. */
static struct cbx_ignore *read_ignore(struct walk *w, const char *path)
{
    struct cbx_err err = { 0 };
    struct stat status;
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return NULL;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_IGNORE_MAX_BYTES + 65536);
    struct cbx_ignore *ignore = NULL;
    if (fd < 0 || fstat(fd, &status) < 0) {
        cbx_fail(&err, CBX_EIO, "%s", strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        cbx_fail(&err, CBX_EINVAL, "not a regular file");
    } else {
        char *to;
        ssize_t n = 0;
        while (text.len <= CBX_IGNORE_MAX_BYTES && (to = cbx_buf_reserve(&text, 65536)) != NULL &&
               (n = read(fd, to, 65536)) > 0) {
            text.len += (size_t)n;
        }
        if (n < 0) {
            cbx_fail(&err, CBX_EIO, "%s", strerror(errno));
        } else {
            cbx_ignore_new(cbx_buf_str(&text), &ignore, &err);
        }
    }
    if (err.code != 0) {
        add_path(w->paths, path, NULL, err.text);
    }
    return ignore;
}

static struct cbx_ignore *read_ignore_of(struct walk *w, struct cbx_str folder, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%.*s/%s", (int)folder.len, folder.p, name);
    return n > 0 && n < PATH_MAX ? read_ignore(w, path) : NULL;
}

static bool is_repository(struct cbx_str folder)
{
    char path[PATH_MAX];
    struct stat status;
    int n = snprintf(path, sizeof(path), "%.*s/.git", (int)folder.len, folder.p);
    return n > 0 && n < PATH_MAX && lstat(path, &status) == 0;
}

static struct cbx_str folder_above(struct cbx_str folder)
{
    const char *slash = memrchr(folder.p, '/', folder.len);
    return cbx_str_sub(folder, 0, slash != NULL ? (size_t)(slash - folder.p) : 0);
}

static void add_above(struct walk *w, struct cbx_str folder, const char *name)
{
    struct cbx_ignore *ignore = read_ignore_of(w, folder, name);
    struct above *one = ignore != NULL ? calloc(1, sizeof(*one)) : NULL;
    if (one != NULL) {
        *one = (struct above){ .ignore = ignore, .prefix = folder.len + 1 };
        CBX_LIST_APPEND(w->above, one, next);
    }
}

/* Outside of a repository only the folder itself counts. */
static void read_above(struct walk *w)
{
    struct cbx_str root = cbx_str_of(w->root), top = root;
    while (top.len > 0 && !is_repository(top)) {
        top = folder_above(top);
    }
    if (top.len == 0) {
        return;
    }
    for (struct cbx_str folder = root; folder.len > top.len;) {
        folder = folder_above(folder);
        add_above(w, folder, ".gitignore");
    }
    add_above(w, top, ".git/info/exclude");
}

static void free_above(struct walk *w)
{
    while (w->above != NULL) {
        struct above *one = w->above;
        w->above = one->next;
        cbx_ignore_free(one->ignore);
        free(one);
    }
}

/* A path below a folder whose path has `len` bytes; "/" ends in a slash itself. */
static struct cbx_str below(struct cbx_str path, size_t len)
{
    return cbx_str_sub(path, len + (len < path.len && path.p[len] == '/'), path.len);
}

/* The nearest file with a matching pattern decides. */
static enum cbx_ignored ask_ignores(const struct walk *w, const FTSENT *entry, bool folder)
{
    enum cbx_ignored result = CBX_IGNORE_SILENT;
    struct cbx_str path = { .p = entry->fts_path, .len = entry->fts_pathlen };
    for (const FTSENT *up = entry->fts_parent;
         result == CBX_IGNORE_SILENT && up != NULL && up->fts_level >= FTS_ROOTLEVEL;
         up = up->fts_parent) {
        if (up->fts_pointer != NULL) {
            result = cbx_ignore_match(up->fts_pointer, below(path, up->fts_pathlen), folder);
        }
    }
    for (const struct above *a = w->above; result == CBX_IGNORE_SILENT && a != NULL; a = a->next) {
        CBX_AUTO_DONE(buf) whole;
        cbx_buf_init(&whole, PATHS_MAX_BYTES);
        cbx_buf_add_cstr(&whole, w->root);
        cbx_buf_add(&whole, cbx_str_sub(path, w->root_len, path.len));
        result = cbx_ignore_match(a->ignore, cbx_str_sub(cbx_buf_str(&whole), a->prefix, whole.len),
                                  folder);
    }
    return result;
}

/* --- folders ---------------------------------------------------------------------------------- */

/* Returns true for a folder with packages of others: by its name, or as a virtual environment. */
static bool is_dependency(const FTSENT *entry)
{
    char path[PATH_MAX];
    if (cbx_folder_use_of(entry->fts_name) == CBX_FOLDER_DEPENDENCY) {
        return true;
    }
    int n = snprintf(path, sizeof(path), "%s/pyvenv.cfg", entry->fts_path);
    return n < PATH_MAX && access(path, F_OK) == 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_store(const char *name)
{
    static const char *const names[] = {
#define CBX_HIDDEN_STORE(name) name,
#include "analyzer/lint/paths/hidden.def"
    };
    return is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

static bool is_listed(const char *name)
{
    static const char *const names[] = {
#define CBX_HIDDEN_CODE(name) name,
#include "analyzer/lint/paths/hidden.def"
    };
    return is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

/* Why something is not judged; KEPT: it may be. */
enum { KEPT = -1 };

static bool is_excluded(struct walk *w, const FTSENT *entry, bool folder)
{
    const struct cbx_lint_filter *f = w->filter;
    CBX_AUTO_DONE(buf) normal;
    cbx_buf_init(&normal, PATHS_MAX_BYTES);
    if (f->include != NULL || f->exclude != NULL) {
        cbx_lint_path_normal(cbx_str_of(entry->fts_path), w->paths->folder, &normal);
    }
    struct cbx_str path = cbx_buf_str(&normal);
    path = path.len > 0 && path.p[0] == '/' ? cbx_str_sub(path, 1, path.len) : path;
    return (f->exclude != NULL && cbx_ignore_match(f->exclude, path, folder) == CBX_IGNORE_OUT) ||
           (f->include != NULL && !folder && !cbx_ignore_covers(f->include, path));
}

/* The reasons that the caller chose come first: they do not count for --strict-coverage. */
static int why_left_out(struct walk *w, const FTSENT *entry, bool folder)
{
    if (entry->fts_level == FTS_ROOTLEVEL) {
        return KEPT;
    }
    if (folder && is_dependency(entry)) {
        return CBX_LINT_SKIP_DEPENDENCY;
    }
    if (is_excluded(w, entry, folder)) {
        return CBX_LINT_SKIP_EXCLUDED;
    }
    if (entry->fts_name[0] == '.' && !w->filter->hidden) {
        return CBX_LINT_SKIP_HIDDEN;
    }
    if (!w->filter->no_ignore && ask_ignores(w, entry, folder) == CBX_IGNORE_OUT) {
        return CBX_LINT_SKIP_IGNORED;
    }
    return KEPT;
}

/* Below a folder that is left out and searched for code: the reason of that folder, in fts_number
 * plus one. */
static int inherited_reason(const FTSENT *entry)
{
    return entry->fts_level > FTS_ROOTLEVEL ? (int)entry->fts_parent->fts_number - 1 : KEPT;
}

static void skip(struct walk *w, const FTSENT *entry, int reason, const struct cbx_lint_kind *kind)
{
    struct cbx_lint_skip_name name = { .path = { entry->fts_path, entry->fts_pathlen } };
    if (reason == CBX_LINT_SKIP_HIDDEN && is_listed(entry->fts_name)) {
        name.rank = CBX_LINT_RANK_LISTED;
    }
    if (kind != NULL && cbx_lint_kind_is_code(kind)) {
        name.rank = CBX_LINT_RANK_CODE;
        name.foreign = kind->foreign;
    }
    cbx_lint_skips_add(&w->paths->skips, (enum cbx_lint_skip)reason, &name,
                       inherited_reason(entry) == KEPT, &w->paths->arena);
}

/* A folder that is left out is counted once. Its code is searched when that is asked for, unless
 * the caller chose to leave it out. */
static void leave_out_folder(struct walk *w, FTS *fts, FTSENT *entry, int reason)
{
    bool chosen = reason == CBX_LINT_SKIP_EXCLUDED || reason == CBX_LINT_SKIP_DEPENDENCY;
    if (inherited_reason(entry) == KEPT) {
        skip(w, entry, reason, NULL);
    }
    if (chosen || !w->filter->count_code) {
        fts_set(fts, entry, FTS_SKIP);
    } else {
        entry->fts_number = reason + 1;
    }
}

static void enter_folder(struct walk *w, FTS *fts, FTSENT *entry)
{
    if (entry->fts_level > FTS_ROOTLEVEL && is_store(entry->fts_name)) {
        fts_set(fts, entry, FTS_SKIP);
        return;
    }
    int reason = inherited_reason(entry);
    if (reason != KEPT && is_dependency(entry)) {
        fts_set(fts, entry, FTS_SKIP);
        return;
    }
    reason = reason != KEPT ? reason : why_left_out(w, entry, true);
    if (reason != KEPT) {
        leave_out_folder(w, fts, entry, reason);
    } else if (!w->filter->no_ignore) {
        entry->fts_pointer = read_ignore_of(
            w, (struct cbx_str){ .p = entry->fts_path, .len = entry->fts_pathlen }, ".gitignore");
    }
}

/* A file that is left out is read for its kind only when its code is counted. */
static void leave_out_file(struct walk *w, const FTSENT *entry, int reason)
{
    struct cbx_lint_kind kind;
    if (w->filter->count_code) {
        cbx_lint_kind_of_file(entry->fts_path, O_NOFOLLOW, &kind);
    } else {
        cbx_lint_kind_of_name(entry->fts_path, &kind);
    }
    if (cbx_lint_kind_is_code(&kind) || inherited_reason(entry) == KEPT) {
        skip(w, entry, reason, &kind);
    }
}

static int why_no_language(const struct cbx_lint_kind *kind)
{
    if (kind->error != 0) {
        return CBX_LINT_SKIP_UNREADABLE;
    }
    if (kind->foreign.len > 0) {
        return CBX_LINT_SKIP_FOREIGN;
    }
    return kind->binary ? CBX_LINT_SKIP_BINARY : CBX_LINT_SKIP_NO_LANGUAGE;
}

static void take_file(struct walk *w, const FTSENT *entry)
{
    struct cbx_lint_kind kind = { .language = w->filter->language };
    int reason = inherited_reason(entry);
    if (is_store(entry->fts_name)) {
        return; /* .git of a working tree of git is a file */
    }
    reason = reason != KEPT ? reason : why_left_out(w, entry, false);
    if (reason != KEPT) {
        leave_out_file(w, entry, reason);
        return;
    }
    if (kind.language == NULL) {
        cbx_lint_kind_of_file(entry->fts_path, O_NOFOLLOW, &kind);
    }
    if (kind.language != NULL && (!kind.document || w->filter->markdown)) {
        add_path(w->paths, entry->fts_path, kind.language, "");
    } else {
        skip(w, entry, why_no_language(&kind), &kind);
    }
}

static void take_link(struct walk *w, const FTSENT *entry)
{
    if (inherited_reason(entry) == KEPT && why_left_out(w, entry, false) == KEPT) {
        skip(w, entry, CBX_LINT_SKIP_LINK, NULL);
    }
}

static void leave_folder(FTSENT *entry)
{
    cbx_ignore_free(entry->fts_pointer);
    entry->fts_pointer = NULL;
}

static void take_entry(struct walk *w, FTS *fts, FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_D:
        enter_folder(w, fts, entry);
        return;
    case FTS_DP:
        leave_folder(entry);
        return;
    case FTS_F:
        take_file(w, entry);
        return;
    case FTS_DNR: /* comes instead of FTS_DP */
        leave_folder(entry);
        add_path(w->paths, entry->fts_path, NULL, strerror(entry->fts_errno));
        return;
    case FTS_ERR:
    case FTS_NS:
        add_path(w->paths, entry->fts_path, NULL, strerror(entry->fts_errno));
        return;
    default: /* links, pipes, sockets, devices */
        take_link(w, entry);
        return;
    }
}

static void walk_folder(struct cbx_lint_paths *paths, const struct cbx_lint_filter *filter,
                        char *root)
{
    struct walk w = { .paths = paths, .filter = filter, .root_len = strlen(root) };
    if (!filter->no_ignore && realpath(root, w.root) != NULL) {
        read_above(&w);
    }
    char *const roots[] = { root, NULL };
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (fts == NULL) {
        add_path(paths, root, NULL, strerror(errno));
    }
    for (FTSENT *entry; fts != NULL && (entry = fts_read(fts)) != NULL;) {
        take_entry(&w, fts, entry);
    }
    if (fts != NULL) {
        fts_close(fts);
    }
    free_above(&w);
}

/* A path that is given by name is checked, or an error is reported. */
static void add_file(struct cbx_lint_paths *paths, const struct cbx_lint_filter *filter,
                     const char *path, bool input)
{
    char error[320] = "";
    struct cbx_lint_kind kind = { .language = filter->language };
    if (kind.language == NULL && input) {
        cbx_lint_kind_of_name(path, &kind);
    } else if (kind.language == NULL) {
        cbx_lint_kind_of_file(path, 0, &kind);
    }
    if (kind.language == NULL) {
        cbx_lint_kind_describe(&kind, error, sizeof(error));
    }
    add_path(paths, path, kind.language, error);
}

/* Standard input without a name is Python. */
static void add_input(struct cbx_lint_paths *paths, const struct cbx_lint_filter *filter)
{
    size_t before = paths->count;
    if (filter->input_name != NULL) {
        add_file(paths, filter, filter->input_name, true);
    } else {
        add_path(paths, "-", filter->language != NULL ? filter->language : "python", "");
    }
    if (paths->count > before) {
        paths->items[before].input = true;
    }
}

int cbx_lint_paths_add(struct cbx_lint_paths *paths, const struct cbx_lint_filter *filter,
                       const char *argument, struct cbx_err *err)
{
    struct stat status;
    if (strcmp(argument, "-") == 0) {
        add_input(paths, filter);
    } else if (stat(argument, &status) == 0 && S_ISDIR(status.st_mode)) {
        char *root = strdup(argument);
        size_t len = root != NULL ? strlen(root) : 0;
        while (len > 1 && root[len - 1] == '/') {
            root[--len] = '\0';
        }
        if (root != NULL) {
            walk_folder(paths, filter, root);
        }
        free(root);
    } else {
        add_file(paths, filter, argument, false);
    }
    if (paths->arena.exhausted) {
        return cbx_fail(err, CBX_ETOOBIG, "more files than memory allows (%d MiB of names)",
                        PATHS_MAX_BYTES / 1024 / 1024);
    }
    return 0;
}
