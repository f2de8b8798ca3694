/* SPDX-License-Identifier: MIT
 * Approvals: each is used once, also with several threads; a job runs only with an approval for its
 * own judged text. */
#include "gateway/front/service/approvals.h"

#include "gateway/front/service/accept.h"
#include "tests/unit/gateway/front/rest/rig.h"

/* --- used once -------------------------------------------------------------------------------- */

static struct cbx_service service;

static int set_up(void **state)
{
    (void)state;
    service = (struct cbx_service){ 0 };
    pthread_mutex_init(&service.lock, NULL);
    return 0;
}

static int use(const char *asked, int64_t ms)
{
    struct cbx_err err;
    return cbx_service_use_approval(&service, cbx_str_of(asked), cbx_clock_ms() + ms, &err);
}

static void each_is_used_once(void **state)
{
    (void)state;
    char one[CBX_ID_CHARS + 1], other[CBX_ID_CHARS + 1];
    cbx_id_make(one);
    cbx_id_make(other);
    assert_int_equal(use(one, 60000), 0);
    assert_int_equal(use(one, 60000), CBX_ESTATE);
    assert_int_equal(use(other, 60000), 0);
    assert_int_equal(use(one, 60000), CBX_ESTATE);
}

static void one_that_is_too_old_or_of_no_decision_is_not_used(void **state)
{
    (void)state;
    char one[CBX_ID_CHARS + 1];
    cbx_id_make(one);
    assert_int_equal(use(one, 0), CBX_ESTATE);
    assert_int_equal(use("", 60000), CBX_ESTATE);
    assert_int_equal(use(one, 60000), 0);
}

static void when_no_more_can_be_remembered_it_is_refused_until_one_expires(void **state)
{
    (void)state;
    char id[CBX_ID_CHARS + 1];
    for (int i = 0; i < CBX_SERVICE_APPROVALS; i++) {
        cbx_id_make(id);
        assert_int_equal(use(id, 60000), 0);
    }
    char late[CBX_ID_CHARS + 1];
    cbx_id_make(late);
    assert_int_equal(use(late, 60000), CBX_EBUSY);
    assert_int_equal(use(id, 60000), CBX_ESTATE);
    service.approvals[0].expires_ms = service.approvals[CBX_SERVICE_APPROVALS - 1].expires_ms =
        cbx_clock_ms();
    assert_int_equal(use(late, 60000), 0);
    assert_int_equal(use(late, 60000), CBX_ESTATE);
}

enum { THREADS = 8 };
static atomic_int succeeded;

static void *use_in_a_thread(void *id)
{
    if (use(id, 60000) == 0) {
        succeeded++;
    }
    return NULL;
}

static void of_several_threads_one_uses_it(void **state)
{
    (void)state;
    char id[CBX_ID_CHARS + 1];
    pthread_t threads[THREADS];
    cbx_id_make(id);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_in_a_thread, id), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(succeeded, 1);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* The outcome of a job. */
struct end {
    json_t *execution;
    struct cbx_err err;
};

static void note_end(void *context, const json_t *execution, const struct cbx_err *err)
{
    struct end *end = context;
    end->execution = json_deep_copy(execution);
    end->err = *err;
}

/* Submits a job that needs approval, with this digest as its approval ("" = none). Returns NULL if
 * it was not accepted; `digest` is then the digest to approve. */
static struct cbx_job *accept(struct rig *rig, const char *session, const char *approved,
                              char digest[CBX_SHA256_HEX + 1])
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) denial = { 0 };
    struct cbx_job *job = cbx_job_new(&rig->service, CBX_CALLER_LOCAL);
    cbx_buf_add_cstr(&job->source, "ASK");
    snprintf(job->language, sizeof(job->language), "ipython");
    if (approved[0] != '\0') {
        job->approval =
            (struct cbx_approval){ .asked = "shown", .client = "editor", .how = "test" };
        memcpy(job->approval.digest, approved, sizeof(job->approval.digest));
    }
    if (session[0] != '\0') {
        assert_int_equal(cbx_job_join(job, cbx_str_of(session), &err), 0);
    }
    assert_int_equal(cbx_job_accept(job, &denial, &err), 0);
    if (denial.verdict == CBX_ALLOW) {
        return job;
    }
    assert_int_equal(denial.verdict, CBX_ASK);
    memcpy(digest, denial.digest, sizeof(denial.digest));
    cbx_job_free(job);
    return NULL;
}

/* Runs it to its end; the execution's JSON is the caller's. */
static json_t *run(struct cbx_job *job, struct cbx_err *err)
{
    struct end end = { 0 };
    job->client = (struct cbx_job_client){ .done = note_end, .waits = true, .context = &end };
    assert_int_equal(cbx_job_start(job, err), 0);
    *err = end.err;
    return end.execution;
}

static void a_job_that_asks_runs_with_the_approval_of_what_was_judged(void **state)
{
    struct rig *rig = *state;
    char digest[CBX_SHA256_HEX + 1];
    struct cbx_err err;
    assert_null(accept(rig, "", "", digest));
    assert_int_equal(strlen(digest), CBX_SHA256_HEX);
    CBX_AUTO_JSON json = run(accept(rig, "", digest, digest), &err);
    assert_string_equal(text_at(json, "status"), "completed");
    assert_json(json_object_get(json, "approved_by"), "{'client':'editor','version':''}");
    const struct seen *seen = executor_last(&rig->executor, CBX_CALL_submit);
    assert_string_equal(text_at(seen->header, "approval_digest"), digest);
    assert_string_equal(text_at(seen->header, "approval_client"), "editor");
    assert_string_equal(text_at(seen->header, "approval_asked"), "shown");
}

