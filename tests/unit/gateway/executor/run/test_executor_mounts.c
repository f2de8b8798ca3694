/* SPDX-License-Identifier: MIT
 * The folder that the executor opens for a path: the granted one, whatever the links and renames of
 * its path. */
#include "gateway/executor/run/executor_mounts.h"
#include "tests/unit/docker/fake_engine.h"
#include "tests/unit/gateway/scratch.h"

#include <fcntl.h>

static struct scratch scratch;
static struct cbx_policy *policy;
static char yaml[2048];

/* DIR/data and DIR/data/sub are granted, DIR/other is not; DIR/alias is a granted link to data,
 * DIR/escape one to other. */
static int make(void **state)
{
    (void)state;
    static const char *const folders[] = { "data", "data/sub", "other", "denied", "state", "sock" };
    char path[256];
    scratch_make(&scratch);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", scratch.path, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof(path), "%s/alias", scratch.path);
    assert_int_equal(symlink("data", path), 0);
    snprintf(path, sizeof(path), "%s/escape", scratch.path);
    assert_int_equal(symlink("other", path), 0);
    snprintf(path, sizeof(path), "%s/data/leak", scratch.path);
    assert_int_equal(symlink("../other", path), 0);
    scratch_write(scratch.path, "data/file", CBX_STR("x"));
    snprintf(yaml, sizeof(yaml),
             "version: 1\nname: x\nmounts:\n  allow: [{host: %s/data}, {host: %s/alias}, {host: "
             "%s/escape}, {host: %s/state}, {host: %s/sock}, {host: /proc}, {host: /dev/shm}]\n"
             "  deny: [%s/denied]\n  container: [/data]\n",
             scratch.path, scratch.path, scratch.path, scratch.path, scratch.path, scratch.path);
    return cbx_policy_parse(cbx_str_of(yaml), "x", &policy, NULL);
}

static int clean(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    scratch_remove(&scratch);
    return 0;
}

/* Opens DIR/name, or the path where it begins with '/'. */
static int open_folder(const char *name, struct cbx_host_mounts *out, struct cbx_err *err)
{
    char state[128], socket[128];
    snprintf(state, sizeof(state), "%s/state", scratch.path);
    snprintf(socket, sizeof(socket), "unix://%s/sock/docker.sock", scratch.path);
    const struct cbx_host_rules rules = { .state_dir = state, .engine_host = socket };
    CBX_AUTO_JSON list = json_array();
    json_array_append_new(list, name[0] == '/'
                                    ? json_sprintf("%s:/data:ro", name)
                                    : json_sprintf("%s/%s:/data:ro", scratch.path, name));
    return cbx_host_mounts_open(policy, &rules, list, out, err);
}

static ino_t inode_of(const char *name)
{
    char path[256];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%s", scratch.path, name);
    assert_int_equal(stat(path, &status), 0);
    return status.st_ino;
}

static void assert_opens(const char *name, const char *is)
{
    CBX_AUTO_DONE(host_mounts) mounts = { 0 };
    struct cbx_err err = { 0 };
    struct stat status;
    if (open_folder(name, &mounts, &err) != 0) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_int_equal(mounts.mounts.count, 1);
    assert_int_equal(fstat(mounts.mounts.items[0].fd, &status), 0);
    assert_int_equal(status.st_ino, inode_of(is));
    assert_string_equal(mounts.mounts.items[0].container, "/data");
    char want[256];
    snprintf(want, sizeof(want), "%s/%s", scratch.path, is);
    const json_t *first = json_array_get(mounts.description, 0);
    assert_string_equal(json_string_value(json_object_get(first, "host")), want);
    assert_int_equal(json_object_get(first, "asked") != NULL, strcmp(name, is) != 0);
}

static void assert_refuses(const char *name, const char *why)
{
    CBX_AUTO_DONE(host_mounts) mounts = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(open_folder(name, &mounts, &err), CBX_EINVAL);
    if (strstr(err.text, why) == NULL) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_int_equal(mounts.mounts.count, 0);
}

static void opens_what_is_granted_and_what_is_in_it(void **state)
{
    (void)state;
    assert_opens("data", "data");
    assert_opens("data/sub", "data/sub");
}

static void follows_a_link_to_what_is_granted(void **state)
{
    (void)state;
    assert_opens("alias", "data");
    assert_opens("alias/sub", "data/sub");
}

static void refuses_a_link_out_of_what_is_granted_and_says_no_more(void **state)
{
    (void)state;
    assert_refuses("escape", "is a link that leads out");
    assert_refuses("data/leak", "is a link that leads out");
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(host_mounts) mounts = { 0 };
    open_folder("escape", &mounts, &err);
    assert_null(strstr(err.text, "other"));
    assert_non_null(strstr(err.detail, "other"));
}

static void refuses_what_is_no_folder(void **state)
{
    (void)state;
    assert_refuses("data/file", "is no folder");
    assert_refuses("data/none", "does not exist");
    assert_refuses("data/file/x", "is no folder");
}

static void refuses_folders_of_the_gateway_of_the_engine_and_of_linux(void **state)
{
    (void)state;
    assert_refuses("state", "the gateway's state directory");
    assert_refuses("sock", "the folder of the engine's socket");
    assert_refuses("/proc/self", "Linux itself");
    assert_refuses("/dev/shm", "/dev");
}

