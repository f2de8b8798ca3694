/* SPDX-License-Identifier: MIT
 * Code that a program makes of a text while it runs. The guard has the functions exec, eval and
 * compile in the place of the builtins: a program that reaches them by a value (the dictionary
 * of a module, a member of a list of all names) calls these. The audit events of the interpreter
 * do not serve, because libraries in native code, which evaluate texts of their own, cause the
 * same events. */
#include "docker/inside/python_guard/python_guard.h"

static struct {
    const char *name;
    PyObject *before; /* owned */
} builtins[] = { { "exec", NULL }, { "eval", NULL }, { "compile", NULL } };
enum { EXEC, EVAL, COMPILE, BUILTINS };

/* Code that the interpreter holds already is not made of a text. */
static bool is_known(PyObject *args)
{
    PyObject *code = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    return code != NULL && cbx_hook_origin_of(code) != CBX_HOOK_UNKNOWN;
}

static PyObject *make(size_t which, PyObject *args, PyObject *keywords)
{
    if (!is_known(args) && cbx_hook_refuse_program(CBX_GUARD_EVALUATE, "exec eval compile",
                                                   "code that was made at run time") != 0) {
        return NULL;
    }
    return PyObject_Call(builtins[which].before, args, keywords);
}

static PyObject *exec_text(PyObject *self, PyObject *args, PyObject *keywords)
{
    (void)self;
    return make(EXEC, args, keywords);
}

static PyObject *eval_text(PyObject *self, PyObject *args, PyObject *keywords)
{
    (void)self;
    return make(EVAL, args, keywords);
}

static PyObject *compile_text(PyObject *self, PyObject *args, PyObject *keywords)
{
    (void)self;
    return make(COMPILE, args, keywords);
}

static PyMethodDef functions[BUILTINS] = {
    { "exec", (PyCFunction)(void (*)(void))exec_text, METH_VARARGS | METH_KEYWORDS,
      "Executes code, or a text as code." },
    { "eval", (PyCFunction)(void (*)(void))eval_text, METH_VARARGS | METH_KEYWORDS,
      "Evaluates an expression." },
    { "compile", (PyCFunction)(void (*)(void))compile_text, METH_VARARGS | METH_KEYWORDS,
      "Compiles a text to code." },
};

bool cbx_hook_made_code_init(PyObject *guard)
{
    PyObject *module = PyImport_ImportModule("builtins");
    PyObject *name = PyUnicode_FromString("builtins");
    bool good = module != NULL && name != NULL;
    for (size_t i = 0; i < BUILTINS && good; i++) {
        /* without __self__: as a function of the module it would lead to the module */
        PyObject *function = PyCFunction_NewEx(&functions[i], NULL, name);
        builtins[i].before = PyObject_GetAttrString(module, builtins[i].name);
        good = function != NULL && builtins[i].before != NULL &&
               PyObject_SetAttrString(guard, builtins[i].name, function) == 0;
        Py_XDECREF(function);
    }
    Py_XDECREF(name);
    Py_XDECREF(module);
    return good;
}

PyObject *cbx_hook_builtin_compile(void)
{
    return builtins[COMPILE].before;
}
