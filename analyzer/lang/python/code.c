/* SPDX-License-Identifier: MIT
 * Texts in Python that are or may be code: arguments of eval and similar functions, examples in
 * docstrings, format strings. */
#include "analyzer/lang/python/internal.h"

enum { CODES_MAX = 8 }; /* limit of the codes that one call may run */

bool cbx_py_judge_loosely(struct cbx_walk *py, struct cbx_str text, const struct cbx_node *node,
                          bool alone)
{
    struct cbx_parsed around = *py->parsed;
    size_t before = py->facts->count, kept = before;
    around.outer = alone ? NULL : py;
    around.outer_scope = alone ? NULL : cbx_scope_around(py, node);
    cbx_parse_inner(&around, "python", text, node->start, node->end);
    for (size_t i = before; i < py->facts->count; i++) {
        bool error = py->facts->items[i].kind == CBX_IS_SPECIAL &&
                     py->facts->items[i].special == CBX_FACT_SYNTAX;
        if (!error) {
            py->facts->items[kept++] = py->facts->items[i];
        }
    }
    bool read = kept == py->facts->count;
    py->facts->count = kept;
    return read;
}

/* Judges code that can use the names around the call. */
static void parse_code(struct cbx_walk *py, const char *language, struct cbx_str text,
                       const struct cbx_node *node)
{
    struct cbx_parsed around = *py->parsed;
    bool python = strcmp(language, "python") == 0;
    around.outer = python ? py : NULL;
    around.outer_scope = python ? cbx_scope_around(py, node) : NULL;
    cbx_parse_inner(&around, language, text, node->start, node->end);
}

/* Judges a text that may be Python and ignores syntax errors; returns false if there were any. */
static bool parse_loosely(struct cbx_walk *py, struct cbx_str text, const struct cbx_node *node)
{
    return cbx_py_judge_loosely(py, text, node, false);
}

/* Returns true for an unknown parameter or loop variable: timeit also takes functions, and such
 * a name is usually a function. */
static bool is_handed_in(struct cbx_walk *py, const struct cbx_actual *actual)
{
    struct cbx_str name = cbx_walk_text(py, actual->node);
    struct cbx_binding *b = NULL;
    if (cbx_py_kind(actual->node) != PY_identifier) {
        return false;
    }
    for (struct cbx_scope *s = actual->scope; s != NULL && b == NULL; s = s->parent) {
        b = cbx_scope_chain(py, s, name);
    }
    bool handed_in = b != NULL;
    for (; b != NULL; b = b->next) {
        handed_in &= b->given || b->each || !cbx_str_equal(b->name, name);
    }
    const struct cbx_str *texts;
    uint32_t count;
    texts = cbx_values_texts(py->arena, cbx_py_eval(py, actual->node, actual->scope), &count);
    return handed_in && texts == NULL;
}

/* Judges a list of words, or one word: subprocess.run(['git', 'log']). A text is a line of shell
 * with shell=True, and the name of a program without it. */
static void extract_list(struct cbx_walk *py, struct cbx_actuals *actuals,
                         const struct cbx_values *values, const struct cbx_node *call)
{
    const struct cbx_actual *shell = cbx_actual_find(actuals, UINT32_MAX, "shell");
    const struct cbx_values *how =
        shell != NULL ? cbx_actual_values(py, actuals, UINT32_MAX, "shell") : NULL;
    struct cbx_str text;
    bool line = how != NULL && !(how->count == 1 && cbx_str_is(how->items[0]->text, "False"));
    const struct cbx_value *list = cbx_py_sequence(py, values);
    bool program = cbx_values_is_text(values, &text),
         other = cbx_actual_find(actuals, UINT32_MAX, "executable") != NULL;
    if (program && line && !other) {
        parse_code(py, "shell", text, call);
    } else if (program && !line && !other) {
        cbx_command_line(py->parsed, &values, 1, false, call->start, call->end);
    } else {
        bool known = list != NULL && list->number == 0 && !line && !other;
        cbx_command_line(py->parsed, known ? list->members : NULL, known ? list->count : 0, false,
                         call->start, call->end);
    }
}

