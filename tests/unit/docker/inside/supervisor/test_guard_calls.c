/* SPDX-License-Identifier: MIT
 * The supervisor's answers to notified calls, and the filter that notifies it. */
#include "tests/unit/docker/guard_rig.h"

#include <sys/shm.h>

/* --- decisions -------------------------------------------------------------------------------- */

static void nothing_is_refused_while_a_kernel_starts(void **state)
{
    (void)state;
    refuse(0, "", 0);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/usr/bin/id"), 0);
    assert_int_equal(decide_as(CBX_NATIVE_BIT, SYS_open, at("/etc/passwd"), O_RDONLY, 0), 0);
    assert_int_equal(notes, 0);
}

static void without_a_list_nothing_starts_whatever_is_in_memory(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    static const unsigned kinds[] = { CBX_PYTHON_BIT, CBX_NODE_BIT, CBX_SHELL_BIT, CBX_NATIVE_BIT };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        assert_int_equal(exec_as(kinds[i], "/usr/bin/true"), -EACCES);
        assert_string_equal(noted, "/usr/bin/true");
        assert_int_equal(decide_as(kinds[i], SYS_execve, 1, 0, 0),
                         -EACCES); /* no memory is there */
    }
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_fork, 0, 0, 0), -EACCES);
}

static void where_hosts_are_granted_only_sockets_that_reach_the_proxy_are_opened(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_socket, AF_INET, SOCK_STREAM, 0), -EACCES);
    cbx_guard.proxy = true;
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                     0);
    assert_int_equal(decide_as(CBX_NODE_BIT, SYS_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
                     0);
    static const uint64_t others[][2] = { { AF_INET, SOCK_DGRAM },
                                          { AF_INET, SOCK_RAW },
                                          { AF_INET6, SOCK_STREAM },
                                          { AF_NETLINK, SOCK_RAW } };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_socket, others[i][0], others[i][1], 0),
                         -EACCES);
    }
}

static uint64_t address_of(const char *host, uint16_t port)
{
    static struct sockaddr_in address;
    address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    return (uint64_t)(uintptr_t)&address;
}

static void where_hosts_are_granted_sockets_connect_to_the_proxy_alone(void **state)
{
    (void)state;
    const size_t len = sizeof(struct sockaddr_in);
    refuse(ALL, "", 0);
    cbx_guard.proxy = true;
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_connect, 3, address_of("127.0.0.1", 3128), len),
                     0);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_connect, 3, address_of("192.0.2.7", 80), len),
                     -EACCES);
    assert_string_equal(noted, "192.0.2.7, port 80, without the proxy");
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_connect, 3, address_of("127.0.0.1", 3129), len),
                     -EACCES);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_connect, 3, 1, len), -EACCES);
    const struct sockaddr_un local = { .sun_family = AF_UNIX };
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_connect, 3, (uint64_t)(uintptr_t)&local, 2), 0);
    refuse(0, "", 0);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_connect, 3, address_of("192.0.2.7", 80), len),
                     0);
}

static void where_hosts_are_granted_no_server_listens(void **state)
{
    (void)state;
    int inet = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    refuse(ALL, "", 0);
    cbx_guard.proxy = true;
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_listen, (uint64_t)inet, 5, 0), -EACCES);
    assert_string_equal(noted, "a server");
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_listen, (uint64_t)local, 5, 0), 0);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_listen, 999, 5, 0), -EACCES);
    close(inet);
    close(local);
}

