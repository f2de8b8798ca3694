/* SPDX-License-Identifier: MIT
 * Files: host data in /proc, /sys and /dev, writable files, setuid programs, sockets of engines.
 * Every walk is bounded. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { ENTRIES_MAX = 400000, DEPTH_MAX = 24, PATH_BYTES = 4096 };

/* One walk through a tree; `look` counts and names its findings. */
struct walk {
    void (*look)(struct walk *, const struct stat *);
    bool skip_processes; /* /proc/1, /proc/self, ... have checks of their own */
    bool stay;           /* true to stay on one file system */
    dev_t device;
    int entries, found, depth;
    char first[256]; /* the first finding */
    char path[PATH_BYTES];
};

static void note(struct walk *w)
{
    if (w->found++ == 0) {
        snprintf(w->first, sizeof(w->first), "%.250s", w->path);
    }
}

static bool is_process(const struct walk *w, const char *name)
{
    return w->skip_processes && w->depth == 0 &&
           (strspn(name, "0123456789") == strlen(name) || strcmp(name, "self") == 0 ||
            strcmp(name, "thread-self") == 0);
}

/* Recursion is bounded by DEPTH_MAX. */
static void walk_folder(struct walk *w)
{
    size_t len = strlen(w->path);
    DIR *dir = opendir(w->path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct stat status;
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (dots || is_process(w, entry->d_name) || ++w->entries > ENTRIES_MAX ||
            len + strlen(entry->d_name) + 2 > PATH_BYTES) {
            continue;
        }
        snprintf(w->path + len, PATH_BYTES - len, "%s%s", len > 1 ? "/" : "", entry->d_name);
        if (lstat(w->path, &status) == 0 && (!w->stay || status.st_dev == w->device)) {
            w->look(w, &status);
            if (S_ISDIR(status.st_mode) && w->depth < DEPTH_MAX) {
                w->depth++;
                walk_folder(w);
                w->depth--;
            }
        }
        w->path[len] = '\0';
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

static void walk_and_say(const char *name, const char *root, struct walk *w)
{
    struct stat status;
    snprintf(w->path, sizeof(w->path), "%s", root);
    w->device = lstat(root, &status) == 0 ? status.st_dev : 0;
    walk_folder(w);
    bool whole = w->entries <= ENTRIES_MAX;
    const char *more = whole ? "" : " and more";
    if (w->found > 0) {
        cbx_attempt_report(name, CBX_REACHED, "%d of %d%s, the first is %s", w->found, w->entries,
                           more, w->first);
    } else {
        cbx_attempt_report(name, whole ? CBX_HELD : CBX_UNKNOWN, "%d of %d%s%s", w->found,
                           w->entries, more, w->first);
    }
}

/* --- the findings of walks -------------------------------------------------------------------- */

static void look_for_privilege(struct walk *w, const struct stat *status)
{
    if (S_ISREG(status->st_mode) && ((status->st_mode & (S_ISUID | S_ISGID)) != 0 ||
                                     ((status->st_mode & 0111) != 0 &&
                                      lgetxattr(w->path, "security.capability", NULL, 0) > 0))) {
        note(w);
    }
}

/* access(2) is not enough: some files are reported as writable and are not, and vice versa. */
static void look_for_writable(struct walk *w, const struct stat *status)
{
    bool mode = S_ISREG(status->st_mode);
    int fd = mode ? open(w->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd >= 0) {
        close(fd);
        note(w);
    } else if (S_ISDIR(status->st_mode) && access(w->path, W_OK) == 0) {
        note(w);
    }
}

/* Checks for devices other than the allowed ones: no disk, no memory, no log, no FUSE, no KVM. */
static void look_for_devices(struct walk *w, const struct stat *status)
{
    const dev_t harmless[] = {
        makedev(1, 3), makedev(1, 5), makedev(1, 7), makedev(1, 8),
        makedev(1, 9), makedev(5, 0), makedev(5, 2),
    };
    bool known = !S_ISBLK(status->st_mode) && !S_ISCHR(status->st_mode);
    for (size_t i = 0; !known && i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        known = S_ISCHR(status->st_mode) && status->st_rdev == harmless[i];
    }
    if (!known) {
        note(w);
    }
}

static void look_for_sockets(struct walk *w, const struct stat *status)
{
    if (S_ISSOCK(status->st_mode)) {
        note(w);
    }
}

static void look_for_cgroup_controls(struct walk *w, const struct stat *status)
{
    (void)status;
    const char *base = strrchr(w->path, '/');
    static const char *const names[] = { "release_agent",         "notify_on_release",
                                         "cgroup.procs",          "tasks",
                                         "devices.allow",         "memory.max",
                                         "memory.limit_in_bytes", "pids.max" };
    for (size_t i = 0; base != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        int fd = strcmp(base + 1, names[i]) == 0 ? open(w->path, O_WRONLY | O_CLOEXEC) : -1;
        if (fd >= 0) {
            close(fd);
            note(w);
        }
    }
    char below[PATH_BYTES + 32];
    snprintf(below, sizeof(below), "%s/codebox-probe", w->path);
    if (S_ISDIR(status->st_mode) && mkdir(below, 0700) == 0) {
        rmdir(below);
        note(w);
    }
}

/* --- single files ----------------------------------------------------------------------------- */

static void try_write(const char *path)
{
    char name[200];
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    int result = fd < 0 ? errno : 0;
    struct stat status;
    bool null = fd >= 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) &&
                status.st_rdev == makedev(1, 3);
    snprintf(name, sizeof(name), "write-%s", path);
    cbx_attempt_report_if(result != 0 || null, name, "%s",
                          null ? "masked" : cbx_result_text(result));
    if (fd >= 0) {
        close(fd);
    }
}

/* A masked, missing, empty or refused path counts as held. */
static void try_masked(const char *path)
{
    char name[200], byte;
    snprintf(name, sizeof(name), "masked-%s", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        cbx_attempt_report(name, CBX_HELD, "%s", cbx_result_text(errno));
        return;
    }
    ssize_t n = read(fd, &byte, 1);
    int entries = 0;
    if (n < 0 && errno == EISDIR) {
        DIR *dir = fdopendir(fd);
        for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
            entries += entry->d_name[0] != '.';
        }
        if (dir != NULL) {
            closedir(dir);
        }
        n = entries;
    } else {
        close(fd);
    }
    cbx_attempt_report_if(n <= 0, name, "%s", n <= 0 ? "empty" : "it can be read");
}

