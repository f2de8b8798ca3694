/* SPDX-License-Identifier: MIT
 * The refusals of the filters of the gateway's processes. A forked child makes each attempt. */
#include "gateway/ipc/jail/jail.h"
#include "tests/unit/gateway/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <sys/utsname.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

enum { NO_JAIL = 99 };

/* Forks a child with this filter; `attempt` returns its exit status. */
static int run_jailed(int (*jail)(struct cbx_err *), int (*attempt)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct cbx_err err;
        cbx_jail_common();
        _exit(jail(&err) != 0 ? NO_JAIL : attempt());
    }
    return await_child(pid);
}

static void assert_kills(int (*attempt)(void))
{
    int status = run_jailed(cbx_jail_worker, attempt);
    if (!WIFSIGNALED(status)) {
        fail_msg("the child lived and exited with %d", WEXITSTATUS(status));
    }
    assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void assert_works(int (*jail)(struct cbx_err *), int (*attempt)(void))
{
    int status = run_jailed(jail, attempt);
    if (WIFSIGNALED(status)) {
        fail_msg("the child was killed by signal %d", WTERMSIG(status));
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- the worker ------------------------------------------------------------------------------- */

static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY) < 0;
}
static int try_old_open(void)
{
#ifdef SYS_open
    return syscall(SYS_open, "/etc/passwd", O_RDONLY) < 0;
#else
    return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) < 0;
#endif
}
static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0;
}
static int try_socketpair(void)
{
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0;
}
static int try_connect(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
    return connect(0, (struct sockaddr *)&to, sizeof(to)) < 0;
}
static int try_fork(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    return pid < 0;
}
static int try_exec(void)
{
    char *const argv[] = { (char *)(uintptr_t) "true", NULL };
    return execv("/bin/true", argv) < 0;
}
static int try_kill(void)
{
    return kill(getppid(), 0) < 0;
}
static int try_ptrace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0;
}
static int try_dup(void)
{
    return dup(0) < 0;
}
static int try_unlink(void)
{
    return unlink("/nonexistent/file") < 0;
}
static int try_mprotect(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0;
}
static int try_prctl(void)
{
    return prctl(PR_SET_DUMPABLE, 1) < 0;
}
static int try_io_uring(void)
{
    return syscall(SYS_io_uring_setup, 1, NULL) < 0;
}

static void kills_a_worker_that_opens_files_sockets_or_processes(void **state)
{
    (void)state;
    assert_kills(try_open);
    assert_kills(try_old_open);
    assert_kills(try_socket);
    assert_kills(try_socketpair);
    assert_kills(try_connect);
    assert_kills(try_fork);
    assert_kills(try_exec);
    assert_kills(try_kill);
    assert_kills(try_ptrace);
    assert_kills(try_dup);
    assert_kills(try_unlink);
    assert_kills(try_prctl);
    assert_kills(try_io_uring);
}

static int try_mmap(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) == MAP_FAILED;
}

static void kills_a_worker_that_maps_executable_memory(void **state)
{
    (void)state;
    assert_kills(try_mmap);
}

static void kills_a_worker_that_makes_memory_executable(void **state)
{
    (void)state;
    assert_kills(try_mprotect);
}

/* The calls of glibc's qsort before it sorts more than 1 KiB. */
static int ask_how_much_memory_there_is(void)
{
    (void)sysconf(_SC_PHYS_PAGES); /* the library chooses its answer to the refusal */
    return 0;
}

/* Makes the system calls itself: a C library may answer some without one. */
static int ask_about_the_machine(void)
{
    struct sysinfo memory;
    struct utsname name;
    struct stat status;
    if (syscall(SYS_sysinfo, &memory) == 0 || errno != ENOSYS) {
        return 1;
    }
    if (syscall(SYS_uname, &name) == 0 || errno != ENOSYS) {
        return 2;
    }
    return syscall(SYS_fstat, 0, &status) == 0 || errno != ENOSYS ? 3 : 0;
}

static void answers_what_the_c_library_asks_on_its_own(void **state)
{
    (void)state;
    assert_works(cbx_jail_worker, ask_how_much_memory_there_is);
    assert_works(cbx_jail_worker, ask_about_the_machine);
}

static int channel[2];

