/* SPDX-License-Identifier: MIT
 * Sets of parts: their form, the parts for each process, and policies that pass through them
 * unchanged. */
#include "gateway/ipc/master/reload.h"

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

static void add(struct cbx_buf *set, const char *name, unsigned processes, struct cbx_str bytes)
{
    struct cbx_reload_part part = { .processes = processes, .bytes = bytes };
    struct cbx_err err;
    snprintf(part.name, sizeof(part.name), "%s", name);
    assert_int_equal(cbx_reload_add(set, &part, &err), 0);
}

static void parts_come_back_in_order_and_aligned(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, 4096);
    add(&set, "a", 1, CBX_STR("x"));
    add(&set, "b", 6, CBX_STR(""));
    add(&set, "fifteen-letters", 4, CBX_STR("0123456789abcdef"));
    struct cbx_str rest = cbx_buf_str(&set);
    struct cbx_reload_part part;
    static const char *const names[] = { "a", "b", "fifteen-letters" };
    static const size_t lengths[] = { 1, 0, 16 };
    for (size_t i = 0; i < 3; i++) {
        assert_true(cbx_reload_next(&rest, &part));
        assert_string_equal(part.name, names[i]);
        assert_int_equal(part.bytes.len, lengths[i]);
        assert_int_equal((part.bytes.p - set.p) % 16, 0);
    }
    assert_int_equal(rest.len, 0);
    assert_false(cbx_reload_next(&rest, &part));
}

static void what_is_no_part_ends_the_set(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, 4096);
    add(&set, "a", 1, CBX_STR("xyz"));
    struct cbx_reload_part part;
    for (size_t len = 0; len < set.len; len++) {
        struct cbx_str cut = { .p = set.p, .len = len };
        if (cbx_reload_next(&cut, &part)) {
            assert_true(len >= 32 + 3);
        }
    }
    memset(set.p, 'n', 16); /* a name without its end */
    struct cbx_str rest = cbx_buf_str(&set);
    assert_false(cbx_reload_next(&rest, &part));
    assert_int_not_equal(rest.len, 0);
}

static void a_set_over_its_bound_is_refused(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    struct cbx_err err;
    cbx_buf_init(&set, 40);
    const struct cbx_reload_part part = { .name = "a", .bytes = CBX_STR("0123456789abcdef") };
    assert_int_equal(cbx_reload_add(&set, &part, &err), CBX_ETOOBIG);
}

/* The bytes that the listener of a test received. */
static struct {
    char names[64];
    uint64_t first_number;
    int failure;
} taken;

static int take(void *context, const struct cbx_reload_part *part, uint64_t first_number,
                struct cbx_err *err)
{
    (void)context;
    size_t used = strlen(taken.names);
    snprintf(taken.names + used, sizeof(taken.names) - used, "%s=%.*s ", part->name,
             CBX_STR_ARG(part->bytes));
    taken.first_number = first_number;
    return taken.failure != 0 ? cbx_fail(err, taken.failure, "no") : 0;
}

static void a_process_gets_its_own_parts_and_confirms(void **state)
{
    (void)state;
    int pair[2];
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, 4096);
    add(&set, "policies", CBX_RELOAD_FRONT | CBX_RELOAD_EXECUTOR, CBX_STR("p"));
    add(&set, "tokens", CBX_RELOAD_FRONT, CBX_STR("t"));
    add(&set, "keys", CBX_RELOAD_EXECUTOR, CBX_STR("k"));
    assert_int_equal(cbx_wire_pair(pair, &err), 0);
    static struct cbx_reload_listener listener;
    listener = (struct cbx_reload_listener){ .fd = pair[1], .apply = take };
    assert_true(cbx_reload_listen(&listener));
    assert_false(cbx_reload_is_ready(pair[0]));
    cbx_reload_tell_ready(pair[1]); /* not read yet: it is no answer */
    assert_int_equal(cbx_reload_send(pair[0], CBX_RELOAD_FRONT, 7, cbx_buf_str(&set), 10000, &err),
                     0);
    assert_string_equal(taken.names, "policies=p tokens=t ");
    assert_int_equal(taken.first_number, 7);
    taken.names[0] = '\0';
    taken.failure = CBX_EPROTO;
    assert_int_equal(
        cbx_reload_send(pair[0], CBX_RELOAD_EXECUTOR, 8, cbx_buf_str(&set), 10000, &err),
        CBX_ESTATE);
    assert_string_equal(taken.names, "policies=p "); /* the adoption ended at the first failure */
    close(pair[0]);
}

static void a_process_that_is_gone_or_hangs_is_an_error(void **state)
{
    (void)state;
    int pair[2];
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_wire_pair(pair, &err), 0);
    assert_int_equal(cbx_reload_send(pair[0], CBX_RELOAD_FRONT, 1, CBX_STR(""), 20, &err),
                     CBX_ETIMEDOUT);
    close(pair[1]);
    assert_true(cbx_reload_send(pair[0], CBX_RELOAD_FRONT, 1, CBX_STR(""), 20, &err) < 0);
    close(pair[0]);
}

static void policies_come_back_the_same(void **state)
{
    (void)state;
    static const char *const names[] = { "default", "strict", "data-analysis" };
    struct cbx_policies before, after;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policies_load(names, 3, CBX_MODES_ENFORCED, &before, &err), 0);
    before.granted[1] = json_pack("{s:[s],s:[]}", "pass", "REGION", "secrets");
    struct cbx_buf bytes; /* borrowed by the parts that are read from it */
    cbx_buf_init(&bytes, CBX_RELOAD_BYTES_MAX);
    assert_int_equal(cbx_policies_write(&before, &bytes, &err), 0);
    assert_int_equal(cbx_policies_read(cbx_buf_str(&bytes), &after, &err), 0);
    assert_true(cbx_policies_equal(&before, &after));
    assert_null(after.granted[0]);
    assert_true(json_equal(after.granted[1], before.granted[1]));
    for (size_t i = 0; i < 3; i++) {
        CBX_AUTO_JSON a = cbx_policy_json(before.items[i]);
        CBX_AUTO_JSON b = cbx_policy_json(after.items[i]);
        assert_true(json_equal(a, b));
    }
    after.count = 2;
    assert_false(cbx_policies_equal(&before, &after));
    after.count = 3;
    struct cbx_policies none;
    assert_int_equal(cbx_policies_read(CBX_STR(""), &none, &err), CBX_EPROTO);
    assert_true(cbx_policies_read(cbx_str_sub(cbx_buf_str(&bytes), 0, bytes.len / 2), &none, &err) <
                0);
    cbx_policies_done(&after);
    cbx_policies_done(&before);
    cbx_buf_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_back_in_order_and_aligned),
        cmocka_unit_test(what_is_no_part_ends_the_set),
        cmocka_unit_test(a_set_over_its_bound_is_refused),
        cmocka_unit_test(a_process_gets_its_own_parts_and_confirms),
        cmocka_unit_test(a_process_that_is_gone_or_hangs_is_an_error),
        cmocka_unit_test(policies_come_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
