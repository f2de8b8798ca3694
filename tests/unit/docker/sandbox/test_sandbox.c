/* SPDX-License-Identifier: MIT
 * The life cycle of a sandbox against a scripted engine and supervisor: its creation, the permit
 * that claims it, the process that adopts it, and its removal with its container. */
#include "tests/unit/docker/sandbox_rig.h"

/* --- made ------------------------------------------------------------------------------------- */

static void a_container_is_attached_before_it_starts(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_equal(prepare(&sandbox), 0);
    assert_string_equal(fake.calls, "create attach start ");
    assert_string_equal(cbx_sandbox_id(sandbox), fake.containers[0].id);
    assert_string_equal(cbx_sandbox_kernel(sandbox), "python");
    assert_string_equal(cbx_sandbox_session(sandbox), "");
    assert_true(cbx_sandbox_poll(sandbox));
    assert_int_equal(fake.containers[0].lease_ms, CBX_SANDBOX_LEASE_MS);
    assert_non_null(strstr(fake.containers[0].create_body, "sha256:"));
}

static void each_has_a_key_of_its_own(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) a = NULL;
    CBX_AUTO(sandbox) b = NULL;
    assert_int_equal(prepare(&a), 0);
    assert_int_equal(prepare(&b), 0);
    assert_memory_not_equal(fake.containers[0].key, fake.containers[1].key, CBX_FRAME_KEY_BYTES);
}

static void passes_over_what_was_sent_to_an_earlier_host(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    fake.before_mark = "O\xff\xff\xff\xff half a frame";
    assert_int_equal(prepare(&sandbox), 0);
}

static void a_missing_image_is_the_operators_failure(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    fake.image_missing = true;
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_int_equal(err.code, CBX_EENGINE);
    assert_string_equal(err.text, "image 'codebox-python:latest' is missing; the operator builds "
                                  "it with 'codebox image build'");
    assert_safe(fake.host);
    assert_null(sandbox);
}

static void a_sandbox_under_gvisor_needs_a_runtime_for_it_and_a_kernel_that_runs_there(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    limits.isolation = CBX_ISOLATION_GVISOR;
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_non_null(strstr(err.text, "--gvisor-runtime"));
    config.gvisor_runtime = "runsc";
    assert_int_equal(cbx_sandbox_prepare(engine, &config, "bash", &limits, NULL, &sandbox, &err),
                     CBX_EENGINE);
    assert_non_null(strstr(err.text, "shell does not run with the isolation gvisor"));
    assert_int_equal(fake.count, 0);
    assert_int_equal(prepare(&sandbox), 0);
    config.gvisor_runtime = NULL;
    assert_non_null(strstr(fake.containers[0].create_body, "\"Runtime\":\"runsc\""));
    cbx_sandbox_free(sandbox);
}

static void an_engine_that_refuses_is_quoted_to_the_operator_alone(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    static const int statuses[] = { 404, 409, 500 };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        fake.create_status = statuses[i];
        assert_int_equal(prepare(&sandbox), CBX_EENGINE);
        assert_safe(FAKE_SECRET);
    }
    fake.create_status = 0;
    fake.attach_status = 500;
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_safe(FAKE_SECRET);
    fake.attach_status = 0;
    fake.start_status = 404;
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_safe(FAKE_SECRET);
    fake.start_status = 409; /* it is being removed */
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_non_null(strstr(err.text, "try again"));
    assert_safe(FAKE_SECRET);
    assert_nothing_left();
}

static void only_the_operator_gets_the_address_of_an_engine_that_does_not_answer(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_engine *other = NULL;
    unlink(fake.socket);
    assert_int_equal(cbx_engine_new(fake.host, &other, &err), CBX_EENGINE);
    assert_safe("there is no such socket");
    assert_string_equal(err.text, "the sandbox engine does not answer");
    shutdown(fake.listening, SHUT_RDWR);
    for (int i = 0; i < fake.connections; i++) {
        shutdown(fake.fds[i], SHUT_RDWR);
    }
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_safe(fake.host);
}

static void a_socket_without_permission_is_explained(void **state)
{
    (void)state;
    struct cbx_engine *other = NULL;
    if (geteuid() == 0) { /* root may connect to any socket */
        assert_int_equal(chmod(fake.folder, 0755), 0);
        assert_int_equal(chmod(fake.socket, 0600), 0);
        assert_int_equal(chown(fake.socket, 0, 1), 0); /* the group 'daemon' */
        assert_int_equal(seteuid(65534), 0);
    } else {
        assert_int_equal(chmod(fake.socket, 0), 0);
    }
    int failed = cbx_engine_new(fake.host, &other, &err);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(failed, CBX_EENGINE);
    assert_string_equal(err.text, "the gateway has no permission on the sandbox engine's socket");
    assert_safe("permission denied");
    assert_true(geteuid() != 0 || strstr(err.detail, "the group 'daemon'") != NULL);
    assert_non_null(strstr(err.detail, "sudo"));
    assert_non_null(strstr(err.detail, "DOCKER_HOST"));
}

