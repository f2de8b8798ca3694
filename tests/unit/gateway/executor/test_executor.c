/* SPDX-License-Identifier: MIT
 * A real executor behind its sockets, with the test's own key and without an engine: its refusals,
 * its records, and the failures that it survives. */
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/executor.h"
#include "gateway/executor/executor_internal.h"
#include "tests/unit/gateway/scratch.h"

#include <pthread.h>
#include <sys/socket.h>

#define SOURCE    CBX_STR("print(1)\n")
#define NO_ENGINE "unix:///nonexistent/engine.sock"

struct rig {
    struct scratch scratch;
    char state_dir[128];
    struct cbx_seal_key key;
    int control;
    pid_t pid;
};

static void start(struct rig *rig)
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
        struct cbx_policy policy = sealing_policy(), *items[] = { &policy };
        struct cbx_policies policies = { .items = items, .count = 1 };
        struct cbx_executor_config config = { .policies = &policies,
                                              .state_dir = rig->state_dir,
                                              .docker_host = NO_ENGINE,
                                              .max_sessions = 4,
                                              .max_runs = 4,
                                              .idle_ms = 40 };
        close(control[0]);
        close(key[0]);
        signal(SIGPIPE, SIG_IGN);
        const struct cbx_executor_channels channels = {
            .control = control[1], .secrets = key[1], .reload = -1, .keys = -1
        };
        cbx_executor_main(&channels, &config);
    }
    close(control[1]);
    close(key[1]);
    struct cbx_executor_secrets secrets = { .decisions = rig->key,
                                            .first_number = CBX_SEAL_FIRST_NUMBER(1) };
    assert_int_equal(write(key[0], &secrets, sizeof(secrets)), sizeof(secrets));
    close(key[0]);
    rig->control = control[0];
}

/* The executor runs until its control socket closes, and then ends in order. */
static void stop(struct rig *rig)
{
    assert_int_equal(waitpid(rig->pid, NULL, WNOHANG), 0);
    close(rig->control);
    int status = await_child(rig->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    scratch_remove(&rig->scratch);
}

/* Returns the test's end of a new request. */
static int connect_to(struct rig *rig)
{
    int pair[2];
    assert_int_equal(cbx_wire_pair(pair, NULL), 0);
    assert_int_equal(cbx_wire_send_fd(rig->control, pair[1], 'r', NULL), 0);
    close(pair[1]);
    return pair[0];
}

static json_t *receive(int fd)
{
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    struct cbx_err err = { 0 };
    if (cbx_wire_receive(fd, DEADLINE_MS, &message, &err) != 0) {
        fail_msg("no answer: %s", err.text);
    }
    return cbx_steal(&message.header);
}

static void assert_type(const json_t *answer, const char *type)
{
    const char *said = json_string_value(json_object_get(answer, "type"));
    assert_non_null(said);
    if (strcmp(said, type) != 0) {
        const char *text = json_string_value(json_object_get(answer, "text"));
        fail_msg("'%s' instead of '%s': %s", said, type, text != NULL ? text : "");
    }
}

/* Asserts that the answer is this error, and the last one. */
static void assert_error(int fd, int code, const char *text)
{
    CBX_AUTO_JSON answer = receive(fd);
    char rest;
    assert_type(answer, "error");
    assert_int_equal(json_integer_value(json_object_get(answer, "code")), code);
    const char *said = json_string_value(json_object_get(answer, "text"));
    assert_non_null(said);
    if (strstr(said, text) == NULL) {
        fail_msg("'%s' does not say '%s'", said, text);
    }
    assert_int_equal(read(fd, &rest, 1), 0);
}

/* Sends a call with further arguments, which may be NULL. */
static int send_submission_with(struct rig *rig, const struct sealing *s, struct cbx_str source,
                                json_t *more)
{
    char mac[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&s->mac, mac);
    CBX_AUTO_JSON header = json_pack("{s:s,s:s}", "call", "submit", "mac", mac);
    json_object_set_new(header, "sealed", json_stringn(s->text.p, s->text.len));
    json_object_update(header, more);
    int fd = connect_to(rig);
    assert_int_equal(cbx_wire_send(fd, header, source, NULL), 0);
    return fd;
}

static int send_submission(struct rig *rig, const struct sealing *s, struct cbx_str source)
{
    return send_submission_with(rig, s, source, NULL);
}

/* An approval of the decision (new reference). */
static json_t *approve(const struct sealing *s)
{
    char digest[CBX_SHA256_HEX + 1];
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(cbx_json_parse(cbx_buf_str(&s->text), CBX_SEAL_MAX_BYTES, &json, NULL), 0);
    struct cbx_sha256 hash = cbx_seal_digest(json);
    cbx_sha256_hex(&hash, digest);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "approval_digest", digest, "approval_asked",
                     "01A", "approval_client", "editor", "approval_client_version", "1.2",
                     "approval_how", "elicitation", "approval_protocol", "2026-07-28");
}

