/* SPDX-License-Identifier: MIT
 * The entry in YAML: new lines are inserted behind the key of their parent, and values of one key
 * are replaced as whole lines; every other line stays. Sections and entries in flow style, which
 * are rare, are refused unless they are empty. */
#include "gateway/cli/install/client_entry.h"

#include "policies/load/yaml.h"

#include <string.h>

enum { DEPTH_MAX = 64, INDENT = 2, ARENA_MAX = 64 * 1024 * 1024 };

/* A file that is being edited. */
struct edit {
    struct cbx_str text;
    const struct cbx_client_entry *entry;
    bool list; /* true if the section is a list */
    const char *line_end;
    struct cbx_arena arena;
    struct cbx_yaml *root; /* NULL = the text is blank, or has only comments */
    enum cbx_splice what;
    struct cbx_buf result;
};

static int fail_form(const struct edit *e, const char *what, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL,
                    "%s is in a form that cannot be edited without changing more of it",
                    what[0] != '\0' ? what : e->entry->section);
}

/* --- text ------------------------------------------------------------------------------------- */

/* Returns the offset of a line; lines are counted from 1. */
static size_t start_of(struct cbx_str text, size_t line)
{
    size_t at = 0;
    while (line > 1 && at < text.len) {
        const char *end = memchr(text.p + at, '\n', text.len - at);
        at = end != NULL ? (size_t)(end - text.p) + 1 : text.len;
        line--;
    }
    return at;
}

static struct cbx_str line_of(struct cbx_str text, size_t line)
{
    return cbx_str_sub(text, start_of(text, line), start_of(text, line + 1));
}

static size_t indent_of(struct cbx_str line)
{
    size_t n = 0;
    while (n < line.len && line.p[n] == ' ') {
        n++;
    }
    return n;
}

/* Returns true for an empty line or a comment. */
static bool is_empty(struct cbx_str line)
{
    size_t n = indent_of(line);
    return n == line.len || memchr("#\r\n", line.p[n], 3) != NULL;
}

/* Returns the line behind the lines of a key's value: they are indented more than the key, or
 * are the items of its list. Comments before the next key do not belong to it. */
static size_t end_of_value(struct cbx_str text, const struct cbx_yaml *value)
{
    size_t key = value->key_column - 1, line = value->key_line + 1, end = line;
    for (; start_of(text, line) < text.len; line++) {
        struct cbx_str one = line_of(text, line);
        if (is_empty(one)) {
            continue;
        }
        size_t indent = indent_of(one);
        bool item = value->kind == CBX_YAML_SEQUENCE && indent == key && one.p[indent] == '-';
        if (indent <= key && !item) {
            return end;
        }
        end = line + 1;
    }
    return end;
}

/* Returns true if the node begins with a bracket. Columns are characters; the text before a node
 * in block style is ASCII. */
static bool is_flow(const struct edit *e, const struct cbx_yaml *node)
{
    size_t at = start_of(e->text, node->line) + node->column - 1;
    return at >= e->text.len || memchr("{[", e->text.p[at], 2) != NULL;
}

static bool is_block(const struct edit *e, const struct cbx_yaml *node)
{
    return node->kind != CBX_YAML_SCALAR && node->count > 0 && node->line > node->key_line &&
           !is_flow(e, node);
}

/* YAML 1.1 has more line ends than LF and CRLF; with them, this file and the parser would count
 * lines differently. */
static bool has_other_breaks(struct cbx_str text)
{
    static const struct cbx_str others[] = { CBX_STR("\xc2\x85"), CBX_STR("\xe2\x80\xa8"),
                                             CBX_STR("\xe2\x80\xa9") };
    bool found = false;
    for (size_t i = 0; i < text.len && !found; i++) {
        found = text.p[i] == '\r' && (i + 1 == text.len || text.p[i + 1] != '\n');
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && text.len > 0; i++) {
        found |= memmem(text.p, text.len, others[i].p, others[i].len) != NULL;
    }
    return found;
}

static const struct cbx_yaml *find(const struct cbx_yaml *node, const char *key)
{
    const struct cbx_yaml *at = node != NULL && node->kind == CBX_YAML_MAPPING ? node->first : NULL;
    while (at != NULL && !cbx_str_is(at->key, key)) {
        at = at->next;
    }
    return at;
}

