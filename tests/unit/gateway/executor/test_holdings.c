/* SPDX-License-Identifier: MIT
 * A real executor of a replica that others may take over, without an engine: before the front says
 * for how long it holds its sandboxes nothing begins, and it ends when another replica has them. */
#include "gateway/executor/executor.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/executor/sessions/instance_seeds.h"
#include "tests/unit/gateway/scratch.h"

#define SOURCE    CBX_STR("print(1)\n")
#define NO_ENGINE "unix:///nonexistent/engine.sock"

struct rig {
    struct scratch scratch;
    char state_dir[128];
    struct cbx_seal_key key;
    int control;
    pid_t pid;
};

_Noreturn static void run_executor(struct rig *rig, int control, int secrets, bool shares)
{
    static const char *const rows[] = { "a=h:1", "b=h:2" };
    struct cbx_policy policy = sealing_policy(), *items[] = { &policy };
    struct cbx_policies policies = { .items = items, .count = 1 };
    struct cbx_replicas replicas;
    struct cbx_buf seeds;
    struct cbx_err err;
    cbx_buf_init(&seeds, 1 << 16);
    cbx_replicas_read("a", rows, 2, &replicas, &err);
    cbx_instance_seeds_write(CBX_STR("0123456789abcdef0123456789abcdef"), &replicas, &seeds);
    struct cbx_executor_config config = { .policies = &policies,
                                          .state_dir = rig->state_dir,
                                          .docker_host = NO_ENGINE,
                                          .max_sessions = 4,
                                          .max_runs = 4,
                                          .idle_ms = 40 };
    if (shares) {
        config.instances = cbx_buf_str(&seeds);
        config.replica = "a";
    }
    const struct cbx_executor_channels channels = {
        .control = control, .secrets = secrets, .reload = -1, .keys = -1
    };
    signal(SIGPIPE, SIG_IGN);
    cbx_executor_main(&channels, &config);
}

static void start(struct rig *rig, bool shares)
{
    int control[2], key[2];
    scratch_make(&rig->scratch);
    snprintf(rig->state_dir, sizeof(rig->state_dir), "%s/state", rig->scratch.path);
    cbx_random(rig->key.bytes, sizeof(rig->key.bytes));
    assert_int_equal(cbx_wire_pair(control, NULL), 0);
    assert_int_equal(cbx_wire_pair(key, NULL), 0);
    rig->pid = fork();
    assert_true(rig->pid >= 0);
    if (rig->pid == 0) {
        close(control[0]);
        close(key[0]);
        run_executor(rig, control[1], key[1], shares);
    }
    close(control[1]);
    close(key[1]);
    struct cbx_executor_secrets secrets = { .decisions = rig->key,
                                            .first_number = CBX_SEAL_FIRST_NUMBER(1) };
    assert_int_equal(write(key[0], &secrets, sizeof(secrets)), sizeof(secrets));
    close(key[0]);
    rig->control = control[0];
}

