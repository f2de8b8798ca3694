/* SPDX-License-Identifier: MIT
 * Kinds of lock files, the judgement of their sources, and the comparison with what was
 * installed. */
#include "analyzer/manifest/locks/lockfile.h"

#include "analyzer/manifest/locks/lockfile_internal.h"
#include "analyzer/manifest/manifest_internal.h"
#include "analyzer/packages/package_check.h"
#include "analyzer/packages/resolved.h"
#include "policies/base/sort.h"
#include "policies/versions/pinned.h"
#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

#include <stdarg.h>
#include <stdlib.h>

static const struct kind {
    const char *reader; /* of manifest.def */
    enum cbx_manager manager;
    int (*read)(struct cbx_lockfile *lockfile, struct cbx_arena *arena, struct cbx_buf *out,
                struct cbx_err *err);
} kinds[] = {
    { "requirements", CBX_MANAGER_PIP, cbx_lockfile_read_requirements },
    { "uv_lock", CBX_MANAGER_PIP, cbx_lockfile_read_uv },
    { "pylock", CBX_MANAGER_PIP, cbx_lockfile_read_pylock },
    { "package_lock", CBX_MANAGER_NPM, cbx_lockfile_read_npm },
};
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

int(cbx_lockfile_fail)(const struct cbx_lockfile *lockfile, uint32_t place, struct cbx_err *err,
                       const char *format, ...)
{
    char what[CBX_LOCKFILE_WHAT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return cbx_manifest_fail(lockfile->manifest.text, place, what, err);
}

/* --- lines of pip ----------------------------------------------------------------------------- */

int cbx_lockfile_add_line(struct cbx_lockfile *lockfile, struct cbx_str line, uint32_t place,
                          struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_pinned pinned;
    if (line.len > CBX_PINNED_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "a package of the lock file has a condition and hashes of %zu bytes, "
                        "allowed are %d",
                        line.len, CBX_PINNED_BYTES_MAX);
    }
    if (!cbx_pinned_parse(line, &pinned)) {
        return cbx_lockfile_fail(lockfile, place, err,
                                 "'%.*s' is no package with one version and hashes; allowed is "
                                 "NAME==VERSION --hash=sha256:HEX",
                                 CBX_STR_SHOWN(line));
    }
    cbx_buf_add(out, line);
    return cbx_buf_add_char(out, '\n');
}

int cbx_lockfile_add_marker(const struct cbx_lockfile *lockfile, struct cbx_str marker,
                            uint32_t place, struct cbx_buf *out, struct cbx_err *err)
{
    size_t from = out->len;
    char quote = '\0';
    bool good = cbx_marker_read(marker) != CBX_MARKER_MALFORMED;
    for (size_t i = 0; i < marker.len; i++) {
        char c = marker.p[i];
        if (c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
        } else {
            good = good && c != '"';
            cbx_buf_add_char(out, c == '\t' ? ' ' : c);
            continue;
        }
        cbx_buf_add_char(out, '"');
    }
    if (!good || !cbx_pinned_is_plain_marker((struct cbx_str){ out->p + from, out->len - from })) {
        return cbx_lockfile_fail(lockfile, place, err,
                                 "'%.*s' is no marker, allowed are markers of PEP 508 of letters, "
                                 "digits and punctuation",
                                 CBX_STR_SHOWN(marker));
    }
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    return cbx_str_compare(*(const struct cbx_str *)a, *(const struct cbx_str *)b);
}

static struct cbx_str take_line(struct cbx_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->p, '\n', rest->len) : NULL;
    struct cbx_str line = cbx_str_sub(*rest, 0, end != NULL ? (size_t)(end - rest->p) : rest->len);
    *rest = cbx_str_sub(*rest, line.len + 1, rest->len);
    return line;
}