static void an_approval_is_not_for_another_session_or_one_that_changed(void **state)
{
    struct rig *rig = *state;
    char digest[CBX_SHA256_HEX + 1], other[CBX_SHA256_HEX + 1], one[37], two[37];
    struct cbx_err err;
    open_session(rig, "{}", one);
    open_session(rig, "{}", two);
    assert_null(accept(rig, one, "", digest));
    assert_null(accept(rig, "", digest, other));
    assert_null(accept(rig, two, digest, other));
    assert_string_not_equal(digest, other);
    await_answer(post_code(rig, one, "x = 1"), 200);
    assert_null(accept(rig, one, digest, other));
    assert_string_not_equal(digest, other);
    int submitted = executor_count(&rig->executor, CBX_CALL_submit);
    CBX_AUTO_JSON json = run(accept(rig, one, other, other), &err);
    assert_string_equal(text_at(json, "status"), "completed");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), submitted + 1);
    assert_null(accept(rig, one, other, digest)); /* the cell itself is in the past now */
}

static void what_is_judged_again_with_another_past_needs_a_new_approval(void **state)
{
    struct rig *rig = *state;
    char digest[CBX_SHA256_HEX + 1], id[37], before[37];
    struct cbx_err err;
    open_session(rig, "{}", id);
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .manual = true });
    post_async(rig, id, "never begins", before);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ 0 });
    assert_null(accept(rig, id, "", digest));
    struct cbx_job *job = accept(rig, id, digest, digest);
    assert_non_null(job);
    executor_script(&rig->executor, CBX_CALL_submit,
                    (struct script){ .code = CBX_ESTALE, .times = 1 });
    peer_send_error(c->fd, CBX_EBUSY, "no room");
    conn_free(c);
    CBX_AUTO_JSON json = run(job, &err);
    assert_string_equal(text_at(json, "status"), "error");
    assert_contains(err.text, "what was approved is not what would run now");
    const struct seen *seen = executor_last(&rig->executor, CBX_CALL_submit);
    assert_string_equal(text_at(seen->header, "approval_digest"), "");
}

static void when_the_executor_was_killed_before_it_began_the_approval_holds(void **state)
{
    struct rig *rig = *state;
    char digest[CBX_SHA256_HEX + 1];
    struct cbx_err err;
    assert_null(accept(rig, "", "", digest));
    executor_script(&rig->executor, CBX_CALL_submit,
                    (struct script){ .hangs_up = true, .times = 1 });
    CBX_AUTO_JSON json = run(accept(rig, "", digest, digest), &err);
    assert_string_equal(text_at(json, "status"), "completed");
}

/* An execution that a gateway before this one accepted with an approval. */
static void add_row(struct rig *rig, const char *id, uint64_t seq)
{
    CBX_AUTO_JSON request = json_pack("{s:s,s:s,s:s}", "policy", "strict", "approved_client",
                                      "editor", "approved_version", "1.2");
    struct cbx_stored_execution row = { .principal = CBX_CALLER_LOCAL,
                                        .id = id,
                                        .session = "",
                                        .created_at = "2026-11-21T06:00:00.000000",
                                        .decision = id,
                                        .language = "ipython",
                                        .code = "ASK",
                                        .request = request };
    assert_int_equal(cbx_store_add_execution(rig->store, &row, NULL), 0);
    if (seq > 0) {
        assert_int_equal(cbx_store_begin_execution(rig->store, id, seq, NULL), 0);
    }
}

static void after_a_restart_what_began_is_followed_and_what_did_not_is_not_run(void **state)
{
    struct rig *rig = *state;
    add_row(rig, "e1", 41);
    add_row(rig, "e2", 0);
    executor_script(&rig->executor, CBX_CALL_resume, (struct script){ .manual = true });
    rig_close(rig);
    rig_open(rig, 1);
    cbx_service_recover(&rig->service);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(c->message.header, "run"), "e1");
    executor_script(&rig->executor, CBX_CALL_resume, (struct script){ 0 });
    peer_begin(c);
    peer_done(&rig->executor, c, CBX_RUN_OK);
    const json_t *json;
    for (int i = 0; i < 1000; i++) {
        json = get_execution(rig, "e2");
        if (strcmp(text_at(json, "status"), "running") != 0 &&
            strcmp(text_at(json, "status"), "queued") != 0) {
            break;
        }
        usleep(5000);
    }
    assert_string_equal(text_at(json, "status"), "error");
    assert_contains(text_at(json, "error"), "send it again, so that it is approved again");
    assert_null(json_object_get(json, "approved_by"));
    const struct seen *seen = executor_last(&rig->executor, CBX_CALL_submit);
    assert_string_equal(text_at(seen->header, "approval_digest"), "");
    json = get_execution(rig, "e1");
    assert_string_equal(text_at(json, "status"), "completed");
    assert_json(json_object_get(json, "approved_by"), "{'client':'editor','version':'1.2'}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_is_used_once, set_up),
        cmocka_unit_test_setup(one_that_is_too_old_or_of_no_decision_is_not_used, set_up),
        cmocka_unit_test_setup(when_no_more_can_be_remembered_it_is_refused_until_one_expires,
                               set_up),
        cmocka_unit_test_setup(of_several_threads_one_uses_it, set_up),
        RIG_TEST(a_job_that_asks_runs_with_the_approval_of_what_was_judged),
        RIG_TEST(an_approval_is_not_for_another_session_or_one_that_changed),
        RIG_TEST(what_is_judged_again_with_another_past_needs_a_new_approval),
        RIG_TEST(when_the_executor_was_killed_before_it_began_the_approval_holds),
        RIG_TEST(after_a_restart_what_began_is_followed_and_what_did_not_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