static const struct cbx_yaml *find_entry(const struct edit *e, const struct cbx_yaml *section)
{
    if (!e->list) {
        return find(section, e->entry->name);
    }
    const struct cbx_yaml *item = section->kind == CBX_YAML_SEQUENCE ? section->first : NULL;
    while (item != NULL) {
        const struct cbx_yaml *name = find(item, "name");
        if (name != NULL && cbx_str_is(name->text, e->entry->name)) {
            return item;
        }
        item = item->next;
    }
    return NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_blanks(size_t count, struct cbx_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        cbx_buf_add_char(out, ' ');
    }
}

/* JSON is YAML in flow style. */
static void add_member(const struct edit *e, size_t indent, const char *key, const json_t *value,
                       struct cbx_buf *out)
{
    add_blanks(indent, out);
    cbx_buf_printf(out, "%s: ", key);
    cbx_json_write(out, value);
    cbx_buf_add_cstr(out, e->line_end);
}

/* Writes a new entry whose first line has this indentation. */
static void add_entry(const struct edit *e, size_t indent, struct cbx_buf *out)
{
    CBX_AUTO_JSON whole = cbx_client_entry_whole(e->entry);
    const char *key;
    json_t *value;
    bool first = e->list;
    add_blanks(indent, out);
    cbx_buf_printf(out, e->list ? "- " : "%s:%s", e->entry->name, e->line_end);
    json_object_foreach(whole, key, value)
    {
        add_member(e, first ? 0 : indent + INDENT, key, value, out);
        first = false;
    }
}

/* Appends the text up to the line, and a line end if it has none. */
static void add_until(const struct edit *e, size_t at, struct cbx_buf *out)
{
    cbx_buf_add(out, cbx_str_sub(e->text, 0, at));
    if (at > 0 && e->text.p[at - 1] != '\n') {
        cbx_buf_add_cstr(out, e->line_end);
    }
}

static void add_section(struct edit *e)
{
    add_until(e, e->text.len, &e->result);
    if (e->root == NULL && e->entry->head != NULL) {
        cbx_buf_add_cstr(&e->result, e->entry->head);
    }
    cbx_buf_printf(&e->result, "%s:%s", e->entry->section, e->line_end);
    add_entry(e, INDENT, &e->result);
}

/* Adds the entry to an empty section: no value, {} or []. */
static int add_to_empty(struct edit *e, const struct cbx_yaml *section, struct cbx_err *err)
{
    static const char *const empty[] = { "", "{}", "[]", "null", "~" };
    size_t line = start_of(e->text, section->key_line);
    struct cbx_str rest = line_of(e->text, section->key_line);
    size_t colon = section->key_column - 1 + section->key.len;
    const char *comment = memchr(rest.p, '#', rest.len);
    size_t end = comment != NULL ? (size_t)(comment - rest.p) : rest.len;
    while (end > 0 && memchr(" \t\r\n", rest.p[end - 1], 4) != NULL) {
        end--;
    }
    bool plain = colon < end && rest.p[colon] == ':' && section->key_column == 1;
    struct cbx_str value = cbx_str_sub(rest, plain ? colon + 1 : end, end);
    while (value.len > 0 && value.p[0] == ' ') {
        value = cbx_str_sub(value, 1, value.len);
    }
    bool known = false;
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        known |= cbx_str_is(value, empty[i]);
    }
    if (!plain || !known) {
        return fail_form(e, "", err);
    }
    cbx_buf_add(&e->result, cbx_str_sub(e->text, 0, line + colon + 1));
    if (comment != NULL) {
        cbx_buf_add_char(&e->result, ' ');
        cbx_buf_add(&e->result, cbx_str_sub(rest, (size_t)(comment - rest.p),
                                            rest.len - (rest.p[rest.len - 1] == '\n')));
    }
    cbx_buf_add_cstr(&e->result, e->line_end);
    add_entry(e, INDENT, &e->result);
    cbx_buf_add(&e->result,
                cbx_str_sub(e->text, start_of(e->text, section->key_line + 1), e->text.len));
    return 0;
}

/* Adds the entry before the others, with their indentation. */
static int add_to_section(struct edit *e, const struct cbx_yaml *section, struct cbx_err *err)
{
    if (section->count == 0) {
        if (section->kind == CBX_YAML_SCALAR && section->text.len > 0 &&
            !cbx_str_is(section->text, "null") && !cbx_str_is(section->text, "~")) {
            return fail_form(e, "", err);
        }
        return add_to_empty(e, section, err);
    }
    if (!is_block(e, section) ||
        section->kind != (e->list ? CBX_YAML_SEQUENCE : CBX_YAML_MAPPING)) {
        return fail_form(e, "", err);
    }
    const struct cbx_yaml *first = section->first;
    size_t line = e->list ? first->line : first->key_line;
    size_t indent = indent_of(line_of(e->text, line)), at = start_of(e->text, line);
    add_until(e, at, &e->result);
    add_entry(e, indent, &e->result);
    cbx_buf_add(&e->result, cbx_str_sub(e->text, at, e->text.len));
    return 0;
}

