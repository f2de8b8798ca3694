/* SPDX-License-Identifier: MIT
 * The doctor's findings about gVisor, from facts of a sandbox and responses of the engine. */
#include "docker/doctor/doctor.h"
#include "tests/unit/unit.h"

static struct {
    enum cbx_health health;
    char found[512], advice[256];
} seen;

static void take(void *context, const struct cbx_check *check)
{
    (void)context;
    assert_string_equal(check->name, "gvisor");
    seen.health = check->health;
    snprintf(seen.found, sizeof(seen.found), "%s", check->found);
    snprintf(seen.advice, sizeof(seen.advice), "%s", check->advice);
}

static const struct cbx_doctor doctor = { .take = take };

#define STATUS(seccomp) "Name:\tcat\nNoNewPrivs:\t1\nSeccomp:\t" seccomp "\n"
#define GVISOR          "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n"

static void a_kernel_of_its_own_with_our_filter_is_in_order(void **state)
{
    (void)state;
    cbx_doctor_read_gvisor(GVISOR STATUS("2"), "6.1.0-18-amd64", &doctor);
    assert_int_equal(seen.health, CBX_HEALTH_OK);
    assert_non_null(strstr(seen.found, "4.4.0"));
}

static void a_runtime_that_ignores_the_profile_fails_with_the_argument_that_it_needs(void **state)
{
    (void)state;
    cbx_doctor_read_gvisor(GVISOR STATUS("0"), "6.1.0-18-amd64", &doctor);
    assert_int_equal(seen.health, CBX_HEALTH_FAIL);
    assert_non_null(strstr(seen.advice, "--oci-seccomp"));
}

static void a_runtime_that_gives_the_kernel_of_the_host_fails(void **state)
{
    (void)state;
    cbx_doctor_read_gvisor("Linux version 6.1.0-18-amd64 (x)\n" STATUS("2"), "6.1.0-18-amd64",
                           &doctor);
    assert_int_equal(seen.health, CBX_HEALTH_FAIL);
    assert_non_null(strstr(seen.found, "the host's kernel"));
}

static void a_sandbox_that_shows_nothing_fails(void **state)
{
    (void)state;
    static const char *const shown[] = { "", GVISOR, STATUS("2"), "cat: no such file\n" };
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        seen.health = CBX_HEALTH_OK;
        cbx_doctor_read_gvisor(shown[i], "6.1.0", &doctor);
        assert_int_equal(seen.health, CBX_HEALTH_FAIL);
    }
}

static void a_start_that_fails_for_its_network_names_the_argument_that_it_needs(void **state)
{
    (void)state;
    struct cbx_err err = { .code = CBX_EENGINE, .text = "the sandbox engine refused" };
    snprintf(
        err.detail, sizeof(err.detail),
        "OCI runtime start failed: starting container: setting up network: creating interfaces");
    cbx_doctor_no_gvisor(&err, &doctor);
    assert_int_equal(seen.health, CBX_HEALTH_FAIL);
    assert_non_null(strstr(seen.advice, "--network=none"));
    snprintf(err.detail, sizeof(err.detail), "unknown or invalid runtime name: x");
    cbx_doctor_no_gvisor(&err, &doctor);
    assert_int_equal(seen.health, CBX_HEALTH_FAIL);
    assert_null(strstr(seen.advice, "--network"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_of_its_own_with_our_filter_is_in_order),
        cmocka_unit_test(a_runtime_that_ignores_the_profile_fails_with_the_argument_that_it_needs),
        cmocka_unit_test(a_runtime_that_gives_the_kernel_of_the_host_fails),
        cmocka_unit_test(a_sandbox_that_shows_nothing_fails),
        cmocka_unit_test(a_start_that_fails_for_its_network_names_the_argument_that_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
