/* SPDX-License-Identifier: MIT
 * codebox-lint: judges files, folders, notebooks and standard input under a policy, and runs
 * nothing. Needs no engine, no configuration, no network. Exit status: 0 everything is allowed, 1
 * something is denied or needs approval, 2 something could not be checked. */
#include "analyzer/lint/lint_options.h"
#include "analyzer/lint/lint_rules.h"
#include "analyzer/lint/lint_run.h"
#include "analyzer/lint/lsp/lsp_server.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"
#include "policies/release.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MAX_BYTES = 64 * 1024 * 1024 };

/* --- what comes out --------------------------------------------------------------------------- */

/* The state of the progress line, which a long run prints on a terminal. */
struct progress {
    bool enabled, shown;
    int64_t next_ms;
};

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 100 };

static void hide_progress(struct progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        p->shown = false;
    }
}

static void show_progress(struct progress *p, size_t done, size_t all)
{
    int64_t now = p->enabled ? cbx_clock_ms() : 0;
    if (p->enabled && now >= p->next_ms) {
        fprintf(stderr, "\r\033[Kcodebox-lint: %zu of %zu files", done, all);
        p->next_ms = now + PROGRESS_EVERY_MS;
        p->shown = true;
    }
}

struct output {
    const struct cbx_lint *lint;
    struct cbx_lint_paths *paths; /* folders, for the report of what was skipped in them */
    struct cbx_report_totals totals;
    json_t *failures, *entries;
    struct progress progress;
    bool has_output;
    int worst;
};

static void print_failure(const json_t *failure)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 65536);
    cbx_printable_add(&text, cbx_json_str(json_object_get(failure, "path")), CBX_PRINTABLE_LINE);
    fprintf(stderr, "codebox-lint: %s: %s\n", text.p,
            json_string_value(json_object_get(failure, "error")));
}

static void take_result(void *context, struct cbx_lint_result *result, size_t done, size_t all)
{
    struct output *o = context;
    if (result->output.len > 0 || result->failure != NULL) {
        hide_progress(&o->progress);
    }
    if (result->output.len > 0) {
        fputs(o->has_output && o->lint->stage == CBX_STAGE_REPORT ? o->lint->format->separator : "",
              stdout);
        fwrite(result->output.p, 1, result->output.len, stdout);
        o->has_output = true;
    }
    if (result->failure != NULL) {
        print_failure(result->failure);
        json_array_append(o->failures, result->failure);
    }
    if (result->entries != NULL) {
        json_array_extend(o->entries, result->entries);
    }
    size_t skipped = cbx_lint_skips_take(&o->paths->skips, result->skipped, &o->paths->arena);
    o->totals.files += result->status != 2 && skipped == 0;
    o->totals.denied += result->status == 1;
    o->totals.errors += result->status == 2;
    o->totals.findings += result->findings;
    o->totals.suppressed += result->suppressed;
    o->worst = result->status > o->worst ? result->status : o->worst;
    show_progress(&o->progress, done, all);
}

static void add_count(struct cbx_buf *out, size_t count, const char *text)
{
    if (count > 0) {
        cbx_buf_printf(out, ", %zu %s", count, text);
    }
}

static void print_summary(const struct cbx_report *report, const struct cbx_report_totals *t,
                          const struct cbx_lint_skips *skips)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4096);
    cbx_buf_printf(&text,
                   "codebox-lint: %zu file%s checked under policy %.*s: %zu denied, %zu finding%s",
                   t->files, t->files == 1 ? "" : "s", CBX_STR_ARG(report->policy->name), t->denied,
                   t->findings, t->findings == 1 ? "" : "s");
    add_count(&text, t->suppressed, "suppressed");
    add_count(&text, t->errors, "could not be checked");
    add_count(&text, t->gone, "of the baseline no longer there");
    cbx_lint_skips_text(skips, &text);
    fprintf(stderr, "%s\n", text.p);
}

static int print(struct cbx_buf *text)
{
    fwrite(text->p, 1, text->len, stdout);
    return fflush(stdout) == 0 && !text->overflow ? 0 : 2;
}

/* --- the run ---------------------------------------------------------------------------------- */

static int fail(const struct cbx_err *err)
{
    fprintf(stderr, "codebox-lint: %s\n", err->text);
    return 2;
}

/* Returns all patterns of an option; NULL if it is not given. */
static int read_globs(const char *name, const struct cbx_words *words, struct cbx_ignore **out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) lines;
    cbx_buf_init(&lines, CBX_IGNORE_MAX_BYTES + 1);
    for (size_t i = 0; i < words->count; i++) {
        if (words->items[i][0] == '#' || strchr(words->items[i], '\n') != NULL) {
            return cbx_fail(err, CBX_EINVAL, "--%s is '%s', allowed are globs on one line", name,
                            words->items[i]);
        }
        cbx_buf_printf(&lines, "%s\n", words->items[i]);
    }
    int failed = 0;
    if (words->count > 0) {
        failed = cbx_ignore_new(cbx_buf_str(&lines), out, err);
    }
    if (failed) {
        return cbx_wrap(err, "--%s", name);
    }
    return 0;
}

