/* SPDX-License-Identifier: MIT
 * Reads yarn.lock of yarn 1: entries whose lines are indented by two blanks, texts with quotes as
 * JSON has them, or bare. */
#include "analyzer/manifest/locks/yarn.h"

#include "analyzer/manifest/documents/json_text.h"

struct entry {
    struct cbx_locked_text name; /* name of the entry's first pattern; empty: no entry is open */
    struct cbx_str version;
    struct cbx_locked_text resolved;
};

struct reading {
    struct cbx_locking *l;
    struct cbx_str text;
    struct entry entry;
};

static int fail(struct reading *r, uint32_t at, const char *what)
{
    return cbx_manifest_fail(r->text, at, what, r->l->err);
}

/* Takes a text with or without quotes at *at; false if there is none. */
static bool take_text(struct reading *r, uint32_t *at, uint32_t end, struct cbx_locked_text *out)
{
    struct cbx_str text = r->text;
    if (*at < end && text.p[*at] == '"') {
        struct cbx_json_place string = cbx_json_text_at(text, *at);
        if (string.end > end || string.end < string.start + 2) {
            return false;
        }
        *out = (struct cbx_locked_text){ cbx_json_text_read(r->l->arena, text, string),
                                         string.start + 1, string.end - 1 };
        *at = string.end;
        return true;
    }
    uint32_t start = *at;
    while (*at < end && strchr(" ,:\"", text.p[*at]) == NULL) {
        (*at)++;
    }
    /* a colon within a word belongs to it: npm:x@1 */
    while (*at < end && text.p[*at] == ':' && *at + 1 < end) {
        (*at)++;
        while (*at < end && strchr(" ,:\"", text.p[*at]) == NULL) {
            (*at)++;
        }
    }
    *out = (struct cbx_locked_text){ cbx_str_sub(text, start, *at), start, *at };
    return *at > start;
}

/* Returns the name in a pattern: "name@^1", "@scope/name@^1", "other@npm:name@^1". */
static struct cbx_str name_of_pattern(struct cbx_str pattern)
{
    const char *at = pattern.len > 1 ? memchr(pattern.p + 1, '@', pattern.len - 1) : NULL;
    size_t end = at != NULL ? (size_t)(at - pattern.p) : pattern.len;
    struct cbx_str name = cbx_str_sub(pattern, 0, end);
    struct cbx_str range = cbx_str_sub(pattern, end + 1, pattern.len);
    if (!cbx_str_starts(range, CBX_STR("npm:"))) {
        return name;
    }
    return name_of_pattern(cbx_str_sub(range, 4, range.len));
}

static int finish_entry(struct reading *r)
{
    struct entry entry = r->entry;
    r->entry = (struct entry){ 0 };
    if (entry.name.text.len == 0) {
        return 0;
    }
    if (entry.version.len == 0) {
        return fail(r, entry.name.start, "an entry without a version");
    }
    return cbx_locked_add_npm(r->l, entry.name, entry.version, entry.resolved);
}

/* Reads patterns with commas between them, and a colon at the end. */
static int begin_entry(struct reading *r, uint32_t start, uint32_t end)
{
    uint32_t at = start;
    struct cbx_locked_text pattern;
    int failed = finish_entry(r);
    if (failed) {
        return failed;
    }
    for (;;) {
        if (!take_text(r, &at, end, &pattern)) {
            return fail(r, at, "no entry of a lock file of yarn");
        }
        if (r->entry.name.text.len == 0) {
            r->entry.name = pattern;
            r->entry.name.text = name_of_pattern(pattern.text);
        }
        if (at + 1 == end && r->text.p[at] == ':') {
            return 0;
        }
        if (at + 1 >= end || r->text.p[at] != ',' || r->text.p[at + 1] != ' ') {
            return fail(r, at, "no entry of a lock file of yarn");
        }
        at += 2;
    }
}

/* Reads "version "1.2"", "dependencies:" */
static int read_field(struct reading *r, uint32_t start, uint32_t end)
{
    struct cbx_locked_text key, value;
    uint32_t at = start;
    if (r->entry.name.text.len == 0) {
        return fail(r, start, "an indented line outside of an entry");
    }
    if (!take_text(r, &at, end, &key)) {
        return fail(r, at, "no field of a lock file of yarn");
    }
    if (at + 1 == end && r->text.p[at] == ':') {
        return 0;
    }
    bool blank = at < end && r->text.p[at] == ' ';
    at += blank;
    if (!blank || !take_text(r, &at, end, &value) || at != end) {
        return fail(r, at, "no field of a lock file of yarn");
    }
    if (cbx_str_is(key.text, "version")) {
        r->entry.version = value.text;
    } else if (cbx_str_is(key.text, "resolved")) {
        r->entry.resolved = value;
    }
    return 0;
}

static int read_line(struct reading *r, uint32_t start, uint32_t end)
{
    uint32_t at = start;
    while (at < end && r->text.p[at] == ' ') {
        at++;
    }
    if (at == end || r->text.p[at] == '#') {
        return 0;
    }
    if (at == start) {
        return begin_entry(r, at, end);
    }
    if (at == start + 2) {
        return read_field(r, at, end);
    }
    /* names and ranges of the package's dependencies: each has an entry of its own */
    if (at != start + 4 || r->entry.name.text.len == 0) {
        return fail(r, at, "a line of a depth that lock files of yarn do not have");
    }
    return 0;
}

int cbx_yarn_read_classic(struct cbx_locking *l, struct cbx_str text)
{
    struct reading r = { .l = l, .text = text };
    uint32_t at = 0;
    while (at < text.len) {
        const char *feed = memchr(text.p + at, '\n', text.len - at);
        uint32_t end = feed != NULL ? (uint32_t)(feed - text.p) : (uint32_t)text.len;
        int failed = read_line(&r, at, end);
        if (failed) {
            return failed;
        }
        at = end + 1;
    }
    return finish_entry(&r);
}
