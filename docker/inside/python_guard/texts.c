/* SPDX-License-Identifier: MIT
 * Texts that libraries evaluate. The analyzer judges constant texts, and denies the libraries
 * that it does not support; this file checks the remaining texts. A program may compose a text of
 * data, such as names of columns, so only its calls are checked: each call and each attribute must
 * occur in a constant of judged code. */
#include "docker/inside/python_guard/python_guard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Functions that receive a text from their callers, and its location: a local variable, or an
 * attribute of one. `calls`: only calls are checked, because types are named by attributes. */
static const struct {
    const char *file, *function, *variable, *attribute;
    bool calls;
} evaluators[] = {
    { "/patsy/highlevel.py", "_do_highlevel_design", "formula_like", NULL, false },
    { "/patsy/highlevel.py", "incr_dbuilder", "formula_like", NULL, false },
    { "/patsy/highlevel.py", "incr_dbuilders", "formula_like", NULL, false },
    { "/sympy/parsing/sympy_parser.py", "parse_expr", "s", NULL, false },
    { "/sympy/utilities/lambdify.py", "lambdify", "expr", NULL, false },
    { "/sqlalchemy/orm/clsregistry.py", "__call__", "self", "arg", false },
    { "/pandas/core/computation/eval.py", "eval", "expr", NULL, false },
    { "/numexpr/necompiler.py", "stringToExpression", "s", NULL, false },
    { "/reportlab/lib/rl_safe_eval.py", "__call__", "expr", NULL, false },
    { "/typing.py", "__init__", "arg", NULL, true }, /* of ForwardRef */
};
enum { FRAMES_MAX = 24 /* between the function and the call that compiles */ };

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* --- comparison with judged texts ------------------------------------------------------------- */

/* A text without blanks, and the set of its bytes that occur in a judged one. */
struct cover {
    char *text;
    bool *covered;
    size_t len;
    bool calls; /* true: attributes are no power */
};

/* Libraries change blanks. Returns the length; `out` has space for `len` bytes. */
static size_t without_blanks(const char *text, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        out[n] = text[i];
        n += !isspace((unsigned char)text[i]);
    }
    return n;
}