static int do_what_judging_needs(void)
{
    char text[5] = "";
    if (read(channel[1], text, 4) != 4 || write(channel[1], text, 4) != 4) {
        return 1;
    }
    char *small = malloc(100), *large = malloc(64 << 20), *page;
    page = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (small == NULL || large == NULL || page == MAP_FAILED) {
        return 2;
    }
    memset(large, 1, 64 << 20);
    memset(page, 1, 1 << 20);
    if (!SANITIZED && sbrk(1 << 20) == (void *)-1) {
        return 3;
    }
    char *moved = realloc(large, 80 << 20);
    if (moved == NULL || moved[0] != 1 || cbx_clock_ms() <= 0 || cbx_time_ms() <= 0) {
        return 4;
    }
    free(moved);
    free(small);
    munmap(page, 1 << 20);
    char id[CBX_ID_CHARS + 1];
    cbx_id_make(id);
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("x"));
    return hash.bytes[0] == 0x2d ? 0 : 5;
}

static void permits_what_judging_needs(void **state)
{
    (void)state;
    char text[5] = "";
    (void)cbx_hmac_sha256(CBX_STR("k"), CBX_STR("m")); /* as the zygote does before it forks */
    assert_int_equal(cbx_wire_pair(channel, NULL), 0);
    assert_int_equal(write(channel[0], "ping", 4), 4);
    assert_works(cbx_jail_worker, do_what_judging_needs);
    assert_int_equal(read(channel[0], text, 4), 4);
    assert_string_equal(text, "ping");
    close(channel[0]);
    close(channel[1]);
}

static int ask_too_much_memory(void)
{
    return malloc((size_t)3 << 30) == NULL ? 0 : 1;
}

static void gives_a_worker_no_more_than_two_gigabytes(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message(
            "skipped: the sanitizer's shadow is larger than any limit, so the jail sets none\n");
        skip();
    }
    assert_works(cbx_jail_worker, ask_too_much_memory);
}

/* --- the front -------------------------------------------------------------------------------- */

#define REFUSED(call) (errno = 0, (long)(call) == -1 && errno == EPERM)

static int tcp_socket; /* opened before the jail */

static int try_everything_refused(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
    char *const argv[] = { (char *)(uintptr_t) "true", NULL };
    int tcp = tcp_socket;
    return !REFUSED(connect(tcp, (struct sockaddr *)&to, sizeof(to)))                ? 2
           : !REFUSED(execv("/bin/true", argv))                                      ? 3
           : !REFUSED(socket(AF_UNIX, SOCK_STREAM, 0))                               ? 4
           : !REFUSED(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))                 ? 5
           : !REFUSED(syscall(SYS_pidfd_getfd, -1, 0, 0))                            ? 6
           : !REFUSED(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)) ? 7
           : !REFUSED(syscall(SYS_io_uring_setup, 1, NULL))                          ? 8
           : !REFUSED(syscall(SYS_execveat, -1, "/bin/true", argv, NULL, 0))         ? 9
           : !REFUSED(socket(AF_INET, SOCK_STREAM, 0))                               ? 10
           : !REFUSED(socket(AF_INET, SOCK_DGRAM, 0))                                ? 11
           : !REFUSED(socket(AF_NETLINK, SOCK_RAW, 0))                               ? 12
           : !REFUSED(bind(tcp, (struct sockaddr *)&to, sizeof(to)))                 ? 13
           : !REFUSED(listen(tcp, 1))                                                ? 14
           : !REFUSED(ioctl(STDIN_FILENO, TIOCSTI, "x"))                             ? 15
           : !REFUSED(kill(getppid(), 0))                                            ? 16
           : !REFUSED(syscall(SYS_tgkill, getppid(), getppid(), 0))                  ? 17
           : !REFUSED(chmod("/nonexistent", 0777))                                   ? 18
           : !REFUSED(symlink("/etc/shadow", "/tmp/x"))                              ? 19
           : !REFUSED(syscall(SYS_memfd_create, "x", 0))                             ? 20
           : !REFUSED(setuid(0))                                                     ? 21
                                                                                     : 0;
}

static int try_a_process(void)
{
    return REFUSED(fork()) && REFUSED(syscall(SYS_vfork)) &&
                   REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
               ? 0
               : 1;
}