/* --- an entry that is there ------------------------------------------------------------------- */

static bool has_member(const void *entry, const char *member)
{
    return find(entry, member) != NULL;
}

static json_t *to_json(const struct cbx_yaml *node);

/* Scalars are compared as texts: true is "true". */
static json_t *text_of(const json_t *value)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64);
    if (json_is_object(value) || json_is_array(value)) {
        json_t *copy = json_is_object(value) ? json_object() : json_array();
        const char *key;
        json_t *item;
        size_t i;
        json_object_foreach((json_t *)(uintptr_t)value, key, item)
        {
            json_object_set_new(copy, key, text_of(item));
        }
        json_array_foreach(value, i, item)
        {
            json_array_append_new(copy, text_of(item));
        }
        return copy;
    }
    if (json_is_string(value)) {
        return json_incref((json_t *)(uintptr_t)value);
    }
    cbx_json_write(&text, value);
    return json_string(text.p);
}

static json_t *to_json(const struct cbx_yaml *node)
{
    if (node->kind == CBX_YAML_SCALAR) {
        return cbx_json_text(node->text);
    }
    json_t *json = node->kind == CBX_YAML_MAPPING ? json_object() : json_array();
    for (const struct cbx_yaml *at = node->first; at != NULL; at = at->next) {
        if (node->kind == CBX_YAML_MAPPING) {
            json_object_setn_new(json, at->key.p, at->key.len, to_json(at));
        } else {
            json_array_append_new(json, to_json(at));
        }
    }
    return json;
}

static bool is_same(const struct cbx_yaml *node, const json_t *value)
{
    CBX_AUTO_JSON found = to_json(node);
    CBX_AUTO_JSON wanted = text_of(value);
    return json_equal(found, wanted);
}

/* Replaces members in the order of their lines. New members come before the first one that has a
 * line of its own. */
static int set_members(struct edit *e, const struct cbx_yaml *entry, struct cbx_err *err)
{
    if (entry->kind != CBX_YAML_MAPPING || entry->count == 0 || (!e->list && !is_block(e, entry)) ||
        is_flow(e, entry)) {
        return fail_form(e, e->entry->name, err);
    }
    size_t indent = entry->column - 1, at = 0;
    const char *key;
    json_t *value;
    for (const struct cbx_yaml *member = entry->first; member != NULL; member = member->next) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(member->key.len < 63 ? member->key.len : 63),
                 member->key.p);
        value = json_object_get(e->entry->members, name);
        if (value == NULL || is_same(member, value)) {
            continue;
        }
        size_t from = start_of(e->text, member->key_line) + member->key_column - 1;
        if (from < at || from > e->text.len) {
            return fail_form(e, e->entry->name, err);
        }
        cbx_buf_add(&e->result, cbx_str_sub(e->text, at, from));
        add_member(e, 0, name, value, &e->result);
        at = start_of(e->text, end_of_value(e->text, member));
        e->what = CBX_SPLICE_REPLACED;
    }
    const struct cbx_yaml *last = entry->first;
    while (last->next != NULL) {
        last = last->next;
    }
    size_t end = start_of(e->text, end_of_value(e->text, last));
    if (at < end) {
        cbx_buf_add(&e->result, cbx_str_sub(e->text, at, end));
        if (e->text.p[end - 1] != '\n') {
            cbx_buf_add_cstr(&e->result, e->line_end);
        }
    }
    json_object_foreach((json_t *)(uintptr_t)e->entry->members, key, value)
    {
        if (find(entry, key) == NULL) {
            add_member(e, indent, key, value, &e->result);
            e->what = CBX_SPLICE_REPLACED;
        }
    }
    cbx_buf_add(&e->result, cbx_str_sub(e->text, end, e->text.len));
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool is_blank(struct cbx_str text)
{
    for (size_t at = 0, line = 1; at < text.len; line++, at = start_of(text, line)) {
        if (!is_empty(line_of(text, line))) {
            return false;
        }
    }
    return true;
}

