/* SPDX-License-Identifier: MIT
 * The guard in Python: an audit hook (PEP 578, PySys_AddAuditHook) of the kernel's process,
 * which a program cannot remove. It refuses and reports actions without a system call, and
 * reports the files that Landlock refuses without a report. An extension module of the stable
 * ABI (PEP 384) for python_kernel.py, with a few functions of CPython beyond it
 * (python_guard.h). */
#include "docker/inside/python_guard/python_guard.h"

#include "docker/inside/confine/open_places.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* --- files ------------------------------------------------------------------------------------ */

/* Arguments: (path, mode, flags) */
static int check_open(PyObject *args)
{
    PyObject *flags = PyTuple_GetItem(args, 2);
    long bits = flags != NULL && PyLong_Check(flags) ? PyLong_AsLong(flags) : 0;
    PyErr_Clear();
    PyObject *path = PyTuple_GetItem(args, 0);
    return path == NULL ? -1
                        : cbx_hook_check_file(path, (bits & O_ACCMODE) != O_RDONLY ||
                                                        (bits & (O_CREAT | O_TRUNC)) != 0);
}

static int note_moved(PyObject *args)
{
    (void)args;
    cbx_hook_note_moved();
    return 0;
}

/* Arguments: (path) */
static int check_read(PyObject *args)
{
    PyObject *path = PyTuple_GetItem(args, 0);
    return path == NULL ? -1 : cbx_hook_check_file(path, false);
}

static int check_changed(PyObject *args)
{
    PyObject *path = PyTuple_GetItem(args, 0);
    return path == NULL ? -1 : cbx_hook_check_file(path, true);
}

/* Arguments: (target, link). A relative target is relative to the link's folder; if that is not
 * clear, the checked file may differ from the real target, and Landlock refuses that one. */
static int check_link(PyObject *args)
{
    PyObject *to = PyTuple_GetItem(args, 0);
    return to == NULL ? -1 : cbx_hook_check_file(to, false);
}

/* Arguments: (from, to) */
static int check_renamed(PyObject *args)
{
    PyObject *to = PyTuple_GetItem(args, 1);
    return check_changed(args) != 0 || to == NULL ? -1 : cbx_hook_check_file(to, true);
}

/* --- native code, the interpreter, pickles ---------------------------------------------------- */

static int check_native(PyObject *args)
{
    (void)args;
    return cbx_hook_refuse_program(CBX_GUARD_NATIVE, "ctypes", "ctypes");
}

static int check_frames(PyObject *args)
{
    (void)args;
    return cbx_hook_refuse_program(CBX_GUARD_REFLECT,
                                   "_getframe currentframe _current_frames "
                                   "_current_exceptions",
                                   "a frame");
}

static int check_objects(PyObject *args)
{
    (void)args;
    return cbx_hook_refuse_program(CBX_GUARD_REFLECT, "get_objects get_referrers get_referents",
                                   "objects of the garbage collector");
}

static int check_code(PyObject *args)
{
    (void)args;
    return cbx_hook_refuse_program(CBX_GUARD_REFLECT, "CodeType FunctionType replace __code__",
                                   "a code object");
}

/* Arguments: (object, name, ...). Refuses attributes that lead from an object to frames and
 * code. */
static int check_attribute(PyObject *args)
{
    static const char *const names[] = { "tb_frame", "gi_frame", "cr_frame", "ag_frame",
                                         "gi_code",  "cr_code",  "ag_code",  "f_code" };
    PyObject *given = PyTuple_GetItem(args, 1);
    PyObject *name = given != NULL && PyUnicode_Check(given) ? PyUnicode_AsUTF8String(given) : NULL;
    int result = 0;
    for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(PyBytes_AsString(name), names[i]) == 0) {
            result = cbx_hook_refuse_program(CBX_GUARD_REFLECT, names[i], names[i]);
        }
    }
    Py_XDECREF(name);
    if (result == 0) {
        PyErr_Clear();
    }
    return result;
}

/* Arguments: (function, name, value). Code of the image must not be replaced. */
static int check_assigned(PyObject *args)
{
    PyObject *function = PyTuple_GetItem(args, 0), *name = PyTuple_GetItem(args, 1);
    bool code = name != NULL && PyUnicode_Check(name) &&
                PyUnicode_CompareWithASCIIString(name, "__code__") == 0;
    PyObject *before = code ? PyObject_GetAttrString(function, "__code__") : NULL;
    bool image = before != NULL && cbx_hook_origin_of(before) == CBX_HOOK_IMAGE;
    Py_XDECREF(before);
    PyErr_Clear();
    if (image) {
        return cbx_hook_refuse_program(CBX_GUARD_REFLECT, "__code__", "code of a library");
    }
    return 0;
}

/* True if a callback is one of cProfile's: C methods that give out no frame. No other C function
 * has these names, and no program can change the name of a C function. */
