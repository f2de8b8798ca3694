/* SPDX-License-Identifier: MIT
 * The life of a sandbox against a scripted engine and supervisor: who may enter it, what it is
 * sent, what is made of its answers, and that no container is left behind. */
#include "docker/container.h"
#include "docker/sandbox.h"
#include "tests/unit/docker/fake_engine.h"

static struct cbx_engine *engine;
static struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
static struct cbx_err err;

static const struct cbx_limits limits = { .wall_ms = 20000,
                                          .cpu_ms = 3000,
                                          .cpu_milli = 1000,
                                          .memory_bytes = 256 << 20,
                                          .pids = 64,
                                          .disk_bytes = 16 << 20,
                                          .output_bytes = 64 * 1024,
                                          .files_bytes = 1 << 20,
                                          .source_bytes = 1 << 20 };

static int begin_test(void **state)
{
    (void)state;
    fake_start();
    memset(&err, 0, sizeof(err));
    assert_int_equal(cbx_engine_new(fake.host, &engine, &err), 0);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    cbx_engine_free(engine);
    fake_stop();
    return 0;
}

static struct cbx_permit permit_for(const char *source)
{
    struct cbx_permit p = { .decision = "d1",
                            .session = "s1",
                            .principal = "ann",
                            .policy = "strict",
                            .language = "ipython",
                            .action = CBX_ACTION_RUN,
                            .limits = limits };
    p.source_sha256 = cbx_sha256_of(cbx_str_of(source));
    return p;
}

static struct cbx_sandbox *open_for(const struct cbx_permit *permit)
{
    struct cbx_sandbox *sandbox = NULL;
    assert_int_equal(cbx_sandbox_new(engine, &config, permit, &sandbox, &err), 0);
    return sandbox;
}

static struct cbx_sandbox *open_sandbox(void)
{
    struct cbx_permit p = permit_for("");
    return open_for(&p);
}

static int prepare(struct cbx_sandbox **out)
{
    return cbx_sandbox_prepare(engine, &config, "python", &limits, out, &err);
}

/* Each container that was made has been removed. */
static void assert_nothing_left(void)
{
    for (int i = 0; i < fake.count; i++) {
        assert_true(fake.containers[i].removed);
    }
}

/* The text is fit for a caller; the operator's detail names the place. */
static void assert_safe(const char *detail)
{
    assert_null(strstr(err.text, fake.folder));
    assert_null(strstr(err.text, FAKE_SECRET));
    assert_null(strstr(err.text, "localhost"));
    assert_non_null(strstr(err.detail, detail));
}

/* --- events ----------------------------------------------------------------------------------- */

static struct {
    char text[256];
    int events, stop_after, begun_events;
    bool cancelled;
    char begun[64];
} seen;

static int take_event(void *context, const struct cbx_event *event)
{
    (void)context;
    size_t used = strlen(seen.text);
    snprintf(seen.text + used, sizeof(seen.text) - used, "%d:%.*s;", event->kind,
             CBX_STR_ARG(event->text));
    return ++seen.events == seen.stop_after;
}

static bool is_cancelled(void *context)
{
    (void)context;
    return seen.cancelled;
}

static void note_begun(void *context)
{
    struct fake_container *c = context;
    FAKE_AWAIT(strchr(c->received, CBX_FRAME_RUN) != NULL);
    seen.begun_events = seen.events;
    snprintf(seen.begun, sizeof(seen.begun), "%s", c->run.id);
}

static const struct cbx_sink sink = { .event = take_event, .cancelled = is_cancelled };

static int run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit, const char *source,
               struct cbx_result *out)
{
    struct cbx_run_options options = { .begun = note_begun, .context = &fake.containers[0] };
    memset(&seen.text, 0, sizeof(seen.text));
    seen.events = 0;
    return cbx_sandbox_run(sandbox, permit, cbx_str_of(source), &options, &sink, out, &err);
}

/* --- made ------------------------------------------------------------------------------------- */

static void is_attached_before_it_starts(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_equal(prepare(&sandbox), 0);
    assert_string_equal(fake.calls, "create attach start ");
    assert_string_equal(cbx_sandbox_id(sandbox), fake.containers[0].id);
    assert_string_equal(cbx_sandbox_kernel(sandbox), "python");
    assert_string_equal(cbx_sandbox_session(sandbox), "");
    assert_true(cbx_sandbox_alive(sandbox));
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
    assert_nothing_left();
}

static void an_engine_that_is_gone_is_named_to_the_operator_alone(void **state)
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
    p = good;
    p.network = CBX_NETWORK_NONE + 1;
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
    assert_int_equal(fake.containers[0].run.wall_ms, 500);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void runs_what_its_permit_says(void **state)
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

