/* SPDX-License-Identifier: MIT
 * Files of the workspace, for the host. The program may change the workspace at any moment, so
 * Linux resolves every path beneath it without links (openat2(2)). Only regular files are read and
 * written, and no call waits for another process. */
#include "docker/inside/supervisor/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ENTRIES_MAX = 20000,
    ANSWER_MAX = 8 * 1024 * 1024,
    DEPTH_MAX = 64,
    CHANGED_MAX = 1000,
    CHANGED_DEPTH_MAX = 16,
    CHANGED_PATH_BYTES = 4096,
};

static void answer(int code, const void *bytes, size_t len)
{
    uint32_t number = (uint32_t)code;
    cbx_reply(CBX_FRAME_ANSWER, &number, sizeof(number), bytes, len);
}

/* errno of the last call; never 0. */
static int reason(void)
{
    return errno != 0 ? errno : EIO;
}

static int open_workspace(void)
{
    return open("/workspace", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Opens a path beneath the folder, through no link and into no other file system. -1 and errno. */
static int open_beneath(int folder, const char *path, uint64_t flags, uint64_t mode)
{
    struct open_how how = {
        .flags = flags | O_CLOEXEC | O_NOFOLLOW,
        .mode = mode,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* Reads the path of a request as a string, "." if it is empty; false if it is invalid. */
static bool read_path(const uint8_t *p, size_t len, char out[CBX_FRAME_PATH_MAX + 1])
{
    if (len > CBX_FRAME_PATH_MAX || memchr(p, '\0', len) != NULL) {
        return false;
    }
    memcpy(out, p, len);
    out[len] = '\0';
    if (len == 0) {
        memcpy(out, ".", 2);
    }
    return true;
}

/* Creates the missing folders of a path. -1 and errno. */
static int make_folders(int workspace, char *path)
{
    for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        char *name = strrchr(path, '/');
        int above = workspace;
        if (name != NULL) {
            *name = '\0';
            above = open_beneath(workspace, path, O_PATH | O_DIRECTORY, 0);
            *name++ = '/';
        } else {
            name = path;
        }
        int failed = above < 0 || (mkdirat(above, name, 0700) < 0 && errno != EEXIST);
        if (above != workspace && above >= 0) {
            close(above);
        }
        *slash = '/';
        if (failed) {
            return -1;
        }
    }
    return 0;
}

static int write_file(int fd, const uint8_t *p, size_t len)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        return EINVAL;
    }
    if (ftruncate(fd, 0) < 0) {
        return reason();
    }
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            int code = reason();
            (void)!ftruncate(fd, 0); /* no truncated file is left */
            return code;
        }
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* The latest change of a put file, in the resolution of its file system: steps of some
 * milliseconds, or finer (Linux 6.13). */
static struct timespec last_put;

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static void note_put(int fd)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && is_later(&status.st_ctim, &last_put)) {
        last_put = status.st_ctim;
    }
}

void cbx_file_put(const uint8_t *payload, size_t len)
{
    uint32_t path_len;
    char path[CBX_FRAME_PATH_MAX + 1];
    if (len < sizeof(path_len)) {
        cbx_die();
    }
    memcpy(&path_len, payload, sizeof(path_len));
    if (path_len == 0 || path_len > len - sizeof(path_len) ||
        !read_path(payload + sizeof(path_len), path_len, path)) {
        answer(EINVAL, NULL, 0);
        return;
    }
    int workspace = open_workspace();
    int fd = -1, code = 0;
    if (workspace < 0 || make_folders(workspace, path) < 0 ||
        (fd = open_beneath(workspace, path, O_WRONLY | O_CREAT | O_NONBLOCK, 0600)) < 0) {
        code = reason();
    } else {
        code = write_file(fd, payload + sizeof(path_len) + path_len,
                          len - sizeof(path_len) - path_len);
        note_put(fd);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (workspace >= 0) {
        close(workspace);
    }
    answer(code, NULL, 0);
}

/* Reads a regular file of at most `most` bytes; the caller frees *out. */
static int read_file(int fd, uint32_t most, uint8_t **out, size_t *out_len)
{
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return reason();
    }
    if (!S_ISREG(status.st_mode)) {
        return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    }
    if (status.st_size > (off_t)most) {
        return EFBIG;
    }
    size_t size = (size_t)status.st_size, len = 0;
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL) {
        cbx_die();
    }
    while (len < size) {
        ssize_t n = read(fd, bytes + len, size - len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break; /* the program truncated it meanwhile */
        }
        len += (size_t)n;
    }
    *out = bytes;
    *out_len = len;
    return 0;
}

void cbx_file_get(const uint8_t *payload, size_t len)
{
    uint32_t most;
    char path[CBX_FRAME_PATH_MAX + 1];
    if (len < sizeof(most)) {
        cbx_die();
    }
    memcpy(&most, payload, sizeof(most));
    if (most > CBX_FRAME_DATA_MAX - 4 || !read_path(payload + 4, len - 4, path)) {
        answer(EINVAL, NULL, 0);
        return;
    }
    uint8_t *bytes = NULL;
    size_t size = 0;
    int code, workspace = open_workspace();
    int fd = workspace < 0 ? -1 : open_beneath(workspace, path, O_RDONLY | O_NONBLOCK, 0);
    code = fd < 0 ? reason() : read_file(fd, most, &bytes, &size);
    if (fd >= 0) {
        close(fd);
    }
    if (workspace >= 0) {
        close(workspace);
    }
    answer(code, bytes, size);
    free(bytes);
}

