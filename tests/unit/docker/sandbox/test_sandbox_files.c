/* SPDX-License-Identifier: MIT
 * Requests to a sandbox between runs, against a scripted engine and supervisor. */
#include "tests/unit/docker/sandbox_rig.h"

/* --- files ------------------------------------------------------------------------------------ */

static void a_refused_file_has_a_reason(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    static const struct {
        int number, code;
    } cases[] = { { ENOENT, CBX_ENOTFOUND }, { EXDEV, CBX_EINVAL },   { EISDIR, CBX_EINVAL },
                  { EFBIG, CBX_ETOOBIG },    { ENOSPC, CBX_ETOOBIG }, { EIO, CBX_EIO } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fake.answer_code = (uint32_t)cases[i].number;
        assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a"), &err), cases[i].code);
        assert_true(cbx_sandbox_poll(sandbox));
    }
}

static void sends_no_path_or_file_that_is_too_large(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) big;
    cbx_buf_init(&big, 2 << 20);
    memset(cbx_buf_reserve(&big, 2 << 20), 'x', 2 << 20);
    struct cbx_str file = { .p = big.p, .len = (size_t)limits.files_bytes + 1 };
    struct cbx_str path = { .p = big.p, .len = CBX_FRAME_PATH_MAX + 1 };
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("a"), file, &err), CBX_ETOOBIG);
    assert_int_equal(cbx_sandbox_put(sandbox, path, CBX_STR(""), &err), CBX_EINVAL);
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR(""), CBX_STR(""), &err), CBX_EINVAL);
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a\0b"), &err), CBX_EINVAL);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_PUT), 0);
    file.len--;
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("a"), file, &err), 0);
}

static void add_entry(struct cbx_buf *to, const char *name, size_t len)
{
    struct cbx_frame_entry entry = { .size_bytes = 3, .name_len = (uint16_t)len };
    cbx_buf_add_bytes(to, &entry, sizeof(entry));
    cbx_buf_add_bytes(to, name, len);
}

static void lists_files_sorted_and_refuses_names_that_are_none(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) entries;
    cbx_buf_init(&entries, 4096);
    add_entry(&entries, "b", 1);
    add_entry(&entries, "a", 1);
    fake.answer = cbx_buf_str(&entries);
    bool complete = false;
    CBX_AUTO_JSON list = NULL;
    assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR(""), &list, &complete, &err), 0);
    assert_true(complete);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "name")), "a");
    static const struct cbx_str bad[] = { CBX_STR("x/y"), CBX_STR("x\0y"), CBX_STR("") };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *none = NULL;
        cbx_buf_reset(&entries);
        add_entry(&entries, bad[i].p, bad[i].len);
        fake.answer = cbx_buf_str(&entries);
        assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR(""), &none, &complete, &err),
                         CBX_EPROTO);
    }
}

struct refusals {
    unsigned count;
    struct cbx_event last;
    char text[64];
};

static int note_refusal(void *context, const struct cbx_event *event)
{
    struct refusals *r = context;
    r->count++;
    r->last = *event;
    snprintf(r->text, sizeof(r->text), "%.*s", (int)event->text.len, event->text.p);
    return 0;
}

static void add_refusal(struct cbx_buf *out, uint32_t refusal, uint32_t count, const char *text)
{
    struct cbx_frame_blocked head = { .refusal = refusal, .count = count };
    uint8_t len = (uint8_t)strlen(text);
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add_bytes(out, &len, sizeof(len));
    cbx_buf_add_cstr(out, text);
}

static void takes_refusals_after_the_last_run_and_drops_what_is_malformed(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) answer;
    struct refusals r = { 0 };
    const struct cbx_sink notes = { .event = note_refusal, .context = &r };
    cbx_buf_init(&answer, 4096);
    add_refusal(&answer, CBX_REFUSE_READ, 1, "/etc/shadow");
    add_refusal(&answer, CBX_REFUSE_START, 3, "/bin/sh");
    fake.answer = cbx_buf_str(&answer);
    assert_int_equal(cbx_sandbox_take_refusals(sandbox, &notes, &err), 0);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.last.kind, CBX_EVENT_BLOCKED);
    assert_int_equal(r.last.refusal, CBX_REFUSE_START);
    assert_int_equal(r.last.count, 3);
    assert_string_equal(r.text, "/bin/sh");
    for (size_t cut = 1; cut < 20; cut++) { /* the second one is incomplete */
        r.count = 0;
        fake.answer = cbx_str_sub(cbx_buf_str(&answer), 0, answer.len - cut);
        if (answer.len - cut >= sizeof(struct cbx_frame_blocked) + 1 + strlen("/etc/shadow")) {
            assert_int_equal(cbx_sandbox_take_refusals(sandbox, &notes, &err), 0);
            assert_in_range(r.count, 1, 1);
        }
    }
    r.count = 0;
    cbx_buf_reset(&answer);
    add_refusal(&answer, CBX_REFUSALS, 1, "no row");
    fake.answer = cbx_buf_str(&answer);
    assert_int_equal(cbx_sandbox_take_refusals(sandbox, &notes, &err), 0);
    assert_int_equal(r.count, 0);
}