static int try_executable_memory(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED                                      ? 1
           : !REFUSED(mprotect(page, 4096, PROT_READ | PROT_EXEC)) ? 2
           : !REFUSED((intptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                                     -1, 0))
               ? 3
               : 0;
}

static void refuses_a_front_that_makes_memory_executable(void **state)
{
    (void)state;
    assert_works(cbx_jail_front, try_executable_memory);
}

static void refuses_a_front_that_starts_a_process(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message("skipped: the leak checker needs a process, so the jail lets it through\n");
        skip();
    }
    assert_works(cbx_jail_front, try_a_process);
}

static void *end_thread(void *context)
{
    *(int *)context = 1;
    return NULL;
}

/* Uses an arena of the thread, which calls mprotect. */
static void *allocate(void *context)
{
    free(malloc(1 << 16));
    *(int *)context = REFUSED(socket(AF_INET, SOCK_STREAM, 0));
    return NULL;
}

static int start_threads(void)
{
    pthread_t thread;
    int ran = 0, refused = 0;
    if (pthread_create(&thread, NULL, end_thread, &ran) != 0 || pthread_join(thread, NULL) != 0 ||
        pthread_create(&thread, NULL, allocate, &refused) != 0 || pthread_join(thread, NULL) != 0) {
        return 1;
    }
    return ran == 1 && refused == 1 ? 0 : 2;
}

static void permits_threads_which_have_the_same_filter(void **state)
{
    (void)state;
    assert_works(cbx_jail_front, start_threads);
}

static int make_setuid_files(void)
{
    return REFUSED(open("/nonexistent/x", O_WRONLY | O_CREAT, 04755)) &&
                   REFUSED(openat(AT_FDCWD, "/nonexistent/x", O_WRONLY | O_CREAT, 02755)) &&
                   !REFUSED(open("/nonexistent/x", O_WRONLY | O_CREAT, 0755))
               ? 0
               : 1;
}

static void refuses_to_make_files_that_run_with_the_rights_of_their_owner(void **state)
{
    (void)state;
    assert_works(cbx_jail_front, make_setuid_files);
}

static void refuses_a_front_that_connects_or_starts_programs(void **state)
{
    (void)state;
    tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(tcp_socket >= 0);
    assert_works(cbx_jail_front, try_everything_refused);
    close(tcp_socket);
}

static int try_the_upper_half(void)
{
    /* The host kernel reads the family as an int: bits in the upper half of the register must not
     * hide it. */
    return REFUSED(syscall(SYS_socket, (1L << 32) | AF_UNIX, SOCK_STREAM, 0)) ? 0 : 1;
}

static void refuses_a_unix_socket_also_when_the_register_has_more_bits(void **state)
{
    (void)state;
    assert_works(cbx_jail_front, try_the_upper_half);
}

static struct sockaddr_in tcp_address;

static int try_fast_open(void)
{
    struct iovec part = { .iov_base = (void *)(uintptr_t) "x", .iov_len = 1 };
    struct msghdr message = { .msg_name = &tcp_address,
                              .msg_namelen = sizeof(tcp_address),
                              .msg_iov = &part,
                              .msg_iovlen = 1 };
    struct mmsghdr many = { .msg_hdr = message };
    int fd = tcp_socket;
    return !REFUSED(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&tcp_address,
                           sizeof(tcp_address)))
               ? 2
           : !REFUSED(sendmsg(fd, &message, MSG_FASTOPEN | MSG_NOSIGNAL)) ? 3
           : !REFUSED(sendmmsg(fd, &many, 1, MSG_FASTOPEN))               ? 4
                                                                          : 0;
}

/* TCP Fast Open connects without connect(). */
static void refuses_to_connect_by_sending(void **state)
{
    (void)state;
    socklen_t size = sizeof(tcp_address);
    CBX_AUTO_FD listener = socket(AF_INET, SOCK_STREAM, 0);
    tcp_address =
        (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(bind(listener, (struct sockaddr *)&tcp_address, size), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&tcp_address, &size), 0);
    tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
    assert_works(cbx_jail_front, try_fast_open);
    close(tcp_socket);
    struct pollfd ready = { .fd = listener, .events = POLLIN };
    assert_int_equal(poll(&ready, 1, 0), 0);
}

