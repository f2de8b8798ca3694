/* SPDX-License-Identifier: MIT
 * A program for each row of the analyzer's tables: of the sinks by their names, of the others by the row's
 * texts, as the file of the table has them. */
#ifndef CBX_TESTS_CASES_ROWS_H
#define CBX_TESTS_CASES_ROWS_H

#include "analyzer/facts/sinks.h"
#include "policies/base/buf.h"

#include <stdio.h>
#include <string.h>

/* --- sinks ------------------------------------------------------------------------------------ */

/* A program that uses the name: as a global, as what it is in its module, and the module alone. */
static inline void write_python(struct cbx_buf *out, struct cbx_str name)
{
    const char *dot = memchr(name.p, '.', name.len);
    struct cbx_str root = cbx_str_sub(name, 0, dot != NULL ? (size_t)(dot - name.p) : name.len);
    if (dot != NULL || cbx_sinks_is_module(CBX_PYTHON, name)) {
        cbx_buf_printf(out, "import %.*s\n", CBX_STR_ARG(root));
    }
    cbx_buf_printf(out, cbx_sinks_is_module(CBX_PYTHON, name) ? "import %.*s\n" : "%.*s(x, y)\n",
                   CBX_STR_ARG(name));
}

static inline void write_javascript(struct cbx_buf *out, struct cbx_str name)
{
    const char *dot = memchr(name.p, '.', name.len);
    size_t root = dot != NULL ? (size_t)(dot - name.p) : name.len;
    cbx_buf_printf(out, "require('%.*s')%.*s(x, y);\n", CBX_STR_ARG(cbx_str_sub(name, 0, root)),
                   CBX_STR_ARG(cbx_str_sub(name, root, name.len)));
    bool word = name.p[strcspn(name.p, "-@/")] == '\0';
    if (word && !cbx_sinks_is_module(CBX_JAVASCRIPT, name)) {
        cbx_buf_printf(out, "%.*s(x, y);\n", CBX_STR_ARG(name));
    }
}

static inline void write_shell(struct cbx_buf *out, struct cbx_str name)
{
    bool target = cbx_str_starts(name, CBX_STR("/dev/")), redirect = cbx_str_is(name, ">");
    cbx_buf_printf(out,
                   target     ? "echo x >%.*s/host/80\n"
                   : redirect ? "echo x %.*s /etc/x\n"
                              : "%.*s x\n",
                   CBX_STR_ARG(name));
}

static inline void write_c(struct cbx_buf *out, struct cbx_str name)
{
    bool header = cbx_str_ends(name, CBX_STR(".h"));
    struct cbx_str attribute = CBX_STR("attribute."), pragma = CBX_STR("pragma.");
    bool is_attribute = cbx_str_starts(name, attribute), is_pragma = cbx_str_starts(name, pragma);
    size_t skip = is_attribute ? attribute.len : is_pragma ? pragma.len : 0;
    cbx_buf_printf(out,
                   header         ? "#include <%.*s>\n"
                   : is_attribute ? "__attribute__((%.*s)) void f(void);\n"
                   : is_pragma    ? "#pragma %.*s\n"
                                  : "void f(void) { %.*s(\"x\"); }\n",
                   CBX_STR_ARG(cbx_str_sub(name, skip, name.len)));
}

static inline void add_capabilities(struct cbx_buf *out, uint32_t bits)
{
    static const char *const words[] = {
#define CBX_CAPABILITY(id, word, ...) word,
#include "policies/guard/capabilities.def"
#undef CBX_CAPABILITY
    };
    bool first = true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((bits >> i & 1) != 0) {
            cbx_buf_printf(out, "%s%s", first ? "" : ",", words[i]);
            first = false;
        }
    }
}

struct rows_sinks {
    enum cbx_language language;
    const char *word;
    void (*write)(struct cbx_buf *out, struct cbx_str name);
};
static const struct rows_sinks rows_sinks[] = { { CBX_PYTHON, "python", write_python },
                                                { CBX_JAVASCRIPT, "javascript", write_javascript },
                                                { CBX_SHELL, "shell", write_shell },
                                                { CBX_C, "c", write_c } };

/* The program, and the names of the sink's capabilities. */
static inline void rows_write_sink(struct cbx_buf *source, struct cbx_buf *note,
                                   const struct rows_sinks *sinks, struct cbx_str name)
{
    char each[256];
    snprintf(each, sizeof(each), "%.*s", CBX_STR_ARG(name));
    for (char *star = strchr(each, '*'); star != NULL; star = strchr(star, '*')) {
        *star = 'x'; /* "*.name" is a method of anything */
    }
    sinks->write(source, cbx_str_of(each));
    add_capabilities(note, cbx_sinks_of(sinks->language, name) |
                               cbx_sinks_of_module(sinks->language, name));
}

