/* SPDX-License-Identifier: MIT
 * The intrusive queue. */
#include "policies/base/list.h"
#include "tests/unit/unit.h"

struct job {
    int number;
    struct cbx_link link; /* not first: the owner is found by its offset */
};

static int pop(struct cbx_queue *queue)
{
    struct job *job = CBX_LINK_OWNER(cbx_queue_pop(queue), struct job, link);
    return job != NULL ? job->number : -1;
}

static void gives_jobs_back_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    struct cbx_queue queue = { 0 };
    struct job jobs[4] = { { .number = 0 }, { .number = 1 }, { .number = 2 }, { .number = 3 } };
    cbx_queue_push(&queue, &jobs[0].link);
    cbx_queue_push(&queue, &jobs[1].link);
    assert_int_equal(pop(&queue), 0);
    cbx_queue_push(&queue, &jobs[2].link);
    assert_int_equal(queue.count, 2);
    assert_int_equal(pop(&queue), 1);
    assert_int_equal(pop(&queue), 2);
    assert_int_equal(pop(&queue), -1);
    assert_int_equal(queue.count, 0);
}

static void an_emptied_queue_takes_jobs_again(void **state)
{
    (void)state;
    struct cbx_queue queue = { 0 };
    struct job a = { .number = 1 }, b = { .number = 2 };
    cbx_queue_push(&queue, &a.link);
    assert_true(cbx_queue_remove(&queue, &a.link));
    assert_null(queue.first);
    assert_null(queue.last);
    cbx_queue_push(&queue, &b.link);
    cbx_queue_push(&queue, &a.link);
    assert_int_equal(pop(&queue), 2);
    assert_int_equal(pop(&queue), 1);
}

static void removes_a_job_from_each_position(void **state)
{
    (void)state;
    for (int removed = 0; removed < 3; removed++) {
        struct cbx_queue queue = { 0 };
        struct job jobs[4] = { { .number = 0 }, { .number = 1 }, { .number = 2 }, { .number = 3 } };
        for (int i = 0; i < 3; i++) {
            cbx_queue_push(&queue, &jobs[i].link);
        }
        assert_true(cbx_queue_remove(&queue, &jobs[removed].link));
        assert_false(cbx_queue_remove(&queue, &jobs[removed].link));
        cbx_queue_push(&queue, &jobs[3].link);
        for (int i = 0; i < 4; i++) {
            assert_true(i == removed || pop(&queue) == i);
        }
        assert_int_equal(queue.count, 0);
    }
}

struct element {
    int number;
    struct element *after;
};

static void elements_of_any_struct_are_appended_and_removed(void **state)
{
    (void)state;
    struct element a = { .number = 1 }, b = { .number = 2 }, c = { .number = 3 }, *first = NULL;
    const struct element *nothing = NULL;
    assert_false(CBX_LIST_REMOVE(first, &a, after));
    CBX_LIST_APPEND(first, &a, after);
    CBX_LIST_APPEND(first, &b, after);
    CBX_LIST_APPEND(first, &c, after);
    assert_ptr_equal(first->after->after, &c);
    assert_true(CBX_LIST_REMOVE(first, &b, after));
    assert_false(CBX_LIST_REMOVE(first, &b, after));
    assert_false(CBX_LIST_REMOVE(first, nothing, after));
    assert_ptr_equal(first->after, &c);
    assert_true(CBX_LIST_REMOVE(first, &a, after));
    assert_true(CBX_LIST_REMOVE(first, &c, after));
    assert_null(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_of_any_struct_are_appended_and_removed),
        cmocka_unit_test(gives_jobs_back_in_the_order_in_which_they_came),
        cmocka_unit_test(an_emptied_queue_takes_jobs_again),
        cmocka_unit_test(removes_a_job_from_each_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