static void gets_the_bytes_of_a_file(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 4096);
    fake.answer = CBX_STR("a\0b");
    assert_int_equal(cbx_sandbox_get(sandbox, CBX_STR("a"), &bytes, &err), 0);
    assert_int_equal(bytes.len, 3);
    assert_memory_equal(bytes.p, "a\0b", 3);
    assert_int_equal(cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err), 0);
    fake.answer_code = 5;
    assert_int_equal(cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err), CBX_EIO);
}

static void a_judged_file_is_put_with_a_permit_for_it_and_is_in_the_ledger(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    struct cbx_permit good = permit_for("x = 1"), p;
    good.action = CBX_ACTION_FILE;
    good.entry = cbx_sha256_of(CBX_STR("entry"));
    good.ledger = *cbx_sandbox_ledger(sandbox);
    snprintf(good.path, sizeof(good.path), "lib/a.py");
    struct cbx_sha256 after = cbx_ledger_add(&good.ledger, &good.entry);
    p = good;
    p.action = CBX_ACTION_RUN;
    assert_int_equal(cbx_sandbox_put_judged(sandbox, &p, CBX_STR("x = 1"), &err), CBX_ESEAL);
    assert_int_equal(cbx_sandbox_put_judged(sandbox, &good, CBX_STR("x = 2"), &err), CBX_ESEAL);
    p = good;
    p.ledger = after;
    assert_int_equal(cbx_sandbox_put_judged(sandbox, &p, CBX_STR("x = 1"), &err), CBX_ESTALE);
    fake.answer_code = 28; /* ENOSPC */
    assert_int_equal(cbx_sandbox_put_judged(sandbox, &good, CBX_STR("x = 1"), &err), CBX_ETOOBIG);
    assert_true(cbx_sha256_equal(&good.ledger, cbx_sandbox_ledger(sandbox)));
    fake.answer_code = 0;
    assert_int_equal(cbx_sandbox_put_judged(sandbox, &good, CBX_STR("x = 1"), &err), 0);
    assert_true(cbx_sha256_equal(&after, cbx_sandbox_ledger(sandbox)));
}

/* A caller that repeats a reset after a crash names the previous ledger. */
static void a_reset_is_in_the_ledger_once(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    struct cbx_sha256 before = *cbx_sandbox_ledger(sandbox), after,
                      other = cbx_sha256_of(CBX_STR("other"));
    assert_int_equal(cbx_sandbox_reset(sandbox, &other, &err), CBX_ESTALE);
    assert_int_equal(cbx_sandbox_reset(sandbox, &before, &err), 0);
    after = *cbx_sandbox_ledger(sandbox);
    assert_false(cbx_sha256_equal(&before, &after));
    assert_int_equal(cbx_sandbox_reset(sandbox, &before, &err), 0);
    assert_true(cbx_sha256_equal(&after, cbx_sandbox_ledger(sandbox)));
    assert_int_equal(cbx_sandbox_reset(sandbox, &after, &err), 0);
    assert_false(cbx_sha256_equal(&after, cbx_sandbox_ledger(sandbox)));
}

static void a_sandbox_that_does_not_answer_fails_the_poll(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    fake.half_answer = true;
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a"), &err), CBX_EPROTO);
    assert_false(cbx_sandbox_poll(sandbox));
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a"), &err), CBX_ESTATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_refused_file_has_a_reason),
        TEST(sends_no_path_or_file_that_is_too_large),
        TEST(lists_files_sorted_and_refuses_names_that_are_none),
        TEST(gets_the_bytes_of_a_file),
        TEST(a_judged_file_is_put_with_a_permit_for_it_and_is_in_the_ledger),
        TEST(a_reset_is_in_the_ledger_once),
        TEST(a_sandbox_that_does_not_answer_fails_the_poll),
        TEST(takes_refusals_after_the_last_run_and_drops_what_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