static void assert_refused(struct rig *rig, const struct sealing *s, struct cbx_str source,
                           const char *text)
{
    CBX_AUTO_FD fd = send_submission(rig, s, source);
    assert_error(fd, CBX_ESEAL, text);
}

static json_t *ask(struct rig *rig, const char *call, const char *session)
{
    CBX_AUTO_JSON header = json_pack("{s:s}", "call", call);
    if (session != NULL) {
        json_object_set_new(header, "session", json_string(session));
        json_object_set_new(header, "principal", json_string("ann"));
    }
    CBX_AUTO_FD fd = connect_to(rig);
    assert_int_equal(cbx_wire_send(fd, header, (struct cbx_str){ 0 }, NULL), 0);
    return receive(fd);
}

/* Asserts that the executor answers, between two attacks. */
static void assert_alive(struct rig *rig)
{
    CBX_AUTO_JSON answer = ask(rig, "close", "none");
    assert_type(answer, "error");
    assert_int_equal(json_integer_value(json_object_get(answer, "code")), CBX_ENOTFOUND);
}

static void assert_log(struct rig *rig, uint64_t records)
{
    struct cbx_audit_report report;
    struct cbx_err err;
    assert_int_equal(cbx_audit_verify(rig->state_dir, &report, &err), 0);
    if (report.line != 0) {
        fail_msg("line %llu: %s", (unsigned long long)report.line, report.problem);
    }
    assert_int_equal(report.records, records);
}

static bool log_holds(struct rig *rig, const char *needle)
{
    return scratch_holds(rig->state_dir, CBX_AUDIT_FILE, needle);
}

static void records_a_denial_and_runs_nothing(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_DENY, CBX_ACTION_RUN, "", SOURCE);
    {
        CBX_AUTO_FD fd = send_submission(&rig, &s, SOURCE);
        CBX_AUTO_JSON answer = receive(fd);
        char rest;
        assert_type(answer, "recorded");
        assert_int_equal(json_integer_value(json_object_get(answer, "seq")), 1);
        assert_int_equal(read(fd, &rest, 1), 0);
        assert_true(log_holds(&rig, json_string_value(json_object_get(answer, "decision"))));
    }
    assert_true(log_holds(&rig, "\"verdict\":\"deny\""));
    assert_false(log_holds(&rig, "\"verdict\":\"allow\""));
    assert_log(&rig, 1);
    sealing_done(&s);
    stop(&rig);
}

static void runs_neither_a_check_nor_a_decision_that_needs_approval(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s[] = { sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_CHECK, "", SOURCE),
                           sealing_make(&rig.key, CBX_ASK, CBX_ACTION_RUN, "", SOURCE) };
    for (int i = 0; i < 2; i++) {
        CBX_AUTO_FD fd = send_submission(&rig, &s[i], SOURCE);
        CBX_AUTO_JSON answer = receive(fd);
        char rest;
        assert_type(answer, "recorded");
        assert_int_equal(read(fd, &rest, 1), 0);
        sealing_done(&s[i]);
    }
    assert_log(&rig, 2);
    stop(&rig);
}

static void admits_what_asks_with_its_approval_which_is_recorded_before_it_begins(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_ASK, CBX_ACTION_RUN, "", SOURCE);
    CBX_AUTO_JSON approval = approve(&s);
    CBX_AUTO_FD fd = send_submission_with(&rig, &s, SOURCE, approval);
    CBX_AUTO_JSON answer = receive(fd);
    assert_type(answer, "admitted");
    assert_true(log_holds(&rig, "\"approved_by\":{\"client\":\"editor\",\"version\":\"1.2\"}"));
    assert_true(log_holds(&rig, "\"asked\":\"01A\""));
    sealing_done(&s);
    stop(&rig);
}

