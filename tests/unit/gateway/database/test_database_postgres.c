/* SPDX-License-Identifier: MIT
 * A store in PostgreSQL: faults of the server, several stores in one database, hostile texts. */
#include "gateway/database/database.h"
#include "gateway/database/postgres.h"
#include "tests/unit/gateway/front/store_rig.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

static struct cbx_store *open_replica(struct rig *rig, const char *replica)
{
    struct cbx_store *store = NULL;
    if (try_open(rig, replica, (struct cbx_store_limits){ 0 }, &store) != 0) {
        fail_msg("%s", rig->err.text);
    }
    return store;
}

static int try_get(struct cbx_store *store, const char *id, struct cbx_err *err)
{
    CBX_AUTO_JSON found = NULL;
    return cbx_store_get_execution(store, NULL, id, &found, err);
}

/* Calls until the store has connected again. */
static void await_get(struct cbx_store *store, const char *id)
{
    struct cbx_err err = { 0 };
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (try_get(store, id, &err) != 0) {
        if (cbx_clock_ms() > end) {
            fail_msg("%s", err.text);
        }
        poll(NULL, 0, 100);
    }
}

static void end_connections(struct rig *rig)
{
    cluster_ask(rig_cluster, rig->database,
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname=current_database() AND pid<>pg_backend_pid()");
}

/* --- faults ----------------------------------------------------------------------------------- */

static void a_silent_server_fails_a_call_at_its_deadline(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    cluster_signal(rig_cluster, SIGSTOP);
    int64_t before = cbx_clock_ms();
    int silent = try_get(rig.store, "e", &rig.err);
    int64_t first = cbx_clock_ms();
    char text[CBX_ERR_TEXT_BYTES];
    snprintf(text, sizeof(text), "%s", rig.err.text);
    int queued = try_get(rig.store, "e", &rig.err); /* waits for no second deadline */
    int64_t second = cbx_clock_ms();
    int unreachable = CBX_EIO;
    int64_t reconnected = second;
    poll(NULL, 0, CBX_POSTGRES_RETRY_MS);
    unreachable = try_get(rig.store, "e", &rig.err);
    reconnected = cbx_clock_ms() - reconnected;
    cluster_signal(rig_cluster, SIGCONT);
    assert_int_equal(silent, CBX_EIO);
    assert_non_null(strstr(text, "no reply within 5000 ms"));
    assert_in_range(first - before, CBX_POSTGRES_DEADLINE_MS - 100,
                    CBX_POSTGRES_DEADLINE_MS + 1500);
    assert_int_equal(queued, CBX_EIO);
    assert_in_range(second - first, 0, 500);
    assert_int_equal(unreachable, CBX_EIO);
    assert_in_range(reconnected, 0, CBX_POSTGRES_DEADLINE_MS + CBX_POSTGRES_RETRY_MS + 1500);
    await_get(rig.store, "e");
    complete(&rig, "e");
    end(&rig);
}

static void a_statement_that_waits_for_a_lock_is_ended_by_the_server(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    struct cluster_url url = cluster_url(rig_cluster, rig.database);
    PGconn *other = PQconnectdb(url.text);
    PQclear(PQexec(other, "BEGIN; LOCK TABLE executions"));
    int64_t before = cbx_clock_ms();
    assert_int_equal(try_get(rig.store, "e", &rig.err), CBX_EIO);
    assert_non_null(strstr(rig.err.text, "statement timeout"));
    assert_in_range(cbx_clock_ms() - before, 0, CBX_POSTGRES_DEADLINE_MS + 500);
    PQfinish(other);
    assert_int_equal(try_get(rig.store, "e", &rig.err), 0); /* over the same connection */
    end(&rig);
}

/* The server runs the statement after its deadline, and no statement of the next connection before
 * that. */
static void a_statement_that_was_given_up_takes_no_effect_after_a_later_one(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    pid_t server = (pid_t)ask_number(&rig, "SELECT pid FROM pg_stat_activity"
                                           " WHERE datname=current_database()"
                                           " AND pid<>pg_backend_pid()");
    assert_true(server > 0);
    kill(server, SIGSTOP);
    int given_up = cbx_store_set_decision(rig.store, "e", "first", &rig.err);
    poll(NULL, 0, CBX_POSTGRES_RETRY_MS);
    int second = cbx_store_set_decision(rig.store, "e", "second", &rig.err);
    kill(server, SIGCONT);
    assert_int_equal(given_up, CBX_EIO);
    assert_int_equal(second, CBX_EIO);
    assert_non_null(strstr(rig.err.text, "has not ended the last connection"));
    await_get(rig.store, "e");
    assert_int_equal(cbx_store_set_decision(rig.store, "e", "third", &rig.err), 0);
    poll(NULL, 0, 500);
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM executions WHERE decision='third'"), 1);
    end(&rig);
}

static void a_lost_connection_fails_one_call_and_the_next_one_connects(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    poll(NULL, 0, CBX_POSTGRES_RETRY_MS);
    end_connections(&rig);
    poll(NULL, 0, 100);
    assert_int_equal(try_get(rig.store, "e", &rig.err), CBX_EIO);
    assert_non_null(strstr(rig.err.text, "the connection is lost"));
    assert_int_equal(try_get(rig.store, "e", &rig.err), 0);
    end_connections(&rig);
    poll(NULL, 0, 100);
    assert_int_equal(try_get(rig.store, "e", &rig.err), CBX_EIO);
    assert_int_equal(try_get(rig.store, "e", &rig.err), CBX_EIO); /* one attempt per second */
    assert_non_null(strstr(rig.err.text, "not connected"));
    await_get(rig.store, "e");
    end(&rig);
}

static void it_works_again_after_a_restart_of_the_server(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    cluster_end_server(rig_cluster);
    assert_int_equal(try_get(rig.store, "e", &rig.err), CBX_EIO);
    struct cbx_stored_execution more = {
        .id = "f", .session = "", .created_at = "2026", .decision = "d", .language = "c", .code = ""
    };
    assert_int_equal(cbx_store_add_execution(rig.store, &more, &rig.err), CBX_EIO);
    assert_int_equal(cbx_store_check(rig.store, &rig.err), CBX_EIO);
    assert_non_null(strstr(rig.err.text, "the database: "));
    cluster_resume(rig_cluster);
    await_get(rig.store, "e");
    assert_int_equal(cbx_store_check(rig.store, &rig.err), 0); /* without another write */
    assert_int_equal(try_get(rig.store, "f", &rig.err), CBX_ENOTFOUND);
    assert_int_equal(cbx_store_add_execution(rig.store, &more, &rig.err), 0);
    assert_int_equal(cbx_store_check(rig.store, &rig.err), 0);
    end(&rig);
}

static int try_set(struct cbx_database *database, const char *key, struct cbx_err *err)
{
    const char *const texts[] = { key, "p", "1" };
    return cbx_database_execute(database, CBX_SQL_set_packages, texts, 3, NULL, err);
}

static void a_transaction_that_was_cut_has_no_effect(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    struct cluster_url url = cluster_url(rig_cluster, rig.database);
    CBX_AUTO(database) database = NULL;
    assert_int_equal(cbx_database_open_postgres(url.text, "b", &database, &rig.err), 0);
    poll(NULL, 0, CBX_POSTGRES_RETRY_MS);
    assert_int_equal(cbx_database_begin(database, &rig.err), 0);
    assert_int_equal(try_set(database, "first", &rig.err), 0);
    end_connections(&rig);
    poll(NULL, 0, 100);
    assert_int_equal(try_set(database, "second", &rig.err), CBX_EIO);
    assert_int_equal(try_set(database, "third", &rig.err), CBX_EIO);
    assert_non_null(strstr(rig.err.text, "the transaction was cut"));
    assert_int_equal(cbx_database_commit(database, &rig.err), CBX_EIO);
    cbx_database_rollback(database);
    assert_int_equal(try_set(database, "fourth", &rig.err), 0);
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM sets"), 1);
    end(&rig);
}

static void a_commit_after_a_failed_statement_fails(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    struct cluster_url url = cluster_url(rig_cluster, rig.database);
    CBX_AUTO(database) database = NULL;
    assert_int_equal(cbx_database_open_postgres(url.text, "b", &database, &rig.err), 0);
    assert_int_equal(cbx_database_begin(database, &rig.err), 0);
    assert_int_equal(try_set(database, "a", &rig.err), 0);
    assert_int_equal(try_set(database, NULL, &rig.err), CBX_EIO);
    assert_int_equal(cbx_database_commit(database, &rig.err), CBX_EIO);
    cbx_database_rollback(database);
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM sets"), 0);
    end(&rig);
}

/* --- several stores --------------------------------------------------------------------------- */

static void replicas_do_not_resume_or_list_each_others_rows(void **state)
{
    (void)state;
    struct rig rig;
    CBX_AUTO_JSON options = json_object();
    CBX_AUTO_JSON rows = NULL;
    CBX_AUTO_JSON none = NULL;
    begin(&rig, 10);
    CBX_AUTO(store) other = open_replica(&rig, "other");
    add(&rig, "e", "2026");
    assert_int_equal(cbx_store_add_session(rig.store, "ann", "s", "2026", "p", options, NULL), 0);
    assert_int_equal(cbx_store_list_running(other, &none, &rig.err), 0);
    assert_int_equal(json_array_size(none), 0);
    json_decref(cbx_steal(&none));
    assert_int_equal(cbx_store_list_sessions(other, NULL, &none, &rig.err), 0);
    assert_int_equal(json_array_size(none), 0);
    size_t sessions = 9;
    assert_int_equal(cbx_store_count_sessions(other, "ann", &sessions, &rig.err), 0);
    assert_int_equal(sessions, 0);
    assert_int_equal(cbx_store_list_running(rig.store, &rows, &rig.err), 0);
    assert_int_equal(json_array_size(rows), 1);
    assert_int_equal(try_get(other, "e", &rig.err), 0); /* an id is known to all */
    end(&rig);
}

static void a_name_is_for_one_gateway(void **state)
{
    (void)state;
    struct rig rig;
    struct cbx_store *second = NULL;
    begin(&rig, 10);
    assert_int_equal(try_open(&rig, "", (struct cbx_store_limits){ 0 }, &second), CBX_EBUSY);
    assert_null(second);
    assert_non_null(strstr(rig.err.text, "another gateway has the name ''"));
    end(&rig);
}

struct taker {
    struct cbx_store *store;
    pthread_barrier_t *barrier;
    int taken, used, wrong;
};
enum { KEYS = 100 };

static void *take_keys(void *context)
{
    struct taker *taker = context;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        struct cbx_stored_key own = { .request = "r", .created_at = "2026-01-01T00:00:01" };
        snprintf(own.id, sizeof(own.id), "%p", (void *)taker);
        snprintf(key, sizeof(key), "key-%d", i);
        pthread_barrier_wait(taker->barrier);
        int failed = cbx_store_take_key(taker->store, "ann", key, "2020", &own, NULL);
        taker->taken += failed == 0;
        taker->used += failed == CBX_ESTATE;
        taker->wrong += failed != 0 && failed != CBX_ESTATE;
    }
    return NULL;
}

