/* SPDX-License-Identifier: MIT
 * Approvals are used once, also by several threads, and none is forgotten before it expires. */
#include "gateway/front/service/approvals.h"
#include "policies/base/clock.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct cbx_service service;

static int set_up(void **state)
{
    (void)state;
    service = (struct cbx_service){ 0 };
    pthread_mutex_init(&service.lock, NULL);
    return 0;
}

static int use(const char *asked, int64_t ms)
{
    struct cbx_err err;
    return cbx_service_use_approval(&service, cbx_str_of(asked), cbx_clock_ms() + ms, &err);
}

static void each_is_used_once(void **state)
{
    (void)state;
    char one[CBX_ID_CHARS + 1], other[CBX_ID_CHARS + 1];
    cbx_id_make(one);
    cbx_id_make(other);
    assert_int_equal(use(one, 60000), 0);
    assert_int_equal(use(one, 60000), CBX_ESTATE);
    assert_int_equal(use(other, 60000), 0);
    assert_int_equal(use(one, 60000), CBX_ESTATE);
}

static void one_that_is_too_old_or_of_no_decision_is_not_used(void **state)
{
    (void)state;
    char one[CBX_ID_CHARS + 1];
    cbx_id_make(one);
    assert_int_equal(use(one, 0), CBX_ESTATE);
    assert_int_equal(use("", 60000), CBX_ESTATE);
    assert_int_equal(use(one, 60000), 0);
}

static void when_no_more_can_be_remembered_it_is_refused_until_one_expires(void **state)
{
    (void)state;
    char id[CBX_ID_CHARS + 1];
    for (int i = 0; i < CBX_SERVICE_APPROVALS; i++) {
        cbx_id_make(id);
        assert_int_equal(use(id, i == 0 ? 2000 : 60000), 0);
    }
    char late[CBX_ID_CHARS + 1];
    cbx_id_make(late);
    assert_int_equal(use(late, 60000), CBX_EBUSY);
    assert_int_equal(use(id, 60000), CBX_ESTATE);
    service.approvals[0].expires_ms = service.approvals[CBX_SERVICE_APPROVALS - 1].expires_ms =
        cbx_clock_ms();
    assert_int_equal(use(late, 60000), 0);
    assert_int_equal(use(late, 60000), CBX_ESTATE);
}

enum { THREADS = 8 };
static atomic_int succeeded;

static void *use_in_a_thread(void *id)
{
    if (use(id, 60000) == 0) {
        succeeded++;
    }
    return NULL;
}

static void of_several_threads_one_uses_it(void **state)
{
    (void)state;
    char id[CBX_ID_CHARS + 1];
    pthread_t threads[THREADS];
    cbx_id_make(id);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_in_a_thread, id), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(succeeded, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_is_used_once, set_up),
        cmocka_unit_test_setup(one_that_is_too_old_or_of_no_decision_is_not_used, set_up),
        cmocka_unit_test_setup(when_no_more_can_be_remembered_it_is_refused_until_one_expires,
                               set_up),
        cmocka_unit_test_setup(of_several_threads_one_uses_it, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
