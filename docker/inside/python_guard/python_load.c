/* SPDX-License-Identifier: MIT
 * Files as code: files of the image, and source whose SHA-256 the host accepted. All other files
 * are data. The hashed bytes are the compiled bytes, and a file is identified by its open
 * descriptor, independently of its path. */
#define OPENSSL_API_COMPAT 0x10101000L /* SHA-256 only, without the providers of libcrypto */
#include "docker/inside/python_guard/python_guard.h"

#include "docker/inside/confine/hash_set.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the image: no program can write to it, and no link in it leads to a writable
 * place. The kernel's own folder is excluded: a program that loaded its files again would get
 * functions of its own. */
static const char image_folder[] = "/usr/", workspace[] = "/workspace/";
enum {
    FILE_BYTES_MAX =
        16 * 1024 * 1024 /* a larger file is no source: maximum size of a run's source */,
    ROOTS_MAX = 16,
    STAMP_BYTES = 16
};

static struct cbx_hash_set accepted;
static char *roots[ROOTS_MAX]; /* folders of modules, with '/' at the end */
static size_t root_count;
static char suffix[64]; /* suffix of compiled files */
static char magic[4];
/* functions of _imp */
static PyObject *create_dynamic, *create_builtin, *get_frozen, *fix_file_name;

static bool add_root(PyObject *item)
{
    const char *path = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
    if (path == NULL || strncmp(path, image_folder, sizeof(image_folder) - 1) != 0) {
        return !PyErr_Occurred();
    }
    if (root_count == ROOTS_MAX || asprintf(&roots[root_count], "%s/", path) < 0) {
        PyErr_SetString(PyExc_RuntimeError, "sys.path has too many folders");
        return false;
    }
    root_count++;
    return true;
}

bool cbx_hook_load_init(void)
{
    PyObject *imp = PyImport_ImportModule("_imp");
    create_dynamic = imp != NULL ? PyObject_GetAttrString(imp, "create_dynamic") : NULL;
    create_builtin = imp != NULL ? PyObject_GetAttrString(imp, "create_builtin") : NULL;
    get_frozen = imp != NULL ? PyObject_GetAttrString(imp, "get_frozen_object") : NULL;
    fix_file_name = imp != NULL ? PyObject_GetAttrString(imp, "_fix_co_filename") : NULL;
    Py_XDECREF(imp);
    return create_dynamic != NULL && create_builtin != NULL && get_frozen != NULL &&
           fix_file_name != NULL;
}

bool cbx_hook_load_begin(PyObject *path, PyObject *tag, PyObject *magic_number)
{
    const char *name = PyUnicode_AsUTF8AndSize(tag, NULL);
    bool good = name != NULL && PyBytes_Size(magic_number) == sizeof(magic);
    for (Py_ssize_t i = 0; good && i < PyTuple_Size(path); i++) {
        good = add_root(PyTuple_GetItem(path, i));
    }
    if (good) {
        snprintf(suffix, sizeof(suffix), ".%s.pyc", name);
        memcpy(magic, PyBytes_AsString(magic_number), sizeof(magic));
    }
    return good;
}

