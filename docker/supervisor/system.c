/* SPDX-License-Identifier: MIT
 * Reads the state of the sandbox: files of the workspace, processes, the cgroup's counters. The
 * program controls all of it: no link is followed, only regular files are reported, every walk is
 * bounded. */
#include "docker/supervisor/supervisor.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 1000,
    ENTRIES_MAX = 20000,
    DEPTH_MAX = 16,
    PATH_BYTES = 4096,
    STAT_BYTES = 1024
};

struct walk {
    struct timespec since;
    int files, entries;
    bool complete;
    char path[PATH_BYTES];
};

static bool is_since(const struct stat *status, const struct timespec *since)
{
    return status->st_ctim.tv_sec > since->tv_sec ||
           (status->st_ctim.tv_sec == since->tv_sec && status->st_ctim.tv_nsec >= since->tv_nsec);
}

static void report(struct walk *w, const struct stat *status)
{
    if (w->files == FILES_MAX) {
        w->complete = false;
        return;
    }
    w->files++;
    uint64_t size = (uint64_t)status->st_size;
    cbx_report_frame(CBX_FRAME_FILE, &size, sizeof(size), w->path, strlen(w->path));
}

/* Recursion is bounded by DEPTH_MAX. */
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
        if (++w->entries > ENTRIES_MAX || prefix + len + 2 > PATH_BYTES) {
            w->complete = false;
            break;
        }
        memcpy(w->path + prefix, entry->d_name, len + 1);
        if (S_ISREG(status.st_mode) && is_since(&status, &w->since)) {
            report(w, &status);
        } else if (S_ISDIR(status.st_mode)) {
            int below = depth < DEPTH_MAX ? openat(dirfd(dir), entry->d_name,
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

bool cbx_report_files(const struct timespec *since)
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

/* The fields of proc(5)'s stat after the name, which may hold any character; NULL when the process
 * is gone. */
static const char *read_stat(pid_t pid, char line[STAT_BYTES])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    size_t n = f != NULL ? fread(line, 1, STAT_BYTES - 1, f) : 0;
    if (f != NULL) {
        fclose(f);
    }
    line[n] = '\0';
    const char *at = strrchr(line, ')');
    return at != NULL ? at + 1 : NULL;
}

/* Returns how many were alive. Zombies do not count: their parent reaps them. */
static int kill_round(pid_t keep)
{
    int alive = 0;
    char line[STAT_BYTES];
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 1 && pid != keep && kill(pid, SIGKILL) == 0) {
            const char *stat = read_stat(pid, line);
            alive += stat != NULL && stat[1] != 'Z';
        }
    }
    if (proc != NULL) {
        closedir(proc);
    }
    return alive;
}

int cbx_count_processes(void)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    }
    if (proc != NULL) {
        closedir(proc);
    }
    return count;
}

void cbx_kill_others(pid_t keep)
{
    /* Stopped processes cannot fork; kill(-1) reaches all of them at once. */
    kill(-1, SIGSTOP);
    for (int round = 0; round < 100 && kill_round(keep) > 0; round++) {
        struct timespec moment = { .tv_nsec = 1000000 };
        nanosleep(&moment, NULL);
    }
    kill(keep, SIGCONT);
}

/* The number after `name` in a file of lines "name number"; with an empty name, the first number of
 * the file. -1 when there is none. */
static long long read_counter(const char *path, const char *name)
{
    FILE *f = fopen(path, "re");
    char line[128];
    long long count = -1;
    size_t len = strlen(name);
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, name, len) == 0 && (len == 0 || line[len] == ' ')) {
            count = strtoll(line + len, NULL, 10);
            break;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return count;
}

/* These read version 2 of control groups, else version 1. */
long cbx_count_oom_kills(void)
{
    long long count = read_counter("/sys/fs/cgroup/memory.events", "oom_kill");
    if (count < 0) {
        count = read_counter("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill");
    }
    return count < 0 ? 0 : (long)count;
}

uint64_t cbx_cpu_ms(void)
{
    long long used_us = read_counter("/sys/fs/cgroup/cpu.stat", "usage_usec");
    if (used_us < 0) {
        used_us = read_counter("/sys/fs/cgroup/cpuacct/cpuacct.usage", "") / 1000;
    }
    return used_us < 0 ? 0 : (uint64_t)used_us / 1000;
}

bool cbx_process_is_running(pid_t pid)
{
    char path[64], line[1024];
    bool runs = false;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks != NULL && !runs && (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", (int)pid, entry->d_name);
        FILE *f = fopen(path, "re");
        if (f == NULL) {
            continue;
        }
        line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
        fclose(f);
        const char *at = strrchr(line, ')');
        runs = at != NULL && at[1] == ' ' && at[2] == 'R';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return runs;
}

/* Fields 14 and 15 of its stat. */
uint64_t cbx_process_cpu_ms(pid_t pid)
{
    char line[STAT_BYTES];
    const char *at = read_stat(pid, line);
    unsigned long long user = 0, kernel = 0;
    if (at == NULL ||
        sscanf(at, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &kernel) != 2) {
        return 0;
    }
    return (user + kernel) * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK);
}
