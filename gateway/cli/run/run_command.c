/* SPDX-License-Identifier: MIT
 * `codebox run`: one file through the whole flow. The program's stdout and stderr go to the streams
 * of this process (without control sequences on a terminal), which ends with the program's exit
 * status; its pictures become files. */
#include "docker/kernel_names.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/run/run_feed.h"
#include "gateway/cli/run/run_files.h"
#include "gateway/cli/run/run_interrupt.h"
#include "gateway/cli/run/run_packages.h"
#include "gateway/cli/run/run_program.h"
#include "gateway/cli/run/run_stdin.h"
#include "gateway/cli/run/run_workspace.h"
#include "gateway/cli/terminal.h"
#include "gateway/front/denial/advice.h"
#include "gateway/front/denial/denial.h"
#include "gateway/front/image_contents.h"
#include "policies/base/text/printable.h"
#include "policies/guard/guard.h"
#include "policies/packages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Standard output or standard error. On a terminal control sequences of the program are removed. */
struct stream {
    int fd;
    bool is_terminal;
    struct cbx_terminal terminal;
};

/* State of the output of a run's events. */
struct output {
    struct cbx_run_files files;
    struct cbx_run_input *input;
    struct cbx_run_feed *feed; /* NULL: the program has no standard input */
    struct cbx_run_interrupt interrupt;
    bool is_cell;          /* only a notebook cell prints its last value */
    struct cbx_buf errors; /* the last bytes that the program wrote to stderr */
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

/* Keeps the last bytes that the program wrote to stderr, for the advice after it. */
static void keep_errors(struct output *o, struct cbx_str bytes)
{
    bytes = cbx_str_sub(bytes,
                        bytes.len > CBX_ADVICE_READ_BYTES ? bytes.len - CBX_ADVICE_READ_BYTES : 0,
                        bytes.len);
    cbx_buf_add(&o->errors, bytes);
    if (o->errors.len > CBX_ADVICE_READ_BYTES) {
        cbx_buf_consume(&o->errors, o->errors.len - CBX_ADVICE_READ_BYTES);
    }
}

/* Prints a value that has several forms: its first picture in the order of the table, else its
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

/* Only the first refusal of a kind is printed; the audit log has the number. */
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
        keep_errors(o, event->text);
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

/* If the program misses a file that lies beside it on the host, prints how to add it; false if
 * not. */
static bool print_missing(const struct cbx_outcome *outcome, const struct cbx_run_program *program,
                          struct cbx_str errors)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 256 * 1024);
    const struct cbx_result *r = &outcome->result;
    const char *kernel = cbx_kernel_of(program->language);
    if (r->status == CBX_RUN_OK ||
        (!cbx_run_missing_advise(&program->missing, &program->uploads, kernel,
                                 cbx_str_of(r->traceback), &text) &&
         !cbx_run_missing_advise(&program->missing, &program->uploads, kernel, errors, &text))) {
        return false;
    }
    fprintf(stderr, "codebox: %s\n", text.p);
    return true;
}

static void give_advice(const struct cbx_outcome *outcome, struct cbx_flow *flow,
                        const struct cbx_run_program *program, struct cbx_str errors)
{
    struct cbx_advice advice = {
        .result = &outcome->result,
        .limits = &outcome->limits,
        .language = cbx_json_str(json_object_get(outcome->decision, "language")),
        .policy = outcome->policy,
        .hosts = outcome->hosts,
        .installs = outcome->installs,
        .errors = errors,
        .at_command_line = true,
    };
    if (print_missing(outcome, program, errors)) {
        return;
    }
    CBX_AUTO_DONE(contents) contents = { 0 };
    cbx_contents_advise(flow, &advice, &contents);
    cbx_advice_give(&advice, print_advice, NULL);
}

/* Returns the exit status of the program; 124 after a timeout as timeout(1), 128 + signal as
 * shells. */
