/* SPDX-License-Identifier: MIT
 * Attributes that lead from an object to frames, closures and namespaces, and for which the
 * interpreter has no audit event; python_guard.c checks the others (object.__getattr__). Replaces
 * the descriptors of these attributes by checking descriptors. CPython itself reads the members of
 * its structs, not the attributes. */
#include "docker/inside/python_guard/python_guard.h"

#include <string.h>

/* A replaced descriptor. */
static struct attribute {
    const char *type, *name; /* of the module types */
    PyObject *before;        /* owned */
    PyGetSetDef replacement;
} attributes[] = {
    { .type = "FunctionType", .name = "__closure__" },
    { .type = "FunctionType", .name = "__globals__" },
    { .type = "FunctionType", .name = "__builtins__" },
    { .type = "CellType", .name = "cell_contents" },
    { .type = "FrameType", .name = "f_back" },
    { .type = "FrameType", .name = "f_builtins" },
    { .type = "FrameType", .name = "f_globals" },
    { .type = "FrameType", .name = "f_locals" },
};
enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

static PyObject *get_attribute(PyObject *object, void *context)
{
    const struct attribute *attribute = context;
    if (cbx_hook_refuse_program(CBX_GUARD_REFLECT, attribute->name, attribute->name) != 0) {
        return NULL;
    }
    descrgetfunc get = (descrgetfunc)PyType_GetSlot(Py_TYPE(attribute->before), Py_tp_descr_get);
    return get(attribute->before, object, (PyObject *)Py_TYPE(object));
}

static int set_attribute(PyObject *object, PyObject *value, void *context)
{
    const struct attribute *attribute = context;
    if (cbx_hook_refuse_program(CBX_GUARD_REFLECT, attribute->name, attribute->name) != 0) {
        return -1;
    }
    descrsetfunc set = (descrsetfunc)PyType_GetSlot(Py_TYPE(attribute->before), Py_tp_descr_set);
    return set(attribute->before, object, value);
}

/* The dictionary of the type: its attribute __dict__ is a view of the dictionary. */
static bool replace(struct attribute *attribute, PyObject *gc, PyObject *type)
{
    PyObject *view = PyObject_GetAttrString(type, "__dict__");
    PyObject *within = view != NULL ? PyObject_CallMethod(gc, "get_referents", "O", view) : NULL;
    PyObject *members =
        within != NULL && PyList_Size(within) == 1 ? PyList_GetItem(within, 0) : NULL;
    attribute->before = members != NULL ? PyDict_GetItemString(members, attribute->name) : NULL;
    bool good = members != NULL;
    if (attribute->before !=
        NULL) { /* an attribute that this version of Python lacks needs no replacement */
        Py_INCREF(attribute->before);
        attribute->replacement =
            (PyGetSetDef){ attribute->name, get_attribute, set_attribute, NULL, attribute };
        PyObject *descriptor = PyDescr_NewGetSet((PyTypeObject *)type, &attribute->replacement);
        good =
            descriptor != NULL && PyDict_SetItemString(members, attribute->name, descriptor) == 0;
        PyType_Modified((PyTypeObject *)type);
        Py_XDECREF(descriptor);
    }
    Py_XDECREF(within);
    Py_XDECREF(view);
    return good;
}

bool cbx_hook_attributes_begin(void)
{
    PyObject *gc = PyImport_ImportModule("gc"), *types = PyImport_ImportModule("types");
    bool good = gc != NULL && types != NULL;
    for (size_t i = 0; i < ATTRIBUTES && good; i++) {
        PyObject *type = PyObject_GetAttrString(types, attributes[i].type);
        good = type != NULL && replace(&attributes[i], gc, type);
        Py_XDECREF(type);
    }
    Py_XDECREF(types);
    Py_XDECREF(gc);
    return good;
}

PyObject *cbx_hook_frame_locals(PyFrameObject *frame)
{
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        PyObject *before = attributes[i].before;
        if (strcmp(attributes[i].name, "f_locals") == 0 && before != NULL) {
            descrgetfunc get = (descrgetfunc)PyType_GetSlot(Py_TYPE(before), Py_tp_descr_get);
            return get(before, (PyObject *)frame, (PyObject *)Py_TYPE(frame));
        }
    }
    return NULL;
}

/* --- trace functions -------------------------------------------------------------------------- */

static PyObject *settrace_before, *setprofile_before;

bool cbx_hook_tracing_init(void)
{
    PyObject *sys = PyImport_ImportModule("sys");
    settrace_before = sys != NULL ? PyObject_GetAttrString(sys, "settrace") : NULL;
    setprofile_before = sys != NULL ? PyObject_GetAttrString(sys, "setprofile") : NULL;
    Py_XDECREF(sys);
    return settrace_before != NULL && setprofile_before != NULL;
}

static PyObject *set_function(PyObject *before, PyObject *function)
{
    static const char words[] = "settrace setprofile set_trace set_profile";
    if (function != Py_None &&
        cbx_hook_refuse_program(CBX_GUARD_REFLECT, words, "a trace function") != 0) {
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(before, function, NULL);
}

PyObject *cbx_hook_settrace(PyObject *self, PyObject *function)
{
    (void)self;
    return set_function(settrace_before, function);
}

PyObject *cbx_hook_setprofile(PyObject *self, PyObject *function)
{
    (void)self;
    return set_function(setprofile_before, function);
}
