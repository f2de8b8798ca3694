/* SPDX-License-Identifier: MIT
 * `codebox run`: one file through the whole flow. The program's stdout and stderr become those of
 * this process (without control sequences where they are a terminal), so does its exit status, and
 * its pictures become files. */
#include "analyzer/filetype.h"
#include "docker/container.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/run_feed.h"
#include "gateway/cli/run_files.h"
#include "gateway/cli/run_input.h"
#include "gateway/cli/run_interrupt.h"
#include "gateway/cli/run_packages.h"
#include "gateway/cli/terminal.h"
#include "gateway/front/advice.h"
#include "gateway/front/contents.h"
#include "gateway/front/denial.h"
#include "policies/base/printable.h"
#include "policies/guard.h"
#include "policies/packages.h"

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

/* The file's type by its name, else by its first line. */
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

/* Standard output or standard error. A terminal gets the program's output without control
 * sequences. */
struct stream {
    int fd;
    bool is_terminal;
    struct cbx_terminal terminal;
};

/* The state of writing a run's events. */
struct output {
    struct cbx_run_files files;
    struct cbx_run_input *input;
    struct cbx_run_feed *feed; /* NULL: the program has no standard input */
    struct cbx_run_interrupt interrupt;
    bool is_cell; /* only a notebook cell shows its last value */
    const struct cbx_outcome *outcome;
    struct stream out, err;
};

static void write_shown(struct stream *to, struct cbx_str bytes)
{
    if (!to->is_terminal) {
        cbx_cli_write(to->fd, bytes);
        return;
    }
    CBX_AUTO_DONE(buf) shown;
    cbx_buf_init(&shown, bytes.len + 8);
    cbx_terminal_add(&to->terminal, &shown, bytes);
    cbx_cli_write(to->fd, cbx_buf_str(&shown));
}

static struct stream open_stream(int fd)
{
    return (struct stream){ .fd = fd, .is_terminal = isatty(fd) == 1 };
}

/* Shows a value that has several forms: its first picture in the order of the table, else its
 * text. */
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
                cbx_run_files_picture(&o->files, event->mimes[i].data, pictures[p].ending);
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

/* The first of its kind; how often is in the audit log. */
static void show_refusal(const struct cbx_event *event)
{
    const struct cbx_refusal_row *row = cbx_refusal_row((enum cbx_refusal)event->refusal);
    if (event->count > 1) {
        return;
    }
    CBX_AUTO_DONE(buf) what;
    cbx_buf_init(&what, 4096);
    cbx_printable_add(&what, event->text, CBX_PRINTABLE_LINE);
    fflush(stdout);
    fprintf(stderr, "codebox: refused by rule %.*s: %s (%s) %s\n", CBX_STR_ARG(event->rule),
            row->message, what.p != NULL ? what.p : "", row->hint);
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
        write_shown(&o->out, event->text);
        cbx_run_input_ask(o->input, o->outcome->id, event->secret);
        break;
    case CBX_EVENT_BLOCKED:
        show_refusal(event);
        break;
    case CBX_EVENT_FILE:
        cbx_run_files_note(&o->files, event->text, event->size_bytes);
        break;
    }
    return 0;
}

static bool is_interrupted(void *context)
{
    struct output *o = context;
    return cbx_run_interrupt_check(&o->interrupt);
}

static void note_run(void *context, enum cbx_progress progress, const char *decision,
                     uint64_t audit_seq)
{
    struct output *o = context;
    cbx_run_interrupt_note(&o->interrupt, progress, decision, audit_seq);
    if (o->feed != NULL && progress == CBX_BEGUN) {
        cbx_run_feed_begin(o->feed, decision);
    }
}

static void print_advice(void *context, struct cbx_str line)
{
    (void)context;
    fprintf(stderr, "codebox: %s\n", line.p);
}

/* Its stderr went to ours; the traceback has what most programs end with. */
static void give_advice(const struct cbx_outcome *outcome, struct cbx_flow *flow)
{
    struct cbx_advice advice = {
        .result = &outcome->result,
        .limits = &outcome->limits,
        .language = cbx_json_str(json_object_get(outcome->decision, "language")),
        .hosts = outcome->hosts,
        .installs = outcome->installs,
    };
    CBX_AUTO_DONE(contents) contents = { 0 };
    cbx_contents_advise(flow, &advice, &contents);
    cbx_advice_give(&advice, print_advice, NULL);
}

/* The exit status of the program; 124 for a time-out as timeout(1) has it, 128 + signal as shells
 * have it. */
