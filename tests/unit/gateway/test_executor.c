/* SPDX-License-Identifier: MIT
 * A real executor behind its control socket, without an engine: what it records, what it refuses, and that nothing a front sends
 * brings it down. */
#include "gateway/executor.h"

#include "gateway/audit.h"
#include "gateway/seal.h"
#include "gateway/wire.h"
#include "tests/unit/gateway/scratch.h"

#include <string.h>
#include <sys/socket.h>

static struct scratch dir;
static struct cbx_policy *policy;
static struct cbx_seal_key key;
static int control;
static pid_t executor;

static void start(const char *state_dir)
{
    int pair[2], key_pair[2];
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_wire_pair(pair, &err), 0);
    assert_int_equal(cbx_wire_pair(key_pair, &err), 0);
    memset(key.bytes, 9, sizeof(key.bytes));
    assert_int_equal(write(key_pair[0], key.bytes, sizeof(key.bytes)), sizeof(key.bytes));
    executor = fork();
    if (executor == 0) {
        close(pair[0]);
        close(key_pair[0]);
        struct cbx_executor_config config = { .state_dir = state_dir, .docker_host = "unix:///nonexistent", .max_sessions = 2, .max_runs = 2, .idle_ms = 60000 };
        cbx_executor_main(pair[1], key_pair[1], &config);
    }
    close(pair[1]);
    close(key_pair[0]);
    close(key_pair[1]);
    control = pair[0];
}

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    scratch_make(&dir);
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    start(dir.path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(control);
    assert_int_equal(wait_for_end(executor), 0); /* it ends when its front does */
    cbx_policy_free(policy);
    scratch_remove(&dir);
    return 0;
}

/* --- one request --------------------------------------------------------------------------------------------- */

static int send_header(const json_t *header, struct cbx_str bytes)
{
    int pair[2];
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_wire_pair(pair, &err), 0);
    assert_int_equal(cbx_wire_send_fd(control, pair[1], 'r', &err), 0);
    close(pair[1]);
    if (header != NULL) {
        cbx_wire_send(pair[0], header, bytes, &err);
    }
    return pair[0];
}

/* The last answer: its type, and its text when it is an error. */
struct answer {
    char type[32], text[512];
    int code;
};

static struct answer read_answers(int fd)
{
    struct answer answer = { .type = "" };
    for (;;) {
        struct cbx_message message;
        struct cbx_err err = { 0 };
        cbx_message_init(&message);
        if (cbx_wire_receive(fd, 10000, &message, &err) != 0) {
            cbx_message_done(&message);
            close(fd);
            return answer;
        }
        const char *type = json_string_value(json_object_get(message.header, "type")), *text = json_string_value(json_object_get(message.header, "text"));
        snprintf(answer.type, sizeof(answer.type), "%s", type != NULL ? type : "");
        snprintf(answer.text, sizeof(answer.text), "%s", text != NULL ? text : "");
        answer.code = (int)json_integer_value(json_object_get(message.header, "code"));
        cbx_message_done(&message);
    }
}

struct submission {
    struct cbx_buf sealed;
    struct cbx_sha256 mac;
};

static void seal(struct submission *s, enum cbx_verdict verdict, enum cbx_action action, struct cbx_str source)
{
    struct cbx_err err = { 0 };
    struct cbx_decision decision = { .verdict = verdict, .language = CBX_STR("python"), .text = source };
    decision.sha256 = cbx_sha256_of(source);
    struct cbx_subject subject = { .action = action, .language = CBX_STR("python"), .principal = CBX_STR("p"), .session = CBX_STR(""), .origin = CBX_STR("test") };
    cbx_buf_init(&s->sealed, CBX_SEAL_MAX_BYTES);
    assert_int_equal(cbx_seal_make(&key, policy, &subject, &decision, &s->sealed, &s->mac, &err), 0);
}

static struct answer submit(const struct submission *s, struct cbx_str source)
{
    char mac[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&s->mac, mac);
    CBX_AUTO_JSON header = json_pack("{s:s,s:s}", "op", "submit", "mac", mac);
    json_object_set_new(header, "sealed", json_stringn(s->sealed.p, s->sealed.len));
    return read_answers(send_header(header, source));
}

/* How often the log says that something was allowed; the log must be whole. */
static int count_in_log(const char *what)
{
    CBX_AUTO_DONE(buf) log;
    struct cbx_audit_report report;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_verify(dir.path, &report, &err), 0);
    assert_int_equal(report.line, 0);
    scratch_read(&dir, CBX_AUDIT_FILE, &log);
    int count = 0;
    for (const char *at = log.p; (at = strstr(at, what)) != NULL; at++) {
        count++;
    }
    return count;
}

static const struct cbx_str source = { "x = 1\n", 6 };

/* --- what it does -------------------------------------------------------------------------------------------- */

static void records_a_denial_and_runs_nothing(void **state)
{
    (void)state;
    struct submission s;
    seal(&s, CBX_DENY, CBX_ACTION_RUN, source);
    assert_string_equal(submit(&s, source).type, "recorded");
    assert_int_equal(count_in_log("\"verdict\":\"deny\""), 1);
    cbx_buf_done(&s.sealed);
}

