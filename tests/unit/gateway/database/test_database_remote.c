/* SPDX-License-Identifier: MIT
 * A database over a link: a thread is the process that has the connection. */
#include "gateway/database/database_remote.h"

#include "gateway/database/database_ops.h"
#include "gateway/database/database_process.h"
#include "gateway/database/database_wire.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWERS_MAX = 8 };

/* The answers of the process, one message each, in order; a NULL header closes the link. */
static struct {
    int channel[2], links;
    struct {
        const char *header;
        struct cbx_str bytes;
    } answers[ANSWERS_MAX];
    int next, count;
    char asked[ANSWERS_MAX * 64]; /* "OP:STATEMENT:TEXT|TEXT " of each request */
    pthread_t thread;
} rig;

static void note_request(const struct cbx_message *message)
{
    struct cbx_texts_reader reader;
    const char *text;
    size_t len = strlen(rig.asked);
    len +=
        (size_t)snprintf(rig.asked + len, sizeof(rig.asked) - len,
                         "%d:%d:", (int)json_integer_value(json_object_get(message->header, "op")),
                         (int)json_integer_value(json_object_get(message->header, "statement")));
    cbx_texts_read(&reader, message);
    for (size_t i = 0; i < json_array_size(reader.lengths); i++) {
        assert_int_equal(cbx_texts_next(&reader, &text, NULL), 0);
        len += (size_t)snprintf(rig.asked + len, sizeof(rig.asked) - len, "%s|",
                                text != NULL ? text : "NULL");
    }
    snprintf(rig.asked + len, sizeof(rig.asked) - len, " ");
}

/* Sends answers until one without `more`. False: the link is closed. */
static bool answer(int fd)
{
    bool more = true;
    while (more) {
        if (rig.next == rig.count || rig.answers[rig.next].header == NULL) {
            rig.next++;
            return false;
        }
        CBX_AUTO_JSON header = json_loads(rig.answers[rig.next].header, 0, NULL);
        assert_non_null(header);
        assert_int_equal(cbx_wire_send(fd, header, rig.answers[rig.next].bytes, NULL), 0);
        more = json_is_true(json_object_get(header, "more"));
        rig.next++;
    }
    return true;
}

static void serve_link(int fd)
{
    bool open = true;
    while (open) {
        CBX_AUTO_DONE(message) message;
        cbx_message_init(&message);
        open = cbx_wire_receive(fd, -1, &message, NULL) == 0;
        if (open) {
            note_request(&message);
            open = answer(fd);
        }
    }
    close(fd);
}

static void *run_process(void *context)
{
    (void)context;
    int fd;
    char tag;
    struct cbx_err err;
    while (cbx_wire_receive_fd(rig.channel[1], &fd, &tag, &err) == 0) {
        rig.links++;
        serve_link(fd);
    }
    return NULL;
}

static int begin(void **state)
{
    struct cbx_err err;
    (void)state;
    memset(&rig, 0, sizeof(rig));
    assert_int_equal(cbx_wire_pair(rig.channel, &err), 0);
    return 0;
}

/* Adds an answer; the bytes are a literal. */
static void will_answer(const char *header, struct cbx_str bytes)
{
    rig.answers[rig.count].header = header;
    rig.answers[rig.count++].bytes = bytes;
}
#define OK "{\"code\":0,\"changed\":0,\"columns\":0,\"lengths\":[],\"more\":false}"

