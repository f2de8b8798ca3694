/* SPDX-License-Identifier: MIT
 * Files that the host moves into and out of sandboxes on the real engine. Exit 77 without an
 * engine. */
#include "tests/live/docker/live.h"

static void moves_files_in_and_out(void **state)
{
    IN_SANDBOX("python");
    static const char odd[] = "a b/\xc3\xa9\nx/..y";
    struct cbx_err err;
    struct cbx_str name = cbx_str_of(odd);
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 1 << 24);
    assert_int_equal(cbx_sandbox_put(sandbox, name, (struct cbx_str){ "\0\xff", 2 }, &err), 0);
    assert_int_equal(cbx_sandbox_get(sandbox, name, &bytes, &err), 0);
    assert_int_equal(bytes.len, 2);
    run(sandbox, "python", "print(open('a b/\xc3\xa9\\nx/..y', 'rb').read())", &seen);
    assert_string_equal(seen.out.p, "b'\\x00\\xff'\n");
    CBX_AUTO_JSON list = NULL;
    bool complete;
    assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR("a b"), &list, &complete, &err), 0);
    assert_int_equal(json_array_size(list), 1);
    assert_true(complete);
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a b"), &err), 0);
    assert_int_equal(cbx_sandbox_get(sandbox, name, &bytes, &err), CBX_ENOTFOUND);
}

static void no_file_leads_out_of_the_workspace_or_waits(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err;
    run(sandbox, "python",
        "import os, socket\nos.symlink('/etc/passwd', 'link')\nos.symlink('/etc', 'dir')\n"
        "os.mkfifo('fifo')\nsocket.socket(socket.AF_UNIX).bind('sock')\n"
        "f = open('sparse', 'wb'); f.truncate(12 << 20)\nos.mkdir('d'); os.link('sparse', "
        "'d/hard')\n"
        "open('n' * 255, 'w')\nos.symlink('.', 'self')",
        &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    static const char *const paths[] = { "link",
                                         "dir/passwd",
                                         "fifo",
                                         "sock",
                                         "/etc/passwd",
                                         "../etc/passwd",
                                         "d/../../etc/passwd",
                                         "self/self/link",
                                         "/proc/1/environ",
                                         "d" };
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 1 << 24);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int failed = cbx_sandbox_get(sandbox, cbx_str_of(paths[i]), &bytes, &err);
        if (failed != CBX_EINVAL && failed != CBX_ENOTFOUND) {
            fail_msg("'%s' gave %d", paths[i], failed);
        }
        assert_int_equal(bytes.len, 0);
        failed = cbx_sandbox_put(sandbox, cbx_str_of(paths[i]), CBX_STR("x"), &err);
        assert_true(failed == CBX_EINVAL || failed == CBX_ENOTFOUND);
    }
    assert_int_equal(cbx_sandbox_get(sandbox, CBX_STR("sparse"), &bytes, &err), CBX_ETOOBIG);
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("dir"), &err), 0); /* the link alone */
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR(".."), &err), CBX_EINVAL);
    CBX_AUTO_JSON list = NULL;
    bool complete;
    assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR(""), &list, &complete, &err), 0);
    assert_int_equal(json_array_size(list), 3); /* d, the long one, sparse: no links, no devices */
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_files_in_and_out),
        cmocka_unit_test(no_file_leads_out_of_the_workspace_or_waits),
    };
    LIVE_RUN(argc, argv, tests);
}