/* Judges the words of a program whose arguments begin at `position`; a list (os.execv) counts
 * without its first member, which is only the program's own name. */
static void extract_words(struct cbx_walk *py, struct cbx_actuals *actuals, uint32_t position,
                          bool names_itself, const struct cbx_node *call)
{
    enum { WORDS_MAX = 64 };
    const struct cbx_values *words[WORDS_MAX];
    uint32_t count = 0, at = position;
    bool open = actuals->spread;
    for (; cbx_actual_find(actuals, at, NULL) != NULL && count < WORDS_MAX; at++) {
        const struct cbx_values *word = cbx_actual_values(py, actuals, at, NULL);
        const struct cbx_value *list = at > position ? cbx_py_sequence(py, word) : NULL;
        if (list != NULL && list->number == 0 && word->items[0]->kind == CBX_V_LIST) {
            for (uint32_t i = names_itself; i < list->count && count < WORDS_MAX; i++) {
                words[count++] = list->members[i];
            }
            break;
        }
        if (!(names_itself && at == position + 1)) {
            words[count++] = word;
        }
    }
    cbx_command_line(py->parsed, words, count, open, call->start, call->end);
}

/* Judges the n-th argument of those that the callable runs as code. */
static void extract_code(struct cbx_walk *py, struct cbx_str callee, uint32_t n,
                         struct cbx_actuals *actuals, const struct cbx_node *call)
{
    uint32_t position;
    const char *keyword = NULL, *language = cbx_py_runs(callee, n, &position, &keyword);
    if (language == NULL || cbx_actual_find(actuals, position, keyword) == NULL) {
        return;
    }
    const struct cbx_values *values = cbx_actual_values(py, actuals, position, keyword);
    if (strcmp(language, "list") == 0) {
        extract_list(py, actuals, values, call);
        return;
    }
    if (strcmp(language, "words") == 0 || strcmp(language, "exec") == 0) {
        extract_words(py, actuals, position, language[0] == 'e', call);
        return;
    }
    bool function = false; /* timeit also takes functions */
    for (uint32_t i = 0; i < values->count; i++) {
        enum cbx_value_kind kind = values->items[i]->kind;
        function |= kind == CBX_V_FUNCTION || kind == CBX_V_PARTIAL;
    }
    if (cbx_values_all_text(values) && values->count <= CODES_MAX) {
        for (uint32_t i = 0; i < values->count; i++) {
            parse_code(py, language, values->items[i]->text, call);
        }
    } else if (cbx_py_judge_numbered(py, cbx_actual_find(actuals, position, keyword), call)) {
        return;
    } else if (!function && !(cbx_str_starts(callee, CBX_STR("timeit.")) &&
                              is_handed_in(py, cbx_actual_find(actuals, position, keyword)))) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_CODE, callee, call);
    }
}

void cbx_py_extract_code(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                         const struct cbx_node *call)
{
    extract_code(py, callee, 0, actuals, call);
    extract_code(py, callee, 1, actuals, call);
    cbx_py_extract_evaluated(py, callee, actuals, call);
}

/* Judges the examples of a docstring, which doctest runs: the lines after >>> and .... */
static void parse_examples(struct cbx_walk *py, const struct cbx_node *string)
{
    struct cbx_str text = cbx_walk_text(py, string);
    char *code = text.len > 0 && memmem(text.p, text.len, ">>>", 3) != NULL
                     ? cbx_arena_alloc(py->arena, text.len + 1)
                     : NULL;
    size_t n = 0;
    for (size_t at = 0; code != NULL && at < text.len;) {
        const char *newline = memchr(text.p + at, '\n', text.len - at);
        size_t end = newline != NULL ? (size_t)(newline - text.p) : text.len;
        struct cbx_str line = cbx_str_sub(text, at, end);
        while (line.len > 0 && memchr(" \t\"'r", line.p[0], 5) != NULL) {
            line = cbx_str_sub(line, 1, line.len);
        }
        if (cbx_str_starts(line, CBX_STR(">>> ")) || cbx_str_starts(line, CBX_STR("... "))) {
            memcpy(code + n, line.p + 4, line.len - 4);
            n += line.len - 4;
            code[n++] = '\n';
        }
        at = end + 1;
    }
    if (n > 0) {
        parse_loosely(py, (struct cbx_str){ .p = code, .len = n }, string);
    }
}

