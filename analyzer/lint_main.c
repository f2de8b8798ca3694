/* SPDX-License-Identifier: MIT
 * codebox-lint: judges files, folders, notebooks and standard input under a policy, and runs
 * nothing. Needs no engine, no configuration, no network. Exit status: 0 everything is allowed, 1
 * something is denied or needs approval, 2 something could not be checked. */
#include "analyzer/analyze.h"
#include "analyzer/dump.h"
#include "analyzer/ipynb.h"
#include "analyzer/lang.h"
#include "analyzer/report.h"
#include "policies/release.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum stage { STAGE_NONE, STAGE_TREE, STAGE_FACTS, STAGE_FINDINGS, STAGE_DECISION };

struct lint {
    struct cbx_policy *policy;
    struct cbx_arena arena;
    const char *language; /* NULL = by the file's name */
    enum stage dump;
    bool json, color;
    struct cbx_buf context; /* of a notebook: what the cells before this one are */
    json_t *files;          /* of the JSON report */
    size_t file_count, denied, findings, errors;
};

static int report_error(struct lint *lint, const char *path, const struct cbx_err *err)
{
    lint->errors++;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 8192);
    cbx_buf_add_escaped(&text, cbx_str_of(path), false);
    if (lint->json) {
        json_array_append_new(lint->files, json_pack("{s:o,s:s,s:s,s:[]}", "path",
                                                     cbx_json_text(cbx_str_of(path)), "verdict",
                                                     "error", "error", err->text, "findings"));
    }
    fprintf(stderr, "codebox-lint: %s: %s\n", text.p, err->text);
    return 2;
}

/* --- one piece of source ---------------------------------------------------------------------- */

static int dump_stage(struct lint *lint, const struct cbx_analysis *request, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 256 * 1024 * 1024);
    int failed = lint->dump == STAGE_TREE
                     ? cbx_dump_tree(lint->policy, request, &lint->arena, &out, err)
                     : cbx_dump_facts(lint->policy, request, &lint->arena, &out, err);
    fwrite(out.p, 1, out.len, stdout);
    return failed;
}

static void count_decision(struct lint *lint, const struct cbx_decision *d)
{
    for (size_t i = 0; i < d->finding_count; i++) {
        lint->findings += d->findings[i].effect != CBX_EFFECT_ALLOW;
    }
}

static void print_json(const json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    putchar('\n');
}

/* Findings of a cell say which one. */
static void add_findings(json_t *to, const json_t *decision, uint32_t cell)
{
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(decision, "findings"), i, finding)
    {
        if (cell > 0) {
            json_object_set_new(finding, "cell", json_integer(cell));
        }
        json_array_append(to, finding);
    }
}

/* Judges one text. `findings` gathers the JSON of its findings; cell is 0 for a whole file. */
static int check_text(struct lint *lint, const char *path, uint32_t cell, struct cbx_str language,
                      struct cbx_str text, json_t *findings, enum cbx_verdict *verdict,
                      struct cbx_err *err)
{
    struct cbx_analysis request = { .source = text,
                                    .language = language,
                                    .context = cbx_buf_str(&lint->context),
                                    .now = time(NULL) };
    if (lint->dump == STAGE_TREE || lint->dump == STAGE_FACTS) {
        *verdict = CBX_ALLOW;
        return dump_stage(lint, &request, err);
    }
    struct cbx_decision decision;
    int failed = cbx_analyze(lint->policy, &request, &lint->arena, &decision, err);
    CBX_AUTO_JSON json = NULL;
    failed = failed ? failed : cbx_decision_json(&decision, &json, err);
    if (failed) {
        return failed;
    }
    *verdict = decision.verdict;
    if (cell > 0) {
        cbx_context_add(&lint->context, text);
    }
    count_decision(lint, &decision);
    if (lint->dump != STAGE_NONE) {
        print_json(lint->dump == STAGE_FINDINGS ? json_object_get(json, "findings") : json);
    } else if (lint->json) {
        add_findings(findings, json, cell);
    } else {
        CBX_AUTO_DONE(buf) out;
        CBX_AUTO_DONE(buf) name;
        cbx_buf_init(&out, 64 * 1024 * 1024);
        cbx_buf_init(&name, 8192);
        cbx_buf_printf(&name, cell > 0 ? "%s:cell %u" : "%s", path, cell);
        cbx_report_text(&decision, cbx_buf_str(&name), text, lint->color, &out);
        fwrite(out.p, 1, out.len, stdout);
    }
    return 0;
}

