/* SPDX-License-Identifier: MIT
 * Credentials and limits of the program. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads the value of a line of /proc/self/status; empty if there is none. */
static void read_status(const char *key, char *out, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/self/status", "re");
    out[0] = '\0';
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        size_t len = strlen(key);
        if (strncmp(line, key, len) == 0 && line[len] == ':') {
            snprintf(out, size, "%s", line + len + 1 + strspn(line + len + 1, " \t"));
            out[strcspn(out, "\n")] = '\0';
        }
    }
    if (f != NULL) {
        fclose(f);
    }
}

static void look_at_capabilities(void)
{
    static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        char value[64], name[32];
        read_status(sets[i], value, sizeof(value));
        snprintf(name, sizeof(name), "capabilities-%s", sets[i]);
        cbx_attempt_report_if(value[0] != '\0' && strspn(value, "0") == strlen(value), name, "%s",
                              value);
    }
}

static void look_at_user(void)
{
    uid_t u[3];
    gid_t g[3], groups[64];
    getresuid(&u[0], &u[1], &u[2]);
    getresgid(&g[0], &g[1], &g[2]);
    cbx_attempt_report_if(u[0] != 0 && u[0] == u[1] && u[1] == u[2], "user", "%u %u %u", u[0], u[1],
                          u[2]);
    cbx_attempt_report_if(g[0] != 0 && g[0] == g[1] && g[1] == g[2], "group", "%u %u %u", g[0],
                          g[1], g[2]);
    int count = getgroups(64, groups), foreign = 0;
    for (int i = 0; i < count; i++) {
        foreign += groups[i] != g[0];
    }
    cbx_attempt_report_if(count >= 0 && foreign == 0, "groups", "%d others than its own", foreign);
}

static void look_at_restrictions(void)
{
    char value[64];
    int set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    cbx_attempt_report_if(set == 1, "no-new-privileges", "%d", set);
    read_status("Seccomp", value, sizeof(value));
    cbx_attempt_report_if(strcmp(value, "2") == 0, "seccomp-filter", "mode %s", value);
    struct utsname name;
    uname(&name);
    cbx_attempt_report("host-name", strcmp(name.nodename, "sandbox") == 0 ? CBX_HELD : CBX_UNKNOWN,
                       "%s", name.nodename);
}

static void look_at_limits(void)
{
    static const struct {
        const char *name;
        int resource;
        rlim_t most;
    } rows[] = {
        { "limit-core-dump", RLIMIT_CORE, 0 },
        { "limit-open-files", RLIMIT_NOFILE, 65536 },
        { "limit-file-size", RLIMIT_FSIZE, (rlim_t)1 << 40 },
        { "limit-locked-memory", RLIMIT_MEMLOCK, 1 << 20 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
        getrlimit(rows[i].resource, &limit);
        cbx_attempt_report_if(limit.rlim_max <= rows[i].most, rows[i].name, "%llu",
                              (unsigned long long)limit.rlim_max);
    }
}

static long raise_a_limit(void *context)
{
    (void)context;
    struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };
    return setrlimit(RLIMIT_CORE, &more);
}

static long raise_priority(void *context)
{
    (void)context;
    /* If the engine itself runs at a raised priority, the sandbox may have that priority, not a
     * higher one. */
    int nice = getpriority(PRIO_PROCESS, 0);
    errno = EPERM;
    return nice <= -20 ? -1 : setpriority(PRIO_PROCESS, 0, nice - 1);
}

static long escape_the_oom_killer(void *context)
{
    (void)context;
    FILE *f = fopen("/proc/self/oom_score_adj", "we");
    long failed = f == NULL || fputs("-500", f) < 0 || fflush(f) != 0 ? -1 : 0;
    return failed;
}

/* Creates processes up to the engine's limit. */
static long fork_many(void *context)
{
    enum { MANY = 4096 };
    static pid_t children[MANY];
    int *reached = context, count = 0;
    while (count < MANY && (children[count] = fork()) > 0) {
        count++;
    }
    if (count < MANY && children[count] == 0) {
        for (;;) {
            pause();
        }
    }
    int failed = count < MANY ? errno : 0;
    for (int i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    *reached = count;
    if (failed != 0) {
        errno = failed;
        return -1;
    }
    return 0;
}

void cbx_probe_identity(void)
{
    look_at_capabilities();
    look_at_user();
    look_at_restrictions();
    look_at_limits();
    cbx_attempt_must_fail("limit-raised", raise_a_limit, NULL);
    cbx_attempt_must_fail("priority-raised", raise_priority, NULL);
    cbx_attempt_must_fail("oom-score-lowered", escape_the_oom_killer, NULL);
    int count = 0;
    long result = fork_many(&count);
    cbx_attempt_report_if(result < 0, "limit-processes", "%d more started, then %s", count,
                          result < 0 ? strerrorname_np(errno) : "no end");
}