static void an_approval_over_rest_is_recorded_with_the_principal_that_gave_it(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_ASK, CBX_ACTION_RUN, "", SOURCE);
    CBX_AUTO_JSON approval = approve(&s);
    json_object_set_new(approval, "approval_client", json_string(""));
    json_object_set_new(approval, "approval_client_version", json_string(""));
    json_object_set_new(approval, "approval_protocol", json_string(""));
    json_object_set_new(approval, "approval_approver", json_string("boss"));
    json_object_set_new(approval, "approval_how", json_string("rest"));
    CBX_AUTO_FD fd = send_submission_with(&rig, &s, SOURCE, approval);
    CBX_AUTO_JSON answer = receive(fd);
    assert_type(answer, "admitted");
    assert_true(log_holds(&rig, "\"approved_by\":{\"principal\":\"boss\"}"));
    sealing_done(&s);
    stop(&rig);
}

/* Each is an approval with one thing wrong. */
static void refuses_approvals_that_are_not_for_this_decision(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    static const struct {
        enum cbx_verdict verdict;
        enum cbx_action action;
        const char *member, *value, *says;
    } cases[] = {
        { CBX_DENY, CBX_ACTION_RUN, NULL, NULL, "does not ask" },
        { CBX_ALLOW, CBX_ACTION_RUN, NULL, NULL, "does not ask" },
        { CBX_ASK, CBX_ACTION_FILE, NULL, NULL, "" }, /* also not its entry */
        { CBX_ASK, CBX_ACTION_CHECK, NULL, NULL, "only a run" },
        { CBX_ASK, CBX_ACTION_OPEN, NULL, NULL, "only a run" },
        { CBX_ASK, CBX_ACTION_RUN, "approval_digest", "", "another decision" },
        { CBX_ASK, CBX_ACTION_RUN, "approval_digest",
          "0123456789012345678901234567890123456789012345678901234567890123", "another decision" },
        { CBX_ASK, CBX_ACTION_RUN, "approval_client", "", "who accepted" },
        { CBX_ASK, CBX_ACTION_RUN, "approval_client", "a\033[2Jb", "who accepted" },
        { CBX_ASK, CBX_ACTION_RUN, "approval_approver", "a\nb", "who accepted" },
        { CBX_ASK, CBX_ACTION_RUN, "approval_how", "", "who accepted" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sealing s = sealing_make(&rig.key, cases[i].verdict, cases[i].action, "", SOURCE);
        CBX_AUTO_JSON approval = approve(&s);
        if (cases[i].member != NULL) {
            json_object_set_new(approval, cases[i].member, json_string(cases[i].value));
        }
        CBX_AUTO_FD fd = send_submission_with(&rig, &s, SOURCE, approval);
        assert_error(fd, CBX_ESEAL, cases[i].says);
        sealing_done(&s);
    }
    struct sealing one = sealing_make(&rig.key, CBX_ASK, CBX_ACTION_RUN, "", SOURCE),
                   other = sealing_make(&rig.key, CBX_ASK, CBX_ACTION_RUN, "s-1", SOURCE);
    CBX_AUTO_JSON approval = approve(&one);
    CBX_AUTO_FD fd = send_submission_with(&rig, &other, SOURCE, approval);
    assert_error(fd, CBX_ESEAL, "another decision");
    sealing_done(&one);
    sealing_done(&other);
    assert_false(log_holds(&rig, "approved_by"));
    assert_alive(&rig);
    stop(&rig);
}

static void refuses_every_submission_that_a_front_could_forge(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    static const struct cbx_seal_key other;
    struct sealing s = sealing_make(&other, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    assert_refused(&rig, &s, SOURCE, "forged or altered");
    sealing_done(&s);
    s = sealing_make(&rig.key, CBX_DENY, CBX_ACTION_RUN, "", SOURCE);
    char *verdict = strstr(s.text.p, "\"deny\"");
    assert_non_null(verdict);
    memcpy(verdict, "\"ask\" ", 6);
    assert_refused(&rig, &s, SOURCE, "forged or altered");
    sealing_done(&s);
    s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    assert_refused(&rig, &s, CBX_STR("print(2)\n"), "other bytes");
    sealing_set(&s, "issued_ms", json_integer(cbx_time_ms() - CBX_SEAL_LIFE_MS - 1));
    assert_refused(&rig, &s, SOURCE, "expired");
    sealing_set(&s, "issued_ms", json_integer(cbx_time_ms() + 60000));
    assert_refused(&rig, &s, SOURCE, "from the future");
    sealing_done(&s);
    assert_false(log_holds(&rig, "\"verdict\":\"allow\""));
    assert_alive(&rig);
    stop(&rig);
}

static void admits_a_decision_once_also_when_many_submit_it_at_once(void **state)
{
    (void)state;
    enum { TIMES = 16 };
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_DENY, CBX_ACTION_RUN, "", SOURCE);
    int fds[TIMES], recorded = 0;
    for (int i = 0; i < TIMES; i++) {
        fds[i] = send_submission(&rig, &s, SOURCE);
    }
    for (int i = 0; i < TIMES; i++) {
        CBX_AUTO_JSON answer = receive(fds[i]);
        if (cbx_str_is(cbx_json_str(json_object_get(answer, "type")), "recorded")) {
            recorded++;
        } else {
            assert_non_null(
                strstr(json_string_value(json_object_get(answer, "text")), "used before"));
        }
        close(fds[i]);
    }
    assert_int_equal(recorded, 1);
    assert_log(&rig, 1);
    sealing_done(&s);
    stop(&rig);
}

static void refuses_a_decision_that_its_policy_does_not_give(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    sealing_set(&s, "asked", json_pack("{s:[s]}", "mounts", "/srv:/data:ro"));
    assert_refused(&rig, &s, SOURCE, "a mount that policy 'testing' does not give");
    sealing_done(&s);
    assert_alive(&rig);
    assert_false(log_holds(&rig, "\"verdict\":\"allow\""));
    stop(&rig);
}

/* The executor before this one may have opened it. The front has the source judged again. */
static void does_not_answer_a_decision_of_a_worker_before_its_start(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct cbx_seal_token token;
    cbx_seal_token_make(&rig.key, CBX_SEAL_FIRST_NUMBER(1) - 1, &token);
    struct sealing s = sealing_make_with(&token, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    CBX_AUTO_FD fd = send_submission(&rig, &s, SOURCE);
    char rest;
    assert_int_equal(read(fd, &rest, 1), 0);
    sealing_done(&s);
    assert_alive(&rig);
    assert_false(log_holds(&rig, "\"verdict\":\"allow\""));
    stop(&rig);
}

static void records_a_decision_before_it_connects_to_the_engine(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    const struct {
        enum cbx_action action;
        const char *session;
        struct cbx_str source;
    } runs[] = { { CBX_ACTION_RUN, "", SOURCE }, { CBX_ACTION_OPEN, "s1", { 0 } } };
    for (int i = 0; i < 2; i++) {
        struct sealing s =
            sealing_make(&rig.key, CBX_ALLOW, runs[i].action, runs[i].session, runs[i].source);
        CBX_AUTO_FD fd = send_submission(&rig, &s, runs[i].source);
        CBX_AUTO_JSON answer = receive(fd);
        assert_type(answer, "admitted");
        assert_int_equal(json_integer_value(json_object_get(answer, "seq")), 2 * i + 1);
        assert_error(fd, CBX_EENGINE, "engine does not answer");
        sealing_done(&s);
        assert_log(&rig, 2 * (uint64_t)i + 2); /* the decision, and its outcome */
    }
    assert_true(log_holds(&rig, "\"type\":\"outcome\""));
    stop(&rig);
}

static void an_outcome_has_the_claims_of_its_decision(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    sealing_set(&s, "claimed_client", json_string("some-agent"));
    CBX_AUTO_FD fd = send_submission(&rig, &s, SOURCE);
    CBX_AUTO_JSON answer = receive(fd);
    assert_type(answer, "admitted");
    assert_error(fd, CBX_EENGINE, "engine does not answer");
    sealing_done(&s);
    assert_log(&rig, 2);
    CBX_AUTO_DONE(buf) log;
    scratch_read(rig.state_dir, CBX_AUDIT_FILE, &log);
    const char *outcome = strchr(log.p, '\n'); /* the second record */
    assert_non_null(outcome);
    assert_non_null(strstr(outcome, "\"type\":\"outcome\""));
    assert_non_null(strstr(outcome, "\"claimed_client\":\"some-agent\""));
    stop(&rig);
}

static void health_reports_each_fault(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    CBX_AUTO_JSON health = ask(&rig, "health", NULL);
    assert_type(health, "done");
    assert_true(json_is_false(json_object_get(health, "engine_ok")));
    assert_true(json_is_true(json_object_get(health, "audit_ok")));
    assert_int_equal(json_integer_value(json_object_get(health, "sessions")), 0);
    assert_non_null(
        strstr(json_string_value(json_object_get(health, "engine")), "engine does not answer"));
    stop(&rig);
}

/* The housekeeper may probe while the executor ends. */
static void stopping_is_no_failure_of_the_engine(void **state)
{
    (void)state;
    struct scratch scratch;
    static struct cbx_executor e;
    scratch_make(&scratch);
    pthread_mutex_init(&e.lock, NULL);
    cbx_health_init(&e.health);
    e.config.state_dir = scratch.path;
    e.stopping = true;
    cbx_executor_probe(&e, 0);
    assert_false(e.health.parts[CBX_HEALTH_ENGINE].known);
    cbx_audit_free(e.audit);
    pthread_mutex_destroy(&e.lock);
    scratch_remove(&scratch);
}

static void refuses_to_run_in_a_session_that_is_not_open(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "nobody", SOURCE);
    CBX_AUTO_FD fd = send_submission(&rig, &s, SOURCE);
    CBX_AUTO_JSON answer = receive(fd);
    assert_type(answer, "admitted");
    assert_error(fd, CBX_ENOTFOUND, "'nobody'");
    sealing_done(&s);
    stop(&rig);
}

static json_t *describe_failure(void)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "call", "record_failure", "file_name",
                     "", "path", "", "language", "python", "policy", "default", "principal", "ann",
                     "session", "", "origin", "test", "reason", "the worker was killed");
}