static enum cbx_lint_stage read_stage(const char *name)
{
    static const char *const stages[] = { "", "tree", "facts", "findings", "decision" };
    size_t stage = 0;
    for (size_t i = 1; name != NULL && i < sizeof(stages) / sizeof(stages[0]); i++) {
        stage = strcmp(stages[i], name) == 0 ? i : stage;
    }
    return (enum cbx_lint_stage)stage;
}

static int find_paths(const struct cbx_lint_options *o, struct cbx_lint_paths *paths,
                      struct cbx_err *err)
{
    CBX_AUTO(ignore) include = NULL;
    CBX_AUTO(ignore) exclude = NULL;
    int failed = read_globs("include", &o->include, &include, err);
    if (failed) {
        return failed;
    }
    failed = read_globs("exclude", &o->exclude, &exclude, err);
    if (failed) {
        return failed;
    }
    struct cbx_lint_filter filter = { .language = o->language,
                                      .input_name = o->stdin_filename,
                                      .no_ignore = o->no_ignore,
                                      .hidden = o->hidden,
                                      .markdown = o->markdown,
                                      .count_code = o->strict_coverage,
                                      .include = include,
                                      .exclude = exclude };
    for (size_t i = 0; !failed && i < o->paths.count; i++) {
        failed = cbx_lint_paths_add(paths, &filter, o->paths.items[i], err);
    }
    cbx_lint_paths_sort(paths);
    return failed;
}

/* The arguments of this run: entries of the baseline for other paths are not reported as
 * unused. */
struct scope {
    const struct cbx_lint_options *options;
    struct cbx_str folder;
};

static bool is_in_scope(const void *context, struct cbx_str uri)
{
    const struct scope *scope = context;
    for (size_t i = 0; i < scope->options->paths.count; i++) {
        CBX_AUTO_DONE(buf) normal;
        CBX_AUTO_DONE(buf) root;
        cbx_buf_init(&normal, 65536);
        cbx_buf_init(&root, 3 * 65536);
        cbx_lint_path_normal(cbx_str_of(scope->options->paths.items[i]), scope->folder, &normal);
        cbx_report_uri(cbx_buf_str(&normal), &root);
        struct cbx_str path = cbx_buf_str(&root);
        bool whole = cbx_str_is(path, ".") && !cbx_str_starts(uri, CBX_STR("file:"));
        if (whole ||
            (cbx_str_starts(uri, path) && (uri.len == path.len || uri.p[path.len] == '/'))) {
            return true;
        }
    }
    return false;
}

static int write_baseline(const struct cbx_lint_options *o, struct output *output,
                          struct cbx_err *err)
{
    if (output->totals.errors > 0) {
        return cbx_fail(err, CBX_EIO, "baseline '%s' was not written: not all could be checked",
                        o->write_baseline);
    }
    return cbx_baseline_write(o->write_baseline, output->entries, err);
}

/* Returns the exit status of --strict-coverage. `told`: the summary names what was skipped. */
static int check_coverage(const struct cbx_lint_skips *skips, bool told)
{
    size_t code = cbx_lint_skips_code(skips);
    if (code == 0) {
        return 0;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 65536);
    cbx_buf_printf(&text, "codebox-lint: --strict-coverage: %zu file%s that look%s like code", code,
                   code == 1 ? "" : "s", code == 1 ? "s" : "");
    cbx_buf_add_cstr(&text, code == 1 ? " was not judged" : " were not judged");
    if (!told) {
        cbx_lint_skips_text(skips, &text);
    }
    fprintf(stderr, "%s\n", text.p);
    return 2;
}

/* Prints the beginning of the report. */
static void begin_report(const struct cbx_lint *lint, struct cbx_buf *text)
{
    if (lint->format->begin != NULL) {
        lint->format->begin(&lint->report, text);
    }
    print(text);
    cbx_buf_reset(text);
}

static int lint_paths(const struct cbx_lint_options *o, const struct cbx_lint *lint,
                      struct cbx_lint_paths *paths, unsigned jobs, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON failures = json_array();
    CBX_AUTO_JSON entries = json_array();
    cbx_buf_init(&text, OUTPUT_MAX_BYTES);
    struct output output = {
        .lint = lint, .paths = paths, .failures = failures, .entries = entries
    };
    output.progress = (struct progress){ .enabled = !o->quiet && isatty(STDERR_FILENO),
                                         .next_ms = cbx_clock_ms() + PROGRESS_AFTER_MS };
    bool reports = lint->stage == CBX_STAGE_REPORT;
    if (reports) {
        begin_report(lint, &text);
    }
    struct cbx_lint_run run = { .lint = lint,
                                .paths = paths,
                                .jobs = jobs,
                                .limit_ms = CBX_LINT_LIMIT_MS,
                                .check = cbx_lint_file };
    cbx_lint_run(&run, &(struct cbx_lint_sink){ take_result, &output });
    hide_progress(&output.progress);
    struct scope scope = { .options = o, .folder = paths->folder };
    CBX_AUTO_JSON skipped = cbx_lint_skips_json(&paths->skips);
    output.totals.skipped = skipped;
    output.totals.ignored = paths->skips.reasons[CBX_LINT_SKIP_IGNORED].count +
                            paths->skips.reasons[CBX_LINT_SKIP_EXCLUDED].count;
    output.totals.failures = failures;
    output.totals.gone =
        lint->baseline != NULL ? cbx_baseline_gone(lint->baseline, is_in_scope, &scope) : 0;
    if (reports && lint->format->end != NULL) {
        lint->format->end(&lint->report, &output.totals, &text);
    }
    int status = print(&text);
    bool summary = reports && !o->quiet && lint->format != &cbx_report_as_json;
    if (summary) {
        print_summary(&lint->report, &output.totals, &paths->skips);
    }
    int failed = 0;
    if (o->write_baseline != NULL) {
        failed = write_baseline(o, &output, err);
    }
    if (failed) {
        return failed;
    }
    int coverage = o->strict_coverage ? check_coverage(&paths->skips, summary) : 0;
    status = coverage > status ? coverage : status;
    return status > output.worst ? status : output.worst;
}