/* Sorts the lines, so that the same packages give the same request. */
static int sort_lines(struct cbx_str text, struct cbx_arena *arena, struct cbx_str *out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) sorted = { 0 };
    size_t count = 0;
    struct cbx_str *lines = cbx_arena_array(arena, CBX_PACKAGE_SET_MAX, sizeof(*lines));
    if (lines == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    cbx_buf_init(&sorted, CBX_PACKAGE_SET_BYTES_MAX);
    while (text.len > 0) {
        struct cbx_str line = take_line(&text);
        if (count == CBX_PACKAGE_SET_MAX) {
            return cbx_fail(err, CBX_ETOOBIG, "the lock file has more than %d packages",
                            CBX_PACKAGE_SET_MAX);
        }
        lines[count++] = line;
    }
    cbx_sort_heap(lines, count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && cbx_str_equal(lines[i - 1], lines[i])) {
            continue;
        }
        cbx_buf_add(&sorted, lines[i]);
        cbx_buf_add_char(&sorted, '\n');
    }
    if (sorted.overflow) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "the packages of the lock file and their hashes have more than %d bytes",
                        CBX_PACKAGE_SET_BYTES_MAX);
    }
    *out = cbx_arena_copy(arena, cbx_buf_str(&sorted));
    if (out->p == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return 0;
}

/* --- kinds ------------------------------------------------------------------------------------ */

static bool has(struct cbx_str text, const char *part)
{
    return text.len > 0 && memmem(text.p, text.len, part, strlen(part)) != NULL;
}

/* Determines the kind of a file that manifest.def has no name for: "lock.txt", "frozen.json". */
static const char *reader_by_content(struct cbx_str text)
{
    if (has(text, "\"lockfileVersion\"")) {
        return "package_lock";
    }
    if (has(text, "[[package]]") && has(text, "registry = ")) {
        return "uv_lock";
    }
    if (has(text, "[[packages]]") && has(text, "lock-version = ")) {
        return "pylock";
    }
    return has(text, "--hash=") ? "requirements" : "";
}

static const struct kind *find_kind(struct cbx_str name, struct cbx_str text)
{
    const struct cbx_manifest_reader *named = cbx_manifest_reader_of(name);
    const char *reader = named != NULL ? named->name : reader_by_content(text);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (strcmp(kinds[i].reader, reader) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

int cbx_lockfile_read(struct cbx_str name, struct cbx_str text, struct cbx_arena *arena,
                      struct cbx_lockfile *out, struct cbx_err *err)
{
    const struct kind *kind = find_kind(name, text);
    if (kind == NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is no lock file that is installed from; allowed are "
                        "requirements.txt with hashes, uv.lock, pylock.toml and package-lock.json",
                        CBX_STR_SHOWN(name));
    }
    struct cbx_lockfile read = { .manager = kind->manager };
    CBX_AUTO_DONE(buf) lines;
    cbx_buf_init(&lines, CBX_REPORT_BYTES_MAX);
    int failed = cbx_manifest_reader_find(kind->reader)->read(text, arena, &read.manifest, err);
    if (failed) {
        return failed;
    }
    failed = kind->read(&read, arena, &lines, err);
    if (failed) {
        return failed;
    }
    if (lines.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "what the lock file has is more than %d bytes",
                        CBX_REPORT_BYTES_MAX);
    }
    if (lines.len == 0) {
        return cbx_fail(err, CBX_EINVAL, "the lock file names no package to install");
    }
    if (kind->manager == CBX_MANAGER_PIP) {
        failed = sort_lines(cbx_buf_str(&lines), arena, &read.text, err);
        if (failed) {
            return failed;
        }
    } else {
        read.text = cbx_arena_copy(arena, cbx_buf_str(&lines));
    }
    if (read.text.p == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    *out = read;
    return 0;
}

/* --- sources ---------------------------------------------------------------------------------- */

int cbx_lockfile_judge_sources(const struct cbx_lockfile *lockfile, const struct cbx_policy *policy,
                               const char *index, struct cbx_arena *arena, struct cbx_decision *out,
                               struct cbx_err *err)
{
    struct cbx_str configured = cbx_str_of(index);
    const struct cbx_strs *listed =
        &cbx_packages_of(policy, cbx_spec_kind_of(lockfile->manager))->indexes;
    bool used = false; /* the index that `default` stands for */
    for (size_t i = 0; i < listed->count; i++) {
        used = used || cbx_str_is(listed->items[i], "default");
    }
    const struct cbx_packages own = { .indexes = { .items = &configured,
                                                   .count = used && index != NULL } };
    struct cbx_manifest sources = { .text = lockfile->manifest.text };
    for (size_t i = 0; i < lockfile->manifest.word_count; i++) {
        const struct cbx_manifest_word *word = &lockfile->manifest.words[i];
        if ((word->role != CBX_WORD_INDEX && word->role != CBX_WORD_FILE) ||
            cbx_packages_index(&own, word->kind, word->text)) {
            continue;
        }
        int failed = cbx_manifest_add_word(&sources, arena, word, err);
        if (failed) {
            return failed;
        }
    }
    return cbx_manifest_judge(policy, &sources, 0, arena, out, err);
}

/* --- what was installed ----------------------------------------------------------------------- */

/* Copies the lines of a text, which were checked. */
struct pins {
    struct cbx_pinned *items;
    size_t count;
};

static void read_pins(struct cbx_str text, struct pins *out)
{
    out->items = calloc(CBX_PACKAGE_SET_MAX, sizeof(*out->items));
    if (out->items == NULL) {
        abort();
    }
    while (text.len > 0 && out->count < CBX_PACKAGE_SET_MAX) {
        if (cbx_pinned_parse(take_line(&text), &out->items[out->count])) {
            out->count++;
        }
    }
}

static bool has_hash(const struct cbx_pinned *pinned, struct cbx_str wanted)
{
    struct cbx_str rest = pinned->hashes, hash;
    while ((hash = cbx_pinned_take_hash(&rest)).len > 0) {
        if (cbx_str_equal(hash, wanted)) {
            return true;
        }
    }
    return false;
}

static bool is_locked(const struct pins *pins, const struct cbx_resolved_package *package)
{
    for (size_t i = 0; i < pins->count; i++) {
        const struct cbx_pinned *pinned = &pins->items[i];
        bool ok = true;
        if (cbx_package_same(pinned->name, package->name) &&
            cbx_version_compare(pinned->version, package->version, &ok) == 0 && ok &&
            has_hash(pinned, package->hash)) {
            return true;
        }
    }
    return false;
}

static bool is_there(const struct cbx_resolved *set, struct cbx_str name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (cbx_package_same(set->items[i].name, name)) {
            return true;
        }
    }
    return false;
}