static void records_an_allowed_run_before_it_needs_the_engine(void **state)
{
    (void)state;
    struct submission s;
    seal(&s, CBX_ALLOW, CBX_ACTION_RUN, source);
    struct answer answer = submit(&s, source);
    assert_string_equal(answer.type, "error");
    assert_int_equal(answer.code, CBX_EENGINE);
    assert_non_null(strstr(answer.text, "unix:///nonexistent"));
    assert_int_equal(count_in_log("\"verdict\":\"allow\""), 1);
    cbx_buf_done(&s.sealed);
}

static void gives_no_permit_for_a_check(void **state)
{
    (void)state;
    struct submission s;
    seal(&s, CBX_ALLOW, CBX_ACTION_CHECK, source);
    assert_string_equal(submit(&s, source).type, "recorded");
    cbx_buf_done(&s.sealed);
}

static void refuses(const struct submission *s, struct cbx_str bytes, const char *fragment)
{
    struct answer answer = submit(s, bytes);
    assert_string_equal(answer.type, "error");
    assert_int_equal(answer.code, CBX_ESEAL);
    assert_non_null(strstr(answer.text, fragment));
}

static void refuses_a_forged_an_altered_and_a_replayed_decision_and_one_for_other_bytes(void **state)
{
    (void)state;
    struct submission s;
    seal(&s, CBX_ALLOW, CBX_ACTION_CHECK, source);
    s.mac.bytes[0] ^= 1;
    refuses(&s, source, "forged");
    s.mac.bytes[0] ^= 1;
    char *language = strstr(s.sealed.p, "python");
    language[0] = 'q';
    refuses(&s, source, "altered");
    language[0] = 'p';
    refuses(&s, CBX_STR("x = 2\n"), "other bytes");
    assert_string_equal(submit(&s, source).type, "recorded");
    refuses(&s, source, "used before");
    assert_int_equal(count_in_log("\"verdict\":\"allow\""), 1);
    cbx_buf_done(&s.sealed);
}

static void refuses_an_expired_decision(void **state)
{
    (void)state;
    struct submission s;
    seal(&s, CBX_ALLOW, CBX_ACTION_RUN, source);
    /* As a worker would have sealed it a minute ago. */
    CBX_AUTO_JSON json = json_loadb(s.sealed.p, s.sealed.len, 0, NULL);
    json_object_set_new(json, "issued_ms", json_integer(cbx_time_ms() - 60000));
    cbx_buf_reset(&s.sealed);
    assert_int_equal(cbx_json_write(&s.sealed, json), 0);
    s.mac = cbx_hmac_sha256((struct cbx_str){ .p = (const char *)key.bytes, .len = sizeof(key.bytes) }, cbx_buf_str(&s.sealed));
    refuses(&s, source, "expired");
    cbx_buf_done(&s.sealed);
}

static void notes_an_analysis_that_failed(void **state)
{
    (void)state;
    CBX_AUTO_JSON header = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "op", "failed", "language", "python", "policy", "default", "principal", "p", "session", "", "origin", "test");
    assert_string_equal(read_answers(send_header(header, source)).type, "recorded");
    assert_int_equal(count_in_log("\"analysis-failed\""), 1);
}

static void survives_whatever_a_front_sends(void **state)
{
    (void)state;
    static const char *const headers[] = { "{}", "{\"op\":\"run\"}", "{\"op\":1}", "{\"op\":\"submit\"}", "{\"op\":\"submit\",\"sealed\":1,\"mac\":[]}", "{\"op\":\"close\"}",
                                           "{\"op\":\"close\",\"session\":\"../../x\"}", "{\"op\":\"interrupt\",\"session\":\"nobody\"}" };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        CBX_AUTO_JSON header = json_loads(headers[i], 0, NULL);
        assert_string_equal(read_answers(send_header(header, CBX_STR(""))).type, "error");
    }
    static const unsigned char lengths[][8] = { { 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0 }, { 2, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF }, { 0 }, { 5, 0, 0, 0, 0, 0, 0, 0 } };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        int fd = send_header(NULL, source);
        assert_int_equal(write(fd, lengths[i], 8), 8);
        shutdown(fd, SHUT_WR);
        read_answers(fd);
    }
    for (int i = 0; i < 50; i++) {
        close(send_header(NULL, source)); /* hangs up at once */
    }
    CBX_AUTO_JSON health = json_pack("{s:s}", "op", "health");
    assert_string_equal(read_answers(send_header(health, CBX_STR(""))).type, "done");
}

static void runs_nothing_when_the_log_cannot_be_written(void **state)
{
    (void)state;
    close(control);
    assert_int_equal(wait_for_end(executor), 0);
    scratch_write(&dir, "file", CBX_STR("in the way"));
    char path[128];
    snprintf(path, sizeof(path), "%s/file", dir.path);
    start(path);
    struct submission s;
    seal(&s, CBX_ALLOW, CBX_ACTION_RUN, source);
    struct answer answer = submit(&s, source);
    assert_string_equal(answer.type, "error");
    assert_int_equal(answer.code, CBX_EAUDIT);
    cbx_buf_done(&s.sealed);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as main.c does */
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(records_a_denial_and_runs_nothing),
        TEST(records_an_allowed_run_before_it_needs_the_engine),
        TEST(gives_no_permit_for_a_check),
        TEST(refuses_a_forged_an_altered_and_a_replayed_decision_and_one_for_other_bytes),
        TEST(refuses_an_expired_decision),
        TEST(notes_an_analysis_that_failed),
        TEST(survives_whatever_a_front_sends),
        TEST(runs_nothing_when_the_log_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
