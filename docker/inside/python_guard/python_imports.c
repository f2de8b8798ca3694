/* SPDX-License-Identifier: MIT
 * The imported modules and the importing code, checked against the executor's list
 * (analyzer/imports.h). */
#include "docker/inside/python_guard/python_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list of a RUN frame: marks and names, in the order of the names' bytes. */
static struct {
    char *bytes;
    const char **entries;
    size_t count;
} modules;

static int compare_module(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry + 1);
}

/* Returns the mark of the longest name that covers this module; 0 = none. */
static char mark_of_module(const char *module)
{
    char name[256];
    snprintf(name, sizeof(name), "%s", module);
    for (;;) {
        const char *const *entry = modules.count == 0
                                       ? NULL
                                       : bsearch(name, modules.entries, modules.count,
                                                 sizeof(*modules.entries), compare_module);
        if (entry != NULL) {
            return (*entry)[0];
        }
        char *dot = strrchr(name, '.');
        if (dot == NULL) {
            return 0;
        }
        *dot = '\0';
    }
}

bool cbx_hook_imports_set(const char *bytes, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += bytes[i] == '\0';
    }
    char *copy = malloc(len + 1);
    const char **entries = malloc((count + 1) * sizeof(*entries));
    bool good = copy != NULL && entries != NULL && len > 0 && bytes[len - 1] == '\0';
    if (good) {
        memcpy(copy, bytes, len);
    }
    for (size_t i = 0, at = 0; i < count && good; i++, at += strlen(copy + at) + 1) {
        entries[i] = copy + at;
        good = entries[i][0] != '\0' && (i == 0 || strcmp(entries[i - 1] + 1, entries[i] + 1) < 0);
    }
    if (!good) {
        free(copy);
        free(entries);
        return false;
    }
    free(modules.bytes);
    free(modules.entries);
    modules.bytes = copy;
    modules.entries = entries;
    modules.count = count;
    return true;
}

/* Returns the mark of a denied module; else 0. */
static char denial_of_module(const char *module)
{
    char mark = cbx_hook_refuses(CBX_GUARD_IMPORT) ? mark_of_module(module) : 0;
    return mark == '-' || mark == '=' ? mark : 0;
}

/* --- the importing code ----------------------------------------------------------------------- */

/* IPython's magics and timeit compile texts that are constants of judged code. */
static bool runs_judged_texts(PyFrameObject *frame)
{
    static const char *const files[] = { "/timeit.py", "/IPython/core/magics/execution.py",
                                         "/IPython/core/interactiveshell.py" };
    char file[1024];
    PyObject *code = frame != NULL ? (PyObject *)PyFrame_GetCode(frame) : NULL;
    bool runs = false;
    if (code != NULL && cbx_hook_origin_of(code) == CBX_HOOK_IMAGE) {
        cbx_hook_code_text(code, "co_filename", file, sizeof(file));
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
            size_t len = strlen(file), end = strlen(files[i]);
            runs |= len >= end && strcmp(file + len - end, files[i]) == 0;
        }
    }
    Py_XDECREF(code);
    return runs;
}

/* Tuple of code objects: functions of the kernel that import libraries for the kernel. They
 * import by computed names. */
static PyObject *kernel_functions;

static bool is_for_kernel(PyObject *code)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(kernel_functions); i++) {
        if (PyTuple_GetItem(kernel_functions, i) == code) {
            return true;
        }
    }
    return false;
}

/* True if code of the image imports the module on its own behalf, rather than for its caller. */
static bool image_imports(PyFrameObject *frame, PyObject *code, const char *module)
{
    char name[16];
    cbx_hook_code_text(code, "co_name", name, sizeof(name));
    return cbx_hook_frame_imports(frame) || strcmp(name, "<module>") == 0 || is_for_kernel(code) ||
           cbx_hook_code_has(code, "co_consts", module, true);
}

enum answer { ASK_CALLER, MAY, MAY_NOT };

