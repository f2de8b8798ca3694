/* SPDX-License-Identifier: MIT
 * Runs in a sandbox against a scripted engine and supervisor: the limits of a permit, the sent
 * frames, and the results for each reply. */
#include "policies/base/time/clock.h"
#include "tests/unit/docker/sandbox_rig.h"

/* --- runs ------------------------------------------------------------------------------------- */

static void runs_the_bytes_of_its_permit(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("x = 1");
    snprintf(p.file_name, sizeof(p.file_name), "a.py");
    p.arguments = (struct cbx_str){ .p = "b\0c", .len = 4 };
    assert_int_equal(run(sandbox, &p, "x = 1", &result), 0);
    assert_int_equal(result.status, CBX_RUN_OK);
    assert_int_equal(result.duration_ms, 7);
    assert_string_equal(seen.text, "1:ok\n;");
    const struct fake_container *c = &fake.containers[0];
    assert_string_equal(c->run.id, "d1");
    assert_string_equal(c->run.language, "ipython");
    assert_int_equal(c->run.one_shot, 0);
    assert_int_equal(c->run.interactive, 0);
    assert_int_equal(c->run.arguments_bytes, 9);
    assert_int_equal(c->payload.len, 9 + 5);
    assert_memory_equal(c->payload.p, "a.py\0b\0c\0x = 1", 14);
    assert_string_equal(cbx_sandbox_run_id(sandbox), "d1");
}

static void sends_the_hashes_of_accepted_files_before_the_arguments(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("x = 1");
    p.ledger = *cbx_sandbox_ledger(sandbox);
    const struct cbx_sha256 files[] = { cbx_sha256_of(CBX_STR("a")), cbx_sha256_of(CBX_STR("b")) };
    const struct cbx_run_options options = { .accept = files, .accept_count = 2 };
    snprintf(p.file_name, sizeof(p.file_name), "a.py");
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("x = 1"), &options, &result, &err), 0);
    const struct fake_container *c = &fake.containers[0];
    assert_int_equal(c->run.accept_count, 2);
    assert_int_equal(c->payload.len, sizeof(files) + 5 + 5);
    assert_memory_equal(c->payload.p, files, sizeof(files));
    assert_memory_equal(c->payload.p + sizeof(files), "a.py\0x = 1", 10);
}

static void sends_the_modules_that_are_refused_before_the_arguments(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("x = 1");
    snprintf(p.file_name, sizeof(p.file_name), "a.py");
    p.refused = 1u << CBX_REFUSE_IMPORT;
    p.imports = (struct cbx_str){ .p = "-os\0+os.path", .len = 13 };
    p.programs = (struct cbx_str){ .p = "ls", .len = 3 };
    assert_int_equal(run(sandbox, &p, "x = 1", &result), 0);
    const struct fake_container *c = &fake.containers[0];
    assert_int_equal(c->run.refused, 1u << CBX_REFUSE_IMPORT);
    assert_int_equal(c->run.imports_bytes, 13);
    assert_int_equal(c->payload.len, 3 + 13 + 5 + 5);
    assert_memory_equal(c->payload.p, "ls\0-os\0+os.path\0a.py\0x = 1", 26);
}

static void a_run_with_more_accepted_files_than_allowed_does_not_start(void **state)
{
    (void)state;
    static const struct cbx_sha256 files[CBX_RUN_ACCEPT_MAX + 1];
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    p.ledger = *cbx_sandbox_ledger(sandbox);
    struct cbx_run_options options = { .accept = files, .accept_count = CBX_RUN_ACCEPT_MAX + 1 };
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), &options, &result, &err),
                     CBX_ETOOBIG);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_RUN), 0);
    options.accept_count--;
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), &options, &result, &err), 0);
}

static void a_run_without_a_session_is_the_only_one(void **state)
{
    (void)state;
    struct cbx_permit p = permit_for("1");
    p.session[0] = '\0';
    CBX_AUTO(sandbox) sandbox = open_for(&p);
    CBX_AUTO_DONE(result) result = { 0 };
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(fake.containers[0].run.one_shot, 1);
    assert_int_equal(fake.containers[0].run.arguments_bytes, 0);
}

static void gets_the_stricter_limits_of_run_and_session(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    struct cbx_permit p = permit_for("1");
    p.limits.wall_ms = 30000;
    p.limits.cpu_ms = CBX_LIMIT_UNSET;
    p.limits.output_bytes = 10;
    p.limits.files_bytes = 2 << 20;
    CBX_AUTO_DONE(result) result = { 0 };
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    const struct cbx_frame_run *sent = &fake.containers[0].run;
    assert_int_equal(sent->limits.wall_ms, limits.wall_ms);
    assert_int_equal(sent->limits.cpu_ms, limits.cpu_ms);
    assert_int_equal(sent->limits.output_bytes, 10);
    assert_int_equal(sent->limits.files_bytes, limits.files_bytes);
    p.limits.cpu_ms = 1000;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(sent->limits.cpu_ms, 1000);
}