void cbx_hook_accept(const uint8_t *hashes, size_t len)
{
    cbx_hash_set_add(&accepted, hashes, len / CBX_FRAME_HASH_BYTES);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A file in memory. */
struct file {
    char real[PATH_MAX]; /* its path without links */
    char *bytes;         /* owned */
    size_t len;
    struct stat status;
};

static void free_file(struct file *file)
{
    free(file->bytes);
}

static bool read_all(int fd, struct file *file)
{
    size_t size = (size_t)file->status.st_size;
    file->bytes = malloc(size + 1);
    ssize_t n = 1;
    while (file->bytes != NULL && n > 0 && file->len < size) {
        n = read(fd, file->bytes + file->len, size - file->len);
        file->len += n > 0 ? (size_t)n : 0;
        n = n < 0 && errno == EINTR ? 1 : n;
    }
    return file->bytes != NULL && n >= 0;
}

/* Returns 0, or an errno value. Never blocks, even on a pipe: EINVAL for a file that is not
 * regular or too large. */
static int read_file(const char *path, struct file *file)
{
    char link[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    memset(file, 0, sizeof(*file));
    if (fd < 0) {
        return errno;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, file->real, sizeof(file->real) - 1);
    file->real[n > 0 ? n : 0] = '\0';
    int error = fstat(fd, &file->status) != 0 ? errno : 0;
    if (error == 0 &&
        (n <= 0 || !S_ISREG(file->status.st_mode) || file->status.st_size > FILE_BYTES_MAX)) {
        error = EINVAL;
    }
    if (error == 0 && !read_all(fd, file)) {
        error = errno != 0 ? errno : EIO;
        free_file(file);
        file->bytes = NULL;
    }
    close(fd);
    return error;
}

static bool is_of_image(const struct file *file)
{
    return strncmp(file->real, image_folder, sizeof(image_folder) - 1) == 0;
}

static bool is_accepted(const struct file *file)
{
    uint8_t hash[SHA256_DIGEST_LENGTH];
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, file->bytes, file->len);
    SHA256_Final(hash, &context);
    return file->len == 0 ||
           cbx_hash_set_has(&accepted,
                            hash); /* an empty file, such as many __init__.py, has no code */
}

/* Raises ImportError. Returns NULL. */
static PyObject *refuse_file(const char *path, const char *why, PyObject *name)
{
    size_t cut = strncmp(path, workspace, sizeof(workspace) - 1) == 0 ? sizeof(workspace) - 1 : 0;
    PyObject *text = PyUnicode_FromFormat("%s %s", path + cut, why),
             *whole = PyUnicode_DecodeFSDefault(path);
    if (text != NULL && whole != NULL) {
        PyErr_SetImportError(text, name != NULL ? name : Py_None, whole);
    }
    Py_XDECREF(text);
    Py_XDECREF(whole);
    return NULL;
}

/* Reads a file, or raises OSError, also for a file outside that the guard refuses, or ImportError for
 * a file that was not judged, and reports that. */
static bool read_code(const char *path, struct file *file, PyObject *name)
{
    PyObject *text = PyUnicode_DecodeFSDefault(path);
    bool refused = text == NULL || cbx_hook_check_file(text, false) != 0;
    Py_XDECREF(text);
    if (refused) {
        return false;
    }
    int error = read_file(path, file);
    if (error == EINVAL) {
        refuse_file(path, "is no file of source, so it is not loaded as code", name);
        return false;
    }
    if (error != 0) {
        errno = error;
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
        return false;
    }
    if (!is_of_image(file) && !is_accepted(file)) {
        refuse_file(path,
                    "was not judged, so it is not loaded as code: upload it, or write it in a cell "
                    "with %%writefile",
                    name);
        free_file(file);
        if (cbx_hook_refuses(CBX_GUARD_EVALUATE)) {
            cbx_hook_report(CBX_GUARD_EVALUATE, "a file that was not judged");
        }
        return false;
    }
    return true;
}

/* --- files of the image ----------------------------------------------------------------------- */

/* Returns the longest folder of modules that contains the file, or NULL. */
static const char *root_of(const char *real)
{
    const char *found = NULL;
    for (size_t i = 0; i < root_count; i++) {
        if (strncmp(real, roots[i], strlen(roots[i])) == 0 &&
            (found == NULL || strlen(roots[i]) > strlen(found))) {
            found = roots[i];
        }
    }
    return found;
}

/* Writes the module name of a file of the image, under any load name; "" if it is no module. */
static void name_of_file(const char *real, char *out, size_t size)
{
    const char *root = root_of(real);
    snprintf(out, size, "%s", root != NULL ? real + strlen(root) : "");
    char *slash = strrchr(out, '/'), *file = slash != NULL ? slash + 1 : out;
    char *dot = strchr(file, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
    if (strcmp(file, "__init__") == 0) {
        *(slash != NULL ? slash : file) = '\0';
    }
    for (char *c = out; *c != '\0'; c++) {
        *c = *c == '/' ? '.' : *c;
    }
}

/* Loads the compiled file beside the source, if it was made from this source: CPython's layout
 * (PEP 552, PEP 3147). NULL without an exception if it was not. */
static PyObject *load_compiled(const struct file *source)
{
    char path[PATH_MAX + sizeof(suffix) + 16];
    const char *slash = strrchr(source->real, '/'), *dot = strrchr(source->real, '.');
    int stem = dot != NULL && dot > slash ? (int)(dot - slash - 1) : (int)strlen(slash + 1);
    snprintf(path, sizeof(path), "%.*s/__pycache__/%.*s%s", (int)(slash - source->real),
             source->real, stem, slash + 1, suffix);
    struct file file;
    if (read_file(path, &file) != 0) {
        return NULL;
    }
    uint32_t stamp[STAMP_BYTES / sizeof(uint32_t)] = { 0 };
    PyObject *code = NULL;
    if (file.len > STAMP_BYTES && is_of_image(&file)) {
        memcpy(stamp, file.bytes, STAMP_BYTES);
        bool current = memcmp(stamp, magic, sizeof(magic)) == 0 && stamp[1] == 0 &&
                       stamp[2] == (uint32_t)source->status.st_mtim.tv_sec &&
                       stamp[3] == (uint32_t)source->status.st_size;
        code = current ? PyMarshal_ReadObjectFromString(file.bytes + STAMP_BYTES,
                                                        (Py_ssize_t)(file.len - STAMP_BYTES))
                       : NULL;
        PyErr_Clear();
    }
    free_file(&file);
    return code;
}

/* Checks both the path without links, and the requested path: a link of the image is a module,
 * too. */
static int check_file(const char *real, PyObject *path)
{
    char module[PATH_MAX];
    const char *text = PyUnicode_AsUTF8AndSize(path, NULL);
    PyErr_Clear();
    name_of_file(real, module, sizeof(module));
    if (cbx_hook_check_loaded(module) != 0) {
        return -1;
    }
    name_of_file(text != NULL ? text : "", module, sizeof(module));
    return cbx_hook_check_loaded(module);
}

static PyObject *load_of_image(const struct file *file, PyObject *path)
{
    if (check_file(file->real, path) != 0) {
        return NULL;
    }
    PyObject *code = load_compiled(file);
    if (code != NULL) {
        PyObject *none = PyObject_CallFunctionObjArgs(fix_file_name, code, path, NULL);
        Py_XDECREF(none);
    } else {
        code = cbx_hook_compile_source(file->bytes, file->len, path);
    }
    cbx_hook_codes_add(code, CBX_HOOK_IMAGE);
    return code;
}

/* --- functions of the module ------------------------------------------------------------------ */

/* Returns a path as an exact str; its bytes are put into *bytes. Both are new references; NULL
 * and an exception. */
static PyObject *take_path(PyObject *given, PyObject **bytes)
{
    PyObject *path = PyOS_FSPath(given);
    PyObject *text = NULL;
    if (path != NULL && PyBytes_Check(path)) {
        text = PyUnicode_DecodeFSDefaultAndSize(PyBytes_AsString(path), PyBytes_Size(path));
    } else if (path != NULL) {
        text = PyUnicode_FromObject(path);
    }
    Py_XDECREF(path);
    *bytes = text != NULL ? PyUnicode_EncodeFSDefault(text) : NULL;
    if (*bytes != NULL && strlen(PyBytes_AsString(*bytes)) != (size_t)PyBytes_Size(*bytes)) {
        PyErr_SetString(PyExc_ValueError, "embedded null byte");
        Py_CLEAR(*bytes);
    }
    if (*bytes == NULL) {
        Py_CLEAR(text);
    }
    return text;
}

PyObject *cbx_hook_load(PyObject *self, PyObject *args)
{
    PyObject *given, *name, *bytes, *code = NULL;
    struct file file;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &given, &name)) {
        return NULL;
    }
    PyObject *path = take_path(given, &bytes);
    if (path == NULL) {
        return NULL;
    }
    if (read_code(PyBytes_AsString(bytes), &file, name)) {
        if (is_of_image(&file)) {
            code = load_of_image(&file, path);
        } else {
            code = cbx_hook_compile_source(file.bytes, file.len, path);
            cbx_hook_codes_add(code, CBX_HOOK_JUDGED);
        }
        free_file(&file);
    }
    Py_DECREF(bytes);
    Py_DECREF(path);
    return code;
}

