/* SPDX-License-Identifier: MIT
 * The redactor: encodings, chunks, false alarms, and its linear time. */
#include "gateway/executor/redact/redact.h"

#include "tests/unit/unit.h"

#include <stdlib.h>

#define SECRET "sk-Proj_A8fjK29dkf+LQpz/71XyTw"

static const struct {
    const char *name;
    struct cbx_str text;
} encoded[] = {
#define CBX_ENCODED(name, text) { name, CBX_STR(text) },
#include "tests/unit/gateway/executor/redact/encodings.def"
#undef CBX_ENCODED
};
enum { ENCODED = sizeof(encoded) / sizeof(encoded[0]) };

static struct cbx_redactor *redactor_of(const char *name, struct cbx_str value)
{
    const struct cbx_redact_secret secret = { .name = cbx_str_of(name), .value = value };
    return cbx_redactor_new(&secret, 1);
}

/* Redacts in chunks of this size. */
static void redact(const struct cbx_redactor *redactor, struct cbx_str text, size_t chunk,
                   struct cbx_buf *out)
{
    CBX_AUTO(redact_stream) stream = cbx_redact_stream_new(redactor);
    for (size_t at = 0; at < text.len; at += chunk) {
        cbx_redact_feed(stream, cbx_str_sub(text, at, at + chunk), out);
    }
    cbx_redact_flush(stream, out);
}

static void assert_redacts(const struct cbx_redactor *redactor, const char *name,
                           struct cbx_str text, size_t chunk)
{
    CBX_AUTO_DONE(buf) in;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&in, 1 << 20);
    cbx_buf_init(&out, 1 << 20);
    cbx_buf_add_cstr(&in, "before: <");
    cbx_buf_add(&in, text);
    cbx_buf_add_cstr(&in, "> after\n");
    redact(redactor, cbx_buf_str(&in), chunk, &out);
    /* The remains around the placeholder are a quote, padding, and digits that neighbours share. */
    size_t placeholders = 0;
    for (const char *at = out.p, *end = out.p + out.len;
         (at = memmem(at, (size_t)(end - at), "[secret KEY]", 12)) != NULL; at++) {
        placeholders++;
    }
    size_t rest = out.len - placeholders * strlen("[secret KEY]");
    if (placeholders == 0 || placeholders > 2 || rest > strlen("before: <> after\n") + 24 ||
        strncmp(out.p, "before: <", 9) != 0) {
        fail_msg("%s in chunks of %zu: '%s'", name, chunk, out.p);
    }
}

static void replaces_every_encoding_of_a_secret(void **state)
{
    (void)state;
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    for (size_t i = 0; i < ENCODED; i++) {
        assert_redacts(redactor, encoded[i].name, encoded[i].text, SIZE_MAX / 2);
    }
}

static void finds_a_secret_at_every_split(void **state)
{
    (void)state;
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    for (size_t i = 0; i < ENCODED; i++) {
        size_t step = encoded[i].text.len / 40 + 1;
        for (size_t chunk = 1; chunk < encoded[i].text.len + 16; chunk += step) {
            assert_redacts(redactor, encoded[i].name, encoded[i].text, chunk);
        }
    }
}

static void finds_short_secrets_and_pieces_of_long_ones(void **state)
{
    (void)state;
    CBX_AUTO(redactor) shorter = redactor_of("KEY", CBX_STR("hunter2!"));
    CBX_AUTO(redactor) longer = redactor_of("KEY", CBX_STR(SECRET));
    assert_redacts(shorter, "short", CBX_STR("hunter2!"), 1);
    assert_redacts(shorter, "short, base64", CBX_STR("aHVudGVyMiE="), 3);
    assert_redacts(shorter, "short, hex", CBX_STR("68 75 6e 74 65 72 32 21"), 1);
    assert_redacts(longer, "16 bytes", CBX_STR("A8fjK29dkf+LQpz/71"), 5);
    assert_redacts(longer, "a dump", CBX_STR("00: 736b 2d50 726f 6a5f 4138 666a 4b32 3964  ...."),
                   9);
}