/* `is_run`: the frame runs a text of the judged code that follows. */
static enum answer ask_frame(PyFrameObject *frame, const char *module, bool judged_too,
                             bool *is_run)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyFrameObject *back = PyFrame_GetBack(frame);
    enum answer answer = MAY_NOT;
    switch (cbx_hook_origin_of(code)) {
    case CBX_HOOK_IMAGE:
        answer = image_imports(frame, code, module) ? MAY : ASK_CALLER;
        break;
    case CBX_HOOK_JUDGED:
        if (!judged_too && (*is_run ? cbx_hook_code_has(code, "co_consts", module, false)
                                    : cbx_hook_frame_imports(frame))) {
            answer = MAY;
        }
        break;
    case CBX_HOOK_UNKNOWN:
        if (cbx_hook_frame_imports(frame) && runs_judged_texts(back)) {
            *is_run = true;
            answer = ASK_CALLER;
        }
        break;
    }
    Py_XDECREF((PyObject *)back);
    Py_DECREF(code);
    return answer;
}

/* Native code of a library has no frame. A call that looks like native code may come from a
 * library's function, or from judged code. */
static bool is_native_caller(PyFrameObject *frame, bool judged_too)
{
    PyObject *code = frame != NULL ? (PyObject *)PyFrame_GetCode(frame) : NULL;
    enum cbx_hook_origin origin = code != NULL ? cbx_hook_origin_of(code) : CBX_HOOK_UNKNOWN;
    Py_XDECREF(code);
    return origin == CBX_HOOK_IMAGE || (origin == CBX_HOOK_JUDGED && !judged_too);
}

/* True if the importing code may import a denied module. Code of the image may, and judged code may
 * by its judged statement. Code made at run time, and imports by computed names, may not. */
static bool may_import(const char *module, bool judged_too, bool native)
{
    PyFrameObject *frame = PyEval_GetFrame();
    bool is_run = false;
    if (native && is_native_caller(frame, judged_too)) {
        return true;
    }
    enum answer answer = ASK_CALLER;
    Py_XINCREF((PyObject *)frame);
    while (frame != NULL && answer == ASK_CALLER) {
        answer = ask_frame(frame, module, judged_too, &is_run);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF((PyObject *)frame);
        frame = back;
    }
    Py_XDECREF((PyObject *)frame);
    return answer == MAY;
}

int cbx_hook_check_module(const char *module, const char *around, bool native)
{
    char mark = denial_of_module(module);
    if (mark == 0) {
        return 0;
    }
    if (around != NULL && denial_of_module(around) != 0) {
        module = around;
    }
    if (may_import(module, mark == '=', native)) {
        return 0;
    }
    if (cbx_hook_report(CBX_GUARD_IMPORT, module)) {
        PyErr_Format(PyExc_ImportError, "the policy denies the module '%s'%s", module,
                     mark == '=' ? "" : " to code that was not judged");
    }
    return -1;
}

/* Both are str. */
static int check_name(PyObject *name, PyObject *around, bool native)
{
    const char *bytes = PyUnicode_AsUTF8AndSize(name, NULL),
               *outer = around != NULL ? PyUnicode_AsUTF8AndSize(around, NULL) : NULL;
    PyErr_Clear(); /* no module has a name that is not UTF-8 */
    return bytes == NULL ? 0 : cbx_hook_check_module(bytes, outer, native);
}

/* `from NAME import A, B`: each item may be a module, and an item that is listed as not denied
 * is looked up by its full name. */
static int check_from(PyObject *name, PyObject *list)
{
    int denied = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(list) && !denied; i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        PyObject *whole = PyUnicode_Check(item) ? PyUnicode_FromFormat("%U.%U", name, item) : NULL;
        PyErr_Clear();
        denied = whole != NULL ? check_name(whole, name, false) : check_name(name, NULL, false);
        Py_XDECREF(whole);
    }
    return denied;
}

