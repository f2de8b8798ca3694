/* SPDX-License-Identifier: MIT
 * The check of a layer's archive, with archives of the host's tar, and with headers that no tar
 * writes. */
#include "docker/engine/kubernetes/layer_tar.h"

#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1 << 20 };
static struct cbx_err err;

static int feed(struct cbx_str archive, size_t step, struct cbx_layer_tar *tar)
{
    while (archive.len > 0) {
        int failed = cbx_layer_tar_feed(tar, cbx_str_take(&archive, step), &err);
        if (failed) {
            return failed;
        }
    }
    return cbx_layer_tar_end(tar, &err);
}

static int check(const struct cbx_buf *archive)
{
    static const size_t steps[] = { 1, 7, 512, 1000, MOST };
    int first = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct cbx_layer_tar tar = { .place = "usr/lib/p", .bytes_max = MOST, .entries_max = 20 };
        int failed = feed(cbx_buf_str(archive), steps[i], &tar);
        if (i > 0) {
            assert_int_equal(failed, first); /* however the bytes arrive */
        }
        first = failed;
    }
    return first;
}

/* --- archives of tar -------------------------------------------------------------------------- */

/* Runs a shell command in a new folder, and reads what it prints. */
static void run(const char *commands, struct cbx_buf *out)
{
    char folder[] = "/tmp/codebox-tar-XXXXXX", line[4096], bytes[4096];
    int ends[2], status;
    ssize_t n;
    assert_non_null(mkdtemp(folder));
    snprintf(line, sizeof(line), "cd %s && { %s; }; rm -rf %s", folder, commands, folder);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl("/bin/sh", "sh", "-c", line, NULL);
        _exit(127);
    }
    close(ends[1]);
    cbx_buf_init(out, MOST);
    while ((n = read(ends[0], bytes, sizeof(bytes))) > 0) {
        cbx_buf_add_bytes(out, bytes, (size_t)n);
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define TAR                                                                                        \
    "tar --create --format=gnu --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "        \
    "--transform=s,^p,usr/lib/p, "

static int check_tar(const char *commands)
{
    CBX_AUTO_DONE(buf) archive;
    run(commands, &archive);
    return check(&archive);
}

static void files_and_folders_of_packages_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(
        check_tar("mkdir -p p/a/b p/.hidden && echo x >p/a/b/c.py && : >p/empty && " TAR "p"), 0);
    assert_int_equal(
        check_tar("chmod 755 . && mkdir p && echo x >p/tool && chmod 755 p/tool && " TAR "p"), 0);
}

static void long_names_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(
        check_tar("d=p; for i in 1 2 3 4 5 6 7 8; do d=$d/aaaaaaaaaaaaaaaaaaaaaaaaaaaa$i; done; "
                  "mkdir -p $d && echo x >$d/name.py && " TAR "p"),
        0);
}

static void what_is_no_file_or_folder_is_refused(void **state)
{
    (void)state;
    assert_int_equal(check_tar("mkdir p && ln -s /etc/passwd p/a && " TAR "p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && echo x >p/a && ln p/a p/b && " TAR "p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && mkfifo p/a && " TAR "p"), CBX_EPROTO);
}

