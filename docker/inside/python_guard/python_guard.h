/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the guard in Python's kernel: an extension module of the
 * kernel's process. The guard's state is in C memory: no decision depends on an object of Python
 * that a program can reach. Every function is called with the GIL held. */
#ifndef CBX_DOCKER_INSIDE_PYTHON_GUARD_PYTHON_GUARD_H
#define CBX_DOCKER_INSIDE_PYTHON_GUARD_PYTHON_GUARD_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>

#include "docker/inside/confine/filter.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions of CPython 3.9 and 3.11 (frameobject.h) and 3.8 (PEP 578) that are missing in the
 * headers of the limited API. PyFrame_GetBack returns a new reference or NULL; PyFrame_GetLasti
 * the offset of the instruction in bytes. */
PyAPI_FUNC(PyFrameObject *) PyFrame_GetBack(PyFrameObject *frame);
PyAPI_FUNC(int) PyFrame_GetLasti(PyFrameObject *frame);
PyAPI_FUNC(int) PySys_AddAuditHook(int (*hook)(const char *, PyObject *, void *), void *context);
PyAPI_FUNC(PyObject *) PyMarshal_ReadObjectFromString(const char *data, Py_ssize_t len);

/* The refusals: bits of policies/guard/guard.def. None while the kernel starts; bits are only
 * added. */
extern uint32_t cbx_hook_refused;
static inline bool cbx_hook_refuses(uint32_t row)
{
    return (cbx_hook_refused >> row & 1) != 0;
}

/* --- python_report.c: the supervisor ---------------------------------------------------------- */

/* Registers this process with the supervisor; before a program runs. `fallback` (row, text) ->
 * None reports if Linux has no user notification; a reference is taken. */
void cbx_hook_introduce(PyObject *fallback);

/* Reports a refusal, with a description of the refused action. False, with an exception, if that
 * failed. */
bool cbx_hook_report(uint32_t row, const char *what);

/* Reports, and raises PermissionError with the name of the file, which may be NULL. Returns -1. */
int cbx_hook_refuse(uint32_t row, const char *what, PyObject *name);

/* True if the supervisor sent a frame of this type that begins at this offset of its bytes to
 * the kernel. True also if Linux has no user notification, because then the supervisor cannot be
 * asked. */
bool cbx_hook_was_sent(uint8_t type, uint64_t offset);

/* Sets whether this thread may start the programs of the run's list. */
void cbx_hook_lines(bool may_start);

/* --- codes.c: the origin of code objects ------------------------------------------------------ */

enum cbx_hook_origin {
    CBX_HOOK_UNKNOWN = 0, /* made at run time */
    CBX_HOOK_IMAGE,       /* of the kernel, or loaded from a file of the image */
    CBX_HOOK_JUDGED,      /* compiled from a judged text, or loaded from an accepted file */
};

/* Adds a code object and all code nested in it. Takes a reference and keeps it: the address
 * identifies the object from now on. */
void cbx_hook_codes_add(PyObject *code, enum cbx_hook_origin origin);

/* Adds the code of every existing function as the image's. Returns false with an exception. */
bool cbx_hook_codes_begin(void);

/* Returns the origin of the code. Only the address of the object counts. */
enum cbx_hook_origin cbx_hook_origin_of(PyObject *code);

/* True if the code's file in the image has a statement that imports ctypes. */
bool cbx_hook_imports_ctypes(PyObject *code);

/* Calls `each` for every constant text of judged code, until it returns false. Returns false if
 * one call did. */
bool cbx_hook_each_judged_text(bool (*each)(const char *text, size_t len, void *context),
                               void *context);

/* Attributes of a code object. co_name and co_filename are copied into `out`, cut at its size.
 * co_has: true if an item of the tuple `names` ("co_names", "co_consts") that is a str contains
 * one of the words, which are separated by blanks, between characters that are no letters and
 * digits; `whole`: equals one. */
void cbx_hook_code_text(PyObject *code, const char *attribute, char *out, size_t size);
bool cbx_hook_code_has(PyObject *code, const char *names, const char *words, bool whole);

/* True if the text is a constant of the code object. */
bool cbx_hook_code_has_text(PyObject *code, const char *text);

/* True if the instruction that the frame executes is an import statement. */
bool cbx_hook_frame_imports(PyFrameObject *frame);

/* True if the caller is code of the image that calls on its own behalf, rather than to pass on a
 * call or its result: the code has one of the words in its names. "ctypes": the code's file imports
 * ctypes. "": the caller is the import system. */
bool cbx_hook_called_by_image(const char *words);

/* Refuses `row` unless called by the image; -1 and PermissionError, or 0. */
int cbx_hook_refuse_program(uint32_t row, const char *words, const char *what);

/* --- compile.c: judged texts ------------------------------------------------------------------ */

/* Stores the functions that compile; before a program runs. Returns false with an exception. */
bool cbx_hook_compile_begin(void);

/* Compiles bytes as Python; its name is a str. New reference to a code object, or NULL and an
 * exception. */
PyObject *cbx_hook_compile_source(const char *bytes, size_t len, PyObject *name);

/* The text of the run that begins: bytes of UTF-8, copied. */
void cbx_hook_compile_set(const char *text, size_t len);

/* Functions of the module. compile_program(name) -> code of the run's text. compile_cell(name)
 * -> list with the code of each statement, up to the first one that cannot be compiled, for
 * which the list has the exception. The codes are judged, unless the program has changed the
 * classes of trees. */
