/* SPDX-License-Identifier: MIT
 * Code objects by their addresses. An added object stays alive, so no other object gets its
 * address. Code nested in an object is added at the first query about an object of the same
 * file: most programs query few files. */
#include "docker/inside/python_guard/python_guard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* An added object: a module's code, a function, a cell. */
struct root {
    PyObject *code;
    uint64_t file; /* hash of its file's name */
    enum cbx_hook_origin origin;
    signed char ctypes; /* 1: the file imports ctypes; 0: it does not; -1: not yet determined */
    bool expanded;
    uint32_t next; /* next root of this bucket, from 1 */
};
static struct {
    struct root *items;
    uint32_t count, size;
    uint32_t buckets[1024]; /* by file, from 1 */
} roots;

/* An open-addressing table of code objects; its size is a power of two. */
static struct {
    struct known {
        PyObject *code;
        uint32_t root;
    } * slots;
    uint32_t count, size;
} table;

static PyTypeObject *code_type;

static void *grow(void *items, size_t count, size_t size)
{
    void *grown = realloc(items, count * size);
    if (grown == NULL) {
        abort();
    }
    return grown;
}

static struct known *find_slot(struct known *slots, uint32_t size, PyObject *code)
{
    uint64_t at = ((uintptr_t)code >> 4) * 0x9E3779B97F4A7C15ull >> 20;
    for (;; at++) {
        struct known *slot = &slots[at & (size - 1)];
        if (slot->code == NULL || slot->code == code) {
            return slot;
        }
    }
}

static void add_code(PyObject *code, uint32_t root)
{
    if (table.count * 2 >= table.size) {
        uint32_t size = table.size > 0 ? 2 * table.size : 4096;
        struct known *slots = calloc(size, sizeof(*slots));
        if (slots == NULL) {
            abort();
        }
        for (uint32_t i = 0; i < table.size; i++) {
            if (table.slots[i].code != NULL) {
                *find_slot(slots, size, table.slots[i].code) = table.slots[i];
            }
        }
        free(table.slots);
        table.slots = slots;
        table.size = size;
    }
    struct known *slot = find_slot(table.slots, table.size, code);
    if (slot->code == NULL) {
        *slot = (struct known){ .code = code, .root = root };
        table.count++;
    }
}

/* --- attributes of code ----------------------------------------------------------------------- */

void cbx_hook_code_text(PyObject *code, const char *attribute, char *out, size_t size)
{
    PyObject *value = PyObject_GetAttrString(code, attribute);
    PyObject *bytes =
        value != NULL && PyUnicode_Check(value) ? PyUnicode_EncodeFSDefault(value) : NULL;
    const char *text = bytes != NULL ? PyBytes_AsString(bytes) : "";
    size_t len = strnlen(text, size - 1);
    memcpy(out, text, len);
    out[len] = '\0';
    Py_XDECREF(bytes);
    Py_XDECREF(value);
    PyErr_Clear();
}

/* True if the word begins and ends where nothing continues it: exec is a part of rl_exec and of
 * exec_, and not of executor or exec_context. */
static bool has_part(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        bool begins = at == text || isalnum((unsigned char)at[-1]) == 0 || word[0] == '_';
        const char *end = at + len;
        bool goes_on = isalnum((unsigned char)end[end[0] == '_']) != 0;
        if (begins && !goes_on) {
            return true;
        }
    }
    return false;
}

static bool has_word(const char *text, const char *words, bool whole)
{
    char word[256];
    for (const char *at = words; *at != '\0';) {
        size_t len = strcspn(at, " ");
        if (len > 0 && len < sizeof(word)) {
            memcpy(word, at, len);
            word[len] = '\0';
            if (whole ? strcmp(text, word) == 0 : has_part(text, word)) {
                return true;
            }
        }
        at += len + (at[len] == ' ');
    }
    return false;
}

