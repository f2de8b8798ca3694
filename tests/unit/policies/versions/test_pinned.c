/* SPDX-License-Identifier: MIT
 * Requirements with a version and hashes: one form, and no other. */
#include "policies/base/buf.h"
#include "policies/packages.h"
#include "policies/versions/pinned.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#define A64  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HASH " --hash=sha256:" A64

static bool parse(const char *line, struct cbx_pinned *out)
{
    return cbx_pinned_parse(cbx_str_of(line), out);
}

static void a_line_has_name_version_marker_and_hashes(void **state)
{
    (void)state;
    struct cbx_pinned p;
    assert_true(parse("a-b==2!1.0rc1+x" HASH " --hash=sha256:" B64, &p));
    assert_true(cbx_str_is(p.name, "a-b") && cbx_str_is(p.version, "2!1.0rc1+x"));
    assert_true(cbx_str_is(p.requirement, "a-b==2!1.0rc1+x"));
    assert_false(p.conditional);
    assert_true(cbx_str_is(cbx_pinned_take_hash(&p.hashes), A64));
    assert_true(cbx_str_is(cbx_pinned_take_hash(&p.hashes), B64));
    assert_int_equal(cbx_pinned_take_hash(&p.hashes).len, 0);
    assert_true(parse("a==1 ; python_version < \"3.12\" or os_name == \"nt\"" HASH, &p));
    assert_true(p.conditional && cbx_str_is(p.name, "a") && cbx_str_is(p.version, "1"));
}

static void any_other_text_is_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "a==1",
        HASH,
        "a" HASH,
        "a>=1" HASH,
        "a===1" HASH,
        "a==1.*" HASH,
        "a==1,<2" HASH,
        "a == 1" HASH,
        "a[x]==1" HASH,
        "a==x y" HASH,
        "a @ https://x/a.whl" HASH,
        " a==1" HASH,
        "a==1 " HASH,
        "a==1" HASH " ",
        "a==1 " HASH HASH " x",
        "a==1; python_version < \"3\"" HASH,
        "a==1 ; python_version < '3'" HASH,
        "a==1 ; python" HASH,
        "a==1 ; " HASH,
        "a==1 --hash=sha256:" A64 "0",
        "a==1 --hash=sha256:AAAA",
        "a==1 --hash=md5:" A64,
        "a==1" HASH " --index-url=x",
        "--index-url==1" HASH,
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct cbx_pinned p;
        if (parse(lines[i], &p)) {
            fail_msg("'%s'", lines[i]);
        }
    }
}

static void a_line_may_have_as_many_bytes_as_the_cap(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) line;
    struct cbx_pinned p;
    cbx_buf_init(&line, (size_t)2 * CBX_PINNED_BYTES_MAX);
    cbx_buf_add_cstr(&line, "a==1");
    while (line.len + sizeof(HASH) - 1 <= CBX_PINNED_BYTES_MAX) {
        cbx_buf_add_cstr(&line, HASH);
    }
    assert_true(parse(line.p, &p));
    cbx_buf_add_cstr(&line, HASH);
    assert_false(parse(line.p, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_name_version_marker_and_hashes),
        cmocka_unit_test(any_other_text_is_none),
        cmocka_unit_test(a_line_may_have_as_many_bytes_as_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
