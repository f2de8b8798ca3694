/* SPDX-License-Identifier: MIT
 * The guard in Python: an audit hook (PEP 578, PySys_AddAuditHook) of the kernel's process, which a program
 * cannot remove. It refuses and reports what no system call shows, and reports what Landlock refuses without
 * a word: files that are outside. An extension module of the stable ABI (PEP 384) for python_kernel.py. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>

#include "docker/frame.h"
#include "docker/inside/filter.h"
#include "docker/inside/places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of Python 3.8 and on (PEP 578), and not in the headers of the limited API. */
PyAPI_FUNC(int) PySys_AddAuditHook(int (*hook)(const char *, PyObject *, void *), void *context);

static uint32_t refused; /* bits of policies/guard.def; nothing between runs */
static PyObject *report; /* (refusal, what) -> None */
static PyObject *
    is_ours; /* (words) -> bool: does code of the image call that has one of these words, rather than the program's own? */
static PyObject *may_import; /* (module, judged code may not either, native code asks) -> bool */
static PyObject *own; /* tuple of the code objects of these functions and of what they call */
static _Thread_local bool inside; /* one of them is called */
static bool moved;                /* the program has changed the working directory */

/* True when one of them runs now. A handler of the program for a signal may run between two of their lines. */
static bool is_inside(void)
{
    bool found = false;
    PyFrameObject *frame = inside ? PyEval_GetFrame() : NULL;
    PyCodeObject *code = frame != NULL ? PyFrame_GetCode(frame) : NULL;
    for (Py_ssize_t i = 0; code != NULL && i < PyTuple_Size(own) && !found; i++) {
        found = PyTuple_GetItem(own, i) == (PyObject *)code;
    }
    Py_XDECREF((PyObject *)code);
    return found;
}

/* Calls one of them. */
static PyObject *call_own(PyObject *function, PyObject *arguments)
{
    bool was_inside = inside;
    inside = true;
    PyObject *result = arguments != NULL ? PyObject_CallObject(function, arguments) : NULL;
    inside = was_inside;
    Py_XDECREF(arguments);
    return result;
}

/* --- refusals --------------------------------------------------------------------------------- */

/* False when that raised an exception, as an interrupt. */
static bool report_refusal(uint32_t refusal, const char *what)
{
    PyObject *done = call_own(report, Py_BuildValue("(Is)", (int)refusal, what));
    Py_XDECREF(done);
    return done != NULL;
}

/* Reports, and raises PermissionError. What the report itself raises goes before. */
static int refuse(uint32_t refusal, const char *what, PyObject *name)
{
    if (!report_refusal(refusal, what)) {
        return -1;
    }
    errno = EACCES;
    if (name != NULL) {
        PyErr_SetFromErrnoWithFilenameObject(PyExc_PermissionError, name);
    } else {
        PyErr_SetFromErrno(PyExc_PermissionError);
    }
    return -1;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* No link is on the way to the file, or there is no such file. */
static bool has_no_link(const char *path)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 || errno == ENOENT;
}

/* Paths that need no closer look, as most have. Nothing in the image's libraries leads outside. */
static bool is_plainly_inside(const char *path, bool writes)
{
    if (strstr(path, "..") != NULL || (path[0] != '/' && moved)) {
        return false;
    }
    if (begins(path, "/dev/fd/") || begins(path, "/dev/std") ||
        (!writes && begins(path, "/usr/"))) {
        return true;
    }
    return (path[0] != '/' || begins(path, "/workspace/") || begins(path, "/tmp/")) &&
           has_no_link(path);
}

/* The path without links; of a file that does not exist, that of its folder. False when neither is known. */
static bool resolve(const char *path, char real[PATH_MAX], bool *exists)
{
    char folder[PATH_MAX];
    *exists = realpath(path, real) != NULL;
    if (*exists) {
        return true;
    }
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return realpath(".", real) != NULL;
    }
    slash[slash == folder ? 1 : 0] = '\0';
    return realpath(folder, real) != NULL;
}

