/* SPDX-License-Identifier: MIT
 * What `codebox doctor` says of a cluster, from its facts. */
#include "docker/doctor/doctor_cluster.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <string.h>

static char said[4096];
static int counts[3];

static void take(void *context, const struct cbx_check *check)
{
    size_t used = strlen(said);
    (void)context;
    counts[check->health]++;
    snprintf(said + used, sizeof(said) - used, "%d %s: %s (%s)\n", check->health, check->name,
             check->found, check->advice);
}

static void judge(const char *facts)
{
    const struct cbx_doctor doctor = { .take = take };
    CBX_AUTO_JSON read = json_loads(facts, 0, NULL);
    assert_non_null(read);
    memset(said, 0, sizeof(said));
    memset(counts, 0, sizeof(counts));
    cbx_doctor_cluster("v1.36.1", read, &doctor);
}

static void a_hardened_cluster_has_no_warnings(void **state)
{
    (void)state;
    judge("{\"server\":\"https://x\",\"namespace\":\"boxes\",\"namespace_state\":\"found\","
          "\"network_policy\":\"found\",\"seccomp\":\"codebox.json\",\"host_users\":false,"
          "\"runtime_storage\":true,\"rights\":[{\"what\":\"create pods\",\"needed\":true,"
          "\"allowed\":true}]}");
    assert_int_equal(counts[CBX_HEALTH_FAIL] + counts[CBX_HEALTH_WARN], 0);
    assert_non_null(strstr(said, "Kubernetes v1.36.1 at https://x, namespace boxes"));
}

static void missing_rights_are_named_and_fail(void **state)
{
    (void)state;
    judge("{\"namespace_state\":\"found\",\"network_policy\":\"found\",\"rights\":["
          "{\"what\":\"create pods/exec\",\"needed\":true,\"allowed\":false},"
          "{\"what\":\"get pods\",\"needed\":true,\"allowed\":true},"
          "{\"what\":\"get pods/log\",\"needed\":false,\"allowed\":false}]}");
    assert_non_null(strstr(said, "0 rights: the gateway may not: create pods/exec (grant"));
    assert_non_null(strstr(said, "1 rights-optional: the gateway may not: get pods/log"));
    assert_null(strstr(said, "get pods ("));
}

static void a_missing_namespace_fails_and_an_unread_policy_warns(void **state)
{
    (void)state;
    judge("{\"namespace_state\":\"missing\",\"network_policy\":\"unknown\",\"rights\":[]}");
    assert_non_null(strstr(said, "0 namespace: "));
    assert_non_null(strstr(said, "1 network-policy: the gateway may not read it"));
    assert_non_null(strstr(said, "1 rights: the cluster does not tell them"));
}

static void facts_that_are_none_are_no_praise(void **state)
{
    (void)state;
    judge("{}");
    assert_null(strstr(said, "2 namespace"));
    assert_null(strstr(said, "2 network-policy"));
    assert_null(strstr(said, "2 rights"));
    assert_null(strstr(said, "2 seccomp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hardened_cluster_has_no_warnings),
        cmocka_unit_test(missing_rights_are_named_and_fail),
        cmocka_unit_test(a_missing_namespace_fails_and_an_unread_policy_warns),
        cmocka_unit_test(facts_that_are_none_are_no_praise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