static int report_result(const struct cbx_outcome *outcome, struct cbx_flow *flow,
                         struct stream *to)
{
    const struct cbx_result *r = &outcome->result;
    if (r->traceback != NULL && r->traceback[0] != '\0') {
        write_shown(to, cbx_str_of(r->traceback));
        write_shown(to, CBX_STR("\n"));
    } else if (r->evalue != NULL) { /* the sandbox refused it, and there is no program to show */
        write_shown(to, cbx_str_of(r->evalue));
        write_shown(to, CBX_STR("\n"));
    }
    if (r->output_truncated) {
        fprintf(stderr, "codebox: the output was cut at the policy's limit\n");
    }
    give_advice(outcome, flow);
    CBX_AUTO_DONE(buf) stopped;
    cbx_buf_init(&stopped, 1024);
    if (cbx_advice_stopped(r, &outcome->limits, &stopped)) {
        fprintf(stderr, "codebox: %s\n", stopped.p);
    }
    char loss[CBX_RESULT_LOSS_BYTES];
    switch (r->status) {
    case CBX_RUN_OK:
        return r->input_cut ? 1 : 0;
    case CBX_RUN_LOST:
        fprintf(stderr, "codebox: lost: %s\n", cbx_result_loss(r, loss));
        return 1;
    case CBX_RUN_TIMEOUT:
    case CBX_RUN_CPU:
        return 124;
    case CBX_RUN_OOM:
        return 137;
    case CBX_RUN_REFUSED:
        fprintf(stderr, "codebox: stopped, the policy ends a run when something is refused\n");
        return 126;
    case CBX_RUN_KILLED:
        fprintf(stderr, "codebox: the program was killed%s\n",
                r->signal == SIGKILL ? "" : " or cancelled");
        return r->signal > 0 ? 128 + r->signal : 137;
    default:
        return r->exit_code > 0 ? r->exit_code : 1;
    }
}

/* A file program of the command line. */
struct program {
    const char *path; /* "-" = standard input */
    const char *name; /* without folders; empty for standard input */
    const char *language;
    struct cbx_str source;
    json_t *arguments;
    uid_t user; /* the caller; the front has another one when the caller is root */
};

static int report_outcome(const struct program *program, struct output *output,
                          struct cbx_flow *flow, struct cbx_str principal)
{
    const struct cbx_outcome *outcome = output->outcome;
    if (outcome->verdict == CBX_ALLOW) {
        int status = report_result(outcome, flow, &output->err);
        bool kept = cbx_run_files_keep(&output->files, flow, outcome->id, principal);
        return status == 0 && !kept ? 1 : status;
    }
    bool about_packages = json_is_true(json_object_get(outcome->decision, "packages"));
    struct cbx_denial denial = { .decision = outcome->decision,
                                 .ask = outcome->verdict == CBX_ASK,
                                 .source = about_packages ? CBX_STR("") : program->source };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 2 * CBX_DENIAL_BYTES_MAX);
    cbx_denial_add(&denial, &text);
    fputs(text.p, stderr);
    fprintf(stderr, "codebox: %s did not run: %s by policy %.*s (decision %s, audit record %llu)\n",
            program->path, outcome->verdict == CBX_ASK ? "needs approval" : "denied",
            CBX_STR_ARG(cbx_flow_policies(flow)->items[0]->name), outcome->id,
            (unsigned long long)outcome->audit_seq);
    return 1;
}