static void one_of_two_stores_takes_a_key(void **state)
{
    (void)state;
    struct rig rig;
    pthread_barrier_t barrier;
    pthread_t threads[2];
    begin(&rig, 10);
    CBX_AUTO(store) other = open_replica(&rig, "other");
    struct taker takers[2] = { { .store = rig.store, .barrier = &barrier },
                               { .store = other, .barrier = &barrier } };
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_keys, &takers[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(takers[i].wrong, 0);
    }
    pthread_barrier_destroy(&barrier);
    assert_int_equal(takers[0].taken + takers[1].taken, KEYS);
    assert_int_equal(takers[0].used + takers[1].used, KEYS);
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM keys"), KEYS);
    end(&rig);
}

/* --- tables ----------------------------------------------------------------------------------- */

struct opener {
    struct rig *rig;
    char name[16];
    int failed;
};

static void *open_once(void *context)
{
    struct opener *opener = context;
    struct cluster_url url = cluster_url(rig_cluster, opener->rig->database);
    CBX_AUTO(store) store = NULL;
    opener->failed = open_url(url.text, opener->name, NULL, NULL, &store, NULL);
    return NULL;
}

static void gateways_that_start_together_create_the_tables_once(void **state)
{
    (void)state;
    enum { OPENERS = 6 };
    struct rig rig;
    pthread_t threads[OPENERS];
    struct opener openers[OPENERS];
    begin_closed(&rig);
    for (int i = 0; i < OPENERS; i++) {
        openers[i] = (struct opener){ .rig = &rig };
        snprintf(openers[i].name, sizeof(openers[i].name), "r%d", i);
        assert_int_equal(pthread_create(&threads[i], NULL, open_once, &openers[i]), 0);
    }
    for (int i = 0; i < OPENERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(openers[i].failed, 0);
    }
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM codebox_version"), 1);
    end(&rig);
}

