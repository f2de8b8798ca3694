/* SPDX-License-Identifier: MIT
 * The guard in Python: an audit hook (PEP 578, PySys_AddAuditHook) of the kernel's process, which a program
 * cannot remove. It refuses and reports what no system call shows, and reports what Landlock refuses without
 * a word: files that are outside. An extension module of the stable ABI (PEP 384) for python_kernel.py. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
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
static _Thread_local bool inside;
static bool moved; /* the program has changed the working directory */

/* --- refusals --------------------------------------------------------------------------------- */

/* Reports, and raises PermissionError. What the report itself raises, as an interrupt, goes before. */
static int refuse(uint32_t refusal, const char *what, PyObject *name)
{
    inside = true;
    PyObject *done = PyObject_CallFunction(report, "Is", (int)refusal, what);
    inside = false;
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
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
    inside = true;
    PyObject *ours = PyObject_CallFunction(is_ours, "s", words);
    inside = false;
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

/* (module, name) */
static int check_pickle(PyObject *args)
{
    PyObject *parts[2] = { PyTuple_GetItem(args, 0), PyTuple_GetItem(args, 1) };
    char what[CBX_FRAME_BLOCKED_MAX] = "";
    if ((refused >> CBX_GUARD_UNPICKLE & 1) == 0 || parts[0] == NULL || parts[1] == NULL) {
        return 0;
    }
    PyObject *module = PyUnicode_AsUTF8String(parts[0]), *name = PyUnicode_AsUTF8String(parts[1]);
    bool harmless_one = module != NULL && name != NULL &&
                        is_harmless(PyBytes_AsString(module), PyBytes_AsString(name));
    snprintf(what, sizeof(what), "%s.%s", module != NULL ? PyBytes_AsString(module) : "?",
             name != NULL ? PyBytes_AsString(name) : "?");
    Py_XDECREF(module);
    Py_XDECREF(name);
    PyErr_Clear();
    return harmless_one ? 0 : refuse(CBX_GUARD_UNPICKLE, what, NULL);
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
    if (refused == 0 || inside || strchr("ocpsgfm", event[0]) == NULL) {
        return 0; /* most events */
    }
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strcmp(event, checks[i].event) == 0) {
            return checks[i].check(args);
        }
    }
    return 0;
}

/* --- the module ------------------------------------------------------------------------------- */

/* install(report, is_ours): once. */
static PyObject *install(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *first, *second;
    if (report != NULL || !PyArg_ParseTuple(args, "OO", &first, &second)) {
        PyErr_SetString(PyExc_RuntimeError, "the hook is installed");
        return NULL;
    }
    Py_INCREF(first);
    Py_INCREF(second);
    report = first;
    is_ours = second;
    if (PySys_AddAuditHook(hook, NULL) != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* begin(refused): what is refused from now on; bits that were set stay, as those of earlier runs may not
 * hold any more only for the supervisor. */
static PyObject *begin(PyObject *self, PyObject *args)
{
    (void)self;
    unsigned int bits;
    if (!PyArg_ParseTuple(args, "I", &bits)) {
        return NULL;
    }
    refused |= bits;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = { { "install", install, METH_VARARGS, NULL },
                                   { "begin", begin, METH_VARARGS, NULL },
                                   { NULL, NULL, 0, NULL } };
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "python_guard", NULL, -1, functions, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_python_guard(void);
PyMODINIT_FUNC PyInit_python_guard(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL &&
        PyModule_AddIntConstant(module, "START_PROCESS", 1 << CBX_GUARD_START) != 0) {
        Py_CLEAR(module);
    }
    return module;
}