static void is_told_the_tighter_limits_of_run_and_session(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    struct cbx_permit p = permit_for("1");
    p.limits.wall_ms = 30000;
    p.limits.cpu_ms = 0;
    p.limits.output_bytes = 10;
    p.limits.files_bytes = 2 << 20;
    CBX_AUTO_DONE(result) result = { 0 };
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    const struct cbx_frame_run *sent = &fake.containers[0].run;
    assert_int_equal(sent->wall_ms, limits.wall_ms);
    assert_int_equal(sent->cpu_ms, limits.cpu_ms);
    assert_int_equal(sent->output_bytes, 10);
    assert_int_equal(sent->files_bytes, limits.files_bytes);
    p.limits.cpu_ms = 1000;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(sent->cpu_ms, 1000);
}

static void says_that_it_began_after_run_was_sent_and_before_the_first_event(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_string_equal(seen.begun, "d1");
    assert_int_equal(seen.begun_events, 0);
}

static void runs_nothing_that_the_permit_is_not_for(void **state)
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
    assert_int_equal(fake.containers[0].run.wall_ms, 0);
    assert_int_equal(fake.containers[1].run.wall_ms, 0);
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
    assert_true(cbx_sandbox_alive(sandbox));
}

static void die(struct fake_container *c)
{
    c->running = false;
}

static void a_container_that_dies_ends_its_run(void **state)
{
    (void)state;
    for (int oom = 0; oom < 2; oom++) {
        CBX_AUTO(sandbox) sandbox = open_sandbox();
        CBX_AUTO_DONE(result) result = { 0 };
        struct cbx_permit p = permit_for("1");
        fake.on_run = die;
        fake.oom = oom;
        struct cbx_run_options options = { 0 };
        assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), &options, &sink, &result, &err),
                         0);
        assert_int_equal(result.status, oom ? CBX_RUN_OOM : CBX_RUN_KILLED);
        assert_true(result.session_lost);
        assert_int_equal(result.exit_code, -1);
        assert_false(cbx_sandbox_alive(sandbox));
        assert_string_equal(cbx_sandbox_run_id(sandbox), "");
        assert_true(fake.containers[oom].removed);
        assert_int_equal(run(sandbox, &p, "1", &result), CBX_ESTATE);
    }
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
    assert_false(cbx_sandbox_alive(sandbox));
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

static void ends_without_a_lease_and_lives_on_with_one(void **state)
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

static void is_warm_when_its_kernel_has_said_so(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    cbx_sandbox_warm(sandbox);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_WARM) != NULL);
    assert_false(cbx_sandbox_is_warm(sandbox));
    fake.warms = true;
    cbx_sandbox_warm(sandbox);
    assert_true(cbx_sandbox_ping(sandbox)); /* its answer comes behind READY */
    assert_true(cbx_sandbox_is_warm(sandbox));
}

static bool keeps_the_second(void *context, const char *id)
{
    (void)context;
    return strcmp(id, fake.containers[1].id) == 0;
}

static void reaping_removes_old_ones_that_nobody_keeps(void **state)
{
    (void)state;
    size_t removed = 0;
    cbx_sandbox_detach(open_sandbox());
    cbx_sandbox_detach(open_sandbox());
    cbx_sandbox_detach(open_sandbox());
    assert_int_equal(cbx_sandbox_reap(engine, "unit", 0, keeps_the_second, NULL, &removed, &err),
                     0);
    assert_int_equal(removed, 2);
    assert_true(fake.containers[0].removed && fake.containers[2].removed);
    assert_false(fake.containers[1].removed);
    assert_int_equal(
        cbx_sandbox_reap(engine, "unit", (int64_t)time(NULL), NULL, NULL, &removed, &err), 0);
    assert_int_equal(removed, 0); /* all are younger */
}

/* --- files ------------------------------------------------------------------------------------ */

static void a_refused_file_has_a_reason(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    static const struct {
        int number, code;
    } cases[] = { { ENOENT, CBX_ENOTFOUND }, { EXDEV, CBX_EINVAL },   { EISDIR, CBX_EINVAL },
                  { EFBIG, CBX_ETOOBIG },    { ENOSPC, CBX_ETOOBIG }, { EIO, CBX_EIO } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fake.answer_code = (uint32_t)cases[i].number;
        assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a"), &err), cases[i].code);
        assert_true(cbx_sandbox_alive(sandbox));
    }
}

