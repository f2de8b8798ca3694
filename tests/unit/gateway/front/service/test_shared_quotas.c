/* SPDX-License-Identifier: MIT
 * Quotas over all replicas, as a front applies them. The replica a is real, except for its
 * executor; of the replica b there is only the store. */
#include "gateway/front/service/shared_quotas.h"

#include "gateway/database/database.h"
#include "gateway/front/store/store_use.h"
#include "gateway/identity/identity.h"
#include "policies/load/yaml.h"
#include "tests/unit/gateway/front/postgres_rig.h"
#include "tests/unit/gateway/front/rest/rig.h"

#define PRINCIPALS                                                                                 \
    "principals:\n"                                                                                \
    "  - {name: ann, sessions: 2, runs: 1, runs-waiting: 2, cpu-seconds-per-hour: 36}\n"

static struct cluster cluster;

struct pair {
    struct rig *rig;
    char database[16];
    struct cbx_identity *identity;
    struct cbx_store *other; /* of the replica b */
    struct cbx_caller caller;
};

static void load_identity(struct pair *p)
{
    CBX_AUTO_DONE(arena) arena;
    struct cbx_yaml *root = NULL;
    struct cbx_err err = { 0 };
    cbx_arena_init(&arena, 1 << 20);
    assert_int_equal(cbx_yaml_parse(CBX_STR(PRINCIPALS), 16, &arena, &root, &err), 0);
    const struct cbx_identity_config config = { .state_dir = p->rig->scratch.path,
                                                .principals = root->first };
    if (cbx_identity_new(&config, &p->identity, &err) != 0) {
        fail_msg("%s", err.text);
    }
    cbx_identity_caller(p->identity, CBX_STR("ann"), CBX_STR(""), &p->caller);
    assert_non_null(p->caller.row);
}

static struct cbx_store *open_store(const struct pair *p, const char *replica)
{
    struct cbx_database *database = NULL;
    struct cbx_store *store = NULL;
    struct cbx_err err;
    struct cluster_url url = cluster_url(&cluster, p->database);
    int failed = cbx_database_open_postgres(url.text, replica, &database, &err);
    if (!failed) {
        failed = cbx_store_open_shared(database, replica, NULL, NULL, &store, &err);
    }
    if (!failed) {
        failed = cbx_store_share_use(store, &err);
    }
    if (failed) {
        fail_msg("%s", err.text);
    }
    return store;
}

/* Begins a front on the shared store in place of the rig's own. */
static void begin_front(struct pair *p)
{
    struct rig *rig = p->rig;
    struct cbx_err err = { 0 };
    rig_close(rig);
    rig->store = open_store(p, "a");
    cbx_service_init(&rig->service, &rig->flow, rig->store, RIG_JOBS);
    rig->flow.identity = p->identity;
    rig->service.quotas = cbx_identity_quotas(p->identity);
    if (cbx_shared_quotas_begin(&rig->service, &err) != 0) {
        fail_msg("%s", err.text);
    }
    rig->running = true;
}

static void play_vouchers(struct rig *rig)
{
    static char json[CBX_VOUCHER_CHARS + 32];
    char voucher[CBX_VOUCHER_CHARS + 1];
    memset(voucher, 'v', CBX_VOUCHER_CHARS);
    voucher[CBX_VOUCHER_CHARS] = '\0';
    snprintf(json, sizeof(json), "{\"voucher\":\"%s\"}", voucher);
    executor_script(&rig->executor, CBX_CALL_vouch, (struct script){ .json = json });
}

static int set_up(void **state)
{
    void *rig = NULL;
    struct pair *p = take_memory(sizeof(*p));
    rig_setup(&rig);
    p->rig = rig;
    cluster_add_database(&cluster, p->database);
    load_identity(p);
    p->other = open_store(p, "b");
    begin_front(p);
    p->rig->caller = &p->caller;
    play_vouchers(p->rig);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *p = *state;
    void *rig = p->rig;
    struct cbx_shared_quotas *shared = p->rig->service.shared_quotas;
    cbx_shared_quotas_stop(shared);
    rig_close(p->rig);
    cbx_shared_quotas_free(shared);
    rig_teardown(&rig);
    cbx_store_free(p->other);
    cbx_identity_free(p->identity);
    free(p);
    return 0;
}

