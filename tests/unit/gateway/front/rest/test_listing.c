/* SPDX-License-Identifier: MIT
 * Listings in pages: sessions, and the executions of a session. */
#include "tests/unit/gateway/front/rest/rig.h"

enum { ITEMS_MAX = 16 };

/* The items of consecutive pages, in their order. */
struct pages {
    char ids[ITEMS_MAX][40];
    size_t count;
    char next[600]; /* empty after the last page */
};

static void read_page(struct rig *rig, const char *path, const char *name, struct pages *seen)
{
    char target[800];
    size_t i;
    const json_t *item;
    snprintf(target, sizeof(target), "%s%s%s", path, seen->next[0] != '\0' ? "&cursor=" : "",
             seen->next);
    const json_t *answer = await_answer(rig_get(rig, target), 200);
    json_array_foreach(json_object_get(answer, name), i, item)
    {
        const char *id = text_at(item, strcmp(name, "sessions") == 0 ? "session_id" : "id");
        assert_true(seen->count < ITEMS_MAX);
        snprintf(seen->ids[seen->count++], sizeof(seen->ids[0]), "%s", id);
    }
    snprintf(seen->next, sizeof(seen->next), "%s", text_at(answer, "next"));
}

static void open_sessions(struct rig *rig, char ids[][37], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        open_session(rig, "{}", ids[i]);
    }
}

static void store_executions(struct rig *rig, size_t from, size_t to)
{
    CBX_AUTO_JSON request = json_object();
    for (size_t i = from; i < to; i++) {
        char id[40];
        snprintf(id, sizeof(id), "e%zu", i);
        /* pairs of the same time: the second orders by its row */
        char created_at[64];
        snprintf(created_at, sizeof(created_at), "2026-11-22T10:00:00.%06zu", i / 2);
        struct cbx_stored_execution e = { .principal = CBX_CALLER_LOCAL,
                                          .id = id,
                                          .session = "s1",
                                          .created_at = created_at,
                                          .decision = "d",
                                          .language = "ipython",
                                          .code = "1",
                                          .request = request };
        assert_int_equal(cbx_store_add_execution(rig->store, &e, NULL), 0);
    }
}

static void a_list_that_fits_into_a_page_has_no_next(void **state)
{
    struct rig *rig = *state;
    char ids[3][37];
    open_sessions(rig, ids, 3);
    const json_t *all = await_answer(rig_get(rig, "/v1/sessions"), 200);
    assert_int_equal(json_object_size(all), 1);
    assert_int_equal(json_array_size(json_object_get(all, "sessions")), 3);
    assert_true(json_equal(await_answer(rig_get(rig, "/v1/sessions?limit=3"), 200), all));
    assert_json(await_answer(rig_get(rig, "/v1/sessions/none/history"), 200), "{'executions':[]}");
}

static void pages_of_sessions_follow_each_other(void **state)
{
    struct rig *rig = *state;
    char ids[5][37];
    struct pages seen = { 0 };
    open_sessions(rig, ids, 5);
    for (size_t pages = 1; pages <= 3; pages++) {
        read_page(rig, "/v1/sessions?limit=2", "sessions", &seen);
        assert_int_equal(seen.count, pages < 3 ? 2 * pages : 5);
        assert_int_equal(seen.next[0] == '\0', pages == 3);
    }
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(seen.ids[i], ids[i]);
    }
}

static void sessions_that_come_and_go_between_pages_hide_and_repeat_no_other(void **state)
{
    struct rig *rig = *state;
    char ids[5][37], path[256];
    struct pages seen = { 0 };
    open_sessions(rig, ids, 4);
    read_page(rig, "/v1/sessions?limit=2", "sessions", &seen);
    for (size_t i = 0; i < 2; i++) { /* the first page, with the item that the cursor stands for */
        snprintf(path, sizeof(path), "/v1/sessions/%s", ids[i]);
        await_answer(rig_json(rig, "DELETE", path, ""), 200);
    }
    open_session(rig, "{}", ids[4]);
    read_page(rig, "/v1/sessions?limit=2", "sessions", &seen);
    read_page(rig, "/v1/sessions?limit=2", "sessions", &seen);
    assert_int_equal(seen.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(seen.ids[i], ids[i]);
    }
    assert_string_equal(seen.next, "");
}