static int try_ptrace_front(void)
{
    return REFUSED(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)) &&
                   REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL))
               ? 0
               : 1;
}

static void refuses_a_front_to_trace(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message("skipped: the leak checker needs ptrace, so the jail lets it through\n");
        skip();
    }
    assert_works(cbx_jail_front, try_ptrace_front);
}

static int listener_fd;

static int serve_one(void)
{
    int pair[2];
    struct cbx_err err;
    if (cbx_wire_pair(pair, &err) != 0 || cbx_wire_send_fd(pair[0], pair[1], 'x', &err) != 0) {
        return 1; /* a request to the executor needs this */
    }
    int fd = accept4(listener_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || send(fd, "hello", 5, MSG_NOSIGNAL) != 5) {
        return 2;
    }
    close(fd);
    fd = accept(listener_fd, NULL, NULL);
    return fd < 0 || write(fd, "again", 5) != 5 ? 3 : 0;
}

static void permits_what_serving_needs(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", s.path);
    listener_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener_fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener_fd, 4), 0);
    int clients[2];
    for (int i = 0; i < 2; i++) {
        clients[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(clients[i], (struct sockaddr *)&address, sizeof(address)), 0);
    }
    assert_works(cbx_jail_front, serve_one);
    for (int i = 0; i < 2; i++) {
        char text[6] = "";
        assert_int_equal(read(clients[i], text, 5), 5);
        assert_string_equal(text, i == 0 ? "hello" : "again");
        close(clients[i]);
    }
    close(listener_fd);
    scratch_remove(&s);
}

/* --- executor, zygote, master ----------------------------------------------------------------- */

static int jail_unix_executor(struct cbx_err *err)
{
    return cbx_jail_executor(false, err);
}

static int jail_tcp_executor(struct cbx_err *err)
{
    return cbx_jail_executor(true, err);
}

/* Calls that no process of the gateway needs. */
static int try_what_nobody_may(void)
{
    char *const argv[] = { (char *)(uintptr_t) "true", NULL };
    return !REFUSED(execv("/bin/true", argv))                                        ? 2
           : !REFUSED(syscall(SYS_execveat, -1, "/bin/true", argv, NULL, 0))         ? 3
           : !REFUSED(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)) ? 4
           : !REFUSED(syscall(SYS_pidfd_getfd, -1, 0, 0))                            ? 5
           : !REFUSED(syscall(SYS_io_uring_setup, 1, NULL))                          ? 6
           : !REFUSED(syscall(SYS_bpf, 0, NULL, 0))                                  ? 7
           : !REFUSED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))              ? 8
           : !REFUSED(syscall(SYS_unshare, 0))                                       ? 9
           : !REFUSED(syscall(SYS_setns, -1, 0))                                     ? 10
           : !REFUSED(syscall(SYS_mount, NULL, "/", NULL, 0, NULL))                  ? 11
           : !REFUSED(syscall(SYS_init_module, NULL, 0, ""))                         ? 12
           : !REFUSED(syscall(SYS_keyctl, 0, 0, 0, 0, 0))                            ? 13
           : !REFUSED(syscall(SYS_userfaultfd, 0))                                   ? 14
           : !REFUSED(chmod("/nonexistent", 0777))                                   ? 15
           : !REFUSED(symlink("/etc/shadow", "/nonexistent/x"))                      ? 16
           : !REFUSED(listen(tcp_socket, 1))                                         ? 17
                                                                                     : 0;
}

static void refuses_every_process_what_none_needs(void **state)
{
    (void)state;
    int (*const jails[])(struct cbx_err *) = { jail_unix_executor, jail_tcp_executor,
                                               cbx_jail_zygote, cbx_jail_master };
    tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
    for (size_t i = 0; i < sizeof(jails) / sizeof(jails[0]); i++) {
        assert_works(jails[i], try_what_nobody_may);
    }
    close(tcp_socket);
}