static PyObject *import_before, *find_before; /* the functions called if nothing is refused */

void cbx_hook_imports_begin(PyObject *import, PyObject *find, PyObject *functions)
{
    Py_INCREF(import);
    Py_INCREF(find);
    Py_INCREF(functions);
    kernel_functions = functions;
    import_before = import;
    find_before = find;
}

/* Returns an item of the importing module's namespace, if it has exactly the type str. Borrowed,
 * or NULL. */
static PyObject *text_in(PyObject *globals, const char *name)
{
    PyObject *item = PyDict_GetItemString(globals, name);
    return item != NULL && PyUnicode_CheckExact(item) ? item : NULL;
}

/* Returns the package of a relative import (PEP 328, PEP 366), as a new str. */
static PyObject *package_of(PyObject *globals)
{
    PyObject *package = text_in(globals, "__package__"), *name = text_in(globals, "__name__");
    if (package != NULL) {
        Py_INCREF(package);
        return package;
    }
    if (name != NULL && PyDict_GetItemString(globals, "__path__") == NULL) {
        Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, PyUnicode_GetLength(name), -1);
        return PyUnicode_Substring(name, 0, dot < 0 ? 0 : dot);
    }
    Py_XINCREF(name);
    return name != NULL ? name : PyUnicode_FromString("");
}

/* Returns the absolute name of a relatively imported module. New reference. */
static PyObject *absolute_name(PyObject *name, PyObject *globals, long level, PyObject *items)
{
    if (!PyDict_CheckExact(globals)) {
        PyErr_SetString(PyExc_TypeError, "globals must be a dict");
        return NULL;
    }
    PyObject *package = package_of(globals);
    Py_ssize_t end = package != NULL ? PyUnicode_GetLength(package) : 0;
    if (package == NULL || end == 0) {
        Py_XDECREF(package);
        PyErr_SetString(PyExc_ImportError,
                        "attempted relative import with no known parent package");
        return NULL;
    }
    for (; level > 1 && end > 0; level--) {
        end = PyUnicode_FindChar(package, '.', 0, end, -1);
    }
    bool within = PyUnicode_FindChar(name, '.', 0, PyUnicode_GetLength(name), 1) >= 0;
    PyObject *base = end > 0 ? PyUnicode_Substring(package, 0, end) : NULL, *whole = NULL;
    Py_DECREF(package);
    if (base == NULL) {
        PyErr_SetString(PyExc_ImportError, "attempted relative import beyond top-level package");
    } else if (PyTuple_Size(items) == 0 && within) {
        PyErr_SetString(PyExc_ImportError,
                        "a relative import without names: use importlib.import_module");
    } else {
        whole = PyUnicode_GetLength(name) > 0 ? PyUnicode_FromFormat("%U.%U", base, name)
                                              : PyUnicode_FromObject(base);
    }
    Py_XDECREF(base);
    return whole;
}

enum { NAME, GLOBALS, LOCALS, FROM, LEVEL, ARGUMENTS };

/* Borrowed; NULL = not given. */
static bool take_arguments(PyObject *const *args, Py_ssize_t count, PyObject *keywords,
                           PyObject *given[ARGUMENTS])
{
    static const char *const names[] = { "name", "globals", "locals", "fromlist", "level" };
    Py_ssize_t named = keywords != NULL ? PyTuple_Size(keywords) : 0;
    bool good = count <= ARGUMENTS;
    for (Py_ssize_t i = 0; i < count && good; i++) {
        given[i] = args[i];
    }
    for (Py_ssize_t i = 0; i < named && good; i++) {
        int at = 0;
        while (at < ARGUMENTS &&
               PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, i), names[at]) != 0) {
            at++;
        }
        good = at < ARGUMENTS && given[at] == NULL;
        if (good) {
            given[at] = args[count + i];
        }
    }
    good = good && given[NAME] != NULL && PyUnicode_Check(given[NAME]);
    if (!good) {
        PyErr_SetString(PyExc_TypeError,
                        "__import__() takes name, globals, locals, fromlist and level");
    }
    return good;
}

