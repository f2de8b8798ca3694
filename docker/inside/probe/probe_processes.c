/* SPDX-License-Identifier: MIT
 * Other processes: the visible ones, and attempts on PID 1. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool cbx_pid1_is_running(void)
{
    char text[512] = "";
    int fd = open("/proc/1/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    char *state = n > 0 ? strrchr(text, ')') : NULL; /* "1 (name) S ..." */
    return state != NULL && strchr("RSD", state[2]) != NULL && state[2] != '\0';
}

/* Opens files of /proc/1 that reveal or change memory, files or environment. */
static void look_into_pid1(void)
{
    static const char *const links[] = { "root", "cwd", "exe", "ns/mnt", "ns/user" };
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        char path[64], name[64], to[256];
        snprintf(path, sizeof(path), "/proc/1/%s", links[i]);
        snprintf(name, sizeof(name), "read-proc-1-%s", links[i]);
        int result = readlink(path, to, sizeof(to)) < 0 ? errno : 0;
        cbx_attempt_report_if(cbx_is_refused(result), name, "%s", cbx_result_text(result));
    }
    static const char *const files[] = { "environ",   "mem", "maps",       "smaps",   "auxv",
                                         "stack",     "fd",  "fdinfo",     "syscall", "pagemap",
                                         "map_files", "io",  "personality" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[64], name[64], byte;
        snprintf(path, sizeof(path), "/proc/1/%s", files[i]);
        snprintf(name, sizeof(name), "read-proc-1-%s", files[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        int result = fd < 0 ? errno : 0;
        if (fd >= 0 && read(fd, &byte, 1) < 0 && errno != EISDIR) {
            result = errno; /* any process can open some files that few can read */
        }
        cbx_attempt_report_if(cbx_is_refused(result) || result == ENOENT, name, "%s",
                              cbx_result_text(result));
        if (fd >= 0) {
            close(fd);
        }
    }
}

static void look_at_processes(void)
{
    int count = 0, foreign = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
        long pid = strtol(entry->d_name, NULL, 10);
        struct stat status;
        if (pid > 1 && fstatat(dirfd(proc), entry->d_name, &status, 0) == 0) {
            count++;
            foreign += status.st_uid != getuid();
        }
    }
    cbx_attempt_report_if(proc != NULL && foreign == 0 && count < 32, "other-processes",
                          "%d beside PID 1, %d of another user", count, foreign);
    if (proc != NULL) {
        closedir(proc);
    }
}

/* Sends signals in every way; PID 1 must continue. */
static void signal_pid1(void)
{
    static const struct {
        const char *name;
        int first, last;
    } rows[] = {
        { "signal-1-SIGKILL", SIGKILL, SIGKILL }, { "signal-1-SIGSTOP", SIGSTOP, SIGSTOP },
        { "signal-1-SIGTERM", SIGTERM, SIGTERM }, { "signal-1-all", 1, 31 },
        { "signal-1-real-time", 32, 64 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int number = rows[i].first; number <= rows[i].last; number++) {
            siginfo_t info = { .si_signo = number, .si_code = SI_QUEUE, .si_pid = 1 };
            syscall(SYS_kill, 1, number);
            syscall(SYS_tgkill, 1, 1, number);
            syscall(SYS_rt_sigqueueinfo, 1, number, &info);
        }
        struct timespec moment = { .tv_nsec = 20000000 };
        nanosleep(&moment, NULL);
        cbx_attempt_report_if(cbx_pid1_is_running(), rows[i].name, "PID 1 %s",
                              cbx_pid1_is_running() ? "goes on" : "is stopped or gone");
    }
    int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    cbx_attempt_report_if(cbx_pid1_is_running(), "signal-1-pidfd", "PID 1 %s",
                          cbx_pid1_is_running() ? "goes on" : "is stopped or gone");
    long stolen = syscall(SYS_pidfd_getfd, pidfd, 0, 0);
    cbx_attempt_report_if(stolen < 0, "pidfd_getfd-1", "%s",
                          cbx_result_text(stolen < 0 ? errno : 0));
}

void cbx_probe_processes(void)
{
    look_at_processes();
    look_into_pid1();
    signal_pid1();
}