static void nothing_is_left_of_one_that_does_not_answer(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    fake.no_hello = true;
    assert_int_not_equal(prepare(&sandbox), 0);
    assert_int_equal(fake.count, 1);
    assert_nothing_left();
}

static void an_image_of_another_version_is_refused(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    fake.hello_version = CBX_FRAME_VERSION - 1;
    assert_int_equal(prepare(&sandbox), CBX_EENGINE);
    assert_non_null(strstr(err.text, "codebox image build"));
    assert_nothing_left();
}

/* --- claimed ---------------------------------------------------------------------------------- */

static void belongs_to_its_permit_once_claimed(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    assert_string_equal(cbx_sandbox_session(sandbox), "s1");
    assert_string_equal(cbx_sandbox_principal(sandbox), "ann");
    assert_string_equal(cbx_sandbox_policy(sandbox), "strict");
    FAKE_AWAIT(fake.containers[0].tag_len > 0);
    struct cbx_permit p = permit_for("");
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), CBX_ESEAL);
}

static void is_claimed_with_a_permit_for_a_sandbox_like_it(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_equal(prepare(&sandbox), 0);
    struct cbx_permit good = permit_for(""), p = good;
    p.action = CBX_ACTION_CHECK;
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), CBX_ESEAL);
    p = good;
    snprintf(p.language, sizeof(p.language), "javascript");
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), CBX_ESEAL);
    snprintf(p.language, sizeof(p.language), "cobol");
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), CBX_EINVAL);
    int64_t *const fixed[] = { &p.limits.memory_bytes, &p.limits.cpu_milli, &p.limits.pids,
                               &p.limits.disk_bytes };
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        p = good;
        ++*fixed[i];
        assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), CBX_ESEAL);
    }
    assert_int_equal(cbx_sandbox_claim(sandbox, &good, &err), 0);
}

static void has_the_limits_of_the_permit_that_claims_it(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    CBX_AUTO_DONE(result) result = { 0 };
    assert_int_equal(prepare(&sandbox), 0);
    struct cbx_permit open = permit_for(""), p = permit_for("1");
    open.action = CBX_ACTION_OPEN;
    open.limits.wall_ms = 500;
    assert_int_equal(cbx_sandbox_claim(sandbox, &open, &err), 0);
    assert_int_equal(cbx_sandbox_limits(sandbox)->wall_ms, 500);
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(fake.containers[0].run.limits.wall_ms, 500);
}

/* --- adopted, detached, removed --------------------------------------------------------------- */

static void is_adopted_by_the_next_process_with_its_run(void **state)
{
    (void)state;
    struct cbx_sandbox *first = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    CBX_AUTO_DONE(result) again = { 0 };
    struct cbx_permit p = permit_for("1");
    assert_int_equal(run(first, &p, "1", &result), 0);
    int64_t claimed_ms = cbx_sandbox_claimed_ms(first);
    cbx_sandbox_detach(first);
    FAKE_AWAIT(fake.containers[0].fd < 0);
    fake.containers[0].running = true;
    assert_false(fake.containers[0].removed);
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_equal(cbx_sandbox_adopt(engine, &config, fake.containers[0].id, &sandbox, &err), 0);
    assert_string_equal(cbx_sandbox_session(sandbox), "s1");
    assert_string_equal(cbx_sandbox_principal(sandbox), "ann");
    assert_string_equal(cbx_sandbox_policy(sandbox), "strict");
    assert_string_equal(cbx_sandbox_kernel(sandbox), "python");
    assert_string_equal(cbx_sandbox_run_id(sandbox), "d1");
    assert_int_equal(cbx_sandbox_claimed_ms(sandbox), claimed_ms);
    assert_memory_equal(cbx_sandbox_limits(sandbox), &limits, sizeof(limits));
    assert_int_equal(cbx_sandbox_resume(sandbox, "d2", &sink, &again, &err), CBX_ENOTFOUND);
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(cbx_sandbox_resume(sandbox, "d1", &sink, &again, &err), 0);
    assert_int_equal(again.status, CBX_RUN_OK);
    assert_string_equal(seen.text, "1:ok\n;");
    cbx_sandbox_acknowledge(sandbox, "d1");
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_ACK) != NULL);
    assert_int_equal(cbx_sandbox_resume(sandbox, "d1", &sink, &again, &err), CBX_ENOTFOUND);
}

static void is_not_adopted_when_the_tag_is_not_authentic(void **state)
{
    (void)state;
    struct cbx_sandbox_config other = config;
    struct cbx_sandbox *sandbox = NULL, *first = open_sandbox();
    const char *id = fake.containers[0].id;
    FAKE_AWAIT(fake.containers[0].tag_len > 0);
    cbx_sandbox_detach(first);
    FAKE_AWAIT(fake.containers[0].fd < 0);
    fake.containers[0].running = true;
    char *session = memmem(fake.containers[0].tag, fake.containers[0].tag_len, "s1", 2);
    assert_non_null(session);
    session[1] = '2';
    assert_int_equal(cbx_sandbox_adopt(engine, &config, id, &sandbox, &err), CBX_EPROTO);
    session[1] = '1';
    FAKE_AWAIT(fake.containers[0].fd < 0);
    fake.containers[0].running = true;
    other.secret[0] ^= 1;
    assert_int_equal(cbx_sandbox_adopt(engine, &other, id, &sandbox, &err), CBX_EPROTO);
    assert_null(sandbox);
}