static int try_as_executor(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
    return !REFUSED(bind(tcp_socket, (struct sockaddr *)&to, sizeof(to))) ? 2
           : !REFUSED(socket(AF_NETLINK, SOCK_RAW, 0))                    ? 3
           : !REFUSED(socket(AF_PACKET, SOCK_RAW, 0))                     ? 4
           : !REFUSED(socket(AF_VSOCK, SOCK_STREAM, 0))                   ? 5
           : !REFUSED(kill(getppid(), 0))                                 ? 6
           : !REFUSED(syscall(SYS_tgkill, getppid(), getppid(), 0))       ? 7
           : !REFUSED(setuid(0))                                          ? 8
           : !REFUSED(chroot("/"))                                        ? 9
           : !REFUSED(accept(tcp_socket, NULL, NULL))                     ? 10
           : !REFUSED(syscall(SYS_memfd_create, "x", 0))                  ? 11
           : !REFUSED(ioctl(STDIN_FILENO, TIOCSTI, "x"))                  ? 12
                                                                          : 0;
}

static int try_internet_sockets(void)
{
    return REFUSED(socket(AF_INET, SOCK_STREAM, 0)) && REFUSED(socket(AF_INET6, SOCK_DGRAM, 0)) ? 0
                                                                                                : 1;
}

static int open_internet_sockets(void)
{
    return !REFUSED(socket(AF_INET, SOCK_STREAM, 0)) && !REFUSED(socket(AF_INET6, SOCK_DGRAM, 0))
               ? 0
               : 1;
}

static void refuses_an_executor_other_sockets_users_and_signals(void **state)
{
    (void)state;
    tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
    assert_works(jail_unix_executor, try_as_executor);
    assert_works(jail_tcp_executor, try_as_executor);
    assert_works(jail_unix_executor, try_internet_sockets);
    assert_works(jail_tcp_executor, open_internet_sockets);
    assert_works(jail_unix_executor, try_executable_memory);
    if (!SANITIZED) {
        assert_works(jail_unix_executor, try_a_process);
        assert_works(jail_unix_executor, try_ptrace_front);
    }
    close(tcp_socket);
}

static struct sockaddr_un engine_address;
static char folder[64];

/* Calls of the audit log, of the instance's file and of the engine client. */
static int keep_a_log(void)
{
    char name[80], fresh[80];
    snprintf(name, sizeof(name), "%s/log", folder);
    snprintf(fresh, sizeof(fresh), "%s/log.new", folder);
    CBX_AUTO_FD fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CBX_AUTO_FD engine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 || write(fd, "x", 1) != 1 || fdatasync(fd) < 0 || ftruncate(fd, 0) < 0 ? 1
           : flock(fd, LOCK_EX | LOCK_NB) < 0 || futimens(fd, NULL) < 0                  ? 2
           : rename(fresh, name) < 0 || unlink(name) < 0                                 ? 3
           : connect(engine, (struct sockaddr *)&engine_address, sizeof(engine_address)) < 0
               ? 4
               : start_threads();
}

static void permits_an_executor_its_log_its_engine_and_threads(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    snprintf(folder, sizeof(folder), "%s", s.path);
    engine_address.sun_family = AF_UNIX;
    snprintf(engine_address.sun_path, sizeof(engine_address.sun_path), "%s/socket", s.path);
    CBX_AUTO_FD listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&engine_address, sizeof(engine_address)), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_works(jail_unix_executor, keep_a_log);
    scratch_remove(&s);
}

static int try_as_zygote(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
    return !REFUSED(open("/etc/passwd", O_RDONLY))                             ? 1
           : !REFUSED(socket(AF_UNIX, SOCK_STREAM, 0))                         ? 2
           : !REFUSED(connect(tcp_socket, (struct sockaddr *)&to, sizeof(to))) ? 3
           : !REFUSED(unlink("/nonexistent/file"))                             ? 4
           : !REFUSED(setuid(0))                                               ? 5
           : !REFUSED(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL))            ? 6
           : !REFUSED((intptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                                     -1, 0))
               ? 7
               : 0;
}

static int exit_jailed(void)
{
    struct cbx_err err;
    _exit(cbx_jail_worker(&err) != 0 ? NO_JAIL : 42);
}

/* The worker's filter kills it still, under the zygote's. */
static int open_jailed(void)
{
    struct cbx_err err;
    _exit(cbx_jail_worker(&err) != 0 ? NO_JAIL : try_open());
}