static struct cbx_database *open_remote(void)
{
    struct cbx_database *database = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(pthread_create(&rig.thread, NULL, run_process, NULL), 0);
    if (cbx_database_open_remote(rig.channel[0], &database, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return database;
}

static void stop(void)
{
    shutdown(rig.channel[0], SHUT_RDWR);
    pthread_join(rig.thread, NULL);
    close(rig.channel[0]);
    close(rig.channel[1]);
}

static void rows_of_several_messages_are_one_result(void **state)
{
    (void)state;
    const char *const id[] = { "a", NULL };
    struct cbx_rows *rows = NULL;
    struct cbx_err err = { 0 };
    will_answer(OK, CBX_STR(""));
    will_answer("{\"code\":0,\"columns\":2,\"lengths\":[1,1,2,-1],\"more\":true}",
                CBX_STR("p\0q\0xy\0"));
    will_answer("{\"code\":0,\"columns\":2,\"lengths\":[0,2],\"more\":true}", CBX_STR("\00042\0"));
    will_answer("{\"code\":0,\"columns\":2,\"lengths\":[],\"more\":false}", CBX_STR(""));
    struct cbx_database *database = open_remote();
    assert_int_equal(cbx_database_query(database, CBX_SQL_get_session, id, 2, &rows, &err), 0);
    assert_int_equal(cbx_rows_columns(rows), 2);
    assert_string_equal(cbx_rows_name(rows, 1), "q");
    assert_true(cbx_rows_next(rows));
    assert_string_equal(cbx_rows_text(rows, 0), "xy");
    assert_null(cbx_rows_text(rows, 1));
    assert_int_equal(cbx_rows_number(rows, 1), 0);
    assert_true(cbx_rows_next(rows));
    assert_string_equal(cbx_rows_text(rows, 0), "");
    assert_int_equal(cbx_rows_number(rows, 1), 42);
    assert_false(cbx_rows_next(rows));
    assert_int_equal(cbx_rows_check(rows, &err), 0);
    cbx_rows_free(rows);
    cbx_database_free(database);
    stop();
    char want[64];
    snprintf(want, sizeof(want), "0:0: 1:%d:a|NULL| ", (int)CBX_SQL_get_session);
    assert_string_equal(rig.asked, want);
}

static void a_failure_has_the_code_and_the_text_of_the_process(void **state)
{
    (void)state;
    const char *const id[] = { "a" };
    struct cbx_err err = { 0 };
    int64_t changed = -1;
    char refusal[128];
    snprintf(refusal, sizeof(refusal), "{\"code\":%d,\"lengths\":[4],\"more\":false}", CBX_EINVAL);
    will_answer(OK, CBX_STR(""));
    will_answer(refusal, CBX_STR("none\0"));
    will_answer("{\"code\":0,\"changed\":3,\"lengths\":[],\"more\":false}", CBX_STR(""));
    struct cbx_database *database = open_remote();
    assert_int_equal(cbx_database_execute(database, CBX_SQL_remove_session, id, 1, NULL, &err),
                     CBX_EINVAL);
    assert_string_equal(err.text, "none");
    assert_string_equal(cbx_database_failure(database), "none");
    assert_int_equal(cbx_database_execute(database, CBX_SQL_remove_session, id, 1, &changed, &err),
                     0);
    assert_int_equal(changed, 3);
    cbx_database_free(database);
    stop();
    assert_int_equal(rig.links, 1);
}

/* A statement that the process did not answer is not repeated: it may have been run. */
static void a_process_that_ends_fails_one_statement_and_the_next_one_uses_a_new_link(void **state)
{
    (void)state;
    const char *const id[] = { "a" };
    struct cbx_err err = { 0 };
    will_answer(OK, CBX_STR(""));
    will_answer(NULL, CBX_STR(""));
    will_answer(OK, CBX_STR(""));
    struct cbx_database *database = open_remote();
    assert_int_equal(cbx_database_execute(database, CBX_SQL_remove_session, id, 1, NULL, &err),
                     CBX_EIO);
    assert_int_equal(cbx_database_execute(database, CBX_SQL_remove_session, id, 1, NULL, &err), 0);
    cbx_database_free(database);
    stop();
    assert_int_equal(rig.links, 2);
}

static void a_transaction_that_lost_its_link_fails_until_it_is_rolled_back(void **state)
{
    (void)state;
    const char *const id[] = { "a" };
    struct cbx_err err = { 0 };
    will_answer(OK, CBX_STR(""));
    will_answer(OK, CBX_STR("")); /* begin */
    will_answer(NULL, CBX_STR(""));
    will_answer(OK, CBX_STR(""));
    struct cbx_database *database = open_remote();
    assert_int_equal(cbx_database_begin(database, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cbx_database_execute(database, CBX_SQL_remove_session, id, 1, NULL, &err),
                         CBX_EIO);
    }
    assert_int_equal(cbx_database_commit(database, &err), CBX_EIO);
    cbx_database_rollback(database);
    assert_int_equal(cbx_database_execute(database, CBX_SQL_remove_session, id, 1, NULL, &err), 0);
    cbx_database_free(database);
    stop();
    assert_int_equal(rig.links, 2);
}

static void answers_that_are_malformed_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        struct cbx_str bytes;
    } bad[] = {
        { "{\"code\":0,\"lengths\":[]}", CBX_STR("") },
        { "{\"code\":0,\"columns\":33,\"lengths\":[1]}", CBX_STR("a\0") },
        { "{\"code\":0,\"columns\":-1,\"lengths\":[1]}", CBX_STR("a\0") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[]}", CBX_STR("") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[-1]}", CBX_STR("") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[2]}", CBX_STR("a\0") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[1]}", CBX_STR("a") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[2]}", CBX_STR("\0a\0") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[9223372036854775807]}", CBX_STR("a\0") },
        { "{\"code\":0,\"columns\":1,\"lengths\":[\"a\"]}", CBX_STR("a\0") },
        { "{\"code\":-5,\"lengths\":[]}", CBX_STR("") },
        { "[]", CBX_STR("") },
    };
    const char *const id[] = { "a", NULL };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_rows *rows = NULL;
        struct cbx_err err = { 0 };
        begin(NULL);
        will_answer(OK, CBX_STR(""));
        will_answer(bad[i].header, bad[i].bytes);
        struct cbx_database *database = open_remote();
        if (cbx_database_query(database, CBX_SQL_get_session, id, 2, &rows, &err) == 0) {
            fail_msg("accepted: %s", bad[i].header);
        }
        assert_null(rows);
        cbx_database_free(database);
        stop();
    }
}

