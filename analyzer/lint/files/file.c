/* SPDX-License-Identifier: MIT
 * One file. */
#include "analyzer/lint/files/file.h"

#include "analyzer/lint/files/lint_check.h"

#include "analyzer/analyze.h"
#include "analyzer/dump.h"
#include "analyzer/lint/files/c_headers.h"
#include "analyzer/lint/files/kind.h"
#include "analyzer/lint/files/suppress.h"
#include "analyzer/lint/watch.h"
#include "analyzer/past/past.h"
#include "analyzer/past/program.h"
#include "analyzer/rules.h"
#include "analyzer/syntax/source.h"
#include "policies/base/array.h"
#include "policies/base/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

void cbx_lint_worker_init(struct cbx_lint_worker *worker)
{
    *worker = (struct cbx_lint_worker){ 0 };
    cbx_arena_init(&worker->analysis, CBX_ANALYSIS_ARENA_MAX);
    cbx_arena_init(&worker->file, CBX_ANALYSIS_ARENA_MAX);
    cbx_buf_init(&worker->text, CBX_IPYNB_MAX_BYTES);
}

void cbx_lint_worker_done(struct cbx_lint_worker *worker)
{
    cbx_arena_done(&worker->analysis);
    cbx_arena_done(&worker->file);
    cbx_buf_done(&worker->text);
}