static int fork_workers(void)
{
    int (*const workers[])(void) = { exit_jailed, open_jailed };
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            workers[i]();
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid ||
            (i == 0 ? !WIFEXITED(status) || WEXITSTATUS(status) != 42
                    : !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)) {
            return 2 + i;
        }
    }
    pid_t pid = fork(); /* a worker that hangs */
    if (pid == 0) {
        for (;;) {
            poll(NULL, 0, -1);
        }
    }
    return pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid ? 0 : 4;
}

static int jail_zygote(struct cbx_err *err)
{
    int failed = cbx_jail_worker_prepare(err);
    if (failed) {
        return failed;
    }
    return cbx_jail_zygote(err);
}

static void lets_a_zygote_fork_workers_and_do_nothing_else(void **state)
{
    (void)state;
    tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
    assert_works(jail_zygote, try_as_zygote);
    assert_works(jail_zygote, fork_workers);
    close(tcp_socket);
}

static int jail_in_turn(int (*jail)(struct cbx_err *), struct cbx_err *err)
{
    int failed = cbx_jail_master(err);
    if (failed) {
        return failed;
    }
    return jail(err);
}

static int jail_zygote_below(struct cbx_err *err)
{
    return jail_in_turn(jail_zygote, err);
}

static int jail_front_below(struct cbx_err *err)
{
    return jail_in_turn(cbx_jail_front, err);
}

static int jail_executor_below(struct cbx_err *err)
{
    return jail_in_turn(jail_unix_executor, err);
}

static int jail_tcp_executor_below(struct cbx_err *err)
{
    return jail_in_turn(jail_tcp_executor, err);
}

/* Each child inherits the master's filter. */
static void the_filter_of_the_master_permits_what_its_children_need(void **state)
{
    (void)state;
    (void)cbx_hmac_sha256(CBX_STR("k"), CBX_STR("m"));
    assert_works(jail_zygote_below, fork_workers);
    assert_works(jail_front_below, start_threads);
    assert_works(jail_executor_below, start_threads);
    assert_works(jail_tcp_executor_below, open_internet_sockets);
}

/* --- all -------------------------------------------------------------------------------------- */

static int no_jail(struct cbx_err *err)
{
    (void)err;
    return 0;
}

static int check_common(void)
{
    struct rlimit cores;
    getrlimit(RLIMIT_CORE, &cores);
    return prctl(PR_GET_DUMPABLE) != 0                   ? 1
           : prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ? 2
           : cores.rlim_cur != 0 || cores.rlim_max != 0  ? 3
                                                         : 0;
}

static void makes_every_process_undumpable_and_unprivileged(void **state)
{
    (void)state;
    assert_works(no_jail, check_common);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_a_worker_that_opens_files_sockets_or_processes),
        cmocka_unit_test(kills_a_worker_that_maps_executable_memory),
        cmocka_unit_test(kills_a_worker_that_makes_memory_executable),
        cmocka_unit_test(answers_what_the_c_library_asks_on_its_own),
        cmocka_unit_test(permits_what_judging_needs),
        cmocka_unit_test(gives_a_worker_no_more_than_two_gigabytes),
        cmocka_unit_test(refuses_a_front_that_connects_or_starts_programs),
        cmocka_unit_test(refuses_a_front_that_makes_memory_executable),
        cmocka_unit_test(refuses_a_front_that_starts_a_process),
        cmocka_unit_test(permits_threads_which_have_the_same_filter),
        cmocka_unit_test(refuses_a_unix_socket_also_when_the_register_has_more_bits),
        cmocka_unit_test(refuses_to_connect_by_sending),
        cmocka_unit_test(refuses_a_front_to_trace),
        cmocka_unit_test(refuses_to_make_files_that_run_with_the_rights_of_their_owner),
        cmocka_unit_test(permits_what_serving_needs),
        cmocka_unit_test(refuses_every_process_what_none_needs),
        cmocka_unit_test(refuses_an_executor_other_sockets_users_and_signals),
        cmocka_unit_test(permits_an_executor_its_log_its_engine_and_threads),
        cmocka_unit_test(lets_a_zygote_fork_workers_and_do_nothing_else),
        cmocka_unit_test(the_filter_of_the_master_permits_what_its_children_need),
        cmocka_unit_test(makes_every_process_undumpable_and_unprivileged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