/* --- one file --------------------------------------------------------------------------------- */

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

static int check_notebook(struct lint *lint, const char *path, struct cbx_str text,
                          json_t *findings, enum cbx_verdict *verdict, struct cbx_err *err)
{
    struct cbx_ipynb notebook;
    int failed = cbx_ipynb_read(text, &lint->arena, &notebook, err);
    if (!failed && !cbx_str_is(notebook.language, "python")) {
        return cbx_fail(err, CBX_EINVAL, "the notebook's language is '%.*s', allowed is python",
                        CBX_STR_ARG(notebook.language));
    }
    *verdict = CBX_ALLOW;
    for (size_t i = 0; !failed && i < notebook.count; i++) {
        enum cbx_verdict one = CBX_DENY;
        failed = check_text(lint, path, notebook.cells[i].number, CBX_STR("ipython"),
                            notebook.cells[i].source, findings, &one, err);
        *verdict = one < *verdict ? one : *verdict;
    }
    return failed;
}

static const char *language_of(const struct lint *lint, const char *path)
{
    const struct cbx_lang *lang = cbx_lang_of_file(path);
    return lint->language != NULL                              ? lint->language
           : cbx_str_ends(cbx_str_of(path), CBX_STR(".ipynb")) ? "notebook"
           : lang != NULL                                      ? lang->name
                                                               : NULL;
}

static void report_file(struct lint *lint, const char *path, const char *language, json_t *findings,
                        enum cbx_verdict verdict)
{
    lint->file_count++;
    lint->denied += verdict != CBX_ALLOW;
    if (lint->json) {
        json_array_append_new(lint->files, json_pack("{s:o,s:s,s:s,s:O}", "path",
                                                     cbx_json_text(cbx_str_of(path)), "language",
                                                     language, "verdict", cbx_verdict_name(verdict),
                                                     "findings", findings));
    }
}

static int check_fd(struct lint *lint, const char *path, int fd, const char *language)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON findings = json_array();
    cbx_buf_init(&text, CBX_IPYNB_MAX_BYTES);
    if (read_all(fd, &text, &err) != 0) {
        return report_error(lint, path, &err);
    }
    cbx_arena_reset(&lint->arena);
    cbx_buf_reset(&lint->context);
    enum cbx_verdict verdict = CBX_DENY;
    bool notebook = strcmp(language, "notebook") == 0;
    int failed = notebook ? check_notebook(lint, path, cbx_buf_str(&text), findings, &verdict, &err)
                          : check_text(lint, path, 0, cbx_str_of(language), cbx_buf_str(&text),
                                       findings, &verdict, &err);
    if (failed) {
        return report_error(lint, path, &err);
    }
    report_file(lint, path, notebook ? "ipython" : language, findings, verdict);
    return verdict == CBX_ALLOW ? 0 : 1;
}

static int check_file(struct lint *lint, const char *path, const char *language)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        cbx_fail(&err, CBX_EIO, "%s", strerror(errno));
        return report_error(lint, path, &err);
    }
    if (!S_ISREG(status.st_mode)) {
        cbx_fail(&err, CBX_EINVAL, "not a regular file");
        return report_error(lint, path, &err);
    }
    return check_fd(lint, path, fd, language);
}

/* Hidden folders, dependencies and virtual environments are somebody else's code. */
static bool is_skipped(const FTSENT *entry)
{
    return entry->fts_level > 0 &&
           (entry->fts_name[0] == '.' || strcmp(entry->fts_name, "node_modules") == 0 ||
            strcmp(entry->fts_name, "__pycache__") == 0);
}