static int check_file(PyObject *name, bool writes)
{
    uint32_t refusal = writes ? CBX_GUARD_WRITE : CBX_GUARD_READ;
    PyObject *bytes = NULL;
    if ((refused >> refusal & 1) == 0 || (!PyUnicode_Check(name) && !PyBytes_Check(name)) ||
        PyUnicode_FSConverter(name, &bytes) == 0) {
        PyErr_Clear(); /* the call itself says what is wrong with it */
        return 0;
    }
    const char *path = PyBytes_AsString(bytes);
    char real[PATH_MAX];
    bool exists = false;
    struct stat status;
    int result = 0;
    if (!is_plainly_inside(path, writes) && resolve(path, real, &exists) && (exists || writes) &&
        !cbx_place_is_inside(real, writes) &&
        (writes || stat(real, &status) != 0 || !S_ISDIR(status.st_mode))) {
        result = refuse(refusal, path, name);
    }
    Py_DECREF(bytes);
    return result;
}

/* (path, mode, flags) */
static int check_open(PyObject *args)
{
    PyObject *flags = PyTuple_GetItem(args, 2);
    long bits = flags != NULL && PyLong_Check(flags) ? PyLong_AsLong(flags) : 0;
    PyErr_Clear();
    PyObject *path = PyTuple_GetItem(args, 0);
    return path == NULL ? -1
                        : check_file(path, (bits & O_ACCMODE) != O_RDONLY ||
                                               (bits & (O_CREAT | O_TRUNC)) != 0);
}

static int note_moved(PyObject *args)
{
    (void)args;
    moved = true;
    return 0;
}

/* (path) */
static int check_read(PyObject *args)
{
    PyObject *path = PyTuple_GetItem(args, 0);
    return path == NULL ? -1 : check_file(path, false);
}

static int check_changed(PyObject *args)
{
    PyObject *path = PyTuple_GetItem(args, 0);
    return path == NULL ? -1 : check_file(path, true);
}

/* (what it leads to, link). A relative link is relative to its folder; only where that is not clear, what it
 * leads to can be another file than the one that is looked at here, and Landlock refuses that one. */
static int check_link(PyObject *args)
{
    PyObject *to = PyTuple_GetItem(args, 0);
    return to == NULL ? -1 : check_file(to, false);
}

/* (from, to) */
static int check_renamed(PyObject *args)
{
    PyObject *to = PyTuple_GetItem(args, 1);
    return check_changed(args) != 0 || to == NULL ? -1 : check_file(to, true);
}

/* --- native code, the interpreter, pickles ---------------------------------------------------- */

/* Refuses it to the program's own code. `words`, between blanks: a function of the image that calls has
 * one of them in its names; without it, it only passes a call of the program on. "ctypes": its file imports that.
 * "": it is the import system. */
static int refuse_program(uint32_t refusal, const char *words, const char *what)
{
    if ((refused >> refusal & 1) == 0) {
        return 0;
    }
    PyObject *ours = call_own(is_ours, Py_BuildValue("(s)", words));
    int trusted = ours == NULL ? -1 : PyObject_IsTrue(ours);
    Py_XDECREF(ours);
    return trusted < 0 ? -1 : trusted ? 0 : refuse(refusal, what, NULL);
}

static int check_native(PyObject *args)
{
    (void)args;
    return refuse_program(CBX_GUARD_NATIVE, "ctypes", "ctypes");
}

static int check_frames(PyObject *args)
{
    (void)args;
    return refuse_program(CBX_GUARD_REFLECT,
                          "_getframe currentframe _current_frames "
                          "_current_exceptions",
                          "a frame");
}

static int check_objects(PyObject *args)
{
    (void)args;
    return refuse_program(CBX_GUARD_REFLECT, "get_objects get_referrers get_referents",
                          "objects of the garbage collector");
}

static int check_code(PyObject *args)
{
    (void)args;
    return refuse_program(CBX_GUARD_REFLECT, "CodeType FunctionType replace __code__",
                          "a code object");
}