static void tables_are_created_as_a_whole_or_not_at_all(void **state)
{
    (void)state;
    struct rig rig;
    begin_closed(&rig);
    ask_number(&rig, "CREATE TABLE sets(other TEXT)"); /* the last table of the schema */
    assert_int_equal(try_open(&rig, "", (struct cbx_store_limits){ 0 }, &rig.store), CBX_EIO);
    assert_non_null(strstr(rig.err.text, "\"sets\" already exists"));
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM pg_tables WHERE schemaname='public'"),
                     1);
    ask_number(&rig, "DROP TABLE sets");
    reopen(&rig, 10);
    cbx_store_free(cbx_steal(&rig.store));
    ask_number(&rig, "UPDATE codebox_version SET version=1000");
    assert_int_equal(try_open(&rig, "", (struct cbx_store_limits){ 0 }, &rig.store), CBX_ESTATE);
    assert_non_null(strstr(rig.err.text, "version 1000"));
    end(&rig);
}

/* Turns the tables into the tables of the version before shared quotas. */
static void step_back(struct rig *rig)
{
    ask_number(rig, "DROP FUNCTION quota_sessions, quota_waiting, quota_runs;"
                    "DROP TABLE presence, openings, cpu;"
                    "DROP INDEX executions_live, sessions_of_principal;"
                    "ALTER TABLE executions DROP COLUMN placed, DROP COLUMN charged;"
                    "UPDATE codebox_version SET version=2");
}

