/* SPDX-License-Identifier: MIT
 * Mount requests: parsing, and the rule of a policy that decides. */
#include "policies/mounts.h"
#include "tests/unit/unit.h"

static void reads_what_docker_reads(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *container;
        bool writable;
    } cases[] = {
        { "/srv/data:/data", "/srv/data", "/data", false },
        { "/srv/data:/data:ro", "/srv/data", "/data", false },
        { "/srv/data:/data:rw", "/srv/data", "/data", true },
        { "/srv//a/./b/../c/:/data/x/", "/srv/a/c", "/data/x", false },
        { "/../..:/data", "/", "/data", false },
        { "/srv/a b:/data/\xc3\xa9", "/srv/a b", "/data/\xc3\xa9", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_mount_request request;
        struct cbx_err err;
        if (cbx_mount_parse(cbx_str_of(cases[i].text), &request, &err) != 0) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
        assert_string_equal(request.host, cases[i].host);
        assert_string_equal(request.container, cases[i].container);
        assert_int_equal(request.writable, cases[i].writable);
    }
}

static void refuses_what_is_no_mount(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "", "HOST:CONTAINER" },           { "/srv", "HOST:CONTAINER" },
        { "/a:/b:ro:z", "paths with ':'" }, { "/a:/b:z", "the mode is 'z'" },
        { "srv:/data", "absolute path" },   { "~/x:/data", "'~' means nothing" },
        { "/srv:data", "absolute path" },   { "/srv/\n:/data", "control character" },
        { ":/data", "absolute path" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_mount_request request;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_mount_parse(cbx_str_of(cases[i].text), &request, &err), CBX_EINVAL);
        if (strstr(err.text, cases[i].why) == NULL) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
    }
    static char text[3000];
    memset(text, 'a', sizeof(text) - 1);
    memcpy(text, "/x:/", 4);
    struct cbx_mount_request request;
    assert_int_equal(cbx_mount_parse(cbx_str_of(text), &request, NULL), CBX_ETOOBIG);
}

static void one_rule_decides(void **state)
{
    (void)state;
    static const char yaml[] =
        "version: 1\nname: x\nmounts:\n"
        "  allow: [{host: /srv/data}, {host: /srv/out, mode: rw}, {host: \"/srv/team-*\"}]\n"
        "  deny: [/, /etc, /root, \"**/.ssh\", /srv/private]\n"
        "  container: [/data, /mnt]\n";
    static const struct {
        const char *text;
        bool allowed;
        const char *why;
    } cases[] = {
        { "/srv/data:/data", true, "'/srv/data' (ro)" },
        { "/srv/data/2024/x:/data/x", true, "'/srv/data' (ro)" },
        { "/srv/data:/data:rw", false, "for reading only" },
        { "/srv/out:/mnt/out:rw", true, "'/srv/out' (rw)" },
        { "/srv/team-a/x:/data", true, "'/srv/team-*'" },
        { "/srv/datax:/data", false, "no entry" },
        { "/srv/data/../../etc/ssl:/data", false, "'/etc'" },
        { "/:/data", false, "'/'" },
        { "/srv:/data", false, "holds" }, /* the folder contains paths that are never mounted */
        { "/srv/private/x:/data", false, "'/srv/private'" },
        { "/srv/data/me/.ssh:/data", false, ".ssh" },
        { "/srv/data/me/.ssh/id:/data", false, ".ssh" },
        { "/srv/data:/etc", false, "mounts.container" },
        { "/srv/data:/data/../etc", false, "mounts.container" },
        { "/srv/data:/database", false, "mounts.container" },
    };
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    if (cbx_policy_parse(cbx_str_of(yaml), "x", &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_mount_request request;
        char why[CBX_MOUNT_WHY_MAX] = "";
        assert_int_equal(cbx_mount_parse(cbx_str_of(cases[i].text), &request, &err), 0);
        bool allowed = cbx_mount_allowed(&policy->mounts, &request, why);
        if (allowed != cases[i].allowed || strstr(why, cases[i].why) == NULL) {
            fail_msg("%s: %s, %s", cases[i].text, allowed ? "allowed" : "refused", why);
        }
    }
}

static void no_mount_replaces_what_a_sandbox_has_itself(void **state)
{
    (void)state;
    static const char yaml[] =
        "version: 1\nname: x\nmounts: {allow: [{host: /srv}], container: [/, /bin, /boot, "
        "/codebox, "
        "/dev, /etc, /lib, /lib32, /lib64, /libx32, /opt, /proc, /run, /sbin, /sys, /tmp, /usr, "
        "/var, /workspace, /home]}\n";
    /* Written by hand, not taken from the table, so that a missing row of the table is found. */
    static const char *const places[] = { "/usr/lib/python3",
                                          "/workspace/a",
                                          "/tmp/x",
                                          "/",
                                          "/bin",
                                          "/boot",
                                          "/codebox",
                                          "/dev",
                                          "/etc",
                                          "/lib",
                                          "/lib32",
                                          "/lib64",
                                          "/libx32",
                                          "/opt",
                                          "/proc",
                                          "/run",
                                          "/sbin",
                                          "/sys",
                                          "/tmp",
                                          "/usr",
                                          "/var",
                                          "/workspace" };
    CBX_AUTO(policy) policy = NULL;
    struct cbx_mount_request request = { .host = "/srv" };
    struct cbx_err err = { 0 };
    char why[CBX_MOUNT_WHY_MAX] = "";
    assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "x", &policy, &err), 0);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(request.container, sizeof(request.container), "%s", places[i]);
        assert_false(cbx_mount_allowed(&policy->mounts, &request, why));
        assert_non_null(strstr(why, "the sandbox has itself"));
    }
    snprintf(request.container, sizeof(request.container), "/home/ann");
    assert_true(cbx_mount_allowed(&policy->mounts, &request, why));
}

static void a_request_has_one_text(void **state)
{
    (void)state;
    struct cbx_mount_request request;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_MOUNT_TEXT_MAX);
    assert_int_equal(cbx_mount_parse(CBX_STR("/srv//x/../a:/data/"), &request, NULL), 0);
    cbx_mount_write(&request, &text);
    assert_string_equal(text.p, "/srv/a:/data:ro");
}

static void nothing_is_mounted_by_default(void **state)
{
    (void)state;
    const struct cbx_mounts nothing = { 0 };
    struct cbx_mount_request request;
    char why[CBX_MOUNT_WHY_MAX];
    assert_int_equal(cbx_mount_parse(CBX_STR("/srv:/data"), &request, NULL), 0);
    assert_false(cbx_mount_allowed(&nothing, &request, why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_docker_reads),
        cmocka_unit_test(refuses_what_is_no_mount),
        cmocka_unit_test(one_rule_decides),
        cmocka_unit_test(no_mount_replaces_what_a_sandbox_has_itself),
        cmocka_unit_test(a_request_has_one_text),
        cmocka_unit_test(nothing_is_mounted_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
