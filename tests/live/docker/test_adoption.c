/* SPDX-License-Identifier: MIT
 * Sandboxes on the real engine whose container or gateway ends: their remains, and their adoption
 * by the next gateway. Exit 77 without an engine. Nothing here sleeps: every wait is for an event
 * that has to come. */
#include "docker/engine/docker/docker.h"
#include "docker/sandbox/container.h"
#include "tests/live/docker/live.h"

#include <sys/wait.h>
#include <time.h>

static void reports_a_container_that_is_killed_during_a_run(void **state)
{
    IN_SANDBOX("python");
    seen.kill_on = cbx_sandbox_id(sandbox);
    run(sandbox, "python", "print('on', flush=True)\nwhile True: pass", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_KILLED);
    assert_true(seen.result.session_lost);
    assert_false(cbx_sandbox_poll(sandbox));
}

/* --- a gateway in a process of its own -------------------------------------------------------- */

/* The child sends the id of its sandbox's container, or why it could open none: images of another
 * protocol version, for one. */
static void send_id(int to, const struct cbx_sandbox *sandbox, const struct cbx_err *err)
{
    const char *text = sandbox != NULL        ? cbx_sandbox_id(sandbox)
                       : err->text[0] != '\0' ? err->text
                                              : "there is no reason";
    (void)!write(to, text, strlen(text));
}

/* The parent waits for it, and fails with the reason. */
static void take_id(int from, char id[CBX_CONTAINER_ID_CHARS + 1])
{
    char text[CBX_ERR_TEXT_BYTES] = "";
    ssize_t n = read(from, text, sizeof(text) - 1);
    close(from);
    if (n != CBX_CONTAINER_ID_CHARS || strspn(text, "0123456789abcdef") != (size_t)n) {
        fail_msg("the gateway opened no sandbox: %s", n > 0 ? text : "its process ended");
    }
    snprintf(id, CBX_CONTAINER_ID_CHARS + 1, "%s", text);
}

/* A gateway is killed and no other one starts: the lease ends. */
static void leaves_no_container_when_the_gateway_is_killed(void **state)
{
    (void)state;
    int ends[2];
    char id[CBX_CONTAINER_ID_CHARS + 1] = "", chunk[4096];
    struct cbx_err err = { 0 };
    assert_int_equal(pipe(ends), 0);
    pid_t gateway = fork();
    if (gateway == 0) {
        struct cbx_engine *own = NULL;
        struct cbx_sandbox *sandbox = NULL;
        struct cbx_permit p = permit_for("python", "");
        struct cbx_sandbox_config short_lived = config;
        short_lived.lease_ms = 1000;
        int failed = cbx_engine_new(NULL, &own, &err);
        if (!failed) {
            failed = open_with(own, &short_lived, &p, &sandbox, &err);
        }
        send_id(ends[1], failed ? NULL : sandbox, &err);
        if (failed) {
            _exit(1);
        }
        pause();
    }
    close(ends[1]);
    take_id(ends[0], id);
    kill(gateway, SIGKILL);
    waitpid(gateway, NULL, 0);
    CBX_AUTO(attach) attach = NULL;
    struct cbx_attach_bytes got;
    if (cbx_engine_container_attach(engine, id, &attach, &err) == 0) {
        while (cbx_attach_receive(attach, chunk, sizeof(chunk), 10000, &got, &err) == 0 &&
               got.bytes.len > 0) {
        }
    }
    /* The stream has ended; the engine removes the container right behind it. Each question is one
     * round trip. */
    struct cbx_container_state left;
    int found = 0;
    for (time_t until = time(NULL) + 10; found == 0 && time(NULL) < until;) {
        found = cbx_engine_container_state(engine, id, 0, &left, &err);
    }
    assert_int_equal(found, CBX_ENOTFOUND);
}

/* Begins a run and dies in the middle of it; the container's id comes through the pipe. */
static void begin_and_die(const char *source, int to)
{
    struct cbx_engine *own = NULL;
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    struct cbx_permit p = permit_for("ipython", source);
    struct seen seen = { 0 };
    clear(&seen);
    int failed = cbx_engine_new(NULL, &own, &err);
    if (!failed) {
        failed = open_with(own, &config, &p, &sandbox, &err);
    }
    if (!failed) {
        run(sandbox, "ipython", "kept = 6", &seen);
    }
    send_id(to, failed ? NULL : sandbox, &err);
    if (!failed) {
        run(sandbox, "ipython", source, &seen);
    }
    _exit(failed ? 1 : 0);
}