/* Copies the items as a tuple of exact str: a subclass may return a different text at each use.
 * New reference. */
static PyObject *copy_items(PyObject *from)
{
    if (from == NULL || from == Py_None) {
        return PyTuple_New(0);
    }
    PyObject *list = PySequence_List(from);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        PyObject *plain = PyUnicode_Check(item) ? PyUnicode_FromObject(item) : NULL;
        if (PyUnicode_Check(item) && (plain == NULL || PyList_SetItem(list, i, plain) != 0)) {
            Py_CLEAR(list);
        }
    }
    PyObject *items = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return items;
}

/* True for the arguments of PyImport_Import(): the globals of the frame twice, and an empty
 * list. */
static bool is_native_call(PyObject *const given[ARGUMENTS])
{
    return given[LEVEL] != NULL && given[GLOBALS] == given[LOCALS] &&
           given[GLOBALS] == PyEval_GetGlobals() && PyList_CheckExact(given[FROM]) &&
           PyList_Size(given[FROM]) == 0;
}

/* __import__(name, globals=None, locals=None, fromlist=(), level=0). The checked names are the
 * imported ones: names are copied, and a relative one is resolved here. */
PyObject *cbx_hook_import(PyObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords)
{
    PyObject *given[ARGUMENTS] = { NULL }, *name = NULL, *from = NULL, *module = NULL;
    (void)self;
    if (!take_arguments(args, count, keywords, given)) {
        return NULL;
    }
    PyObject *globals = given[GLOBALS] != NULL ? given[GLOBALS] : Py_None;
    long level = given[LEVEL] != NULL ? PyLong_AsLong(given[LEVEL]) : 0;
    if (PyErr_Occurred() || (from = copy_items(given[FROM])) == NULL) {
        return NULL;
    }
    if (!cbx_hook_refuses(CBX_GUARD_IMPORT) || level < 0) {
        module = PyImport_ImportModuleLevelObject(given[NAME], globals, Py_None, from, (int)level);
        Py_DECREF(from);
        return module;
    }
    name = PyUnicode_FromObject(given[NAME]);
    if (name != NULL && level > 0) {
        PyObject *relative = name;
        name = absolute_name(relative, globals, level, from);
        Py_DECREF(relative);
    }
    bool allowed = name != NULL &&
                   (PyTuple_Size(from) > 0 ? check_from(name, from) == 0
                                           : check_name(name, NULL, is_native_call(given)) == 0);
    if (allowed) {
        module = PyImport_ImportModuleLevelObject(name, NULL, NULL, from, 0);
    }
    Py_XDECREF(name);
    Py_DECREF(from);
    return module;
}

static _Thread_local PyObject *loading; /* the checked module that is being searched for */

/* _find_and_load(name, import_) of importlib: calls of Python's part of importlib have not been
 * checked; the interpreter, and the native code of a library, call it with their own import
 * function. */
PyObject *cbx_hook_find_and_load(PyObject *self, PyObject *args)
{
    PyObject *given, *import, *before = loading, *module = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "UO", &given, &import)) {
        return NULL;
    }
    PyObject *name = PyUnicode_FromObject(given);
    if (name != NULL && (import == import_before || check_name(name, NULL, false) == 0)) {
        loading = name;
        module = PyObject_CallFunctionObjArgs(find_before, name, import, NULL);
        loading = before;
    }
    Py_XDECREF(name);
    return module;
}

int cbx_hook_check_loaded(const char *module)
{
    const char *looked_for = loading != NULL ? PyUnicode_AsUTF8AndSize(loading, NULL) : NULL;
    bool checked = looked_for != NULL && strcmp(looked_for, module) == 0;
    return checked ? 0 : cbx_hook_check_module(module, NULL, false);
}
