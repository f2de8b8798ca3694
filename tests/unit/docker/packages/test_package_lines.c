/* SPDX-License-Identifier: MIT
 * The lines that installers read: requests, and sets. */
#include "docker/packages/package_layers.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#define SHA256 "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SHA512                                                                                     \
    "sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/"                                                    \
    "538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg=="
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void accept_requirement(enum cbx_manager manager, const char *line)
{
    struct cbx_err err = { 0 };
    if (cbx_requirements_check(manager, cbx_str_of(line), &err) != 0) {
        fail_msg("'%s': %s", line, err.text);
    }
}

static void refuse_requirement(enum cbx_manager manager, const char *line)
{
    if (cbx_requirements_check(manager, cbx_str_of(line), NULL) != CBX_EINVAL) {
        fail_msg("'%s' is accepted", line);
    }
}

static void names_with_versions_may_be_asked_for(void **state)
{
    (void)state;
    static const char *const pip[] = {
        "numpy",          "numpy>=1.26,<3", "numpy >= 1.26, < 3",
        "Pillow==10.0.*", "zope.interface", "uvicorn[standard]>=0.2",
        "a[b,c]",         "x~=1.0\ny!=2.0", "torch==2.1+cpu",
    };
    static const char *const npm[] = { "lodash",          "lodash@4",   "lodash@^4.17.0",
                                       "@types/node@^20", "@a/b",       "a@1.x || >=2 <3",
                                       "a@latest",        "JSONStream", "a\nb@2" };
    for (size_t i = 0; i < COUNT(pip); i++) {
        accept_requirement(CBX_MANAGER_PIP, pip[i]);
    }
    for (size_t i = 0; i < COUNT(npm); i++) {
        accept_requirement(CBX_MANAGER_NPM, npm[i]);
    }
}

#define HASH      " --hash=" SHA256
#define DIGITS_64 "0000000000000000000000000000000000000000000000000000000000000000"
#define NAME_129  "a" DIGITS_64 DIGITS_64

static void requirements_of_a_lock_file_have_one_version_and_hashes(void **state)
{
    (void)state;
    static const char *const good[] = {
        "a==1.0" HASH,
        "a-b.c==2!1.0rc1+x" HASH HASH,
        "a==1.0 ; python_version < \"3.12\" and (sys_platform == \"linux\")" HASH "\nb==2" HASH,
    };
    static const char *const bad[] = {
        "a" HASH,
        "a>=1" HASH,
        "a==" HASH,
        "a==1.*" HASH,
        "a==1,<2" HASH,
        "a[x]==1" HASH,
        "a @ https://x/a.whl" HASH,
        "a==1" HASH " ",
        "a==1" HASH " --global-option=x",
        "a==1" HASH " --index-url=http://x/",
        "a==1 --hash=md5:00",
        "a==1 --hash=sha256:00",
        "a==1 ;" HASH,
        "a==1 ; python_version < '3'" HASH,
        "a==1 ; $(id)" HASH,
        "--index-url=x" HASH,
        "a==1" HASH "\nb==1",
        "a==1" HASH "\n-r x",
        "a==1 # x" HASH,
        "a == 1" HASH,
        "a==1;python_version < \"3\"" HASH,
        NAME_129 "==1" HASH,
        "a==1." DIGITS_64 HASH,
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        accept_requirement(CBX_MANAGER_PIP, good[i]);
        assert_true(cbx_requirements_are_pinned(cbx_str_of(good[i])));
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        refuse_requirement(CBX_MANAGER_PIP, bad[i]);
    }
    refuse_requirement(CBX_MANAGER_NPM, "a==1.0" HASH);
    assert_false(cbx_requirements_are_pinned(CBX_STR("a==1.0")));
    assert_false(cbx_requirements_are_pinned(CBX_STR("")));
}

