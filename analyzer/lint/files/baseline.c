/* SPDX-License-Identifier: MIT
 * Reads and writes baselines. The file is untrusted input: its size is capped first, and every
 * entry is checked. */
#include "analyzer/lint/files/baseline.h"

#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* --- fingerprints ----------------------------------------------------------------------------- */

static struct cbx_str line_of(struct cbx_str source, uint32_t byte)
{
    size_t from = byte > source.len ? source.len : byte, to = from;
    while (from > 0 && source.p[from - 1] != '\n') {
        from--;
    }
    while (to < source.len && source.p[to] != '\n') {
        to++;
    }
    return cbx_str_sub(source, from, to);
}

/* Joins runs of blanks, and removes blanks at the ends: a change of indentation keeps the
 * fingerprint. */
static void add_line(struct cbx_str line, struct cbx_buf *out)
{
    bool blank = false;
    size_t from = out->len;
    for (size_t i = 0; i < line.len; i++) {
        bool now = line.p[i] == ' ' || line.p[i] == '\t' || line.p[i] == '\f';
        if (!now) {
            if (blank && out->len > from) {
                cbx_buf_add_char(out, ' ');
            }
            cbx_buf_add_char(out, line.p[i]);
        }
        blank = now;
    }
}

static void add_part(struct cbx_str part, struct cbx_buf *out)
{
    cbx_buf_add(out, part);
    cbx_buf_add_char(out, '\0');
}

/* Sorts equal findings of a file next to each other, in their order in the file. */
struct same {
    struct cbx_sha256 hash;
    size_t index;
};

static int compare_same(const void *a, const void *b)
{
    const struct same *x = a, *y = b;
    int order = memcmp(&x->hash, &y->hash, sizeof(x->hash));
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static void number_same(struct same *list, size_t count, struct cbx_report_finding *findings,
                        struct cbx_arena *arena)
{
    unsigned ordinal = 0;
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && memcmp(&list[i].hash, &list[i - 1].hash, sizeof(list->hash)) == 0;
        ordinal = again ? ordinal + 1 : 0;
        unsigned char key[sizeof(struct cbx_sha256) + sizeof(uint32_t)];
        memcpy(key, &list[i].hash, sizeof(list->hash));
        for (unsigned b = 0; b < 4; b++) {
            key[sizeof(list->hash) + b] = (unsigned char)(ordinal >> (8 * b));
        }
        struct cbx_sha256 hash =
            cbx_sha256_of((struct cbx_str){ .p = (const char *)key, .len = sizeof(key) });
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&hash, hex);
        findings[list[i].index].fingerprint =
            cbx_arena_copy(arena, (struct cbx_str){ .p = hex, .len = CBX_FINGERPRINT_HEX });
    }
}

