/* SPDX-License-Identifier: MIT
 * Folders of the host against a scripted engine and supervisor: the requests to the engine; nothing
 * runs if the supervisor reports another folder or other flags than expected. */
#include "tests/unit/docker/sandbox_rig.h"

#include "docker/engine/docker/docker.h"
#include "docker/sandbox/container.h"

#include <fcntl.h>
#include <sys/statvfs.h>

static const uint64_t all_flags = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC;

static struct cbx_frame_mount report_of(int fd, uint64_t flags)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return (
        struct cbx_frame_mount){ .device = status.st_dev, .inode = status.st_ino, .flags = flags };
}

static struct cbx_sandbox_mounts mounts_of(int fd, bool writable, const json_t *description)
{
    return (struct cbx_sandbox_mounts){
        .items = { { .fd = fd, .container = "/data", .writable = writable } },
        .count = 1,
        .digest = { { 1, 2, 3 } },
        .description = description,
    };
}

/* Prepares with the folder /usr, and the supervisor's report. */
static int prepare_reported(const struct cbx_frame_mount *report, bool writable,
                            struct cbx_sandbox **out)
{
    CBX_AUTO_FD fd = open("/usr", O_PATH | O_DIRECTORY);
    CBX_AUTO_JSON description = json_pack("[{s:s}]", "host", "/usr");
    struct cbx_sandbox_mounts mounts = mounts_of(fd, writable, description);
    fake.answer = (struct cbx_str){ .p = (const char *)report, .len = sizeof(*report) };
    return cbx_sandbox_prepare_with(engine, &config, "python", &limits, NULL, &mounts, out, &err);
}

static struct cbx_frame_mount good_report(void)
{
    CBX_AUTO_FD fd = open("/usr", O_PATH | O_DIRECTORY);
    return report_of(fd, all_flags);
}

static void the_engine_gets_the_open_folder_and_no_path_that_others_may_change(void **state)
{
    (void)state;
    CBX_AUTO_FD fd = open("/usr", O_PATH | O_DIRECTORY);
    struct cbx_sandbox_mounts mounts = mounts_of(fd, false, NULL);
    CBX_AUTO_DONE(container_spec) spec;
    cbx_sandbox_spec(&config, "python", &limits, "sha256:00", &mounts, &spec);
    CBX_AUTO_JSON body = cbx_docker_body(&spec);
    const json_t *mount =
        json_array_get(json_object_get(json_object_get(body, "HostConfig"), "Mounts"), 0);
    const json_t *volume = json_object_get(mount, "VolumeOptions"),
                 *options = json_object_get(json_object_get(volume, "DriverConfig"), "Options");
    char device[64];
    snprintf(device, sizeof(device), "/proc/%d/fd/%d", (int)getpid(), fd);
    assert_string_equal(json_string_value(json_object_get(mount, "Target")), "/data");
    assert_true(json_is_true(json_object_get(volume, "NoCopy")));
    assert_string_equal(json_string_value(json_object_get(options, "device")), device);
    assert_string_equal(json_string_value(json_object_get(options, "o")),
                        "bind,ro,nosuid,nodev,noexec");
    bool named = false;
    size_t i;
    const json_t *variable;
    json_array_foreach(json_object_get(body, "Env"), i, variable)
    {
        named |= strcmp(json_string_value(variable), "CODEBOX_MOUNTS=/data:ro") == 0;
    }
    assert_true(named);
}

static void a_sandbox_without_mounts_has_neither(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_equal(prepare(&sandbox), 0);
    assert_null(strstr(fake.containers[0].create_body, "Mounts"));
    assert_null(strstr(fake.containers[0].create_body, "CODEBOX_MOUNTS"));
    assert_null(cbx_sandbox_mounted(sandbox));
}

static void what_is_mounted_is_kept_with_its_flags(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = NULL;
    struct cbx_frame_mount report = good_report();
    assert_int_equal(prepare_reported(&report, false, &sandbox), 0);
    CBX_AUTO_JSON want = json_pack("[{s:s,s:[s,s,s,s]}]", "host", "/usr", "flags", "ro", "nosuid",
                                   "nodev", "noexec");
    assert_true(json_equal(cbx_sandbox_mounted(sandbox), want));
}