static int run_program(const struct cbx_options *options, const struct program *program,
                       struct cbx_flow *flow)
{
    struct cbx_err err = { 0 };
    char principal[32];
    umask(options->umask); /* this process writes only the program's files, for the caller */
    snprintf(principal, sizeof(principal), "uid:%u", (unsigned)program->user);
    bool from_stdin = strcmp(program->path, "-") == 0;
    const char *name = from_stdin ? "codebox" : program->name;
    size_t stem = strcspn(name, ".");
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    CBX_AUTO(run_input)
    input = cbx_run_input_new(flow, cbx_str_of(principal), from_stdin ? -1 : STDIN_FILENO);
    bool feeds = !from_stdin && cbx_run_feed_takes(STDIN_FILENO, &err);
    if (err.code != 0) {
        return cbx_cli_fail(&err);
    }
    CBX_AUTO(run_feed) feed = cbx_run_feed_new(flow, cbx_str_of(principal), STDIN_FILENO);
    struct output output = { .is_cell = strcmp(program->language, "ipython") == 0,
                             .input = input,
                             .feed = feeds ? feed : NULL,
                             .outcome = &outcome,
                             .out = open_stream(STDOUT_FILENO),
                             .err = open_stream(STDERR_FILENO) };
    cbx_run_files_init(&output.files, options->output,
                       cbx_str_sub(cbx_str_of(name), 0, stem > 0 ? stem : strlen(name)));
    output.interrupt =
        (struct cbx_run_interrupt){ .flow = flow, .principal = cbx_str_of(principal) };
    cbx_run_interrupt_catch();
    struct cbx_sink sink = { .event = take_event, .cancelled = is_interrupted, .context = &output };
    struct cbx_request request = {
        .subject = { .action = CBX_ACTION_RUN,
                     .language = cbx_str_of(program->language),
                     .principal = cbx_str_of(principal),
                     .session = CBX_STR(""),
                     .origin = CBX_STR("run"),
                     .file_name = cbx_str_of(program->name),
                     .arguments = program->arguments,
                     .mounts = flow->mounts },
        .source = program->source,
        .options = { .interactive = !feeds,
                     .has_input = feeds,
                     .streams = feeds,
                     .note = note_run,
                     .context = &output },
    };
    CBX_AUTO_DONE(buf) set;
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    int failed = cbx_run_packages(flow, &options->with, &request, &set, &judgement, &outcome, &err);
    if (!failed && outcome.verdict == CBX_ALLOW) {
        failed = cbx_review_submit(flow, &request, &judgement, &sink, &outcome, &err);
    }
    bool interrupted = output.interrupt.handled > 0;
    int unread = cbx_run_feed_end(feed, failed ? &(struct cbx_err){ 0 } : &err);
    int status = 0;
    if (!failed) {
        failed = unread;
    }
    if (!failed) {
        status = report_outcome(program, &output, flow, cbx_str_of(principal));
    } else if (!interrupted) {
        status = cbx_cli_fail(&err);
    }
    cbx_run_files_done(&output.files);
    if (interrupted && (failed || status != 0)) {
        return 128 + SIGINT; /* as shells have it */
    }
    return status;
}

/* The arguments after FILE; NULL, with a message on stderr, when one is not UTF-8 or they are too
 * many: the audit log records them. */
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

/* Prints why neither name nor first line give a language. */
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

/* The language of --language, else of the file, by its name in permits; NULL, with a message on
 * stderr, when it cannot run. */
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

int cbx_run_command(const struct cbx_options *options)
{
    enum { READ_MAX = 32 * 1024 * 1024 };
    if (options->arguments.count == 0) {
        fprintf(stderr,
                "codebox: run takes a FILE, or '-' for standard input, and its arguments\n");
        return 2;
    }
    struct cbx_err err = { 0 };
    struct program program = { .path = options->arguments.items[0], .user = getuid() };
    const char *slash = strrchr(program.path, '/');
    program.name = strcmp(program.path, "-") == 0 ? "" : slash != NULL ? slash + 1 : program.path;
    CBX_AUTO_DONE(buf) source;
    cbx_buf_init(&source, READ_MAX);
    CBX_AUTO_JSON arguments = read_arguments(options);
    program.arguments = arguments;
    if (arguments == NULL) {
        return 2;
    }
    if (read_source(program.path, READ_MAX, &source, &err) != 0 ||
        cbx_permit_check_arguments(program.name, CBX_STR(""), &err) != 0) {
        return cbx_cli_fail(&err);
    }
    program.source = cbx_buf_str(&source);
    program.language = choose_language(program.path, program.source, options->language);
    if (program.language == NULL) {
        return 2;
    }
    struct cbx_flow flow;
    struct cbx_flow_config config = cbx_options_flow(options);
    CBX_AUTO_JSON mounts = NULL;
    if (cbx_options_mounts(options, &mounts, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    cbx_options_log(options, CBX_LOG_WARNING, false);
    /* Made here: the front may make files in the folder only. */
    mode_t ours = umask(options->umask); /* the folder is the caller's; what follows is not */
    int made = options->output != NULL ? mkdir(options->output, 0777) : 0;
    int error = errno;
    umask(ours);
    errno = error;
    if (made < 0 && errno != EEXIST) {
        cbx_fail(&err, CBX_EIO, "--output '%s': %s", options->output, strerror(errno));
        return cbx_cli_fail(&err);
    }
    config.mounts = mounts;
    config.front_role = CBX_ROLE_CALLER;
    config.front_folder.path = options->output != NULL ? options->output : ".";
    config.front_folder.writes = true;
    if (cbx_flow_start(&config, &flow, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = run_program(options, &program, &flow);
    cbx_flow_done(&flow);
    return status;
}
