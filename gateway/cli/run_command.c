/* SPDX-License-Identifier: MIT
 * `codebox run`: one file through the whole flow. Its stdout and stderr become ours (without
 * control sequences where they are a terminal), its exit status ours, its pictures files. */
#include "analyzer/lang.h"
#include "docker/container.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/terminal.h"
#include "gateway/front/executor_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_source(const char *path, size_t max_bytes, struct cbx_buf *out, struct cbx_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    CBX_AUTO_FD fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is a folder, allowed is a file", path);
    }
    for (;;) {
        char *to = cbx_buf_reserve(out, 65536);
        ssize_t n = to != NULL ? read(fd, to, 65536) : 0;
        if (to == NULL) {
            return cbx_fail(err, CBX_ETOOBIG, "'%s' has more than %zu bytes", path, max_bytes);
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
        }
        if (n == 0) {
            out->p[out->len] = '\0';
            return 0;
        }
        out->len += (size_t)n;
    }
}

/* What was asked for, by the name that permits have for it; else by the file's name. NULL when that
 * says nothing. */
static const char *language_of(const char *path, const char *asked)
{
    const struct cbx_lang *lang =
        asked == NULL ? cbx_lang_of_file(path) : cbx_lang_find(cbx_str_of(asked));
    return lang != NULL ? lang->name : asked;
}

/* "python (.py, .pyw), ...": what runs, and how its files are called. */
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

/* One of our streams. What the program wrote goes to a terminal without control sequences. */
struct stream {
    int fd;
    bool is_terminal;
    struct cbx_terminal terminal;
};

/* Where pictures go: NAME-1.png beside the current folder's other files. */
struct output {
    const char *stem;
    size_t stem_len;
    int pictures;
    bool is_cell; /* only a notebook cell shows its last value */
    bool reads_stdin;
    struct cbx_flow *flow;
    const struct cbx_outcome *outcome;
    struct stream out, err;
};

static void write_all(int fd, struct cbx_str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.p, bytes.len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        bytes = cbx_str_sub(bytes, (size_t)n, bytes.len);
    }
}

static void write_shown(struct stream *to, struct cbx_str bytes)
{
    if (!to->is_terminal) {
        write_all(to->fd, bytes);
        return;
    }
    CBX_AUTO_DONE(buf) shown;
    cbx_buf_init(&shown, bytes.len + 8);
    cbx_terminal_add(&to->terminal, &shown, bytes);
    write_all(to->fd, cbx_buf_str(&shown));
}

static struct stream open_stream(int fd)
{
    return (struct stream){ .fd = fd, .is_terminal = isatty(fd) == 1 };
}

static void save_picture(struct output *o, struct cbx_str bytes, const char *ending)
{
    char name[256];
    for (int tries = 0; tries < 10000; tries++) {
        snprintf(name, sizeof(name), "%.*s-%d.%s", (int)(o->stem_len > 200 ? 200 : o->stem_len),
                 o->stem, ++o->pictures, ending);
        CBX_AUTO_FD fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0) {
            write_all(fd, bytes);
            fprintf(stderr, "codebox: wrote %s (%zu bytes)\n", name, bytes.len);
            return;
        }
        if (errno != EEXIST) {
            fprintf(stderr, "codebox: '%s': %s\n", name, strerror(errno));
            return;
        }
    }
}

/* A value in several forms: the first kind of picture that it has, else its text. */
static void show_value(struct output *o, const struct cbx_event *event)
{
    static const struct {
        const char *type, *ending;
    } pictures[] = {
        { "image/png", "png" },   { "image/jpeg", "jpg" },    { "image/gif", "gif" },
        { "image/webp", "webp" }, { "image/svg+xml", "svg" }, { "application/pdf", "pdf" },
    };
    for (size_t p = 0; p < sizeof(pictures) / sizeof(pictures[0]); p++) {
        for (size_t i = 0; i < event->mime_count; i++) {
            if (cbx_str_is(event->mimes[i].type, pictures[p].type)) {
                save_picture(o, event->mimes[i].data, pictures[p].ending);
                return;
            }
        }
    }
    for (size_t i = 0; i < event->mime_count; i++) {
        if (cbx_str_is(event->mimes[i].type, "text/plain") || event->mime_count == 1) {
            write_shown(&o->out, event->mimes[i].data);
            write_shown(&o->out, CBX_STR("\n"));
            return;
        }
    }
}

/* input(): a line of our own standard input; none, when that has ended. */
static int answer(struct output *o, const struct cbx_event *event)
{
    char *line = NULL;
    size_t size = 0;
    write_shown(&o->out, event->text);
    ssize_t n = o->reads_stdin ? getline(&line, &size, stdin) : -1;
    struct cbx_input_args args = { .session = cbx_str_of(o->outcome->id) };
    struct cbx_str bytes = { .p = line, .len = n > 0 ? (size_t)n : 0 };
    int failed = cbx_call_input(o->flow, &args, bytes, NULL, NULL);
    free(line);
    return failed;
}

