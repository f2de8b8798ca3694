/* SPDX-License-Identifier: MIT
 * The requests of a caller besides its program. */
#include "gateway/ipc/seal/asked.h"
#include "gateway/ipc/seal/subject.h"
#include "policies/mounts.h"
#include "tests/unit/unit.h"

#include <string.h>

static void fill(struct cbx_asked *asked)
{
    *asked = cbx_asked_nothing;
    asked->arguments = json_pack("[s,s]", "-n", "3");
    asked->mounts = json_pack("[s]", "/srv:/data:ro");
    asked->environment = json_pack("{s:s}", "STAGE", "hunter2");
    cbx_asked_set_packages(asked, CBX_STR("alpha 1.0 sha256:00\n"));
    asked->limits.wall_ms = 1500;
    asked->limits.isolation = CBX_ISOLATION_GVISOR;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    CBX_AUTO_DONE(asked) asked;
    CBX_AUTO_DONE(asked) again = cbx_asked_nothing;
    CBX_AUTO_JSON json = json_pack("{s:s}", "policy", "strict");
    CBX_AUTO_JSON second = json_pack("{s:s}", "policy", "strict");
    fill(&asked);
    cbx_asked_write(&asked, json);
    assert_int_equal(cbx_asked_read(json, &again, NULL), 0);
    cbx_asked_write(&again, second);
    assert_true(json_equal(json, second));
    assert_memory_equal(&again.limits, &asked.limits, sizeof(asked.limits));
    assert_true(cbx_str_equal(cbx_asked_packages(&again), cbx_asked_packages(&asked)));
}

static void nothing_writes_nothing(void **state)
{
    (void)state;
    CBX_AUTO_JSON json = json_object();
    cbx_asked_write(&cbx_asked_nothing, json);
    assert_int_equal(json_object_size(json), 0);
    assert_int_equal(cbx_asked_packages(&cbx_asked_nothing).len, 0);
}

/* Zeroed memory allows nothing. */
static void zeroed_limits_are_limits_of_nothing(void **state)
{
    (void)state;
    const struct cbx_asked zeroed = { 0 };
    struct cbx_limits limits = { .wall_ms = 1000, .memory_bytes = 1 << 20 };
    cbx_limits_tighten(&limits, &zeroed.limits);
    assert_int_equal(limits.wall_ms, 0);
    assert_int_equal(limits.memory_bytes, 0);
}

static void a_worker_and_a_seal_have_no_value_and_no_set(void **state)
{
    (void)state;
    CBX_AUTO_DONE(asked) asked;
    CBX_AUTO_DONE(asked) given = cbx_asked_nothing;
    fill(&asked);
    CBX_AUTO_JSON concealed = cbx_asked_concealed(&asked);
    CBX_AUTO_MEM char *request = json_dumps(concealed, 0);
    assert_null(strstr(request, "hunter2"));
    assert_non_null(strstr(request, "alpha 1.0"));
    assert_int_equal(cbx_asked_read(concealed, &given, NULL), 0);
    CBX_AUTO_JSON sealed = cbx_asked_sealed(&given);
    CBX_AUTO_MEM char *text = json_dumps(sealed, 0);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "alpha 1.0"));
    assert_non_null(strstr(text, "STAGE"));
    assert_int_equal(strlen(json_string_value(json_object_get(sealed, "packages"))),
                     CBX_SHA256_HEX);
}

static void a_member_of_another_type_or_size_is_refused_with_its_name(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "{\"arguments\":\"x\"}", "arguments is not an array" },
        { "{\"mounts\":{}}", "mounts is not an array" },
        { "{\"environment\":[]}", "environment is not an object" },
        { "{\"packages\":1}", "packages is not a string" },
    };
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(asked) asked = cbx_asked_nothing;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CBX_AUTO_JSON json = json_loads(bad[i][0], 0, NULL);
        assert_int_equal(cbx_asked_read(json, &asked, &err), CBX_EINVAL);
        assert_string_equal(err.text, bad[i][1]);
    }
    CBX_AUTO_JSON many = json_pack("{s:[]}", "mounts");
    for (int i = 0; i <= CBX_MOUNTS_MAX; i++) {
        json_array_append_new(json_object_get(many, "mounts"), json_string("/srv:/data:ro"));
    }
    assert_int_equal(cbx_asked_read(many, &asked, &err), CBX_ETOOBIG);
    assert_string_equal(err.text, "mounts has a size of 17, allowed are 16");
    assert_null(asked.mounts);
}

static void a_copy_has_references_of_its_own(void **state)
{
    (void)state;
    CBX_AUTO_DONE(asked) copy = cbx_asked_nothing;
    struct cbx_asked asked;
    fill(&asked);
    cbx_asked_copy(&copy, &asked);
    cbx_asked_copy(&copy, &copy);
    cbx_asked_done(&asked);
    assert_int_equal(json_array_size(copy.arguments), 2);
    assert_int_equal(copy.limits.wall_ms, 1500);
    assert_int_equal(asked.limits.wall_ms, CBX_LIMIT_UNSET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(nothing_writes_nothing),
        cmocka_unit_test(zeroed_limits_are_limits_of_nothing),
        cmocka_unit_test(a_worker_and_a_seal_have_no_value_and_no_set),
        cmocka_unit_test(a_member_of_another_type_or_size_is_refused_with_its_name),
        cmocka_unit_test(a_copy_has_references_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
