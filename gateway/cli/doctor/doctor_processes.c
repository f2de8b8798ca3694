/* SPDX-License-Identifier: MIT
 * The part of `codebox doctor` about the gateway's own processes: children confine themselves like
 * a front, a zygote and an executor, and try actions that must fail. */
#include "gateway/cli/doctor/doctor_processes.h"

#include "gateway/executor/executor_confine.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/jail/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Actions that a child succeeded with; bits of its exit status. */
enum reached {
    REACHED_USER = 1 << 0,
    REACHED_CAPABILITY = 1 << 1,
    REACHED_FILE = 1 << 2,
    REACHED_CALL = 1 << 3,
    REACHED_ALL = 1 << 4, /* the confinement itself failed, or the child's end is unknown */
};

static bool has_capability(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0 } };
    return syscall(SYS_capget, &header, data) < 0 || (data[0].permitted | data[1].permitted) != 0;
}

/* The steps that the master takes when it starts a child. */
static int become(enum cbx_role role)
{
    struct cbx_err err;
    if (cbx_privileges_drop(CBX_ROLE_MASTER, NULL, &err) != 0 || cbx_jail_master(&err) != 0 ||
        cbx_privileges_drop(role, NULL, &err) != 0) {
        return REACHED_ALL;
    }
    cbx_jail_common();
    return 0;
}

/* Tries what no child of the master may do: open files that were not granted, use a network,
 * start a program. */
static int try_all(void)
{
    char *const argv[] = { (char *)(uintptr_t) "true", NULL };
    int reached = open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 ? REACHED_FILE : 0;
    reached |= socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0 ? REACHED_CALL : 0;
    execv("/nonexistent", argv);
    return reached | (errno != EPERM ? REACHED_CALL : 0);
}

static int try_as_front(const char *docker_host)
{
    (void)docker_host;
    struct cbx_err err;
    int reached = become(CBX_ROLE_FRONT);
    reached |= has_capability() ? REACHED_CAPABILITY : 0;
    if (cbx_files_confine(NULL, 0, false, &err) != 0 || cbx_jail_front(&err) != 0) {
        return REACHED_ALL;
    }
    uid_t user = cbx_privileges_user(CBX_ROLE_FRONT);
    reached |= getuid() != user || geteuid() != user ? REACHED_USER : 0;
    reached |= socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 ? REACHED_CALL : 0;
    return reached | try_all();
}

static int try_as_zygote(const char *docker_host)
{
    (void)docker_host;
    struct cbx_err err;
    int reached = become(CBX_ROLE_ANALYZER);
    reached |= has_capability() ? REACHED_CAPABILITY : 0;
    if (cbx_jail_worker_prepare(&err) != 0 || cbx_files_confine(NULL, 0, false, &err) != 0 ||
        cbx_jail_zygote(&err) != 0) {
        return REACHED_ALL;
    }
    return reached | try_all();
}

static int try_as_executor(const char *docker_host)
{
    struct cbx_err err;
    int reached = become(CBX_ROLE_EXECUTOR);
    if (cbx_executor_confine(NULL, docker_host, &err) != 0) {
        return REACHED_ALL;
    }
    reached |= try_all();
    /* With an engine over TCP, names are resolved with the files of /etc. */
    CBX_AUTO_FD other = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    return other >= 0 ? reached | REACHED_FILE : reached & ~REACHED_FILE;
}

/* Bits of enum reached. */
static int probe(int (*attempt)(const char *), const char *docker_host)
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(attempt(docker_host));
    }
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
    return pid > 0 && ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : REACHED_ALL;
}

static void report_users(int reached, const struct cbx_doctor *doctor)
{
    if ((reached & (REACHED_USER | REACHED_ALL)) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "users", "no gateway can start here",
                          "the front cannot drop its user id");
    } else if (cbx_privileges_separate()) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "users", "",
                          "the front runs as user %u, the analyzer as user %u, of their own",
                          (unsigned)cbx_privileges_user(CBX_ROLE_FRONT),
                          (unsigned)cbx_privileges_user(CBX_ROLE_ANALYZER));
    } else if (geteuid() == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "users",
                          "give the gateway CAP_SETUID, CAP_SETGID, CAP_CHOWN, CAP_KILL and "
                          "CAP_SYS_CHROOT, and user ids from 2080000000 on",
                          "all processes run as user 0, which cannot change its user id here");
    } else {
        cbx_doctor_report(
            doctor, CBX_HEALTH_OK, "users", "",
            "all processes run as user %u; only root can give them users of their own",
            (unsigned)geteuid());
    }
}

static void report_landlock(int reached, const struct cbx_doctor *doctor)
{
    int version = cbx_files_landlock();
    if (version == 0) {
        cbx_doctor_report(
            doctor, CBX_HEALTH_WARN, "landlock",
            "start Linux with landlock among the names of lsm=", "this Linux has none; %s",
            cbx_privileges_separate()
                ? "the front of 'serve' is in a root directory of its own, other "
                  "fronts can open what every user can"
                : "a front that is taken over can open the files of its user");
        return;
    }
    const char *more =
        version < 6 ? "; from version 6 on it could also refuse signals to others" : "";
    if ((reached & (REACHED_FILE | REACHED_ALL)) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "landlock", "",
                          "version %d: front, zygote and executor cannot open files that they were "
                          "not granted%s",
                          version, more);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "landlock", "no gateway should serve here",
                          "version %d: front, zygote and executor can open files that they were "
                          "not granted%s",
                          version, more);
    }
}

void cbx_doctor_processes(const struct cbx_doctor *doctor, const char *docker_host)
{
    int front = probe(try_as_front, docker_host);
    int all = front | probe(try_as_zygote, docker_host) | probe(try_as_executor, docker_host);
    report_users(front, doctor);
    if ((all & (REACHED_CAPABILITY | REACHED_ALL)) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "capabilities", "", "front and zygote have none");
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "capabilities", "no gateway should serve here",
                          "front and zygote have some left");
    }
    if ((all & (REACHED_CALL | REACHED_ALL)) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "system calls", "",
                          "front, zygote and executor are limited to their lists");
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "system calls",
                          "use a Linux with seccomp filters (CONFIG_SECCOMP_FILTER)",
                          "a filter cannot be set, or does not hold");
    }
    report_landlock(all, doctor);
}