int cbx_lint_fingerprint(struct cbx_str uri, struct cbx_report_finding *findings, size_t count,
                         struct cbx_arena *arena, struct cbx_err *err)
{
    struct same *list = cbx_arena_array(arena, count + 1, sizeof(*list));
    CBX_AUTO_DONE(buf) key;
    cbx_buf_init(&key, CBX_BASELINE_MAX_BYTES);
    for (size_t i = 0; list != NULL && i < count; i++) {
        cbx_buf_reset(&key);
        add_part(CBX_STR("codebox-lint 1"), &key);
        add_part(findings[i].v.rule->id, &key);
        add_part(uri, &key);
        add_line(line_of(findings[i].source, findings[i].v.span.start_byte), &key);
        list[i] = (struct same){ .hash = cbx_sha256_of(cbx_buf_str(&key)), .index = i };
    }
    if (list != NULL && cbx_sort_in(arena, list, count, sizeof(*list), compare_same)) {
        number_same(list, count, findings, arena);
    }
    if (arena->exhausted) {
        return cbx_fail(err, CBX_ETOOBIG, "more findings than memory allows");
    }
    return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

struct entry {
    struct cbx_str rule, path, fingerprint;
};

struct cbx_baseline {
    json_t *root; /* bytes of the file, from which the entries are borrowed */
    struct entry *entries;
    /* one mark per entry, in shared memory: processes that check files set them */
    atomic_bool *seen;
    size_t count;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return cbx_str_compare(x->fingerprint, y->fingerprint);
}

static const struct cbx_json_field entry_fields[] = {
    { "rule", CBX_JSON_STR, offsetof(struct entry, rule), .required = true, .min = 1, .max = 64 },
    { "path", CBX_JSON_STR, offsetof(struct entry, path), .required = true, .min = 1,
      .max = 65536 },
    { "fingerprint", CBX_JSON_STR, offsetof(struct entry, fingerprint), .required = true,
      .min = CBX_FINGERPRINT_HEX, .max = CBX_FINGERPRINT_HEX },
};

static int read_entry(const json_t *value, size_t number, struct entry *out, struct cbx_err *err)
{
    if (!json_is_object(value)) {
        return cbx_fail(err, CBX_EINVAL, "finding %zu is no object", number);
    }
    int failed = cbx_json_read(value, entry_fields, sizeof(entry_fields) / sizeof(entry_fields[0]),
                               out, err);
    if (failed) {
        return cbx_wrap(err, "finding %zu", number);
    }
    for (size_t i = 0; i < out->fingerprint.len; i++) {
        if (strchr("0123456789abcdef", out->fingerprint.p[i]) == NULL ||
            out->fingerprint.p[i] == '\0') {
            return cbx_fail(err, CBX_EINVAL,
                            "finding %zu: the fingerprint is '%.*s', allowed are %d digits of "
                            "lower-case hexadecimal",
                            number, CBX_STR_SHOWN(out->fingerprint), CBX_FINGERPRINT_HEX);
        }
    }
    return 0;
}

static int read_entries(const json_t *list, struct cbx_baseline *baseline, struct cbx_err *err)
{
    size_t count = json_array_size(list), i;
    if (count > CBX_BASELINE_ENTRIES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu findings, allowed are %d", count,
                        CBX_BASELINE_ENTRIES_MAX);
    }
    baseline->entries = cbx_new_array(count + 1, sizeof(*baseline->entries));
    const json_t *value;
    json_array_foreach(list, i, value)
    {
        int failed = read_entry(value, i + 1, &baseline->entries[i], err);
        if (failed) {
            return failed;
        }
    }
    baseline->count = count;
    void *seen = mmap(NULL, (count + 1) * sizeof(*baseline->seen), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED) {
        abort();
    }
    baseline->seen = seen;
    cbx_sort_heap(baseline->entries, count, sizeof(*baseline->entries), compare_entries);
    for (i = 1; i < count; i++) {
        struct cbx_str fingerprint = baseline->entries[i].fingerprint;
        if (cbx_str_equal(fingerprint, baseline->entries[i - 1].fingerprint)) {
            return cbx_fail(err, CBX_EINVAL, "the fingerprint '%.*s' stands there twice",
                            CBX_STR_SHOWN(fingerprint));
        }
    }
    return 0;
}

struct head {
    int64_t version;
    struct cbx_str tool;
    const json_t *findings;
};

static const struct cbx_json_field head_fields[] = {
    { "version", CBX_JSON_INT, offsetof(struct head, version), .required = true, .min = 1,
      .max = 1 },
    { "tool", CBX_JSON_STR, offsetof(struct head, tool), .required = true },
    { "findings", CBX_JSON_ARRAY, offsetof(struct head, findings), .required = true },
};

int cbx_baseline_parse(struct cbx_str json, struct cbx_baseline **out, struct cbx_err *err)
{
    CBX_AUTO(baseline) baseline = cbx_new(sizeof(*baseline));
    struct head head = { 0 };
    int failed = cbx_json_parse(json, CBX_BASELINE_MAX_BYTES, &baseline->root, err);
    if (failed) {
        return failed;
    }
    if (!json_is_object(baseline->root)) {
        return cbx_fail(err, CBX_EINVAL, "this is JSON, but no baseline: it is no object");
    }
    failed = cbx_json_read(baseline->root, head_fields,
                           sizeof(head_fields) / sizeof(head_fields[0]), &head, err);
    if (failed) {
        return failed;
    }
    if (!cbx_str_is(head.tool, "codebox-lint")) {
        return cbx_fail(err, CBX_EINVAL, "the tool is '%.*s', allowed is codebox-lint",
                        CBX_STR_SHOWN(head.tool));
    }
    failed = read_entries(head.findings, baseline, err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&baseline);
    return 0;
}

static int read_file(const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    struct stat status;
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "%s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "not a regular file");
    }
    ssize_t n = 0;
    char *to = NULL;
    while ((to = cbx_buf_reserve(out, 65536)) != NULL && (n = read(fd, to, 65536)) > 0) {
        out->len += (size_t)n;
    }
    if (to == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "larger than %d bytes", CBX_BASELINE_MAX_BYTES);
    }
    if (n < 0) {
        return cbx_fail(err, CBX_EIO, "%s", strerror(errno));
    }
    return 0;
}