static void records_an_analysis_that_failed_as_a_denial_with_policy_and_reason(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    CBX_AUTO_JSON header = describe_failure();
    CBX_AUTO_FD fd = connect_to(&rig);
    assert_int_equal(cbx_wire_send(fd, header, SOURCE, NULL), 0);
    CBX_AUTO_JSON answer = receive(fd);
    assert_type(answer, "recorded");
    static const char *const recorded[] = {
        "\"type\":\"analysis-failed\"",
        "\"verdict\":\"deny\"",
        "\"policy\":\"default\"",
        "\"principal\":\"ann\"",
        "\"reason\":\"the worker was killed\"",
        "\"rule\":\"analysis-failed\"",
    };
    for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
        assert_true(log_holds(&rig, recorded[i]));
    }
    json_object_set_new(header, "verdict", json_string("allow"));
    CBX_AUTO_FD forged = connect_to(&rig);
    assert_int_equal(cbx_wire_send(forged, header, SOURCE, NULL), 0);
    assert_error(forged, CBX_EPROTO, "verdict");
    assert_false(log_holds(&rig, "\"verdict\":\"allow\""));
    stop(&rig);
}

static void assert_bytes_are_refused(struct rig *rig, const void *bytes, size_t len)
{
    CBX_AUTO_FD fd = connect_to(rig);
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
    shutdown(fd, SHUT_WR);
    CBX_AUTO_JSON answer = receive(fd);
    assert_type(answer, "error");
    assert_non_null(json_string_value(json_object_get(answer, "text")));
    assert_alive(rig);
}

