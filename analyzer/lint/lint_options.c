/* SPDX-License-Identifier: MIT
 * The options of codebox-lint. */
#include "analyzer/lint/lint_options.h"

#include "analyzer/lint/lint_run.h"
#include "policies/load/option_kinds.h"

enum { OPTIONS_MAX_BYTES = 256 * 1024 * 1024 }; /* as many paths as a command line can have */

static const struct cbx_option_kind kinds[] = {
    CBX_OPTION_KINDS,
    { .name = "@rule", .command = "codebox-lint --list-rules 2>/dev/null" },
};

static const struct cbx_option rows[] = {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, help)                         \
    { name,                                                                                        \
      letter,                                                                                      \
      CBX_OPTION_##type,                                                                           \
      offsetof(struct cbx_lint_options, member),                                                   \
      value,                                                                                       \
      words,                                                                                       \
      lo,                                                                                          \
      hi,                                                                                          \
      NULL,                                                                                        \
      help },
#include "analyzer/lint/lint_options.def"
#undef CBX_OPTION
};

static const struct cbx_option_table table = { .program = "codebox-lint",
                                               .rows = rows,
                                               .count = sizeof(rows) / sizeof(rows[0]),
                                               .kinds = kinds,
                                               .kind_count = sizeof(kinds) / sizeof(kinds[0]) };

int cbx_lint_options_parse(int argc, char **argv, struct cbx_lint_options *out, struct cbx_err *err)
{
    *out = (struct cbx_lint_options){ 0 };
    cbx_arena_init(&out->arena, OPTIONS_MAX_BYTES);
    struct cbx_option_values values = { .into = out, .arena = &out->arena };
    int failed = cbx_options_read(&table, argc, argv, 1, &values, err);
    out->paths = values.rest;
    return failed;
}

void cbx_lint_options_done(struct cbx_lint_options *o)
{
    cbx_arena_done(&o->arena);
}

void cbx_lint_help(struct cbx_buf *out)
{
    cbx_buf_add_cstr(
        out,
        "usage: codebox-lint [options] PATH ...\n"
        "Judges files of code, folders and notebooks (.ipynb) under a policy; runs nothing. '-' is "
        "standard\ninput. The language is that of the file's name, else of its first line (#!). In "
        "folders, files of no\nknown language, hidden ones and what .gitignore names are skipped, "
        "and the summary counts them; a\nfile that is named itself is always checked. Packages and "
        "shell code of requirements*.txt,\nconstraints*.txt, package.json, pyproject.toml, "
        "Pipfile, lock files, Dockerfiles,\nworkflows of GitHub and pipelines of GitLab are judged "
        "as those of a build, fenced code of skills of\nagents (SKILL.md) and scripts of HTML as "
        "programs.\n\n");
    cbx_options_help(&table, out);
    cbx_buf_add_cstr(out,
                     "\nexit status: 0 everything is allowed; 1 something is denied or needs "
                     "approval; 2 something could\nnot be checked\n\n"
                     "--strict-coverage: a file looks like code when its name says so, with an "
                     "analyzer or without, or its\nfirst line; or when it cannot be read. Hidden "
                     "files and what .gitignore names count. What --include\nand --exclude leave "
                     "out does not, nor do node_modules, __pycache__, virtual environments, "
                     "links, and\nthe folders of version control.\n");
}

void cbx_lint_completion(const char *shell, struct cbx_buf *out)
{
    cbx_options_complete(&table, shell, out);
}
