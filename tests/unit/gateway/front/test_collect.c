/* SPDX-License-Identifier: MIT
 * Events to JSON: streams are put together before they are read as text. */
#include "gateway/front/collect.h"
#include "policies/guard/guard.h"
#include "tests/unit/gateway/scratch.h"

static void add(struct cbx_collected *c, enum cbx_event_kind kind, struct cbx_str text)
{
    struct cbx_sink sink = cbx_collected_sink(c);
    struct cbx_event event = { .kind = kind, .text = text, .size_bytes = 7 };
    assert_int_equal(sink.event(sink.context, &event), 0);
}

static void assert_items(const struct cbx_collected *c, const char *expected)
{
    char *text = json_dumps(c->items, JSON_COMPACT | JSON_SORT_KEYS);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void puts_a_character_together_that_came_in_pieces(void **state)
{
    (void)state;
    static const struct cbx_str text = { "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", 11 };
    for (size_t cut = 0; cut <= text.len; cut++) {
        CBX_AUTO_DONE(collected) c;
        cbx_collected_init(&c);
        add(&c, CBX_EVENT_STDOUT, cbx_str_sub(text, 0, cut));
        add(&c, CBX_EVENT_STDOUT, cbx_str_sub(text, cut, text.len));
        cbx_collected_finish(&c);
        assert_items(&c,
                     "[{\"kind\":\"stdout\",\"text\":\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\"}]");
    }
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    for (size_t i = 0; i < text.len; i++) {
        add(&c, CBX_EVENT_STDERR, cbx_str_sub(text, i, i + 1));
    }
    cbx_collected_finish(&c);
    assert_items(&c, "[{\"kind\":\"stderr\",\"text\":\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\"}]");
}

static void keeps_the_order_of_the_streams(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    add(&c, CBX_EVENT_STDOUT, CBX_STR("1"));
    add(&c, CBX_EVENT_STDERR, CBX_STR("2"));
    add(&c, CBX_EVENT_STDERR, CBX_STR("3"));
    add(&c, CBX_EVENT_STDOUT, CBX_STR(""));
    add(&c, CBX_EVENT_STDOUT, CBX_STR("4"));
    add(&c, CBX_EVENT_FILE, CBX_STR("out.csv"));
    add(&c, CBX_EVENT_STDOUT, CBX_STR("5"));
    cbx_collected_finish(&c);
    cbx_collected_finish(&c);
    assert_items(&c, "[{\"kind\":\"stdout\",\"text\":\"1\"},{\"kind\":\"stderr\",\"text\":\"23\"},{"
                     "\"kind\":\"stdout\",\"text\":\"4\"},"
                     "{\"kind\":\"file\",\"path\":\"out.csv\",\"size\":7},{\"kind\":\"stdout\","
                     "\"text\":\"5\"}]");
}

static void makes_text_of_bytes_that_are_none(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    add(&c, CBX_EVENT_STDOUT, CBX_STR("a\0b"));
    add(&c, CBX_EVENT_STDERR, CBX_STR("\xc3"));
    add(&c, CBX_EVENT_FILE, CBX_STR("\xff.txt"));
    cbx_collected_finish(&c);
    assert_items(&c, "[{\"kind\":\"stdout\",\"text\":\"a\\u0000b\"},{\"kind\":\"stderr\",\"text\":"
                     "\"\xef\xbf\xbd\"},"
                     "{\"kind\":\"file\",\"path\":\"\xef\xbf\xbd.txt\",\"size\":7}]");
}

static void encodes_pictures_and_nothing_that_is_text(void **state)
{
    (void)state;
    static const struct cbx_mime mimes[] = {
        { CBX_STR("image/png"), CBX_STR("\x89PNG") },
        { CBX_STR("image/svg+xml"), CBX_STR("<svg/>") },
        { CBX_STR("text/plain"), CBX_STR("\xc3\xa9") },
        { CBX_STR("application/pdf"), CBX_STR("") },
    };
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    struct cbx_sink sink = cbx_collected_sink(&c);
    struct cbx_event event = { .kind = CBX_EVENT_DISPLAY, .mimes = mimes, .mime_count = 4 };
    assert_int_equal(sink.event(sink.context, &event), 0);
    event = (struct cbx_event){ .kind = CBX_EVENT_RESULT };
    assert_int_equal(sink.event(sink.context, &event), 0);
    cbx_collected_finish(&c);
    assert_items(&c, "[{\"data\":{\"application/pdf\":\"\",\"image/png\":\"iVBORw==\",\"image/"
                     "svg+xml\":\"<svg/>\",\"text/plain\":\"\xc3\xa9\"},"
                     "\"kind\":\"display\"},{\"data\":{},\"kind\":\"result\"}]");
}

static void keeps_a_bundle_whose_types_are_not_utf8(void **state)
{
    (void)state;
    static const struct cbx_mime mimes[] = { { CBX_STR("text/\xff"), CBX_STR("lost") },
                                             { CBX_STR("text/plain"), CBX_STR("kept") } };
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    struct cbx_sink sink = cbx_collected_sink(&c);
    struct cbx_event event = { .kind = CBX_EVENT_DISPLAY, .mimes = mimes, .mime_count = 2 };
    assert_int_equal(sink.event(sink.context, &event), 0);
    cbx_collected_finish(&c);
    assert_items(&c, "[{\"data\":{\"text/plain\":\"kept\"},\"kind\":\"display\"}]");
}

static void leaves_out_what_is_too_many_items_and_says_so(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    struct cbx_sink sink = cbx_collected_sink(&c);
    struct cbx_event event = { .kind = CBX_EVENT_FILE, .text = CBX_STR("f") };
    for (int i = 0; i < 200000; i++) {
        assert_int_equal(sink.event(sink.context, &event), 0);
    }
    assert_true(c.incomplete);
    assert_int_equal(c.omitted, 0);
    struct cbx_event out = { .kind = CBX_EVENT_STDOUT, .text = CBX_STR("four") };
    assert_int_equal(sink.event(sink.context, &out), 0);
    cbx_collected_finish(&c);
    assert_int_equal(c.omitted, 4);
    assert_in_range(json_array_size(c.items), 1000, 100000);
    const json_t *last = json_array_get(c.items, json_array_size(c.items) - 1);
    assert_string_equal(json_string_value(json_object_get(last, "kind")), "cut");
}

static void the_same_refusal_is_one_item_with_its_last_number(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    struct cbx_sink sink = cbx_collected_sink(&c);
    struct cbx_event event = { .kind = CBX_EVENT_BLOCKED,
                               .text = CBX_STR("a new process"),
                               .rule = CBX_STR("py.process"),
                               .refusal = CBX_REFUSE_START,
                               .count = 1 };
    assert_int_equal(sink.event(sink.context, &event), 0);
    event.count = 40;
    assert_int_equal(sink.event(sink.context, &event), 0);
    event.text = CBX_STR("/usr/bin/id");
    assert_int_equal(sink.event(sink.context, &event), 0);
    cbx_collected_finish(&c);
    assert_int_equal(json_array_size(c.items), 2);
    const json_t *first = json_array_get(c.items, 0);
    assert_string_equal(json_string_value(json_object_get(first, "capability")), "start-process");
    assert_string_equal(json_string_value(json_object_get(first, "rule")), "py.process");
    assert_int_equal(json_integer_value(json_object_get(first, "count")), 40);
    assert_true(json_string_length(json_object_get(first, "message")) > 0);
    assert_true(json_string_length(json_object_get(first, "hint")) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_a_character_together_that_came_in_pieces),
        cmocka_unit_test(keeps_the_order_of_the_streams),
        cmocka_unit_test(makes_text_of_bytes_that_are_none),
        cmocka_unit_test(encodes_pictures_and_nothing_that_is_text),
        cmocka_unit_test(keeps_a_bundle_whose_types_are_not_utf8),
        cmocka_unit_test(leaves_out_what_is_too_many_items_and_says_so),
        cmocka_unit_test(the_same_refusal_is_one_item_with_its_last_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
