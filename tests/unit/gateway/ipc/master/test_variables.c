/* SPDX-License-Identifier: MIT
 * Variables on their way to the executor. */
#include "gateway/ipc/master/variables.h"

#include "policies/base/auto.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

static void arrive_as_they_were_sent_and_cannot_be_changed(void **state)
{
    (void)state;
    const struct cbx_variable sent[] = {
        { .name = CBX_STR("REGION"), .value = CBX_STR("eu") },
        { .name = CBX_STR("EMPTY") },
        { .name = CBX_STR("KEY"), .file = CBX_STR("/f"), .value = CBX_STR("a\nb"), .secret = true },
    };
    CBX_AUTO_FD fd = cbx_variables_new();
    assert_true(fd > 2);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cbx_variables_add(fd, &sent[i], NULL), 0);
    }
    assert_int_equal(cbx_variables_seal(fd, NULL), 0);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    struct cbx_variables got;
    assert_int_equal(cbx_variables_read(fd, &got, NULL), 0);
    assert_int_equal(got.count, 3);
    assert_true(cbx_str_is(cbx_variables_find(&got, CBX_STR("KEY"), CBX_STR("/f"))->value, "a\nb"));
    assert_true(cbx_variables_find(&got, CBX_STR("KEY"), CBX_STR("/f"))->secret);
    assert_null(cbx_variables_find(&got, CBX_STR("KEY"), CBX_STR("")));
    assert_true(cbx_str_is(cbx_variables_find(&got, CBX_STR("REGION"), CBX_STR(""))->value, "eu"));
    cbx_variables_done(&got);
}

static void a_file_that_is_cut_is_refused(void **state)
{
    (void)state;
    const struct cbx_variable one = { .name = CBX_STR("KEY"), .value = CBX_STR("value") };
    struct cbx_variables got = { 0 };
    CBX_AUTO_FD fd = cbx_variables_new();
    assert_int_equal(cbx_variables_add(fd, &one, NULL), 0);
    for (int cut = 1; cut < 20; cut++) {
        off_t size = lseek(fd, 0, SEEK_END) - 1;
        assert_int_equal(ftruncate(fd, size), 0);
        assert_int_not_equal(cbx_variables_read(fd, &got, NULL), 0);
    }
}

static void no_file_has_no_variables(void **state)
{
    (void)state;
    struct cbx_variables got;
    assert_int_equal(cbx_variables_read(0, &got, NULL), 0);
    assert_int_equal(got.count, 0);
    cbx_variables_done(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrive_as_they_were_sent_and_cannot_be_changed),
        cmocka_unit_test(a_file_that_is_cut_is_refused),
        cmocka_unit_test(no_file_has_no_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