static void a_permit_that_has_0_for_a_limit_of_a_run_does_not_run(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    const struct cbx_limit_row *row;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        struct cbx_permit p = permit_for("1");
        *cbx_limit_at(&p.limits, row) = 0;
        if (row->words != NULL) {
            continue; /* 0 is the strictest: a test of its own */
        }
        int expected = row->scope == CBX_LIMIT_RUN ? CBX_ESEAL : 0;
        p.ledger = *cbx_sandbox_ledger(sandbox);
        assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, &result, &err), expected);
        if (expected != 0) {
            assert_non_null(strstr(err.text, row->title));
        } else {
            cbx_result_done(&result);
            result = (struct cbx_result){ 0 };
        }
    }
}

static void reports_the_begin_between_run_and_the_first_event(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_string_equal(seen.begun, "d1");
    assert_int_equal(seen.begun_events, 0);
}

static void refuses_bytes_that_the_permit_is_not_for(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit good = permit_for("1"), p = good;
    assert_int_equal(run(sandbox, &good, "2", &result), CBX_ESEAL);
    p.action = CBX_ACTION_OPEN;
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESEAL);
    p = good;
    snprintf(p.session, sizeof(p.session), "s2");
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESEAL);
    p = good;
    snprintf(p.principal, sizeof(p.principal), "bob");
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESEAL);
    p = good;
    p.policy_sha256 = cbx_sha256_of(CBX_STR("another policy"));
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESEAL);
    p = good;
    snprintf(p.language, sizeof(p.language), "javascript");
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESEAL);
    p = good;
    snprintf(p.file_name, sizeof(p.file_name), "../a");
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_EINVAL);
    CBX_AUTO(sandbox) unclaimed = NULL;
    assert_int_equal(prepare(&unclaimed), 0);
    struct cbx_permit empty = permit_for("1");
    empty.session[0] = empty.principal[0] = '\0';
    assert_int_equal(run(unclaimed, &empty, "1", &result), CBX_ESEAL);
    assert_int_equal(fake.containers[0].run.limits.wall_ms, 0);
    assert_int_equal(fake.containers[1].run.limits.wall_ms, 0);
}

/* A decision that was made before another run, or without it, does not run. */
static void refuses_a_permit_of_another_ledger(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit first = permit_for("1"), second = first;
    first.ledger = second.ledger = *cbx_sandbox_ledger(sandbox);
    first.entry = cbx_sha256_of(CBX_STR("first"));
    second.entry = cbx_sha256_of(CBX_STR("second"));
    struct cbx_sha256 begin = cbx_ledger_begin(CBX_STR("s1"), &first.policy_sha256),
                      after = cbx_ledger_add(&begin, &first.entry);
    assert_true(cbx_sha256_equal(&begin, cbx_sandbox_ledger(sandbox)));
    assert_int_equal(cbx_sandbox_run(sandbox, &first, CBX_STR("1"), NULL, &result, &err), 0);
    assert_true(cbx_sha256_equal(&after, cbx_sandbox_ledger(sandbox)));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            cbx_sandbox_run(sandbox, i == 0 ? &first : &second, CBX_STR("1"), NULL, &result, &err),
            CBX_ESTALE);
        assert_true(cbx_sha256_equal(&after, cbx_sandbox_ledger(sandbox)));
    }
    second.ledger = after;
    cbx_result_done(&result);
    assert_int_equal(cbx_sandbox_run(sandbox, &second, CBX_STR("1"), NULL, &result, &err), 0);
}

static void hold(struct fake_container *c)
{
    fake_say(c, CBX_FRAME_STDOUT, "a", 1);
}

static void a_sink_that_refuses_an_event_interrupts_the_run(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = hold;
    seen.stop_after = 1;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    seen.stop_after = 0;
    assert_int_equal(result.status, CBX_RUN_KILLED);
    assert_int_equal(seen.events, 1);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_INTERRUPT) != NULL);
}

static void a_silent_run_is_interrupted_when_it_is_cancelled(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = hold;
    seen.cancelled = true;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    seen.cancelled = false;
    assert_int_equal(result.status, CBX_RUN_KILLED);
    assert_true(cbx_sandbox_poll(sandbox));
}

static void die(struct fake_container *c)
{
    c->running = false;
}

static void a_container_that_ends_ends_its_run(void **state)
{
    (void)state;
    for (int oom = 0; oom < 2; oom++) {
        CBX_AUTO(sandbox) sandbox = open_sandbox();
        CBX_AUTO_DONE(result) result = { 0 };
        struct cbx_permit p = permit_for("1");
        p.ledger = *cbx_sandbox_ledger(sandbox);
        fake.on_run = die;
        fake.oom = oom;
        struct cbx_run_options options = { .sink = &sink };
        assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), &options, &result, &err), 0);
        assert_int_equal(result.status, oom ? CBX_RUN_OOM : CBX_RUN_KILLED);
        assert_true(result.session_lost);
        assert_int_equal(result.exit_code, -1);
        assert_false(cbx_sandbox_poll(sandbox));
        assert_string_equal(cbx_sandbox_run_id(sandbox), "");
        assert_true(fake.containers[oom].removed);
        assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESTATE);
    }
}

