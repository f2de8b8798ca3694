/* SPDX-License-Identifier: MIT
 * Determines whether code of the image calls, and on its own behalf. A function counts as the
 * program if it only passes on an argument of the program, like a thread pool, or returns its
 * result to its caller, like traceback.walk_stack. */
#include "docker/inside/python_guard/python_guard.h"

#include <string.h>

/* Code of the image that acts for its callers. */
static const struct {
    const char *file;     /* end of its path; "/" at the end: any file of the folder */
    const char *function; /* NULL: all functions */
} passes_on[] = {
    { "/ctypes/", NULL },
    { "/inspect.py", "currentframe" },
    { "/inspect.py", "stack" },
    { "/inspect.py", "trace" },
    { "/inspect.py", "getouterframes" },
    { "/inspect.py", "getinnerframes" },
    { "/inspect.py", "getgeneratorlocals" },
    { "/inspect.py", "getcoroutinelocals" },
    { "/inspect.py", "getclosurevars" },
    { "/inspect.py", "getmembers" },
    { "/inspect.py", "_getmembers" },
    { "/inspect.py", "getmembers_static" },
    { "/inspect.py", "getattr_static" },
    { "/traceback.py", "walk_stack" },
    { "/traceback.py", "walk_tb" },
    { "/logging/__init__.py", "currentframe" },
    { "/logging/__init__.py", "<lambda>" },
    { "/asyncio/base_tasks.py", "_task_get_stack" },
    { "/asyncio/tasks.py", "get_stack" },
    { "/threading.py", "_bootstrap_inner" },
    { "/threading.py", "_bootstrap" },
};

/* Code of the image that acts on its own behalf, although its code does not have the name of what it
 * uses: pandas reads the variables of a query as f"f_{scope}" of the frames that it was called in. */
static const struct {
    const char *file, *function;
} composes_names[] = {
    { "/pandas/core/computation/scope.py", "_get_vars" },
};

/* The frame under examination. */
struct caller {
    PyFrameObject *frame; /* owned */
    PyObject *code;       /* owned */
    char file[1024], name[256];
};

static void look_at(struct caller *caller, PyFrameObject *frame)
{
    caller->frame = frame;
    caller->code = frame != NULL ? (PyObject *)PyFrame_GetCode(frame) : NULL;
    caller->file[0] = caller->name[0] = '\0';
    if (frame != NULL) {
        cbx_hook_code_text(caller->code, "co_filename", caller->file, sizeof(caller->file));
        cbx_hook_code_text(caller->code, "co_name", caller->name, sizeof(caller->name));
    }
}

static void leave(struct caller *caller)
{
    Py_XDECREF(caller->code);
    Py_XDECREF((PyObject *)caller->frame);
}

static void go_back(struct caller *caller)
{
    PyFrameObject *back = PyFrame_GetBack(caller->frame);
    leave(caller);
    look_at(caller, back);
}

static bool is_of_file(const char *path, const char *end)
{
    size_t len = strlen(path), end_len = strlen(end);
    if (end[end_len - 1] == '/') {
        return strstr(path, end) != NULL;
    }
    return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

static bool is_passing_on(const struct caller *caller)
{
    for (size_t i = 0; i < sizeof(passes_on) / sizeof(passes_on[0]); i++) {
        if (is_of_file(caller->file, passes_on[i].file) &&
            (passes_on[i].function == NULL || strcmp(caller->name, passes_on[i].function) == 0)) {
            return true;
        }
    }
    return false;
}

static bool is_of_image(const struct caller *caller)
{
    return caller->frame != NULL && cbx_hook_origin_of(caller->code) == CBX_HOOK_IMAGE;
}

/* True while an extension module is imported: the function of the import system has no frame of
 * its own. */
static bool is_creating(struct caller *caller)
{
    go_back(caller);
    return is_of_image(caller) &&
           (strcmp(caller->name, "create_module") == 0 || strcmp(caller->name, "exec_module") == 0);
}

/* The function that passed the call on. */
struct passed {
    char file[1024], name[256];
};

static bool is_composing_names(const struct caller *caller)
{
    for (size_t i = 0; i < sizeof(composes_names) / sizeof(composes_names[0]); i++) {
        if (is_of_file(caller->file, composes_names[i].file) &&
            strcmp(caller->name, composes_names[i].function) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_on_its_own(struct caller *caller, const char *words, const struct passed *passed)
{
    bool import_system = strncmp(caller->file, "<frozen importlib", 17) == 0;
    if (import_system && strcmp(caller->name, "_call_with_frames_removed") == 0) {
        return is_creating(caller);
    }
    if (words[0] == '\0') {
        return import_system;
    }
    if (strcmp(words, "ctypes") == 0) {
        return cbx_hook_imports_ctypes(caller->code);
    }
    return strcmp(passed->file, caller->file) == 0 || is_composing_names(caller) ||
           cbx_hook_code_has(caller->code, "co_names", passed->name, true) ||
           cbx_hook_code_has(caller->code, "co_names", words, false) ||
           cbx_hook_code_has(caller->code, "co_consts", words, true);
}

bool cbx_hook_called_by_image(const char *words)
{
    struct caller caller;
    struct passed passed = { "", "" };
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF((PyObject *)frame);
    look_at(&caller, frame);
    bool image = is_of_image(&caller), ours = false;
    while (image && is_passing_on(&caller) && !ours) {
        ours = strcmp(caller.name, "<module>") == 0; /* the module is being imported */
        memcpy(passed.file, caller.file, sizeof(passed.file));
        memcpy(passed.name, caller.name, sizeof(passed.name));
        if (!ours) {
            go_back(&caller);
            image = is_of_image(&caller);
        }
    }
    ours = ours || (image && is_on_its_own(&caller, words, &passed));
    leave(&caller);
    return ours;
}

int cbx_hook_refuse_program(uint32_t row, const char *words, const char *what)
{
    if (!cbx_hook_refuses(row) || cbx_hook_called_by_image(words)) {
        return 0;
    }
    return cbx_hook_refuse(row, what, NULL);
}
