/* SPDX-License-Identifier: MIT
 * Events of a run as JSON. */
#include "gateway/collect.h"
#include "tests/unit/unit.h"

#include <string.h>

static void feed(struct cbx_collected *c, enum cbx_event_kind kind, struct cbx_str text)
{
    struct cbx_sink sink = cbx_collected_sink(c);
    assert_int_equal(sink.event(sink.context, &(struct cbx_event){ .kind = kind, .text = text }),
                     0);
}

static const char *text_of(const struct cbx_collected *c, size_t item, const char *key)
{
    return json_string_value(json_object_get(json_array_get(c->items, item), key));
}

static void joins_chunks_of_one_stream_and_keeps_the_order_of_both(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    feed(&c, CBX_EVENT_STDOUT, CBX_STR("a"));
    feed(&c, CBX_EVENT_STDOUT, CBX_STR("b\n"));
    feed(&c, CBX_EVENT_STDERR, CBX_STR("!"));
    feed(&c, CBX_EVENT_STDOUT, CBX_STR("c"));
    cbx_collected_finish(&c);
    assert_int_equal(json_array_size(c.items), 3);
    assert_string_equal(text_of(&c, 0, "text"), "ab\n");
    assert_string_equal(text_of(&c, 1, "kind"), "stderr");
    assert_string_equal(text_of(&c, 2, "text"), "c");
}

static void keeps_a_character_that_is_split_over_chunks(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    feed(&c, CBX_EVENT_STDOUT, CBX_STR("\xF0\x9F"));
    feed(&c, CBX_EVENT_STDOUT, CBX_STR("\x98\x80"));
    cbx_collected_finish(&c);
    assert_string_equal(text_of(&c, 0, "text"), "\xF0\x9F\x98\x80");
}

static void replaces_what_is_not_utf8_and_loses_nothing_else(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    feed(&c, CBX_EVENT_STDOUT,
         CBX_STR("a\xFF"
                 "b\0c"));
    cbx_collected_finish(&c);
    const json_t *text = json_object_get(json_array_get(c.items, 0), "text");
    assert_int_equal(json_string_length(text), 7);
    assert_memory_equal(json_string_value(text),
                        "a\xEF\xBF\xBD"
                        "b\0c",
                        7);
}

static void gives_pictures_as_base64_and_text_as_text(void **state)
{
    (void)state;
    CBX_AUTO_DONE(collected) c;
    cbx_collected_init(&c);
    const struct cbx_mime mimes[] = { { CBX_STR("image/png"), CBX_STR("\x89PNG") },
                                      { CBX_STR("text/plain"), CBX_STR("<Figure>") },
                                      { CBX_STR("image/svg+xml"), CBX_STR("<svg/>") } };
    struct cbx_sink sink = cbx_collected_sink(&c);
    assert_int_equal(sink.event(sink.context, &(struct cbx_event){ .kind = CBX_EVENT_DISPLAY,
                                                                   .mimes = mimes,
                                                                   .mime_count = 3 }),
                     0);
    cbx_collected_finish(&c);
    const json_t *data = json_object_get(json_array_get(c.items, 0), "data");
    assert_string_equal(json_string_value(json_object_get(data, "image/png")), "iVBORw==");
    assert_string_equal(json_string_value(json_object_get(data, "text/plain")), "<Figure>");
    assert_string_equal(json_string_value(json_object_get(data, "image/svg+xml")), "<svg/>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_chunks_of_one_stream_and_keeps_the_order_of_both),
        cmocka_unit_test(keeps_a_character_that_is_split_over_chunks),
        cmocka_unit_test(replaces_what_is_not_utf8_and_loses_nothing_else),
        cmocka_unit_test(gives_pictures_as_base64_and_text_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