static void tables_of_the_version_before_get_what_shared_quotas_need(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    cbx_store_free(cbx_steal(&rig.store));
    step_back(&rig);
    reopen(&rig, 10);
    assert_status(&rig, "e", "running");
    assert_int_equal(ask_number(&rig, "SELECT version FROM codebox_version"), 3);
    assert_int_equal(ask_number(&rig, "SELECT placed + charged FROM executions"), 0);
    assert_int_equal(ask_number(&rig, "SELECT quota_waiting('')"), 1);
    /* a replica of the older version counts until it is known to be gone */
    assert_int_equal(ask_number(&rig, "SELECT count(*) FROM presence WHERE gone=0"), 1);
    end(&rig);
}

static void a_role_that_may_not_create_tables_opens_existing_ones(void **state)
{
    (void)state;
    struct rig rig;
    char url[200];
    begin(&rig, 10);
    ask_number(&rig,
               "CREATE ROLE plain LOGIN;"
               "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plain");
    snprintf(url, sizeof(url), "postgres://plain@/%s?host=%s", rig.database,
             rig_cluster->scratch.path);
    CBX_AUTO(store) store = NULL;
    if (open_url(url, "plain", NULL, NULL, &store, &rig.err) != 0) {
        fail_msg("%s", rig.err.text);
    }
    cbx_store_free(cbx_steal(&rig.store));
    rig.store = cbx_steal(&store);
    add(&rig, "e", "2026");
    complete(&rig, "e");
    end(&rig);
}

/* --- texts ------------------------------------------------------------------------------------ */

static void hostile_texts_are_stored_as_they_are(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "'; DROP TABLE executions; --",     "\\'\\\\", "$1 $2 $$",
        "\xf0\x9f\x98\x80\xc2\x80\x01\x7f", "%s%n",    "{\"a\":["
    };
    struct rig rig;
    begin(&rig, 10);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cbx_stored_execution e = { .id = texts[i],
                                          .session = texts[i],
                                          .created_at = "2026",
                                          .decision = "d",
                                          .language = "c",
                                          .code = texts[i] };
        CBX_AUTO_JSON found = NULL;
        assert_int_equal(cbx_store_add_execution(rig.store, &e, &rig.err), 0);
        assert_int_equal(cbx_store_get_execution(rig.store, NULL, texts[i], &found, &rig.err), 0);
        assert_string_equal(json_string_value(json_object_get(found, "session_id")), texts[i]);
    }
    end(&rig);
}

static void a_text_that_is_not_utf_8_is_refused_and_no_failure_of_the_store(void **state)
{
    (void)state;
    static const char *const texts[] = { "\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80" };
    struct rig rig;
    begin(&rig, 10);
    CBX_AUTO_JSON options = json_object();
    for (int i = 0; i < 2; i++) { /* the text of a failure is there */
        assert_int_equal(
            cbx_store_add_session(rig.store, "ann", "s", "2026", "p", options, &rig.err),
            i == 0 ? 0 : CBX_EIO);
    }
    assert_int_equal(cbx_store_set_options(rig.store, "s", options, &rig.err), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cbx_stored_execution e = { .id = "e",
                                          .session = "",
                                          .created_at = "2026",
                                          .decision = "d",
                                          .language = "c",
                                          .code = texts[i] };
        assert_int_equal(cbx_store_add_execution(rig.store, &e, &rig.err), CBX_EINVAL);
        assert_int_equal(try_get(rig.store, texts[i], &rig.err), CBX_EINVAL);
        assert_int_equal(cbx_store_check(rig.store, &rig.err), 0);
    }
    assert_int_equal(try_get(rig.store, "e", &rig.err), CBX_ENOTFOUND);
    end(&rig);
}

