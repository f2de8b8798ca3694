/* SPDX-License-Identifier: MIT
 * Judged texts are compiled here, by CPython's own compile(): a C function, called without any
 * code of a program in between. A cell is compiled statement by statement, so its trees are
 * split: a program can add attributes to the classes of trees, which compile() would read, and
 * code from such classes counts as made at run time. */
#include "docker/inside/python_guard/python_guard.h"

#include <stdlib.h>
#include <string.h>

enum {
    ONLY_AST = 0x400,
    TOP_LEVEL_AWAIT = 0x2000,
    /* flags of `from __future__ import ...`, which also apply to later cells */
    FUTURES = 0x1FE0000,
    CLASSES_MAX = 256,
    MEMBERS_MAX = 4096,
};

static PyObject *compile_text; /* CPython's compile(), borrowed */
static PyObject *expression;   /* the class of statements that are expressions */
static PyObject *text;         /* source of the run, a str */
static long futures;

/* --- the classes of trees --------------------------------------------------------------------- */

/* Dictionaries of the classes, and their contents before a program ran. */
static struct {
    PyObject *dictionaries[CLASSES_MAX];
    Py_ssize_t sizes[CLASSES_MAX];
    size_t count;
    struct {
        PyObject *name, *value;
    } members[MEMBERS_MAX];
    size_t member_count;
} trees;

/* Returns the dictionary of a class; its attribute __dict__ is a view of it. New reference. */
static PyObject *dictionary_of(PyObject *type)
{
    PyObject *gc = PyImport_ImportModule("gc"), *view = PyObject_GetAttrString(type, "__dict__");
    PyObject *within =
        gc != NULL && view != NULL ? PyObject_CallMethod(gc, "get_referents", "O", view) : NULL;
    PyObject *found = within != NULL && PyList_Size(within) == 1 ? PyList_GetItem(within, 0) : NULL;
    Py_XINCREF(found);
    Py_XDECREF(within);
    Py_XDECREF(view);
    Py_XDECREF(gc);
    return found;
}

static bool note_class(PyObject *type)
{
    PyObject *dictionary = dictionary_of(type), *name, *value;
    Py_ssize_t at = 0;
    if (dictionary == NULL || !PyDict_Check(dictionary) || trees.count == CLASSES_MAX ||
        trees.member_count + (size_t)PyDict_Size(dictionary) > MEMBERS_MAX) {
        Py_XDECREF(dictionary);
        return false;
    }
    trees.sizes[trees.count] = PyDict_Size(dictionary);
    trees.dictionaries[trees.count++] = dictionary;
    while (PyDict_Next(dictionary, &at, &name, &value)) {
        Py_INCREF(name);
        Py_INCREF(value);
        trees.members[trees.member_count].name = name;
        trees.members[trees.member_count++].value = value;
    }
    return true;
}

/* The module ast adds to the classes of _ast when it is first imported, so it is imported first. */
static bool note_classes(void)
{
    PyObject *ast = PyImport_ImportModule("ast"), *module = PyImport_ImportModule("_ast"), *name,
             *value;
    PyObject *names = module != NULL ? PyModule_GetDict(module) : NULL;
    Py_ssize_t at = 0;
    bool good = ast != NULL && names != NULL;
    while (good && PyDict_Next(names, &at, &name, &value)) {
        good = !PyType_Check(value) || note_class(value);
    }
    expression = good ? PyObject_GetAttrString(module, "Expr") : NULL;
    Py_XDECREF(module);
    Py_XDECREF(ast);
    return expression != NULL;
}

static bool are_unchanged(void)
{
    size_t member = 0;
    for (size_t i = 0; i < trees.count; i++) {
        PyObject *name, *value;
        Py_ssize_t at = 0;
        if (PyDict_Size(trees.dictionaries[i]) != trees.sizes[i]) {
            return false;
        }
        while (PyDict_Next(trees.dictionaries[i], &at, &name, &value)) {
            if (trees.members[member].name != name || trees.members[member].value != value) {
                return false;
            }
            member++;
        }
    }
    return true;
}

/* --- compiling -------------------------------------------------------------------------------- */

bool cbx_hook_compile_begin(void)
{
    compile_text = cbx_hook_builtin_compile();
    return note_classes();
}

void cbx_hook_compile_set(const char *bytes, size_t len)
{
    Py_XDECREF(text);
    text = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)len, "replace");
    if (text == NULL) {
        abort(); /* out of memory */
    }
}

/* compile(what, name, mode, flags, dont_inherit=True) */
static PyObject *compile_as(PyObject *what, PyObject *name, const char *mode, long flags)
{
    PyObject *code = PyObject_CallFunction(compile_text, "OOsli", what, name, mode, flags, 1);
    return code;
}