static bool cover_with(const char *text, size_t len, void *context)
{
    struct cover *cover = context;
    char *piece = malloc(len + 1);
    if (piece == NULL) {
        abort();
    }
    len = without_blanks(text, len, piece);
    size_t at = 0;
    const char *found;
    while (len > 1 && at + len <= cover->len &&
           (found = memmem(cover->text + at, cover->len - at, piece, len)) != NULL) {
        at = (size_t)(found - cover->text);
        memset(cover->covered + at, 1, len * sizeof(*cover->covered));
        at++;
    }
    free(piece);
    return true;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

/* `and (`, `in (`: a parenthesis after an operator groups. */
static bool is_operator(const char *text, size_t end)
{
    static const char *const words[] = { "and", "or", "not", "in", "is", "if", "else" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if (end >= len && strncmp(text + end - len, words[i], len) == 0 &&
            (end == len || !is_word(text[end - len - 1]))) {
            return true;
        }
    }
    return false;
}

/* True if a call, an attribute, or a name of the interpreter (`__import__`) begins here. The latter
 * is never judged: the analyzer denies it in a text for a library, and another constant with it is
 * not judged as such a text. */
static bool has_power(const struct cover *cover, size_t i)
{
    const char *text = cover->text;
    if (text[i] == '_' && text[i + 1] == '_' && (i == 0 || !is_word(text[i - 1]))) {
        return true;
    }
    char before = i > 0 ? text[i - 1] : ' ';
    if (text[i] == '(') {
        return (is_word(before) && !is_operator(text, i)) || before == ')' || before == ']';
    }
    return text[i] == '.' && !cover->calls && (is_word(before) || before == ')' || before == ']') &&
           !isdigit((unsigned char)before) && i + 1 < cover->len && is_word(text[i + 1]);
}

static bool is_judged(const char *text, size_t len, bool calls)
{
    struct cover cover = { .text = malloc(len + 1),
                           .covered = calloc(len + 1, sizeof(bool)),
                           .calls = calls };
    if (cover.text == NULL || cover.covered == NULL) {
        abort();
    }
    cover.len = without_blanks(text, len, cover.text);
    cover.text[cover.len] = '\0';
    bool judged = true, looked = false;
    for (size_t i = 0; i < cover.len && judged; i++) {
        if (!has_power(&cover, i)) {
            continue;
        }
        if (!looked) {
            cbx_hook_each_judged_text(cover_with, &cover);
            looked = true;
        }
        judged = cover.covered[i] && cover.text[i] != '_';
    }
    free(cover.text);
    free(cover.covered);
    return judged;
}

/* --- the texts of callers --------------------------------------------------------------------- */

/* Returns the text that the function received, if it is a text; new reference or NULL. */
static PyObject *text_of(PyFrameObject *frame, size_t evaluator)
{
    PyObject *locals = cbx_hook_frame_locals(frame);
    PyObject *value =
        locals != NULL ? PyMapping_GetItemString(locals, evaluators[evaluator].variable) : NULL;
    if (value != NULL && evaluators[evaluator].attribute != NULL) {
        PyObject *object = value;
        value = PyObject_GetAttrString(object, evaluators[evaluator].attribute);
        Py_DECREF(object);
    }
    PyErr_Clear();
    Py_XDECREF(locals);
    PyObject *text = value != NULL && PyUnicode_Check(value) ? PyUnicode_FromObject(value) : NULL;
    Py_XDECREF(value);
    return text;
}

/* Returns the evaluator of the code; -1 = none. */
static int find_evaluator(PyObject *code)
{
    char file[1024], name[64];
    cbx_hook_code_text(code, "co_name", name, sizeof(name));
    for (size_t i = 0; i < sizeof(evaluators) / sizeof(evaluators[0]); i++) {
        if (strcmp(name, evaluators[i].function) != 0) {
            continue;
        }
        cbx_hook_code_text(code, "co_filename", file, sizeof(file));
        if (ends_with(file, evaluators[i].file) && cbx_hook_origin_of(code) == CBX_HOOK_IMAGE) {
            return (int)i;
        }
    }
    return -1;
}

/* True if the text belongs to a library: a function of the image between the program and this frame
 * has the text as a constant. */
static bool is_of_library(PyFrameObject *frame, const char *text)
{
    PyFrameObject *caller = PyFrame_GetBack(frame);
    bool image = true, found = false;
    while (caller != NULL && image && !found) {
        PyObject *code = (PyObject *)PyFrame_GetCode(caller);
        image = cbx_hook_origin_of(code) == CBX_HOOK_IMAGE;
        found = image && cbx_hook_code_has_text(code, text);
        PyFrameObject *back = PyFrame_GetBack(caller);
        Py_DECREF(code);
        Py_DECREF((PyObject *)caller);
        caller = back;
    }
    Py_XDECREF((PyObject *)caller);
    return found;
}

/* True if the frame evaluates a text of the program that was not judged. */
static bool evaluates_unjudged(PyFrameObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    int evaluator = find_evaluator(code);
    PyObject *text = evaluator >= 0 ? text_of(frame, (size_t)evaluator) : NULL;
    Py_ssize_t len = 0;
    const char *bytes = text != NULL ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    bool unjudged = bytes != NULL && !is_judged(bytes, (size_t)len, evaluators[evaluator].calls) &&
                    !is_of_library(frame, bytes);
    PyErr_Clear();
    Py_XDECREF(text);
    Py_DECREF(code);
    return unjudged;
}

int cbx_hook_check_compiled(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    bool refused = false;
    if (!cbx_hook_refuses(CBX_GUARD_EVALUATE)) {
        return 0;
    }
    Py_XINCREF((PyObject *)frame);
    for (int i = 0; frame != NULL && i < FRAMES_MAX && !refused; i++) {
        refused = evaluates_unjudged(frame);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF((PyObject *)frame);
        frame = back;
    }
    Py_XDECREF((PyObject *)frame);
    if (refused) {
        return cbx_hook_refuse(CBX_GUARD_EVALUATE, "a text with calls that was not judged", NULL);
    }
    return 0;
}
