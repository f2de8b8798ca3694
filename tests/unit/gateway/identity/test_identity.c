/* SPDX-License-Identifier: MIT
 * Callers whose tokens come from a set that several gateways share, and stops from the state
 * directory's own file. */
#include "gateway/identity/identity.h"

#include "gateway/identity/tokens.h"
#include "policies/base/time/clock.h"
#include "tests/unit/gateway/scratch.h"

/* `shared` is the folder in which the shared set is made, `own` the gateway's state directory. */
struct rig {
    struct scratch shared, own;
    struct cbx_identity *identity;
    char id[CBX_TOKEN_ID_CHARS + 1], text[CBX_TOKEN_CHARS + 1]; /* a token of the shared set */
    char own_text[CBX_TOKEN_CHARS + 1];                         /* one of the state directory */
};

static void read_shared(const struct rig *rig, struct cbx_buf *out)
{
    scratch_read(rig->shared.path, CBX_TOKENS_FILE, out);
}

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    const struct cbx_token token = { .principal = "ann" };
    char id[CBX_TOKEN_ID_CHARS + 1];
    CBX_AUTO_DONE(buf) text;
    assert_non_null(rig);
    scratch_make(&rig->shared);
    scratch_make(&rig->own);
    assert_int_equal(cbx_tokens_create(rig->shared.path, &token, rig->id, rig->text, NULL), 0);
    assert_int_equal(cbx_tokens_create(rig->own.path, &token, id, rig->own_text, NULL), 0);
    read_shared(rig, &text);
    const struct cbx_identity_config config = { .state_dir = rig->own.path,
                                                .tokens = cbx_buf_str(&text) };
    assert_int_equal(cbx_identity_new(&config, &rig->identity, NULL), 0);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    cbx_identity_free(rig->identity);
    scratch_remove(&rig->shared);
    scratch_remove(&rig->own);
    free(rig);
    return 0;
}

static int prove(struct rig *rig, const char *token, struct cbx_caller *out, struct cbx_err *err)
{
    char header[CBX_TOKEN_CHARS + 8];
    snprintf(header, sizeof(header), "Bearer %s", token);
    return cbx_identity_prove(rig->identity, cbx_str_of(header), out, err);
}

/* Returns the status of a request with this token; 200 = it is served. */
static int request(struct rig *rig, const char *token)
{
    char header[CBX_TOKEN_CHARS + 8];
    struct cbx_caller caller;
    struct cbx_auth_refusal refusal = { 0 };
    snprintf(header, sizeof(header), "Bearer %s", token);
    const struct cbx_credentials credentials = { .authorization = cbx_str_of(header) };
    bool served =
        cbx_identity_authenticate(rig->identity, &credentials, cbx_clock_ms(), &caller, &refusal);
    return served ? 200 : refusal.status;
}

/* Loads the shared set as a reload does, and takes it over. */
static int reload(struct rig *rig, struct cbx_str tokens, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    const struct cbx_identity_config config = { .state_dir = rig->own.path, .tokens = tokens };
    cbx_buf_init(&bytes, CBX_IDENTITY_BYTES_MAX);
    int failed = cbx_identity_load(&config, &bytes, err);
    if (failed) {
        return failed;
    }
    return cbx_identity_replace(rig->identity, cbx_buf_str(&bytes), err);
}

static int is_still_valid(struct rig *rig, int64_t asked_ms, struct cbx_err *err)
{
    char credential[64];
    snprintf(credential, sizeof(credential), "token %s", rig->id);
    const struct cbx_begun begun = { .principal = "ann",
                                     .credential = credential,
                                     .asked_ms = asked_ms };
    return cbx_identity_still(rig->identity, &begun, CBX_RIGHT_EXECUTE, err);
}

static void a_token_of_the_shared_set_alone_is_valid(void **state)
{
    struct rig *rig = *state;
    struct cbx_caller caller;
    struct cbx_err err = { 0 };
    assert_int_equal(prove(rig, rig->text, &caller, &err), 0);
    assert_string_equal(caller.principal, "ann");
    assert_int_equal(request(rig, rig->text), 200);
    assert_int_equal(prove(rig, rig->own_text, &caller, &err), CBX_EFORBIDDEN);
    assert_int_equal(request(rig, rig->own_text), 401);
}

static void a_revocation_in_the_shared_set_holds_after_a_reload(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    int64_t now_ms = cbx_time_ms();
    assert_int_equal(cbx_tokens_revoke(rig->shared.path, cbx_str_of(rig->id), NULL), 0);
    assert_int_equal(request(rig, rig->text), 200);
    assert_int_equal(is_still_valid(rig, now_ms, &err), 0);
    read_shared(rig, &text);
    assert_int_equal(reload(rig, cbx_buf_str(&text), &err), 0);
    assert_int_equal(request(rig, rig->text), 401);
    assert_int_equal(is_still_valid(rig, now_ms, &err), CBX_EFORBIDDEN);
    assert_non_null(strstr(err.text, "it was revoked"));
}

static void a_damaged_set_changes_nothing(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    assert_int_equal(reload(rig, CBX_STR("{}\n"), &err), CBX_EPROTO);
    assert_int_equal(request(rig, rig->text), 200);
}

static void an_empty_set_lets_nobody_in(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    assert_int_equal(reload(rig, CBX_STR(""), &err), 0);
    assert_int_equal(request(rig, rig->text), 401);
    assert_int_equal(request(rig, rig->own_text), 401);
}

static void without_a_shared_set_the_state_directory_has_the_tokens_again(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    assert_int_equal(reload(rig, (struct cbx_str){ 0 }, &err), 0);
    assert_int_equal(request(rig, rig->text), 401);
    assert_int_equal(request(rig, rig->own_text), 200);
}

/* In the state directory's own file, by the id of a shared token; and in the shared set. */
static void a_stop_ends_what_was_begun_before_it(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    struct cbx_stop stop = { 0 };
    CBX_AUTO_DONE(buf) text;
    snprintf(stop.id, sizeof(stop.id), "%s", rig->id);
    int64_t begun_ms = cbx_time_ms();
    assert_int_equal(cbx_identity_stop(rig->identity, rig->own.path, &stop, &err), 0);
    assert_int_equal(is_still_valid(rig, begun_ms, &err), CBX_EFORBIDDEN);
    assert_true(scratch_holds(rig->own.path, CBX_TOKENS_FILE, "\"stop\""));
    int64_t later_ms = cbx_time_ms() + 60000;
    assert_int_equal(is_still_valid(rig, later_ms, &err), 0);
    read_shared(rig, &text);
    cbx_buf_printf(&text, "{\"op\":\"stop\",\"time_ms\":%lld}\n", (long long)later_ms);
    assert_int_equal(reload(rig, cbx_buf_str(&text), &err), 0);
    assert_int_equal(is_still_valid(rig, later_ms, &err), CBX_EFORBIDDEN);
    assert_int_equal(is_still_valid(rig, later_ms + 1, &err), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_of_the_shared_set_alone_is_valid),
        TEST(a_revocation_in_the_shared_set_holds_after_a_reload),
        TEST(a_damaged_set_changes_nothing),
        TEST(an_empty_set_lets_nobody_in),
        TEST(without_a_shared_set_the_state_directory_has_the_tokens_again),
        TEST(a_stop_ends_what_was_begun_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