PyObject *cbx_hook_compile_source(const char *bytes, size_t len, PyObject *name)
{
    PyObject *what = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)len);
    PyObject *code = what != NULL ? compile_as(what, name, "exec", 0) : NULL;
    Py_XDECREF(what);
    return code;
}

PyObject *cbx_hook_compile_program(PyObject *self, PyObject *name)
{
    (void)self;
    if (text == NULL || !PyUnicode_CheckExact(name)) {
        PyErr_SetString(PyExc_RuntimeError, "no program runs");
        return NULL;
    }
    PyObject *code = compile_as(text, name, "exec", 0);
    cbx_hook_codes_add(code, CBX_HOOK_JUDGED);
    return code;
}

/* Makes a tree for one statement: an expression at the end shows its value. The class is not
 * called, as a program may have replaced the function behind the call. */
static PyObject *tree_of(PyObject *statement, bool shown)
{
    PyObject *empty = PyUnicode_FromString(shown ? "0" : ""), *name = PyUnicode_FromString("");
    PyObject *tree = empty != NULL && name != NULL
                         ? compile_as(empty, name, shown ? "single" : "exec", ONLY_AST)
                         : NULL;
    PyObject *members = tree != NULL ? PyObject_GenericGetDict(tree, NULL) : NULL;
    PyObject *body = members != NULL ? PyDict_GetItemString(members, "body") : NULL;
    PyObject *list = body != NULL ? PyList_New(1) : NULL;
    bool good = list != NULL;
    if (good) {
        Py_INCREF(statement);
        PyList_SetItem(list, 0, statement);
        good = PyDict_SetItemString(members, "body", list) == 0;
    }
    Py_XDECREF(list);
    Py_XDECREF(members);
    Py_XDECREF(empty);
    Py_XDECREF(name);
    if (!good) {
        Py_CLEAR(tree);
    }
    return tree;
}

static PyObject *compile_statement(PyObject *statement, bool last, PyObject *name)
{
    bool shown = last && (PyObject *)Py_TYPE(statement) == expression;
    PyObject *tree = tree_of(statement, shown);
    PyObject *code =
        tree != NULL ? compile_as(tree, name, shown ? "single" : "exec", futures | TOP_LEVEL_AWAIT)
                     : NULL;
    PyObject *flags = code != NULL ? PyObject_GetAttrString(code, "co_flags") : NULL;
    futures |= flags != NULL ? PyLong_AsLong(flags) & FUTURES : 0;
    Py_XDECREF(flags);
    Py_XDECREF(tree);
    return code;
}

/* Returns the raised exception as an object. New reference, or NULL. */
static PyObject *take_exception(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

/* Appends the code of each statement; for a statement that cannot be compiled, such as `return`
 * at the top level, its exception, which is the last item: the statements before it run. */
static bool add_statements(PyObject *codes, PyObject *body, PyObject *name)
{
    bool unchanged = are_unchanged(), compiled = true, added = true;
    for (Py_ssize_t i = 0; compiled && added && i < PyList_Size(body); i++) {
        PyObject *code =
            compile_statement(PyList_GetItem(body, i), i + 1 == PyList_Size(body), name);
        compiled = code != NULL;
        if (compiled && unchanged) {
            cbx_hook_codes_add(code, CBX_HOOK_JUDGED);
        }
        code = compiled ? code : take_exception();
        added = code != NULL && PyList_Append(codes, code) == 0;
        Py_XDECREF(code);
    }
    return added;
}

static PyObject *compile_statements(PyObject *name)
{
    PyObject *tree = compile_as(text, name, "exec", futures | ONLY_AST);
    PyObject *members = tree != NULL ? PyObject_GenericGetDict(tree, NULL) : NULL;
    PyObject *body = members != NULL ? PyDict_GetItemString(members, "body") : NULL;
    PyObject *codes = body != NULL && PyList_Check(body) ? PyList_New(0) : NULL;
    if (codes != NULL && !add_statements(codes, body, name)) {
        Py_CLEAR(codes);
    }
    Py_XDECREF(members);
    Py_XDECREF(tree);
    return codes;
}

PyObject *cbx_hook_compile_cell(PyObject *self, PyObject *name)
{
    (void)self;
    if (text == NULL || !PyUnicode_CheckExact(name)) {
        PyErr_SetString(PyExc_RuntimeError, "no cell runs");
        return NULL;
    }
    /* no finalizer of the program may run between the check of the classes and their use */
    int collects = PyGC_Disable();
    PyObject *codes = compile_statements(name);
    if (collects) {
        PyGC_Enable();
    }
    return codes;
}