static void a_shell_starts_what_is_listed_from_the_folders_of_programs(void **state)
{
    (void)state;
    refuse(ALL, "true\0env", 9);
    assert_int_equal(exec_as(CBX_SHELL_BIT, "/usr/bin/true"), 0);
    assert_int_equal(exec_as(CBX_SHELL_BIT, "/bin/env"), 0);
    static const char *const refused[] = {
        "/usr/bin/id",
        "/bin/sh",
        "/tmp/true",
        "./true",
        "true",
        "/usr/bin/tr",
        "/usr/bin/../bin/env",
        "/usr/bin/true/",
        "/proc/self/fd/10",
        "/lib64/ld-linux-x86-64.so.2",
        "",
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (exec_as(CBX_SHELL_BIT, refused[i]) != -EACCES || notes != 1) {
            fail_msg("'%s' starts", refused[i]);
        }
    }
}

static void a_program_that_is_in_another_folder_of_PATH_is_no_attempt(void **state)
{
    (void)state;
    refuse(ALL, "true", 5);
    assert_int_equal(exec_as(CBX_SHELL_BIT, "/usr/local/sbin/no-such-program"), -ENOENT);
    assert_int_equal(notes, 0);
}

static void a_shell_that_cannot_be_read_says_the_name_in_registers(void **state)
{
    (void)state;
    struct {
        const char *name;
        int answer;
    } rows[] = { { "true", 0 }, { "id", -EACCES }, { "/tmp/true", -EACCES } };
    refuse(ALL, "true", 5);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_listener listener = { .kind = CBX_SHELL_BIT };
        struct seccomp_notif call = { .pid = (uint32_t)getpid() + 1000000, /* no such process */
                                      .data = { .nr = SYS_execve } };
        cbx_words_pack(rows[i].name, (uint64_t *)&call.data.args[CBX_WORDS_AT]);
        assert_int_equal(cbx_guard_decide(&listener, &call), rows[i].answer);
    }
}

static void a_kernel_with_judged_lines_starts_their_shell_and_what_is_listed(void **state)
{
    (void)state;
    refuse(ALL, "ls", 3);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/bin/sh"), 0);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/usr/bin/ls"), 0);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/usr/bin/id"), -EACCES);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_fork, 0, 0, 0), 0);
}

static void the_start_of_the_program_itself_passes_once(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    struct cbx_listener listener = { .kind = CBX_NATIVE_BIT, .starts = true };
    struct seccomp_notif start = { .pid = (uint32_t)getpid(), .data = { .nr = SYS_execve } };
    assert_int_equal(cbx_guard_decide(&listener, &start), 0);
    assert_int_equal(cbx_guard_decide(&listener, &start), -EACCES);
}

static void the_supervisor_and_the_command_kernel_are_out_of_reach_under_every_policy(void **state)
{
    (void)state;
    static const int calls[] = { SYS_prlimit64,      SYS_sched_setaffinity, SYS_sched_setscheduler,
                                 SYS_sched_setparam, SYS_sched_setattr,     SYS_pidfd_open };
    for (uint32_t bits = 0; bits <= ALL; bits += ALL) {
        refuse(bits, "", 0);
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            assert_int_equal(decide_as(CBX_SHELL_BIT, calls[i], (uint64_t)getpid(), 0, 0), -EPERM);
            assert_int_equal(decide_as(CBX_SHELL_BIT, calls[i], (uint64_t)cbx_kernel.pid, 0, 0),
                             -EPERM);
        }
        assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_kill, (uint64_t)getpid(), 9, 0), -EPERM);
        assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_kill, (uint64_t)-1, 9, 0), -EPERM);
        assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_kill, (uint64_t)-cbx_kernel.pid, 9, 0),
                         -EPERM);
        assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_setpriority, PRIO_USER, 0, 19), -EPERM);
        assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_ioprio_set, 3, 0, 0), -EPERM);
        assert_int_equal(notes, bits != 0);
    }
}

static void a_program_signals_itself_and_a_shell_its_jobs(void **state)
{
    (void)state;
    pid_t job = getpid() + 50;
    refuse(ALL, "", 0);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_kill, 0, 15, 0), 0);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_kill, (uint64_t)job, 15, 0), -EPERM);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_kill, (uint64_t)job, 0, 0), 0);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_kill, (uint64_t)job, 15, 0), 0);
}