static void finds_all_lines_of_a_dump(void **state)
{
    (void)state;
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    static const char dump[] =
        "0000000 73 6b 2d 50 72 6f 6a 5f 41 38 66 6a 4b 32 39 64  >sk-Proj_A8fjK29d<\n"
        "0000020 6b 66 2b 4c 51 70 7a 2f 37 31 58 79 54 77        >kf+LQpz/71XyTw<\n0000036\n";
    for (size_t chunk = 1; chunk < sizeof(dump); chunk += 7) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 4096);
        redact(redactor, CBX_STR(dump), chunk, &out);
        assert_string_equal(out.p, "0000000 [secret KEY]  >[secret KEY]<\n"
                                   "0000020 [secret KEY]        >[secret KEY]<\n0000036\n");
    }
}

static void finds_a_secret_that_is_part_of_another(void **state)
{
    (void)state;
    const struct cbx_redact_secret secrets[] = {
        { CBX_STR("URL"), CBX_STR("postgres://app:Wq81-zTr5@db.example.org/main") },
        { CBX_STR("KEY"), CBX_STR("Wq81-zTr5") }
    };
    CBX_AUTO(redactor) redactor = cbx_redactor_new(secrets, 2);
    assert_redacts(redactor, "the part", CBX_STR("p:Wq81-zTr5!"), 4);
}

static void assert_unchanged(const struct cbx_redactor *redactor, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 24);
    redact(redactor, text, 1000, &out);
    assert_int_equal(out.len, text.len);
    assert_memory_equal(out.p, text.p, text.len);
    assert_false(cbx_redact_finds(redactor, text));
}

static void leaves_ordinary_output_as_it_is(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 24);
    for (uint32_t i = 0, n = 1; i < LINES; i++) {
        n = n * 1664525 + 1013904223;
        cbx_buf_printf(&text,
                       "%u: %08x %.6f {\"id\": %u, \"url\": \"http://h/a%%20b?c=%x&amp;d\"}\n", i,
                       n, n / 4294967296.0, n % 1000, n);
        cbx_buf_printf(&text, "[%u, %u, %u, %u] %u%u%u%u \\x%02x\\u%04x\n", n & 255, n >> 8 & 255,
                       n >> 16 & 255, n >> 24, n & 1, n >> 1 & 1, n >> 2 & 1, n >> 3 & 1, n & 255,
                       n & 0xffff);
    }
    cbx_buf_add_cstr(&text, "sk-Proj_A8f is the beginning, and A8fjK29dkf a piece of it\n");
    assert_unchanged(redactor, cbx_buf_str(&text));
    char binary[4096];
    for (size_t i = 0; i < sizeof(binary); i++) {
        binary[i] = (char)(i * 2654435761u >> 13);
    }
    assert_unchanged(redactor, (struct cbx_str){ .p = binary, .len = sizeof(binary) });
}

static void holds_back_only_what_may_become_a_secret(void **state)
{
    (void)state;
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    CBX_AUTO(redact_stream) stream = cbx_redact_stream_new(redactor);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    cbx_redact_feed(stream, CBX_STR("line of output\n"), &out);
    assert_string_equal(out.p, "line of output\n");
    cbx_buf_reset(&out);
    cbx_redact_feed(stream, CBX_STR("password? sk-Proj_A8"), &out);
    assert_string_equal(out.p, "password? ");
    cbx_buf_reset(&out);
    cbx_redact_feed(stream, CBX_STR("fx and more\n"), &out);
    assert_string_equal(out.p, "sk-Proj_A8fx and more\n");
    cbx_buf_reset(&out);
    cbx_redact_feed(stream, CBX_STR("sk-Proj_A8"), &out);
    cbx_redact_flush(stream, &out);
    assert_string_equal(out.p, "sk-Proj_A8");
}