static void survives_malformed_messages(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    static const uint32_t lengths[][2] = {
        { UINT32_MAX, UINT32_MAX },
        { CBX_WIRE_HEADER_MAX + 1, 0 },
        { 2, CBX_WIRE_BYTES_MAX + 1 },
        { 0, 0 },
        { CBX_WIRE_HEADER_MAX, CBX_WIRE_BYTES_MAX },
    };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_bytes_are_refused(&rig, lengths[i], sizeof(lengths[i]));
    }
    assert_bytes_are_refused(&rig, "GET / HTTP/1.1\r\n\r\n", 18);
    assert_bytes_are_refused(&rig, "\1", 1);
    assert_bytes_are_refused(&rig, "\4\0\0\0\0\0\0\0{]]]", 12);
    assert_bytes_are_refused(&rig, "\4\0\0\0\0\0\0\0null", 12);
    assert_bytes_are_refused(&rig, "\2\0\0\0\0\0\0\0[]", 10);
    stop(&rig);
}

static void survives_headers_with_malformed_arguments(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    json_t *headers[] = {
        json_pack("{s:s}", "call", "execute"),
        json_pack("{s:i}", "call", 1),
        json_pack("{s:s}", "call", "submit"),
        json_pack("{s:s,s:i,s:[]}", "call", "submit", "sealed", 1, "mac"),
        json_pack("{s:s,s:s,s:s}", "call", "submit", "sealed", "{}", "mac", "zz"),
        json_pack("{s:s,s:s,s:s,s:b}", "call", "submit", "sealed", "{}", "mac",
                  "0000000000000000000000000000000000000000000000000000000000000000", "force", 1),
        json_pack("{s:s,s:i}", "call", "close", "session", 3),
        json_pack("{s:s}", "call", "interrupt"),
        json_pack("{s:s,s:s%}", "call", "close", "session", "a\0b", (size_t)3),
        json_pack("{s:s,s:[i],s:[]}", "call", "reconcile", "sessions", 1, "runs"),
        json_pack("{s:s,s:s}", "call", "close", "session", "a"), /* without the owner */
        json_pack("{s:s,s:s,s:s,s:b}", "call", "close", "session", "a", "principal", "root",
                  "force", 1),
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        CBX_AUTO_FD fd = connect_to(&rig);
        assert_int_equal(cbx_wire_send(fd, headers[i], SOURCE, NULL), 0);
        CBX_AUTO_JSON answer = receive(fd);
        assert_type(answer, "error");
        json_decref(headers[i]);
        assert_alive(&rig);
    }
    assert_false(log_holds(&rig, "decision"));
    stop(&rig);
}

