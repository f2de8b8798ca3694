/* SPDX-License-Identifier: MIT
 * The container of a proxy: its rights, and its configuration. */
#include "docker/egress/proxy.h"

#include "docker/engine/docker/docker.h"
#include "tests/unit/unit.h"

static const struct cbx_sandbox_config sandbox = { .instance = "test" };
static const struct cbx_str names[] = { CBX_STR("api.example.org"), CBX_STR("*.example.net:8443") };
static const struct cbx_strs hosts = { .items = names, .count = 2 };
static const struct cbx_str inside = CBX_STR("10.1.0.0/16"), own = CBX_STR("192.0.2.9/32");

static struct cbx_network_settings settings;
static struct cbx_network_grant grant = { .hosts = &hosts, .settings = &settings, .life_s = 100 };

static int set_up(void **state)
{
    (void)state;
    settings = (struct cbx_network_settings){ .allowed = { .items = &inside, .count = 1 },
                                              .denied = { .items = &own, .count = 1 } };
    grant.hosts = &hosts;
    return 0;
}

static json_t *make_body(void)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(container_spec) spec;
    assert_int_equal(cbx_proxy_spec(&sandbox, &grant, "sha256:00", &spec, &err), 0);
    return cbx_docker_body(&spec);
}

static const char *text_at(const json_t *list, size_t index)
{
    return json_string_value(json_array_get(list, index));
}

static void it_is_hardened_as_a_sandbox_but_for_what_the_relay_gives_up(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = make_body();
    const json_t *host = json_object_get(body, "HostConfig");
    assert_string_equal(text_at(json_object_get(host, "CapDrop"), 0), "ALL");
    assert_int_equal(json_array_size(json_object_get(host, "CapAdd")), 3);
    assert_true(json_is_true(json_object_get(host, "ReadonlyRootfs")));
    assert_true(json_is_true(json_object_get(host, "AutoRemove")));
    assert_true(json_is_true(json_object_get(body, "StdinOnce"))); /* ends with the gateway */
    assert_string_equal(text_at(json_object_get(host, "SecurityOpt"), 0), "no-new-privileges:true");
    assert_int_equal(json_object_size(json_object_get(host, "Tmpfs")), 1);
    assert_null(json_object_get(host, "Mounts"));
}

static void it_has_the_hosts_and_the_ranges(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = make_body();
    const json_t *environment = json_object_get(body, "Env");
    assert_int_equal(json_array_size(environment), 3);
    assert_non_null(strstr(text_at(environment, 0), "api.example.org"));
    assert_non_null(strstr(text_at(environment, 0), "8443"));
    assert_string_equal(text_at(environment, 1), "CODEBOX_ALLOWED=10.1.0.0/16");
    assert_string_equal(text_at(environment, 2), "CODEBOX_DENIED=192.0.2.9/32");
}

static void the_reaper_knows_it_and_its_lease(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = make_body();
    const json_t *labels = json_object_get(body, "Labels");
    assert_string_equal(json_string_value(json_object_get(labels, CBX_LABEL_INSTANCE)), "test");
    assert_string_equal(json_string_value(json_object_get(labels, CBX_LABEL_LEASE)), "100");
}

static void the_operator_chooses_its_network(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = make_body();
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(body, "HostConfig"), "NetworkMode")),
        "default");
    settings.network = "internal";
    CBX_AUTO_JSON other = make_body();
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(other, "HostConfig"), "NetworkMode")),
        "internal");
}

static void it_is_never_in_the_namespace_of_the_host_or_of_another_container(void **state)
{
    (void)state;
    static const char *const refused[] = { "host", "none", "container:0123", "ns:/proc/1/ns/net" };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cbx_err err = { 0 };
        CBX_AUTO_DONE(container_spec) spec;
        settings.network = refused[i];
        assert_int_equal(cbx_proxy_spec(&sandbox, &grant, "sha256:00", &spec, &err), CBX_EINVAL);
    }
}

static void what_is_no_host_makes_no_container(void **state)
{
    (void)state;
    static const struct cbx_str bad = CBX_STR("api.example.org\nhttp_access allow all");
    const struct cbx_strs wrong = { .items = &bad, .count = 1 };
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(container_spec) spec;
    grant.hosts = &wrong;
    assert_int_equal(cbx_proxy_spec(&sandbox, &grant, "sha256:00", &spec, &err), CBX_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_hardened_as_a_sandbox_but_for_what_the_relay_gives_up, set_up),
        cmocka_unit_test_setup(it_has_the_hosts_and_the_ranges, set_up),
        cmocka_unit_test_setup(the_reaper_knows_it_and_its_lease, set_up),
        cmocka_unit_test_setup(the_operator_chooses_its_network, set_up),
        cmocka_unit_test_setup(it_is_never_in_the_namespace_of_the_host_or_of_another_container,
                               set_up),
        cmocka_unit_test_setup(what_is_no_host_makes_no_container, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