static void a_whole_secret_at_the_end_needs_no_next_byte(void **state)
{
    (void)state;
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    CBX_AUTO(redact_stream) stream = cbx_redact_stream_new(redactor);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    cbx_redact_feed(stream, CBX_STR("a " SECRET), &out);
    assert_string_equal(out.p, "a [secret KEY]");
}

static void refuses_values_that_would_cut_ordinary_output(void **state)
{
    (void)state;
    static const char *const bad[] = { "short7!", "aaaaaaaaaaaaaaaa", "abababababab",
                                       "\"\"''  ,,--::;;" };
    static const char *const good[] = { "hunter2!", "\xc3\xa4\xc3\xb6\xc3\xbc-1234", SECRET };
    struct cbx_err err = { 0 };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct cbx_redact_secret secret = { CBX_STR("KEY"), cbx_str_of(bad[i]) };
        assert_int_equal(cbx_redact_check(&secret, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, "'KEY'"));
        assert_null(strstr(err.text, bad[i]));
        assert_null(cbx_redactor_new(&secret, 1));
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const struct cbx_redact_secret secret = { CBX_STR("KEY"), cbx_str_of(good[i]) };
        assert_int_equal(cbx_redact_check(&secret, &err), 0);
    }
}

static void takes_a_large_secret_of_many_lines(void **state)
{
    (void)state;
    enum { BYTES = CBX_REDACT_BYTES_MAX };
    static char value[BYTES + 1];
    for (uint32_t i = 0, n = 7; i < BYTES; i++) {
        n = n * 1664525 + 1013904223;
        value[i] =
            i % 65 == 64
                ? '\n'
                : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[n >> 26];
    }
    CBX_AUTO(redactor) redactor = redactor_of("KEY", (struct cbx_str){ .p = value, .len = BYTES });
    assert_redacts(redactor, "a line", (struct cbx_str){ .p = value + 650, .len = 64 }, 10);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 20);
    redact(redactor, (struct cbx_str){ .p = value, .len = BYTES }, 333, &out);
    assert_string_equal(out.p, "[secret KEY]");
}

/* Nearly matches, escapes without an end, and a beginning that never goes on: each byte costs a
 * bounded number of steps, or the test does not end. */
static void hostile_output_takes_linear_time(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "sk-Proj_A8fjK29dkf+LQpx",
        "\\\\\\\\\\\\\\\\",
        "&#&#&#%25%25%=",
        "s               ",
        "01101010011101000101100",
        "\x1b[3\x1b[3",
        "sk-Proj_A8fjK29dkf+LQpz/71XyTw",
    };
    enum { BYTES = 1 << 20 };
    CBX_AUTO(redactor) redactor = redactor_of("KEY", CBX_STR(SECRET));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&text, 2 * BYTES);
        cbx_buf_init(&out, 4 * BYTES);
        while (text.len < BYTES) {
            cbx_buf_add_cstr(&text, parts[i]);
        }
        redact(redactor, cbx_buf_str(&text), 4096, &out);
        assert_false(out.overflow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_every_encoding_of_a_secret),
        cmocka_unit_test(finds_a_secret_at_every_split),
        cmocka_unit_test(finds_short_secrets_and_pieces_of_long_ones),
        cmocka_unit_test(finds_all_lines_of_a_dump),
        cmocka_unit_test(finds_a_secret_that_is_part_of_another),
        cmocka_unit_test(leaves_ordinary_output_as_it_is),
        cmocka_unit_test(holds_back_only_what_may_become_a_secret),
        cmocka_unit_test(a_whole_secret_at_the_end_needs_no_next_byte),
        cmocka_unit_test(refuses_values_that_would_cut_ordinary_output),
        cmocka_unit_test(takes_a_large_secret_of_many_lines),
        cmocka_unit_test(hostile_output_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