static long write_root(void *context)
{
    return open(context, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static void walk_folders(void)
{
    static const struct {
        const char *name, *root;
        void (*look)(struct walk *, const struct stat *);
        bool skip_processes, stay;
    } rows[] = {
        { "setuid-and-file-capabilities", "/", look_for_privilege, false, true },
        { "writable-in-root", "/", look_for_writable, false, true },
        { "writable-in-proc", "/proc", look_for_writable, true, false },
        { "writable-in-sys", "/sys", look_for_writable, false, false },
        { "devices", "/dev", look_for_devices, false, false },
        { "engine-sockets-run", "/run", look_for_sockets, true, false },
        { "engine-sockets-root", "/", look_for_sockets, false, true },
        { "cgroup-controls", "/sys/fs/cgroup", look_for_cgroup_controls, false, false },
    };
    static struct walk w;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        w = (struct walk){ .look = rows[i].look,
                           .skip_processes = rows[i].skip_processes,
                           .stay = rows[i].stay };
        walk_and_say(rows[i].name, rows[i].root, &w);
    }
}

void cbx_probe_files(void)
{
    static const char *const masked[] = { "/proc/kcore",       "/proc/keys",
                                          "/proc/timer_list",  "/proc/latency_stats",
                                          "/proc/timer_stats", "/proc/sched_debug",
                                          "/proc/scsi",        "/proc/acpi",
                                          "/sys/firmware",     "/proc/kmsg",
                                          "/proc/asound",      "/proc/kpageflags",
                                          "/dev/mem",          "/dev/kmsg",
                                          "/dev/fuse",         "/dev/kvm",
                                          "/dev/vhost-vsock",  "/dev/net",
                                          "/sys/kernel/debug", "/sys/kernel/tracing",
                                          "/sys/fs/bpf",       "/sys/kernel/security" };
    for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
        try_masked(masked[i]);
    }
    static const char *const files[] = { "/proc/sysrq-trigger",
                                         "/proc/sys/kernel/core_pattern",
                                         "/proc/sys/kernel/modprobe",
                                         "/proc/sys/vm/panic_on_oom",
                                         "/proc/sys/fs/binfmt_misc/register",
                                         "/proc/kcore",
                                         "/proc/1/oom_score_adj",
                                         "/sys/kernel/uevent_helper",
                                         "/codebox/supervisor",
                                         "/codebox/kernels/python_kernel.py",
                                         "/etc/passwd" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        try_write(files[i]);
    }
    static const char *const folders[] = { "/codebox-probe", "/etc/codebox-probe",
                                           "/usr/bin/codebox-probe", "/dev/codebox-probe",
                                           "/codebox/codebox-probe" };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char name[64];
        snprintf(name, sizeof(name), "create-%s", folders[i]);
        int result = cbx_attempt_run(write_root, (void *)(uintptr_t)folders[i]);
        cbx_attempt_report_if(result != 0, name, "%s", cbx_result_text(result));
    }
    walk_folders();
}