bool cbx_hook_code_has(PyObject *code, const char *names, const char *words, bool whole)
{
    PyObject *list = PyObject_GetAttrString(code, names);
    bool found = false;
    for (Py_ssize_t i = 0; list != NULL && i < PyTuple_Size(list) && !found; i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        const char *text = PyUnicode_CheckExact(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        found = text != NULL && has_word(text, words, whole);
    }
    Py_XDECREF(list);
    PyErr_Clear();
    return found;
}

bool cbx_hook_code_has_text(PyObject *code, const char *text)
{
    PyObject *list = PyObject_GetAttrString(code, "co_consts");
    bool found = false;
    for (Py_ssize_t i = 0; list != NULL && i < PyTuple_Size(list) && !found; i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        const char *each = PyUnicode_CheckExact(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        found = each != NULL && strcmp(each, text) == 0;
    }
    Py_XDECREF(list);
    PyErr_Clear();
    return found;
}

static uint64_t hash_of_file(PyObject *code)
{
    char file[4096];
    uint64_t hash = 14695981039346656037ull;
    cbx_hook_code_text(code, "co_filename", file, sizeof(file));
    for (const char *c = file; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    }
    return hash;
}

/* --- adding and finding ----------------------------------------------------------------------- */

void cbx_hook_codes_add(PyObject *code, enum cbx_hook_origin origin)
{
    if (code == NULL || Py_TYPE(code) != code_type) {
        return;
    }
    if (roots.count == roots.size) {
        roots.size = roots.size > 0 ? 2 * roots.size : 2048;
        roots.items = grow(roots.items, roots.size, sizeof(*roots.items));
    }
    uint64_t file = hash_of_file(code);
    uint32_t *bucket = &roots.buckets[file % (sizeof(roots.buckets) / sizeof(roots.buckets[0]))];
    Py_INCREF(code);
    roots.items[roots.count] = (struct root){
        .code = code, .file = file, .origin = origin, .ctypes = -1, .next = *bucket
    };
    *bucket = ++roots.count;
    add_code(code, roots.count - 1);
}

/* Calls `each` for all code nested in the root, and the root itself. */
static void walk(uint32_t root, void (*each)(PyObject *code, uint32_t root))
{
    PyObject **stack = NULL;
    size_t count = 0, size = 0;
    PyObject *code = roots.items[root].code;
    for (;;) {
        each(code, root);
        PyObject *constants = PyObject_GetAttrString(code, "co_consts");
        for (Py_ssize_t i = 0; constants != NULL && i < PyTuple_Size(constants); i++) {
            PyObject *item = PyTuple_GetItem(constants, i);
            if (Py_TYPE(item) != code_type) {
                continue;
            }
            if (count == size) {
                size = size > 0 ? 2 * size : 64;
                stack = grow(stack, size, sizeof(*stack));
            }
            stack[count++] = item; /* borrowed: the root holds a reference */
        }
        Py_XDECREF(constants);
        if (count == 0) {
            break;
        }
        code = stack[--count];
    }
    free(stack);
    PyErr_Clear();
}

/* Returns the root of this code object, or NULL. */
static struct root *find_root(PyObject *code)
{
    struct known *slot = table.size > 0 ? find_slot(table.slots, table.size, code) : NULL;
    if (slot != NULL && slot->code != NULL) {
        return &roots.items[slot->root];
    }
    uint64_t file = hash_of_file(code);
    bool expanded = false;
    uint32_t at = roots.buckets[file % (sizeof(roots.buckets) / sizeof(roots.buckets[0]))];
    for (; at != 0; at = roots.items[at - 1].next) {
        struct root *root = &roots.items[at - 1];
        if (root->file == file && !root->expanded) {
            root->expanded = expanded = true;
            walk(at - 1, add_code);
        }
    }
    slot = expanded ? find_slot(table.slots, table.size, code) : NULL;
    return slot != NULL && slot->code != NULL ? &roots.items[slot->root] : NULL;
}

enum cbx_hook_origin cbx_hook_origin_of(PyObject *code)
{
    const struct root *root = find_root(code);
    return root != NULL ? root->origin : CBX_HOOK_UNKNOWN;
}

/* --- texts ------------------------------------------------------------------------------------ */

struct text_walk {
    bool (*each)(const char *text, size_t len, void *context);
    void *context;
    bool goes_on;
};
static struct text_walk *texts; /* state of the current walk */

/* Visits the texts of a constant: a str, or items of tuples and sets. The interpreter nests
 * constants as deeply as the source does. */
static void visit_constant(PyObject *constant, unsigned depth)
{
    enum { DEPTH_MAX = 16 };
    Py_ssize_t len = 0;
    const char *text =
        PyUnicode_CheckExact(constant) ? PyUnicode_AsUTF8AndSize(constant, &len) : NULL;
    if (text != NULL && texts->goes_on) {
        texts->goes_on = texts->each(text, (size_t)len, texts->context);
    }
    for (Py_ssize_t i = 0;
         depth < DEPTH_MAX && PyTuple_Check(constant) && i < PyTuple_Size(constant); i++) {
        visit_constant(PyTuple_GetItem(constant, i), depth + 1);
    }
    PyErr_Clear();
}

static void visit_constants(PyObject *code, uint32_t root)
{
    (void)root;
    PyObject *constants = texts->goes_on ? PyObject_GetAttrString(code, "co_consts") : NULL;
    if (constants != NULL) {
        visit_constant(constants, 0);
    }
    Py_XDECREF(constants);
}

bool cbx_hook_each_judged_text(bool (*each)(const char *text, size_t len, void *context),
                               void *context)
{
    struct text_walk walks = { .each = each, .context = context, .goes_on = true };
    texts = &walks;
    for (uint32_t i = 0; i < roots.count && walks.goes_on; i++) {
        if (roots.items[i].origin == CBX_HOOK_JUDGED) {
            walk(i, visit_constants);
        }
    }
    texts = NULL;
    return walks.goes_on;
}

/* --- what code imports ------------------------------------------------------------------------ */

/* The numbers of instructions, which differ between versions. */
static int import_name, extended_arg;
static bool found_ctypes;

static void look_for_ctypes(PyObject *code, uint32_t root)
{
    static const char words[] = "ctypes _ctypes ctypes.util ctypes.wintypes";
    (void)root;
    if (found_ctypes || !cbx_hook_code_has(code, "co_names", words, true)) {
        return;
    }
    PyObject *names = PyObject_GetAttrString(code, "co_names"),
             *bytes = PyObject_GetAttrString(code, "co_code");
    const unsigned char *at = bytes != NULL ? (const unsigned char *)PyBytes_AsString(bytes) : NULL;
    uint32_t extended = 0;
    for (Py_ssize_t i = 0; at != NULL && names != NULL && i + 1 < PyBytes_Size(bytes); i += 2) {
        uint32_t argument = extended << 8 | at[i + 1];
        extended = at[i] == extended_arg ? argument : 0;
        PyObject *name = at[i] == import_name && argument < (uint32_t)PyTuple_Size(names)
                             ? PyTuple_GetItem(names, (Py_ssize_t)argument)
                             : NULL;
        const char *text = name != NULL ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        found_ctypes |= text != NULL && has_word(text, words, true);
    }
    Py_XDECREF(names);
    Py_XDECREF(bytes);
}

bool cbx_hook_imports_ctypes(PyObject *code)
{
    struct root *root = find_root(code);
    if (root == NULL || root->origin != CBX_HOOK_IMAGE) {
        return false;
    }
    if (root->ctypes < 0) {
        found_ctypes = false;
        walk((uint32_t)(root - roots.items), look_for_ctypes);
        root->ctypes = found_ctypes;
    }
    return root->ctypes == 1;
}

bool cbx_hook_frame_imports(PyFrameObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *bytes = PyObject_GetAttrString(code, "co_code");
    int at = PyFrame_GetLasti(frame);
    bool imports = bytes != NULL && at >= 0 && at < PyBytes_Size(bytes) &&
                   (unsigned char)PyBytes_AsString(bytes)[at] == import_name;
    Py_XDECREF(bytes);
    Py_DECREF(code);
    return imports;
}

/* --- existing code ---------------------------------------------------------------------------- */

/* Returns a tuple of the objects that the garbage collector tracks now, which include functions. */
static PyObject *list_objects(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *objects = gc != NULL ? PyObject_CallMethod(gc, "get_objects", NULL) : NULL;
    Py_XDECREF(gc);
    return objects;
}

/* Returns the number of an instruction in opcode.opmap; -1, with an exception, if this Python
 * has no such instruction. */
static int number_of(PyObject *numbers, const char *instruction)
{
    PyObject *number = numbers != NULL ? PyDict_GetItemString(numbers, instruction) : NULL;
    if (number == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_RuntimeError, "this Python has no instruction %s", instruction);
    }
    return number != NULL ? (int)PyLong_AsLong(number) : -1;
}

bool cbx_hook_codes_begin(void)
{
    PyObject *types = PyImport_ImportModule("types"), *opcode = PyImport_ImportModule("opcode");
    PyObject *function = types != NULL ? PyObject_GetAttrString(types, "FunctionType") : NULL;
    PyObject *type = types != NULL ? PyObject_GetAttrString(types, "CodeType") : NULL;
    PyObject *numbers = opcode != NULL ? PyObject_GetAttrString(opcode, "opmap") : NULL;
    import_name = number_of(numbers, "IMPORT_NAME");
    extended_arg = number_of(numbers, "EXTENDED_ARG");
    PyObject *objects = import_name >= 0 && extended_arg >= 0 ? list_objects() : NULL;
    bool good = objects != NULL && function != NULL && type != NULL;
    code_type = (PyTypeObject *)type; /* the reference is kept */
    for (Py_ssize_t i = 0; good && i < PyList_Size(objects); i++) {
        PyObject *object = PyList_GetItem(objects, i);
        if ((PyObject *)Py_TYPE(object) == function) {
            PyObject *code = PyObject_GetAttrString(object, "__code__");
            cbx_hook_codes_add(code, CBX_HOOK_IMAGE);
            Py_XDECREF(code);
        }
    }
    Py_XDECREF(objects);
    Py_XDECREF(numbers);
    Py_XDECREF(function);
    Py_XDECREF(opcode);
    Py_XDECREF(types);
    return good;
}
