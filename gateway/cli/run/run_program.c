/* SPDX-License-Identifier: MIT
 * Reads the program of `codebox run`. */
#include "gateway/cli/run/run_program.h"

#include "analyzer/filetype.h"
#include "docker/kernel_names.h"
#include "gateway/cli/cli.h"
#include "policies/base/text/printable.h"
#include "policies/permit.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_BYTES_MAX = 32 * 1024 * 1024 };

static int read_source(const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    CBX_AUTO_FD fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    return cbx_cli_read(fd, path, out, err);
}

/* Determines the file's type by its name, else by its first line. */
static struct cbx_filetype type_of(const char *path, struct cbx_str source)
{
    struct cbx_filetype type = cbx_filetype_of_name(cbx_str_of(path));
    bool named = type.lang != NULL || type.foreign.len > 0;
    return named ? type : cbx_filetype_of_head(source);
}

/* Prints "python (.py, .pyw), ...": the languages that can run, and the endings of their files. */
static void print_languages(FILE *to)
{
    const char *name;
    for (size_t i = 0; (name = cbx_language_at(i)) != NULL; i++) {
        const struct cbx_lang *lang = cbx_lang_find(cbx_str_of(name));
        fprintf(to, "%s%s", i > 0 ? ", " : "", name);
        for (size_t e = 0; lang != NULL && lang->endings[e] != NULL; e++) {
            fprintf(to, "%s%s%s", e > 0 ? ", " : " (", lang->endings[e],
                    lang->endings[e + 1] == NULL ? ")" : "");
        }
    }
    fputc('\n', to);
}

/* Reads the arguments after FILE; NULL, with a message on stderr, if one is not UTF-8 or there
 * are too many: the audit log records them. */
static json_t *read_arguments(const struct cbx_options *options)
{
    CBX_AUTO_JSON arguments = json_array();
    for (size_t i = 1; i < options->arguments.count; i++) {
        json_t *text = json_string(options->arguments.items[i]);
        if (text == NULL) {
            fprintf(stderr, "codebox: argument %zu of the program is not UTF-8\n", i);
            return NULL;
        }
        json_array_append_new(arguments, text);
    }
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) joined;
    cbx_buf_init(&joined, CBX_ARGUMENTS_BYTES_MAX);
    if (cbx_arguments_join(arguments, &joined, &err) != 0) {
        cbx_cli_fail(&err);
        return NULL;
    }
    return cbx_steal(&arguments);
}

/* Prints why neither name nor first line determine a language. */
static void print_unknown(const char *path, const struct cbx_filetype *type)
{
    if (type->foreign.len > 0) {
        CBX_AUTO_DONE(buf) shown;
        cbx_buf_init(&shown, 4 * CBX_FILETYPE_HEAD_BYTES);
        cbx_printable_add(&shown, type->foreign, CBX_PRINTABLE_LINE);
        fprintf(stderr, "codebox: '%s' is for %s, which does not run here", path, shown.p);
    } else {
        fprintf(stderr, "codebox: '%s' has no known ending, and no first line '#!' that tells",
                path);
    }
    fprintf(stderr, "; give --language NAME, or use one of ");
    print_languages(stderr);
}

/* Returns the language of --language, else of the file, by its name in permits; NULL, with a
 * message on stderr, if it cannot run. */
static const char *choose_language(const char *path, struct cbx_str source, const char *asked)
{
    struct cbx_filetype type = { 0 };
    if (asked == NULL) {
        type = type_of(path, source);
    } else {
        type.lang = cbx_lang_find(cbx_str_of(asked));
    }
    const char *language = type.lang != NULL ? type.lang->name : asked;
    if (language == NULL) {
        print_unknown(path, &type);
        return NULL;
    }
    if (cbx_kernel_of(language) == NULL) {
        fprintf(stderr, "codebox: the language is '%s', allowed are ", language);
        print_languages(stderr);
        return NULL;
    }
    return language;
}

/* For a folder the program is main.* in it, with all files of the folder. */
static int use_folder(struct cbx_run_program *program, struct cbx_err *err)
{
    struct stat status;
    if (strcmp(program->path, "-") == 0 || stat(program->path, &status) < 0 ||
        !S_ISDIR(status.st_mode)) {
        return 0;
    }
    const char *folder = program->path;
    int failed = cbx_uploads_find_main(folder, &program->main, err);
    if (failed) {
        return failed;
    }
    program->path = program->main;
    return cbx_uploads_add(&program->uploads, folder, folder, err);
}

/* Reads the files for its workspace, and the list of other entries beside the program. */
static int read_files(const struct cbx_options *options, struct cbx_run_program *program,
                      struct cbx_err *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", strcmp(program->path, "-") == 0 ? "." : program->path);
    const char *folder = dirname(path);
    for (size_t i = 0; i < options->files.count; i++) {
        int failed = cbx_uploads_add(&program->uploads, options->files.items[i], folder, err);
        if (failed) {
            return failed;
        }
    }
    cbx_uploads_print_left_out(&program->uploads);
    cbx_run_missing_read(&program->missing, folder);
    return 0;
}

int cbx_run_program_read(const struct cbx_options *options, struct cbx_run_program *out,
                         struct cbx_err *err)
{
    if (options->arguments.count == 0) {
        fprintf(stderr, "codebox: run takes a FILE, a folder with a program main.*, or '-' for "
                        "standard input, and the arguments of the program\n");
        return CBX_EINVAL;
    }
    *out = (struct cbx_run_program){ .path = options->arguments.items[0], .user = getuid() };
    cbx_buf_init(&out->source, SOURCE_BYTES_MAX);
    out->arguments = read_arguments(options);
    if (out->arguments == NULL) {
        return CBX_EINVAL;
    }
    int failed = use_folder(out, err);
    if (failed) {
        return failed;
    }
    const char *slash = strrchr(out->path, '/');
    out->name = slash != NULL ? slash + 1 : out->path;
    if (strcmp(out->path, "-") == 0) {
        out->name = "";
    }
    failed = read_source(out->path, &out->source, err);
    if (failed) {
        return failed;
    }
    failed = cbx_permit_check_arguments(out->name, CBX_STR(""), err);
    if (failed) {
        return failed;
    }
    out->language = choose_language(out->path, cbx_buf_str(&out->source), options->language);
    if (out->language == NULL) {
        return CBX_EINVAL;
    }
    return read_files(options, out, err);
}

void cbx_run_program_done(struct cbx_run_program *program)
{
    cbx_buf_done(&program->source);
    json_decref(program->arguments);
    cbx_uploads_done(&program->uploads);
    cbx_run_missing_done(&program->missing);
    free(program->main);
}
