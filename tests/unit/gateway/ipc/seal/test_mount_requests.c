/* SPDX-License-Identifier: MIT
 * Lists of mounts: the forms that clients send, the one canonical form, and whether a policy
 * permits the mounts together. */
#include "gateway/ipc/seal/mount_requests.h"
#include "tests/unit/unit.h"

#include <unistd.h>

static json_t *read_list(const char *text)
{
    struct cbx_err err = { 0 };
    json_t *list = NULL;
    CBX_AUTO_JSON asked = json_loads(text, 0, NULL);
    assert_non_null(asked);
    if (cbx_mounts_read(asked, &list, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return list;
}

static void assert_is(json_t *list, const char *text)
{
    CBX_AUTO_JSON have = list;
    CBX_AUTO_JSON want = json_loads(text, 0, NULL);
    assert_true(json_equal(have, want));
}

static void both_forms_of_clients_become_one(void **state)
{
    (void)state;
    assert_is(read_list("[\"/srv/./a:/data\", \"/srv/b/:/out:rw\"]"),
              "[\"/srv/a:/data:ro\", \"/srv/b:/out:rw\"]");
    assert_is(read_list("[{\"host_path\": \"/srv/a\", \"container_path\": \"/data\"}]"),
              "[\"/srv/a:/data:ro\"]");
    assert_is(read_list("[{\"host_path\": \"/srv/a\", \"container_path\": \"/data\", "
                        "\"read_only\": false}]"),
              "[\"/srv/a:/data:rw\"]");
    assert_null(read_list("[]"));
}

static void refuses_what_is_no_list_of_mounts(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "[1]",
        "[\"/srv\"]",
        "[\"srv:/data\"]",
        "[{\"host_path\": \"/srv\"}]",
        "[{\"host_path\": \"/srv:/etc\", \"container_path\": \"/data\"}]",
        "[{\"host_path\": \"/srv\", \"container_path\": \"/data\", \"mode\": \"rw\"}]",
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        CBX_AUTO_JSON asked = json_loads(lists[i], 0, NULL);
        json_t *list = NULL;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_mounts_read(asked, &list, &err), CBX_EINVAL);
        assert_null(list);
    }
    CBX_AUTO_JSON many = json_array();
    for (int i = 0; i <= CBX_MOUNTS_MAX; i++) {
        json_array_append_new(many, json_sprintf("/srv/%d:/data/%d", i, i));
    }
    json_t *list = NULL;
    assert_int_equal(cbx_mounts_read(many, &list, NULL), CBX_ETOOBIG);
}

static void the_option_takes_a_folder_and_dockers_notation(void **state)
{
    (void)state;
    CBX_AUTO_JSON list = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(chdir("/usr"), 0);
    assert_int_equal(cbx_mounts_add_option("/srv/a", &list, &err), 0);
    assert_int_equal(cbx_mounts_add_option("/srv/b:/data:rw", &list, &err), 0);
    assert_int_equal(cbx_mounts_add_option("share:/mnt", &list, &err), 0);
    assert_int_equal(cbx_mounts_add_option("..", &list, &err), 0);
    assert_is(cbx_steal(&list),
              "[\"/srv/a:/srv/a:ro\", \"/srv/b:/data:rw\", \"/usr/share:/mnt:ro\", \"/:/:ro\"]");
    assert_int_equal(cbx_mounts_add_option("~/x", &list, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "'~' means nothing"));
}

static const char yaml[] = "version: 1\nname: x\nmounts: {allow: [{host: /srv}, {host: /out, mode: "
                           "rw}], deny: [/etc], container: [/data, /mnt]}\n";

static int check(const char *text, struct cbx_err *err)
{
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_JSON list = json_loads(text, 0, NULL);
    assert_non_null(list);
    assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "x", &policy, err), 0);
    return cbx_mounts_check(policy, list, err);
}

static void a_policy_mounts_what_it_grants(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    assert_int_equal(check("[\"/srv/a:/data:ro\", \"/out/x:/mnt:rw\"]", &err), 0);
    assert_int_equal(check("[]", &err), 0);
    assert_int_equal(check("[\"/srv/a:/data:rw\"]", &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "policy 'x' mounts no '/srv/a'"));
    assert_int_equal(check("[\"/etc:/data:ro\"]", &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "never mounted"));
    assert_null(strstr(err.text, "mounts.deny"));
    assert_non_null(strstr(err.detail, "mounts.deny has '/etc'"));
}

/* A front that was taken over may send any JSON. */
static void refuses_lists_that_it_did_not_make(void **state)
{
    (void)state;
    static const char *const lists[] = { "[\"/srv/a:/data\"]", "[\"/srv/../etc:/data:ro\"]",
                                         "[\"/srv//a:/data:ro\"]", "[1]", "[{}]" };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct cbx_err err = { 0 };
        assert_int_equal(check(lists[i], &err), CBX_EINVAL);
    }
    assert_int_equal(check("{\"a\": 1}", &(struct cbx_err){ 0 }), CBX_ETOOBIG);
}

static void mounts_do_not_overlap(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    assert_int_equal(check("[\"/srv/a:/data:ro\", \"/srv/b:/data:ro\"]", &err), CBX_EINVAL);
    assert_int_equal(check("[\"/srv/a:/data/x/y:ro\", \"/srv/b:/data/x:ro\"]", &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "overlap"));
    assert_int_equal(check("[\"/srv/a:/data/x:ro\", \"/srv/b:/data/xy:ro\"]", &err), 0);
}

static void writable_folders_are_listed_for_the_analyzer(void **state)
{
    (void)state;
    struct cbx_arena arena;
    cbx_arena_init(&arena, 1 << 20);
    CBX_AUTO_JSON list = json_loads("[\"/srv/a:/data:ro\", \"/out:/mnt:rw\"]", 0, NULL);
    struct cbx_strs folders = cbx_mounts_writable(list, &arena);
    assert_int_equal(folders.count, 1);
    assert_true(cbx_str_is(folders.items[0], "/mnt"));
    assert_int_equal(cbx_mounts_writable(NULL, &arena).count, 0);
    cbx_arena_done(&arena);
}

static void a_permit_has_a_digest_of_the_list(void **state)
{
    (void)state;
    static const struct cbx_sha256 none;
    CBX_AUTO_JSON one = json_loads("[\"/srv:/data:ro\"]", 0, NULL);
    CBX_AUTO_JSON other = json_loads("[\"/srv:/data:rw\"]", 0, NULL);
    struct cbx_sha256 a = cbx_mounts_digest(one), b = cbx_mounts_digest(other),
                      nothing = cbx_mounts_digest(NULL);
    assert_false(cbx_sha256_equal(&a, &b));
    assert_true(cbx_sha256_equal(&nothing, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_of_clients_become_one),
        cmocka_unit_test(refuses_what_is_no_list_of_mounts),
        cmocka_unit_test(the_option_takes_a_folder_and_dockers_notation),
        cmocka_unit_test(a_policy_mounts_what_it_grants),
        cmocka_unit_test(refuses_lists_that_it_did_not_make),
        cmocka_unit_test(mounts_do_not_overlap),
        cmocka_unit_test(writable_folders_are_listed_for_the_analyzer),
        cmocka_unit_test(a_permit_has_a_digest_of_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