static int take_event(void *context, const struct cbx_event *event)
{
    struct output *o = context;
    switch (event->kind) {
    case CBX_EVENT_STDOUT:
        write_shown(&o->out, event->text);
        break;
    case CBX_EVENT_STDERR:
        write_shown(&o->err, event->text);
        break;
    case CBX_EVENT_DISPLAY:
    case CBX_EVENT_RESULT:
        if (event->kind == CBX_EVENT_DISPLAY || o->is_cell) {
            show_value(o, event);
        }
        break;
    case CBX_EVENT_CUT:
        fflush(stdout);
        fprintf(stderr, "\ncodebox: %llu bytes of output are left out here\n",
                (unsigned long long)event->size_bytes);
        break;
    case CBX_EVENT_ASK:
        return answer(o, event);
    case CBX_EVENT_FILE:
        break;
    }
    return 0;
}

/* The exit status of the program; 124 for a time-out as timeout(1) has it, 128 + signal as shells
 * have it. */
static int report_result(const struct cbx_result *r, struct stream *to)
{
    if (r->traceback != NULL) {
        write_shown(to, cbx_str_of(r->traceback));
        write_shown(to, CBX_STR("\n"));
    }
    if (r->output_truncated) {
        fprintf(stderr, "codebox: the output was cut at the policy's limit\n");
    }
    switch (r->status) {
    case CBX_RUN_OK:
        return 0;
    case CBX_RUN_TIMEOUT:
        fprintf(stderr, "codebox: stopped after %llu ms, the policy's time limit\n",
                (unsigned long long)r->duration_ms);
        return 124;
    case CBX_RUN_OOM:
        fprintf(stderr, "codebox: stopped, it needed more memory than the policy allows\n");
        return 137;
    case CBX_RUN_CPU:
        fprintf(stderr, "codebox: stopped, it used %llu ms of processor time, the policy's limit\n",
                (unsigned long long)r->cpu_ms);
        return 124;
    case CBX_RUN_KILLED:
        fprintf(stderr, "codebox: the program was killed%s\n",
                r->signal == SIGKILL ? "" : " or cancelled");
        return r->signal > 0 ? 128 + r->signal : 137;
    default:
        return r->exit_code > 0 ? r->exit_code : 1;
    }
}

static int review_file(const struct cbx_options *options, const char *path, const char *language,
                       struct cbx_str source)
{
    struct cbx_err err = { 0 };
    struct cbx_flow flow;
    struct cbx_flow_config config = cbx_options_flow(options);
    if (cbx_flow_start(&config, &flow, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    char principal[32];
    snprintf(principal, sizeof(principal), "uid:%u", (unsigned)getuid());
    const char *slash = strrchr(path, '/'), *stem = slash != NULL ? slash + 1 : path;
    struct output output = { .stem = strcmp(path, "-") == 0 ? "codebox" : stem,
                             .is_cell = strcmp(language, "ipython") == 0,
                             .out = open_stream(STDOUT_FILENO),
                             .err = open_stream(STDERR_FILENO) };
    output.stem_len =
        strcspn(output.stem, ".") > 0 ? strcspn(output.stem, ".") : strlen(output.stem);
    struct cbx_sink sink = { .event = take_event, .context = &output };
    struct cbx_request request = {
        .subject = { .action = CBX_ACTION_RUN,
                     .language = cbx_str_of(language),
                     .principal = cbx_str_of(principal),
                     .session = CBX_STR(""),
                     .origin = CBX_STR("run") },
        .source = source,
        .options = { .interactive = true },
    };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    output.flow = &flow;
    output.outcome = &outcome;
    output.reads_stdin = strcmp(path, "-") != 0;
    int failed = cbx_review(&flow, &request, &sink, &outcome, &err);
    int status = 1;
    if (failed) {
        status = cbx_cli_fail(&err);
    } else if (outcome.verdict == CBX_ALLOW) {
        status = report_result(&outcome.result, &output.err);
    } else {
        cbx_print_findings(outcome.decision, path, stderr);
        fprintf(stderr,
                "codebox: %s did not run: %s by policy %.*s (decision %s, audit record %llu)\n",
                path, outcome.verdict == CBX_ASK ? "needs approval" : "denied",
                CBX_STR_ARG(flow.policies.items[0]->name), outcome.id,
                (unsigned long long)outcome.audit_seq);
    }
    cbx_flow_done(&flow);
    return status;
}

int cbx_run_command(const struct cbx_options *options)
{
    if (options->argument_count != 1) {
        fprintf(stderr, "codebox: run takes one FILE, or '-' for standard input, not %zu\n",
                options->argument_count);
        return 2;
    }
    const char *path = options->arguments[0], *language = language_of(path, options->language);
    if (language == NULL) {
        fprintf(stderr,
                "codebox: '%s' has no ending that says its language; say --language NAME, or use "
                "one of ",
                path);
        print_languages(stderr);
        return 2;
    }
    if (cbx_kernel_of(language) == NULL) {
        fprintf(stderr, "codebox: the language is '%s', what can run is ", language);
        print_languages(stderr);
        return 2;
    }
    enum { READ_MAX = 32 * 1024 * 1024 };
    CBX_AUTO_DONE(buf) source;
    cbx_buf_init(&source, READ_MAX);
    struct cbx_err err = { 0 };
    if (read_source(path, READ_MAX, &source, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    return review_file(options, path, language, cbx_buf_str(&source));
}