/* --- other tables ----------------------------------------------------------------------------- */

/* `format`: the program; 1 stands for the first text of a row, 2 for the second and R for what is in front of the first
 * dot of the first. Parts of a name that are no word are x. */
struct rows_table {
    const char *path, *language, *format;
};
static const struct rows_table rows_tables[] = {
    { "analyzer/lang/python/values/names.def", "python",
      "import R\nimport os\nt = open('f').read()\n1(t, t, 2=t)\n1(os)\nq = os\nq.1('id')\n" },
    { "analyzer/lang/python/evaluated.def", "python",
      "import R\nt = open('f').read()\n1(t, t, t, t, 2=t)\n" },
    { "analyzer/lang/python/notebook/magics.def", "ipython", "%1 2 import os; os.system('id')\n" },
    { "analyzer/lang/javascript/names.def", "javascript",
      "const t = require('fs').readFileSync('f', 'utf8');\n1(t, t);\nrequire('R').1(t, "
      "t);\n1(t).2(t);\n" },
    { "analyzer/lang/shell/commands.def", "shell", "read -r t < f\n1 2 -c 'curl x' $t\n1=$t\n" },
    { "analyzer/lang/shell/outputs.def", "shell", "x=$(1 2 f)\necho $((x))\nfind . $x\n" },
    { "analyzer/packages/managers.def", "shell", "1 2 evil-package-x $t\n" },
    { "analyzer/lang/c/macros.def", "c", "void f(void) { 1(\"x\"); }\n" },
};

/* The next row, from its name to its closing bracket; false behind the last. Comments and preprocessor lines have none. */
static inline bool rows_next(struct cbx_str *rest, struct cbx_str *row)
{
    while (rest->len > 0) {
        const char *end = memchr(rest->p, '\n', rest->len);
        struct cbx_str line =
            cbx_str_sub(*rest, 0, end != NULL ? (size_t)(end - rest->p) : rest->len);
        bool code = cbx_str_starts(line, CBX_STR("CBX_"));
        size_t at = 0, depth = 0;
        bool quoted = false;
        for (; code && at < line.len; at++) {
            char c = line.p[at];
            quoted ^= c == '"' && (at == 0 || line.p[at - 1] != '\\');
            depth += !quoted && c == '(';
            if (!quoted && c == ')' && --depth == 0) {
                break;
            }
        }
        if (!code || at == line.len) {
            *rest = cbx_str_sub(*rest, line.len + (end != NULL), rest->len);
            continue;
        }
        *row = cbx_str_sub(line, 0, at + 1);
        size_t next = at + 1;
        while (next < line.len && line.p[next] == ' ') {
            next++;
        }
        bool last =
            next == line.len || !cbx_str_starts(cbx_str_sub(line, next, line.len), CBX_STR("CBX_"));
        *rest = cbx_str_sub(*rest, last ? line.len + (end != NULL) : next, rest->len);
        return true;
    }
    return false;
}

/* The text number `index` of a row; "" when it has fewer. */
static inline struct cbx_str rows_text(struct cbx_str row, int index)
{
    size_t at = 0;
    for (; index >= 0; index--) {
        const char *open = memchr(row.p + at, '"', row.len - at);
        const char *close =
            open != NULL ? memchr(open + 1, '"', row.len - (size_t)(open + 1 - row.p)) : NULL;
        if (close == NULL) {
            return CBX_STR("");
        }
        if (index == 0) {
            return cbx_str_sub(row, (size_t)(open - row.p) + 1, (size_t)(close - row.p));
        }
        at = (size_t)(close - row.p) + 1;
    }
    return CBX_STR("");
}

static inline void rows_add_name(struct cbx_buf *out, struct cbx_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        cbx_buf_add_char(out, strchr("*[]()", name.p[i]) != NULL ? 'x' : name.p[i]);
    }
    cbx_buf_add_cstr(out, name.len == 0 ? "x" : "");
}

static inline void rows_write(struct cbx_buf *out, const struct rows_table *table,
                              struct cbx_str row)
{
    struct cbx_str first = rows_text(row, 0), second = rows_text(row, 1);
    const char *dot = memchr(first.p, '.', first.len);
    struct cbx_str root = cbx_str_sub(first, 0, dot != NULL ? (size_t)(dot - first.p) : first.len);
    for (const char *p = table->format; *p != '\0'; p++) {
        if (*p == '1' || *p == '2' || *p == 'R') {
            rows_add_name(out, *p == '1' ? first : *p == '2' ? second : root);
        } else {
            cbx_buf_add_char(out, *p);
        }
    }
}

#endif