static void open_at_other(const struct pair *p, const char *id)
{
    CBX_AUTO_JSON options = json_object();
    assert_int_equal(cbx_store_add_session(p->other, "ann", id, "2026", "p", options, NULL), 0);
}

static void add_at_other(const struct pair *p, const char *id)
{
    struct cbx_err err;
    const struct cbx_stored_execution e = { .principal = "ann",
                                            .id = id,
                                            .session = "",
                                            .created_at = "2026",
                                            .decision = id,
                                            .language = "ipython",
                                            .code = "1" };
    if (cbx_store_add_execution(p->other, &e, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void end_at_other(const struct pair *p, const char *id)
{
    assert_int_equal(cbx_store_set_execution(p->other, id, "completed", "2026", NULL, NULL), 0);
}

static int64_t ask(const struct pair *p, const char *sql)
{
    return cluster_ask(&cluster, p->database, sql);
}

/* --- sessions --------------------------------------------------------------------------------- */

static void refuse_session(struct pair *p)
{
    struct cbx_http_exchange *e = rig_json(p->rig, "POST", "/v1/sessions", "{}");
    assert_problem(e, 429, "'ann' may have 2 sessions at the same time, on all replicas together");
    assert_int_equal(e->response.retry_s, 10);
}

static void sessions_of_another_replica_take_places_here(void **state)
{
    struct pair *p = *state;
    char id[37];
    open_at_other(p, "1");
    open_session(p->rig, "{}", id);
    refuse_session(p);
    assert_int_equal(ask(p, "SELECT count(*) FROM openings"), 0);
    assert_int_equal(cbx_store_remove_session(p->other, "1", NULL), 0);
    open_session(p->rig, "{}", id);
    refuse_session(p);
}

static void a_session_that_ended_by_itself_takes_no_place(void **state)
{
    struct pair *p = *state;
    char first[37], second[37], third[37];
    open_session(p->rig, "{}", first);
    open_session(p->rig, "{}", second);
    refuse_session(p);
    executor_forget(&p->rig->executor, first);
    open_session(p->rig, "{}", third);
    refuse_session(p);
}

static void a_session_that_cannot_be_opened_gives_its_place_back(void **state)
{
    struct pair *p = *state;
    char id[37];
    open_at_other(p, "1");
    executor_script(&p->rig->executor, CBX_CALL_submit,
                    (struct script){ .code = CBX_EENGINE, .text = "no engine", .times = 1 });
    assert_problem(rig_json(p->rig, "POST", "/v1/sessions", "{}"), 503, "no engine");
    assert_int_equal(ask(p, "SELECT count(*) FROM openings"), 0);
    open_session(p->rig, "{}", id);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void a_run_waits_until_that_of_another_replica_has_ended(void **state)
{
    struct pair *p = *state;
    char id[37];
    add_at_other(p, "1");
    assert_int_equal(cbx_store_place_run(p->other, "ann", "1", 1, NULL), 0);
    post_async(p->rig, "", "x", id);
    await_ahead(p->rig, id, 0);
    poll(NULL, 0, 600); /* it looks for a place more than once */
    assert_string_equal(text_at(get_execution(p->rig, id), "status"), "queued");
    assert_int_equal(executor_count(&p->rig->executor, CBX_CALL_submit), 0);
    end_at_other(p, "1");
    await_status(p->rig, id, "completed");
}

static void executions_that_wait_at_another_replica_fill_the_quota_here(void **state)
{
    struct pair *p = *state;
    add_at_other(p, "1");
    add_at_other(p, "2");
    struct cbx_http_exchange *e =
        rig_json(p->rig, "POST", "/v1/executions", "{'code': 'x', 'async': true}");
    assert_problem(e, 429, "2 executions of 'ann' wait on all replicas together");
    assert_int_equal(ask(p, "SELECT count(*) FROM executions"), 2);
    end_at_other(p, "1");
    await_answer(post_code(p->rig, "", "x"), 200);
}

static void a_run_without_a_place_can_be_cancelled(void **state)
{
    struct pair *p = *state;
    char id[37], path[80];
    add_at_other(p, "1");
    assert_int_equal(cbx_store_place_run(p->other, "ann", "1", 1, NULL), 0);
    post_async(p->rig, "", "x", id);
    await_ahead(p->rig, id, 0);
    snprintf(path, sizeof(path), "/v1/executions/%s/cancel", id);
    await_answer(rig_json(p->rig, "POST", path, ""), 202);
    await_status(p->rig, id, "cancelled");
    assert_int_equal(ask(p, "SELECT count(*) FROM executions WHERE placed=1"), 1);
}

/* --- processor time --------------------------------------------------------------------------- */

static void processor_time_is_taken_from_what_all_replicas_have(void **state)
{
    struct pair *p = *state;
    executor_script(&p->rig->executor, CBX_CALL_submit, (struct script){ .manual = true });
    struct cbx_http_exchange *e = post_code(p->rig, "", "x");
    struct conn *c = peer_take(&p->rig->executor, CBX_CALL_submit);
    struct cbx_result result = { .status = CBX_RUN_OK, .cpu_ms = 30000 };
    peer_admit(&p->rig->executor, c);
    peer_begin(c);
    peer_finish(&p->rig->executor, c->fd, &result);
    conn_free(c);
    await_answer(e, 200);
    int64_t left_ms = 0;
    assert_int_equal(cbx_store_get_cpu(p->other, "ann", 36000, &left_ms, NULL), 0);
    assert_in_range(left_ms, 6000, 6500);
    ask(p, "UPDATE cpu SET left_ms=-1000"); /* a run of another replica */
    e = rig_json(p->rig, "POST", "/v1/executions", "{'code': 'x'}");
    assert_problem(e, 429, "'ann' may use 36 seconds of processor time in an hour");
    assert_in_range(e->response.retry_s, 98, 101);
}

/* --- replicas --------------------------------------------------------------------------------- */

static void requests_are_divided_among_the_replicas_that_are_present(void **state)
{
    struct pair *p = *state;
    size_t replicas = 0;
    assert_int_equal(cbx_quotas_replicas(p->rig->service.quotas), 1);
    assert_int_equal(cbx_store_note_present(p->other, &replicas, NULL), 0);
    assert_int_equal(replicas, 2);
    assert_true(cbx_shared_quotas_start(p->rig->service.shared_quotas));
    for (int i = 0; i < 300 && cbx_quotas_replicas(p->rig->service.quotas) != 2; i++) {
        poll(NULL, 0, 10);
    }
    assert_int_equal(cbx_quotas_replicas(p->rig->service.quotas), 2);
}

#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PAIR_TEST(sessions_of_another_replica_take_places_here),
        PAIR_TEST(a_session_that_ended_by_itself_takes_no_place),
        PAIR_TEST(a_session_that_cannot_be_opened_gives_its_place_back),
        PAIR_TEST(a_run_waits_until_that_of_another_replica_has_ended),
        PAIR_TEST(executions_that_wait_at_another_replica_fill_the_quota_here),
        PAIR_TEST(a_run_without_a_place_can_be_cancelled),
        PAIR_TEST(processor_time_is_taken_from_what_all_replicas_have),
        PAIR_TEST(requests_are_divided_among_the_replicas_that_are_present),
    };
    int failed = 0;
    if (cluster_begin(&cluster)) {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        cluster_end(&cluster);
    }
    return failed;
}