static void list_entry(struct cbx_bytes *out, const char *name, const struct stat *status)
{
    struct cbx_frame_entry entry = {
        .size_bytes = S_ISDIR(status->st_mode) ? 0 : (uint64_t)status->st_size,
        .modified_s = status->st_mtim.tv_sec,
        .name_len = (uint16_t)strlen(name),
        .is_folder = S_ISDIR(status->st_mode),
    };
    cbx_bytes_add(out, &entry, sizeof(entry));
    cbx_bytes_add(out, name, entry.name_len);
}

void cbx_file_list(const uint8_t *payload, size_t len)
{
    char path[CBX_FRAME_PATH_MAX + 1];
    int workspace = open_workspace();
    int fd = -1;
    errno = EINVAL;
    if (workspace >= 0 && read_path(payload, len, path)) {
        fd = open_beneath(workspace, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
    }
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct cbx_bytes out = { 0 };
    int code = dir == NULL ? reason() : 0, entries = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct stat status;
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (dots || fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
            (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) {
            continue;
        }
        if (++entries > ENTRIES_MAX || out.len > ANSWER_MAX) {
            code = E2BIG; /* the entries that fit are listed */
            break;
        }
        list_entry(&out, entry->d_name, &status);
    }
    if (dir != NULL) {
        closedir(dir);
    }
    if (workspace >= 0) {
        close(workspace);
    }
    answer(code, out.p, out.len);
    cbx_bytes_free(&out);
}

/* Recursion is bounded by DEPTH_MAX. The program may replace a folder by a link at any moment:
 * opening follows no link, and unlinkat neither. */
static int remove_at(int folder, const char *name, int depth)
{
    if (unlinkat(folder, name, 0) == 0) {
        return 0;
    }
    if (errno != EISDIR && errno != EPERM) {
        return reason();
    }
    int fd = depth < DEPTH_MAX
                 ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int code = dir == NULL ? ELOOP : 0;
    for (struct dirent *entry; dir != NULL && code == 0 && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            code = remove_at(dirfd(dir), entry->d_name, depth + 1);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    if (code != 0) {
        return code;
    }
    return unlinkat(folder, name, AT_REMOVEDIR) == 0 ? 0 : reason();
}

void cbx_file_delete(const uint8_t *payload, size_t len)
{
    char path[CBX_FRAME_PATH_MAX + 1];
    int workspace = open_workspace();
    int code = EINVAL;
    if (workspace >= 0 && len > 0 && read_path(payload, len, path)) {
        char *slash = strrchr(path, '/');
        const char *name = slash != NULL ? slash + 1 : path;
        if (slash != NULL) {
            *slash = '\0';
        }
        int above = open_beneath(workspace, slash != NULL ? path : ".", O_PATH | O_DIRECTORY, 0);
        bool named = name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
        code = above < 0 ? reason() : !named ? EINVAL : remove_at(above, name, 0);
        if (above >= 0) {
            close(above);
        }
    }
    if (workspace >= 0) {
        close(workspace);
    }
    answer(code, NULL, 0);
}

/* --- files that changed during a run ---------------------------------------------------------- */

struct walk {
    struct timespec since;
    int files, entries;
    bool complete;
    char path[CHANGED_PATH_BYTES];
};

static bool is_since(const struct stat *status, const struct timespec *since)
{
    return status->st_ctim.tv_sec > since->tv_sec ||
           (status->st_ctim.tv_sec == since->tv_sec && status->st_ctim.tv_nsec >= since->tv_nsec);
}

static void report_changed(struct walk *w, const struct stat *status)
{
    if (w->files == CHANGED_MAX) {
        w->complete = false;
        return;
    }
    w->files++;
    uint64_t size = (uint64_t)status->st_size;
    cbx_report_frame(CBX_FRAME_FILE, &size, sizeof(size), w->path, strlen(w->path));
}

/* Recursion is bounded by CHANGED_DEPTH_MAX. */
static void walk_folder(struct walk *w, int folder, size_t prefix, int depth)
{
    DIR *dir = fdopendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct stat status;
        size_t len = strlen(entry->d_name);
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (dots || fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
            continue;
        }
        if (++w->entries > ENTRIES_MAX || prefix + len + 2 > CHANGED_PATH_BYTES) {
            w->complete = false;
            break;
        }
        memcpy(w->path + prefix, entry->d_name, len + 1);
        if (S_ISREG(status.st_mode) && is_since(&status, &w->since)) {
            report_changed(w, &status);
        } else if (S_ISDIR(status.st_mode)) {
            int below = depth < CHANGED_DEPTH_MAX
                            ? openat(dirfd(dir), entry->d_name,
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                            : -1;
            w->path[prefix + len] = '/';
            if (below >= 0) {
                walk_folder(w, below, prefix + len + 1, depth + 1);
            } else {
                w->complete = false;
            }
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

void cbx_file_note_begin(struct timespec *out)
{
    enum { TRIES = 100 }; /* a clock that was set back does not delay a run */
    struct timespec pause = { .tv_nsec = 1000000 };
    clock_gettime(CLOCK_REALTIME_COARSE, out);
    for (int i = 0; i < TRIES && !is_later(out, &last_put); i++) {
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_REALTIME_COARSE, out);
    }
}

bool cbx_file_report_changed(const struct timespec *since)
{
    static struct walk w;
    w = (struct walk){ .since = *since, .complete = true };
    int folder = open("/workspace", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return true;
    }
    walk_folder(&w, folder, 0, 0);
    return w.complete;
}