/* The folder that is denied stands at another path, as with a bind mount. */
static void refuses_a_denied_folder_by_its_identity(void **state)
{
    (void)state;
    char denied[128], data[128], away[128];
    snprintf(denied, sizeof(denied), "%s/denied", scratch.path);
    snprintf(data, sizeof(data), "%s/data", scratch.path);
    snprintf(away, sizeof(away), "%s/away", scratch.path);
    assert_int_equal(rename(data, away), 0);
    assert_int_equal(rename(denied, data), 0);
    assert_int_equal(symlink("data", denied), 0);
    assert_refuses("data", "by another path, one that mounts.deny has");
    assert_int_equal(unlink(denied), 0);
    assert_int_equal(rename(data, denied), 0);
    assert_int_equal(rename(away, data), 0);
}

static void stays_what_it_was_when_its_path_becomes_another(void **state)
{
    (void)state;
    char data[128], away[128];
    struct stat status;
    CBX_AUTO_DONE(host_mounts) mounts = { 0 };
    ino_t granted = inode_of("data");
    assert_int_equal(open_folder("data", &mounts, NULL), 0);
    snprintf(data, sizeof(data), "%s/data", scratch.path);
    snprintf(away, sizeof(away), "%s/away", scratch.path);
    assert_int_equal(rename(data, away), 0);
    assert_int_equal(symlink("other", data), 0);
    assert_int_equal(fstat(mounts.mounts.items[0].fd, &status), 0);
    assert_int_equal(status.st_ino, granted);
    assert_refuses("data", "is a link that leads out");
    assert_int_equal(unlink(data), 0);
    assert_int_equal(rename(away, data), 0);
}

/* A path of the granted folder is at each moment the folder, or a link to another one. */
static void a_folder_that_is_swapped_is_never_opened_as_another(void **state)
{
    (void)state;
    enum { TRIES = 2000 };
    char data[128], away[128], trap[128];
    ino_t granted = inode_of("data");
    snprintf(data, sizeof(data), "%s/data", scratch.path);
    snprintf(away, sizeof(away), "%s/away", scratch.path);
    snprintf(trap, sizeof(trap), "%s/trap", scratch.path);
    assert_int_equal(symlink("other", trap), 0);
    pid_t swapper = fork();
    if (swapper == 0) {
        for (;;) {
            rename(data, away);
            rename(trap, data);
            rename(data, trap);
            rename(away, data);
        }
    }
    int opened = 0;
    for (int i = 0; i < TRIES; i++) {
        CBX_AUTO_DONE(host_mounts) mounts = { 0 };
        struct stat status = { .st_ino = granted };
        if (open_folder("data", &mounts, NULL) == 0) {
            opened++;
            fstat(mounts.mounts.items[0].fd, &status);
        }
        if (status.st_ino != granted) {
            kill(swapper, SIGKILL);
            fail_msg("try %d opened another folder", i);
        }
    }
    kill(swapper, SIGKILL);
    waitpid(swapper, NULL, 0);
    assert_true(opened > 0);
}

/* Returns the errors of a run and of `codebox policy check-mount` for DIR/data on an engine with
 * this response to /info. */
static int open_on(const char *info, struct cbx_err *err)
{
    CBX_AUTO_DONE(host_mounts) mounts = { 0 };
    CBX_AUTO_JSON list = json_array();
    CBX_AUTO(engine) engine = NULL;
    json_array_append_new(list, json_sprintf("%s/data:/data:ro", scratch.path));
    fake_start();
    fake.info = info;
    assert_int_equal(cbx_engine_new(fake.host, &engine, NULL), 0);
    int failed = cbx_host_mounts_open_on(engine, NULL, policy, list, &mounts, err);
    assert_int_equal(mounts.mounts.count, failed ? 0 : 1);
    fake_stop();
    return failed;
}

static void the_engine_decides_too(void **state)
{
    (void)state;
    char info[256];
    struct cbx_err err = { 0 };
    assert_int_equal(open_on("{}", &err), 0);
    assert_int_equal(open_on("{\"SecurityOptions\": [\"name=rootless\"]}", &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "runs without root"));
    assert_int_equal(open_on("{\"SecurityOptions\": [\"name=seccomp\", \"name=selinux\"]}", &err),
                     CBX_EINVAL);
    assert_non_null(strstr(err.text, "SELinux"));
    snprintf(info, sizeof(info), "{\"DockerRootDir\": \"%s/data/sub\"}", scratch.path);
    assert_int_equal(open_on(info, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "is, holds or lies in the engine's data"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opens_what_is_granted_and_what_is_in_it, make, clean),
        cmocka_unit_test_setup_teardown(follows_a_link_to_what_is_granted, make, clean),
        cmocka_unit_test_setup_teardown(refuses_a_link_out_of_what_is_granted_and_says_no_more,
                                        make, clean),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_folder, make, clean),
        cmocka_unit_test_setup_teardown(refuses_folders_of_the_gateway_of_the_engine_and_of_linux,
                                        make, clean),
        cmocka_unit_test_setup_teardown(refuses_a_denied_folder_by_its_identity, make, clean),
        cmocka_unit_test_setup_teardown(stays_what_it_was_when_its_path_becomes_another, make,
                                        clean),
        cmocka_unit_test_setup_teardown(a_folder_that_is_swapped_is_never_opened_as_another, make,
                                        clean),
        cmocka_unit_test_setup_teardown(the_engine_decides_too, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