PyObject *cbx_hook_read_source(PyObject *self, PyObject *given)
{
    PyObject *bytes, *path = take_path(given, &bytes), *data = NULL;
    struct file file;
    (void)self;
    if (path == NULL) {
        return NULL;
    }
    if (read_code(PyBytes_AsString(bytes), &file, NULL)) {
        data = PyBytes_FromStringAndSize(file.bytes, (Py_ssize_t)file.len);
        free_file(&file);
    }
    Py_DECREF(bytes);
    Py_DECREF(path);
    return data;
}

/* Makes a spec with the given one's name and origin, of a type that no program changes: the
 * checked spec is the loaded one. New reference, or NULL and an exception. */
static PyObject *copy_spec(PyObject *spec, PyObject **name, PyObject **origin)
{
    PyObject *given_name = PyObject_GetAttrString(spec, "name"),
             *given_origin = PyObject_GetAttrString(spec, "origin");
    *name =
        given_name != NULL && PyUnicode_Check(given_name) ? PyUnicode_FromObject(given_name) : NULL;
    *origin = given_origin != NULL && PyUnicode_Check(given_origin)
                  ? PyUnicode_FromObject(given_origin)
                  : NULL;
    PyObject *types = *name != NULL && *origin != NULL ? PyImport_ImportModule("types") : NULL;
    PyObject *members =
        types != NULL ? Py_BuildValue("{s:O,s:O}", "name", *name, "origin", *origin) : NULL;
    PyObject *type = members != NULL ? PyObject_GetAttrString(types, "SimpleNamespace") : NULL;
    PyObject *empty = type != NULL ? PyTuple_New(0) : NULL;
    PyObject *copy = empty != NULL ? PyObject_Call(type, empty, members) : NULL;
    Py_XDECREF(empty);
    Py_XDECREF(type);
    Py_XDECREF(members);
    Py_XDECREF(types);
    Py_XDECREF(given_origin);
    Py_XDECREF(given_name);
    if (copy == NULL) {
        Py_CLEAR(*name);
        Py_CLEAR(*origin);
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError,
                            "a module is loaded by a spec with a name and an origin");
        }
    }
    return copy;
}

