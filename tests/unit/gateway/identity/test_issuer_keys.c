/* SPDX-License-Identifier: MIT
 * Fetched keys: the times of requests, the handling of responses, and waiting requests. The test
 * has the other end of the channel, and its own time. */
#include "gateway/identity/issuer_keys.h"
#include "policies/base/log.h"
#include "policies/base/text/base64.h"
#include "tests/unit/gateway/scratch.h"

#include <pthread.h>

enum { SECOND_MS = 1000, DAY_MS = 24 * 3600 * 1000, REFRESH_MS = 300 * SECOND_MS, ISSUERS = 3 };

/* Sets of one key each; any 32 bytes are a public key of Ed25519. */
#define SET(kid)                                                                                   \
    "{\"keys\": [{\"kty\": \"OKP\", \"crv\": \"Ed25519\", \"kid\": \"" kid                         \
    "\", \"x\": \"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}"

static struct cbx_issuer_keys *keys;
static struct cbx_issuer issuers[ISSUERS];
static int ends[2];
static int64_t now;

/* The first `count` of the issuers. */
static void configure(size_t count)
{
    cbx_issuer_keys_configure(keys, issuers, count);
}

static int begin_test(void **state)
{
    (void)state;
    cbx_log_set(CBX_LOG_ERROR, false);
    now = 5 * (int64_t)DAY_MS;
    keys = cbx_issuer_keys_new();
    for (int i = 0; i < ISSUERS; i++) {
        issuers[i] = (struct cbx_issuer){ .refresh_s = REFRESH_MS / SECOND_MS };
        snprintf(issuers[i].name, sizeof(issuers[i].name), "issuer%d", i);
        memset(issuers[i].source.bytes, i + 1, sizeof(issuers[i].source.bytes));
    }
    configure(1);
    return cbx_key_channel(ends, NULL);
}

static int end_test(void **state)
{
    (void)state;
    cbx_issuer_keys_free(keys);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int64_t turn(void)
{
    return cbx_issuer_keys_turn(keys, ends[0], now);
}

/* The next request, which must be there, of an issuer. */
static struct cbx_key_request asked(int issuer)
{
    struct cbx_key_request request = { 0 };
    turn();
    assert_true(cbx_key_request_take(ends[1], &request));
    assert_true(cbx_sha256_equal(&request.source, &issuers[issuer].source));
    return request;
}

static void not_asked(void)
{
    struct cbx_key_request request;
    turn();
    assert_false(cbx_key_request_take(ends[1], &request));
}

static void answer(const struct cbx_key_request *request, enum cbx_key_event event, const char *set,
                   int64_t age_ms)
{
    struct cbx_key_answer head = {
        .event = event, .number = request->number, .source = request->source, .age_ms = age_ms
    };
    snprintf(head.reason, sizeof(head.reason), "%s", event == CBX_KEYS_FAILED ? "it is away" : "");
    assert_true(cbx_key_answer_send(ends[1], head, cbx_str_of(set)));
    turn();
}

static void fetch(int issuer, const char *set)
{
    struct cbx_key_request request = asked(issuer);
    answer(&request, CBX_KEYS_FETCHED, set, 0);
}

/* A token that names this key, without a valid signature. */
static void make_token(const char *kid, struct cbx_buf *out)
{
    char header[64];
    snprintf(header, sizeof(header), "{\"alg\":\"EdDSA\",\"kid\":\"%s\"}", kid);
    cbx_buf_init(out, 1000);
    cbx_base64url_encode(cbx_str_of(header), out);
    cbx_buf_add_cstr(out, ".e30.AAAA");
}

/* Is the key with this id in use? */
static bool has(int issuer, const char *kid)
{
    CBX_AUTO(jwks) set = NULL;
    CBX_AUTO_DONE(buf) token;
    make_token(kid, &token);
    return cbx_issuer_keys_take(keys, &issuers[issuer].source, now, &set, NULL) == 0 &&
           !cbx_jwt_lacks_key(cbx_buf_str(&token), set);
}

static uint32_t retry_of(int issuer)
{
    CBX_AUTO(jwks) set = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_issuer_keys_take(keys, &issuers[issuer].source, now, &set, &err),
                     CBX_EBUSY);
    assert_null(set);
    return err.retry_s;
}

static int renew(int64_t wait_ms)
{
    return cbx_issuer_keys_renew(keys, &issuers[0].source, now, wait_ms, NULL);
}

/* --- when ------------------------------------------------------------------------------------- */