static int check_folder(struct lint *lint, const char *path)
{
    char *copy = strdup(path);
    char *const roots[] = { copy, NULL };
    FTS *fts = copy != NULL ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    int worst = 0;
    for (FTSENT *entry; fts != NULL && (entry = fts_read(fts)) != NULL;) {
        int status = 0;
        if (entry->fts_info == FTS_D && is_skipped(entry)) {
            fts_set(fts, entry, FTS_SKIP);
        } else if (entry->fts_info == FTS_F && language_of(lint, entry->fts_path) != NULL &&
                   !is_skipped(entry)) {
            status = check_file(lint, entry->fts_path, language_of(lint, entry->fts_path));
        } else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
                   entry->fts_info == FTS_NS) {
            struct cbx_err err;
            cbx_fail(&err, CBX_EIO, "%s", strerror(entry->fts_errno));
            status = report_error(lint, entry->fts_path, &err);
        }
        worst = status > worst ? status : worst;
    }
    if (fts != NULL) {
        fts_close(fts);
    }
    free(copy);
    return worst;
}

static int check_path(struct lint *lint, const char *path)
{
    struct stat status;
    struct cbx_err err = { 0 };
    if (strcmp(path, "-") == 0) {
        return check_fd(lint, "-", STDIN_FILENO,
                        lint->language != NULL ? lint->language : "python");
    }
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return check_folder(lint, path);
    }
    const char *language = language_of(lint, path);
    if (language == NULL) {
        cbx_fail(&err, CBX_EINVAL, "no language has files of this name; say --language %s",
                 cbx_lang_names());
        return report_error(lint, path, &err);
    }
    return check_file(lint, path, language);
}

/* --- the program ------------------------------------------------------------------------------ */

static int print_help(void)
{
    puts("usage: codebox-lint [options] PATH ...\n"
         "Judges Python, JavaScript and shell files, folders and notebooks (.ipynb) under a "
         "policy; runs nothing.\n"
         "'-' is standard input. In folders, files of other names and hidden ones are left "
         "alone.\n\n"
         "  --policy NAME|FILE        policy to judge by: a preset or a YAML file (default)\n"
         "  --format text|json        how to report (text)\n"
         "  --language NAME           python, ipython (a notebook cell), javascript or shell (by "
         "the file's name)\n"
         "  --dump=STAGE              show tree, facts, findings or decision of each file instead "
         "of a report\n"
         "  --quiet                   no summary line\n"
         "  --help, --version\n\n"
         "exit status: 0 everything is allowed; 1 something is denied or needs approval; 2 "
         "something could not be checked");
    return 0;
}

static int fail_usage(const char *text, const char *value)
{
    fprintf(stderr, "codebox-lint: %s '%s'; --help lists the options\n", text, value);
    return 2;
}

struct arguments {
    const char *policy, *format, *language, *dump;
    bool quiet, version, help;
    char **paths;
    int path_count;
};

/* The value of --NAME=VALUE or --NAME VALUE; NULL when argv[*i] is another option. */
static const char *take_value(const char *name, int argc, char **argv, int *i)
{
    size_t len = strlen(name);
    if (strncmp(argv[*i], name, len) != 0) {
        return NULL;
    }
    return argv[*i][len] == '='                     ? argv[*i] + len + 1
           : argv[*i][len] == '\0' && *i + 1 < argc ? argv[++*i]
                                                    : NULL;
}

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        const char *value;
        if (ended || word[0] != '-' || word[1] == '\0') {
            a->paths[a->path_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            a->help = true;
        } else if (strcmp(word, "--version") == 0) {
            a->version = true;
        } else if (strcmp(word, "--quiet") == 0) {
            a->quiet = true;
        } else if ((value = take_value("--policy", argc, argv, &i)) != NULL) {
            a->policy = value;
        } else if ((value = take_value("--format", argc, argv, &i)) != NULL) {
            a->format = value;
        } else if ((value = take_value("--language", argc, argv, &i)) != NULL) {
            a->language = value;
        } else if ((value = take_value("--dump", argc, argv, &i)) != NULL) {
            a->dump = value;
        } else {
            return fail_usage("unknown option, or one without its value:", word);
        }
    }
    return 0;
}

