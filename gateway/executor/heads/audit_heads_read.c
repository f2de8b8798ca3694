/* SPDX-License-Identifier: MIT
 * Reading kept heads: lines, files, folders. */
#include "gateway/executor/heads/audit_heads_internal.h"

#include "gateway/executor/audit/audit_reader.h"
#include "gateway/executor/heads/audit_anchors.h"
#include "policies/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const char *name_of(const struct cbx_audit_heads *heads)
{
    return heads->sources[heads->source_count - 1].name;
}

static int fail_line(const struct cbx_audit_heads *heads, int code, const char *what,
                     struct cbx_err *err)
{
    return cbx_fail(err, code, "%.200s:%" PRIu32 ": %s", name_of(heads), heads->line_number, what);
}

static int fail_many(const struct cbx_audit_heads *heads, int max, const char *what,
                     struct cbx_err *err)
{
    return cbx_fail(err, CBX_ETOOBIG, "%.200s:%" PRIu32 ": there are more than %d %s",
                    name_of(heads), heads->line_number, max, what);
}

/* --- one line --------------------------------------------------------------------------------- */

static int find_key(struct cbx_audit_heads *heads, const uint8_t bytes[CBX_AUDIT_PUBLIC_BYTES],
                    uint16_t *out, struct cbx_err *err)
{
    for (size_t i = heads->key_count; i > 0; i--) {
        if (memcmp(heads->keys[i - 1].bytes, bytes, CBX_AUDIT_PUBLIC_BYTES) == 0) {
            *out = (uint16_t)(i - 1);
            return 0;
        }
    }
    if (heads->key_count == CBX_AUDIT_HEADS_KEYS_MAX) {
        return fail_many(heads, CBX_AUDIT_HEADS_KEYS_MAX, "keys", err);
    }
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, CBX_AUDIT_PUBLIC_BYTES);
    if (key == NULL) {
        return fail_line(heads, CBX_EINVAL, "the head names a key that is none of Ed25519", err);
    }
    memcpy(heads->keys[heads->key_count].bytes, bytes, CBX_AUDIT_PUBLIC_BYTES);
    heads->keys[heads->key_count].key = key;
    *out = (uint16_t)heads->key_count++;
    return 0;
}

static int find_instance(struct cbx_audit_heads *heads, const char *name, uint16_t *out,
                         struct cbx_err *err)
{
    for (size_t i = heads->instance_count; i > 0; i--) {
        if (strcmp(heads->instances[i - 1].name, name) == 0) {
            *out = (uint16_t)(i - 1);
            return 0;
        }
    }
    if (heads->instance_count == CBX_AUDIT_HEADS_KEYS_MAX) {
        return fail_many(heads, CBX_AUDIT_HEADS_KEYS_MAX, "instances", err);
    }
    snprintf(heads->instances[heads->instance_count].name,
             sizeof(heads->instances[heads->instance_count].name), "%s", name);
    *out = (uint16_t)heads->instance_count++;
    return 0;
}

static struct cbx_head_item *add_item(struct cbx_audit_heads *heads)
{
    heads->items = cbx_grow(heads->items, heads->count, sizeof(*heads->items));
    return &heads->items[heads->count++];
}

static int add_head(struct cbx_audit_heads *heads, struct cbx_str line, struct cbx_err *err)
{
    struct cbx_audit_head head;
    struct cbx_head_item item = { .line = heads->line_number };
    if (!cbx_audit_head_read(line, &head)) {
        return fail_line(heads, CBX_EINVAL,
                         "the head is malformed, or has no signature, allowed is "
                         "'codebox-head 1 SEQ HASH TIME INSTANCE KEY SIGNATURE'",
                         err);
    }
    int failed = find_key(heads, head.key, &item.key, err);
    if (failed) {
        return failed;
    }
    failed = find_instance(heads, head.instance, &item.instance, err);
    if (failed) {
        return failed;
    }
    if (!cbx_audit_head_is_signed(line, heads->keys[item.key].key)) {
        return fail_line(heads, CBX_EINVAL, "the signature of the head is not valid", err);
    }
    item.chain = head.chain;
    item.time_ms = head.time_ms;
    item.source = (uint16_t)(heads->source_count - 1);
    *add_item(heads) = item;
    return 0;
}

/* True if the text may be the beginning of a head, or of the mark: only characters of a head,
 * and too few of them. */
