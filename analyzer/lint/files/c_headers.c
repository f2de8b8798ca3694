/* SPDX-License-Identifier: MIT
 * Headers of a project, searched for as a compiler does with the usual options. */
#include "analyzer/lint/files/c_headers.h"

#include "policies/base/arena.h"
#include "policies/base/auto.h"
#include "policies/base/memory.h"
#include "policies/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS_MAX = 8 /* around a file */, NAME_MAX_BYTES = 256 };

struct headers {
    struct cbx_buf *out;
    struct header {
        char path[PATH_MAX];
        struct cbx_str text; /* in `texts` */
    } items[CBX_HEADERS_MAX];
    size_t count;
    struct cbx_arena texts;
    size_t bytes;
};

static bool is_header(const char *name)
{
    static const char *const endings[] = { ".h", ".hh", ".hpp", ".inc", ".def", ".c" };
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t n = strlen(endings[i]);
        if (len > n && strcmp(name + len - n, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads a file into the arena; an empty text if it is none that is read. */
static struct cbx_str read_header(struct headers *h, const char *path)
{
    struct cbx_str none = { 0 };
    struct stat status;
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (size_t)status.st_size > CBX_HEADERS_MAX_BYTES - h->bytes) {
        return none;
    }
    size_t len = 0, size = (size_t)status.st_size;
    char *text = cbx_arena_alloc(&h->texts, size + 1);
    for (ssize_t n = 1; text != NULL && len < size && n > 0; len += n > 0 ? (size_t)n : 0) {
        n = read(fd, text + len, size - len);
    }
    h->bytes += size;
    return (struct cbx_str){ .p = text, .len = text != NULL ? len : 0 };
}

/* Adds the header at FOLDER/[BELOW/]NAME; false if there is none. */
static bool add_header(struct headers *h, struct cbx_str folder, const char *below,
                       struct cbx_str name)
{
    struct header *item = &h->items[h->count];
    int n = snprintf(item->path, sizeof(item->path), "%.*s%s%s%.*s", (int)folder.len,
                     folder.len > 0 ? folder.p : "", folder.len > 0 ? "/" : "", below,
                     (int)name.len, name.p);
    if (n < 0 || (size_t)n >= sizeof(item->path)) {
        return false;
    }
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->items[i].path, item->path) == 0) {
            return true;
        }
    }
    item->text = read_header(h, item->path);
    if (item->text.len == 0) {
        return false;
    }
    const struct cbx_entry entry = {
        .kind = CBX_ENTRY_FILE, .language = CBX_STR("c"), .name = name, .text = item->text
    };
    cbx_entry_write(&entry, h->out);
    h->count++;
    return true;
}

static struct cbx_str folder_of(struct cbx_str path)
{
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    return cbx_str_sub(path, 0, slash != NULL ? (size_t)(slash - path.p) : 0);
}

/* Searches for a header: beside the file that names it, then around it. */
static void search(struct headers *h, struct cbx_str path, struct cbx_str name)
{
    static const char *const below[] = { "", "include/", "src/" };
    struct cbx_str folder = folder_of(path);
    for (int i = 0; i < FOLDERS_MAX && h->count < CBX_HEADERS_MAX; i++) {
        for (size_t k = 0; k < sizeof(below) / sizeof(below[0]); k++) {
            if (add_header(h, folder, below[k], name)) {
                return;
            }
        }
        if (folder.len == 0) {
            return;
        }
        folder = folder_of(folder);
    }
}

/* Returns the name in a line `#include "name"` or <name>; empty for other lines. */
static struct cbx_str name_in(struct cbx_str line)
{
    struct cbx_str none = { 0 }, rest = cbx_str_trim(line);
    if (!cbx_str_starts(rest, CBX_STR("#"))) {
        return none;
    }
    rest = cbx_str_trim(cbx_str_sub(rest, 1, rest.len));
    if (!cbx_str_starts(rest, CBX_STR("include"))) {
        return none;
    }
    rest = cbx_str_trim(cbx_str_sub(rest, strlen("include"), rest.len));
    char close = rest.len > 0 && rest.p[0] == '<' ? '>' : '"';
    const char *end = rest.len > 1 && (rest.p[0] == '<' || rest.p[0] == '"')
                          ? memchr(rest.p + 1, close, rest.len - 1)
                          : NULL;
    struct cbx_str name = end != NULL ? cbx_str_sub(rest, 1, (size_t)(end - rest.p)) : none;
    char terminated[NAME_MAX_BYTES];
    if (name.len == 0 || name.len >= sizeof(terminated) || name.p[0] == '/') {
        return none;
    }
    snprintf(terminated, sizeof(terminated), "%.*s", (int)name.len, name.p);
    return is_header(terminated) ? name : none;
}