static void a_program_names_itself_alone_as_receiver_of_signals(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    assert_int_equal(decide_as(CBX_NATIVE_BIT, SYS_fcntl, 5, F_SETOWN, (uint64_t)getpid() + 50),
                     -EPERM);
    assert_int_equal(decide_as(CBX_NATIVE_BIT, SYS_fcntl, 5, F_SETOWN, (uint64_t)-7), -EPERM);
    assert_int_equal(decide_as(CBX_NATIVE_BIT, SYS_fcntl, 5, F_SETOWN_EX, 0), -EACCES);
    assert_int_equal(decide_as(CBX_NATIVE_BIT, SYS_ioctl, 5, SIOCSPGRP, 0), -EACCES);
    assert_int_equal(notes, 1);
    assert_int_equal(decide_as(CBX_NATIVE_BIT, SYS_fcntl, 5, F_SETOWN, 0), 0);
}

/* --- the filter ------------------------------------------------------------------------------- */

static void *nothing(void *argument)
{
    return argument;
}

/* Which of these calls fail with EACCES. */
static unsigned try_calls(void)
{
    pthread_t thread;
    unsigned failed = 0, bit = 1;
#define TRY(call) (failed |= (errno = 0, (call) < 0 && errno == EACCES) ? bit : 0, bit <<= 1)
    TRY(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
    TRY(syscall(SYS_memfd_create, "x", 0));
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    TRY(syscall(SYS_kill, 1, SIGTERM));
    TRY(syscall(SYS_execve, "/usr/bin/true", NULL, NULL));
    TRY(syscall(SYS_fork));
    TRY(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
    TRY(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
    TRY(syscall(SYS_openat, 99, "null", O_RDONLY | O_CLOEXEC));
    TRY(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC));
    bit = 1 << 12; /* those are never asked about */
    TRY(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    TRY(syscall(SYS_prlimit64, 0, RLIMIT_CPU, NULL, NULL));
    TRY(-pthread_create(&thread, NULL, nothing, NULL));
#undef TRY
    /* Makes the same call by its number of the x32 ABI, if Linux has that ABI. */
    failed |= syscall(0x40000000 | SYS_socket, AF_UNIX, SOCK_STREAM, 0) >= 0 ? 1u << 20 : 0;
    pthread_join(thread, NULL);
    return failed;
}

/* Refuses all notified calls; returns the result of try_all in a process with the filter. */
static unsigned refused_calls(enum cbx_program_kind kind, unsigned (*try_all)(void))
{
    int ends[2], result[2], listener, status;
    unsigned failed = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(pipe(result), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (!cbx_filter_install(kind, ends[1])) {
            _exit(2);
        }
        failed = try_all();
        _exit(write(result[1], &failed, sizeof(failed)) == (ssize_t)sizeof(failed) ? 0 : 1);
    }
    close(result[1]);
    struct pollfd arrived = { .fd = ends[0], .events = POLLIN };
    assert_int_equal(poll(&arrived, 1, -1), 1);
    assert_int_equal(cbx_filter_receive(ends[0], &listener), kind);
    assert_true(listener >= 0);
    struct pollfd waiting = { .fd = listener, .events = POLLIN };
    while (poll(&waiting, 1, -1) == 1 && (waiting.revents & POLLIN) != 0) {
        union {
            struct seccomp_notif call;
            char bytes[512];
        } received;
        memset(&received, 0, sizeof(received));
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &received) == 0) {
            struct seccomp_notif_resp answer = { .id = received.call.id, .error = -EACCES };
            ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        }
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(result[0], &failed, sizeof(failed)), sizeof(failed));
    close(result[0]);
    close(listener);
    close(ends[0]);
    close(ends[1]);
    return failed;
}

/* Executable memory that is new, and that another mapping can write. */
static unsigned try_memory(void)
{
    unsigned failed = 0, bit = 1;
    int zero = open("/dev/zero", O_RDWR | O_CLOEXEC),
        program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int shared = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
#define TRY(call)                                                                                  \
    (failed |= (errno = 0, (long)(call) == -1 && errno == EACCES) ? bit : 0, bit <<= 1)
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_EXEC, MAP_SHARED, zero, 0));
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_EXEC, MAP_SHARED_VALIDATE, zero, 0));
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_EXEC | PROT_WRITE, MAP_PRIVATE, program, 0));
    TRY(syscall(SYS_mprotect, &failed, 4096, PROT_READ | PROT_EXEC));
    TRY(syscall(SYS_pkey_mprotect, &failed, 4096, PROT_READ | PROT_EXEC, -1));
    TRY(syscall(SYS_shmat, shared, NULL, SHM_EXEC));
    TRY(syscall(SYS_fcntl, 0, F_SETOWN, 1));
    TRY(syscall(SYS_fcntl, 0, F_SETOWN_EX, &failed));
    TRY(syscall(SYS_ioctl, 0, SIOCSPGRP, &failed));
    TRY(syscall(SYS_ioctl, 0, FIOSETOWN, &failed));
    bit = 1 << 12; /* those are never asked about */
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0));
    TRY(syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0));
    TRY(syscall(SYS_shmat, shared, NULL, 0));
    TRY(syscall(SYS_fcntl, 0, F_GETFD));