static bool is_torn(struct cbx_str text)
{
    if (text.len >= CBX_AUDIT_HEAD_CHARS) {
        return false;
    }
    static const char allowed[] = "0123456789abcdefTZ:. -" CBX_AUDIT_HEAD_MARK CBX_AUDIT_HEAD_TORN;
    bool torn = true;
    for (size_t i = 0; i < text.len; i++) {
        torn = torn && memchr(allowed, text.p[i], sizeof(allowed) - 1) != NULL;
    }
    return torn;
}

/* `ended`: true if the line had its '\n'. */
static int take_line(struct cbx_audit_heads *heads, bool ended, struct cbx_err *err)
{
    struct cbx_str line = { .p = heads->line, .len = heads->line_len };
    heads->line_len = 0;
    heads->line_number++;
    if (heads->count + heads->torn >= CBX_AUDIT_HEADS_MAX) {
        return fail_many(heads, CBX_AUDIT_HEADS_MAX, "lines: move the oldest ones elsewhere", err);
    }
    const char *mark = memmem(line.p, line.len, CBX_AUDIT_HEAD_MARK, strlen(CBX_AUDIT_HEAD_MARK));
    bool torn = !ended || cbx_str_ends(line, CBX_STR(CBX_AUDIT_HEAD_TORN));
    size_t from = mark != NULL ? (size_t)(mark - line.p) : 0;
    struct cbx_str head = cbx_str_sub(line, from, line.len);
    if (ended && torn) {
        head = cbx_str_sub(head, 0, head.len - strlen(CBX_AUDIT_HEAD_TORN));
    }
    if (torn && is_torn(head)) {
        heads->torn++;
        return 0;
    }
    if (mark == NULL) {
        return fail_line(heads, CBX_EINVAL, "the line has no kept head ('codebox-head 1 ...')",
                         err);
    }
    return add_head(heads, head, err);
}

/* --- a source --------------------------------------------------------------------------------- */

static int begin(struct cbx_audit_heads *heads, const char *name, enum cbx_head_source kind,
                 struct cbx_err *err)
{
    if (heads->source_count == CBX_AUDIT_HEADS_FILES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "there are more than %d files of heads",
                        CBX_AUDIT_HEADS_FILES_MAX);
    }
    heads->sources[heads->source_count].name = cbx_str_copy(cbx_str_of(name));
    heads->sources[heads->source_count++].kind = kind;
    heads->line_len = heads->line_number = 0;
    return 0;
}

int cbx_audit_heads_begin(struct cbx_audit_heads *heads, const char *name, bool may_be_others,
                          struct cbx_err *err)
{
    return begin(heads, name, may_be_others ? CBX_HEADS_FOLDER : CBX_HEADS_OWN, err);
}

int cbx_audit_heads_feed(struct cbx_audit_heads *heads, struct cbx_str bytes, struct cbx_err *err)
{
    while (bytes.len > 0) {
        const char *end = memchr(bytes.p, '\n', bytes.len);
        size_t part = end != NULL ? (size_t)(end - bytes.p) : bytes.len;
        if (part > sizeof(heads->line) - heads->line_len) {
            heads->line_number++;
            return fail_many(heads, CBX_AUDIT_HEADS_LINE_MAX, "bytes in the line", err);
        }
        memcpy(heads->line + heads->line_len, bytes.p, part);
        heads->line_len += part;
        bytes = cbx_str_sub(bytes, part + (end != NULL), bytes.len);
        int failed = 0;
        if (end != NULL) {
            failed = take_line(heads, true, err);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_audit_heads_end(struct cbx_audit_heads *heads, struct cbx_err *err)
{
    if (heads->line_len > 0) {
        return take_line(heads, false, err);
    }
    return 0;
}

/* --- anchors ---------------------------------------------------------------------------------- */

/* Takes the head of a record; other records are left out. */
static int take_record(struct cbx_audit_heads *heads, struct cbx_str line, struct cbx_err *err)
{
    static const char type[] = "\"type\":\"" CBX_AUDIT_ANCHOR "\"";
    CBX_AUTO_JSON record = NULL;
    if (memmem(line.p, line.len, type, sizeof(type) - 1) == NULL ||
        cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL) != 0 ||
        !cbx_str_is(cbx_json_str(json_object_get(record, "type")), CBX_AUDIT_ANCHOR)) {
        return 0;
    }
    heads->line_number = (uint32_t)json_integer_value(json_object_get(record, "seq"));
    if (heads->count >= CBX_AUDIT_HEADS_MAX) {
        return fail_many(heads, CBX_AUDIT_HEADS_MAX, "anchors", err);
    }
    return add_head(heads, cbx_json_str(json_object_get(json_object_get(record, "body"), "head")),
                    err);
}

int cbx_audit_heads_read_anchors(struct cbx_audit_heads *heads, const char *state_dir,
                                 struct cbx_err *err)
{
    CBX_AUTO(audit_reader) reader = NULL;
    struct cbx_str line;
    int failed = begin(heads, state_dir, CBX_HEADS_ANCHORS, err);
    if (!failed) {
        failed = cbx_audit_reader_new(state_dir, 0, &reader, err);
    }
    while (!failed && cbx_audit_reader_next(reader, &line)) {
        failed = take_record(heads, line, err);
    }
    return failed;
}

/* --- files ------------------------------------------------------------------------------------ */

static int feed_fd(struct cbx_audit_heads *heads, int fd, struct cbx_err *err)
{
    char chunk[64 * 1024];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return cbx_fail(err, CBX_EIO, "%.200s: %s", name_of(heads), strerror(errno));
        }
        if (n == 0) {
            return cbx_audit_heads_end(heads, err);
        }
        int failed =
            cbx_audit_heads_feed(heads, (struct cbx_str){ .p = chunk, .len = (size_t)n }, err);
        if (failed) {
            return failed;
        }
    }
}