void cbx_lint_result_done(struct cbx_lint_result *result)
{
    cbx_buf_done(&result->output);
    json_decref(result->failure);
    json_decref(result->entries);
    json_decref(result->skipped);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_all(int fd, struct cbx_buf *out, struct cbx_err *err)
{
    for (;;) {
        char *to = cbx_buf_reserve(out, 65536);
        if (to == NULL) {
            return cbx_fail(err, CBX_ETOOBIG, "larger than %zu bytes", out->max_bytes);
        }
        ssize_t n = read(fd, to, 65536);
        if (n < 0 && errno != EINTR) {
            return cbx_fail(err, CBX_EIO, "%s", strerror(errno));
        }
        if (n == 0) {
            return 0;
        }
        out->len += n > 0 ? (size_t)n : 0;
    }
}

static int read_path(const struct cbx_lint_path *path, struct cbx_buf *out, struct cbx_err *err)
{
    if (path->error.len > 0) {
        return cbx_fail(err, CBX_EIO, "%s", path->error.p);
    }
    if (path->held) {
        if (cbx_buf_add(out, path->text) != 0) {
            return cbx_fail(err, CBX_ETOOBIG, "larger than %zu bytes", out->max_bytes);
        }
        return 0;
    }
    if (path->input) {
        return read_all(STDIN_FILENO, out, err);
    }
    CBX_AUTO_FD fd = open(path->path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "%s", strerror(errno));
    }
    if (S_ISREG(status.st_mode)) {
        return read_all(fd, out, err);
    }
    return cbx_fail(err, CBX_EINVAL, "not a regular file");
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Notes code of the file that is not judged. */
void cbx_lint_check_skip(struct cbx_lint_check *c, enum cbx_lint_skip reason,
                         struct cbx_str language)
{
    if (*c->skipped == NULL) {
        *c->skipped = json_array();
    }
    json_array_append_new(
        *c->skipped, json_pack("{s:s,s:o,s:o}", "reason", cbx_lint_skip_word(reason), "path",
                               cbx_json_text(c->file.path), "language", cbx_json_text(language)));
}

/* Reserves room for `more` findings. */
int cbx_lint_check_reserve(struct cbx_lint_check *c, size_t more)
{
    bool fits =
        CBX_ARRAY_RESERVE(&c->worker->file, c->findings, c->count, &c->size, more, SIZE_MAX);
    if (!fits) {
        return cbx_fail(c->err, CBX_ETOOBIG, "more findings than memory allows");
    }
    return 0;
}

/* Copies the texts that the finding borrows: the memory of a cell's analysis is reused for the
 * next cell. */
void cbx_lint_check_keep(struct cbx_lint_check *c, const struct cbx_finding *finding,
                         const struct cbx_cell *cell, struct cbx_str source)
{
    struct cbx_arena *arena = &c->worker->file;
    struct cbx_report_finding *f = &c->findings[c->count++];
    *f = (struct cbx_report_finding){
        .v = *finding, .source = source, .cell = cell->number, .file_line = cell->line
    };
    f->v.symbol = cbx_arena_copy(arena, finding->symbol);
    f->v.detail = cbx_arena_copy(arena, finding->detail);
    f->v.hint = cbx_arena_copy(arena, finding->hint);
}

/* Adds findings for comments without effect. */
static int suppress_inline(struct cbx_lint_check *c, const struct cbx_cell *cell,
                           struct cbx_str source, size_t first)
{
    const struct cbx_policy *policy = c->lint->report.policy;
    struct cbx_lint_comments comments;
    int failed =
        cbx_lint_comments_read(source, c->file.language, &c->worker->file, &comments, c->err);
    if (!failed) {
        cbx_lint_suppress(policy, &comments, c->findings + first, c->count - first);
        failed = cbx_lint_check_reserve(c, comments.count);
    }
    for (size_t i = 0; !failed && i < comments.count; i++) {
        const char *fault = cbx_lint_comment_fault(policy, &comments.items[i]);
        struct cbx_finding f = { .rule = &cbx_rule_suppression,
                                 .effect = CBX_EFFECT_WARN,
                                 .symbol = comments.items[i].rule,
                                 .detail = cbx_str_of(fault),
                                 .span = comments.items[i].span };
        f.symbol = f.symbol.len > 0 ? f.symbol : CBX_STR("allow");
        if (fault != NULL) {
            cbx_lint_check_keep(c, &f, cell, source);
        }
    }
    return failed;
}

static int compare_findings(const void *a, const void *b)
{
    const struct cbx_report_finding *x = a, *y = b;
    uint32_t a_byte = x->v.span.start_byte, b_byte = y->v.span.start_byte;
    return x->cell != y->cell ? (x->cell > y->cell) - (x->cell < y->cell)
                              : (a_byte > b_byte) - (a_byte < b_byte);
}

/* The places of findings are in the source after normalisation of its line ends. */
static int take_decision(struct cbx_lint_check *c, const struct cbx_decision *decision,
                         const struct cbx_cell *cell)
{
    struct cbx_facts ignored = { .arena = &c->worker->file };
    struct cbx_source source;
    size_t first = c->count;
    if (cbx_source_read(cell->source, false, &c->worker->file, &ignored, &source) != 0) {
        return cbx_fail(c->err, CBX_ETOOBIG, "the source is too large");
    }
    int failed = cbx_lint_check_reserve(c, decision->finding_count);
    for (size_t i = 0; !failed && i < decision->finding_count; i++) {
        cbx_lint_check_keep(c, &decision->findings[i], cell, source.text);
    }
    if (!failed && source.readable) {
        failed = suppress_inline(c, cell, source.text, first);
    }
    c->file.truncated |= decision->truncated;
    return failed;
}

static enum cbx_verdict verdict_of(enum cbx_effect effect)
{
    return effect == CBX_EFFECT_DENY ? CBX_DENY : effect == CBX_EFFECT_ASK ? CBX_ASK : CBX_ALLOW;
}

static int dump(struct cbx_lint_check *c, const struct cbx_analysis *request)
{
    const struct cbx_policy *policy = c->lint->report.policy;
    struct cbx_arena *arena = &c->worker->analysis;
    if (c->lint->stage == CBX_STAGE_TREE) {
        return cbx_dump_tree(policy, request, arena, c->output, c->err);
    }
    return cbx_dump_facts(policy, request, arena, c->output, c->err);
}

int cbx_lint_check_dump(struct cbx_lint_check *c, const struct cbx_decision *decision)
{
    CBX_AUTO_JSON json = NULL;
    int failed = cbx_decision_json(decision, &json, c->err);
    if (!failed) {
        const json_t *shown =
            c->lint->stage == CBX_STAGE_FINDINGS ? json_object_get(json, "findings") : json;
        char *text = json_dumps(shown, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
        cbx_buf_add_cstr(c->output, text != NULL ? text : "");
        cbx_buf_add_char(c->output, '\n');
        free(text);
    }
    return failed;
}

/* A denial that is stricter than its findings (unreadable source under a log-only policy;
 * findings over the cap) stays a denial, whatever is suppressed. */
void cbx_lint_check_verdict(struct cbx_lint_check *c, const struct cbx_decision *decision)
{
    enum cbx_verdict shown = CBX_ALLOW;
    for (size_t i = 0; i < decision->finding_count; i++) {
        enum cbx_verdict one = verdict_of(decision->findings[i].effect);
        shown = one < shown ? one : shown;
    }
    enum cbx_verdict verdict = decision->verdict;
    c->file.verdict = verdict < c->file.verdict ? verdict : c->file.verdict;
    c->floor = (decision->truncated || verdict < shown) && verdict < c->floor ? verdict : c->floor;
}

/* Returns true for the finding that the code cannot be read. */
static bool is_unreadable(const struct cbx_finding *finding)
{
    return (finding->rule->match.facts >> CBX_FACT_SYNTAX & 1) != 0 ||
           finding->rule == &cbx_rule_unreadable;
}

static bool has_unreadable(const struct cbx_decision *decision)
{
    size_t i = 0;
    while (i < decision->finding_count && !is_unreadable(&decision->findings[i])) {
        i++;
    }
    return i < decision->finding_count;
}

/* Unreadable code of a skill is a warning, beside the findings in the rest of it. */
static int soften(struct cbx_lint_check *c, struct cbx_decision *decision)
{
    struct cbx_finding *findings =
        cbx_arena_array(&c->worker->analysis, decision->finding_count, sizeof(*decision->findings));
    if (findings == NULL) {
        return cbx_fail(c->err, CBX_ETOOBIG, "more findings than memory allows");
    }
    decision->verdict = CBX_ALLOW;
    for (size_t i = 0; i < decision->finding_count; i++) {
        findings[i] = decision->findings[i];
        if (is_unreadable(&findings[i])) {
            findings[i].rule = &cbx_rule_fragment;
            findings[i].effect = findings[i].enforced = CBX_EFFECT_WARN;
            findings[i].hint = cbx_rule_fragment.hint;
        }
        enum cbx_verdict one = verdict_of(findings[i].effect);
        decision->verdict = one < decision->verdict ? one : decision->verdict;
    }
    decision->findings = findings;
    return 0;
}

static void add_to_past(struct cbx_lint_check *c, const struct cbx_analysis *request,
                        const struct cbx_decision *decision)
{
    const struct cbx_entry entry = { .kind = CBX_ENTRY_CELL,
                                     .language = request->language,
                                     .text = request->source };
    if (c->past != NULL) {
        cbx_past_add_cell_as(c->past, &entry, decision->summary, &c->worker->analysis);
    }
}

/* Returns true if the code was not read completely. */
static bool is_unfinished(const struct cbx_decision *decision)
{
    const uint64_t facts = (uint64_t)1 << CBX_FACT_SYNTAX | (uint64_t)1 << CBX_FACT_TOO_COMPLEX;
    bool found = has_unreadable(decision);
    for (size_t i = 0; i < decision->finding_count; i++) {
        found = found || (decision->findings[i].rule->match.facts & facts) != 0;
    }
    return found;
}

/* Judges source in C with the macros of the project's headers, which decide what it does; without
 * them if it cannot be read so. Other source has no such headers. */
static int judge(struct cbx_lint_check *c, struct cbx_analysis *request,
                 struct cbx_decision *decision)
{
    const struct cbx_policy *policy = c->lint->report.policy;
    CBX_AUTO_DONE(buf) headers;
    cbx_buf_init(&headers, CBX_HEADERS_MAX_BYTES * 2);
    if (cbx_str_is(request->language, "c") && c->file.path.len > 0) {
        cbx_headers_collect(c->file.path, request->source, &headers);
    }
    if (headers.len > 0 && !headers.overflow) {
        request->headers = &headers;
        int failed = cbx_analyze(policy, request, &c->worker->analysis, decision, c->err);
        request->headers = NULL;
        if (failed || !is_unfinished(decision)) {
            return failed;
        }
        cbx_arena_reset(&c->worker->analysis);
    }
    return cbx_analyze(policy, request, &c->worker->analysis, decision, c->err);
}

int cbx_lint_check_cell(struct cbx_lint_check *c, const struct cbx_cell *cell,
                        const struct cbx_program *program, size_t index)
{
    struct cbx_analysis request = { .source = cell->source,
                                    .language = c->file.language,
                                    .program = program,
                                    .past = c->past,
                                    .build = c->build,
                                    .downloads = c->downloads,
                                    .folder = c->folder,
                                    .cell = index,
                                    .now = c->lint->now };
    struct cbx_decision decision;
    cbx_arena_reset(&c->worker->analysis);
    if (c->lint->stage == CBX_STAGE_TREE || c->lint->stage == CBX_STAGE_FACTS) {
        return dump(c, &request);
    }
    int failed = judge(c, &request, &decision);
    if (failed) {
        return failed;
    }
    if (has_unreadable(&decision) && cbx_str_ends(c->file.path, CBX_STR(".h")) &&
        cbx_headers_is_cplusplus(cell->source)) {
        c->foreign = true;
        cbx_lint_check_skip(c, CBX_LINT_SKIP_FOREIGN, CBX_STR("C++"));
        return 0;
    }
    add_to_past(c, &request, &decision);
    c->unreadable = has_unreadable(&decision);
    if (c->unreadable && c->code == CBX_MANIFEST_DOCUMENT) {
        return 0;
    }
    if (c->unreadable && c->code == CBX_MANIFEST_SKILL) {
        failed = soften(c, &decision);
    }
    if (failed) {
        return failed;
    }
    cbx_lint_check_verdict(c, &decision);
    return c->lint->stage != CBX_STAGE_REPORT ? cbx_lint_check_dump(c, &decision)
                                              : take_decision(c, &decision, cell);
}

/* --- the result ------------------------------------------------------------------------------- */

/* Suppressed findings do not count. */
static void count_findings(struct cbx_lint_check *c, struct cbx_lint_result *out)
{
    enum cbx_verdict without = c->floor;
    for (size_t i = 0; i < c->count; i++) {
        const struct cbx_report_finding *f = &c->findings[i];
        enum cbx_verdict one = verdict_of(f->v.effect);
        bool counts = f->suppression == CBX_SUPPRESSED_NOT;
        without = counts && one < without ? one : without;
        out->findings += counts;
        out->suppressed += !counts;
    }
    if (out->suppressed > 0) {
        c->file.verdict = without;
    }
}

/* A new baseline suppresses its findings at once. */
static void record(struct cbx_lint_check *c, struct cbx_lint_result *out)
{
    out->entries = json_array();
    for (size_t i = 0; i < c->count; i++) {
        struct cbx_report_finding *f = &c->findings[i];
        if (f->suppression != CBX_SUPPRESSED_INLINE && !cbx_report_is_built_in(f->v.rule)) {
            cbx_baseline_record(out->entries, c->file.uri, f);
            f->suppression = CBX_SUPPRESSED_BASELINE;
        }
    }
}

static int finish(struct cbx_lint_check *c, struct cbx_lint_result *out)
{
    if (!cbx_sort_in(&c->worker->file, c->findings, c->count, sizeof(*c->findings),
                     compare_findings)) {
        return cbx_fail(c->err, CBX_ETOOBIG, "more findings than memory allows");
    }
    int failed = cbx_lint_fingerprint(c->file.uri, c->findings, c->count, &c->worker->file, c->err);
    if (failed) {
        return failed;
    }
    if (c->lint->baseline != NULL) {
        cbx_baseline_suppress(c->lint->baseline, c->file.uri, c->findings, c->count);
    }
    if (c->lint->record) {
        record(c, out);
    }
    count_findings(c, out);
    c->file.findings = c->findings;
    c->file.count = c->count;
    return 0;
}

enum { LIMIT_BYTES = 1024 * 1024 };

static int check_path(struct cbx_lint_check *c, const struct cbx_lint_path *path,
                      struct cbx_lint_result *out)
{
    int failed = read_path(path, &c->worker->text, c->err);
    if (failed) {
        return failed;
    }
    struct cbx_str text = cbx_buf_str(&c->worker->text);
    if (c->worker->limit_ms > 0) {
        cbx_lint_watch_timer(c->worker->limit_ms * (1 + (unsigned)(text.len / LIMIT_BYTES)));
    }
    const struct cbx_manifest_reader *reader = cbx_manifest_reader_find(path->language);
    if (reader != NULL) {
        c->file.language = cbx_str_of(reader->name);
        failed = cbx_lint_check_manifest(c, reader, text);
    } else if (strcmp(path->language, CBX_LINT_NOTEBOOK) == 0) {
        c->file.language = CBX_STR("ipython");
        failed = cbx_lint_check_notebook(c, text);
    } else {
        struct cbx_cell whole = { .source = text };
        c->file.language = cbx_str_of(path->language);
        failed = cbx_lint_check_cell(c, &whole, NULL, 0);
    }
    if (failed) {
        return failed;
    }
    return finish(c, out);
}

static void name_file(struct cbx_lint_check *c, const struct cbx_lint_path *path)
{
    CBX_AUTO_DONE(buf) uri;
    cbx_buf_init(&uri, CBX_LINT_OUTPUT_MAX_BYTES);
    cbx_report_uri(path->normal, &uri);
    c->file.path = path->path;
    c->file.normal = path->normal;
    c->file.uri = cbx_arena_copy(&c->worker->file, cbx_buf_str(&uri));
}

static json_t *failure_json(const struct cbx_lint_check *c)
{
    return json_pack("{s:o,s:o,s:s}", "uri", cbx_json_text(c->file.uri), "path",
                     cbx_json_text(c->file.path), "error", c->err->text);
}

/* For a file that could not be checked completely, only the error is reported. */
static void report_failure(struct cbx_lint_check *c, struct cbx_lint_result *out)
{
    c->file.error = cbx_str_of(c->err->text);
    c->file.findings = NULL;
    c->file.count = 0;
    out->failure = failure_json(c);
    out->findings = out->suppressed = 0;
    cbx_buf_done(&out->output);
    cbx_buf_init(&out->output, CBX_LINT_OUTPUT_MAX_BYTES);
    if (c->lint->stage == CBX_STAGE_REPORT) {
        c->lint->format->file(&c->lint->report, &c->file, &out->output);
    }
}

static struct cbx_lint_check begin(const struct cbx_lint *lint, struct cbx_lint_worker *worker,
                                   const struct cbx_lint_path *path, struct cbx_lint_result *out,
                                   struct cbx_err *err)
{
    *out = (struct cbx_lint_result){ 0 };
    cbx_buf_init(&out->output, CBX_LINT_OUTPUT_MAX_BYTES);
    cbx_arena_reset(&worker->file);
    cbx_buf_reset(&worker->text);
    struct cbx_lint_check c = {
        .lint = lint, .worker = worker, .skipped = &out->skipped, .output = &out->output, .err = err
    };
    c.file.verdict = c.floor = CBX_ALLOW;
    name_file(&c, path);
    return c;
}

void cbx_lint_file(const struct cbx_lint *lint, struct cbx_lint_worker *worker,
                   const struct cbx_lint_path *path, struct cbx_lint_result *out)
{
    struct cbx_err err = { 0 };
    struct cbx_lint_check c = begin(lint, worker, path, out, &err);
    int failed = check_path(&c, path, out);
    if (worker->limit_ms > 0) {
        cbx_lint_watch_timer(0);
    }
    if (!failed && lint->stage == CBX_STAGE_REPORT && !c.foreign) {
        lint->format->file(&lint->report, &c.file, &out->output);
    }
    if (!failed && out->output.overflow) {
        failed = cbx_fail(&err, CBX_ETOOBIG, "its report is larger than %d MiB",
                          CBX_LINT_OUTPUT_MAX_BYTES / 1024 / 1024);
    }
    if (failed) {
        report_failure(&c, out);
    }
    out->status = failed ? 2 : c.file.verdict == CBX_ALLOW ? 0 : 1;
}

void cbx_lint_file_failed(const struct cbx_lint *lint, const struct cbx_lint_path *path,
                          const char *why, struct cbx_lint_result *out)
{
    CBX_AUTO_DONE(lint_worker) worker;
    struct cbx_err err = { 0 };
    cbx_lint_worker_init(&worker);
    struct cbx_lint_check c = begin(lint, &worker, path, out, &err);
    cbx_fail(&err, CBX_EIO, "%s", why);
    report_failure(&c, out);
    out->status = 2;
}
