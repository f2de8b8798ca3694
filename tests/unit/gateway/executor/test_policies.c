/* SPDX-License-Identifier: MIT
 * A decision belongs to the set of policies that its worker had. */
#include "gateway/executor/policies.h"

#include "gateway/executor/executor_internal.h"
#include "tests/unit/gateway/scratch.h"

#include <stdlib.h>

static void each_worker_has_its_set(void **state)
{
    (void)state;
    static const char *const first[] = { "default", "strict" }, *const second[] = { "strict" };
    static struct cbx_executor e;
    static struct cbx_policies before, after;
    struct scratch scratch;
    struct cbx_err err = { 0 };
    scratch_make(&scratch);
    chmod(scratch.path, 0700);
    e.config.state_dir = scratch.path;
    pthread_mutex_init(&e.lock, NULL);
    assert_int_equal(cbx_policies_load(first, 2, CBX_MODES_ENFORCED, &before, &err), 0);
    assert_int_equal(cbx_policies_load(second, 1, CBX_MODES_ENFORCED, &after, &err), 0);
    cbx_policy_history_init(&e.policies, &before);
    assert_ptr_equal(cbx_policy_history_of(&e.policies, 5), &before);

    struct cbx_buf bytes;
    cbx_buf_init(&bytes, CBX_RELOAD_BYTES_MAX);
    assert_int_equal(cbx_policies_write(&after, &bytes, &err), 0);
    const struct cbx_reload_part other = { .name = "tokens" };
    assert_int_equal(cbx_executor_reload(&e, &other, 100, &err), 0);
    assert_ptr_equal(cbx_policy_history_last(&e.policies), &before);
    const struct cbx_reload_part part = { .name = "policies", .bytes = cbx_buf_str(&bytes) };
    assert_int_equal(cbx_executor_reload(&e, &part, 100, &err), 0);

    assert_ptr_equal(cbx_policy_history_of(&e.policies, 99), &before);
    const struct cbx_policies *now = cbx_policy_history_of(&e.policies, 100);
    assert_ptr_equal(now, cbx_policy_history_last(&e.policies));
    assert_int_equal(now->count, 1);
    const struct cbx_sha256 *old = &before.items[0]->sha256, *kept = &before.items[1]->sha256;
    assert_ptr_equal(cbx_policy_history_find(&e.policies, CBX_STR("default"), old),
                     before.items[0]);
    assert_ptr_equal(cbx_policy_history_find(&e.policies, CBX_STR("strict"), kept), now->items[0]);
    assert_null(cbx_policy_history_find(&e.policies, CBX_STR("default"), kept));

    const struct cbx_reload_part bad = { .name = "policies", .bytes = CBX_STR("x") };
    assert_true(cbx_executor_reload(&e, &bad, 200, &err) < 0);
    assert_ptr_equal(cbx_policy_history_last(&e.policies), now);
    cbx_audit_free(e.audit);
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_worker_has_its_set) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