/* Returns true if a text in these bindings is not constant. */
static bool has_data(struct cbx_walk *py, const struct cbx_binding *b)
{
    bool data = false;
    for (; b != NULL; b = b->next) {
        const struct cbx_values *values = cbx_binding_eval(py, b, b->where);
        const struct cbx_value *map = cbx_values_container(values, CBX_V_MAP);
        for (uint32_t i = 0; map != NULL && i < map->count; i++) {
            data |= cbx_values_has_unknown(map->members[i]);
        }
        data |= map == NULL && cbx_values_has_unknown(values);
    }
    return data;
}

/* Checks run_docstring_examples(text): an argument that is no function or module of the program
 * is code. */
static void check_examples(struct cbx_walk *py, struct cbx_actuals *actuals,
                           const struct cbx_node *call)
{
    const struct cbx_values *object = cbx_actual_values(py, actuals, 0, "f");
    bool code = object->count == 0;
    for (uint32_t i = 0; i < object->count; i++) {
        enum cbx_value_kind kind = object->items[i]->kind;
        code |= kind != CBX_V_FUNCTION && kind != CBX_V_NAME;
    }
    if (code) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_CODE, CBX_STR("doctest.run_docstring_examples"), call);
    }
}

void cbx_py_extract_doctest(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                            const struct cbx_node *call)
{
    if (cbx_str_is(callee, "doctest.run_docstring_examples")) {
        check_examples(py, actuals, call);
    }
    if (py->examples || (!cbx_str_is(callee, "doctest.testmod") &&
                         !cbx_str_is(callee, "doctest.run_docstring_examples") &&
                         !cbx_str_is(callee, "doctest.DocTestRunner") &&
                         !cbx_str_is(callee, "doctest.DocTestFinder"))) {
        return;
    }
    py->examples = true;
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        const struct cbx_node *node = &py->syntax.nodes[i];
        if (cbx_py_kind(node) == PY_string) { /* docstrings, __test__ */
            parse_examples(py, node);
        }
    }
    static const char *const texts[] = { "__doc__", "__test__" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cbx_str name = cbx_str_of(texts[i]);
        bool data = has_data(py, cbx_scope_chain(py, NULL, name)) ||
                    has_data(py, cbx_scope_chain(py, py->module, name));
        if (data) {
            cbx_py_special(py, CBX_FACT_DYNAMIC_CODE, name, &py->syntax.nodes[0]);
        }
    }
}

/* --- strings ---------------------------------------------------------------------------------- */

/* Checks "{0.__class__.__globals__}": a walk over attributes of the arguments of str.format. */
static void check_format(struct cbx_walk *py, struct cbx_str text, const struct cbx_node *node)
{
    const char *open = text.len > 0 ? memchr(text.p, '{', text.len) : NULL;
    for (size_t at = open != NULL ? (size_t)(open - text.p) : text.len; at < text.len; at++) {
        char c = text.p[at];
        if (c != '.' && c != '[') {
            continue;
        }
        size_t end = at + 1;
        while (end < text.len &&
               (text.p[end] == '_' || (text.p[end] >= '0' && text.p[end] <= '9') ||
                ((text.p[end] | 32) >= 'a' && (text.p[end] | 32) <= 'z'))) {
            end++;
        }
        struct cbx_str name = cbx_str_sub(text, at + 1, end);
        if (cbx_str_starts(name, CBX_STR("__")) &&
            (cbx_py_is_dunder(name) || cbx_py_climbs(name) || cbx_str_is(name, "__dict__") ||
             (cbx_str_is(name, "__class__") &&
              !cbx_str_starts(cbx_str_sub(text, end, text.len), CBX_STR(".__name__"))) ||
             cbx_str_is(name, "__init__") || cbx_str_is(name, "__getattribute__"))) {
            cbx_py_special(py, CBX_FACT_DUNDER_WALK, name, node);
            return;
        }
    }
}

