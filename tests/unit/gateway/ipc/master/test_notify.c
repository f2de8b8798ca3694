/* SPDX-License-Identifier: MIT
 * Messages to a service manager. */
#include "gateway/ipc/master/notify.h"
#include "tests/unit/gateway/scratch.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket at a path, or of an abstract name that begins with '@'. */
static int manager_at(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    memcpy(address.sun_path, name, strlen(name));
    address.sun_path[0] = name[0] == '@' ? '\0' : name[0];
    assert_int_equal(bind(fd, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    return fd;
}

static void expect(int manager, const char *start)
{
    char text[256] = "";
    assert_true(recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
    assert_int_equal(strncmp(text, start, strlen(start)), 0);
}

static void tells_states_at_a_path_and_at_an_abstract_name(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_make(&scratch);
    char path[512], name[64];
    snprintf(path, sizeof(path), "%s/notify", scratch.path);
    snprintf(name, sizeof(name), "@codebox-test-%d", (int)getpid());
    const char *const names[] = { path, name };
    for (size_t i = 0; i < 2; i++) {
        int manager = manager_at(names[i]);
        struct cbx_notify notify;
        setenv("NOTIFY_SOCKET", names[i], 1);
        setenv("WATCHDOG_USEC", "10000000", 1);
        cbx_notify_init(&notify);
        assert_int_equal(notify.watchdog_ms, 5000);
        cbx_notify_send(&notify, "READY=1");
        expect(manager, "READY=1");
        cbx_notify_reloading(&notify);
        expect(manager, "RELOADING=1\nMONOTONIC_USEC=");
        cbx_notify_done(&notify);
        close(manager);
    }
    scratch_remove(&scratch);
}

static void without_a_manager_nothing_happens(void **state)
{
    (void)state;
    static const char *const names[] = { "", "relative", "/nonesuch/notify" };
    for (size_t i = 0; i < 3; i++) {
        struct cbx_notify notify;
        setenv("NOTIFY_SOCKET", names[i], 1);
        cbx_notify_init(&notify);
        assert_int_equal(notify.fd, -1);
        assert_int_equal(notify.watchdog_ms, 0);
        cbx_notify_send(&notify, "READY=1");
        cbx_notify_done(&notify);
    }
}

static void a_watchdog_of_another_process_or_without_sense_is_none(void **state)
{
    (void)state;
    static const char *const periods[] = { "", "0", "-5", "soon", "99999999999999" };
    char name[64];
    snprintf(name, sizeof(name), "@codebox-test-%d", (int)getpid());
    int manager = manager_at(name);
    struct cbx_notify notify;
    setenv("NOTIFY_SOCKET", name, 1);
    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
        setenv("WATCHDOG_USEC", periods[i], 1);
        cbx_notify_init(&notify);
        assert_int_equal(notify.watchdog_ms, 0);
        cbx_notify_done(&notify);
    }
    setenv("WATCHDOG_USEC", "10000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    cbx_notify_init(&notify);
    assert_int_equal(notify.watchdog_ms, 0);
    cbx_notify_done(&notify);
    close(manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_states_at_a_path_and_at_an_abstract_name),
        cmocka_unit_test(without_a_manager_nothing_happens),
        cmocka_unit_test(a_watchdog_of_another_process_or_without_sense_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