static void a_page_is_full_although_sessions_were_closed_because_they_were_idle(void **state)
{
    struct rig *rig = *state;
    char ids[6][37];
    struct pages seen = { 0 };
    open_sessions(rig, ids, 6);
    pthread_mutex_lock(&rig->executor.lock);
    for (size_t i = 1; i < 5; i++) {
        find_open(&rig->executor, ids[i])[0] = '\0';
    }
    pthread_mutex_unlock(&rig->executor.lock);
    read_page(rig, "/v1/sessions?limit=1", "sessions", &seen);
    assert_string_equal(seen.ids[0], ids[0]);
    assert_string_not_equal(seen.next, "");
    read_page(rig, "/v1/sessions?limit=1", "sessions", &seen);
    assert_string_equal(seen.ids[1], ids[5]);
    assert_string_equal(seen.next, "");
}

static void pages_of_executions_follow_each_other_also_at_equal_times(void **state)
{
    struct rig *rig = *state;
    struct pages seen = { 0 };
    store_executions(rig, 0, 7);
    read_page(rig, "/v1/sessions/s1/history?limit=3", "executions", &seen);
    store_executions(rig, 7, 8);
    read_page(rig, "/v1/sessions/s1/history?limit=3", "executions", &seen);
    read_page(rig, "/v1/sessions/s1/history?limit=3", "executions", &seen);
    assert_string_equal(seen.next, "");
    assert_int_equal(seen.count, 8);
    for (size_t i = 0; i < 8; i++) {
        char id[40];
        snprintf(id, sizeof(id), "e%zu", i);
        assert_string_equal(seen.ids[i], id);
    }
}

static void an_execution_has_the_same_members_as_without_pages(void **state)
{
    struct rig *rig = *state;
    store_executions(rig, 0, 1);
    assert_json(await_answer(rig_get(rig, "/v1/sessions/s1/history"), 200),
                "{'executions':[{'id':'e0','status':'running','completed_at':null,'code':'1',"
                "'created_at':'2026-11-22T10:00:00.000000','decision':'d','language':'ipython'}]}");
}

static void a_page_has_100_items_unless_the_client_asks_for_more(void **state)
{
    struct rig *rig = *state;
    store_executions(rig, 0, 101);
    const json_t *answer = await_answer(rig_get(rig, "/v1/sessions/s1/history"), 200);
    assert_int_equal(json_array_size(json_object_get(answer, "executions")), 100);
    assert_string_not_equal(text_at(answer, "next"), "");
    answer = await_answer(rig_get(rig, "/v1/sessions/s1/history?limit=1000"), 200);
    assert_int_equal(json_array_size(json_object_get(answer, "executions")), 101);
    assert_string_equal(text_at(answer, "next"), "");
}

static void a_query_that_a_listing_does_not_take_is_refused(void **state)
{
    struct rig *rig = *state;
    static const char *const rows[][2] = {
        { "limit=0", "'limit' is 0, allowed 1..1000" },
        { "limit=1001", "'limit' is 1001, allowed 1..1000" },
        { "limit=2&limit=2", "'limit' is given twice" },
        { "page=2", "unknown field 'page', allowed are: limit, cursor" },
        { "cursor=", "'cursor' is 0 bytes" },
        { "cursor=00", "'cursor' is '00', allowed is the 'next' of an answer with" },
        { "cursor=2", "'cursor' is '2', allowed is" },
        { "cursor=zz", "'cursor' is 'zz', allowed is" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[160];
        snprintf(path, sizeof(path), "/v1/sessions?%s", rows[i][0]);
        assert_problem(rig_get(rig, path), 400, rows[i][1]);
        snprintf(path, sizeof(path), "/v1/sessions/s1/history?%s", rows[i][0]);
        assert_problem(rig_get(rig, path), 400, rows[i][1]);
    }
}

static void a_cursor_of_another_listing_is_refused(void **state)
{
    struct rig *rig = *state;
    struct pages seen = { 0 };
    char path[800];
    store_executions(rig, 0, 2);
    read_page(rig, "/v1/sessions/s1/history?limit=1", "executions", &seen);
    snprintf(path, sizeof(path), "/v1/sessions?cursor=%s", seen.next);
    assert_problem(rig_get(rig, path), 400, "allowed is the 'next' of an answer with sessions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_list_that_fits_into_a_page_has_no_next),
        RIG_TEST(pages_of_sessions_follow_each_other),
        RIG_TEST(sessions_that_come_and_go_between_pages_hide_and_repeat_no_other),
        RIG_TEST(a_page_is_full_although_sessions_were_closed_because_they_were_idle),
        RIG_TEST(pages_of_executions_follow_each_other_also_at_equal_times),
        RIG_TEST(an_execution_has_the_same_members_as_without_pages),
        RIG_TEST(a_page_has_100_items_unless_the_client_asks_for_more),
        RIG_TEST(a_query_that_a_listing_does_not_take_is_refused),
        RIG_TEST(a_cursor_of_another_listing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