static void other_places_are_refused(void **state)
{
    (void)state;
    assert_int_equal(check_tar("mkdir p q && " TAR "p q"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && tar --create --format=gnu --owner=0 --group=0 p"),
                     CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && " TAR "--transform=s,lib/p,lib/pq, p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && echo x >p/a && " TAR "--transform=s,/a,/../a, p"),
                     CBX_EPROTO);
    assert_int_equal(
        check_tar("mkdir p && echo x >p/a && " TAR "--transform=s,^usr,/usr, --absolute-names p"),
        CBX_EPROTO);
}

static void whiteouts_are_refused(void **state)
{
    (void)state;
    assert_int_equal(check_tar("mkdir p && echo x >p/.wh.a && " TAR "p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir -p p/a && echo x >p/a/.wh..wh..opq && " TAR "p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir -p p/.wh.x/b && " TAR "p"), CBX_EPROTO);
}

static void other_owners_and_modes_are_refused(void **state)
{
    (void)state;
    assert_int_equal(check_tar("mkdir p && " TAR "--owner=65532 p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && " TAR "--group=4 p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && echo x >p/a && chmod 4755 p/a && " TAR "p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && chmod 1777 p && " TAR "p"), CBX_EPROTO);
}

static void other_formats_are_refused(void **state)
{
    (void)state;
    assert_int_equal(check_tar("mkdir p && " TAR "--format=pax p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && " TAR "--format=ustar p"), CBX_EPROTO);
    assert_int_equal(check_tar("mkdir p && " TAR "p | gzip"), CBX_EPROTO);
    assert_int_equal(check_tar(":"), CBX_EPROTO);
}

/* --- limits, and bytes that no tar writes ------------------------------------------------------- */

static void limits_hold(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) archive;
    run("mkdir p && head -c 100000 /dev/zero >p/a && : >p/b && " TAR "p", &archive);
    struct cbx_layer_tar few = { .place = "usr/lib/p", .bytes_max = MOST, .entries_max = 2 };
    assert_int_equal(feed(cbx_buf_str(&archive), MOST, &few), CBX_ETOOBIG);
    struct cbx_layer_tar small = { .place = "usr/lib/p", .bytes_max = 90000, .entries_max = 9 };
    assert_int_equal(feed(cbx_buf_str(&archive), 512, &small), CBX_ETOOBIG);
}

/* The checksum of the first header, after a change. */
static void sum(struct cbx_buf *archive)
{
    unsigned total = 0;
    memset(archive->p + 148, ' ', 8);
    for (size_t i = 0; i < CBX_LAYER_BLOCK; i++) {
        total += (unsigned char)archive->p[i];
    }
    snprintf(archive->p + 148, 8, "%06o", total);
}

static void changed_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        const char *bytes;
        size_t len;
    } changes[] = {
        { 0, "usr/lib/p/\0x", 12 }, /* what stands after the end of a name is ignored ... */
        { 0, "../lib/p/", 9 },      /* ... and these are refused */
        { 0, "usr/lib/p//", 11 },
        { 0, "usr/lib/p/./", 12 },
        { 124, "\x80\0\0\0\0\0\0\0\0\0\1", 11 }, /* a size in base 256 */
        { 124, "77777777777", 11 },
        { 156, "x", 1 },
        { 156, "K", 1 },
        { 156, "S", 1 },
        { 156, "\0", 1 },
        { 157, "target", 6 },
        { 257, "ustar\0", 6 },
        { 100, "0004755", 7 },
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        CBX_AUTO_DONE(buf) archive;
        run("mkdir p && " TAR "p", &archive);
        memcpy(archive.p + changes[i].at, changes[i].bytes, changes[i].len);
        assert_int_equal(check(&archive), CBX_EPROTO); /* the checksum is another's */
        sum(&archive);
        if (check(&archive) != (i == 0 ? 0 : CBX_EPROTO)) {
            fail_msg("change %zu: %s", i, err.text);
        }
    }
}

static void an_archive_without_its_end_is_refused(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) archive;
    run("mkdir p && echo x >p/a && " TAR "p", &archive);
    for (size_t len = 0; len < 4 * CBX_LAYER_BLOCK; len += 100) {
        struct cbx_layer_tar tar = { .place = "usr/lib/p", .bytes_max = MOST, .entries_max = 9 };
        assert_int_equal(feed(cbx_str_sub(cbx_buf_str(&archive), 0, len), MOST, &tar), CBX_EPROTO);
    }
    char header[CBX_LAYER_BLOCK];
    memcpy(header, archive.p, sizeof(header));
    cbx_buf_add_bytes(&archive, header, sizeof(header));
    assert_int_equal(check(&archive), CBX_EPROTO); /* an entry after the end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_folders_of_packages_are_accepted),
        cmocka_unit_test(long_names_are_accepted),
        cmocka_unit_test(what_is_no_file_or_folder_is_refused),
        cmocka_unit_test(other_places_are_refused),
        cmocka_unit_test(whiteouts_are_refused),
        cmocka_unit_test(other_owners_and_modes_are_refused),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(changed_headers_are_refused),
        cmocka_unit_test(an_archive_without_its_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