static bool is_profiler(PyObject *callback)
{
    static const char *const names[] = { "_pystart_callback", "_pyreturn_callback",
                                         "_pythrow_callback", "_ccall_callback",
                                         "_creturn_callback" };
    PyObject *name =
        PyCFunction_Check(callback) ? PyObject_GetAttrString(callback, "__name__") : NULL;
    bool found = false;
    for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        found = found || PyUnicode_CompareWithASCIIString(name, names[i]) == 0;
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

/* Arguments: (function). None removes a callback. */
static int check_monitoring(PyObject *args)
{
    PyObject *callback = PyTuple_GetItem(args, 0);
    if (callback == Py_None || (callback != NULL && is_profiler(callback))) {
        return 0;
    }
    PyErr_Clear();
    return cbx_hook_refuse_program(CBX_GUARD_REFLECT, "register_callback", "a trace function");
}

/* The guard's data about code and imports is of one interpreter. */
static int refuse_interpreter(PyObject *args)
{
    (void)args;
    return cbx_hook_refuse(CBX_GUARD_REFLECT, "another interpreter", NULL);
}

static int check_marshalled(PyObject *args)
{
    (void)args;
    return cbx_hook_refuse_program(CBX_GUARD_UNPICKLE, "", "marshal");
}

/* Arguments: (module, name) */
static int check_pickle(PyObject *args)
{
    PyObject *module = PyTuple_GetItem(args, 0), *name = PyTuple_GetItem(args, 1);
    return module == NULL || name == NULL ? -1 : cbx_hook_check_pickled(module, name);
}

static int check_compiled(PyObject *args)
{
    (void)args;
    return cbx_hook_check_compiled();
}

/* --- the hook --------------------------------------------------------------------------------- */

static const struct {
    const char *event;
    int (*check)(PyObject *args); /* returns -1 and an exception, or 0 */
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
    { "compile", check_compiled },
    { "code.__new__", check_code },
    { "function.__new__", check_code },
    { "object.__getattr__", check_attribute },
    { "object.__setattr__", check_assigned },
    { "sys.monitoring.register_callback", check_monitoring },
    { "cpython.PyInterpreterState_New", refuse_interpreter },
};

static int hook(const char *event, PyObject *args, void *context)
{
    (void)context;
    if (cbx_hook_refused == 0 || strchr("ocpsgfm", event[0]) == NULL) {
        return 0; /* most events return here */
    }
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strcmp(event, checks[i].event) == 0) {
            return checks[i].check(args);
        }
    }
    return 0;
}

/* --- the module ------------------------------------------------------------------------------- */

/* install(report, functions that run lines, folders of modules, tag, magic number, import,
 * find_and_load, fork_exec, functions that import for the kernel): called once, before a program
 * runs. */
static PyObject *install(PyObject *self, PyObject *args)
{
    static bool installed;
    PyObject *report, *lines, *roots, *tag, *magic, *import, *find, *start, *own;
    (void)self;
    if (installed) {
        PyErr_SetString(PyExc_RuntimeError, "the hook is installed");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOOOOOOO", &report, &lines, &roots, &tag, &magic, &import, &find,
                          &start, &own) ||
        !cbx_hook_codes_begin() || !cbx_hook_load_begin(roots, tag, magic) ||
        !cbx_hook_compile_begin() || !cbx_hook_attributes_begin()) {
        return NULL;
    }
    installed = true;
    cbx_hook_lines_begin(start, lines);
    cbx_hook_imports_begin(import, find, own);
    cbx_hook_introduce(report);
    if (PySys_AddAuditHook(hook, NULL) != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "install", install, METH_VARARGS, NULL },
    { "receive", cbx_hook_receive, METH_NOARGS, NULL },
    { "has_more", cbx_hook_has_more, METH_NOARGS, NULL },
    { "compile_program", cbx_hook_compile_program, METH_O, NULL },
    { "compile_cell", cbx_hook_compile_cell, METH_O, NULL },
    { "load", cbx_hook_load, METH_VARARGS, NULL },
    { "read_source", cbx_hook_read_source, METH_O, NULL },
    { "create_dynamic", cbx_hook_create_dynamic, METH_VARARGS, NULL },
    { "create_builtin", cbx_hook_create_builtin, METH_VARARGS, NULL },
    { "get_frozen_object", cbx_hook_get_frozen, METH_VARARGS, NULL },
    { "settrace", cbx_hook_settrace, METH_O, "Sets the trace function." },
    { "setprofile", cbx_hook_setprofile, METH_O, "Sets the profile function." },
    { "fork_exec", cbx_hook_fork_exec, METH_VARARGS, NULL },
    { "__import__", (PyCFunction)(void (*)(void))cbx_hook_import, METH_FASTCALL | METH_KEYWORDS,
      "Imports a module. For `import` and `from`; importlib.import_module is for programs." },
    { "_find_and_load", cbx_hook_find_and_load, METH_VARARGS, NULL },
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
        (!cbx_hook_load_init() || !cbx_hook_tracing_init() || !cbx_hook_made_code_init(module) ||
         PyModule_AddIntConstant(module, "START_PROCESS", 1 << CBX_GUARD_START) != 0)) {
        Py_CLEAR(module);
    }
    return module;
}
