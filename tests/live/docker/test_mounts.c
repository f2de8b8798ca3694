/* SPDX-License-Identifier: MIT
 * Folders of the host on the real engine: the mounted folder is the opened one, and the access of
 * programs without a guard. Exit 77 without an engine. */
#include "tests/live/docker/live.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the host with a file and a program, for the length of a test. */
static char folder[64];

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/cbx-mounts-XXXXXX");
    assert_non_null(mkdtemp(folder));
    chmod(folder, 0777);
    write_file("file", "granted\n", 0644);
    write_file("tool", "#!/bin/sh\necho it ran\n", 04755);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* Opens the folder, calls `between`, which may be NULL, and creates a sandbox with the opened
 * folder. */
static int open_mounted(const char *kernel, bool writable, void (*between)(void),
                        struct cbx_sandbox **out, struct cbx_err *err)
{
    CBX_AUTO_FD fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CBX_AUTO_JSON description = json_pack("[{s:s}]", "host", folder);
    const struct cbx_sandbox_mounts mounts = {
        .items = { { .fd = fd, .container = "/data", .writable = writable } },
        .count = 1,
        .description = description,
    };
    if (between != NULL) {
        between();
    }
    return cbx_sandbox_prepare_with(engine, &config, kernel, &live_limits, NULL, &mounts, out, err);
}

