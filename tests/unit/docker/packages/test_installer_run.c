/* SPDX-License-Identifier: MIT
 * The container of an installer: it has a network, and otherwise no more than a sandbox. */
#include "docker/engine/docker/docker.h"
#include "docker/kernel_names.h"
#include "docker/packages/packages_internal.h"
#include "docker/sandbox/container.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static struct cbx_sandbox_config sandbox = { .instance = "test" };
static struct cbx_packages_config config = { .sandbox = &sandbox };
static const struct cbx_package_images images = { .manager = CBX_MANAGER_PIP,
                                                  .installer = "sha256:00" };

static json_t *make_body(void)
{
    struct cbx_installer_run run = { .kernel = "python", .images = &images };
    CBX_AUTO_DONE(container_spec) spec;
    cbx_installer_spec(&config, &run, &spec);
    return cbx_docker_body(&spec);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void it_is_hardened_as_a_sandbox_is(void **state)
{
    (void)state;
    struct cbx_limits limits = { .memory_bytes = 1536 << 20,
                                 .pids = 128,
                                 .cpu_milli = 1000,
                                 .disk_bytes = 1 << 30,
                                 .isolation = CBX_ISOLATION_CONTAINER };
    CBX_AUTO_JSON body = make_body();
    CBX_AUTO_DONE(container_spec) spec;
    cbx_sandbox_spec(&sandbox, "python", &limits, "sha256:00", NULL, &spec);
    CBX_AUTO_JSON other = cbx_docker_body(&spec);
    assert_string_equal(text_of(body, "User"), "65532:65532");
    const char *key;
    json_t *value, *host = json_object_get(body, "HostConfig");
    size_t differ = 0;
    json_object_foreach(json_object_get(other, "HostConfig"), key, value)
    {
        differ += json_equal(value, json_object_get(host, key)) ? 0 : 1;
    }
    assert_int_equal(differ, 4); /* AutoRemove, ReadonlyRootfs, NetworkMode, Tmpfs */
    assert_int_equal(json_object_size(host),
                     json_object_size(json_object_get(other, "HostConfig")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(host, "CapDrop"), 0)),
                        "ALL");
    assert_null(json_object_get(json_object_get(host, "Tmpfs"), "/workspace"));
}

static void the_reaper_knows_it_and_its_lease(void **state)
{
    (void)state;
    config.timeout_ms = 60000;
    CBX_AUTO_JSON body = make_body();
    const json_t *labels = json_object_get(body, "Labels");
    assert_string_equal(text_of(labels, CBX_LABEL_INSTANCE), "test");
    assert_string_equal(text_of(labels, CBX_LABEL_LEASE), "1260");
    assert_true(json_is_true(json_object_get(body, "StdinOnce")));
    config.timeout_ms = 0;
}

static void the_operator_chooses_its_network(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = make_body();
    assert_string_equal(text_of(json_object_get(body, "HostConfig"), "NetworkMode"), "default");
    config.network = "packages";
    CBX_AUTO_JSON other = make_body();
    assert_string_equal(text_of(json_object_get(other, "HostConfig"), "NetworkMode"), "packages");
    config.network = NULL;
}

static void kernels_have_a_manager_and_an_installer(void **state)
{
    (void)state;
    const char *base;
    char name[CBX_IMAGE_NAME_BYTES];
    assert_int_equal(cbx_packages_manager("typescript"), CBX_MANAGER_NPM);
    assert_int_equal(cbx_packages_manager("bash"), CBX_MANAGER_NONE);
    assert_int_equal(cbx_packages_manager("py"), CBX_MANAGER_NONE); /* a language's alias */
    assert_true(cbx_installer_image(NULL, "python", NULL, name, NULL));
    assert_string_equal(name, "codebox-installer-python:latest");
    assert_true(cbx_installer_image("x", "python", CBX_VARIANT_SMALL, name, &base));
    assert_string_equal(name, "x-installer-python-small:latest");
    assert_string_equal(base, "python");
    assert_true(cbx_installer_image(NULL, "typescript", CBX_VARIANT_SMALL, name, &base));
    assert_string_equal(name, "codebox-installer-javascript:latest");
    assert_false(cbx_installer_image(NULL, "c", NULL, name, &base));
}

static void what_is_no_request_reaches_no_engine(void **state)
{
    (void)state;
    struct cbx_err err;
    struct cbx_layer layer;
    CBX_AUTO_DONE(buf) report;
    cbx_buf_init(&report, 1024);
    assert_int_equal(
        cbx_packages_resolve(NULL, &config, "bash", CBX_STR("x"), NULL, NULL, &report, &err),
        CBX_EINVAL);
    assert_int_equal(
        cbx_packages_resolve(NULL, &config, "python", CBX_STR("--pre"), NULL, NULL, &report, &err),
        CBX_EINVAL);
    assert_int_equal(cbx_layer_find(NULL, &config, "python", CBX_STR("x"), &layer, &err),
                     CBX_EINVAL);
    assert_int_equal(
        cbx_layer_install(NULL, &config, "python", CBX_STR("x"), NULL, NULL, &layer, &err),
        CBX_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_hardened_as_a_sandbox_is),
        cmocka_unit_test(the_reaper_knows_it_and_its_lease),
        cmocka_unit_test(the_operator_chooses_its_network),
        cmocka_unit_test(kernels_have_a_manager_and_an_installer),
        cmocka_unit_test(what_is_no_request_reaches_no_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
