/* SPDX-License-Identifier: MIT
 * The table's answers about open sessions, with sandboxes of a scripted engine. */
#include "gateway/executor/sessions/sessions.h"
#include "tests/unit/docker/fake_engine.h"

static void discard(void *context, struct cbx_sandbox *sandbox)
{
    (void)context;
    cbx_sandbox_free(sandbox);
}

static void open_session(struct cbx_sessions *sessions, struct cbx_engine *engine, const char *id,
                         const char *principal)
{
    static const struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_permit permit = { .action = CBX_ACTION_OPEN, .language = "ipython" };
    snprintf(permit.session, sizeof(permit.session), "%s", id);
    snprintf(permit.principal, sizeof(permit.principal), "%s", principal);
    cbx_limits_default(&permit.limits);
    assert_int_equal(cbx_sessions_reserve(sessions, &permit, NULL), 0);
    assert_int_equal(
        cbx_sandbox_prepare(engine, &config, "python", &permit.limits, NULL, &sandbox, NULL), 0);
    assert_int_equal(cbx_sandbox_claim(sandbox, &permit, NULL), 0);
    cbx_sessions_fill(sessions, id, sandbox);
}

/* "a,b" */
static const char *ids_of(struct cbx_sessions *sessions, const char *id, const char *principal)
{
    static char text[64];
    CBX_AUTO_JSON list = cbx_sessions_list(sessions, id, principal);
    size_t i;
    const json_t *row;
    text[0] = '\0';
    json_array_foreach(list, i, row)
    {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? "," : "",
                 json_string_value(json_object_get(row, "session")));
    }
    return text;
}

static void lists_all_sessions_or_those_of_a_principal_or_one(void **state)
{
    (void)state;
    fake_start();
    struct cbx_engine *engine = NULL;
    struct cbx_sessions *sessions = cbx_sessions_new(3, discard, NULL);
    assert_int_equal(cbx_engine_new(fake.host, &engine, NULL), 0);
    open_session(sessions, engine, "a", "ann");
    open_session(sessions, engine, "b", "bob");
    open_session(sessions, engine, "c", "ann");
    assert_string_equal(ids_of(sessions, NULL, NULL), "a,b,c");
    assert_string_equal(ids_of(sessions, NULL, "ann"), "a,c");
    assert_string_equal(ids_of(sessions, "b", NULL), "b");
    assert_string_equal(ids_of(sessions, "b", "ann"), "");
    cbx_sessions_free(sessions);
    cbx_engine_free(engine);
    fake_stop();
}

static void cut(int container)
{
    pthread_mutex_lock(&fake.lock);
    shutdown(fake.containers[container].fd, SHUT_RDWR);
    pthread_mutex_unlock(&fake.lock);
    FAKE_AWAIT(fake.containers[container].fd == -1);
}

static void use(struct cbx_sessions *sessions, const char *id)
{
    struct cbx_session *session;
    assert_int_equal(cbx_sessions_enter(sessions, id, "ann", &session, NULL), 0);
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("f"), CBX_STR("x"), NULL), 0);
    cbx_sessions_leave(sessions, session);
}

static void connections_of_idle_sessions_that_broke_are_opened_again(void **state)
{
    (void)state;
    fake_start();
    struct cbx_engine *engine = NULL;
    struct cbx_sessions *sessions = cbx_sessions_new(3, discard, NULL);
    assert_int_equal(cbx_engine_new(fake.host, &engine, NULL), 0);
    open_session(sessions, engine, "a", "ann");
    open_session(sessions, engine, "b", "ann");
    open_session(sessions, engine, "unused", "ann");
    use(sessions, "a");
    use(sessions, "b");
    cut(1);
    cut(2);
    cbx_sessions_reattach(sessions);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_ATTACH), 1);
    assert_int_equal(fake_received(&fake.containers[1], CBX_FRAME_ATTACH), 2);
    assert_int_equal(fake_received(&fake.containers[2], CBX_FRAME_ATTACH), 1);
    use(sessions, "a");
    use(sessions, "b");
    cbx_sessions_free(sessions);
    cbx_engine_free(engine);
    fake_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_of_idle_sessions_that_broke_are_opened_again),
        cmocka_unit_test(lists_all_sessions_or_those_of_a_principal_or_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