static void a_gvisor_sandbox_that_ends_says_what_it_usually_ends_of(void **state)
{
    (void)state;
    config.gvisor_runtime = "runsc";
    limits.isolation = CBX_ISOLATION_GVISOR;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = die;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    config.gvisor_runtime = NULL;
    assert_int_equal(result.status, CBX_RUN_KILLED);
    assert_string_equal(result.ename, "SandboxEnded");
    assert_non_null(strstr(result.evalue, "more memory, or more processes and threads"));
}

static void lose_kernel(struct fake_container *c)
{
    struct cbx_frame_done done = { .status = CBX_DONE_ENDED,
                                   .exit_code = 1,
                                   .flags = CBX_DONE_LOST };
    fake_say(c, CBX_FRAME_DONE, &done, sizeof(done));
}

static void a_program_that_ends_without_a_message_is_explained_under_gvisor_alone(void **state)
{
    (void)state;
    config.gvisor_runtime = "runsc";
    fake.on_run = lose_kernel;
    for (int gvisor = 0; gvisor < 2; gvisor++) {
        limits.isolation = gvisor ? CBX_ISOLATION_GVISOR : CBX_ISOLATION_CONTAINER;
        CBX_AUTO(sandbox) sandbox = open_sandbox();
        CBX_AUTO_DONE(result) result = { 0 };
        struct cbx_permit p = permit_for("1");
        p.ledger = *cbx_sandbox_ledger(sandbox);
        assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, &result, &err), 0);
        assert_int_equal(result.status, CBX_RUN_ERROR);
        assert_true((result.ename != NULL) == gvisor);
    }
    config.gvisor_runtime = NULL;
}

static void
a_run_that_asks_for_a_stricter_isolation_than_its_sandbox_has_does_not_start(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    p.limits.isolation = CBX_ISOLATION_GVISOR;
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESTATE);
    assert_non_null(strstr(err.text, "open a session with this isolation"));
    p.limits.isolation = 0;
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESTATE);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_RUN), 0);
}

static void go_away(struct fake_container *c)
{
    fake.away = true;
    shutdown(c->fd, SHUT_RDWR);
}

static void a_run_whose_engine_cannot_be_reached_any_more_is_lost(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = go_away;
    int64_t before_ms = cbx_time_ms();
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(result.status, CBX_RUN_LOST);
    assert_int_equal(result.exit_code, -1);
    assert_true(result.session_lost);
    assert_in_range(result.lost_since_ms, before_ms, cbx_time_ms());
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_RUN), 1);
    assert_int_equal(fake.count, 1);
    assert_false(cbx_sandbox_poll(sandbox));
}

static void break_protocol(struct fake_container *c)
{
    fake_say(c, CBX_FRAME_RUN, "x", 1);
}

static void a_sandbox_that_breaks_the_protocol_is_removed(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = break_protocol;
    assert_int_equal(run(sandbox, &p, "1", &result), CBX_EPROTO);
    assert_false(cbx_sandbox_poll(sandbox));
    assert_nothing_left();
}

static void fail_run(struct fake_container *c)
{
    static const char text[] = "{\"ename\":\"E\",\"evalue\":\"v\",\"traceback\":[\"a\",\"b\"]}";
    fake_say(c, CBX_FRAME_ERROR, text, sizeof(text) - 1);
    fake_end_run(c, CBX_DONE_ENDED, 1);
}

static void an_error_of_the_program_is_in_its_result(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = fail_run;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(result.status, CBX_RUN_ERROR);
    assert_int_equal(result.exit_code, 1);
    assert_string_equal(result.ename, "E");
    assert_string_equal(result.traceback, "a\nb");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_the_bytes_of_its_permit),
        TEST(sends_the_hashes_of_accepted_files_before_the_arguments),
        TEST(sends_the_modules_that_are_refused_before_the_arguments),
        TEST(a_run_with_more_accepted_files_than_allowed_does_not_start),
        TEST(a_run_without_a_session_is_the_only_one),
        TEST(gets_the_stricter_limits_of_run_and_session),
        TEST(a_permit_that_has_0_for_a_limit_of_a_run_does_not_run),
        TEST(reports_the_begin_between_run_and_the_first_event),
        TEST(refuses_bytes_that_the_permit_is_not_for),
        TEST(refuses_a_permit_of_another_ledger),
        TEST(a_sink_that_refuses_an_event_interrupts_the_run),
        TEST(a_silent_run_is_interrupted_when_it_is_cancelled),
        TEST(a_container_that_ends_ends_its_run),
        TEST(a_gvisor_sandbox_that_ends_says_what_it_usually_ends_of),
        TEST(a_program_that_ends_without_a_message_is_explained_under_gvisor_alone),
        TEST(a_run_that_asks_for_a_stricter_isolation_than_its_sandbox_has_does_not_start),
        TEST(a_run_whose_engine_cannot_be_reached_any_more_is_lost),
        TEST(a_sandbox_that_breaks_the_protocol_is_removed),
        TEST(an_error_of_the_program_is_in_its_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
