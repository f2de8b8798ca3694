/* SPDX-License-Identifier: MIT
 * Files of the workspace for the host: links and other files that a program puts into their way
 * lead nowhere. */
#include "docker/inside/supervisor/supervisor.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- a folder in the place of the workspace -------------------------------------------------------- */

static char here[64], outside[64];

static int open_here(const char *path, int flags, ...)
{
    return open(strcmp(path, "/workspace") == 0 ? here : path, flags, 0600);
}
#define open(...) open_here(__VA_ARGS__)
#include "docker/inside/supervisor/supervisor_files.c"
#undef open

/* --- the rest of the supervisor --------------------------------------------------------------------- */

static uint32_t code;
static char data[256];

void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    assert_int_equal(type, CBX_FRAME_ANSWER);
    assert_int_equal(a_len, sizeof(code));
    memcpy(&code, a, sizeof(code));
    snprintf(data, sizeof(data), "%.*s", (int)(b_len < sizeof(data) - 1 ? b_len : sizeof(data) - 1),
             b_len > 0 ? (const char *)b : "");
}

static char reported[256];

void cbx_report_frame(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    (void)type;
    (void)a;
    (void)a_len;
    size_t used = strlen(reported);
    snprintf(reported + used, sizeof(reported) - used, "%.*s ", (int)b_len, (const char *)b);
}

void cbx_bytes_add(struct cbx_bytes *bytes, const void *p, size_t len)
{
    bytes->p = realloc(bytes->p, bytes->len + len + 1);
    memcpy(bytes->p + bytes->len, p, len);
    bytes->len += len;
}

void cbx_bytes_free(struct cbx_bytes *bytes)
{
    free(bytes->p);
    *bytes = (struct cbx_bytes){ 0 };
}

void cbx_die(void)
{
    fail_msg("the supervisor ended");
    abort();
}

/* --- requests ------------------------------------------------------------------------------------------ */

static uint32_t get(const char *path)
{
    uint8_t payload[256];
    uint32_t most = 100;
    memcpy(payload, &most, sizeof(most));
    memcpy(payload + sizeof(most), path, strlen(path));
    cbx_file_get(payload, sizeof(most) + strlen(path));
    return code;
}

static uint32_t put(const char *path, const char *bytes)
{
    uint8_t payload[256];
    uint32_t len = (uint32_t)strlen(path);
    memcpy(payload, &len, sizeof(len));
    memcpy(payload + sizeof(len), path, len);
    memcpy(payload + sizeof(len) + len, bytes, strlen(bytes));
    cbx_file_put(payload, sizeof(len) + len + strlen(bytes));
    return code;
}

static void in(const char *folder, const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", folder, name);
}

static void write_to(const char *folder, const char *name, const char *text)
{
    char path[128];
    in(folder, name, path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int begin(void **state)
{
    (void)state;
    snprintf(here, sizeof(here), "/tmp/test_files.XXXXXX");
    snprintf(outside, sizeof(outside), "/tmp/test_outside.XXXXXX");
    assert_non_null(mkdtemp(here));
    assert_non_null(mkdtemp(outside));
    write_to(outside, "secret", "of the host");
    write_to(here, "own", "of the program");
    reported[0] = '\0';
    return 0;
}

static int end(void **state)
{
    char command[256];
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(command, sizeof(command), "exec rm -rf %s %s", here, outside);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    return 0;
}

static void link_to_outside(const char *to, const char *name)
{
    char path[128], target[128];
    in(here, name, path);
    in(outside, to, target);
    assert_int_equal(symlink(target, path), 0);
}

static void a_file_is_read_and_written(void **state)
{
    (void)state;
    assert_int_equal(get("own"), 0);
    assert_string_equal(data, "of the program");
    assert_int_equal(put("folder/new", "text"), 0);
    assert_int_equal(get("folder/new"), 0);
    assert_string_equal(data, "text");
}

static void a_link_is_neither_read_nor_written_through(void **state)
{
    (void)state;
    link_to_outside("secret", "link");
    link_to_outside("", "folder");
    static const char *const paths[] = { "link", "folder/secret", "./folder/secret" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_not_equal(get(paths[i]), 0);
        assert_string_equal(data, "");
    }
    put("folder/secret", "changed");
    put("folder/new", "made");
    put("link", "changed");
    char path[128];
    in(outside, "new", path);
    assert_int_not_equal(access(path, F_OK), 0);
    in(outside, "secret", path);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, strlen("of the host"));
}

static void a_path_does_not_climb_out(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "../%s/secret", strrchr(outside, '/') + 1);
    assert_int_not_equal(get(path), 0);
    assert_int_not_equal(put(path, "changed"), 0);
    assert_int_not_equal(get("/etc/hostname"), 0);
    cbx_file_delete((const uint8_t *)path, strlen(path));
    assert_int_not_equal(code, 0);
}

static void what_is_deleted_is_the_link(void **state)
{
    (void)state;
    char path[128];
    link_to_outside("", "folder");
    cbx_file_delete((const uint8_t *)"folder", strlen("folder"));
    in(outside, "secret", path);
    assert_int_equal(access(path, F_OK), 0);
}

static void changed_files_are_the_workspaces_own(void **state)
{
    (void)state;
    const struct timespec long_ago = { 0 };
    link_to_outside("secret", "link");
    link_to_outside("", "folder");
    assert_true(cbx_file_report_changed(&long_ago));
    assert_string_equal(reported, "own ");
}

static void a_file_that_the_host_put_is_none_that_the_next_run_changed(void **state)
{
    (void)state;
    struct timespec since;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(put("own", "x"), 0);
        assert_int_equal(put("other", "x"), 0);
        cbx_file_note_begin(&since);
        assert_true(cbx_file_report_changed(&since));
        assert_string_equal(reported, "");
    }
    write_to(here, "made", "by the program");
    assert_true(cbx_file_report_changed(&since));
    assert_string_equal(reported, "made ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read_and_written, begin, end),
        cmocka_unit_test_setup_teardown(a_link_is_neither_read_nor_written_through, begin, end),
        cmocka_unit_test_setup_teardown(a_path_does_not_climb_out, begin, end),
        cmocka_unit_test_setup_teardown(what_is_deleted_is_the_link, begin, end),
        cmocka_unit_test_setup_teardown(changed_files_are_the_workspaces_own, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_the_host_put_is_none_that_the_next_run_changed,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
