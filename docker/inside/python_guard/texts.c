/* SPDX-License-Identifier: MIT
 * Texts that libraries evaluate. The analyzer judges constant texts, and denies the libraries
 * that it does not support; this file checks the remaining texts. A program may compose a text of
 * data, such as names of columns, so only its calls are checked: each call and each attribute must
 * occur in a constant of judged code. Calls of powerful builtins are refused in any case: a program
 * may have such a text as a constant that is data for the analyzer. */
#include "docker/inside/python_guard/python_guard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Functions that receive a text from their callers, and its location: a local variable, or an
 * attribute of one. */
static const struct {
    const char *file, *function, *variable, *attribute;
    /* EVERYTHING; CALLS: types are named by attributes; POWER: calls of powerful builtins alone, in
     * code that a library makes of the program's objects */
    enum { EVERYTHING, CALLS, POWER } checked;
} evaluators[] = {
    { "/patsy/highlevel.py", "_do_highlevel_design", "formula_like", NULL, EVERYTHING },
    { "/patsy/highlevel.py", "incr_dbuilder", "formula_like", NULL, EVERYTHING },
    { "/patsy/highlevel.py", "incr_dbuilders", "formula_like", NULL, EVERYTHING },
    { "/sympy/parsing/sympy_parser.py", "parse_expr", "s", NULL, EVERYTHING },
    { "/sympy/utilities/lambdify.py", "lambdify", "expr", NULL, EVERYTHING },
    { "/sympy/utilities/lambdify.py", "lambdify", "funcstr", NULL, POWER },
    { "/sqlalchemy/orm/clsregistry.py", "__call__", "self", "arg", EVERYTHING },
    { "/pandas/core/computation/eval.py", "eval", "expr", NULL, EVERYTHING },
    { "/numexpr/necompiler.py", "stringToExpression", "s", NULL, EVERYTHING },
    { "/reportlab/lib/rl_safe_eval.py", "__call__", "expr", NULL, EVERYTHING },
    { "/typing.py", "__init__", "arg", NULL, CALLS }, /* of ForwardRef */
};
/* Builtins that no formula calls. A call of one is never judged: a constant that has it may be
 * data for the analyzer. */
static const char *const powerful[] = {
    "open",    "print",  "exec",  "eval", "compile",    "getattr", "setattr", "delattr", "vars",
    "globals", "locals", "input", "help", "breakpoint", "exit",    "quit",    "dir",
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
    int checked; /* as of an evaluator */
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

static bool is_called(const char *text, size_t len, size_t i, const char *name)
{
    size_t end = i + strlen(name);
    if (end > len || strncmp(text + i, name, end - i) != 0) {
        return false;
    }
    while (end < len && isspace((unsigned char)text[end])) {
        end++;
    }
    return end < len && text[end] == '(';
}

/* True if a name of the interpreter (`__import__`) begins here. pandas makes names of its own for
 * local variables: `@limit` of a query. */
static bool is_of_interpreter(const char *text, size_t len, size_t i)
{
    static const char local[] = "__pd_eval_local_";
    size_t n = sizeof(local) - 1;
    return i + 1 < len && text[i] == '_' && text[i + 1] == '_' &&
           !(i + n < len && strncmp(text + i, local, n) == 0);
}

/* True if the text has a name of the interpreter, or calls a powerful builtin. It is never judged:
 * the analyzer denies such names in texts for libraries, and another constant with one is not
 * judged as such a text. */
static bool is_forbidden(const char *text, size_t len)
{
    bool found = false;
    for (size_t i = 0; i < len && !found; i++) {
        if (!is_word(text[i]) || (i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.'))) {
            continue;
        }
        for (size_t k = 0; k < sizeof(powerful) / sizeof(powerful[0]); k++) {
            found = found || is_called(text, len, i, powerful[k]);
        }
        found = found || is_of_interpreter(text, len, i);
    }
    return found;
}

/* True if a call or an attribute begins here. */
static bool has_power(const struct cover *cover, size_t i)
{
    const char *text = cover->text;
    char before = i > 0 ? text[i - 1] : ' ';
    if (text[i] == '(') {
        return (is_word(before) && !is_operator(text, i)) || before == ')' || before == ']';
    }
    return text[i] == '.' && cover->checked == EVERYTHING &&
           (is_word(before) || before == ')' || before == ']') && !isdigit((unsigned char)before) &&
           i + 1 < cover->len && is_word(text[i + 1]);
}

static bool is_judged(const char *text, size_t len, int checked)
{
    if (is_forbidden(text, len)) {
        return false;
    }
    if (checked == POWER) {
        return true;
    }
    struct cover cover = { .text = malloc(len + 1),
                           .covered = calloc(len + 1, sizeof(bool)),
                           .checked = checked };
    if (cover.text == NULL || cover.covered == NULL) {
        abort();
    }
    cover.len = without_blanks(text, len, cover.text);
    bool judged = true, looked = false;
    for (size_t i = 0; i < cover.len && judged; i++) {
        if (!has_power(&cover, i)) {
            continue;
        }
        if (!looked) {
            cbx_hook_each_judged_text(cover_with, &cover);
            looked = true;
        }
        judged = cover.covered[i];
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

static bool is_evaluator(PyObject *code, const char *name, size_t evaluator)
{
    char file[1024];
    if (strcmp(name, evaluators[evaluator].function) != 0) {
        return false;
    }
    cbx_hook_code_text(code, "co_filename", file, sizeof(file));
    return ends_with(file, evaluators[evaluator].file) &&
           cbx_hook_origin_of(code) == CBX_HOOK_IMAGE;
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

/* True if the text of this evaluator is one of the program that was not judged. */
static bool is_unjudged(PyFrameObject *frame, size_t evaluator)
{
    PyObject *text = text_of(frame, evaluator);
    Py_ssize_t len = 0;
    const char *bytes = text != NULL ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    bool unjudged = bytes != NULL &&
                    !is_judged(bytes, (size_t)len, evaluators[evaluator].checked) &&
                    !is_of_library(frame, bytes);
    PyErr_Clear();
    Py_XDECREF(text);
    return unjudged;
}

static bool evaluates_unjudged(PyFrameObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    char name[64];
    bool unjudged = false;
    cbx_hook_code_text(code, "co_name", name, sizeof(name));
    for (size_t i = 0; i < sizeof(evaluators) / sizeof(evaluators[0]) && !unjudged; i++) {
        unjudged = is_evaluator(code, name, i) && is_unjudged(frame, i);
    }
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