/* (object, name, ...): what leads from an object to frames and code. */
static int check_attribute(PyObject *args)
{
    static const char *const names[] = { "tb_frame", "gi_frame", "cr_frame", "ag_frame",
                                         "gi_code",  "cr_code",  "ag_code" };
    PyObject *given = PyTuple_GetItem(args, 1);
    PyObject *name = given != NULL && PyUnicode_Check(given) ? PyUnicode_AsUTF8String(given) : NULL;
    int result = 0;
    for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(PyBytes_AsString(name), names[i]) == 0) {
            result = refuse_program(CBX_GUARD_REFLECT, names[i], names[i]);
        }
    }
    Py_XDECREF(name);
    if (result == 0) {
        PyErr_Clear();
    }
    return result;
}

static int check_marshalled(PyObject *args)
{
    (void)args;
    return refuse_program(CBX_GUARD_UNPICKLE, "", "marshal");
}

/* Modules whose classes hold data and do nothing when they are made; of others, those names alone. */
static const struct {
    const char *module, *names; /* NULL = all; else between blanks */
} harmless[] = {
    { "builtins",
      " set frozenset complex bytearray bytes range slice dict list tuple int float str bool "
      "object "
      "Exception BaseException ValueError TypeError KeyError IndexError RuntimeError OSError " },
    { "collections", NULL },
    { "copyreg", " _reconstructor __newobj__ __newobj_ex__ " },
    { "copy_reg", " _reconstructor " },
    { "datetime", NULL },
    { "decimal", NULL },
    { "fractions", NULL },
    { "uuid", NULL },
    { "array", NULL },
    { "ipaddress", NULL },
    { "pathlib", NULL },
    { "zoneinfo", NULL },
    { "_codecs", " encode " },
    { "numpy", " ndarray dtype " },
    { "numpy.core.multiarray", " _reconstruct scalar " },
    { "numpy.core.numeric", " _frombuffer " },
    { "numpy._core.multiarray", " _reconstruct scalar " },
    { "numpy._core.numeric", " _frombuffer " },
    { "pandas._libs", NULL },
    { "pandas.core.frame", " DataFrame " },
    { "pandas.core.series", " Series " },
    { "pandas.core.internals", NULL },
    { "pandas.core.indexes", NULL },
    { "pandas.core.arrays", NULL },
};

static bool is_harmless(const char *module, const char *name)
{
    char word[128];
    snprintf(word, sizeof(word), " %s ", name);
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        size_t len = strlen(harmless[i].module);
        bool same = begins(module, harmless[i].module) && module[len] == '\0';
        bool within = begins(module, harmless[i].module) && module[len] == '.';
        if (harmless[i].names == NULL ? same || within
                                      : same && strstr(harmless[i].names, word) != NULL) {
            return strchr(name, '.') == NULL;
        }
    }
    return false;
}

static int check_module(const char *module, const char *around, bool native);

/* (module, name) */
static int check_pickle(PyObject *args)
{
    PyObject *parts[2] = { PyTuple_GetItem(args, 0), PyTuple_GetItem(args, 1) };
    char what[CBX_FRAME_BLOCKED_MAX] = "", from[CBX_FRAME_BLOCKED_MAX] = "";
    if (parts[0] == NULL || parts[1] == NULL) {
        return 0;
    }
    PyObject *module = PyUnicode_AsUTF8String(parts[0]), *name = PyUnicode_AsUTF8String(parts[1]);
    bool harmless_one = module != NULL && name != NULL &&
                        is_harmless(PyBytes_AsString(module), PyBytes_AsString(name));
    snprintf(from, sizeof(from), "%s", module != NULL ? PyBytes_AsString(module) : "");
    snprintf(what, sizeof(what), "%s.%s", module != NULL ? PyBytes_AsString(module) : "?",
             name != NULL ? PyBytes_AsString(name) : "?");
    Py_XDECREF(module);
    Py_XDECREF(name);
    PyErr_Clear();
    return harmless_one                               ? 0
           : (refused >> CBX_GUARD_UNPICKLE & 1) != 0 ? refuse(CBX_GUARD_UNPICKLE, what, NULL)
                                                      : check_module(from, NULL, false);
}

/* --- the hook --------------------------------------------------------------------------------- */