static void is_not_adopted_before_it_was_claimed(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL, *first = NULL;
    assert_int_equal(prepare(&first), 0);
    cbx_sandbox_detach(first);
    FAKE_AWAIT(fake.containers[0].fd < 0);
    fake.containers[0].running = true;
    assert_int_equal(cbx_sandbox_adopt(engine, &config, fake.containers[0].id, &sandbox, &err),
                     CBX_ENOTFOUND);
}

static void an_acknowledgement_of_another_run_leaves_this_one(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    cbx_sandbox_acknowledge(sandbox, "d0");
    assert_string_equal(cbx_sandbox_run_id(sandbox), "d1");
    cbx_sandbox_acknowledge(sandbox, "d1");
    assert_string_equal(cbx_sandbox_run_id(sandbox), "");
}

static void freeing_removes_and_detaching_does_not(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = open_sandbox();
    cbx_sandbox_detach(sandbox);
    assert_false(fake.containers[0].removed);
    sandbox = open_sandbox();
    cbx_sandbox_free(sandbox);
    assert_true(fake.containers[1].removed);
}

static void ends_without_a_lease_and_continues_with_one(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    cbx_sandbox_renew_lease(sandbox);
    FAKE_AWAIT(fake.containers[0].leases == 1);
    assert_int_equal(fake.containers[0].lease_ms, CBX_SANDBOX_LEASE_MS);
    assert_true(cbx_sandbox_poll(sandbox));
    cbx_sandbox_end(sandbox);
    FAKE_AWAIT(fake.containers[0].fd < 0);
    assert_int_equal(fake.containers[0].lease_ms, 0);
    assert_false(cbx_sandbox_poll(sandbox));
}

static void is_warm_when_its_kernel_has_reported_it(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    cbx_sandbox_warm(sandbox);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_WARM) != NULL);
    assert_false(cbx_sandbox_is_warm(sandbox));
    fake.warms = true;
    cbx_sandbox_warm(sandbox);
    assert_true(cbx_sandbox_ping(sandbox)); /* READY comes before the answer to it */
    assert_true(cbx_sandbox_is_warm(sandbox));
}

static bool keeps_the_second(void *context, const char *id)
{
    (void)context;
    return strcmp(id, fake.containers[1].id) == 0;
}

static void reaping_removes_old_containers_that_no_table_has(void **state)
{
    (void)state;
    size_t removed = 0;
    struct cbx_reap second_kept = { .instance = "unit", .keeps = keeps_the_second };
    struct cbx_reap old = { .instance = "unit", .age_s = (int64_t)time(NULL) };
    cbx_sandbox_detach(open_sandbox());
    cbx_sandbox_detach(open_sandbox());
    cbx_sandbox_detach(open_sandbox());
    assert_int_equal(cbx_sandbox_reap(engine, &second_kept, &removed, &err), 0);
    assert_int_equal(removed, 2);
    assert_true(fake.containers[0].removed && fake.containers[2].removed);
    assert_false(fake.containers[1].removed);
    assert_int_equal(cbx_sandbox_reap(engine, &old, &removed, &err), 0);
    assert_int_equal(removed, 0); /* all sandboxes are younger */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_container_is_attached_before_it_starts),
        TEST(each_has_a_key_of_its_own),
        TEST(passes_over_what_was_sent_to_an_earlier_host),
        TEST(a_missing_image_is_the_operators_failure),
        TEST(a_sandbox_under_gvisor_needs_a_runtime_for_it_and_a_kernel_that_runs_there),
        TEST(an_engine_that_refuses_is_quoted_to_the_operator_alone),
        TEST(only_the_operator_gets_the_address_of_an_engine_that_does_not_answer),
        TEST(a_socket_without_permission_is_explained),
        TEST(nothing_is_left_of_one_that_does_not_answer),
        TEST(an_image_of_another_version_is_refused),
        TEST(belongs_to_its_permit_once_claimed),
        TEST(is_claimed_with_a_permit_for_a_sandbox_like_it),
        TEST(has_the_limits_of_the_permit_that_claims_it),
        TEST(is_adopted_by_the_next_process_with_its_run),
        TEST(is_not_adopted_when_the_tag_is_not_authentic),
        TEST(is_not_adopted_before_it_was_claimed),
        TEST(an_acknowledgement_of_another_run_leaves_this_one),
        TEST(freeing_removes_and_detaching_does_not),
        TEST(ends_without_a_lease_and_continues_with_one),
        TEST(is_warm_when_its_kernel_has_reported_it),
        TEST(reaping_removes_old_containers_that_no_table_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