PyObject *cbx_hook_compile_program(PyObject *self, PyObject *name);
PyObject *cbx_hook_compile_cell(PyObject *self, PyObject *name);

/* --- inbox.c: frames from the supervisor ------------------------------------------------------ */

/* receive() -> (type, payload): waits for a frame. has_more() -> bool. Bytes from another
 * process than the supervisor end the kernel. */
PyObject *cbx_hook_receive(PyObject *self, PyObject *none);
PyObject *cbx_hook_has_more(PyObject *self, PyObject *none);

/* --- python_load.c: files as code ------------------------------------------------------------- */

/* Stores the functions of _imp, before the kernel replaces them. Returns false with an
 * exception. */
bool cbx_hook_load_init(void);

/* Stores the folders of modules, a tuple of str, the tag in the names of compiled files, and
 * their magic number. Returns false with an exception. */
bool cbx_hook_load_begin(PyObject *roots, PyObject *tag, PyObject *magic);

/* Adds SHA-256 values of files that may be loaded. */
void cbx_hook_accept(const uint8_t *hashes, size_t len);

/* Functions of the module. load(path, name) -> code of a file of the image, or of an accepted
 * one; ImportError. read_source(path) -> bytes of an accepted file. create_dynamic(spec),
 * create_builtin(spec), get_frozen(name, ...): as the functions of _imp, checked. */
PyObject *cbx_hook_load(PyObject *self, PyObject *args);
PyObject *cbx_hook_read_source(PyObject *self, PyObject *path);
PyObject *cbx_hook_create_dynamic(PyObject *self, PyObject *args);
PyObject *cbx_hook_create_builtin(PyObject *self, PyObject *args);
PyObject *cbx_hook_get_frozen(PyObject *self, PyObject *args);

/* --- python_imports.c: imported modules ------------------------------------------------------- */

/* Stores __import__ and importlib's _find_and_load, which are called if nothing is refused, and
 * a tuple with the code objects of the kernel's functions that import libraries for the kernel
 * itself. */
void cbx_hook_imports_begin(PyObject *import, PyObject *find, PyObject *functions);

/* Sets the list of a RUN frame: marks and names, in the order of the names' bytes. False for a
 * list that no host sends. */
bool cbx_hook_imports_set(const char *bytes, size_t len);

/* Raises ImportError, which programs that search for a module expect, if the module is refused
 * to its present importer. `around`: the module is searched for as an item of this module; NULL:
 * it is no item. `native`: it looks like a call of native code, which has no frame. */
int cbx_hook_check_module(const char *module, const char *around, bool native);

/* Checks the module of a file in the same way, unless the import system is searching for it. */
int cbx_hook_check_loaded(const char *module);

/* Functions of the module. */
PyObject *cbx_hook_import(PyObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords);
PyObject *cbx_hook_find_and_load(PyObject *self, PyObject *args);

/* --- python_files.c, pickles.c: checks of the audit hook --------------------------------------- */

/* Checks that a path may be read, or written and changed; -1 and PermissionError, or 0. `name`:
 * a str or bytes; all other objects are left to the call. */
int cbx_hook_check_file(PyObject *name, bool writes);

/* The program has changed the working directory. */
void cbx_hook_note_moved(void);

/* Checks a member of a module that a pickle names; -1 and an exception, or 0. */
int cbx_hook_check_pickled(PyObject *module, PyObject *name);

/* --- texts.c: texts that libraries evaluate --------------------------------------------------- */

/* Called when a text is compiled: refused if a library evaluates a text of the program, and the
 * text calls a function by a name that is not in judged code. -1 and PermissionError, or 0. */
int cbx_hook_check_compiled(void);

/* --- attributes.c: attributes that lead from an object to frames, closures and namespaces ----- */

/* Replaces the attributes for which the interpreter has no audit event. Returns false with an
 * exception. */
bool cbx_hook_attributes_begin(void);

/* Returns the attribute f_locals of a frame, for the guard itself. New reference, or NULL and an
 * exception. */
PyObject *cbx_hook_frame_locals(PyFrameObject *frame);

/* Stores the functions of sys that set trace functions, before the kernel replaces them. Returns
 * false with an exception. */
bool cbx_hook_tracing_init(void);

/* Functions of the module, replacing the functions of sys: a trace function receives the frames of
 * all code. The audit events of sys do not name the caller, and libraries' profilers in C, which
 * give out no frame, cause the same events. */
PyObject *cbx_hook_settrace(PyObject *self, PyObject *function);
PyObject *cbx_hook_setprofile(PyObject *self, PyObject *function);

/* --- made_code.c ------------------------------------------------------------------------------ */

/* Stores the builtins that make code of a text, before the kernel replaces them, and gives the
 * module `guard` the functions exec, eval and compile, which replace them: as these, but refused
 * to the program for code that was neither judged nor is of the image. Returns false with an
 * exception. */
bool cbx_hook_made_code_init(PyObject *guard);

/* CPython's own compile(). Borrowed. */
PyObject *cbx_hook_builtin_compile(void);

/* --- lines.c: programs that judged lines of shell start --------------------------------------- */

/* Stores the function that starts programs, and the code objects of the kernel's functions that
 * run lines. */
void cbx_hook_lines_begin(PyObject *start, PyObject *functions);

/* Function of the module: as _posixsubprocess.fork_exec. */
PyObject *cbx_hook_fork_exec(PyObject *self, PyObject *args);

#endif