static void reports_a_reason_that_is_cut_in_the_middle_of_a_character(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    for (size_t shift = 0; shift < 2; shift++) {
        char field[1024];
        memset(field, 'x', shift);
        for (size_t i = shift; i + 2 < sizeof(field); i += 2) {
            memcpy(field + i, "\xc3\xa9", 3);
        }
        CBX_AUTO_JSON header =
            json_pack("{s:s,s:s,s:i}", "call", "close", "session", "a", field, 1);
        CBX_AUTO_FD fd = connect_to(&rig);
        assert_int_equal(cbx_wire_send(fd, header, CBX_STR(""), NULL), 0);
        assert_error(fd, CBX_EPROTO, "unknown field");
    }
    stop(&rig);
}

static void survives_clients_that_disconnect(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    for (int i = 0; i < 50; i++) {
        close(connect_to(&rig));
        struct sealing s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
        close(send_submission(&rig, &s, SOURCE));
        sealing_done(&s);
    }
    char byte = 'x';
    assert_int_equal(write(rig.control, &byte, 1), 1); /* a byte without a descriptor */
    CBX_AUTO_FILE file = tmpfile();
    assert_int_equal(cbx_wire_send_fd(rig.control, fileno(file), 'r', NULL),
                     0); /* a descriptor that is not a socket */
    assert_alive(&rig);
    stop(&rig);
}

static size_t count_records(const struct rig *rig, const char *type)
{
    CBX_AUTO_DONE(buf) log;
    char needle[64];
    size_t count = 0;
    scratch_read(rig->state_dir, CBX_AUDIT_FILE, &log);
    snprintf(needle, sizeof(needle), "\"type\":\"%s\"", type);
    for (const char *at = log.p; (at = strstr(at, needle)) != NULL; at++) {
        count++;
    }
    return count;
}

/* The client disconnects before the admission can be sent, or later. */
static void what_clients_that_disconnect_had_permitted_has_an_outcome_each(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    for (int i = 0; i < 50; i++) {
        struct sealing s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
        close(send_submission(&rig, &s, SOURCE));
        sealing_done(&s);
    }
    assert_alive(&rig);
    close(rig.control);
    int status = await_child(rig.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(count_records(&rig, "outcome"), count_records(&rig, "decision"));
    scratch_remove(&rig.scratch);
}

static size_t count_open_files(pid_t pid)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
    for (int fd = 0; fd < 512; fd++) {
        char entry[96];
        snprintf(entry, sizeof(entry), "%s/%d", path, fd);
        count += access(entry, F_OK) == 0;
    }
    return count;
}

