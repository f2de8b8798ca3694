/* SPDX-License-Identifier: MIT
 * Judged documents, also documents whose judgement crashes or does not end. */
#include "analyzer/lint/lsp/lsp_store.h"

#include "analyzer/lint/watch.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <signal.h>

/* Judges by the text: "crash", "hang", or a report with it. */
static void judge(const struct cbx_lint *lint, struct cbx_lint_worker *worker,
                  const struct cbx_lint_path *path, struct cbx_lint_result *out)
{
    (void)lint;
    *out = (struct cbx_lint_result){ 0 };
    cbx_buf_init(&out->output, 4096);
    if (cbx_str_is(path->text, "crash")) {
        raise(SIGSEGV);
    }
    if (cbx_str_is(path->text, "hang")) {
        cbx_lint_watch_timer(worker->limit_ms);
        for (;;) {
            pause();
        }
    }
    cbx_buf_add(&out->output, path->text);
}

/* "URI text" of a result, or "URI reason". */
static void wait_for(struct cbx_lsp_document *d, struct cbx_buf *out)
{
    struct cbx_lint_result result;
    char why[256];
    int done = 0;
    while (done == 0) {
        struct pollfd fd = { .fd = d->judge.child.fd, .events = POLLIN };
        assert_true(poll(&fd, 1, -1) > 0);
        done = cbx_lsp_judge_read(&d->judge, &result, why, sizeof(why));
    }
    cbx_buf_printf(out, "%s %s\n", d->path, done > 0 ? result.output.p : why);
    if (done > 0) {
        cbx_lint_result_done(&result);
    }
    assert_false(cbx_lsp_judge_runs(&d->judge));
}

static struct cbx_lsp_document *open_text(struct cbx_lsp_store *store, const char *uri,
                                          const char *text)
{
    struct cbx_err err;
    struct cbx_lsp_document *d =
        cbx_lsp_store_open(store, cbx_str_of(uri), CBX_STR("python"), 1, cbx_str_of(text), &err);
    assert_non_null(d);
    return d;
}

static void one_that_crashes_or_hangs_costs_itself_alone(void **state)
{
    (void)state;
    CBX_AUTO_DONE(lsp_store) store = { 0 };
    CBX_AUTO_DONE(buf) out;
    const struct cbx_lint lint = { .now = 0 };
    const struct cbx_lint_run how = { .lint = &lint, .jobs = 1, .limit_ms = 20, .check = judge };
    cbx_buf_init(&out, 4096);
    struct cbx_lsp_document *a = open_text(&store, "file:///a.py", "crash");
    struct cbx_lsp_document *b = open_text(&store, "file:///b.py", "hang");
    struct cbx_lsp_document *c = open_text(&store, "file:///c%20d.py", "fine");
    cbx_lsp_store_judge(&store, &how);
    wait_for(c, &out);
    wait_for(a, &out);
    wait_for(b, &out);
    assert_string_equal(out.p,
                        "/c d.py fine\n"
                        "/a.py not judged: the analyzer was ended by signal 11 (Segmentation "
                        "fault)\n"
                        "/b.py not judged: the analyzer did not end in time\n");
    cbx_lsp_store_judge(&store, &how); /* judged again only after a change */
    assert_false(cbx_lsp_judge_runs(&a->judge));
}

static void a_change_ends_the_judgement_of_the_text_before_it(void **state)
{
    (void)state;
    CBX_AUTO_DONE(lsp_store) store = { 0 };
    CBX_AUTO_DONE(buf) out;
    const struct cbx_lint lint = { .now = 0 };
    const struct cbx_lint_run how = { .lint = &lint, .jobs = 1, .limit_ms = 60000, .check = judge };
    cbx_buf_init(&out, 4096);
    struct cbx_lsp_document *d = open_text(&store, "untitled:x", "hang");
    cbx_lsp_store_judge(&store, &how);
    assert_true(cbx_lsp_judge_runs(&d->judge));
    cbx_lsp_store_touch(d);
    assert_false(cbx_lsp_judge_runs(&d->judge));
    cbx_buf_reset(&d->text);
    cbx_buf_add_cstr(&d->text, "fine");
    cbx_lsp_store_judge(&store, &how);
    wait_for(d, &out);
    assert_string_equal(out.p, "untitled:x fine\n");
}

static void documents_have_caps(void **state)
{
    (void)state;
    CBX_AUTO_DONE(lsp_store) store = { 0 };
    const struct cbx_lint lint = { .now = 0 };
    const struct cbx_lint_run how = { .lint = &lint, .jobs = 1, .limit_ms = 60000, .check = judge };
    struct cbx_err err;
    size_t running = 0;
    for (int i = 0; i < CBX_LSP_DOCUMENTS_MAX; i++) {
        char uri[32];
        snprintf(uri, sizeof(uri), "file:///%d.py", i);
        open_text(&store, uri, "hang");
    }
    assert_null(cbx_lsp_store_open(&store, CBX_STR("file:///x.py"), CBX_STR("python"), 1,
                                   CBX_STR(""), &err));
    assert_non_null(strstr(err.text, "allowed are 1000"));
    open_text(&store, "file:///0.py", "hang"); /* the same again */
    cbx_lsp_store_judge(&store, &how);
    for (const struct cbx_lsp_document *d = store.first; d != NULL; d = d->next) {
        running += cbx_lsp_judge_runs(&d->judge);
    }
    assert_int_equal(running, CBX_LSP_JUDGEMENTS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_crashes_or_hangs_costs_itself_alone),
        cmocka_unit_test(a_change_ends_the_judgement_of_the_text_before_it),
        cmocka_unit_test(documents_have_caps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