static void asks_at_the_start_and_then_after_each_interval(void **state)
{
    (void)state;
    struct cbx_key_request first = asked(0);
    assert_int_equal(first.wants_last, 1);
    assert_int_equal(retry_of(0), 1);
    not_asked();
    answer(&first, CBX_KEYS_FETCHED, SET("one"), 0);
    assert_true(has(0, "one"));
    now += REFRESH_MS - 1;
    not_asked();
    assert_int_equal(turn(), 1);
    now++;
    struct cbx_key_request second = asked(0);
    assert_int_not_equal(second.number, first.number);
    assert_int_equal(second.wants_last, 0);
    answer(&second, CBX_KEYS_FETCHED, SET("two"), 0);
    assert_true(has(0, "two"));
    assert_false(has(0, "one"));
}

static void asks_again_soon_after_a_failure_and_then_less_often(void **state)
{
    (void)state;
    static const int pauses_s[] = { 1, 2, 4, 8, 16, 30, 30 };
    for (size_t i = 0; i < sizeof(pauses_s) / sizeof(pauses_s[0]); i++) {
        struct cbx_key_request request = asked(0);
        answer(&request, CBX_KEYS_FAILED, "", 0);
        assert_int_equal(retry_of(0), pauses_s[i]);
        now += pauses_s[i] * SECOND_MS - 1;
        not_asked();
        now++;
    }
    fetch(0, SET("one"));
    now += REFRESH_MS;
    struct cbx_key_request request = asked(0);
    answer(&request, CBX_KEYS_FAILED, "", 0);
    now += SECOND_MS;
    asked(0);
}

static void a_request_that_is_not_answered_fails(void **state)
{
    (void)state;
    struct cbx_key_request late = asked(0);
    now += CBX_KEYS_ANSWER_MS;
    not_asked();
    answer(&late, CBX_KEYS_FETCHED, SET("one"), 0);
    assert_false(has(0, "one"));
    now += SECOND_MS;
    fetch(0, SET("one"));
    assert_true(has(0, "one"));
}

/* --- keys in use ------------------------------------------------------------------------------ */

static void keys_in_use_stay_for_a_day_when_fetching_fails(void **state)
{
    (void)state;
    fetch(0, SET("one"));
    int64_t fetched = now;
    static const char *const bad[] = { "", "<html>", "{}", "{\"keys\": []}",
                                       "{\"keys\": [{\"kty\": \"oct\", \"k\": \"AAAA\"}]}" };
    now += REFRESH_MS;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fetch(0, bad[i]);
        assert_true(has(0, "one"));
        now += CBX_KEYS_RETRY_MAX_MS;
    }
    now = fetched + DAY_MS;
    struct cbx_key_request request = asked(0);
    answer(&request, CBX_KEYS_FAILED, "", 0);
    assert_true(has(0, "one"));
    now++;
    assert_true(retry_of(0) >= 1);
    now += CBX_KEYS_RETRY_MAX_MS;
    fetch(0, SET("two"));
    assert_true(has(0, "two"));
}

static void a_new_front_uses_the_keys_of_the_last_fetch_until_they_are_a_day_old(void **state)
{
    (void)state;
    struct cbx_key_request request = asked(0);
    answer(&request, CBX_KEYS_FAILED, SET("one"), DAY_MS - 5 * SECOND_MS);
    assert_true(has(0, "one"));
    now += 5 * SECOND_MS;
    assert_true(has(0, "one"));
    now++;
    assert_false(has(0, "one"));
    /* Older keys do not replace the keys in use. */
    fetch(0, SET("two"));
    now += REFRESH_MS;
    request = asked(0);
    answer(&request, CBX_KEYS_FAILED, SET("one"), 0);
    assert_true(has(0, "two"));
}

static void an_answer_to_another_request_changes_nothing(void **state)
{
    (void)state;
    configure(2);
    struct cbx_key_request first = asked(0), other = asked(1), wrong = first;
    wrong.number++;
    answer(&wrong, CBX_KEYS_FETCHED, SET("one"), 0);
    wrong = first;
    wrong.number = 0;
    answer(&wrong, CBX_KEYS_FETCHED, SET("one"), 0);
    wrong = first;
    wrong.source = other.source;
    answer(&wrong, CBX_KEYS_FETCHED, SET("one"), 0);
    assert_false(has(0, "one"));
    assert_false(has(1, "one"));
    answer(&first, CBX_KEYS_FETCHED, SET("one"), 0);
    assert_true(has(0, "one"));
    answer(&first, CBX_KEYS_FETCHED, SET("two"), 0); /* twice */
    assert_true(has(0, "one"));
}