static int read_arguments(const struct arguments *a, struct lint *lint)
{
    static const char *const stages[] = { "", "tree", "facts", "findings", "decision" };
    for (int s = STAGE_TREE; a->dump != NULL && s <= STAGE_DECISION; s++) {
        lint->dump = strcmp(a->dump, stages[s]) == 0 ? (enum stage)s : lint->dump;
    }
    if (a->dump != NULL && lint->dump == STAGE_NONE) {
        return fail_usage("--dump is one of tree, facts, findings and decision, not", a->dump);
    }
    if (strcmp(a->format, "text") != 0 && strcmp(a->format, "json") != 0) {
        return fail_usage("--format is text or json, not", a->format);
    }
    if (a->language != NULL && cbx_lang_find(cbx_str_of(a->language)) == NULL) {
        return fail_usage("--language is one of python, ipython, javascript and shell, not",
                          a->language);
    }
    lint->json = strcmp(a->format, "json") == 0 && lint->dump == STAGE_NONE;
    lint->language = a->language;
    lint->color = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    return 0;
}

static void print_summary(const struct lint *lint, bool quiet)
{
    if (lint->json) {
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&lint->policy->sha256, hex);
        CBX_AUTO_JSON report = json_pack(
            "{s:i,s:{s:s,s:s},s:{s:o,s:s},s:O,s:{s:I,s:I,s:I,s:I}}", "version", 1, "tool", "name",
            "codebox-lint", "version", CBX_VERSION, "policy", "name",
            cbx_json_text(lint->policy->name), "sha256", hex, "files", lint->files, "summary",
            "files", (json_int_t)lint->file_count, "denied", (json_int_t)lint->denied, "findings",
            (json_int_t)lint->findings, "errors", (json_int_t)lint->errors);
        print_json(report);
    } else if (!quiet && lint->dump == STAGE_NONE) {
        fprintf(stderr,
                "codebox-lint: %zu file%s checked under policy %.*s: %zu denied, %zu finding%s",
                lint->file_count, lint->file_count == 1 ? "" : "s", CBX_STR_ARG(lint->policy->name),
                lint->denied, lint->findings, lint->findings == 1 ? "" : "s");
        fprintf(stderr, lint->errors > 0 ? ", %zu could not be checked\n" : "\n", lint->errors);
    }
}

static int lint_all(const struct arguments *a)
{
    struct lint lint = { 0 };
    struct cbx_err err = { 0 };
    int worst = read_arguments(a, &lint);
    if (worst != 0) {
        return worst;
    }
    if (a->path_count == 0) {
        return fail_usage("no PATH given; '-' is standard input, not", "");
    }
    if (cbx_policy_load(a->policy, &lint.policy, &err) != 0) {
        fprintf(stderr,
                err.line > 0 ? "codebox-lint: %s (line %u, column %u)\n" : "codebox-lint: %s\n",
                err.text, err.line, err.column);
        return 2;
    }
    lint.files = json_array();
    cbx_arena_init(&lint.arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_buf_init(&lint.context, 2 * CBX_CONTEXT_MAX_BYTES);
    for (int i = 0; i < a->path_count; i++) {
        int status = check_path(&lint, a->paths[i]);
        worst = status > worst ? status : worst;
    }
    print_summary(&lint, a->quiet);
    cbx_buf_done(&lint.context);
    cbx_arena_done(&lint.arena);
    json_decref(lint.files);
    cbx_policy_free(lint.policy);
    return fflush(stdout) == 0 ? worst : 2;
}

int main(int argc, char **argv)
{
    struct arguments a = { .policy = "default",
                           .format = "text",
                           .paths = calloc((size_t)argc + 1, sizeof(char *)) };
    int status = a.paths == NULL ? 2 : parse_arguments(argc, argv, &a);
    if (status == 0 && a.help) {
        status = print_help();
    } else if (status == 0 && a.version) {
        puts("codebox-lint " CBX_VERSION);
    } else if (status == 0) {
        status = lint_all(&a);
    }
    free(a.paths);
    return status;
}