static int report_result(const struct cbx_outcome *outcome, struct cbx_flow *flow,
                         const struct cbx_run_program *program, struct output *output)
{
    struct stream *to = &output->err;
    const struct cbx_result *r = &outcome->result;
    if (r->traceback != NULL && r->traceback[0] != '\0') {
        write_shown(to, cbx_str_of(r->traceback));
        write_shown(to, CBX_STR("\n"));
        /* the sandbox refused the run, so there is no output of the program */
    } else if (r->evalue != NULL) {
        write_shown(to, cbx_str_of(r->evalue));
        write_shown(to, CBX_STR("\n"));
    }
    if (r->output_truncated) {
        fprintf(stderr, "codebox: the output was cut at the policy's limit\n");
    }
    give_advice(outcome, flow, program, cbx_buf_str(&output->errors));
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

static int report_outcome(const struct cbx_run_program *program, struct output *output,
                          const struct cbx_run_workspace *workspace, struct cbx_str principal)
{
    const struct cbx_outcome *outcome = output->outcome;
    struct cbx_flow *flow = workspace->flow;
    if (outcome->verdict == CBX_ALLOW) {
        int status = report_result(outcome, flow, program, output);
        bool kept = cbx_run_files_keep(&output->files, flow, outcome->id, principal);
        return status == 0 && !kept ? 1 : status;
    }
    const struct cbx_upload *file = workspace->denied;
    struct cbx_denial denial = { .decision = outcome->decision,
                                 .ask = outcome->verdict == CBX_ASK,
                                 .source = cbx_buf_str(&program->source) };
    if (json_is_true(json_object_get(outcome->decision, "packages"))) {
        denial.source = CBX_STR("");
    } else if (file != NULL) {
        denial.source = cbx_buf_str(&file->bytes);
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 2 * CBX_DENIAL_BYTES_MAX);
    cbx_denial_add(&denial, &text);
    fputs(text.p, stderr);
    const char *verdict = outcome->verdict == CBX_ASK ? "needs approval" : "denied";
    fprintf(stderr, "codebox: %s did not run: ", program->path);
    if (file != NULL) {
        fprintf(stderr, "its file %s is ", file->shown);
    }
    fprintf(stderr, "%s by policy %.*s (decision %s, audit record %llu)\n", verdict,
            CBX_STR_ARG(cbx_flow_policies(flow)->items[0]->name), outcome->id,
            (unsigned long long)outcome->audit_seq);
    return 1;
}

/* Installs the packages, writes the files into the workspace and runs the program. A step that
 * denies ends the run. */
static int carry_out(struct cbx_flow *flow, const struct cbx_words *with,
                     struct cbx_run_workspace *workspace, struct cbx_request *request,
                     struct cbx_asked *asked, const struct cbx_sink *sink,
                     struct cbx_outcome *outcome, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    int failed = cbx_run_workspace_judge(workspace, request, outcome, err);
    if (failed || outcome->verdict != CBX_ALLOW) {
        return failed;
    }
    failed = cbx_run_packages(flow, with, request, asked, &judgement, outcome, err);
    if (failed || outcome->verdict != CBX_ALLOW) {
        return failed;
    }
    if (workspace->session[0] == '\0' || judgement.verdict != CBX_ALLOW) {
        return cbx_review_submit(flow, request, &judgement, sink, outcome, err);
    }
    failed = cbx_run_workspace_fill(workspace, request, outcome, err);
    if (failed || outcome->verdict != CBX_ALLOW) {
        return failed;
    }
    cbx_outcome_done(outcome);
    *outcome = (struct cbx_outcome){ 0 };
    return cbx_review(flow, request, sink, outcome, err);
}

/* Opens the streams for the program's output, and catches SIGINT for it. End with done_output. */
static void init_output(struct output *o, const struct cbx_options *options,
                        const struct cbx_run_program *program, struct cbx_flow *flow,
                        struct cbx_str principal)
{
    struct cbx_str name = cbx_str_of(strcmp(program->path, "-") == 0 ? "codebox" : program->name);
    size_t stem = strcspn(name.p, ".");
    o->is_cell = strcmp(program->language, "ipython") == 0;
    o->out = open_stream(STDOUT_FILENO);
    o->err = open_stream(STDERR_FILENO);
    cbx_buf_init(&o->errors, 3 * CBX_ADVICE_READ_BYTES);
    cbx_run_files_init(&o->files, options->output,
                       cbx_str_sub(name, 0, stem > 0 ? stem : name.len));
    o->interrupt = (struct cbx_run_interrupt){ .flow = flow, .principal = principal };
    cbx_run_interrupt_catch();
}

static void done_output(struct output *o)
{
    cbx_run_files_done(&o->files);
    cbx_buf_done(&o->errors);
}

/* The request of a run with this output; borrows everything. */
static struct cbx_request describe_request(const struct cbx_run_program *program,
                                           struct cbx_str principal, const struct cbx_asked *asked,
                                           struct output *output)
{
    bool feeds = output->feed != NULL;
    return (struct cbx_request){
        .subject = { .action = CBX_ACTION_RUN,
                     .language = cbx_str_of(program->language),
                     .principal = principal,
                     .session = CBX_STR(""),
                     .origin = CBX_STR("run"),
                     .file_name = cbx_str_of(program->name),
                     .asked = asked },
        .source = cbx_buf_str(&program->source),
        .options = { .interactive = !feeds,
                     .has_input = feeds,
                     .streams = feeds,
                     .note = note_run,
                     .context = output },
    };
}

static int run_program(const struct cbx_options *options, const struct cbx_run_program *program,
                       struct cbx_flow *flow)
{
    struct cbx_err err = { 0 };
    char uid[32];
    umask(options->umask); /* this process writes only files of the program, for the caller */
    snprintf(uid, sizeof(uid), "uid:%u", (unsigned)program->user);
    struct cbx_str principal = cbx_str_of(uid);
    bool from_stdin = strcmp(program->path, "-") == 0;
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    CBX_AUTO(run_input)
    input = cbx_run_input_new(flow, principal, from_stdin ? -1 : STDIN_FILENO);
    bool feeds = !from_stdin && cbx_run_feed_takes(STDIN_FILENO, &err);
    if (err.code != 0) {
        return cbx_cli_fail(&err);
    }
    CBX_AUTO(run_feed) feed = cbx_run_feed_new(flow, principal, STDIN_FILENO);
    struct output output = { .input = input, .feed = feeds ? feed : NULL, .outcome = &outcome };
    init_output(&output, options, program, flow, principal);
    struct cbx_sink sink = { .event = take_event, .cancelled = is_interrupted, .context = &output };
    CBX_AUTO_DONE(asked) asked = cbx_asked_nothing;
    asked.arguments = json_incref(program->arguments);
    asked.mounts = json_incref((json_t *)(uintptr_t)flow->mounts);
    struct cbx_request request = describe_request(program, principal, &asked, &output);
    CBX_AUTO_DONE(run_workspace) workspace;
    cbx_run_workspace_init(&workspace, flow, &program->uploads, &request);
    int failed =
        carry_out(flow, &options->with, &workspace, &request, &asked, &sink, &outcome, &err);
    bool interrupted = output.interrupt.handled > 0;
    int unread = cbx_run_feed_end(feed, failed ? &(struct cbx_err){ 0 } : &err);
    int status = 0;
    if (!failed) {
        failed = unread;
    }
    if (!failed) {
        status = report_outcome(program, &output, &workspace, principal);
    } else if (!interrupted) {
        status = cbx_cli_fail(&err);
    }
    done_output(&output);
    if (interrupted && (failed || status != 0)) {
        return 128 + SIGINT; /* the exit status of shells */
    }
    return status;
}

int cbx_run_command(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(run_program) program = { 0 };
    int unusable = cbx_run_program_read(options, &program, &err);
    if (unusable) {
        if (err.code != 0) {
            return cbx_cli_fail(&err);
        }
        return 2;
    }
    struct cbx_flow flow;
    struct cbx_flow_config config = cbx_options_flow(options);
    CBX_AUTO_JSON mounts = NULL;
    if (cbx_options_mounts(options, &mounts, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    cbx_options_log(options, CBX_LOG_WARNING, false);
    /* The folder is made here, with the caller's umask: the front may create files only in it. */
    mode_t ours = umask(options->umask);
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