int cbx_baseline_load(const char *path, struct cbx_baseline **out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_BASELINE_MAX_BYTES);
    int failed = read_file(path, &text, err);
    if (!failed) {
        failed = cbx_baseline_parse(cbx_buf_str(&text), out, err);
    }
    if (failed) {
        return cbx_wrap(err, "baseline '%s'", path);
    }
    return 0;
}

void cbx_baseline_free(struct cbx_baseline *baseline)
{
    if (baseline != NULL) {
        json_decref(baseline->root);
        free(baseline->entries);
        if (baseline->seen != NULL) {
            munmap(baseline->seen, (baseline->count + 1) * sizeof(*baseline->seen));
        }
        free(baseline);
    }
}

/* --- use -------------------------------------------------------------------------------------- */

void cbx_baseline_suppress(struct cbx_baseline *baseline, struct cbx_str uri,
                           struct cbx_report_finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cbx_report_finding *f = &findings[i];
        struct entry key = { .fingerprint = f->fingerprint };
        struct entry *entry = bsearch(&key, baseline->entries, baseline->count,
                                      sizeof(*baseline->entries), compare_entries);
        if (entry == NULL || cbx_report_is_built_in(f->v.rule) ||
            !cbx_str_equal(entry->rule, f->v.rule->id) || !cbx_str_equal(entry->path, uri)) {
            continue;
        }
        atomic_store(&baseline->seen[entry - baseline->entries], true);
        if (f->suppression == CBX_SUPPRESSED_NOT) {
            f->suppression = CBX_SUPPRESSED_BASELINE;
        }
    }
}

size_t cbx_baseline_gone(const struct cbx_baseline *baseline,
                         bool (*covers)(const void *context, struct cbx_str path),
                         const void *context)
{
    size_t gone = 0;
    for (size_t i = 0; i < baseline->count; i++) {
        gone += !atomic_load(&baseline->seen[i]) && covers(context, baseline->entries[i].path);
    }
    return gone;
}

/* --- writing ---------------------------------------------------------------------------------- */

void cbx_baseline_record(json_t *entries, struct cbx_str uri,
                         const struct cbx_report_finding *finding)
{
    json_array_append_new(entries, json_pack("{s:o,s:o,s:o}", "path", cbx_json_text(uri), "rule",
                                             cbx_json_text(finding->v.rule->id), "fingerprint",
                                             cbx_json_text(finding->fingerprint)));
}

static int compare_values(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    static const char *const keys[] = { "path", "rule", "fingerprint" };
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
        order = cbx_str_compare(cbx_json_str(json_object_get(x, keys[i])),
                                cbx_json_str(json_object_get(y, keys[i])));
    }
    return order;
}

/* Writes one finding per line, so that a diff shows the added and the removed ones. */
static void add_entries(const json_t *entries, struct cbx_buf *out)
{
    size_t count = json_array_size(entries);
    json_t **list = cbx_new_array(count + 1, sizeof(json_t *));
    for (size_t i = 0; i < count; i++) {
        list[i] = json_array_get(entries, i);
    }
    cbx_sort_heap(list, count, sizeof(json_t *), compare_values);
    for (size_t i = 0; i < count; i++) {
        cbx_buf_add_cstr(out, i > 0 ? ",\n" : "");
        cbx_report_add_json(list[i], out);
    }
    free(list);
}

static int write_all(int fd, struct cbx_str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.p, text.len);
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        text = cbx_str_sub(text, n > 0 ? (size_t)n : 0, text.len);
    }
    return fsync(fd);
}

int cbx_baseline_write(const char *path, const json_t *entries, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) beside;
    cbx_buf_init(&text, CBX_BASELINE_MAX_BYTES);
    cbx_buf_init(&beside, 65536);
    if (json_array_size(entries) > CBX_BASELINE_ENTRIES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "baseline '%s': %zu findings, allowed are %d", path,
                        json_array_size(entries), CBX_BASELINE_ENTRIES_MAX);
    }
    cbx_buf_add_cstr(&text, "{\"version\":1,\"tool\":\"codebox-lint\",\"findings\":[\n");
    add_entries(entries, &text);
    cbx_buf_add_cstr(&text, "\n]}\n");
    if (text.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "baseline '%s': larger than %d bytes", path,
                        CBX_BASELINE_MAX_BYTES);
    }
    cbx_buf_printf(&beside, "%s.new", path);
    CBX_AUTO_FD fd = open(beside.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 || write_all(fd, cbx_buf_str(&text)) != 0 || rename(beside.p, path) != 0) {
        int reason = errno;
        if (fd >= 0) {
            unlink(beside.p);
        }
        return cbx_fail(err, CBX_EIO, "baseline '%s': %s", path, strerror(reason));
    }
    return 0;
}