static void keeps_no_descriptor_of_a_message_that_carries_several(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    assert_alive(&rig);
    size_t before = count_open_files(rig.pid);
    if (before == 0) {
        stop(&rig);
        skip(); /* /proc/PID/fdinfo of a process that is not dumpable belongs to root */
    }
    for (int i = 0; i < 100; i++) {
        union {
            struct cmsghdr align;
            char bytes[CMSG_SPACE(2 * sizeof(int))];
        } control = { .bytes = { 0 } };
        int pair[2];
        assert_int_equal(cbx_wire_pair(pair, NULL), 0);
        struct iovec part = { .iov_base = (void *)(uintptr_t) "r", .iov_len = 1 };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = control.bytes,
                                  .msg_controllen = CMSG_SPACE(2 * sizeof(int)) };
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(2 * sizeof(int));
        memcpy(CMSG_DATA(c), pair, sizeof(pair));
        assert_int_equal(sendmsg(rig.control, &message, MSG_NOSIGNAL), 1);
        close(pair[0]);
        close(pair[1]);
    }
    assert_alive(&rig); /* served after all of them were accepted */
    assert_in_range(count_open_files(rig.pid), 1, before + 8);
    stop(&rig);
}

static void runs_nothing_when_the_log_takes_no_record(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    scratch_write(rig.scratch.path, "state", CBX_STR("a file in its place"));
    struct sealing s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    {
        CBX_AUTO_FD fd = send_submission(&rig, &s, SOURCE);
        assert_error(fd, CBX_EAUDIT,
                     "state directory"); /* the first and only answer: nothing was admitted */
    }
    sealing_done(&s);
    CBX_AUTO_JSON health = ask(&rig, "health", NULL);
    assert_true(json_is_false(json_object_get(health, "audit_ok")));
    CBX_AUTO_JSON header = describe_failure();
    CBX_AUTO_FD fd = connect_to(&rig);
    assert_int_equal(cbx_wire_send(fd, header, SOURCE, NULL), 0);
    assert_error(fd, CBX_EAUDIT, "state directory");
    stop(&rig);
}

static void *hammer(void *context)
{
    struct rig *rig = context;
    for (int i = 0; i < 20; i++) {
        struct sealing s =
            sealing_make(&rig->key, CBX_ALLOW, CBX_ACTION_OPEN, "same", (struct cbx_str){ 0 });
        close(send_submission(rig, &s, (struct cbx_str){ 0 }));
        sealing_done(&s);
    }
    return NULL;
}

/* Sessions are opened and closed, and expire every few milliseconds, while the executor stops. */
static void stops_in_order_during_runs(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct rig rig;
        start(&rig);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, hammer, &rig), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        stop(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_a_denial_and_runs_nothing),
        cmocka_unit_test(runs_neither_a_check_nor_a_decision_that_needs_approval),
        cmocka_unit_test(admits_what_asks_with_its_approval_which_is_recorded_before_it_begins),
        cmocka_unit_test(an_approval_over_rest_is_recorded_with_the_principal_that_gave_it),
        cmocka_unit_test(refuses_approvals_that_are_not_for_this_decision),
        cmocka_unit_test(refuses_every_submission_that_a_front_could_forge),
        cmocka_unit_test(admits_a_decision_once_also_when_many_submit_it_at_once),
        cmocka_unit_test(refuses_a_decision_that_its_policy_does_not_give),
        cmocka_unit_test(does_not_answer_a_decision_of_a_worker_before_its_start),
        cmocka_unit_test(records_a_decision_before_it_connects_to_the_engine),
        cmocka_unit_test(an_outcome_has_the_claims_of_its_decision),
        cmocka_unit_test(health_reports_each_fault),
        cmocka_unit_test(stopping_is_no_failure_of_the_engine),
        cmocka_unit_test(refuses_to_run_in_a_session_that_is_not_open),
        cmocka_unit_test(records_an_analysis_that_failed_as_a_denial_with_policy_and_reason),
        cmocka_unit_test(survives_malformed_messages),
        cmocka_unit_test(survives_headers_with_malformed_arguments),
        cmocka_unit_test(reports_a_reason_that_is_cut_in_the_middle_of_a_character),
        cmocka_unit_test(survives_clients_that_disconnect),
        cmocka_unit_test(what_clients_that_disconnect_had_permitted_has_an_outcome_each),
        cmocka_unit_test(keeps_no_descriptor_of_a_message_that_carries_several),
        cmocka_unit_test(runs_nothing_when_the_log_takes_no_record),
        cmocka_unit_test(stops_in_order_during_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