static bool wants_color(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0');
}

static int lint_all(const struct cbx_lint_options *o, const struct cbx_policy *policy,
                    struct cbx_err *err)
{
    CBX_AUTO(baseline) baseline = NULL;
    CBX_AUTO_DONE(lint_paths) paths = { 0 };
    struct cbx_lint lint = {
        .report = { .policy = policy,
                    .color = wants_color(),
                    .show_suppressed = o->show_suppressed },
        .format = cbx_report_format_find(o->format != NULL ? o->format : "text"),
        .stage = read_stage(o->dump),
        .record = o->write_baseline != NULL,
        .now = time(NULL),
    };
    unsigned jobs = o->jobs > 0 ? (unsigned)o->jobs : cbx_lint_cpus();
    int failed = cbx_lint_paths_init(&paths, err);
    if (failed) {
        return failed;
    }
    if (o->baseline != NULL) {
        failed = cbx_baseline_load(o->baseline, &baseline, err);
        if (failed) {
            return failed;
        }
        lint.baseline = baseline;
    }
    failed = find_paths(o, &paths, err);
    if (failed) {
        return failed;
    }
    return lint_paths(o, &lint, &paths, jobs, err);
}

/* --- the program ------------------------------------------------------------------------------ */

static int show_rules(const struct cbx_lint_options *o, const struct cbx_policy *policy,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, OUTPUT_MAX_BYTES);
    bool json = o->format != NULL && strcmp(o->format, "json") == 0;
    int failed = 0;
    if (o->explain != NULL) {
        failed = cbx_lint_explain(policy, o->explain, json, &text, err);
    } else {
        cbx_lint_list_rules(policy, json, &text);
    }
    if (failed) {
        return failed;
    }
    return print(&text);
}

/* The findings of open documents have the form of the JSON report. */
static int serve_editor(const struct cbx_lint_options *o, const struct cbx_policy *policy,
                        struct cbx_err *err)
{
    CBX_AUTO(baseline) baseline = NULL;
    if (o->paths.count > 0) {
        return cbx_fail(err, CBX_EINVAL, "--lsp takes no PATH: the editor sends documents");
    }
    int failed = 0;
    if (o->baseline != NULL) {
        failed = cbx_baseline_load(o->baseline, &baseline, err);
    }
    if (failed) {
        return failed;
    }
    const struct cbx_lint lint = { .report = { .policy = policy },
                                   .format = &cbx_report_as_json,
                                   .baseline = baseline,
                                   .now = time(NULL) };
    return cbx_lsp_serve(&lint);
}

static int with_policy(const struct cbx_lint_options *o, struct cbx_err *err)
{
    CBX_AUTO(policy) policy = NULL;
    if (cbx_policy_load(o->policy != NULL ? o->policy : "default", &policy, err) != 0) {
        cbx_err_print(err, "codebox-lint", stderr);
        return 2;
    }
    if (o->explain != NULL || o->list_rules) {
        return show_rules(o, policy, err);
    }
    if (o->lsp) {
        return serve_editor(o, policy, err);
    }
    if (o->paths.count > 0) {
        return lint_all(o, policy, err);
    }
    return cbx_fail(err, CBX_EINVAL,
                    "no PATH is given; '-' is standard input, --help lists the options");
}

/* Returns an exit status, or a negative code with *err set. */
static int run(const struct cbx_lint_options *o, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, OUTPUT_MAX_BYTES);
    if (o->help) {
        cbx_lint_help(&text);
    } else if (o->version) {
        cbx_buf_add_cstr(&text, "codebox-lint " CBX_VERSION "\n");
    } else if (o->completion != NULL) {
        cbx_lint_completion(o->completion, &text);
    } else {
        return with_policy(o, err);
    }
    return print(&text);
}

int main(int argc, char **argv)
{
    CBX_AUTO_DONE(lint_options) options = { 0 };
    struct cbx_err err = { 0 };
    int status = cbx_lint_options_parse(argc, argv, &options, &err);
    if (status == 0) {
        status = run(&options, &err);
    }
    if (status < 0) {
        return fail(&err);
    }
    return status;
}
