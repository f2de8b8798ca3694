/* SPDX-License-Identifier: MIT
 * Mounts: the writable ones, their flags, and whether their files can be executed. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* The writable mounts: memory of this sandbox alone. */
static const char *const writable[] = { "/workspace", "/tmp", "/dev/shm", "/dev/mqueue" };
enum { WRITABLE = sizeof(writable) / sizeof(writable[0]), MQUEUE = 3 };

static bool is_writable(const char *path)
{
    for (size_t i = 0; i < WRITABLE; i++) {
        if (strcmp(path, writable[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_option(const char *options, const char *option)
{
    size_t len = strlen(option);
    for (const char *at = options; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, option, len) == 0 && (at[len] == ',' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static void check_flags(const char *point, const char *options)
{
    static const char *const flags[] = { "nosuid", "nodev", "noexec" };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        char name[300];
        snprintf(name, sizeof(name), "mount-%s-%.200s", flags[i], point);
        cbx_attempt_report_if(has_option(options, flags[i]), name, "%s", options);
    }
    struct statvfs size;
    char name[300];
    snprintf(name, sizeof(name), "mount-size-%.200s", point);
    if (strcmp(point, writable[MQUEUE]) != 0 && statvfs(point, &size) == 0) {
        unsigned long long mib = (unsigned long long)size.f_blocks * size.f_frsize >> 20;
        cbx_attempt_report_if(size.f_blocks > 0 && mib <= 64 * 1024, name, "%llu MiB, %llu files",
                              mib, (unsigned long long)size.f_files);
    }
}

/* A masked path is /dev/null; and with user namespaces, null, zero, full, random, urandom and
 * tty are separate mounts. */
static bool is_harmless_device(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISCHR(status.st_mode)) {
        return false;
    }
    unsigned number = minor(status.st_rdev);
    return major(status.st_rdev) == 1 ? number == 3 || number == 5 || (number >= 7 && number <= 9)
                                      : status.st_rdev == makedev(5, 0);
}

static int write_into(const char *point)
{
    struct stat status;
    char path[4200];
    if (stat(point, &status) < 0) {
        return errno;
    }
    bool folder = S_ISDIR(status.st_mode);
    snprintf(path, sizeof(path), folder ? "%.4000s/.codebox-probe" : "%.4000s", point);
    int fd =
        open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (folder ? O_CREAT : 0), 0600);
    if (fd < 0) {
        return errno;
    }
    close(fd);
    if (folder) {
        unlink(path);
    }
    return 0;
}

static void look_at_mount(const char *point, const char *options)
{
    char name[300];
    if (is_writable(point)) {
        check_flags(point, options);
        return;
    }
    int result = write_into(point);
    bool held = result != 0 || is_harmless_device(point);
    snprintf(name, sizeof(name), "write-%.200s", point);
    cbx_attempt_report_if(held, name, "%s",
                          result == 0 && held ? "a harmless device" : cbx_result_text(result));
}

static long run_copy(void *context)
{
    char path[300], chunk[65536];
    snprintf(path, sizeof(path), "%s/.codebox-probe-run", (const char *)context);
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    for (ssize_t n; (n = read(from, chunk, sizeof(chunk))) > 0;) {
        if (write(to, chunk, (size_t)n) != n) {
            break;
        }
    }
    close(to);
    char word[] = "copy", *const argv[] = { path, word, NULL };
    execv(path, argv); /* returns only when it failed */
    return -1;
}

void cbx_probe_mounts(void)
{
    char line[8192], point[4096], options[1024];
    FILE *f = fopen("/proc/self/mountinfo", "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        /* id parent major:minor root point options ... */
        if (sscanf(line, "%*s %*s %*s %*s %4095s %1023s", point, options) == 2) {
            look_at_mount(point, options);
        }
    }
    cbx_attempt_report_if(f != NULL, "mounts-listed", "%s",
                          f != NULL ? "all were tried" : "not readable");
    if (f != NULL) {
        fclose(f);
    }
    for (size_t i = 0; i < MQUEUE; i++) {
        char name[64], path[64];
        snprintf(name, sizeof(name), "exec-in-%s", writable[i]);
        snprintf(path, sizeof(path), "%s", writable[i]);
        cbx_attempt_must_fail(name, run_copy, path);
        snprintf(path, sizeof(path), "%s/.codebox-probe-run", writable[i]);
        unlink(path);
    }
}
