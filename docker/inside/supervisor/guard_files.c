/* SPDX-License-Identifier: MIT
 * Notified calls whose arguments are paths. Landlock decides which files can be opened and
 * changed (docker/inside/confine/open_places.def), and reports nothing; this file reports an
 * attempt, and refuses reading the environment and the memory of processes by their paths in
 * /proc. */
#include "docker/inside/supervisor/guard_notifier.h"

#include "docker/inside/confine/names.h"
#include "docker/inside/confine/open_places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NONE = -1 };

/* The argument numbers of a path and of the folder that it is relative to. */
struct operand {
    signed char folder, path; /* argument numbers; folder NONE: the working directory */
    bool writes;
};
static const struct {
    struct operand operands[2]; /* path NONE: no such operand */
    /* argument with the text of a symbolic link, or NONE; the last operand is the link */
    signed char text;
} paths_of[] = {
    [CBX_CALL_OPENED] = { { { NONE, 0, false }, { NONE, NONE, false } }, NONE },
    [CBX_CALL_OPENED_AT] = { { { 0, 1, false }, { NONE, NONE, false } }, NONE },
    [CBX_CALL_CHANGED] = { { { NONE, 0, true }, { NONE, NONE, false } }, NONE },
    [CBX_CALL_CHANGED_AT] = { { { 0, 1, true }, { NONE, NONE, false } }, NONE },
    [CBX_CALL_MOVED] = { { { NONE, 0, true }, { NONE, 1, true } }, NONE },
    [CBX_CALL_MOVED_AT] = { { { 0, 1, true }, { 2, 3, true } }, NONE },
    [CBX_CALL_LINKED] = { { { NONE, 0, false }, { NONE, 1, true } }, NONE },
    [CBX_CALL_LINKED_AT] = { { { 0, 1, false }, { 2, 3, true } }, NONE },
    [CBX_CALL_SYMLINKED] = { { { NONE, 1, true }, { NONE, NONE, false } }, 0 },
    [CBX_CALL_SYMLINKED_AT] = { { { 1, 2, true }, { NONE, NONE, false } }, 0 },
};

/* Names of the calling process itself, which would name the supervisor when the supervisor opens
 * them. The rest of the path follows. */
static const struct {
    const char *name, *of_process;
} own_names[] = {
    { "/proc/self", "" },      { "/proc/thread-self", "" }, { "/dev/fd", "/fd" },
    { "/dev/stdin", "/fd/0" }, { "/dev/stdout", "/fd/1" },  { "/dev/stderr", "/fd/2" },
};

/* Writes the path as the supervisor can open it; false if the folder that it is relative to is
 * not known. */
static bool join(const struct cbx_guard_call *call, int folder, const char *path, char *out,
                 size_t size)
{
    char base[64];
    for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++) {
        size_t len = strlen(own_names[i].name);
        if (strncmp(path, own_names[i].name, len) == 0 && (path[len] == '/' || path[len] == '\0')) {
            snprintf(out, size, "/proc/%d%s%s", (int)call->pid, own_names[i].of_process,
                     path + len);
            return true;
        }
    }
    if (path[0] == '/') {
        snprintf(out, size, "%s", path);
        return true;
    }
    snprintf(base, sizeof(base), folder == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d",
             (int)call->pid, folder);
    ssize_t n = readlink(base, out, PATH_MAX - 1);
    if (n <= 0) {
        return false;
    }
    snprintf(out + n, size - (size_t)n, "/%s", path);
    return true;
}

/* Resolves the file without links. *exists: false if it does not exist, and `out` is its folder.
 * Returns false if neither is known, or it is no file with a path (a pipe). */
