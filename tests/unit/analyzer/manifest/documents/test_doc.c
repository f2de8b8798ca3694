/* SPDX-License-Identifier: MIT
 * JSON, TOML and YAML as trees: the same tree from each, places of texts, and refusals. */
#include "analyzer/manifest/documents/doc.h"

#include "tests/unit/unit.h"

static struct cbx_arena arena;

static int set_up(void **state)
{
    (void)state;
    cbx_arena_init(&arena, 512 * 1024 * 1024);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_arena_done(&arena);
    return 0;
}

static void show(const struct cbx_doc_node *node, struct cbx_buf *out)
{
    static const char *const brackets[] = { [CBX_DOC_MAP] = "{}", [CBX_DOC_LIST] = "[]" };
    if (node->key.p != NULL) {
        cbx_buf_printf(out, "%.*s:", CBX_STR_ARG(node->key));
    }
    if (node->kind == CBX_DOC_TEXT || node->kind == CBX_DOC_OTHER) {
        const char *quote = node->kind == CBX_DOC_TEXT ? "'" : "";
        cbx_buf_printf(out, "%s%.*s%s", quote, CBX_STR_ARG(node->text), quote);
        return;
    }
    cbx_buf_add_char(out, brackets[node->kind][0]);
    for (const struct cbx_doc_node *child = node->first; child != NULL; child = child->next) {
        show(child, out);
        cbx_buf_add_cstr(out, child->next != NULL ? " " : "");
    }
    cbx_buf_add_char(out, brackets[node->kind][1]);
}

typedef int reader(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                   struct cbx_err *err);

static void check(reader *read, const char *text, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    struct cbx_doc doc = { 0 };
    struct cbx_err err = { 0 };
    cbx_buf_init(&out, 65536);
    cbx_arena_reset(&arena);
    if (read(cbx_str_of(text), &arena, &doc, &err) != 0) {
        cbx_buf_add_cstr(&out, err.text);
    } else if (doc.root != NULL) {
        show(doc.root, &out);
    }
    if (strcmp(out.p, expected) != 0) {
        fail_msg("%s\nfound:    %s\nexpected: %s", text, out.p, expected);
    }
}

static void each_format_gives_its_tree(void **state)
{
    (void)state;
    check(cbx_doc_read_json, "{\"a\": {\"b\\u0063\": [\"x\", 1, null, {}]}}",
          "{a:{bc:['x' 1 null {}]}}");
    check(cbx_doc_read_json, "\"x\"", "'x'");
    check(cbx_doc_read_toml, "a.b = 'x'\n[a.c]\nd = [1, {e = \"f\"}] # g\n[[h]]\n[[h]]\ni = true",
          "{a:{b:'x' c:{d:[1 {e:'f'}]}} h:[{} {i:true}]}");
    check(cbx_doc_read_toml, "a = \"\"\"\nx\\\n  y\\n\\u00e9\"\"\"\n'b c' = '''d'''",
          "{a:'xy\n\xC3\xA9' b c:'d'}");
    check(cbx_doc_read_yaml,
          "a: &x\n  - b\n  - 'c''d'\n  - |\n    e\n     f\ng: *x\nh:\n1: !r [i]\n",
          "{a:['b' 'c'd' 'e\n f\n'] g:['b' 'c'd' 'e\n f\n'] h: 1:}");
    check(cbx_doc_read_yaml, "---\na: 1\n---\nb: 2\n", "{a:'1' b:'2'}");
    check(cbx_doc_read_yaml, "", "");
}

static void what_its_format_refuses_is_an_error(void **state)
{
    (void)state;
    check(cbx_doc_read_yaml, "a: *x\n", "line 1, column 4: an alias without an anchor before it");
    check(cbx_doc_read_yaml, "a: &x [*x]\n",
          "line 1, column 8: an alias without an anchor before it");
    check(cbx_doc_read_yaml, "? [a]\n: b\n", "line 1, column 3: a key that is no text");
    check(cbx_doc_read_yaml, "- a\n---\nb: c\n",
          "line 3, column 1: a further document, allowed is one, or several tables");
    check(cbx_doc_read_yaml, "\xC3\xA9: [\n",
          "line 2, column 1: did not find expected node content");
    check(cbx_doc_read_toml, "a = 1\na.b = 2\n", "line 2, column 1: this key is no table above");
}

