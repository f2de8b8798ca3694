/* SPDX-License-Identifier: MIT
 * A tar archive of few small files: this machine's tar reads it. */
#include "docker/engine/docker/tar.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static void an_archive_has_headers_contents_and_an_end(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) tar;
    cbx_buf_init(&tar, 64 * 1024);
    cbx_tar_add(&tar, "Dockerfile", CBX_STR("FROM x\n"));
    cbx_tar_end(&tar);
    assert_int_equal(tar.len, 512 + 512 + 1024);
    assert_string_equal(tar.p, "Dockerfile");
    assert_string_equal(tar.p + 100, "0000644");
    assert_string_equal(tar.p + 124, "00000000007");
    assert_memory_equal(tar.p + 257, "ustar\00000", 8);
    assert_string_equal(tar.p + 512, "FROM x\n");
    /* The checksum: of the header with eight blanks in its place. */
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < 512; i++) {
        sum += i < 148 || i >= 156 ? (unsigned char)tar.p[i] : 0;
    }
    assert_int_equal(strtoul(tar.p + 148, NULL, 8), sum);
}

static void contents_end_at_a_block(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 511, 512, 513 }, blocks[] = { 0, 1, 1, 1, 2 };
    char bytes[513] = { 0 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        CBX_AUTO_DONE(buf) tar;
        cbx_buf_init(&tar, 64 * 1024);
        cbx_tar_add(&tar, "f", (struct cbx_str){ .p = bytes, .len = sizes[i] });
        assert_int_equal(tar.len, 512 + 512 * blocks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_has_headers_contents_and_an_end),
        cmocka_unit_test(contents_end_at_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
