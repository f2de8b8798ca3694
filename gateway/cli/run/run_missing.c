/* SPDX-License-Identifier: MIT
 * Names a file that a failed program misses and that lies beside it on the host. */
#include "gateway/cli/run/run_missing.h"

#include "policies/base/memory.h"
#include "policies/base/text/printable.h"

#include <dirent.h>
#include <stdlib.h>

enum place { AFTER, BEFORE };

static const struct row {
    const char *kernel, *error;
    enum place place;
    const char *endings;
} rows[] = {
#define CBX_MISSING(kernel, error, place, endings) { kernel, error, place, endings },
#include "gateway/cli/run/run_missing.def"
};

/* --- names on the host ------------------------------------------------------------------------ */

static void add_entry(struct cbx_run_missing *missing, const char *folder,
                      const struct dirent *entry)
{
    size_t name_at = strcmp(folder, ".") == 0 ? 0 : strlen(folder) + 1;
    size_t size = name_at + strlen(entry->d_name) + 2;
    char *path = cbx_new(size);
    const char *end = entry->d_type == DT_DIR ? "/" : "";
    if (name_at > 0) {
        snprintf(path, size, "%s/%s%s", folder, entry->d_name, end);
    } else {
        snprintf(path, size, "%s%s", entry->d_name, end);
    }
    missing->entries = cbx_grow(missing->entries, missing->count, sizeof(*missing->entries));
    missing->entries[missing->count++] =
        (struct cbx_missing_entry){ .path = path, .name_at = name_at };
}

static void read_folder(struct cbx_run_missing *missing, const char *folder)
{
    DIR *names = opendir(folder);
    const struct dirent *entry;
    if (names == NULL) {
        return; /* longer: no hint */
    }
    while (missing->count < CBX_MISSING_ENTRIES_MAX && (entry = readdir(names)) != NULL) {
        if (entry->d_name[0] != '.') {
            add_entry(missing, folder, entry);
        }
    }
    closedir(names);
}

void cbx_run_missing_read(struct cbx_run_missing *missing, const char *folder)
{
    read_folder(missing, folder);
    if (strcmp(folder, ".") != 0) {
        read_folder(missing, ".");
    }
}

void cbx_run_missing_done(struct cbx_run_missing *missing)
{
    for (size_t i = 0; i < missing->count; i++) {
        free(missing->entries[i].path);
    }
    free(missing->entries);
    *missing = (struct cbx_run_missing){ 0 };
}

/* --- names in errors -------------------------------------------------------------------------- */

static bool is_end(char c)
{
    return (unsigned char)c <= ' ' || c == '\'' || c == '"' || c == '`' || c == ':';
}

static struct cbx_str word_at(struct cbx_str text, size_t at, enum place place)
{
    size_t from = at, to = at;
    while (place == AFTER && to < text.len && !is_end(text.p[to])) {
        to++;
    }
    while (place == BEFORE && from > 0 && !is_end(text.p[from - 1])) {
        from--;
    }
    return cbx_str_sub(text, from, to);
}

/* Returns the last name of its kind in the errors; empty if there is none. */
static struct cbx_str find_word(const struct row *row, struct cbx_str errors)
{
    struct cbx_str error = cbx_str_of(row->error), word = { 0 };
    size_t at = 0;
    const char *found;
    while ((found = memmem(errors.p + at, errors.len - at, error.p, error.len)) != NULL) {
        size_t start = (size_t)(found - errors.p);
        at = start + error.len;
        word = word_at(errors, row->place == AFTER ? at : start, row->place);
    }
    return word;
}

/* Returns the entry that the program searches in its workspace: the first name of a relative
 * path or module, the last one of another path. */
static struct cbx_str name_of(struct cbx_str word, bool is_module)
{
    static const struct cbx_str fronts[] = { { "/workspace/", 11 }, { "./", 2 } };
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
        if (cbx_str_starts(word, fronts[i])) {
            word = cbx_str_sub(word, fronts[i].len, word.len);
        }
    }
    if (cbx_str_starts(word, CBX_STR("/"))) {
        size_t at = word.len;
        while (word.p[at - 1] != '/') {
            at--;
        }
        return cbx_str_sub(word, at, word.len);
    }
    const char *end = word.len > 0 ? memchr(word.p, is_module ? '.' : '/', word.len) : NULL;
    return end != NULL ? cbx_str_sub(word, 0, (size_t)(end - word.p)) : word;
}

/* Returns true if `name` is the name on the host, followed by nothing, a '/' or one of the
 * endings. */
static bool is_named(struct cbx_str on_host, struct cbx_str name, const char *endings)
{
    if (name.len == 0 || !cbx_str_starts(on_host, name)) {
        return false;
    }
    struct cbx_str rest = cbx_str_sub(on_host, name.len, on_host.len);
    if (rest.len == 0 || cbx_str_is(rest, "/")) {
        return true;
    }
    for (const char *p = endings; *p != '\0'; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");
        if (cbx_str_equal(rest, (struct cbx_str){ p, len })) {
            return true;
        }
        p += len;
    }
    return false;
}

static bool is_uploaded(const struct cbx_uploads *uploads, struct cbx_str name)
{
    for (size_t i = 0; i < uploads->count; i++) {
        struct cbx_str path = cbx_str_of(uploads->items[i].path);
        if (cbx_str_equal(path, name) ||
            (cbx_str_ends(name, CBX_STR("/")) && cbx_str_starts(path, name))) {
            return true;
        }
    }
    return false;
}

static const char *find_path(const struct cbx_run_missing *missing,
                             const struct cbx_uploads *uploads, struct cbx_str name,
                             const char *endings)
{
    for (size_t i = 0; i < missing->count; i++) {
        const struct cbx_missing_entry *entry = &missing->entries[i];
        struct cbx_str on_host = cbx_str_of(entry->path + entry->name_at);
        if (is_named(on_host, name, endings) && !is_uploaded(uploads, on_host)) {
            return entry->path;
        }
    }
    return NULL;
}

bool cbx_run_missing_advise(const struct cbx_run_missing *missing,
                            const struct cbx_uploads *uploads, const char *kernel,
                            struct cbx_str errors, struct cbx_buf *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && errors.len > 0; i++) {
        const struct row *row = &rows[i];
        if (row->kernel[0] != '\0' && strcmp(row->kernel, kernel) != 0) {
            continue;
        }
        bool is_module = strcmp(row->endings, ".py") == 0;
        struct cbx_str name = name_of(find_word(row, errors), is_module);
        const char *path = find_path(missing, uploads, name, row->endings);
        if (path != NULL) {
            CBX_AUTO_DONE(buf) shown;
            cbx_buf_init(&shown, 64 * 1024);
            cbx_printable_add(&shown, cbx_str_of(path), CBX_PRINTABLE_LINE);
            cbx_buf_printf(out,
                           "'%s' is here, but not in the sandbox: add --file '%s' before the "
                           "name of the program",
                           shown.p, shown.p);
            return true;
        }
    }
    return false;
}