/* Each header searches its names among the entries before it: the search must not be linear. */
static void toml_of_many_tables_is_read_whole(void **state)
{
    (void)state;
    enum { TABLES = 200000 };
    struct cbx_doc doc;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 16 << 20);
    cbx_buf_add_cstr(&text, "[t]\nfirst = 1\n");
    for (int i = 0; i < TABLES; i++) {
        cbx_buf_printf(&text, "[t.n%d]\nx = 1\n", i);
    }
    cbx_buf_add_cstr(&text, "[t.n0.last]\ny = 'z'\n");
    cbx_arena_reset(&arena);
    assert_int_equal(cbx_doc_read_toml(cbx_buf_str(&text), &arena, &doc, &err), 0);
    const struct cbx_doc_node *t = cbx_doc_get(doc.root, "t");
    size_t count = 0;
    for (const struct cbx_doc_node *entry = t->first; entry != NULL; entry = entry->next) {
        count++;
    }
    assert_int_equal(count, TABLES + 1);
    const struct cbx_doc_node *last = cbx_doc_get(cbx_doc_get(t, "n0"), "last");
    assert_true(cbx_str_is(cbx_doc_text(last, "y"), "z"));
    cbx_buf_add_cstr(&text, "[t.first.x]\n");
    cbx_arena_reset(&arena);
    assert_int_equal(cbx_doc_read_toml(cbx_buf_str(&text), &arena, &doc, &err), CBX_EINVAL);
}

/* A text of this many brackets. */
static const char *nest(char open, size_t count)
{
    char *text = cbx_arena_alloc(&arena, count + 16);
    memcpy(text, "a = ", 4);
    memset(text + 4, open, count);
    return text;
}

static void depth_and_aliases_are_bounded(void **state)
{
    (void)state;
    struct cbx_doc doc;
    struct cbx_err err;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 65536);
    char *deep = strdup(nest('[', 70));
    assert_int_not_equal(cbx_doc_read_yaml(cbx_str_of(deep + 4), &arena, &doc, &err), 0);
    assert_non_null(strstr(err.text, "nested too deep"));
    memset(deep + 4, '[', 35);
    memset(deep + 39, ']', 35);
    assert_int_equal(cbx_doc_read_toml(cbx_str_of(deep), &arena, &doc, &err), 0);
    free(deep);
    cbx_buf_add_cstr(&text, "a: &x y\nb: [");
    for (int i = 0; i < 1001; i++) {
        cbx_buf_add_cstr(&text, "*x,");
    }
    cbx_buf_add_cstr(&text, "]\n");
    assert_int_not_equal(cbx_doc_read_yaml(cbx_buf_str(&text), &arena, &doc, &err), 0);
    assert_non_null(strstr(err.text, "more aliases"));
}

/* The text of `a`, and for each of its characters "line:column" in the file. */
static void follow(reader *read, const char *text, const char *expected)
{
    CBX_AUTO_DONE(piece_maker) maker;
    CBX_AUTO_DONE(buf) out;
    struct cbx_doc doc;
    struct cbx_err err;
    struct cbx_manifest manifest = { .text = cbx_str_of(text) };
    cbx_buf_init(&out, 65536);
    cbx_arena_reset(&arena);
    assert_int_equal(read(cbx_str_of(text), &arena, &doc, &err), 0);
    cbx_piece_maker_init(&maker, &arena, doc.file);
    cbx_doc_take(&maker, cbx_doc_get(doc.root, "a"));
    assert_int_equal(cbx_piece_maker_end(&maker, "shell", &manifest, &err), 0);
    for (uint32_t i = 0; i < manifest.pieces[0].text.len; i++) {
        char c = manifest.pieces[0].text.p[i];
        struct cbx_span span = { .start_byte = i, .end_byte = i + 1 };
        cbx_manifest_map(&manifest, &manifest.pieces[0], &span);
        if (c != '\n' && c != ' ') {
            cbx_buf_printf(&out, "%c%u:%u ", c, span.line, span.column);
        }
    }
    assert_string_equal(out.p, expected);
}

static void each_character_of_a_text_has_its_place(void **state)
{
    (void)state;
    follow(cbx_doc_read_json, "{\"a\": \"x\\ty\\u0041z\"}", "x1:8 \t1:9 y1:11 A1:12 z1:18 ");
    follow(cbx_doc_read_toml, "a = \"\"\"\nx \\\n   y\\\\z\"\"\"", "x2:1 y3:4 \\3:5 z3:7 ");
    follow(cbx_doc_read_toml, "a = '''x\n y'''", "x1:8 y2:2 ");
    follow(cbx_doc_read_yaml, "\xC3\xA9: 1\na: |\n  x\n   y\n\n  z\n", "x3:3 y4:4 z6:3 ");
    follow(cbx_doc_read_yaml, "a: >-\n    x\n    y\n", "x2:5 y3:5 ");
    follow(cbx_doc_read_yaml, "a: x\n  y z\n", "x1:4 y2:3 z2:5 ");
    follow(cbx_doc_read_yaml, "a: 'x''y'\n", "x1:5 '1:6 y1:8 ");
    follow(cbx_doc_read_yaml, "a: \"x\\\n   y\\x41z\"\n", "x1:5 y2:4 A2:5 z2:9 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_gives_its_tree),
        cmocka_unit_test(what_its_format_refuses_is_an_error),
        cmocka_unit_test(toml_of_many_tables_is_read_whole),
        cmocka_unit_test(depth_and_aliases_are_bounded),
        cmocka_unit_test(each_character_of_a_text_has_its_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