static void a_reload_keeps_the_keys_of_what_stays(void **state)
{
    (void)state;
    configure(2);
    fetch(0, SET("one"));
    fetch(1, SET("one"));
    struct cbx_issuer first = issuers[0];
    issuers[0] = issuers[1];
    issuers[1] = issuers[2];
    snprintf(issuers[0].name, sizeof(issuers[0].name), "renamed");
    issuers[0].refresh_s = 60;
    configure(2);
    assert_true(has(0, "one"));
    fetch(1, SET("two"));
    assert_true(has(1, "two"));
    issuers[2] = first;
    assert_int_equal(retry_of(2), 1);
    now += 60 * SECOND_MS;
    asked(0);
    issuers[0].refresh_s = 0; /* it has a file now */
    configure(1);
    assert_false(has(0, "one"));
    now += REFRESH_MS;
    not_asked();
    char name[33];
    int64_t age;
    assert_false(cbx_issuer_keys_age(keys, 0, now, name, &age));
}

static void tells_the_age_of_the_keys(void **state)
{
    (void)state;
    char name[33];
    int64_t age = 0;
    configure(2);
    fetch(0, SET("one"));
    now += 7;
    assert_true(cbx_issuer_keys_age(keys, 0, now, name, &age));
    assert_string_equal(name, "issuer0");
    assert_int_equal(age, 7);
    assert_true(cbx_issuer_keys_age(keys, 1, now, name, &age));
    assert_int_equal(age, -1);
    assert_false(cbx_issuer_keys_age(keys, 2, now, name, &age));
}

/* --- a process that is killed ----------------------------------------------------------------- */

static void tell_started(void)
{
    assert_true(cbx_key_answer_send(ends[1], (struct cbx_key_answer){ .event = CBX_KEYS_STARTED },
                                    CBX_STR("")));
    turn();
}

static void a_request_is_sent_to_one_more_process_and_not_to_a_third(void **state)
{
    (void)state;
    struct cbx_key_request first = asked(0), again;
    tell_started();
    again = asked(0);
    assert_int_equal(again.number, first.number);
    tell_started();
    not_asked();
    assert_int_equal(retry_of(0), 1);
    now += SECOND_MS;
    fetch(0, SET("one"));
    tell_started();
    not_asked();
    assert_true(has(0, "one"));
}

/* --- keys that are not known ------------------------------------------------------------------ */

static void a_key_that_is_not_known_has_them_fetched_once_in_thirty_seconds(void **state)
{
    (void)state;
    fetch(0, SET("one"));
    not_asked();
    assert_int_equal(renew(0), 0);
    fetch(0, SET("one"));
    assert_int_equal(renew(DEADLINE_MS), 0); /* waits for nothing */
    now += CBX_KEYS_RENEW_MS - 1;
    assert_int_equal(renew(DEADLINE_MS), 0);
    not_asked();
    now++;
    assert_int_equal(renew(0), 0);
    fetch(0, SET("two"));
    assert_true(has(0, "two"));
    struct cbx_sha256 unknown = { { 99 } };
    assert_int_equal(cbx_issuer_keys_renew(keys, &unknown, now, DEADLINE_MS, NULL), 0);
}

static void *wait_for_keys(void *context)
{
    *(bool *)context = renew(DEADLINE_MS) == 0 && has(0, "two");
    return NULL;
}

static void let_wait(pthread_t *thread, bool *saw)
{
    *saw = false;
    assert_int_equal(pthread_create(thread, NULL, wait_for_keys, saw), 0);
}

static struct cbx_key_request await_request(void)
{
    struct cbx_key_request request = { 0 };
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (turn() >= 0 && !cbx_key_request_take(ends[1], &request)) {
        assert_true(cbx_clock_ms() < end);
        sched_yield();
    }
    return request;
}

static void the_request_waits_for_the_answer_and_sees_the_new_keys(void **state)
{
    (void)state;
    pthread_t thread;
    bool saw;
    fetch(0, SET("one"));
    let_wait(&thread, &saw);
    struct cbx_key_request request = await_request();
    answer(&request, CBX_KEYS_FETCHED, SET("two"), 0);
    pthread_join(thread, NULL);
    assert_true(saw);
}