void cbx_py_extract_text(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_py_eval(py, node, scope);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool path = v->kind == CBX_V_NAME && v->number == CBX_NAME_OBJECT && v->count == 1 &&
                    v->members[0]->count == 1;
        v = path ? v->members[0]->items[0] : v;
        if (v->kind == CBX_V_TEXT) {
            cbx_facts_add(py->facts, CBX_IS_LITERAL, v->text, node->start, node->end);
            check_format(py, v->text, node);
            enum cbx_py_kind parent = cbx_py_kind(node->parent);
            bool told = parent == PY_list || parent == PY_tuple || parent == PY_set ||
                        parent == PY_comparison_operator;
            if (!told &&
                cbx_py_is_dunder(v->text)) { /* functions that read attributes by name may get it */
                cbx_py_special(py, CBX_FACT_DUNDER_WALK, v->text, node);
            }
        } else if (v->kind == CBX_V_UNKNOWN && v->text.len > 0) {
            /* f"/proc/{pid}/environ": '*' for each unknown part, to match the patterns of rules */
            cbx_facts_add(py->facts, CBX_IS_LITERAL, v->text, node->start, node->end);
        }
    }
}

/* Returns the constant at the start of a concatenated text. */
static struct cbx_str first_text(struct cbx_walk *py, const struct cbx_node *node)
{
    while (node != NULL && cbx_py_kind(node) != PY_string) {
        node = cbx_child_at(node, 0);
    }
    struct cbx_str text = cbx_walk_text(py, node);
    size_t quote = 0;
    while (quote < text.len && text.p[quote] != '"' && text.p[quote] != '\'') {
        quote++;
    }
    return cbx_str_sub(text, quote, text.len);
}

void cbx_py_extract_built(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *object =
        cbx_child_of(cbx_child_of(node, CBX_FIELD_function), CBX_FIELD_object);
    enum cbx_py_kind kind = cbx_py_kind(node);
    bool format = kind == PY_call && cbx_py_kind(object) == PY_string;
    bool built =
        format || kind == PY_binary_operator || (kind == PY_string && cbx_child_count(node) > 3);
    if (built && cbx_is_sql(first_text(py, format ? object : node)) &&
        cbx_values_has_unknown(cbx_py_eval(py, node, scope))) {
        cbx_py_special(py, CBX_FACT_SQL_BUILT, cbx_str_sub(cbx_walk_text(py, node), 0, 60), node);
    }
}

static void found_in_format(struct cbx_walk *py, const struct cbx_values *values,
                            struct cbx_str name, void *context)
{
    const struct cbx_node *call = context;
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_NAME) {
            cbx_facts_add(py->facts, CBX_IS_REFERENCE, values->items[i]->text, call->start,
                          call->end);
        }
    }
    cbx_py_extract_attribute(py, name, call);
}

void cbx_py_extract_fields(struct cbx_walk *py, struct cbx_actuals *actuals, uint32_t format,
                           struct cbx_node *call)
{
    struct cbx_str text;
    struct cbx_actuals rest = { 0 };
    if (cbx_values_is_text(cbx_actual_values(py, actuals, format, NULL), &text)) {
        cbx_actuals_shift(actuals, format + 1, NULL, &rest);
        cbx_py_format_fields(py, text, &rest, found_in_format, call);
    }
}

void cbx_py_extract_format(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                           struct cbx_node *call)
{
    if (cbx_str_starts(callee, CBX_STR("string.Formatter"))) {
        cbx_py_extract_fields(py, actuals, 1, call);
    } else if (cbx_str_is(callee, "str.format") || cbx_str_is(callee, "str.format_map")) {
        cbx_py_extract_fields(py, actuals, 0, call);
    }
}
