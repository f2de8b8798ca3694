/* SPDX-License-Identifier: MIT
 * Other processes of the sandbox, and the counters of its control group. */
#include "docker/inside/supervisor/supervisor.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 1024 };

_Noreturn void cbx_die(void)
{
    kill(-1, SIGKILL);
    _exit(1);
}

/* Returns the fields of proc(5)'s stat after the name, which may have any character; NULL if the
 * process has ended. */
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

bool cbx_process_is_foreign(pid_t pid)
{
    char line[STAT_BYTES];
    const char *stat = read_stat(pid, line);
    return stat != NULL && strlen(stat) > 5 && strncmp(stat + 3, "0 ", 2) == 0;
}

/* Returns the number of live processes. Zombies do not count: their parent reaps them. */
static int kill_round(pid_t keep)
{
    int alive = 0;
    char line[STAT_BYTES];
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 1 && pid != keep && !cbx_process_is_foreign(pid) && kill(pid, SIGKILL) == 0) {
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
    kill(-1, SIGCONT);
}

/* Reads the number after `name` in a file of lines "name number"; with an empty name, the first
 * number of the file. -1 if there is none. */
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

/* These functions read version 2 of control groups, else version 1. */
long cbx_count_oom_kills(void)
{
    long long count = read_counter("/sys/fs/cgroup/memory.events", "oom_kill");
    if (count < 0) {
        count = read_counter("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill");
    }
    return count < 0 ? 0 : (long)count;
}

uint64_t cbx_memory_limit(void)
{
    long long limit = read_counter("/sys/fs/cgroup/memory.max", "");
    if (limit < 0) {
        limit = read_counter("/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
    }
    return limit < 0 ? 0 : (uint64_t)limit;
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

/* Reads fields 14 and 15 of its stat. */
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
