/* SPDX-License-Identifier: MIT */
#include "analyzer/analyze.h"
#include "analyzer/downloads.h"
#include "tests/unit/unit.h"

static struct cbx_policy *policy;
static struct cbx_arena arena, kept;

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_arena_init(&kept, CBX_ANALYSIS_ARENA_MAX);
    return cbx_policy_load("default", &policy, &err);
}

static int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    cbx_arena_done(&kept);
    cbx_arena_done(&arena);
    return 0;
}

/* Returns true if the code of a build runs a file that was downloaded. */
static bool runs(const char *code, const char *folder, struct cbx_downloads *downloads)
{
    struct cbx_decision decision;
    struct cbx_err err;
    struct cbx_analysis request = { .source = cbx_str_of(code),
                                    .language = CBX_STR("shell"),
                                    .build = CBX_BUILD_PROJECT,
                                    .downloads = downloads,
                                    .folder = cbx_str_of(folder) };
    bool found = false;
    cbx_arena_reset(&arena);
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    for (size_t i = 0; i < decision.finding_count; i++) {
        found |= cbx_str_is(decision.findings[i].symbol, CBX_DOWNLOADS_RUN);
    }
    return found;
}

static void check(const char *const *codes, size_t count, bool expected)
{
    for (size_t i = 0; i < count; i++) {
        if (runs(codes[i], "", NULL) != expected) {
            fail_msg("%s", codes[i]);
        }
    }
}

static void a_downloaded_file_that_is_run_is_found_under_its_path(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "curl -o f http://x/y; sh f",
        "wget -P /opt http://x/y.sh; sh /opt/y.sh",
        "wget --directory-prefix=/opt http://x/y.sh; cd /opt; sh ./y.sh",
        "curl --output-dir /opt -O http://x/y.sh; sh /opt/y.sh",
        "curl --output-dir=/opt -o y.sh http://x/z; sh /opt/y.sh",
        "aria2c -d /opt -o y.sh http://x/z; sh /opt/y.sh",
        "cd /opt && wget http://x/y.sh; sh /opt/y.sh",
        "cd /opt && wget http://x/y.sh; cd /; sh opt/y.sh",
        "(cd /opt && wget http://x/y.sh); /opt/y.sh",
        "cd \"$D\" && curl -O http://x/y.sh && sh y.sh",
        "curl -o f http://x/y; sudo ./f",
        "curl -o f http://x/y; bash -e -o pipefail f",
        "curl \"$(cat address)\" > f; sh f",
        "fetch() { curl -o f http://x/y; }; fetch; sh f",
    };
    check(codes, sizeof(codes) / sizeof(codes[0]), true);
}

static void copies_and_pipes_carry_a_download_on(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "curl http://x/y | tee f; sh f",
        "curl http://x/y | gunzip > f; sh f",
        "curl http://x/y | sed s/a/b/ | sudo tee f > /dev/null; sh f",
        "curl http://x/y | { cat > f; }; sh f",
        "sh -c 'curl http://x/y | tee f; sh f'",
        "cd /opt && bash -c 'curl -o f http://x/y'; sh /opt/f",
        "curl -o f http://x/y; cat f > g; sh g",
        "curl -o f http://x/y; mv f g; sh g",
        "curl -o f http://x/y; cp ./f /opt/g; /opt/g",
        "curl -o f http://x/y; cp -t /opt f; /opt/f",
        "curl -o f http://x/y; ln -s f g; ./g",
        "curl -o f http://x/y; install -m 755 f /opt/; /opt/f",
    };
    check(codes, sizeof(codes) / sizeof(codes[0]), true);
}

static void a_download_in_a_folder_of_path_is_run_by_its_name(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "curl -o /usr/local/bin/t http://x/t; t --version",
        "cd /usr/bin && curl -O http://x/t; t",
        "curl -o f http://x/y; install -m755 f /usr/local/bin/g; g",
        "curl -o f http://x/y; mv f /usr/local/bin; f",
        "curl -o f http://x/y; chmod +x f && f",
        "curl -o /usr/local/bin/jq http://x/jq; jq .",
    };
    check(codes, sizeof(codes) / sizeof(codes[0]), true);
}

static void other_files_and_checked_ones_are_no_downloads(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "(cd /opt && wget http://x/y.sh); sh y.sh",
        "curl -o /usr/share/t http://x/t; t",
        "curl -o data.json http://x/y; node build.js data.json",
        "curl -o a.tgz http://x/y; ls | tee log; sh log",
        "curl -o a.tgz http://x/y && echo x > v && . v",
        "curl http://x/y | jq . && echo 1 > v; . v",
        "sh -c 'curl -o a.tgz http://x/y; ls | tee log; sh log'",
        "wget http://x/y.tgz && tar xf y.tgz && mv y /opt/y && /opt/y/bin/y",
        "curl -o f http://x/y; echo \"$H  f\" | sha256sum -c && mv f g && sh g",
        "curl http://x/y | tee f; gpg --verify f.sig f; sh f",
        "curl http://x/k | tee /etc/apt/sources.list.d/k.list && apt-get update",
        "mv f g; curl -o f http://x/y; sh g",
    };
    check(codes, sizeof(codes) / sizeof(codes[0]), false);
}

static void files_of_earlier_code_of_a_build_are_remembered_until_a_check(void **state)
{
    (void)state;
    struct cbx_downloads downloads;
    cbx_downloads_init(&downloads, &kept);
    assert_false(runs("curl -o f http://x/y", "/app", &downloads));
    assert_true(runs("./f", "/app", &downloads));
    assert_true(runs("cd ..; sh app/f", "/app", &downloads));
    assert_false(runs("./f", "/", &downloads));
    assert_true(runs("bash -c app/f", "/", &downloads));
    assert_false(runs("sha256sum -c sums", "/", &downloads));
    assert_false(runs("/app/f", "/", &downloads));
}

static void a_name_that_is_too_long_for_a_path_is_no_file(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) code;
    cbx_buf_init(&code, 65536);
    cbx_buf_add_cstr(&code, "curl -o ");
    for (int i = 0; i < 5000; i++) {
        cbx_buf_add_char(&code, 'x');
    }
    cbx_buf_add_cstr(&code, " http://x/y; chmod +x f; f; sh f");
    assert_false(runs(code.p, "", NULL));
}

static void more_files_than_are_remembered_make_each_file_one_of_them(void **state)
{
    (void)state;
    struct cbx_downloads downloads;
    cbx_downloads_init(&downloads, &kept);
    for (int i = 0; i <= CBX_DOWNLOADS_MAX; i++) {
        char code[64];
        (void)snprintf(code, sizeof(code), "curl -o f%d http://x/y", i);
        assert_false(runs(code, "", &downloads));
    }
    assert_true(runs("sh other.sh", "", &downloads));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_downloaded_file_that_is_run_is_found_under_its_path),
        cmocka_unit_test(copies_and_pipes_carry_a_download_on),
        cmocka_unit_test(a_download_in_a_folder_of_path_is_run_by_its_name),
        cmocka_unit_test(other_files_and_checked_ones_are_no_downloads),
        cmocka_unit_test(files_of_earlier_code_of_a_build_are_remembered_until_a_check),
        cmocka_unit_test(a_name_that_is_too_long_for_a_path_is_no_file),
        cmocka_unit_test(more_files_than_are_remembered_make_each_file_one_of_them),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