static const struct {
    const char *event;
    int (*check)(PyObject *args); /* -1 and an exception, or 0 */
} checks[] = {
    { "open", check_open },
    { "os.chdir", note_moved },
    { "sqlite3.connect", check_read },
    { "os.remove", check_changed },
    { "os.rename", check_renamed },
    { "os.mkdir", check_changed },
    { "os.rmdir", check_changed },
    { "os.truncate", check_changed },
    { "os.chmod", check_changed },
    { "os.chown", check_changed },
    { "os.utime", check_changed },
    { "os.symlink", check_link },
    { "os.link", check_link },
    { "ctypes.dlopen", check_native },
    { "ctypes.dlsym", check_native },
    { "ctypes.dlsym/handle", check_native },
    { "ctypes.call_function", check_native },
    { "ctypes.cdata", check_native },
    { "ctypes.cdata/buffer", check_native },
    { "ctypes.string_at", check_native },
    { "ctypes.wstring_at", check_native },
    { "pickle.find_class", check_pickle },
    { "marshal.load", check_marshalled },
    { "marshal.loads", check_marshalled },
    { "sys._getframe", check_frames },
    { "sys._current_frames", check_frames },
    { "sys._current_exceptions", check_frames },
    { "gc.get_objects", check_objects },
    { "gc.get_referrers", check_objects },
    { "gc.get_referents", check_objects },
    { "code.__new__", check_code },
    { "function.__new__", check_code },
    { "object.__getattr__", check_attribute },
};

static int hook(const char *event, PyObject *args, void *context)
{
    (void)context;
    if (refused == 0 || strchr("ocpsgfm", event[0]) == NULL || is_inside()) {
        return 0; /* most events */
    }
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strcmp(event, checks[i].event) == 0) {
            return checks[i].check(args);
        }
    }
    return 0;
}

/* --- imports ---------------------------------------------------------------------------------- */

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

/* The mark of the longest name that covers this module; 0 = none. */
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

/* False, with an exception, for a list that no host sends. */
static bool set_modules(const char *bytes, Py_ssize_t len)
{
    size_t count = 0;
    for (Py_ssize_t i = 0; i < len; i++) {
        count += bytes[i] == '\0';
    }
    char *copy = malloc((size_t)len + 1);
    const char **entries = malloc((count + 1) * sizeof(*entries));
    bool good = copy != NULL && entries != NULL && len > 0 && bytes[len - 1] == '\0';
    if (good) {
        memcpy(copy, bytes, (size_t)len);
    }
    for (size_t i = 0, at = 0; i < count && good; i++, at += strlen(copy + at) + 1) {
        entries[i] = copy + at;
        good = entries[i][0] != '\0' && (i == 0 || strcmp(entries[i - 1] + 1, entries[i] + 1) < 0);
    }
    if (!good) {
        free(copy);
        free(entries);
        PyErr_SetString(PyExc_ValueError, "the list of modules is malformed");
        return false;
    }
    free(modules.bytes);
    free(modules.entries);
    modules.bytes = copy;
    modules.entries = entries;
    modules.count = count;
    return true;
}

/* The mark of a module that is denied; else 0. */
static char denial_of_module(const char *module)
{
    char mark = (refused >> CBX_GUARD_IMPORT & 1) != 0 ? mark_of_module(module) : 0;
    return mark == '-' || mark == '=' ? mark : 0;
}

/* Raises ImportError, which programs that look for a module expect, when the module is refused to whoever imports
 * it now. `around`: it is looked for as an item of this module; NULL: it is no item. `native`: it looks like a
 * call of native code, which has no frame. */
