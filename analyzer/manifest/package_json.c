/* SPDX-License-Identifier: MIT
 * Reads package.json: packages of npm, and scripts, which npm gives to a shell. */
#include "analyzer/manifest/documents/json_text.h"
#include "analyzer/manifest/readers.h"

#include "policies/base/text/json.h"

static const char *const dependencies[] = { "dependencies", "devDependencies",
                                            "optionalDependencies", "peerDependencies" };

struct reading {
    struct cbx_str file;
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
};

static bool is_dependencies(struct cbx_str section)
{
    for (size_t i = 0; i < sizeof(dependencies) / sizeof(dependencies[0]); i++) {
        if (cbx_str_is(section, dependencies[i])) {
            return true;
        }
    }
    return false;
}

/* Recognises ranges that are other members of the project: protocols of pnpm and yarn. */
static bool is_own(struct cbx_str range)
{
    return cbx_str_starts(range, CBX_STR("workspace:")) ||
           cbx_str_starts(range, CBX_STR("link:")) || cbx_str_starts(range, CBX_STR("portal:")) ||
           cbx_str_starts(range, CBX_STR("file:"));
}

static int add_dependency(struct reading *r, struct cbx_json_place key, struct cbx_json_place value)
{
    struct cbx_str name = cbx_json_text_read(r->arena, r->file, key);
    struct cbx_str range = cbx_json_text_read(r->arena, r->file, value);
    if (is_own(range)) {
        return 0;
    }
    struct cbx_str at = range.len > 0 ? CBX_STR("@") : CBX_STR("");
    struct cbx_manifest_word word = { .kind = CBX_SPEC_NPM,
                                      .text = CBX_JOIN(r->arena, name, at, range),
                                      .start = key.start,
                                      .end = value.end };
    if (word.text.p == NULL) {
        return cbx_fail(r->err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return cbx_manifest_add_word(r->out, r->arena, &word, r->err);
}

static int add_script(struct reading *r, struct cbx_json_place value)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->file);
    cbx_json_text_take(&maker, value);
    return cbx_piece_maker_end(&maker, "shell", r->out, r->err);
}

static int take_text(void *context, struct cbx_json_place section, struct cbx_json_place key,
                     struct cbx_json_place value)
{
    struct reading *r = context;
    struct cbx_str name = cbx_json_text_read(r->arena, r->file, section);
    if (is_dependencies(name)) {
        return add_dependency(r, key, value);
    }
    return cbx_str_is(name, "scripts") ? add_script(r, value) : 0;
}

static int check_sections(const json_t *root, struct cbx_err *err)
{
    const char *section, *key;
    json_t *value, *item;
    json_object_foreach((json_t *)(uintptr_t)root, section, value)
    {
        if (!is_dependencies(cbx_str_of(section)) && strcmp(section, "scripts") != 0) {
            continue;
        }
        if (!json_is_object(value)) {
            return cbx_fail(err, CBX_EINVAL, "'%s' is not an object", section);
        }
        json_object_foreach(value, key, item)
        {
            if (!json_is_string(item)) {
                return cbx_fail(err, CBX_EINVAL, "'%s' of '%s' is not a text", key, section);
            }
        }
    }
    return 0;
}

int cbx_manifest_read_package_json(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err)
{
    json_error_t where;
    CBX_AUTO_JSON root = json_loadb(cbx_str_bytes(text), text.len, JSON_REJECT_DUPLICATES, &where);
    *out = (struct cbx_manifest){ .text = text };
    if (root == NULL) {
        return cbx_fail(err, CBX_EINVAL, "line %d, column %d: %.160s", where.line, where.column,
                        where.text);
    }
    if (!json_is_object(root)) {
        return cbx_fail(err, CBX_EINVAL, "it is no JSON object");
    }
    int failed = check_sections(root, err);
    if (failed) {
        return failed;
    }
    struct reading r = { text, arena, out, err };
    return cbx_json_text_each(text, take_text, &r);
}
