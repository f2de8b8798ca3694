/* SPDX-License-Identifier: MIT
 * The executor's output: events without secrets. */
#include "gateway/executor/run/outlet.h"

#include "gateway/executor/run/grants.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#define SECRET "tok-Zq81RvXw04LmPd77"

static struct cbx_redactor *redactor;

static int make(void **state)
{
    const struct cbx_redact_secret secret = { CBX_STR("KEY"), CBX_STR(SECRET) };
    (void)state;
    redactor = cbx_redactor_new(&secret, 1);
    return redactor == NULL;
}

static int drop(void **state)
{
    (void)state;
    cbx_redactor_free(redactor);
    return 0;
}

static const char *const kinds[] = { "?",    "out", "err", "display", "result",
                                     "file", "cut", "ask", "blocked" };

/* Events as text: "kind late text|type=data|...;" */
static int note(void *context, const struct cbx_event *event)
{
    struct cbx_buf *seen = context;
    cbx_buf_printf(seen, "%s%s ", kinds[event->kind], event->late ? " late" : "");
    cbx_buf_add(seen, event->text);
    for (size_t i = 0; i < event->mime_count; i++) {
        cbx_buf_add_char(seen, '|');
        cbx_buf_add(seen, event->mimes[i].type);
        cbx_buf_add_char(seen, '=');
        cbx_buf_add(seen, event->mimes[i].data);
    }
    cbx_buf_add_char(seen, ';');
    return 0;
}

struct outlet_test {
    struct cbx_outlet outlet;
    struct cbx_buf seen;
    struct cbx_sink to;
};

static struct outlet_test *begin(const struct cbx_redactor *with)
{
    static struct outlet_test t;
    t = (struct outlet_test){ .outlet = { .redactor = with } };
    cbx_buf_init(&t.seen, 1 << 20);
    t.to = (struct cbx_sink){ .event = note, .context = &t.seen };
    return &t;
}

static void send(struct outlet_test *t, enum cbx_event_kind kind, struct cbx_str text, bool late)
{
    const struct cbx_event event = { .kind = kind, .text = text, .late = late };
    assert_int_equal(cbx_outlet_event(&t->outlet, &event, &t->to), 0);
}

static void expect(struct outlet_test *t, const char *seen)
{
    assert_int_equal(cbx_outlet_flush(&t->outlet, &t->to), 0);
    assert_string_equal(t->seen.p, seen);
    cbx_outlet_done(&t->outlet);
    cbx_buf_done(&t->seen);
}

static void a_secret_that_is_split_over_events_is_replaced(void **state)
{
    (void)state;
    struct outlet_test *t = begin(redactor);
    send(t, CBX_EVENT_STDOUT, CBX_STR("key: tok-Zq8"), false);
    send(t, CBX_EVENT_STDERR, CBX_STR("note\n"), false);
    send(t, CBX_EVENT_STDOUT, CBX_STR("1RvXw04LmP"), false);
    send(t, CBX_EVENT_STDOUT, CBX_STR("d77\n"), false);
    expect(t, "out key: ;err note\n;out [secret KEY]\n;");
}

static void each_text_of_an_event_is_searched(void **state)
{
    (void)state;
    struct outlet_test *t = begin(redactor);
    const struct cbx_mime mimes[] = { { CBX_STR("text/plain"), CBX_STR("'" SECRET "'") },
                                      { CBX_STR("text/html"), CBX_STR("<b>" SECRET "</b>") } };
    const struct cbx_event display = { .kind = CBX_EVENT_DISPLAY, .mimes = mimes, .mime_count = 2 };
    assert_int_equal(cbx_outlet_event(&t->outlet, &display, &t->to), 0);
    send(t, CBX_EVENT_FILE, CBX_STR(SECRET ".txt"), false);
    send(t, CBX_EVENT_ASK, CBX_STR("is it " SECRET "? "), false);
    send(t, CBX_EVENT_BLOCKED, CBX_STR("/bin/" SECRET), false);
    expect(t, "display |text/plain='[secret KEY]'|text/html=<b>[secret KEY]</b>;"
              "file [secret KEY].txt;ask is it [secret KEY]? ;blocked /bin/[secret KEY];");
}