static int plan(struct edit *e, struct cbx_err *err)
{
    e->what = CBX_SPLICE_ADDED;
    if (e->root != NULL && e->root->kind != CBX_YAML_MAPPING) {
        return fail_form(e, "the file", err);
    }
    const struct cbx_yaml *section = find(e->root, e->entry->section);
    if (section == NULL) {
        add_section(e);
        return 0;
    }
    const struct cbx_yaml *entry = find_entry(e, section);
    if (entry == NULL) {
        return add_to_section(e, section, err);
    }
    e->what = CBX_SPLICE_SAME;
    if (!is_block(e, section)) {
        return fail_form(e, "", err);
    }
    int failed = cbx_client_entry_check(has_member, entry, e->entry->name, err);
    if (failed) {
        return failed;
    }
    return set_members(e, entry, err);
}

/* Returns the entry of a file as JSON, and removes it from `root`; NULL = none. */
static json_t *take_entry(const struct edit *e, json_t *root)
{
    json_t *section = json_object_get(root, e->entry->section), *found = NULL, *item;
    size_t i;
    if (!e->list) {
        found = json_incref(json_object_get(section, e->entry->name));
        json_object_del(section, e->entry->name);
        return found;
    }
    json_array_foreach(section, i, item)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(item, "name")), e->entry->name)) {
            found = json_incref(item);
            json_array_remove(section, i);
            return found;
        }
    }
    return NULL;
}

/* A section that has only the entry counts as absent. */
static void drop_empty(const struct edit *e, json_t *root)
{
    const json_t *section = json_object_get(root, e->entry->section);
    if (section != NULL && json_object_size(section) + json_array_size(section) == 0) {
        json_object_del(root, e->entry->section);
    }
}

static int read_json(struct edit *e, struct cbx_str text, json_t **out, struct cbx_err *err)
{
    struct cbx_yaml *root = NULL;
    if (is_blank(text)) {
        *out = json_object();
        return 0;
    }
    int failed = cbx_yaml_parse(text, DEPTH_MAX, &e->arena, &root, err);
    if (!failed) {
        *out = to_json(root);
    }
    return failed;
}

/* Checks that a parser reads the same in the result as in the text, with the members of the
 * entry set. */
static int check_result(struct edit *e, struct cbx_err *err)
{
    CBX_AUTO_JSON before = NULL;
    CBX_AUTO_JSON after = NULL;
    struct cbx_err why;
    if (read_json(e, e->text, &before, &why) != 0 ||
        read_json(e, cbx_buf_str(&e->result), &after, &why) != 0) {
        return fail_form(e, "the file", err);
    }
    CBX_AUTO_JSON old = take_entry(e, before);
    CBX_AUTO_JSON found = take_entry(e, after);
    CBX_AUTO_JSON whole = cbx_client_entry_whole(e->entry);
    CBX_AUTO_JSON wanted = text_of(old != NULL ? e->entry->members : whole);
    CBX_AUTO_JSON expected = old != NULL ? json_copy(old) : json_object();
    json_object_update(expected, wanted);
    drop_empty(e, before);
    drop_empty(e, after);
    if (e->root == NULL && e->entry->head != NULL) {
        json_object_update_missing(before, after); /* the head */
    }
    if (!json_equal(found, expected) || !json_equal(before, after)) {
        return fail_form(e, "the file", err);
    }
    return 0;
}

static int run(struct edit *e, enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    if (has_other_breaks(e->text)) {
        return fail_form(e, "the file", err);
    }
    int failed = 0;
    if (!is_blank(e->text)) {
        failed = cbx_yaml_parse(e->text, DEPTH_MAX, &e->arena, &e->root, err);
    }
    if (failed) {
        return failed;
    }
    failed = plan(e, err);
    if (failed) {
        return failed;
    }
    *what = e->what;
    if (e->what == CBX_SPLICE_SAME) {
        return cbx_buf_add(out, e->text);
    }
    failed = check_result(e, err);
    if (failed) {
        return failed;
    }
    return cbx_buf_add(out, cbx_buf_str(&e->result));
}

static int set_entry(struct cbx_str text, const struct cbx_client_entry *entry, bool list,
                     enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    bool crlf = text.len > 0 && memmem(text.p, text.len, "\r\n", 2) != NULL;
    struct edit e = {
        .text = text, .entry = entry, .list = list, .line_end = crlf ? "\r\n" : "\n"
    };
    cbx_arena_init(&e.arena, ARENA_MAX);
    cbx_buf_init(&e.result, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    int failed = run(&e, what, out, err);
    cbx_buf_done(&e.result);
    cbx_arena_done(&e.arena);
    return failed;
}

int cbx_client_entry_yaml(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    return set_entry(text, entry, false, what, out, err);
}

int cbx_client_entry_yaml_list(struct cbx_str text, const struct cbx_client_entry *entry,
                               enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    return set_entry(text, entry, true, what, out, err);
}
