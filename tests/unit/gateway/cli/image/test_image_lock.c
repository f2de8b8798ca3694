/* SPDX-License-Identifier: MIT
 * The file of `codebox image build --lock`: its forms, its packages, and the indexes that it may
 * name. */
#include "gateway/cli/image/image_lock.h"
#include "tests/unit/gateway/scratch.h"

#include <sys/stat.h>

#define PINNED                                                                                     \
    "a==1.0 --hash=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
#define SHA512                                                                                     \
    "sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/"                                                    \
    "538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg=="
#define NPM                                                                                        \
    "{\"lockfileVersion\": 3, \"packages\": {\"node_modules/a\": {\"version\": \"1.0.0\", "        \
    "\"integrity\": \"" SHA512 "\", \"resolved\": \"https://example.org/a.tgz\"}}}"

static struct scratch scratch;

static int make_folder(void **state)
{
    (void)state;
    scratch_make(&scratch);
    return chdir(scratch.path);
}

static int remove_folder(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    scratch_remove(&scratch);
    return 0;
}

/* Reads the file with these options; an error is one line. */
static void read_with(struct cbx_options options, int code, const char *fragment)
{
    struct cbx_err err = { .text = "" };
    CBX_AUTO_DONE(image_lock) lock = { 0 };
    int failed = cbx_image_lock_read(&options, &lock, &err);
    if (failed != code || strstr(err.text, fragment) == NULL) {
        fail_msg("%s: %d, '%s', expected '%s'", options.lock, failed, err.text, fragment);
    }
    assert_true((lock.file.text.len > 0) == (code == 0));
}

static void write_file(const char *name, struct cbx_str text)
{
    scratch_write(scratch.path, name, text);
}

static void a_file_is_read_with_the_line_ends_of_any_system(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(image_lock) lock = { 0 };
    write_file("requirements.txt", CBX_STR("\xef\xbb\xbf# x\r\n" PINNED));
    const struct cbx_options options = { .lock = "requirements.txt" };
    assert_int_equal(cbx_image_lock_read(&options, &lock, &err), 0);
    assert_true(cbx_str_is(lock.file.text, PINNED));
    assert_string_equal(lock.language, "python");
}

static void what_is_no_text_in_a_file_is_refused(void **state)
{
    (void)state;
    static char large[CBX_REPORT_BYTES_MAX + 1];
    memset(large, '#', sizeof(large));
    write_file("nul.txt", (struct cbx_str){ "a\0b", 3 });
    write_file("latin.txt", CBX_STR("# caf\xe9\n"));
    write_file("large.txt", (struct cbx_str){ large, sizeof(large) });
    assert_int_equal(mkdir("folder", 0755), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    read_with((struct cbx_options){ .lock = "missing.txt" }, CBX_EIO, "No such file");
    read_with((struct cbx_options){ .lock = "folder" }, CBX_EINVAL, "is no regular file");
    read_with((struct cbx_options){ .lock = "pipe" }, CBX_EINVAL, "is no regular file");
    read_with((struct cbx_options){ .lock = "nul.txt" }, CBX_EINVAL,
              "nul.txt: the file is no text");
    read_with((struct cbx_options){ .lock = "latin.txt" }, CBX_EINVAL, "the file is no text");
    read_with((struct cbx_options){ .lock = "large.txt" }, CBX_ETOOBIG, "allowed are 4194304");
}

static void a_refusal_names_the_file_and_the_line(void **state)
{
    (void)state;
    write_file("requirements.txt", CBX_STR(PINNED "b>=2\n"));
    read_with((struct cbx_options){ .lock = "requirements.txt" }, CBX_EINVAL,
              "requirements.txt: line 2, column 1: 'b>=2' does not say which version");
}

static void packages_are_for_the_language_of_their_manager(void **state)
{
    (void)state;
    write_file("requirements.txt", CBX_STR(PINNED));
    read_with((struct cbx_options){ .lock = "requirements.txt", .language = "python" }, 0, "");
    read_with((struct cbx_options){ .lock = "requirements.txt", .language = "typescript" },
              CBX_EINVAL,
              "its packages are for Python, and --language is 'typescript', allowed is");
    read_with((struct cbx_options){ .lock = "requirements.txt", .language = "bash" }, CBX_EINVAL,
              "allowed is python");
}

static void a_source_beyond_the_indexes_of_the_policy_is_refused(void **state)
{
    (void)state;
    write_file("requirements.txt", CBX_STR(PINNED "-i https://example.org/simple\n"));
    write_file("package-lock.json", CBX_STR(NPM));
    read_with((struct cbx_options){ .lock = "requirements.txt" }, CBX_EPOLICY,
              "requirements.txt: line 2: '-i https://example.org/simple' is of no index of policy "
              "'default', allowed under `indexes` are: default");
    read_with((struct cbx_options){ .lock = "requirements.txt",
                                    .pip_index = "https://example.org/simple/" },
              0, "");
    read_with((struct cbx_options){ .lock = "package-lock.json" }, CBX_EPOLICY,
              "line 1: 'https://example.org/a.tgz' is of no index of policy 'default'");
    read_with((struct cbx_options){ .lock = "package-lock.json",
                                    .language = "typescript",
                                    .npm_registry = "https://example.org/" },
              0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_with_the_line_ends_of_any_system),
        cmocka_unit_test(what_is_no_text_in_a_file_is_refused),
        cmocka_unit_test(a_refusal_names_the_file_and_the_line),
        cmocka_unit_test(packages_are_for_the_language_of_their_manager),
        cmocka_unit_test(a_source_beyond_the_indexes_of_the_policy_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