#undef TRY
    shmctl(shared, IPC_RMID, NULL);
    return failed;
}

static void executable_memory_is_asked_about_whatever_it_is_made_of(void **state)
{
    (void)state;
    if (getenv("ASAN_OPTIONS") != NULL) {
        skip();
    }
    assert_int_equal(refused_calls(CBX_NATIVE_BIT, try_memory), 0x3ff);
    assert_int_equal(refused_calls(CBX_PYTHON_BIT, try_memory), 0x3ff);
    assert_int_equal(refused_calls(CBX_NODE_BIT, try_memory), 0x3c0); /* the kernel compiles code */
}

/* Each call that has to have a row, for these kinds of programs. */
static void no_row_is_missing(void **state)
{
    enum {
        PY = CBX_PYTHON_BIT,
        NODE = CBX_NODE_BIT,
        SHELL = CBX_SHELL_BIT,
        C = CBX_NATIVE_BIT,
        EVERY = PY | NODE | SHELL | C
    };
    static const struct {
        int number;
        unsigned kinds;
    } needed[] = {
        { SYS_execve, EVERY },
        { SYS_execveat, EVERY },
        { SYS_fork, PY | NODE | C },
        { SYS_vfork, PY | NODE | C },
        { SYS_clone, PY | NODE | C },
        { SYS_socket, EVERY },
        { SYS_connect, EVERY },
        { SYS_listen, EVERY },
        { SYS_kill, EVERY },
        { SYS_tkill, EVERY },
        { SYS_tgkill, EVERY },
        { SYS_rt_sigqueueinfo, EVERY },
        { SYS_rt_tgsigqueueinfo, EVERY },
        { SYS_pidfd_open, EVERY },
        { SYS_prlimit64, EVERY },
        { SYS_sched_setaffinity, EVERY },
        { SYS_sched_setscheduler, EVERY },
        { SYS_sched_setparam, EVERY },
        { SYS_sched_setattr, EVERY },
        { SYS_setpriority, EVERY },
        { SYS_ioprio_set, EVERY },
        { SYS_fcntl, EVERY },
        { SYS_ioctl, EVERY },
        { SYS_memfd_create, PY | C },
        { SYS_mmap, PY | C },
        { SYS_mprotect, PY | C },
        { SYS_pkey_mprotect, PY | C },
        { SYS_shmat, PY | C },
        { SYS_open, EVERY },
        { SYS_openat, EVERY },
        { SYS_openat2, EVERY },
        { SYS_creat, EVERY },
        { SYS_truncate, EVERY },
        { SYS_unlink, EVERY },
        { SYS_unlinkat, EVERY },
        { SYS_rmdir, EVERY },
        { SYS_mkdir, EVERY },
        { SYS_mkdirat, EVERY },
        { SYS_mknod, EVERY },
        { SYS_mknodat, EVERY },
        { SYS_chmod, EVERY },
        { SYS_fchmodat, EVERY },
        { SYS_chown, EVERY },
        { SYS_lchown, EVERY },
        { SYS_fchownat, EVERY },
        { SYS_utime, EVERY },
        { SYS_utimes, EVERY },
        { SYS_futimesat, EVERY },
        { SYS_utimensat, EVERY },
        { SYS_rename, EVERY },
        { SYS_renameat, EVERY },
        { SYS_renameat2, EVERY },
        { SYS_link, EVERY },
        { SYS_linkat, EVERY },
        { SYS_symlink, EVERY },
        { SYS_symlinkat, EVERY },
        { SYS_prctl, PY },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        unsigned kinds = 0;
        for (size_t k = 0; k < ROWS; k++) {
            kinds |= call_rows[k].number == needed[i].number ? call_rows[k].kinds : 0;
        }
        if (kinds != needed[i].kinds) {
            fail_msg("call %d has rows for the kinds %x, needed are %x", needed[i].number, kinds,
                     needed[i].kinds);
        }
    }
}

