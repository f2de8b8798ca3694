/* SPDX-License-Identifier: MIT
 * Workflows and composite actions of GitHub, and pipelines of GitLab: the code of their steps. */
#include "analyzer/manifest/workflow.h"

#include "analyzer/filetype.h"
#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/readers.h"

struct reading {
    struct cbx_doc doc;
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
    struct cbx_str shell; /* the shell of steps that name none */
};

/* Returns the language of a step, by the program with which its `shell` begins; an expression
 * may be any shell. */
static struct cbx_filetype type_of_shell(struct reading *r, struct cbx_str shell)
{
    bool unknown = shell.len == 0 || memmem(shell.p, shell.len, "${{", 3) != NULL;
    struct cbx_str program = unknown ? CBX_STR("bash") : shell;
    return cbx_filetype_of_head(CBX_JOIN(r->arena, CBX_STR("#!"), program));
}

static const struct cbx_expressions *expressions_of(const char *language)
{
    static const struct cbx_expressions shell = { "${{", "}}", "${EXPRESSION}", true };
    static const struct cbx_expressions other = { "${{", "}}", "EXPRESSION", true };
    return strcmp(language, "shell") == 0 ? &shell : &other;
}

static int read_code(struct reading *r, const struct cbx_doc_node *code, struct cbx_str shell)
{
    struct cbx_filetype type = type_of_shell(r, shell);
    if (code->kind != CBX_DOC_TEXT) {
        return cbx_doc_fail(&r->doc, code, "code that is no text", r->err);
    }
    if (type.lang == NULL) {
        return cbx_manifest_add_skip(r->out, r->arena, CBX_SKIPPED_FOREIGN, type.foreign, r->err);
    }
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->doc.file);
    cbx_doc_take(&maker, code);
    return cbx_workflow_end_piece(&maker, type.lang->name, expressions_of(type.lang->name), r->out,
                                  r->err);
}

static int read_step(void *context, const struct cbx_doc_node *step)
{
    struct reading *r = context;
    const struct cbx_doc_node *run = cbx_doc_get(step, "run");
    struct cbx_str shell = cbx_doc_text(step, "shell");
    struct cbx_str uses = cbx_doc_text(step, "uses");
    const struct cbx_doc_node *script = cbx_doc_get(cbx_doc_get(step, "with"), "script");
    if (script != NULL && cbx_str_starts(uses, CBX_STR("actions/github-script@"))) {
        return read_code(r, script, CBX_STR("node"));
    }
    if (run == NULL) {
        return 0;
    }
    return read_code(r, run, shell.len > 0 ? shell : r->shell);
}

static struct cbx_str default_shell(const struct cbx_doc_node *of)
{
    return cbx_doc_text(cbx_doc_get(cbx_doc_get(of, "defaults"), "run"), "shell");
}

/* The steps of a job on Windows run in PowerShell. */
static struct cbx_str shell_of_job(const struct reading *r, const struct cbx_doc_node *job)
{
    struct cbx_str own = default_shell(job), all = default_shell(r->doc.root);
    if (own.len > 0) {
        return own;
    }
    if (all.len > 0) {
        return all;
    }
    bool windows = cbx_str_starts(cbx_doc_text(job, "runs-on"), CBX_STR("windows"));
    return windows ? CBX_STR("pwsh") : CBX_STR("bash");
}

static int read_job(void *context, const struct cbx_doc_node *job)
{
    struct reading *r = context;
    struct cbx_doc whole = r->doc;
    struct cbx_doc part = { .file = whole.file, .root = (struct cbx_doc_node *)(uintptr_t)job };
    r->shell = shell_of_job(r, job);
    return cbx_doc_each(&part, "steps[]", read_step, r, r->err);
}

static int begin(struct reading *r, struct cbx_str text)
{
    *r->out = (struct cbx_manifest){ .text = text };
    return cbx_doc_read_yaml(text, r->arena, &r->doc, r->err);
}

int cbx_manifest_read_workflow(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err)
{
    struct reading r = { .arena = arena, .out = out, .err = err };
    int failed = begin(&r, text);
    if (failed) {
        return failed;
    }
    return cbx_doc_each(&r.doc, "jobs.*", read_job, &r, err);
}

int cbx_manifest_read_action(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                             struct cbx_err *err)
{
    struct reading r = { .arena = arena, .out = out, .err = err, .shell = CBX_STR("bash") };
    int failed = begin(&r, text);
    if (failed) {
        return failed;
    }
    return cbx_doc_each(&r.doc, "runs.steps[]", read_step, &r, err);
}

/* --- GitLab ----------------------------------------------------------------------------------- */

enum { NESTED_MAX = 10 }; /* the name that GitLab has for it */

/* Takes the lines of a script; lists may contain lists. */
static int take_lines(struct reading *r, const struct cbx_doc_node *node,
                      struct cbx_piece_maker *maker, int depth)
{
    if (node->kind == CBX_DOC_TEXT) {
        cbx_doc_take(maker, node);
        cbx_piece_maker_put(maker, CBX_STR("\n"),
                            node->end > node->start ? node->end - 1 : node->end);
        return 0;
    }
    if (node->kind == CBX_DOC_OTHER) { /* !reference: the lines of another place in the file */
        return 0;
    }
    if (node->kind == CBX_DOC_MAP || depth == NESTED_MAX) {
        return cbx_doc_fail(&r->doc, node, "a line of a script that is no text", r->err);
    }
    int failed = 0;
    for (const struct cbx_doc_node *one = node->first; one != NULL && !failed; one = one->next) {
        failed = take_lines(r, one, maker, depth + 1);
    }
    return failed;
}

static int read_script(void *context, const struct cbx_doc_node *script)
{
    static const struct cbx_expressions inputs = { "$[[", "]]", "${INPUT}", false };
    struct reading *r = context;
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->doc.file);
    int failed = take_lines(r, script, &maker, 0);
    if (failed) {
        return failed;
    }
    return cbx_workflow_end_piece(&maker, "shell", &inputs, r->out, r->err);
}

static int read_scripts(struct reading *r, const struct cbx_doc_node *job)
{
    static const char *const paths[] = { "before_script", "script", "after_script",
                                         "hooks.pre_get_sources_script" };
    const struct cbx_doc part = { .file = r->doc.file,
                                  .root = (struct cbx_doc_node *)(uintptr_t)job };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int failed = cbx_doc_each(&part, paths[i], read_script, r, r->err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static bool is_keyword(struct cbx_str name)
{
    static const char *const words[] = { "variables", "stages", "include",  "image",
                                         "services",  "cache",  "workflow", "spec" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_str_is(name, words[i])) {
            return true;
        }
    }
    return false;
}

int cbx_manifest_read_gitlab_ci(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err)
{
    struct reading r = { .arena = arena, .out = out, .err = err };
    int failed = begin(&r, text);
    if (failed || r.doc.root == NULL) {
        return failed;
    }
    failed = read_scripts(&r, r.doc.root); /* of all jobs */
    for (const struct cbx_doc_node *job = r.doc.root->first; job != NULL && !failed;
         job = job->next) {
        bool may_run = job->kind == CBX_DOC_MAP && !is_keyword(job->key);
        failed = may_run ? read_scripts(&r, job) : 0;
    }
    return failed;
}