static bool resolve(const struct cbx_guard_call *call, int folder, const char *path, char *out,
                    bool *exists)
{
    char joined[2 * PATH_MAX], link[64];
    if (!join(call, folder, path, joined, sizeof(joined))) {
        return false;
    }
    int fd = open(joined, O_PATH | O_CLOEXEC);
    *exists = fd >= 0;
    if (fd < 0) {
        char *slash = strrchr(joined, '/');
        slash[slash == joined ? 1 : 0] = '\0';
        fd = open(joined, O_PATH | O_CLOEXEC);
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = fd >= 0 ? readlink(link, out, PATH_MAX - 1) : -1;
    out[n > 0 ? n : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return n > 0 && out[0] == '/';
}

static int refuse_path(struct cbx_guard_call *call, bool writes, const char *path)
{
    call->refusal = writes ? CBX_GUARD_WRITE : CBX_GUARD_READ;
    snprintf(call->what, sizeof(call->what), "%.*s", (int)sizeof(call->what) - 1, path);
    return cbx_guard_refuses(call) ? -EACCES : 0;
}

static int decide_path(struct cbx_guard_call *call, int folder, const char *path, bool writes)
{
    char real[PATH_MAX];
    struct stat status;
    bool exists = false;
    if (!resolve(call, folder, path, real, &exists) || (!exists && !writes) ||
        cbx_place_is_inside(real, writes)) {
        return 0;
    }
    bool lists = !writes && stat(real, &status) == 0 && S_ISDIR(status.st_mode);
    if (!lists) {
        return refuse_path(call, writes, path);
    }
    return 0;
}

/* The text of a symbolic link is relative to the folder of the link. */
static int decide_link(struct cbx_guard_call *call, int folder, const char *link)
{
    char text[PATH_MAX], path[2 * PATH_MAX];
    if (!cbx_guard_read_memory(call->pid, call->data->args[0], text, sizeof(text))) {
        return 0;
    }
    const char *slash = strrchr(link, '/');
    int len = slash != NULL && text[0] != '/' ? (int)(slash - link) + 1 : 0;
    snprintf(path, sizeof(path), "%.*s%s", len, link, text);
    return decide_path(call, folder, path, false);
}

static bool is_opened(const struct cbx_guard_call *call)
{
    return call->row->argument == CBX_CALL_OPENED || call->row->argument == CBX_CALL_OPENED_AT;
}

static int decide_operand(struct cbx_guard_call *call, const struct operand *operand, bool writes)
{
    char path[PATH_MAX];
    uint64_t address = call->data->args[(int)operand->path];
    int folder = operand->folder == NONE ? AT_FDCWD : (int)call->data->args[(int)operand->folder];
    if (address == 0 && is_opened(call)) { /* the shell's library reports the shell's refusals */
        cbx_guard_unpack(call->data, path);
        return refuse_path(call, writes, path);
    }
    /* utimensat(2) of a descriptor has no path. The memory of the shell itself cannot be read:
     * Landlock decides. */
    if (address == 0 || !cbx_guard_read_memory(call->pid, address, path, sizeof(path))) {
        return 0;
    }
    int error = decide_path(call, folder, path, writes);
    if (error != 0 || paths_of[call->row->argument].text == NONE) {
        return error;
    }
    return decide_link(call, folder, path);
}

int cbx_guard_decide_paths(struct cbx_guard_call *call)
{
    if ((cbx_guard.refused & (1 << CBX_GUARD_READ | 1 << CBX_GUARD_WRITE)) == 0) {
        return 0; /* the kernel is starting */
    }
    uint64_t flags =
        is_opened(call) ? call->data->args[paths_of[call->row->argument].operands[0].path + 1] : 0;
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
    if (!writes && (flags & (O_DIRECTORY | O_PATH)) != 0) {
        return 0; /* names of files, which are no secret */
    }
    int error = 0;
    for (size_t i = 0; i < 2 && error == 0; i++) {
        const struct operand *operand = &paths_of[call->row->argument].operands[i];
        if (operand->path != NONE) {
            error = decide_operand(call, operand, operand->writes || writes);
        }
    }
    return error;
}
