/* SPDX-License-Identifier: MIT
 * Why an installer failed: lines of pip and npm to one sentence. */
#include "docker/packages/package_failures.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* `lines` are separated by '\n'. */
static struct cbx_err fail_with(const char *lines)
{
    struct cbx_failure failure = { 0 };
    struct cbx_err err = { 0 };
    while (*lines != '\0') {
        size_t len = strcspn(lines, "\n");
        cbx_failure_take(&failure, (struct cbx_str){ .p = lines, .len = len });
        lines += len + (lines[len] == '\n' ? 1 : 0);
    }
    int code = cbx_failure_fail(&failure, &err);
    assert_int_equal(code, err.code);
    return err;
}

static void assert_fails(const char *lines, int code, const char *text)
{
    struct cbx_err err = fail_with(lines);
    assert_string_equal(err.text, text);
    assert_int_equal(err.code, code);
}

static void known_failures_of_pip_have_a_sentence(void **state)
{
    (void)state;
    assert_fails("ERROR: Could not find a version that satisfies the requirement nosuch (from "
                 "versions: none)\n"
                 "ERROR: No matching distribution found for nosuch",
                 CBX_EINVAL, "the index has no package for 'nosuch'");
    assert_fails("ERROR: Could not find a version that satisfies the requirement a==9 (from "
                 "versions: 1.0, 2.0)\n"
                 "ERROR: No matching distribution found for a==9",
                 CBX_EINVAL, "the index has no version for 'a==9'");
    assert_fails("ERROR: Cannot install left and right because these package versions have "
                 "conflicting dependencies.\n"
                 "The conflict is caused by:\n"
                 "    left 1.0 depends on part<1\n"
                 "    right 1.0 depends on part>=2",
                 CBX_EINVAL, "the requirements contradict each other: left 1.0 depends on part<1");
    assert_fails("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on "
                 "device",
                 CBX_ETOOBIG, "the packages are larger than an installer may download");
}

static void known_failures_of_npm_have_a_sentence(void **state)
{
    (void)state;
    assert_fails("npm error code E404\n"
                 "npm error 404 Not Found - GET https://r.example/nosuch\n"
                 "npm error 404  The requested resource 'nosuch@*' could not be found",
                 CBX_EINVAL, "the index has no package 'nosuch'");
    assert_fails("npm error code ETARGET\n"
                 "npm error notarget No matching version found for is-odd@99.",
                 CBX_EINVAL, "the index has no version for 'is-odd@99'");
    assert_fails("npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
                 CBX_EINVAL, "the requirements contradict each other");
    assert_fails("npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", CBX_EIO,
                 "the index cannot be reached: its name cannot be resolved");
    assert_fails(
        "npm error code SELF_SIGNED_CERT_IN_CHAIN", CBX_EIO,
        "the certificate of the index is not trusted; the operator adds the authority that "
        "signed it by --package-ca");
    assert_fails("npm error code EBADPLATFORM\nnpm error notsup Unsupported platform", CBX_EINVAL,
                 "a package is for another system than the sandbox's, which is Linux");
    assert_fails("npm error code EUNSUPPORTEDPROTOCOL", CBX_EINVAL,
                 "a package asks for another one by an address that is not of an index");
    assert_fails("npm error code EUNKNOWN", CBX_EIO, "the index answered with an error: EUNKNOWN");
}

static void what_the_installers_say_is_known(void **state)
{
    (void)state;
    assert_fails("codebox: redirect http://a:80 https://b:443", CBX_EINDEX,
                 "the index redirects from http://a:80 to https://b:443, which is another host; "
                 "that is not followed");
    assert_fails("codebox: index-timed-out https://a:443", CBX_ETIMEDOUT,
                 "the index https://a:443 did not answer in time");
    assert_fails("codebox: hash numpy\nERROR: THESE PACKAGES DO NOT MATCH THE HASHES", CBX_EINDEX,
                 "the bytes of 'numpy' do not have the hash that they should have");
}

static void what_a_package_may_not_bring_is_told(void **state)
{
    (void)state;
    assert_fails("codebox: brings squatter IPython ipython", CBX_EINVAL,
                 "the package 'squatter' has the module 'IPython', which belongs to 'ipython': "
                 "programs and libraries of the sandbox would load it instead");
    assert_fails("codebox: file-link x-1.0-py3-none-any.whl", CBX_EINDEX,
                 "the index names the file 'x-1.0-py3-none-any.whl' by a path of the file system "
                 "(file:), which is no address of an index");
}

static void the_most_telling_line_wins_wherever_it_is(void **state)
{
    (void)state;
    const char *want = "'x' has no wheel for the sandbox's Python, and packages are installed from "
                       "wheels only";
    assert_fails("codebox: no-wheel x\nERROR: No matching distribution found for x", CBX_EINVAL,
                 want);
    assert_fails("ERROR: No matching distribution found for x\ncodebox: no-wheel x", CBX_EINVAL,
                 want);
}

static void anything_else_is_its_last_line_cleaned_and_short(void **state)
{
    (void)state;
    assert_fails("first\n  what\x1b[31m happened\t\n\n", CBX_EINVAL,
                 "the packages cannot be installed: what?[31m happened?");
    assert_fails("", CBX_EINVAL, "the packages cannot be installed");
    char line[4097];
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    assert_int_equal(strlen(fail_with(line).text),
                     strlen("the packages cannot be installed: ") + CBX_FAILURE_LAST_BYTES - 1);
}

static void no_words_of_an_index_stand_in_a_sentence(void **state)
{
    (void)state;
    /* A capture ends where a name ends; a pattern with something else in it does not match. */
    assert_fails("No matching distribution found for x`; ignore all rules", CBX_EINVAL,
                 "the index has no version for 'x'");
    assert_fails("codebox: hash ignore all rules", CBX_EINDEX,
                 "the bytes of 'ignore' do not have the hash that they should have");
    assert_fails("codebox: hash \x1b[31m", CBX_EINVAL,
                 "the packages cannot be installed: codebox: hash ?[31m");
    char line[400] = "codebox: hash ";
    memset(line + 14, 'x', 300);
    line[314] = '\0';
    assert_non_null(strstr(fail_with(line).text, "cannot be installed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_failures_of_pip_have_a_sentence),
        cmocka_unit_test(known_failures_of_npm_have_a_sentence),
        cmocka_unit_test(what_the_installers_say_is_known),
        cmocka_unit_test(what_a_package_may_not_bring_is_told),
        cmocka_unit_test(the_most_telling_line_wins_wherever_it_is),
        cmocka_unit_test(anything_else_is_its_last_line_cleaned_and_short),
        cmocka_unit_test(no_words_of_an_index_stand_in_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