static void another_folder_is_not_used_and_its_container_is_removed(void **state)
{
    (void)state;
    struct cbx_frame_mount reports[4];
    for (size_t i = 0; i < 4; i++) {
        reports[i] = good_report();
    }
    reports[0].inode++;
    reports[1].device++;
    reports[2].inode = 0;
    reports[3].flags &= ~(uint64_t)ST_NOEXEC;
    for (size_t i = 0; i < 4; i++) {
        struct cbx_sandbox *sandbox = NULL;
        assert_int_equal(prepare_reported(&reports[i], false, &sandbox), CBX_EENGINE);
        assert_non_null(strstr(err.text, "nothing ran"));
        assert_null(sandbox);
    }
    assert_nothing_left();
}

static void a_report_of_other_mounts_is_no_report(void **state)
{
    (void)state;
    CBX_AUTO_FD fd = open("/usr", O_PATH | O_DIRECTORY);
    struct cbx_sandbox_mounts mounts = mounts_of(fd, false, NULL);
    struct cbx_sandbox *sandbox = NULL;
    fake.answer = CBX_STR("");
    assert_int_equal(
        cbx_sandbox_prepare_with(engine, &config, "python", &limits, NULL, &mounts, &sandbox, &err),
        CBX_EPROTO);
    assert_nothing_left();
}

static void for_writing_it_must_not_be_read_only(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_frame_mount report = good_report();
    assert_int_equal(prepare_reported(&report, true, &sandbox), CBX_EENGINE);
    report.flags = 0; /* the engine sets none there */
    assert_int_equal(prepare_reported(&report, true, &sandbox), 0);
    cbx_sandbox_free(sandbox);
}

static void only_a_permit_with_these_mounts_claims_it(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) mounted = NULL;
    CBX_AUTO(sandbox) plain = NULL;
    struct cbx_permit without = permit_for(""), with = permit_for("");
    with.mounts = (struct cbx_sha256){ { 1, 2, 3 } };
    struct cbx_frame_mount report = good_report();
    assert_int_equal(prepare_reported(&report, false, &mounted), 0);
    assert_int_equal(prepare(&plain), 0);
    assert_int_equal(cbx_sandbox_claim(mounted, &without, &err), CBX_ESEAL);
    assert_int_equal(cbx_sandbox_claim(plain, &with, &err), CBX_ESEAL);
    assert_int_equal(cbx_sandbox_claim(mounted, &with, &err), 0);
    assert_int_equal(
        cbx_sandbox_run(mounted, &without, CBX_STR(""), NULL, &(struct cbx_result){ 0 }, &err),
        CBX_ESEAL);
    assert_non_null(strstr(err.text, "other mounts"));
}

static void the_next_process_finds_what_is_mounted(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL;
    CBX_AUTO(sandbox) next = NULL;
    struct cbx_permit permit = permit_for("");
    permit.mounts = (struct cbx_sha256){ { 1, 2, 3 } };
    struct cbx_frame_mount report = good_report();
    assert_int_equal(prepare_reported(&report, false, &first), 0);
    assert_int_equal(cbx_sandbox_claim(first, &permit, &err), 0);
    FAKE_AWAIT(fake.containers[0].tag_len > 0);
    CBX_AUTO_JSON before = json_deep_copy(cbx_sandbox_mounted(first));
    cbx_sandbox_detach(first);
    FAKE_AWAIT(fake.containers[0].fd < 0);
    fake.containers[0].running = true;
    assert_int_equal(cbx_sandbox_adopt(engine, &config, fake.containers[0].id, &next, &err), 0);
    assert_true(json_equal(cbx_sandbox_mounted(next), before));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_engine_gets_the_open_folder_and_no_path_that_others_may_change),
        TEST(a_sandbox_without_mounts_has_neither),
        TEST(what_is_mounted_is_kept_with_its_flags),
        TEST(another_folder_is_not_used_and_its_container_is_removed),
        TEST(a_report_of_other_mounts_is_no_report),
        TEST(for_writing_it_must_not_be_read_only),
        TEST(only_a_permit_with_these_mounts_claims_it),
        TEST(the_next_process_finds_what_is_mounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
