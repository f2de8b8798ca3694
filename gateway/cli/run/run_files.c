/* SPDX-License-Identifier: MIT
 * Files that a program of `codebox run` made. */
#include "gateway/cli/run/run_files.h"

#include "gateway/cli/cli.h"
#include "gateway/front/executor_client.h"
#include "policies/base/text/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void cbx_run_files_init(struct cbx_run_files *files, const char *folder, struct cbx_str stem)
{
    *files = (struct cbx_run_files){ .folder = folder, .stem = stem, .made = json_array() };
}

void cbx_run_files_done(struct cbx_run_files *files)
{
    json_decref(files->made);
    files->made = NULL;
}

/* Makes a name that a program chose safe to print. */
static void print_name(struct cbx_str name, FILE *to)
{
    CBX_AUTO_DONE(buf) shown;
    cbx_buf_init(&shown, 16 * 1024);
    cbx_printable_add(&shown, name, CBX_PRINTABLE_LINE);
    fputs(shown.p, to);
}

/* Opens the folder for files; -1 and errno on failure. */
static int open_folder(const struct cbx_run_files *files)
{
    const char *folder = files->folder != NULL ? files->folder : ".";
    if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
        return -1;
    }
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void cbx_run_files_picture(struct cbx_run_files *files, struct cbx_str bytes, const char *ending)
{
    enum { TRIES = 10000, STEM_MAX = 200 };
    CBX_AUTO_FD folder = open_folder(files);
    char name[256];
    for (int tries = 0; folder >= 0 && tries < TRIES; tries++) {
        snprintf(name, sizeof(name), "%.*s-%d.%s",
                 CBX_STR_ARG(cbx_str_sub(files->stem, 0, STEM_MAX)), ++files->pictures, ending);
        CBX_AUTO_FD fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0 && cbx_cli_write(fd, bytes) == 0) {
            fprintf(stderr, "codebox: wrote %s%s%s (%zu bytes)\n",
                    files->folder != NULL ? files->folder : "", files->folder != NULL ? "/" : "",
                    name, bytes.len);
            return;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    fprintf(stderr, "codebox: a picture cannot be written to '%s': %s\n",
            files->folder != NULL ? files->folder : ".", strerror(errno));
}

void cbx_run_files_note(struct cbx_run_files *files, struct cbx_str path, uint64_t size_bytes)
{
    CBX_AUTO_JSON name = cbx_json_text(path);
    size_t i;
    json_t *file;
    json_array_foreach(files->made, i, file)
    {
        if (json_equal(json_object_get(file, "path"), name)) {
            json_object_set_new(file, "size", json_integer((json_int_t)size_bytes));
            return;
        }
    }
    if (json_array_size(files->made) >= CBX_RUN_FILES_MAX) {
        files->incomplete = true;
        return;
    }
    json_array_append_new(files->made,
                          json_pack("{s:O,s:I}", "path", name, "size", (json_int_t)size_bytes));
}

static bool is_plain_part(struct cbx_str part)
{
    bool plain =
        part.len > 0 && part.len < 256 && !cbx_str_is(part, ".") && !cbx_str_is(part, "..");
    for (size_t i = 0; i < part.len; i++) {
        plain = plain && (unsigned char)part.p[i] >= 0x20 && part.p[i] != 0x7f;
    }
    return plain;
}

/* Opens PATH below the folder for writing: missing folders on the way are made, and no link is
 * followed. -1 and errno on failure. */
static int create_below(int folder, struct cbx_str path)
{
    CBX_AUTO_FD at = dup(folder);
    for (;;) {
        const char *slash = memchr(path.p, '/', path.len);
        struct cbx_str part =
            cbx_str_sub(path, 0, slash != NULL ? (size_t)(slash - path.p) : path.len);
        char name[256];
        if (!is_plain_part(part)) {
            errno = EINVAL;
            return -1;
        }
        snprintf(name, sizeof(name), "%.*s", CBX_STR_ARG(part));
        if (slash == NULL) {
            return openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
        }
        if (mkdirat(at, name, 0777) < 0 && errno != EEXIST) {
            return -1;
        }
        int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) {
            return -1;
        }
        close(at);
        at = next;
        path = cbx_str_sub(path, part.len + 1, path.len);
    }
}

struct copying {
    struct cbx_flow *flow;
    struct cbx_str run, principal;
    int folder;
};

static int copy_file(const struct copying *c, struct cbx_str path, size_t *size_bytes,
                     struct cbx_err *err)
{
    struct cbx_get_file_args args = { .session = c->run, .principal = c->principal, .path = path };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    int failed = cbx_call_get_file(c->flow, &args, CBX_STR(""), &answer, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_FD fd = create_below(c->folder, path);
    if (fd < 0 || cbx_cli_write(fd, cbx_buf_str(&answer.bytes)) < 0) {
        return cbx_fail(err, CBX_EIO, "%s",
                        errno == EINVAL  ? "its name is not allowed"
                        : errno == ELOOP ? "a link is in its way"
                                         : strerror(errno));
    }
    *size_bytes = answer.bytes.len;
    return 0;
}

static bool copy_files(struct cbx_run_files *files, const struct copying *c)
{
    bool all = true;
    size_t i;
    const json_t *file;
    json_array_foreach(files->made, i, file)
    {
        struct cbx_str path = cbx_json_str(json_object_get(file, "path"));
        struct cbx_err err = { 0 };
        size_t size_bytes = 0;
        int failed = copy_file(c, path, &size_bytes, &err);
        fprintf(stderr, "codebox: %s %s/", failed ? "cannot write" : "wrote", files->folder);
        print_name(path, stderr);
        if (failed) {
            fprintf(stderr, ": %s\n", err.text);
        } else {
            fprintf(stderr, " (%zu bytes)\n", size_bytes);
        }
        all = all && !failed;
    }
    return all;
}

static void list_files(const struct cbx_run_files *files)
{
    enum { SHOWN_MAX = 10 };
    size_t i, count = json_array_size(files->made);
    const json_t *file;
    fprintf(stderr, "codebox: the program made %zu file%s, removed with its sandbox: ", count,
            count == 1 ? "" : "s");
    json_array_foreach(files->made, i, file)
    {
        if (i < SHOWN_MAX) {
            fputs(i > 0 ? ", " : "", stderr);
            print_name(cbx_json_str(json_object_get(file, "path")), stderr);
            fprintf(stderr, " (%lld bytes)",
                    (long long)json_integer_value(json_object_get(file, "size")));
        }
    }
    fprintf(stderr, "%s; --output DIR keeps them\n", count > SHOWN_MAX ? ", ..." : "");
}

bool cbx_run_files_keep(struct cbx_run_files *files, struct cbx_flow *flow, const char *run,
                        struct cbx_str principal)
{
    if (files->incomplete) {
        fprintf(stderr, "codebox: the program made more than %d files; the others are left out\n",
                CBX_RUN_FILES_MAX);
    }
    if (json_array_size(files->made) == 0) {
        return true;
    }
    if (files->folder == NULL) {
        list_files(files);
        return true;
    }
    struct copying c = {
        .flow = flow, .run = cbx_str_of(run), .principal = principal, .folder = open_folder(files)
    };
    if (c.folder < 0) {
        fprintf(stderr, "codebox: --output '%s': %s\n", files->folder, strerror(errno));
        return false;
    }
    bool all = copy_files(files, &c);
    close(c.folder);
    return all;
}