/* A row that is cut in its middle is none. */
static void a_row_that_is_not_whole_fails(void **state)
{
    (void)state;
    const char *const id[] = { "a", NULL };
    struct cbx_rows *rows = NULL;
    struct cbx_err err = { 0 };
    will_answer(OK, CBX_STR(""));
    will_answer("{\"code\":0,\"columns\":2,\"lengths\":[1,1,1],\"more\":false}",
                CBX_STR("p\0q\0x\0"));
    struct cbx_database *database = open_remote();
    assert_int_equal(cbx_database_query(database, CBX_SQL_get_session, id, 2, &rows, &err), 0);
    assert_false(cbx_rows_next(rows));
    assert_int_equal(cbx_rows_check(rows, &err), CBX_EIO);
    cbx_rows_free(rows);
    cbx_database_free(database);
    stop();
}

static void a_target_is_read_as_it_was_written_and_in_no_other_form(void **state)
{
    (void)state;
    const struct cbx_database_target target = { .url = CBX_STR("postgres://h/d"),
                                                .replica = CBX_STR(""),
                                                .authorities = CBX_STR("PEM\n") };
    struct cbx_database_target read;
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 1024);
    cbx_database_target_write(&target, &bytes);
    assert_true(cbx_database_target_read(cbx_buf_str(&bytes), &read));
    assert_true(cbx_str_equal(read.url, target.url));
    assert_true(cbx_str_equal(read.replica, target.replica));
    assert_true(cbx_str_equal(read.authorities, target.authorities));
    for (size_t len = 0; len < bytes.len; len++) {
        assert_false(cbx_database_target_read((struct cbx_str){ .p = bytes.p, .len = len }, &read));
    }
    cbx_buf_add_char(&bytes, 'x');
    assert_false(cbx_database_target_read(cbx_buf_str(&bytes), &read));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rows_of_several_messages_are_one_result, begin),
        cmocka_unit_test_setup(a_failure_has_the_code_and_the_text_of_the_process, begin),
        cmocka_unit_test_setup(
            a_process_that_ends_fails_one_statement_and_the_next_one_uses_a_new_link, begin),
        cmocka_unit_test_setup(a_transaction_that_lost_its_link_fails_until_it_is_rolled_back,
                               begin),
        cmocka_unit_test(answers_that_are_malformed_are_refused),
        cmocka_unit_test_setup(a_row_that_is_not_whole_fails, begin),
        cmocka_unit_test(a_target_is_read_as_it_was_written_and_in_no_other_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
