/* SPDX-License-Identifier: MIT
 * Promises of policies that a cluster cannot hold. */
#include "gateway/cli/serve/cluster_promises.h"

#include "policies/base/log.h"
#include "tests/unit/gateway/scratch.h"

#define BASE "version: 1\nname: team\nextends: [default]\n"

struct rig {
    struct scratch scratch;
    char host[256];
};

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    assert_non_null(rig);
    scratch_make(&rig->scratch);
    scratch_write(rig->scratch.path, "settings.yaml",
                  CBX_STR("namespace: boxes\nimages: images.json\n"));
    scratch_write(rig->scratch.path, "images.json",
                  CBX_STR("{\"codebox-python-lab:latest\": {}, "
                          "\"codebox-python-half:latest\": {}, "
                          "\"codebox-javascript-lab:latest\": {}, "
                          "\"codebox-typescript-lab:latest\": {}}"));
    snprintf(rig->host, sizeof(rig->host), "kubernetes::%s/settings.yaml", rig->scratch.path);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    scratch_remove(&rig->scratch);
    free(rig);
    return 0;
}

static int check_on(const char *host, const char *gvisor, const char *yaml,
                    struct cbx_problems *out, struct cbx_err *err)
{
    CBX_AUTO(policy) policy = NULL;
    if (cbx_policy_parse(cbx_str_of(yaml), "team.yaml", &policy, err) != 0) {
        fail_msg("%s", err->text);
    }
    const struct cbx_policies policies = { .items = &policy, .count = 1 };
    const struct cbx_executor_config executor = { .docker_host = host, .gvisor_runtime = gvisor };
    *out = (struct cbx_problems){ .count = 0 };
    return cbx_cluster_promises_check(&policies, &executor, out, err);
}

/* Asserts that the policy is refused with these texts in this order; none = it is accepted. */
static void assert_refused(const struct rig *rig, const char *gvisor, const char *yaml,
                           const char *const texts[])
{
    static struct cbx_problems found;
    struct cbx_err err = { 0 };
    size_t count = 0;
    int failed = check_on(rig->host, gvisor, yaml, &found, &err);
    for (; texts[count] != NULL; count++) {
        assert_true(count < found.count);
        assert_string_equal(found.items[count].text, texts[count]);
    }
    assert_int_equal(found.count, count);
    assert_int_equal(failed, count > 0 ? CBX_EPOLICY : 0);
    if (count > 0) {
        assert_string_equal(err.text, texts[count - 1]);
    }
}

#define HOSTS                                                                                      \
    "policy 'team', key 'network': sandboxes on a cluster have no network; remove its 'egress', "  \
    "or use --engine docker"
#define MOUNTS                                                                                     \
    "policy 'team', key 'mounts': folders of the host cannot be mounted on a cluster; remove its " \
    "'allow', or use --engine docker"
#define GVISOR                                                                                     \
    "policy 'team', key 'limits': it has 'isolation: gvisor', and no RuntimeClass of gVisor is "   \
    "named; name it with --gvisor-runtime"
#define IMAGES                                                                                     \
    "policy 'team', key 'images': the images file of --cluster lacks an image that it chooses; "   \
    "push it with 'codebox image push --name NAME'"
#define LIST(...) ((const char *const[]){ __VA_ARGS__ })

static void a_preset_is_accepted(void **state)
{
    assert_refused(*state, NULL, BASE, LIST(NULL));
    assert_refused(*state, NULL, "version: 1\nname: team\nextends: [strict]\n", LIST(NULL));
}

static void each_promise_is_named_with_its_key_and_the_remedy(void **state)
{
    assert_refused(*state, NULL,
                   BASE "network: {override: true, egress: [example.com]}\n"
                        "mounts: {override: true, allow: [{host: /srv/data}]}\n"
                        "limits: {isolation: gvisor}\nimages: {python: other}\n",
                   LIST(HOSTS, MOUNTS, GVISOR, IMAGES, NULL));
}

static void gvisor_needs_a_runtime_class(void **state)
{
    static const char yaml[] = BASE "limits: {isolation: gvisor}\n";
    assert_refused(*state, NULL, yaml, LIST(GVISOR, NULL));
    assert_refused(*state, "gvisor", yaml, LIST(NULL));
}

static void chosen_images_are_those_of_the_images_file(void **state)
{
    assert_refused(*state, NULL, BASE "images: {python: lab, javascript: lab}\n", LIST(NULL));
    assert_refused(*state, NULL, BASE "images: {python: lab, javascript: half}\n",
                   LIST(IMAGES, NULL));
}

static void an_engine_of_one_machine_holds_all_of_them(void **state)
{
    static struct cbx_problems found;
    struct cbx_err err = { 0 };
    (void)state;
    assert_int_equal(check_on("unix:///run/docker.sock", NULL,
                              BASE "network: {override: true, egress: [example.com]}\n", &found,
                              &err),
                     0);
    assert_int_equal(found.count, 0);
}

static void settings_that_cannot_be_read_are_said(void **state)
{
    const struct rig *rig = *state;
    static struct cbx_problems found;
    struct cbx_err err = { 0 };
    scratch_write(rig->scratch.path, "settings.yaml", CBX_STR("namespaces: boxes\n"));
    assert_int_equal(check_on(rig->host, NULL, BASE, &found, &err), CBX_EENGINE);
    assert_int_equal(found.count, 1);
    assert_non_null(strstr(err.detail, "namespaces"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_preset_is_accepted),
        TEST(each_promise_is_named_with_its_key_and_the_remedy),
        TEST(gvisor_needs_a_runtime_class),
        TEST(chosen_images_are_those_of_the_images_file),
        TEST(an_engine_of_one_machine_holds_all_of_them),
        TEST(settings_that_cannot_be_read_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