static void no_option_url_or_path_may_be_asked_for(void **state)
{
    (void)state;
    static const char *const both[] = {
        "",
        "\n",
        "--index-url=http://x/",
        "-r /etc/passwd",
        "-e .",
        "./a",
        "../a",
        "/tmp/a.whl",
        "https://x/a-1.whl",
        "git+https://x/a",
        "file:a",
        "a --hash=sha256:00",
        "a b",
        "a;b",
        "a # b",
        "a\\",
        "a\r",
        "a\n\nb",
        " a",
        "a@https://x/a.tgz",
        "a @ https://x/a.whl",
        "a@file:../b",
        "a@git+ssh://x",
        "caf\xc3\xa9",
        ".a",
        "_a",
    };
    static const char *const pip[] = { "a>=",   "a>=1,", "a>=1,,<2",   "a[", "a[]",   "a[b",
                                       "a[b]c", "a=1",   "a===1",      "a-", "a>=-1", "a>=1;python",
                                       "a@1",   "@a/b",  "a>=1 --pre", "a,b" };
    static const char *const npm[] = {
        "user/repo", "@a",   "@a/",          "@/b",  "@a/b/c", "a@",        "a@npm:b",
        "a@-1",      "a@ 1", "node_modules", "a@1 ", "a@b/c",  "@a/../b@1", "@node_modules/a"
    };
    for (size_t i = 0; i < COUNT(both); i++) {
        refuse_requirement(CBX_MANAGER_PIP, both[i]);
        refuse_requirement(CBX_MANAGER_NPM, both[i]);
    }
    for (size_t i = 0; i < COUNT(pip); i++) {
        refuse_requirement(CBX_MANAGER_PIP, pip[i]);
    }
    for (size_t i = 0; i < COUNT(npm); i++) {
        refuse_requirement(CBX_MANAGER_NPM, npm[i]);
    }
    struct cbx_str nul = { .p = "a\0b", .len = 3 }, range = { .p = "a@1\0b", .len = 5 };
    assert_int_equal(cbx_requirements_check(CBX_MANAGER_PIP, nul, NULL), CBX_EINVAL);
    assert_int_equal(cbx_requirements_check(CBX_MANAGER_NPM, range, NULL), CBX_EINVAL);
}

static void the_refused_line_is_named(void **state)
{
    (void)state;
    struct cbx_err err;
    cbx_requirements_check(CBX_MANAGER_PIP, CBX_STR("numpy\n--pre"), &err);
    assert_string_equal(err.text, "requirement 2 is '--pre', allowed is a name with versions, as "
                                  "'numpy>=1.26,<3'");
}

static void requirements_have_a_limit(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) lines;
    cbx_buf_init(&lines, 64 * 1024);
    for (int i = 0; i < CBX_REQUIREMENTS_MAX; i++) {
        cbx_buf_add_cstr(&lines, "a\n");
    }
    assert_int_equal(cbx_requirements_check(CBX_MANAGER_PIP, cbx_buf_str(&lines), NULL), 0);
    cbx_buf_add_cstr(&lines, "a\n");
    assert_int_equal(cbx_requirements_check(CBX_MANAGER_PIP, cbx_buf_str(&lines), NULL),
                     CBX_ETOOBIG);
    cbx_buf_reset(&lines);
    for (int i = 0; i <= CBX_REQUIREMENT_BYTES_MAX; i++) {
        cbx_buf_add_char(&lines, 'a');
    }
    assert_int_equal(cbx_requirements_check(CBX_MANAGER_PIP, cbx_buf_str(&lines), NULL),
                     CBX_ETOOBIG);
}

static void sets_name_packages_by_version_and_hash(void **state)
{
    (void)state;
    size_t count = 0;
    assert_int_equal(cbx_package_set_check(
                         CBX_MANAGER_PIP,
                         CBX_STR("numpy 1.26.4 " SHA256 "\nzope.interface 1!6.0+x " SHA256 "\n"),
                         &count, NULL),
                     0);
    assert_int_equal(count, 2);
    assert_int_equal(
        cbx_package_set_check(CBX_MANAGER_NPM,
                              CBX_STR("node_modules/a a 1.0.0 " SHA512 " -\n"
                                      "node_modules/a/node_modules/@b/c @b/c 1.0.0-rc.1+x " SHA512
                                      " https://example.com/c/-/c-1.0.0.tgz\n"
                                      "node_modules/alias real 2.0.0 " SHA512 " -\n"),
                              &count, NULL),
        0);
    assert_int_equal(count, 3);
}

