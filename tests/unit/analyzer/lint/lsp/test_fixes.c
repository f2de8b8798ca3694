/* SPDX-License-Identifier: MIT
 * Edits made from hints. */
#include "analyzer/lint/lsp/fixes.h"

#include "policies/base/buf.h"
#include "tests/unit/unit.h"

/* The text with the edits, from the last to the first; "none" without any; "partly: " when a clause
 * is left. */
static void fix(const char *text, struct cbx_lsp_lines lines, const char *hint, struct cbx_buf *out)
{
    struct cbx_lsp_edit edits[CBX_LSP_EDITS_MAX];
    bool whole;
    struct cbx_str bytes = cbx_str_of(text);
    size_t count = cbx_lsp_fixes(bytes, lines, cbx_str_of(hint), edits, &whole);
    if (count == 0) {
        cbx_buf_add_cstr(out, "none");
        return;
    }
    cbx_buf_add_cstr(out, whole ? "" : "partly: ");
    for (size_t at = 0; at <= bytes.len; at++) {
        size_t next = at;
        for (size_t i = 0; i < count; i++) {
            if (edits[i].start == at) {
                cbx_buf_add(out, edits[i].text);
                cbx_buf_add_cstr(out, edits[i].line ? "\n" : "");
                next = edits[i].end > next ? edits[i].end : next;
            }
        }
        if (next > at) {
            at = next - 1;
            continue;
        }
        cbx_buf_add(out, cbx_str_sub(bytes, at, at + 1));
    }
}

static void clauses_of_a_mechanical_form_become_edits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct cbx_lsp_lines lines;
        const char *hint, *fixed;
    } cases[] = {
        { "x\nf(a)\n", { 2, 2 }, "instead of `f(a)` write `g(a)`", "x\ng(a)\n" },
        { "f; f\nf\n", { 2, 2 }, "instead of `f` write `g`", "f; f\ng\n" },
        { "f; f\n", { 1, 1 }, "instead of `f` write `g`", "none" },
        { "import f\nf.x()\n",
          { 1, 1 },
          "instead of `f.x()` write `1`; instead of `import f` write `pass`",
          "pass\n1\n" },
        { "a\nb\nc\n", { 1, 1 }, "remove line 2", "a\nc\n" },
        { "a b\n", { 1, 1 }, "remove `b`", "a \n" },
        { "#!/x\na\n", { 2, 2 }, "add the line `import b`", "#!/x\nimport b\na\n" },
        { "\"\"\"d\"\"\"\nimport a\nf\n",
          { 3, 3 },
          "add the line `import b`",
          "\"\"\"d\"\"\"\nimport b\nimport a\nf\n" },
        { "x = (\ny\n", { 1, 1 }, "add `)` at the end of line 1", "x = ()\ny\n" },
        { "f(';  ')\n", { 1, 1 }, "instead of `f('; ')` write `g`", "none" },
        { "f('; ')\n",
          { 1, 1 },
          "instead of `f('; ')` write `g`; ask the operator",
          "partly: g\n" },
        { "f\n", { 1, 1 }, "instead of `f` write `g`; remove `f`", "partly: g\n" },
        { "f\n", { 1, 1 }, "Use another module", "none" },
        { "f\n",
          { 1, 1 },
          "remove line 9; remove line 0; remove line x; add `)` at the end",
          "none" },
        { "f\n", { 0, 0 }, "remove line 1", "none" },
        { "", { 1, 1 }, "instead of `` write `g`", "none" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 4096);
        fix(cases[i].text, cases[i].lines, cases[i].hint, &out);
        if (strcmp(out.p, cases[i].fixed) != 0) {
            fail_msg("%s: '%s' instead of '%s'", cases[i].hint, out.p, cases[i].fixed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clauses_of_a_mechanical_form_become_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