static void the_filter_of_each_kind_asks_about_its_rows(void **state)
{
    (void)state;
    if (getenv("ASAN_OPTIONS") != NULL) {
        skip(); /* the sanitisers open files of their own */
    }
    assert_int_equal(refused_calls(CBX_NATIVE_BIT, try_calls), 0x3ff);
    assert_int_equal(refused_calls(CBX_PYTHON_BIT, try_calls),
                     0x1ff); /* its hook looks at the other files */
    assert_int_equal(refused_calls(CBX_SHELL_BIT, try_calls) & 0x3f9, 0x399); /* the shell forks */
}

/* Otherwise Linux would wake the supervisor without end. */
static void a_channel_without_another_end_says_so(void **state)
{
    (void)state;
    int ends[2], listener;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(cbx_filter_receive(ends[0], &listener), 0);
    close(ends[1]);
    assert_int_equal(cbx_filter_receive(ends[0], &listener), -1);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_refused_while_a_kernel_starts),
        cmocka_unit_test(without_a_list_nothing_starts_whatever_is_in_memory),
        cmocka_unit_test(where_hosts_are_granted_only_sockets_that_reach_the_proxy_are_opened),
        cmocka_unit_test(where_hosts_are_granted_sockets_connect_to_the_proxy_alone),
        cmocka_unit_test(where_hosts_are_granted_no_server_listens),
        cmocka_unit_test(a_shell_starts_what_is_listed_from_the_folders_of_programs),
        cmocka_unit_test(a_program_that_is_in_another_folder_of_PATH_is_no_attempt),
        cmocka_unit_test(a_shell_that_cannot_be_read_says_the_name_in_registers),
        cmocka_unit_test(a_kernel_with_judged_lines_starts_their_shell_and_what_is_listed),
        cmocka_unit_test(the_start_of_the_program_itself_passes_once),
        cmocka_unit_test(the_supervisor_and_the_command_kernel_are_out_of_reach_under_every_policy),
        cmocka_unit_test(a_program_signals_itself_and_a_shell_its_jobs),
        cmocka_unit_test(a_channel_without_another_end_says_so),
        cmocka_unit_test(no_row_is_missing),
        cmocka_unit_test(the_filter_of_each_kind_asks_about_its_rows),
        cmocka_unit_test(executable_memory_is_asked_about_whatever_it_is_made_of),
        cmocka_unit_test(a_program_names_itself_alone_as_receiver_of_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