static struct cbx_sandbox *open_claimed(const char *language, bool writable, void (*between)(void))
{
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    struct cbx_permit permit = permit_for(language, "");
    if (open_mounted(cbx_kernel_of(language), writable, between, &sandbox, &err) != 0 ||
        cbx_sandbox_claim(sandbox, &permit, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return sandbox;
}

#define WITH_MOUNT(what, writable, between)                                                        \
    (void)state;                                                                                   \
    const char *const language = what;                                                             \
    live_accepted_count = 0;                                                                       \
    CBX_AUTO(sandbox) sandbox = open_claimed(language, writable, between);                         \
    __attribute__((cleanup(drop))) struct seen seen = { 0 }

static void a_folder_can_be_read_and_not_changed(void **state)
{
    WITH_MOUNT("shell", false, NULL);
    RUN("cat /data/file; touch /data/file /data/new; rm /data/file; mkdir /data/x; mv /data/file "
        "/data/y; ls /data");
    assert_non_null(strstr(seen.out.p, "granted\n"));
    assert_non_null(strstr(seen.out.p, "file\ntool\n"));
    assert_null(strstr(seen.out.p, "new"));
}

static void what_is_written_is_in_the_folder_of_the_host(void **state)
{
    char path[128], text[16] = "";
    WITH_MOUNT("shell", true, NULL);
    RUN("mkdir /data/made && echo inside >/data/made/file && rm /data/file");
    snprintf(path, sizeof(path), "%s/made/file", folder);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    assert_string_equal(text, "inside\n");
    snprintf(path, sizeof(path), "%s/file", folder);
    assert_int_equal(access(path, F_OK), -1);
}

/* With and without the flag noexec, which mounts for writing do not have. */
static void nothing_in_it_is_executed(void **state)
{
    for (int writable = 0; writable < 2; writable++) {
        WITH_MOUNT("shell", writable != 0, NULL);
        RUN("/data/tool; cp /bin/true /data/copy; chmod 4755 /data/copy; /data/copy && echo it "
            "ran");
        assert_null(strstr(seen.out.p, "it ran"));
        assert_non_null(strstr(seen.err.p, "Permission denied"));
    }
}

static void it_holds_files_and_folders_and_nothing_else(void **state)
{
    WITH_MOUNT("shell", true, NULL);
    RUN("ln -s /etc/passwd /data/link; mkfifo /data/pipe; mknod /data/device c 1 3; ls /data");
    assert_string_equal(seen.out.p, "file\ntool\n");
}

static void nothing_in_it_gets_the_rights_or_a_second_name_of_a_file(void **state)
{
    char path[128];
    struct stat status;
    WITH_MOUNT("shell", true, NULL);
    RUN("touch /data/a; chmod 4755 /data/a; chmod 2755 /data/a; chmod 755 /data/a; ln /data/a "
        "/data/b; "
        "ln /data/file /data/c; ls /data");
    assert_string_equal(seen.out.p, "a\nfile\ntool\n");
    snprintf(path, sizeof(path), "%s/a", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
    assert_int_equal(status.st_nlink, 1);
}

/* Another folder, a link to one, or nothing stands at the path when the engine mounts. */
static void swap_for_a_folder(void)
{
    char away[80], file[96];
    snprintf(away, sizeof(away), "%s-away", folder);
    assert_int_equal(rename(folder, away), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(file, sizeof(file), "%s/file", folder);
    FILE *f = fopen(file, "we");
    assert_non_null(f);
    fputs("another\n", f);
    fclose(f);
}

static void swap_for_a_link(void)
{
    char away[80];
    snprintf(away, sizeof(away), "%s-away", folder);
    assert_int_equal(rename(folder, away), 0);
    assert_int_equal(symlink("/etc", folder), 0);
}

static void take_away(void)
{
    char away[80];
    snprintf(away, sizeof(away), "%s-away", folder);
    assert_int_equal(rename(folder, away), 0);
}

static void what_was_opened_is_mounted_whatever_its_path_has_become(void **state)
{
    void (*const swaps[])(void) = { swap_for_a_folder, swap_for_a_link, take_away };
    for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
        WITH_MOUNT("shell", false, swaps[i]);
        RUN("cat /data/file; ls /data");
        assert_string_equal(seen.out.p, "granted\nfile\ntool\n");
        char away[80];
        snprintf(away, sizeof(away), "%s-away", folder);
        struct stat status;
        if (lstat(folder, &status) == 0) {
            S_ISLNK(status.st_mode) ? (void)unlink(folder) : (void)remove_folder(NULL);
        }
        assert_int_equal(rename(away, folder), 0);
    }
}

static void the_flags_are_those_that_the_engine_set(void **state)
{
    WITH_MOUNT("shell", false, NULL);
    CBX_AUTO_JSON want = json_pack("[s,s,s,s]", "ro", "nosuid", "nodev", "noexec");
    const json_t *mounted = json_array_get(cbx_sandbox_mounted(sandbox), 0);
    assert_true(json_equal(json_object_get(mounted, "flags"), want));
    (void)seen;
}

static void submounts_of_the_folder_are_not_there(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    struct cbx_err err = { 0 };
    CBX_AUTO_FD fd = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct cbx_sandbox_mounts mounts = {
        .items = { { .fd = fd, .container = "/data" } },
        .count = 1,
    };
    CBX_AUTO(sandbox) sandbox = NULL;
    struct cbx_permit permit = permit_for("shell", "");
    if (cbx_sandbox_prepare_with(engine, &config, "bash", &live_limits, NULL, &mounts, &sandbox,
                                 &err) != 0 ||
        cbx_sandbox_claim(sandbox, &permit, &err) != 0) {
        fail_msg("%s", err.text);
    }
    __attribute__((cleanup(drop))) struct seen seen = { 0 };
    run(sandbox, "shell", "ls /data/pts | wc -l; ls /data | wc -l", &seen);
    assert_true(
        cbx_str_starts(cbx_buf_str(&seen.out), CBX_STR("0\n"))); /* devpts is mounted there */
}

static void gvisor_and_mounts_do_not_go_together(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    struct cbx_limits before = live_limits;
    config.gvisor_runtime = "runsc";
    live_limits.isolation = CBX_ISOLATION_GVISOR;
    assert_int_equal(open_mounted("python", false, NULL, &sandbox, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "gVisor"));
    config.gvisor_runtime = NULL;
    live_limits = before;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    const struct CMUnitTest tests[] = {
        TEST(a_folder_can_be_read_and_not_changed),
        TEST(what_is_written_is_in_the_folder_of_the_host),
        TEST(nothing_in_it_is_executed),
        TEST(it_holds_files_and_folders_and_nothing_else),
        TEST(nothing_in_it_gets_the_rights_or_a_second_name_of_a_file),
        TEST(what_was_opened_is_mounted_whatever_its_path_has_become),
        TEST(the_flags_are_those_that_the_engine_set),
        TEST(submounts_of_the_folder_are_not_there),
        TEST(gvisor_and_mounts_do_not_go_together),
    };
    LIVE_RUN(argc, argv, tests);
}