PyObject *cbx_hook_create_dynamic(PyObject *self, PyObject *args)
{
    PyObject *spec, *file = NULL, *name, *origin, *module = NULL;
    char real[PATH_MAX];
    (void)self;
    if (!PyArg_ParseTuple(args, "O|O", &spec, &file)) {
        return NULL;
    }
    PyObject *copy = copy_spec(spec, &name, &origin);
    PyObject *path = copy != NULL ? PyUnicode_EncodeFSDefault(origin) : NULL;
    if (path != NULL && (realpath(PyBytes_AsString(path), real) == NULL ||
                         strncmp(real, image_folder, sizeof(image_folder) - 1) != 0)) {
        refuse_file(PyBytes_AsString(path), "is native code, which is loaded from the image alone",
                    name);
    } else if (path != NULL) {
        module = check_file(real, origin) == 0
                     ? PyObject_CallFunctionObjArgs(create_dynamic, copy, NULL)
                     : NULL;
    }
    Py_XDECREF(path);
    Py_XDECREF(copy);
    Py_XDECREF(name);
    Py_XDECREF(origin);
    return module;
}

static int check_named(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    return text == NULL ? -1 : cbx_hook_check_loaded(text);
}

PyObject *cbx_hook_create_builtin(PyObject *self, PyObject *args)
{
    PyObject *spec, *name, *origin;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &spec)) {
        return NULL;
    }
    PyObject *copy = copy_spec(spec, &name, &origin);
    PyObject *module = copy != NULL && check_named(name) == 0
                           ? PyObject_CallFunctionObjArgs(create_builtin, copy, NULL)
                           : NULL;
    Py_XDECREF(copy);
    Py_XDECREF(name);
    Py_XDECREF(origin);
    return module;
}

PyObject *cbx_hook_get_frozen(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *given = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *name = given != NULL && PyUnicode_Check(given) ? PyUnicode_FromObject(given) : NULL;
    if (name == NULL) {
        PyErr_SetString(PyExc_TypeError, "a frozen module has a name");
        return NULL;
    }
    PyObject *code = NULL;
    /* With data of the caller, the code would be the caller's. */
    if (check_named(name) == 0 && PyTuple_Size(args) == 1) {
        code = PyObject_CallFunctionObjArgs(get_frozen, name, NULL);
        cbx_hook_codes_add(code, CBX_HOOK_IMAGE);
    } else if (!PyErr_Occurred()) {
        code = PyObject_CallObject(get_frozen, args);
    }
    Py_DECREF(name);
    return code;
}