static void stop(struct rig *rig)
{
    close(rig->control);
    int status = await_child(rig->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    scratch_remove(&rig->scratch);
}

static int connect_to(struct rig *rig)
{
    int pair[2];
    assert_int_equal(cbx_wire_pair(pair, NULL), 0);
    assert_int_equal(cbx_wire_send_fd(rig->control, pair[1], 'r', NULL), 0);
    close(pair[1]);
    return pair[0];
}

/* Takes the reference; returns the answer, NULL if the executor ended without one. */
static json_t *call(struct rig *rig, json_t *header, struct cbx_str bytes)
{
    CBX_AUTO_JSON owned = header;
    CBX_AUTO_FD fd = connect_to(rig);
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    assert_int_equal(cbx_wire_send(fd, owned, bytes, NULL), 0);
    if (cbx_wire_receive(fd, DEADLINE_MS, &message, NULL) != 0) {
        return NULL;
    }
    return cbx_steal(&message.header);
}

static json_t *hold(struct rig *rig, const char *generation, const char *lasts_ms,
                    const char *instance)
{
    return call(rig,
                json_pack("{s:s,s:s,s:s,s:[s]}", "call", "hold", "generation", generation,
                          "lasts_ms", lasts_ms, "instances", instance),
                CBX_STR(""));
}

static json_t *submit(struct rig *rig, enum cbx_verdict verdict, enum cbx_action action)
{
    char mac[CBX_SHA256_HEX + 1];
    struct sealing s = sealing_make(&rig->key, verdict, action, "", SOURCE);
    cbx_sha256_hex(&s.mac, mac);
    json_t *header = json_pack("{s:s,s:s}", "call", "submit", "mac", mac);
    json_object_set_new(header, "sealed", json_stringn(s.text.p, s.text.len));
    sealing_done(&s);
    return call(rig, header, SOURCE);
}

static const char *type_of(const json_t *answer)
{
    const char *type = json_string_value(json_object_get(answer, "type"));
    return type != NULL ? type : "none";
}

static void assert_error(const json_t *answer, int code, const char *text)
{
    assert_string_equal(type_of(answer), "error");
    const char *said = json_string_value(json_object_get(answer, "text"));
    if (said == NULL || strstr(said, text) == NULL) {
        fail_msg("'%s' does not say '%s'", said != NULL ? said : "", text);
    }
    assert_int_equal(json_integer_value(json_object_get(answer, "code")), code);
}

static bool log_holds(struct rig *rig, const char *needle)
{
    return scratch_holds(rig->state_dir, CBX_AUDIT_FILE, needle);
}

static void
begins_nothing_while_another_replica_may_have_its_sandboxes_and_records_denials(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    CBX_AUTO_JSON over = hold(&rig, "1", "0", "a 1 0");
    assert_error(over, CBX_EENGINE, ""); /* the test has no engine */
    CBX_AUTO_JSON refused = submit(&rig, CBX_ALLOW, CBX_ACTION_RUN);
    assert_error(refused, CBX_EBUSY, "has not reached the shared database");
    CBX_AUTO_JSON checked = submit(&rig, CBX_ALLOW, CBX_ACTION_CHECK);
    assert_string_equal(type_of(checked), "recorded");
    CBX_AUTO_JSON denied = submit(&rig, CBX_DENY, CBX_ACTION_RUN);
    assert_string_equal(type_of(denied), "recorded");
    assert_false(log_holds(&rig, "\"action\":\"run\",\"verdict\":\"allow\""));
    stop(&rig);
}

static void admits_while_it_holds_them(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    CBX_AUTO_JSON held = hold(&rig, "1", "60000", "a 1 0");
    assert_error(held, CBX_EENGINE, ""); /* the time counts nevertheless */
    CBX_AUTO_JSON admitted = submit(&rig, CBX_ALLOW, CBX_ACTION_RUN);
    assert_string_equal(type_of(admitted), "admitted");
    CBX_AUTO_JSON over = hold(&rig, "1", "0", "a 1 0");
    assert_string_equal(type_of(over), "error");
    CBX_AUTO_JSON refused = submit(&rig, CBX_ALLOW, CBX_ACTION_RUN);
    assert_error(refused, CBX_EBUSY, "has not reached the shared database");
    stop(&rig);
}

static void ends_when_its_own_instance_is_another_one(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    CBX_AUTO_JSON held = hold(&rig, "1", "60000", "a 1 0");
    assert_string_equal(type_of(held), "error");
    assert_null(hold(&rig, "2", "60000", "a 2 0")); /* the front asks the next executor */
    stop(&rig);
}

static void an_executor_without_seeds_holds_nothing(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, false);
    CBX_AUTO_JSON refused = hold(&rig, "1", "60000", "a 1 0");
    assert_error(refused, CBX_EPROTO, "holds no instances of replicas");
    stop(&rig);
}

static void refuses_malformed_calls(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    static const char *const wrong[][2] = {
        { "0", "1000" }, { "x", "1000" }, { "1", "60001" }, { "1", "-1" }, { "", "1000" }
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CBX_AUTO_JSON answer = hold(&rig, wrong[i][0], wrong[i][1], "a 1 0");
        assert_error(answer, CBX_EPROTO, "");
    }
    stop(&rig);
}

static void records_what_was_taken_over_and_from_whom(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig, true);
    CBX_AUTO_JSON taken =
        call(&rig,
             json_pack("{s:s,s:s,s:s,s:s,s:[s,s]}", "call", "taken_over", "replica", "b", "epoch",
                       "2", "sessions", "3", "runs", "D1", "D2"),
             CBX_STR(""));
    assert_string_equal(type_of(taken), "done");
    assert_true(log_holds(&rig, "\"type\":\"takeover\""));
    assert_true(log_holds(&rig, "\"decisions\":[\"D1\",\"D2\"]"));
    CBX_AUTO_JSON released = call(
        &rig,
        json_pack("{s:s,s:s,s:s,s:[]}", "call", "given_up", "replica", "b", "epoch", "2", "runs"),
        CBX_STR(""));
    assert_string_equal(type_of(released), "done");
    assert_true(log_holds(&rig, "\"type\":\"released\""));
    CBX_AUTO_JSON refused =
        call(&rig,
             json_pack("{s:s,s:s,s:s,s:s,s:[]}", "call", "taken_over", "replica", "../b", "epoch",
                       "2", "sessions", "3", "runs"),
             CBX_STR(""));
    assert_error(refused, CBX_EINVAL, "no name of a replica");
    stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            begins_nothing_while_another_replica_may_have_its_sandboxes_and_records_denials),
        cmocka_unit_test(admits_while_it_holds_them),
        cmocka_unit_test(ends_when_its_own_instance_is_another_one),
        cmocka_unit_test(an_executor_without_seeds_holds_nothing),
        cmocka_unit_test(refuses_malformed_calls),
        cmocka_unit_test(records_what_was_taken_over_and_from_whom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