static struct cbx_sandbox *adopt_from_the_dead(const char *source, int64_t after_ms)
{
    int ends[2];
    char id[CBX_CONTAINER_ID_CHARS + 1] = "";
    struct cbx_err err = { 0 };
    assert_int_equal(pipe(ends), 0);
    pid_t gateway = fork();
    if (gateway == 0) {
        begin_and_die(source, ends[1]);
    }
    close(ends[1]);
    take_id(ends[0], id);
    struct timespec moment = { .tv_nsec = after_ms * 1000000 };
    nanosleep(&moment, NULL); /* lets the reset begin, so that the kill interrupts it */
    kill(gateway, SIGKILL);
    waitpid(gateway, NULL, 0);
    struct cbx_sandbox *sandbox = NULL;
    if (cbx_sandbox_adopt(engine, &config, id, &sandbox, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return sandbox;
}

static void the_next_host_has_the_state_and_all_output_of_a_run(void **state)
{
    (void)state;
    for (int64_t after_ms = 50; after_ms < 1000; after_ms += 400) {
        CBX_AUTO(sandbox)
        sandbox = adopt_from_the_dead("import time\nfor i in range(4):\n    print(i, flush=True)\n "
                                      "   time.sleep(.2)\nkept * 7",
                                      after_ms);
        __attribute__((cleanup(drop))) struct seen seen = { 0 };
        struct cbx_sink sink = { .event = take_event, .context = &seen };
        struct cbx_err err;
        assert_string_equal(cbx_sandbox_session(sandbox), "live");
        assert_string_equal(cbx_sandbox_principal(sandbox), "tester");
        assert_string_equal(cbx_sandbox_run_id(sandbox), "d");
        assert_int_equal(cbx_sandbox_limits(sandbox)->memory_bytes, 256 << 20);
        assert_int_equal(cbx_sandbox_resume(sandbox, "other", NULL, &seen.result, &err),
                         CBX_ENOTFOUND);
        for (int i = 0; i < 2; i++) { /* and once more, until it is acknowledged */
            clear(&seen);
            assert_int_equal(cbx_sandbox_resume(sandbox, "d", &sink, &seen.result, &err), 0);
            assert_int_equal(seen.result.status, CBX_RUN_OK);
            assert_string_equal(seen.out.p, "0\n1\n2\n3\n");
            assert_string_equal(seen.plain.p, "42");
        }
        cbx_sandbox_acknowledge(sandbox, "d");
        run(sandbox, "ipython", "kept", &seen);
        assert_string_equal(seen.plain.p, "6");
    }
}

static void following_an_acknowledged_run_fails_at_once(void **state)
{
    IN_SANDBOX("python");
    struct cbx_result result = { 0 };
    struct cbx_err err;
    run(sandbox, "python", "print(1)", &seen);
    char id[64];
    snprintf(id, sizeof(id), "%s", cbx_sandbox_run_id(sandbox));
    cbx_sandbox_acknowledge(sandbox, "another");
    assert_int_equal(cbx_sandbox_resume(sandbox, id, NULL, &result, &err), 0);
    cbx_sandbox_acknowledge(sandbox, id);
    assert_int_equal(cbx_sandbox_resume(sandbox, id, NULL, &result, &err), CBX_ENOTFOUND);
}

static void cannot_be_adopted_without_its_secret(void **state)
{
    IN_SANDBOX("python");
    struct cbx_sandbox_config other = config;
    struct cbx_sandbox *taken = NULL;
    struct cbx_err err;
    (void)seen;
    other.secret[0] ^= 1;
    assert_int_not_equal(cbx_sandbox_adopt(engine, &other, cbx_sandbox_id(sandbox), &taken, &err),
                         0);
    assert_null(taken);
}

/* An engine accepts the attach all the same, without an error. */
static void a_container_that_does_not_run_is_not_waited_for(void **state)
{
    (void)state;
    char image[CBX_IMAGE_ID_CHARS + 1], id[CBX_CONTAINER_ID_CHARS + 1];
    struct cbx_sandbox *taken = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_engine_image_id(engine, "codebox-python:latest", image, &err), 0);
    CBX_AUTO_DONE(container_spec) spec;
    cbx_sandbox_spec(&config, "python", &live_limits, image, NULL, &spec);
    assert_int_equal(cbx_docker_create(engine, &spec, id, &err), 0);
    int failed = cbx_sandbox_adopt(engine, &config, id, &taken, &err);
    cbx_engine_container_remove(engine, id, NULL);
    assert_null(taken);
    assert_int_equal(failed, CBX_ENOTFOUND);
}

static void reaps_what_carries_its_label(void **state)
{
    IN_SANDBOX("python");
    size_t removed = 0;
    struct cbx_err err;
    struct cbx_container_state ignored;
    assert_int_equal(
        cbx_sandbox_reap(engine, &(struct cbx_reap){ .instance = config.instance }, &removed, &err),
        0);
    assert_true(removed >= 1);
    assert_int_equal(cbx_engine_container_state(engine, cbx_sandbox_id(sandbox), 0, &ignored, &err),
                     CBX_ENOTFOUND);
    (void)seen;
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_a_container_that_is_killed_during_a_run),
        cmocka_unit_test(leaves_no_container_when_the_gateway_is_killed),
        cmocka_unit_test(the_next_host_has_the_state_and_all_output_of_a_run),
        cmocka_unit_test(following_an_acknowledged_run_fails_at_once),
        cmocka_unit_test(cannot_be_adopted_without_its_secret),
        cmocka_unit_test(a_container_that_does_not_run_is_not_waited_for),
        cmocka_unit_test(reaps_what_carries_its_label),
    };
    LIVE_RUN(argc, argv, tests);
}