static void collect(struct headers *h, struct cbx_str path, struct cbx_str text)
{
    while (text.len > 0 && h->count < CBX_HEADERS_MAX) {
        const char *feed = memchr(text.p, '\n', text.len);
        size_t end = feed != NULL ? (size_t)(feed - text.p) : text.len;
        struct cbx_str name = name_in(cbx_str_sub(text, 0, end));
        if (name.len > 0) {
            search(h, path, name);
        }
        text = cbx_str_sub(text, feed != NULL ? end + 1 : end, text.len);
    }
}

void cbx_headers_collect(struct cbx_str path, struct cbx_str text, struct cbx_buf *out)
{
    static const struct headers empty;
    struct headers *h = cbx_new(sizeof(*h));
    *h = empty;
    h->out = out;
    cbx_arena_init(&h->texts, CBX_HEADERS_MAX_BYTES * 2);
    collect(h, path, text);
    for (size_t i = 0; i < h->count; i++) {
        collect(h, cbx_str_of(h->items[i].path), h->items[i].text);
    }
    cbx_arena_done(&h->texts);
    free(h);
}

/* --- C++ -------------------------------------------------------------------------------------- */

/* The place of a line: within a comment, and within conditions. */
struct place {
    bool comment, guarded; /* guarded: the first condition is #ifndef */
    int depth;
};

/* Removes the comments that begin in the line, or end in it. */
static struct cbx_str without_comment(struct place *at, struct cbx_str line)
{
    if (at->comment) {
        const char *end = memmem(line.p, line.len, "*/", 2);
        at->comment = end == NULL;
        line = cbx_str_sub(line, end != NULL ? (size_t)(end - line.p) + 2 : line.len, line.len);
    }
    const char *begin = line.len > 0 ? memmem(line.p, line.len, "/*", 2) : NULL;
    if (begin != NULL) {
        size_t from = (size_t)(begin - line.p);
        at->comment = memmem(begin + 2, line.len - from - 2, "*/", 2) == NULL;
        line = cbx_str_sub(line, 0, from);
    }
    return cbx_str_trim(line);
}

static void take_directive(struct place *at, struct cbx_str line)
{
    struct cbx_str name = cbx_str_trim(cbx_str_sub(line, 1, line.len));
    if (cbx_str_starts(name, CBX_STR("if"))) {
        at->guarded = at->depth == 0 ? cbx_str_starts(name, CBX_STR("ifndef")) : at->guarded;
        at->depth++;
    } else if (cbx_str_starts(name, CBX_STR("endif"))) {
        at->depth -= at->depth > 0;
    }
}

/* Returns true if the line is `word`, a blank or '<', and more. */
static bool begins(struct cbx_str line, const char *word)
{
    size_t len = strlen(word);
    return line.len > len + 1 && cbx_str_starts(line, cbx_str_of(word)) &&
           (line.p[len] == ' ' || line.p[len] == '<');
}

bool cbx_headers_is_cplusplus(struct cbx_str text)
{
    static const char *const words[] = { "class", "namespace", "using namespace", "template" };
    struct place at = { 0 };
    while (text.len > 0) {
        const char *feed = memchr(text.p, '\n', text.len);
        size_t end = feed != NULL ? (size_t)(feed - text.p) : text.len;
        struct cbx_str line = without_comment(&at, cbx_str_sub(text, 0, end));
        bool outside = at.depth == 0 || (at.depth == 1 && at.guarded);
        if (cbx_str_starts(line, CBX_STR("#"))) {
            take_directive(&at, line);
        }
        for (size_t i = 0; outside && i < sizeof(words) / sizeof(words[0]); i++) {
            if (begins(line, words[i])) {
                return true;
            }
        }
        text = cbx_str_sub(text, feed != NULL ? end + 1 : end, text.len);
    }
    return false;
}
