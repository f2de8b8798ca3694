/* SPDX-License-Identifier: MIT
 * Judged lines of shell. The kernel of Python may start the programs of the run's list only
 * while one of its own functions starts a program for a line in judged code, and only through
 * this call, during which no code of the program runs. */
#include "docker/inside/python_guard/python_guard.h"

#include <string.h>

static PyObject *start_program; /* _posixsubprocess.fork_exec */
static PyObject *functions;     /* tuple of the code objects that run lines */

void cbx_hook_lines_begin(PyObject *start, PyObject *line_functions)
{
    Py_INCREF(start);
    Py_INCREF(line_functions);
    start_program = start;
    functions = line_functions;
}

static bool runs_lines(PyObject *code)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(functions); i++) {
        if (PyTuple_GetItem(functions, i) == code) {
            return true;
        }
    }
    return false;
}

/* True if, from the caller back to the program, all code is of the image and one function runs
 * lines, and the program's code is judged, and names the shell. Code that IPython compiles from
 * a judged text, as for %time, has no judged code of its own: the next frame decides. */
static bool is_judged_line(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    bool line = false, judged = false, other = false;
    Py_XINCREF((PyObject *)frame);
    while (frame != NULL && !judged && !other) {
        PyObject *code = (PyObject *)PyFrame_GetCode(frame);
        enum cbx_hook_origin origin = cbx_hook_origin_of(code);
        PyFrameObject *back = PyFrame_GetBack(frame);
        line = line || (origin == CBX_HOOK_IMAGE && runs_lines(code));
        judged =
            origin == CBX_HOOK_JUDGED && cbx_hook_code_has(code, "co_names", "get_ipython", true);
        other = !judged && origin != CBX_HOOK_IMAGE && !line;
        Py_DECREF(code);
        Py_DECREF((PyObject *)frame);
        frame = back;
    }
    Py_XDECREF((PyObject *)frame);
    return line && judged;
}

/* True if the new process would run a function of the program before it executes the new
 * program: preexec_fn, the last argument, before the flag allow_vfork of CPython 3.11 and later. */
static bool runs_code_before(PyObject *args)
{
    Py_ssize_t last = PyTuple_Size(args) - 1;
    PyObject *function = last > 0 ? PyTuple_GetItem(args, last) : NULL;
    if (function != NULL && PyBool_Check(function)) {
        function = PyTuple_GetItem(args, last - 1);
    }
    return function != Py_None;
}

PyObject *cbx_hook_fork_exec(PyObject *self, PyObject *args)
{
    (void)self;
    int collects = PyGC_Disable(); /* no finalizer of the program may run meanwhile */
    bool opens = cbx_hook_refuses(CBX_GUARD_START) && !runs_code_before(args) && is_judged_line();
    if (opens) {
        cbx_hook_lines(true);
    }
    PyObject *result = PyObject_CallObject(start_program, args);
    if (opens) {
        cbx_hook_lines(false);
    }
    if (collects) {
        PyGC_Enable();
    }
    return result;
}