static int compare_pip(const struct pins *pins, const struct cbx_resolved *set, struct cbx_err *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct cbx_resolved_package *p = &set->items[i];
        if (!is_locked(pins, p)) {
            return cbx_fail(err, CBX_EINVAL,
                            "'%.*s' %.*s was resolved, which the lock file does not have with "
                            "this version and hash",
                            CBX_STR_SHOWN(p->name), CBX_STR_SHOWN(p->version));
        }
    }
    for (size_t i = 0; i < pins->count; i++) {
        const struct cbx_pinned *pinned = &pins->items[i];
        if (!pinned->conditional && !is_there(set, pinned->name)) {
            return cbx_fail(err, CBX_EINVAL,
                            "'%.*s' %.*s is in the lock file and was not installed",
                            CBX_STR_SHOWN(pinned->name), CBX_STR_SHOWN(pinned->version));
        }
    }
    return 0;
}

int cbx_lockfile_compare(const struct cbx_lockfile *lockfile, struct cbx_str set,
                         struct cbx_err *err)
{
    CBX_AUTO_DONE(resolved) installed = { 0 };
    enum cbx_spec_kind kind = cbx_spec_kind_of(lockfile->manager);
    int failed = cbx_resolved_read_set(kind, set, &installed, err);
    if (failed) {
        return failed;
    }
    if (kind == CBX_SPEC_PIP) {
        struct pins pins = { 0 };
        read_pins(lockfile->text, &pins);
        failed = compare_pip(&pins, &installed, err);
        free(pins.items);
        return failed;
    }
    /* npm's set is made from the file itself. */
    CBX_AUTO_DONE(resolved) locked = { 0 };
    CBX_AUTO_DONE(buf) again = { 0 };
    failed = cbx_resolved_read(kind, lockfile->text, &locked, err);
    if (failed) {
        return failed;
    }
    cbx_buf_init(&again, CBX_PACKAGE_SET_BYTES_MAX);
    cbx_resolved_write(&locked, &again);
    if (!cbx_str_equal(cbx_buf_str(&again), set)) {
        return cbx_fail(err, CBX_EINVAL, "other packages were installed than the lock file has");
    }
    return 0;
}
