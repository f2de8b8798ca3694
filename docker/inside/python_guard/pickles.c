/* SPDX-License-Identifier: MIT
 * Names that a pickle may have: classes that store data and have no effects when instantiated,
 * and the functions that recreate their instances. A module is never permitted: a pickle sets
 * attributes of the objects that it names. */
#include "docker/inside/python_guard/python_guard.h"

#include "docker/inside/wire/frame.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *module;
    bool classes;      /* true to include the classes defined in the module and its submodules */
    const char *names; /* members of this module itself, separated by blanks */
} harmless[] = {
    { "builtins", false,
      " set frozenset complex bytearray bytes range slice dict list tuple int float str bool "
      "object "
      "Exception BaseException ValueError TypeError KeyError IndexError RuntimeError OSError " },
    { "collections", true, "" },
    { "copyreg", false, " _reconstructor __newobj__ __newobj_ex__ " },
    { "copy_reg", false, " _reconstructor " },
    { "datetime", true, "" },
    { "decimal", true, "" },
    { "fractions", true, "" },
    { "uuid", true, "" },
    { "array", true, " _array_reconstructor " },
    { "ipaddress", true, "" },
    { "pathlib", true, "" },
    { "zoneinfo", true, "" },
    { "_codecs", false, " encode " },
    { "numpy", false, " ndarray dtype " },
    { "numpy.core.multiarray", false, " _reconstruct scalar " },
    { "numpy.core.numeric", false, " _frombuffer " },
    { "numpy._core.multiarray", false, " _reconstruct scalar " },
    { "numpy._core.numeric", false, " _frombuffer " },
    { "pandas._libs", true, "" },
    { "pandas._libs.internals", true, " _unpickle_block " },
    { "pandas._libs.arrays", true, " __pyx_unpickle_NDArrayBacked " },
    { "pandas._libs.tslibs.timestamps", true, " _unpickle_timestamp " },
    { "pandas._libs.tslibs.timedeltas", true, " _timedelta_unpickle " },
    { "pandas._libs.tslibs.period", true, " period_unpickle _unpickle_period " },
    { "pandas.core.frame", false, " DataFrame " },
    { "pandas.core.series", false, " Series " },
    { "pandas.core.internals", true, "" },
    { "pandas.core.indexes", true, "" },
    { "pandas.core.indexes.base", true, " _new_Index " },
    { "pandas.core.indexes.datetimes", true, " _new_DatetimeIndex " },
    { "pandas.core.indexes.period", true, " _new_PeriodIndex " },
    { "pandas.core.arrays", true, "" },
};

static bool is_within(const char *module, const char *around)
{
    size_t len = strlen(around);
    return strncmp(module, around, len) == 0 && (module[len] == '.' || module[len] == '\0');
}

/* True if the member is a class defined in `around` or below it. The module is imported, as the
 * pickle would do. */
static bool is_class_of(const char *module, const char *name, const char *around)
{
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *member = imported != NULL ? PyObject_GetAttrString(imported, name) : NULL;
    PyObject *home = member != NULL && PyType_Check(member)
                         ? PyObject_GetAttrString(member, "__module__")
                         : NULL;
    const char *text =
        home != NULL && PyUnicode_Check(home) ? PyUnicode_AsUTF8AndSize(home, NULL) : NULL;
    bool found = text != NULL && is_within(text, around);
    Py_XDECREF(home);
    Py_XDECREF(member);
    Py_XDECREF(imported);
    PyErr_Clear();
    return found;
}

static bool is_harmless(const char *module, const char *name)
{
    char word[128];
    if (strchr(name, '.') != NULL ||
        (size_t)snprintf(word, sizeof(word), " %s ", name) >= sizeof(word)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        if (strcmp(module, harmless[i].module) == 0 && strstr(harmless[i].names, word) != NULL) {
            return true;
        }
        if (harmless[i].classes && is_within(module, harmless[i].module) &&
            is_class_of(module, name, harmless[i].module)) {
            return true;
        }
    }
    return false;
}

int cbx_hook_check_pickled(PyObject *module, PyObject *name)
{
    char what[CBX_FRAME_BLOCKED_MAX];
    PyObject *from = PyUnicode_Check(module) ? PyUnicode_AsUTF8String(module) : NULL,
             *member = PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    PyErr_Clear();
    const char *from_text = from != NULL ? PyBytes_AsString(from) : "?",
               *member_text = member != NULL ? PyBytes_AsString(member) : "?";
    snprintf(what, sizeof(what), "%s.%s", from_text, member_text);
    int result = 0;
    if (!cbx_hook_refuses(CBX_GUARD_UNPICKLE)) {
        result = cbx_hook_check_module(from_text, NULL, false);
    } else if (!is_harmless(from_text, member_text)) {
        result = cbx_hook_refuse(CBX_GUARD_UNPICKLE, what, NULL);
    }
    Py_XDECREF(from);
    Py_XDECREF(member);
    return result;
}