static int check_module(const char *module, const char *around, bool native)
{
    char mark = denial_of_module(module);
    if (mark == 0 || is_inside()) {
        return 0;
    }
    if (around != NULL && denial_of_module(around) != 0) {
        module = around;
    }
    PyObject *may = call_own(may_import, Py_BuildValue("(sii)", module, mark == '=', native));
    int trusted = may == NULL ? -1 : PyObject_IsTrue(may);
    Py_XDECREF(may);
    if (trusted != 0) {
        return trusted < 0 ? -1 : 0;
    }
    if (report_refusal(CBX_GUARD_IMPORT, module)) {
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
    return bytes == NULL ? 0 : check_module(bytes, outer, native);
}

/* `from NAME import A, B`: each may be a module, and what is listed as not denied is looked for by its whole name. */
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

static PyObject *import_before, *find_before; /* what is called when nothing is refused */
static PyObject *absolute_name;               /* (name, globals, level) -> str */

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

/* The items as a tuple of str, each of that type itself: a subclass may say that it is another text each time.
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

/* What PyImport_Import() gives: the globals of the frame twice, and an empty list. */
static bool is_native_call(PyObject *const given[ARGUMENTS])
{
    return given[LEVEL] != NULL && given[GLOBALS] == given[LOCALS] &&
           given[GLOBALS] == PyEval_GetGlobals() && PyList_CheckExact(given[FROM]) &&
           PyList_Size(given[FROM]) == 0;
}

/* __import__(name, globals=None, locals=None, fromlist=(), level=0). What is checked is what is imported: names
 * are copied, and a relative one is resolved here. */
static PyObject *import_module(PyObject *self, PyObject *const *args, Py_ssize_t count,
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
    if ((refused >> CBX_GUARD_IMPORT & 1) == 0 || level < 0) {
        module = PyImport_ImportModuleLevelObject(given[NAME], globals, Py_None, from, (int)level);
        Py_DECREF(from);
        return module;
    }
    name = level == 0
               ? PyUnicode_FromObject(given[NAME])
               : PyObject_CallFunction(absolute_name, "OOlO", given[NAME], globals, level, from);
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

static _Thread_local PyObject *loading; /* the module that was checked and is looked for */

/* _find_and_load(name, import_) of importlib: what Python's part of importlib calls has not been checked; the interpreter,
 * and the native code of a library, call it with their own import function. */
static PyObject *find_module(PyObject *self, PyObject *args)
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

/* check(module): raises ImportError when it is refused. Called by what loads modules, which programs can call
 * themselves. `module` is a str. */
static PyObject *check(PyObject *self, PyObject *name)
{
    (void)self;
    bool checked = loading != NULL && PyUnicode_Compare(loading, name) == 0;
    if (!checked && check_name(name, NULL, false) != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* --- the module ------------------------------------------------------------------------------- */

/* install(report, is_ours, may_import, own, __import__, _find_and_load, absolute_name): once. */
static PyObject *install(PyObject *self, PyObject *args)
{
    PyObject **const given[] = { &report,        &is_ours,     &may_import,   &own,
                                 &import_before, &find_before, &absolute_name };
    (void)self;
    if (report != NULL || PyTuple_Size(args) != sizeof(given) / sizeof(given[0])) {
        PyErr_SetString(PyExc_RuntimeError, "the hook is installed");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
        *given[i] = PyTuple_GetItem(args, i);
        Py_INCREF(*given[i]);
    }
    if (PySys_AddAuditHook(hook, NULL) != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* begin(refused, imports): what is refused from now on; bits that were set stay, as those of earlier runs may not
 * hold any more only for the supervisor. */
static PyObject *begin(PyObject *self, PyObject *args)
{
    unsigned int bits;
    const char *imports;
    Py_ssize_t len;
    (void)self;
    if (!PyArg_ParseTuple(args, "Iy#", &bits, &imports, &len) ||
        (len > 0 && !set_modules(imports, len))) {
        return NULL;
    }
    refused |= bits;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "install", install, METH_VARARGS, NULL },
    { "begin", begin, METH_VARARGS, NULL },
    { "check", check, METH_O, NULL },
    { "__import__", (PyCFunction)(void (*)(void))import_module, METH_FASTCALL | METH_KEYWORDS,
      "Imports a module. For `import` and `from`; importlib.import_module is for programs." },
    { "_find_and_load", find_module, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "python_guard", NULL, -1, functions, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_python_guard(void);
PyMODINIT_FUNC PyInit_python_guard(void)
{
    cbx_places_add_mounts(getenv(CBX_PLACES_MOUNTS)); /* no program has run yet */
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL &&
        (PyModule_AddIntConstant(module, "START_PROCESS", 1 << CBX_GUARD_START) != 0 ||
         PyModule_AddIntConstant(module, "IMPORT", 1 << CBX_GUARD_IMPORT) != 0)) {
        Py_CLEAR(module);
    }
    return module;
}