static void anything_else_is_no_set(void **state)
{
    (void)state;
    static const char *const pip[] = {
        "",
        "\n",
        "a 1 " SHA256,
        "a 1 " SHA256 " \n",
        "a 1 " SHA256 " -\n",
        "a  1 " SHA256 "\n",
        "a 1\n",
        "a 1 sha256:00\n",
        "a 1 SHA256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
        "a 1 sha256:0011223344556677889 aabbccddeeff00112233445566778899aabbccddeeff\n",
        "--pre 1 " SHA256 "\n",
        "a --pre " SHA256 "\n",
        "a 1;x " SHA256 "\n",
        "a 1 " SHA256 "\r\n",
        "a 1 " SHA256 "\na 2 " SHA256 "\n",
    };
    static const char *const npm[] = {
        "a a 1.0.0 " SHA512 " -\n",
        "/node_modules/a a 1.0.0 " SHA512 " -\n",
        "node_modules/../a a 1.0.0 " SHA512 " -\n",
        "node_modules/.. a 1.0.0 " SHA512 " -\n",
        "node_modules/a/../b a 1.0.0 " SHA512 " -\n",
        "node_modules/a/b a 1.0.0 " SHA512 " -\n",
        "node_modules/a/node_modules/ a 1.0.0 " SHA512 " -\n",
        "node_modules/a/node_modules a 1.0.0 " SHA512 " -\n",
        "node_modules/node_modules/a a 1.0.0 " SHA512 " -\n",
        "node_modules/@a a 1.0.0 " SHA512 " -\n",
        "node_modules/@a/.. a 1.0.0 " SHA512 " -\n",
        "node_modules/.bin a 1.0.0 " SHA512 " -\n",
        "node_modules/a -x 1.0.0 " SHA512 " -\n",
        "node_modules/a a file:x " SHA512 " -\n",
        "node_modules/a a 1.0.0 sha1-AAAA -\n",
        "node_modules/a a 1.0.0 " SHA512 "\n",
        "node_modules/a a 1.0.0 " SHA512 " git+ssh://x\n",
        "node_modules/a a 1.0.0 " SHA512 " file:///etc/passwd\n",
        "node_modules/a a 1.0.0 " SHA512 " https://x/'y\n",
        "node_modules/a a 1.0.0 " SHA512 " -\nnode_modules/a b 1.0.0 " SHA512 " -\n",
    };
    for (size_t i = 0; i < COUNT(pip); i++) {
        if (cbx_package_set_check(CBX_MANAGER_PIP, cbx_str_of(pip[i]), NULL, NULL) != CBX_EINVAL) {
            fail_msg("pip %zu: '%s' is accepted", i, pip[i]);
        }
    }
    for (size_t i = 0; i < COUNT(npm); i++) {
        if (cbx_package_set_check(CBX_MANAGER_NPM, cbx_str_of(npm[i]), NULL, NULL) != CBX_EINVAL) {
            fail_msg("npm %zu: '%s' is accepted", i, npm[i]);
        }
    }
}

static void sets_have_a_limit(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX + 1024);
    for (int i = 0; i < CBX_PACKAGE_SET_MAX; i++) {
        cbx_buf_printf(&set, "a%d 1 " SHA256 "\n", i);
    }
    assert_int_equal(cbx_package_set_check(CBX_MANAGER_PIP, cbx_buf_str(&set), NULL, NULL), 0);
    cbx_buf_printf(&set, "a 1 " SHA256 "\n");
    assert_int_equal(cbx_package_set_check(CBX_MANAGER_PIP, cbx_buf_str(&set), NULL, NULL),
                     CBX_ETOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_with_versions_may_be_asked_for),
        cmocka_unit_test(requirements_of_a_lock_file_have_one_version_and_hashes),
        cmocka_unit_test(no_option_url_or_path_may_be_asked_for),
        cmocka_unit_test(the_refused_line_is_named),
        cmocka_unit_test(requirements_have_a_limit),
        cmocka_unit_test(sets_name_packages_by_version_and_hash),
        cmocka_unit_test(anything_else_is_no_set),
        cmocka_unit_test(sets_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