int cbx_audit_heads_read_fd(struct cbx_audit_heads *heads, int fd, const char *name,
                            struct cbx_err *err)
{
    int failed = cbx_audit_heads_begin(heads, name, false, err);
    if (failed) {
        return failed;
    }
    return feed_fd(heads, fd, err);
}

static int fail_kind(const char *name, mode_t mode, const char *allowed, struct cbx_err *err)
{
    static const struct {
        mode_t mode;
        const char *name;
    } kinds[] = {
        { S_IFIFO, "a FIFO" },   { S_IFSOCK, "a socket" },       { S_IFCHR, "a device" },
        { S_IFBLK, "a device" }, { S_IFLNK, "a symbolic link" }, { S_IFDIR, "a folder" }
    };
    const char *found = "no regular file";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if ((mode & S_IFMT) == kinds[i].mode) {
            found = kinds[i].name;
        }
    }
    return cbx_fail(err, CBX_EINVAL, "'%.200s' is %s, allowed is %s", name, found, allowed);
}

/* Reads a file of a folder: never through a link, and without blocking. */
static int read_entry(struct cbx_audit_heads *heads, int folder, const char *path, const char *name,
                      struct cbx_err *err)
{
    char shown[512];
    struct stat status;
    snprintf(shown, sizeof(shown), "%.200s/%.255s", path, name);
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        return cbx_fail(err, CBX_EIO, "'%.300s': %s", shown, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return fail_kind(shown, status.st_mode, "a regular file", err);
    }
    CBX_AUTO_FD fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EIO, "'%.300s': %s", shown,
                        fd < 0 ? strerror(errno) : "it was replaced meanwhile");
    }
    int failed = cbx_audit_heads_begin(heads, shown, true, err);
    if (failed) {
        return failed;
    }
    return feed_fd(heads, fd, err);
}

static int read_folder(struct cbx_audit_heads *heads, int fd, const char *path, struct cbx_err *err)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
    if (entries == NULL) {
        cbx_fd_auto(&copy);
        return cbx_fail(err, CBX_EIO, "'%.200s': %s", path, strerror(errno));
    }
    int failed = 0;
    size_t before = heads->source_count;
    for (const struct dirent *entry; !failed && (entry = readdir(entries)) != NULL;) {
        if (cbx_str_ends(cbx_str_of(entry->d_name), CBX_STR(CBX_AUDIT_HEADS_SUFFIX))) {
            failed = read_entry(heads, fd, path, entry->d_name, err);
        }
    }
    closedir(entries);
    if (!failed && heads->source_count == before) {
        failed = cbx_fail(err, CBX_EINVAL,
                          "the folder '%.200s' has no kept heads, which are in files with names "
                          "that end in " CBX_AUDIT_HEADS_SUFFIX,
                          path);
    }
    return failed;
}

int cbx_audit_heads_read(struct cbx_audit_heads *heads, const char *path, struct cbx_err *err)
{
    struct stat status;
    if (stat(path, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "the kept heads '%.200s': %s", path, strerror(errno));
    }
    /* opening a device may have effects */
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return fail_kind(path, status.st_mode,
                         "a regular file, a folder, a URL, or '-' for standard input", err);
    }
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "the kept heads '%.200s': %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return read_folder(heads, fd, path, err);
    }
    if (!S_ISREG(status.st_mode)) {
        return fail_kind(path, status.st_mode, "a regular file", err);
    }
    return cbx_audit_heads_read_fd(heads, fd, path, err);
}