static void what_is_held_back_stays_before_a_cut_and_keeps_being_late(void **state)
{
    (void)state;
    struct outlet_test *t = begin(redactor);
    send(t, CBX_EVENT_STDOUT, CBX_STR("tok-Zq8"), true);
    send(t, CBX_EVENT_STDOUT, CBX_STR("tok-Z"), false);
    send(t, CBX_EVENT_CUT, CBX_STR(""), false);
    send(t, CBX_EVENT_STDOUT, CBX_STR("q81RvXw04\n"), false);
    expect(t, "out late tok-Zq8;out tok-Z;cut ;out q81RvXw04\n;");
}

static void without_secrets_events_pass_as_they_are(void **state)
{
    (void)state;
    struct outlet_test *t = begin(NULL);
    send(t, CBX_EVENT_STDOUT, CBX_STR("tok-Zq81RvXw04LmPd77"), false);
    expect(t, "out tok-Zq81RvXw04LmPd77;");
}

static void the_error_of_a_result_is_replaced(void **state)
{
    (void)state;
    CBX_AUTO_DONE(result)
    result = { .ename = strdup("ValueError"),
               .evalue = strdup("no " SECRET),
               .traceback = strdup("line 1\nValueError: no " SECRET) };
    cbx_outlet_result(redactor, &result);
    assert_string_equal(result.ename, "ValueError");
    assert_string_equal(result.evalue, "no [secret KEY]");
    assert_string_equal(result.traceback, "line 1\nValueError: no [secret KEY]");
}

static void strings_and_keys_of_json_are_replaced(void **state)
{
    (void)state;
    CBX_AUTO_JSON json = json_pack("{s:[s,i,{s:b}]}", "a", "x " SECRET, 7, SECRET, 1);
    CBX_AUTO_JSON want = json_pack("{s:[s,i,{s:b}]}", "a", "x [secret KEY]", 7, "[secret KEY]", 1);
    CBX_AUTO_JSON clean = cbx_redact_json(redactor, json);
    assert_true(json_equal(clean, want));
}

static void values_of_a_caller_must_be_those_that_were_sealed(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("blue"));
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&hash, hex);
    CBX_AUTO_JSON sealed = json_pack("{s:s}", "STAGE", hex);
    CBX_AUTO_JSON set = NULL;
    assert_int_equal(cbx_grants_read_set(CBX_STR("{\"STAGE\":\"blue\"}"), sealed, &set, &err), 0);
    assert_string_equal(json_string_value(json_object_get(set, "STAGE")), "blue");
    static const char *const others[] = { "",
                                          "{}",
                                          "{\"STAGE\":\"green\"}",
                                          "{\"X\":\"blue\"}",
                                          "[]",
                                          "{\"STAGE\":\"blue\",\"X\":\"y\"}",
                                          "{\"STAGE\":1}" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        json_t *none = NULL;
        assert_int_equal(cbx_grants_read_set(cbx_str_of(others[i]), sealed, &none, &err),
                         CBX_ESEAL);
        assert_null(none);
    }
    json_t *unsealed = NULL;
    assert_int_equal(cbx_grants_read_set(CBX_STR("{\"STAGE\":\"blue\"}"), NULL, &unsealed, &err),
                     0);
    assert_null(unsealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_that_is_split_over_events_is_replaced),
        cmocka_unit_test(each_text_of_an_event_is_searched),
        cmocka_unit_test(what_is_held_back_stays_before_a_cut_and_keeps_being_late),
        cmocka_unit_test(without_secrets_events_pass_as_they_are),
        cmocka_unit_test(the_error_of_a_result_is_replaced),
        cmocka_unit_test(strings_and_keys_of_json_are_replaced),
        cmocka_unit_test(values_of_a_caller_must_be_those_that_were_sealed),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