static void sends_no_path_or_file_that_is_too_large(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) big;
    cbx_buf_init(&big, 2 << 20);
    memset(cbx_buf_reserve(&big, 2 << 20), 'x', 2 << 20);
    struct cbx_str file = { .p = big.p, .len = (size_t)limits.files_bytes + 1 };
    struct cbx_str path = { .p = big.p, .len = CBX_FRAME_PATH_MAX + 1 };
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("a"), file, &err), CBX_ETOOBIG);
    assert_int_equal(cbx_sandbox_put(sandbox, path, CBX_STR(""), &err), CBX_EINVAL);
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR(""), CBX_STR(""), &err), CBX_EINVAL);
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a\0b"), &err), CBX_EINVAL);
    assert_null(strchr(fake.containers[0].received, CBX_FRAME_PUT));
    file.len--;
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("a"), file, &err), 0);
}

static void add_entry(struct cbx_buf *to, const char *name, size_t len)
{
    struct cbx_frame_entry entry = { .size_bytes = 3, .name_len = (uint16_t)len };
    cbx_buf_add_bytes(to, &entry, sizeof(entry));
    cbx_buf_add_bytes(to, name, len);
}

static void lists_files_sorted_and_refuses_names_that_are_none(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) entries;
    cbx_buf_init(&entries, 4096);
    add_entry(&entries, "b", 1);
    add_entry(&entries, "a", 1);
    fake.answer = cbx_buf_str(&entries);
    bool complete = false;
    CBX_AUTO_JSON list = NULL;
    assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR(""), &list, &complete, &err), 0);
    assert_true(complete);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "name")), "a");
    static const struct cbx_str bad[] = { CBX_STR("x/y"), CBX_STR("x\0y"), CBX_STR("") };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *none = NULL;
        cbx_buf_reset(&entries);
        add_entry(&entries, bad[i].p, bad[i].len);
        fake.answer = cbx_buf_str(&entries);
        assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR(""), &none, &complete, &err),
                         CBX_EPROTO);
    }
}

static void gets_the_bytes_of_a_file(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 4096);
    fake.answer = CBX_STR("a\0b");
    assert_int_equal(cbx_sandbox_get(sandbox, CBX_STR("a"), &bytes, &err), 0);
    assert_int_equal(bytes.len, 3);
    assert_memory_equal(bytes.p, "a\0b", 3);
    assert_int_equal(cbx_sandbox_reset(sandbox, &err), 0);
    fake.answer_code = 5;
    assert_int_equal(cbx_sandbox_reset(sandbox, &err), CBX_EIO);
}

static void is_gone_when_it_does_not_answer(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    fake.half_answer = true;
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a"), &err), CBX_EPROTO);
    assert_false(cbx_sandbox_alive(sandbox));
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a"), &err), CBX_ESTATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_attached_before_it_starts),
        TEST(each_has_a_key_of_its_own),
        TEST(passes_over_what_was_sent_to_an_earlier_host),
        TEST(a_missing_image_is_the_operators_failure),
        TEST(an_engine_that_refuses_is_quoted_to_the_operator_alone),
        TEST(an_engine_that_is_gone_is_named_to_the_operator_alone),
        TEST(a_socket_without_permission_is_explained),
        TEST(nothing_is_left_of_one_that_does_not_answer),
        TEST(an_image_of_another_version_is_refused),
        TEST(belongs_to_its_permit_once_claimed),
        TEST(is_claimed_with_a_permit_for_a_sandbox_like_it),
        TEST(has_the_limits_of_the_permit_that_claims_it),
        TEST(runs_what_its_permit_says),
        TEST(a_run_without_a_session_is_the_only_one),
        TEST(is_told_the_tighter_limits_of_run_and_session),
        TEST(says_that_it_began_after_run_was_sent_and_before_the_first_event),
        TEST(runs_nothing_that_the_permit_is_not_for),
        TEST(a_sink_that_refuses_an_event_interrupts_the_run),
        TEST(a_silent_run_is_interrupted_when_it_is_cancelled),
        TEST(a_container_that_dies_ends_its_run),
        TEST(a_sandbox_that_breaks_the_protocol_is_removed),
        TEST(an_error_of_the_program_is_in_its_result),
        TEST(is_adopted_by_the_next_process_with_its_run),
        TEST(is_not_adopted_when_the_tag_is_not_authentic),
        TEST(is_not_adopted_before_it_was_claimed),
        TEST(an_acknowledgement_of_another_run_leaves_this_one),
        TEST(freeing_removes_and_detaching_does_not),
        TEST(ends_without_a_lease_and_lives_on_with_one),
        TEST(is_warm_when_its_kernel_has_said_so),
        TEST(reaping_removes_old_ones_that_nobody_keeps),
        TEST(a_refused_file_has_a_reason),
        TEST(sends_no_path_or_file_that_is_too_large),
        TEST(lists_files_sorted_and_refuses_names_that_are_none),
        TEST(gets_the_bytes_of_a_file),
        TEST(is_gone_when_it_does_not_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