static void
those_that_come_meanwhile_wait_for_the_same_answer_and_not_too_many_of_them(void **state)
{
    (void)state;
    pthread_t threads[CBX_KEYS_WAITERS_MAX];
    bool saw[CBX_KEYS_WAITERS_MAX];
    struct cbx_err err = { 0 };
    fetch(0, SET("one"));
    for (int i = 0; i < CBX_KEYS_WAITERS_MAX; i++) {
        let_wait(&threads[i], &saw[i]);
    }
    struct cbx_key_request request = await_request();
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (cbx_issuer_keys_renew(keys, &issuers[0].source, now, 0, &err) != CBX_EBUSY) {
        assert_true(cbx_clock_ms() < end); /* until all threads wait */
        poll(NULL, 0, 2);                  /* lets them have the lock */
    }
    assert_int_equal(err.retry_s, 1);
    not_asked();
    answer(&request, CBX_KEYS_FETCHED, SET("two"), 0);
    for (int i = 0; i < CBX_KEYS_WAITERS_MAX; i++) {
        pthread_join(threads[i], NULL);
        assert_true(saw[i]);
    }
    assert_int_equal(renew(0), 0);
}

static void whoever_waits_goes_on_when_the_issuer_is_removed(void **state)
{
    (void)state;
    pthread_t thread;
    bool saw;
    fetch(0, SET("one"));
    let_wait(&thread, &saw);
    await_request();
    configure(0);
    pthread_join(thread, NULL);
    assert_false(saw);
}

/* --- replacing -------------------------------------------------------------------------------- */

static atomic_bool ends_now;

/* Waits like a handler. */
static void *use_keys(void *context)
{
    int64_t *used = context;
    CBX_AUTO_DONE(buf) token;
    make_token("none", &token);
    while (!ends_now) {
        CBX_AUTO(jwks) set = NULL;
        assert_int_equal(cbx_issuer_keys_take(keys, &issuers[0].source, 0, &set, NULL), 0);
        assert_true(cbx_jwt_lacks_key(cbx_buf_str(&token), set));
        (*used)++;
    }
    return NULL;
}

static void a_set_is_used_while_it_is_replaced(void **state)
{
    (void)state;
    enum { USERS = 4, TIMES = 300 };
    pthread_t threads[USERS];
    int64_t used[USERS] = { 0 };
    CBX_AUTO(jwks) held = NULL;
    CBX_AUTO_DONE(buf) token;
    make_token("one", &token);
    fetch(0, SET("one"));
    assert_int_equal(cbx_issuer_keys_take(keys, &issuers[0].source, now, &held, NULL), 0);
    ends_now = false;
    for (int i = 0; i < USERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_keys, &used[i]), 0);
    }
    for (int i = 0; i < TIMES; i++) {
        now += REFRESH_MS;
        fetch(0, i % 2 == 0 ? SET("two") : SET("three"));
        configure(i % 3 == 0 ? 2 : 1);
        struct cbx_key_request request;
        turn();
        cbx_key_request_take(ends[1], &request); /* of the second issuer */
    }
    ends_now = true;
    for (int i = 0; i < USERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_false(cbx_jwt_lacks_key(cbx_buf_str(&token), held)); /* unchanged */
    assert_true(has(0, "three"));
}

static void a_thread_of_its_own_does_all_that(void **state)
{
    (void)state;
    struct cbx_key_request request = { 0 };
    assert_int_equal(cbx_issuer_keys_start(keys, ends[0], NULL), 0);
    struct pollfd ready = { .fd = ends[1], .events = POLLIN };
    now = cbx_clock_ms();
    assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
    assert_true(cbx_key_request_take(ends[1], &request));
    assert_true(cbx_key_answer_send(ends[1],
                                    (struct cbx_key_answer){ .event = CBX_KEYS_FETCHED,
                                                             .number = request.number,
                                                             .source = request.source },
                                    CBX_STR(SET("one"))));
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (!has(0, "one")) {
        assert_true(cbx_clock_ms() < end);
        sched_yield();
    }
    configure(2); /* wakes it */
    assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(asks_at_the_start_and_then_after_each_interval),
        TEST(asks_again_soon_after_a_failure_and_then_less_often),
        TEST(a_request_that_is_not_answered_fails),
        TEST(keys_in_use_stay_for_a_day_when_fetching_fails),
        TEST(a_new_front_uses_the_keys_of_the_last_fetch_until_they_are_a_day_old),
        TEST(an_answer_to_another_request_changes_nothing),
        TEST(a_reload_keeps_the_keys_of_what_stays),
        TEST(tells_the_age_of_the_keys),
        TEST(a_request_is_sent_to_one_more_process_and_not_to_a_third),
        TEST(a_key_that_is_not_known_has_them_fetched_once_in_thirty_seconds),
        TEST(the_request_waits_for_the_answer_and_sees_the_new_keys),
        TEST(those_that_come_meanwhile_wait_for_the_same_answer_and_not_too_many_of_them),
        TEST(whoever_waits_goes_on_when_the_issuer_is_removed),
        TEST(a_set_is_used_while_it_is_replaced),
        TEST(a_thread_of_its_own_does_all_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