static void no_error_has_the_password(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        int code;
    } urls[] = {
        { "postgres://u:s3cr3t@/db?host=/nowhere", CBX_EIO },
        { "postgres://u:x%20s3cr3t@127.0.0.1:1/db", CBX_EIO },
        { "postgres://u:s3cr3t@127.0.0.1:port/db", CBX_EIO },
        { "postgres://u@/db?host=/nowhere&password=s3cr3t", CBX_EIO },
        { "postgres://u:s3cr3t/s3cr3t@host/db", CBX_EINVAL },
        { "postgres://u:s3cr3t@s3cr3t@host/db", CBX_EINVAL },
        { "postgres://u:s3cr3t?s3cr3t@host/db", CBX_EINVAL },
        { "postgres://u:s3cr3t%zz@host/db", CBX_EINVAL },
        { "postgres://u:s3cr3t@host/db?s3cr3t", CBX_EINVAL },
        { "host=/nowhere password=s3cr3t", CBX_EINVAL },
        { "s3cr3t", CBX_EINVAL },
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct cbx_store *store = NULL;
        struct cbx_err err = { 0 };
        char full[CBX_ERR_FULL_BYTES];
        int failed = open_url(urls[i].url, "", NULL, NULL, &store, &err);
        if (failed != urls[i].code || strstr(cbx_err_full(&err, full), "s3cr3t") != NULL) {
            fail_msg("%s: %d %s", urls[i].url, failed, full);
        }
    }
}

/* Answers the request for TLS with no, and reads on. */
static void *refuse_tls(void *context)
{
    char request[64];
    CBX_AUTO_FD fd = accept(*(const int *)context, NULL, NULL);
    if (fd >= 0 && read(fd, request, sizeof(request)) == 8 && write(fd, "N", 1) == 1 &&
        read(fd, request, sizeof(request)) > 0) {
        return context; /* it sent its name without TLS */
    }
    return NULL;
}

static void a_server_without_tls_gets_nothing(void **state)
{
    (void)state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(at);
    pthread_t thread;
    void *leaked = NULL;
    char url[80], full[CBX_ERR_FULL_BYTES];
    struct cbx_store *store = NULL;
    struct cbx_err err = { 0 };
    CBX_AUTO_FD listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(pthread_create(&thread, NULL, refuse_tls, &listener), 0);
    snprintf(url, sizeof(url), "postgres://u:password@127.0.0.1:%d/db", ntohs(at.sin_port));
    assert_int_equal(open_url(url, "", NULL, NULL, &store, &err), CBX_EIO);
    pthread_join(thread, &leaked);
    assert_null(leaked);
    assert_null(strstr(err.text, "127.0.0.1")); /* the detail alone has names of hosts */
    if (strstr(cbx_err_full(&err, full), "SSL was required") == NULL) {
        fail_msg("%s", full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_server_fails_a_call_at_its_deadline),
        cmocka_unit_test(a_statement_that_waits_for_a_lock_is_ended_by_the_server),
        cmocka_unit_test(a_statement_that_was_given_up_takes_no_effect_after_a_later_one),
        cmocka_unit_test(a_lost_connection_fails_one_call_and_the_next_one_connects),
        cmocka_unit_test(it_works_again_after_a_restart_of_the_server),
        cmocka_unit_test(a_transaction_that_was_cut_has_no_effect),
        cmocka_unit_test(a_commit_after_a_failed_statement_fails),
        cmocka_unit_test(replicas_do_not_resume_or_list_each_others_rows),
        cmocka_unit_test(a_name_is_for_one_gateway),
        cmocka_unit_test(one_of_two_stores_takes_a_key),
        cmocka_unit_test(gateways_that_start_together_create_the_tables_once),
        cmocka_unit_test(tables_are_created_as_a_whole_or_not_at_all),
        cmocka_unit_test(tables_of_the_version_before_get_what_shared_quotas_need),
        cmocka_unit_test(a_role_that_may_not_create_tables_opens_existing_ones),
        cmocka_unit_test(hostile_texts_are_stored_as_they_are),
        cmocka_unit_test(a_text_that_is_not_utf_8_is_refused_and_no_failure_of_the_store),
        cmocka_unit_test(no_error_has_the_password),
        cmocka_unit_test(a_server_without_tls_gets_nothing),
    };
    struct cluster cluster;
    if (!cluster_begin(&cluster)) {
        return 0;
    }
    rig_cluster = &cluster;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_end(&cluster);
    return failed;
}
