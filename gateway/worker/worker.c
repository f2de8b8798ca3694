/* SPDX-License-Identifier: MIT
 * Analyzer workers. Each worker serves one request and ends, so a source that takes over its
 * worker reaches no other judgement. A request is a header and the source; the answer is the
 * complete decision, the text that may run, and the sealed decision. If a worker ends or answers
 * with an error, the front denies or refuses the source. */
#include "gateway/worker/worker.h"

#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "analyzer/report/report.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/master/master.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/worker/trim.h"
#include "gateway/worker/worker_packages.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The parts of the zygote that a worker inherits. */
struct cbx_worker {
    const struct cbx_policies *policies;
    const struct cbx_worker_secrets *secrets;
};

/* A request: the header has the subject's fields and the policy's name; the bytes are the past,
 * the entries behind it, then the source. */
struct analysis_request {
    struct cbx_str policy, action;
    struct cbx_subject subject;
    const json_t *asked;
    struct cbx_asked read; /* the members of `asked`, as they were read */
    int64_t past_bytes, entries_bytes;
    struct cbx_str source; /* not a field of the header */
};
#define FIELD(member, kind, needed, most)                                                          \
    {                                                                                              \
        .name = #member, .type = CBX_JSON_##kind,                                                  \
        .offset = offsetof(struct analysis_request, member), .required = (needed), .max = (most)   \
    }
#define TEXT(member, most)                                                                         \
    {                                                                                              \
        .name = #member, .type = CBX_JSON_STR,                                                     \
        .offset = offsetof(struct analysis_request, subject.member), .required = true,             \
        .max = (most) > CBX_FILE_NAME_MAX ? (most) : CBX_FILE_NAME_MAX                             \
    }
#define CLAIM(member, most)                                                                        \
    {                                                                                              \
        .name = #member, .type = CBX_JSON_STR,                                                     \
        .offset = offsetof(struct analysis_request, subject.member), .max = (most)                 \
    }
static const struct cbx_json_field request_fields[] = {
    FIELD(policy, STR, true, CBX_NAME_MAX),
    FIELD(action, STR, true, 16),
    FIELD(past_bytes, INT, false, CBX_PAST_BYTES_MAX),
    FIELD(entries_bytes, INT, false, CBX_WIRE_BYTES_MAX),
    FIELD(asked, OBJECT, true, 0),
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning) TEXT(member, max_bytes),
#define CBX_CLAIM(member, max_bytes, meaning)              CLAIM(member, max_bytes),
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
};
#undef FIELD
#undef TEXT
#undef CLAIM

/* *out borrows from the message; the caller owns out->asked (cbx_asked_done). */
static int read_request(const struct cbx_message *message, struct analysis_request *out,
                        struct cbx_err *err)
{
    struct analysis_request request = { .read = cbx_asked_nothing };
    int failed = cbx_json_read(message->header, request_fields,
                               sizeof(request_fields) / sizeof(request_fields[0]), &request, err);
    if (failed) {
        return failed;
    }
    struct cbx_str bytes = cbx_buf_str(&message->bytes);
    size_t past = (size_t)request.past_bytes, entries = (size_t)request.entries_bytes;
    if (past + entries > bytes.len) {
        return cbx_fail(err, CBX_EPROTO, "past and entries have %zu bytes, the request only %zu",
                        past + entries, bytes.len);
    }
    request.subject.action = cbx_action_of(request.action);
    request.subject.past = cbx_str_sub(bytes, 0, past);
    request.subject.entries = cbx_str_sub(bytes, past, past + entries);
    request.source = cbx_str_sub(bytes, past + entries, bytes.len);
    failed = cbx_asked_read(request.asked, &request.read, err);
    if (failed) {
        return failed;
    }
    *out = request;
    out->subject.asked = &out->read;
    return 0;
}

/* --- the past --------------------------------------------------------------------------------- */

/* The front keeps the past between judgements, and cannot make or change one: its bytes follow a
 * MAC under a key of its own, so that no past is accepted as a decision, and no decision as a
 * past. */
static struct cbx_sha256 mac_of_past(const struct cbx_seal_key *key, struct cbx_str bytes)
{
    struct cbx_str k = { .p = (const char *)key->bytes, .len = sizeof(key->bytes) };
    return cbx_hmac_sha256(k, bytes);
}

static int open_past(const struct cbx_seal_key *key, struct cbx_str sealed, struct cbx_past *out,
                     struct cbx_err *err)
{
    struct cbx_str bytes = cbx_str_sub(sealed, CBX_SHA256_BYTES, sealed.len);
    struct cbx_sha256 have, want = mac_of_past(key, bytes);
    if (sealed.len <= CBX_SHA256_BYTES) {
        return cbx_fail(err, CBX_ESEAL, "the past has no seal");
    }
    memcpy(have.bytes, sealed.p, sizeof(have.bytes));
    if (!cbx_sha256_equal(&have, &want)) {
        return cbx_fail(err, CBX_ESEAL,
                        "the past's seal is not valid: forged, altered, or of "
                        "another gateway");
    }
    return cbx_past_read(bytes, out, err);
}

/* True if the decision allows the program, at once or after an approval. */
static bool may_run(enum cbx_verdict verdict)
{
    return verdict == CBX_ALLOW || verdict == CBX_ASK;
}

/* Adds an entry of the store. A cell is judged again, for its summary, while there is time: this
 * makes the judgements of the session's next cells faster. */
static void replay(const struct cbx_policy *policy, const json_t *mounts,
                   const struct cbx_entry *entry, int64_t deadline_ms, struct cbx_arena *arena,
                   struct cbx_past *past)
{
    struct cbx_strs folders = cbx_mounts_writable(mounts, arena);
    struct cbx_analysis analysis = { .source = entry->text,
                                     .folders = &folders,
                                     .past = past,
                                     .language = entry->language,
                                     .now = cbx_time_ms() / 1000 };
    struct cbx_decision decision = { 0 };
    bool judged = entry->kind == CBX_ENTRY_CELL && cbx_clock_ms() < deadline_ms &&
                  cbx_analyze(policy, &analysis, arena, &decision, NULL) == 0 &&
                  may_run(decision.verdict);
    if (judged) {
        cbx_past_add_cell_as(past, entry, decision.summary, arena);
    } else {
        cbx_past_add(past, entry);
    }
    cbx_past_add_written(past, entry, arena);
    cbx_arena_reset(arena);
}

/* Reads the past of a request: the sealed part, then the entries behind it. The caller calls
 * cbx_past_done in any case. */
static int read_past(const struct cbx_worker *worker, const struct cbx_policy *policy,
                     const struct cbx_subject *subject, struct cbx_arena *arena,
                     struct cbx_past *out, struct cbx_err *err)
{
    enum { REPLAY_MS = 5000 };
    struct cbx_sha256 begin = cbx_ledger_begin(subject->session, &policy->sha256);
    struct cbx_str rest = subject->entries;
    struct cbx_entry entry;
    if (subject->past.len == 0) {
        cbx_past_begin(out, &begin);
    } else {
        int failed = open_past(&worker->secrets->pasts, subject->past, out, err);
        if (failed) {
            return failed;
        }
    }
    for (int64_t deadline = cbx_clock_ms() + REPLAY_MS; cbx_entry_next(&rest, &entry);) {
        replay(policy, subject->asked->mounts, &entry, deadline, arena, out);
    }
    if (rest.len != 0) {
        return cbx_fail(err, CBX_EPROTO, "an entry of the past is malformed");
    }
    return 0;
}

/* Appends the sealed past. */
static void seal_past(const struct cbx_worker *worker, const struct cbx_past *past,
                      struct cbx_buf *out)
{
    size_t at = out->len;
    struct cbx_sha256 none = { 0 };
    cbx_buf_add_bytes(out, none.bytes, sizeof(none.bytes));
    cbx_past_write(past, out);
    struct cbx_str bytes = cbx_str_sub(cbx_buf_str(out), at + sizeof(none.bytes), out->len);
    struct cbx_sha256 mac = mac_of_past(&worker->secrets->pasts, bytes);
    memcpy(out->p + at, mac.bytes, sizeof(mac.bytes));
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Under log-only the front's copy has `mode`, and each finding that would stop the code in
 * another mode has `would`: its effect there. */
static void note_relaxed(const struct cbx_judged *judged, json_t *full)
{
    json_t *findings = json_object_get(full, "findings");
    if (!judged->policy->log_only) {
        return;
    }
    json_object_set_new(full, "mode", json_string(CBX_MODE_LOG_ONLY));
    for (size_t i = 0; i < judged->decision->finding_count; i++) {
        const struct cbx_finding *f = &judged->decision->findings[i];
        if (f->enforced < CBX_EFFECT_WARN && f->effect >= CBX_EFFECT_WARN) {
            json_object_set_new(json_array_get(findings, i), "would",
                                json_string(cbx_effect_name(f->enforced)));
        }
    }
}

/* Seals the decision and writes {sealed, mac, decision} into `answer`. */
static int seal_decision(const struct cbx_seal_token *token, const struct cbx_judged *judged,
                         json_t *answer, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) sealed;
    cbx_buf_init(&sealed, CBX_SEAL_MAX_BYTES);
    struct cbx_sha256 mac;
    json_t *full = NULL;
    int failed = cbx_seal_make(token, judged, &sealed, &mac, err);
    if (failed) {
        return failed;
    }
    failed = cbx_decision_json(judged->decision, &full, err);
    if (failed) {
        return failed;
    }
    char hex[CBX_SHA256_HEX + 1];
    note_relaxed(judged, full);
    cbx_sha256_hex(&mac, hex);
    json_object_set_new(answer, "sealed", json_stringn(sealed.p, sealed.len));
    json_object_set_new(answer, "mac", json_string(hex));
    json_object_set_new(answer, "decision", full);
    return 0;
}

/* Appends to `bytes` the text that may run, then the past that includes it; {past_bytes} of the
 * answer. */
static int answer_bytes(const struct cbx_worker *worker, const struct cbx_subject *subject,
                        const struct cbx_decision *decision, const struct cbx_past *past,
                        json_t *answer, struct cbx_buf *bytes, struct cbx_err *err)
{
    bool keeps = may_run(decision->verdict) && subject->session.len > 0 &&
                 (subject->action == CBX_ACTION_RUN || subject->action == CBX_ACTION_FILE);
    cbx_buf_add(bytes, decision->text);
    size_t at = bytes->len;
    if (keeps) {
        seal_past(worker, past, bytes);
    }
    json_object_set_new(answer, "past_bytes", json_integer((json_int_t)(bytes->len - at)));
    if (bytes->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "text and past have more than %d bytes",
                        CBX_WIRE_BYTES_MAX);
    }
    return 0;
}

/* `text` is the action's text of packages. */
static struct cbx_packages_question question_of(const struct analysis_request *request,
                                                struct cbx_str text)
{
    return (struct cbx_packages_question){ .action = request->subject.action,
                                           .language = request->subject.language,
                                           .text = text,
                                           .principal = request->subject.principal,
                                           .now = cbx_time_ms() / 1000 };
}

/* Lists {installs}: the packages that the cell installs. */
static void list_installs(const struct cbx_decision *decision, json_t *answer)
{
    json_t *installs = json_array();
    for (size_t i = 0; i < decision->install_count; i++) {
        json_array_append_new(installs, cbx_json_text(decision->installs[i]));
    }
    json_object_set_new(answer, "installs", installs);
}

static int judge_with(const struct cbx_worker *worker, const struct analysis_request *request,
                      const struct cbx_policy *policy, struct cbx_past *past,
                      struct cbx_arena *arena, json_t *answer, struct cbx_buf *bytes,
                      struct cbx_err *err)
{
    const struct cbx_subject *subject = &request->subject;
    bool is_file = subject->action == CBX_ACTION_FILE;
    const struct cbx_asked *asked = cbx_subject_asked(subject);
    struct cbx_strs folders = cbx_mounts_writable(asked->mounts, arena);
    struct cbx_analysis analysis = { .source = request->source,
                                     .past = subject->session.len > 0 ? past : NULL,
                                     .folders = &folders,
                                     .language = subject->language,
                                     .path = subject->path,
                                     .principal = subject->principal,
                                     .now = cbx_time_ms() / 1000 };
    struct cbx_decision decision = { 0 };
    int failed = cbx_analyze(policy, &analysis, arena, &decision, err);
    const struct cbx_packages_question installed = question_of(request, cbx_asked_packages(asked));
    if (failed) {
        return failed;
    }
    failed = cbx_packages_add_to(policy, &installed, arena, &decision, err);
    if (failed) {
        return failed;
    }
    struct cbx_entry entry = { .kind = is_file ? CBX_ENTRY_FILE : CBX_ENTRY_CELL,
                               .language = decision.language,
                               .name = subject->path,
                               .text = request->source };
    CBX_AUTO_DONE(buf) files;
    cbx_buf_init(&files, CBX_FILES_MAX * CBX_SHA256_HEX);
    struct cbx_judged judged = { .policy = policy,
                                 .subject = subject,
                                 .decision = &decision,
                                 .ledger = past->ledger,
                                 .entry = cbx_entry_hash(&entry) };
    judged.code = worker->policies->keep_code ? request->source : judged.code;
    if (is_file) {
        cbx_past_add(past, &entry);
    } else {
        cbx_past_add_cell_as(past, &entry, decision.summary, arena);
    }
    cbx_past_add_written(past, &entry, arena);
    cbx_past_list_files(past, decision.language, &files);
    judged.files = cbx_buf_str(&files);
    failed = seal_decision(&worker->secrets->token, &judged, answer, err);
    if (failed) {
        return failed;
    }
    json_object_set_new(answer, "files", json_stringn(files.p, files.len));
    list_installs(&decision, answer);
    return answer_bytes(worker, subject, &decision, past, answer, bytes, err);
}

/* Resolving and installing belong to no session. */
static int judge_install(const struct cbx_worker *worker, const struct analysis_request *request,
                         const struct cbx_policy *policy, struct cbx_arena *arena, json_t *answer,
                         struct cbx_buf *bytes, struct cbx_err *err)
{
    CBX_AUTO_DONE(resolved) resolved = { 0 };
    struct cbx_decision decision = { 0 };
    const struct cbx_packages_question question = question_of(request, request->source);
    int failed = cbx_packages_answer(policy, &question, arena, &resolved, &decision, err);
    struct cbx_judged judged = { .policy = policy,
                                 .subject = &request->subject,
                                 .decision = &decision };
    judged.code = worker->policies->keep_code ? request->source : judged.code;
    if (failed) {
        return failed;
    }
    failed = seal_decision(&worker->secrets->token, &judged, answer, err);
    if (failed) {
        return failed;
    }
    cbx_buf_add(bytes, decision.text);
    json_object_set_new(answer, "past_bytes", json_integer(0));
    json_object_set_new(json_object_get(answer, "decision"), "packages", json_true());
    return 0;
}

static int judge(const struct cbx_worker *worker, const struct cbx_message *message,
                 struct cbx_arena *arena, json_t *answer, struct cbx_buf *bytes,
                 struct cbx_err *err)
{
    struct analysis_request request;
    int failed = read_request(message, &request, err);
    if (failed) {
        return failed;
    }
    const struct cbx_policy *policy = cbx_policies_find(worker->policies, request.policy);
    if (policy == NULL) {
        return cbx_policies_fail(worker->policies, request.policy, err);
    }
    if (request.subject.action == CBX_ACTION_RESOLVE ||
        request.subject.action == CBX_ACTION_INSTALL) {
        return judge_install(worker, &request, policy, arena, answer, bytes, err);
    }
    CBX_AUTO_DONE(past) past = { 0 };
    failed = cbx_environment_check(policy, request.read.environment, err);
    if (failed) {
        return failed;
    }
    failed = cbx_mounts_check(policy, request.read.mounts, err);
    if (failed) {
        return failed;
    }
    failed = read_past(worker, policy, &request.subject, arena, &past, err);
    if (failed) {
        return failed;
    }
    return judge_with(worker, &request, policy, &past, arena, answer, bytes, err);
}

/* Judges a built-in program and drops the answer. In the zygote this fills caches that all
 * workers share. In a worker, before its request, it gives the worker its own copies of the
 * pages that judging writes, which takes more than half of the time of a small judgement
 * otherwise. */
static void rehearse(const struct cbx_policies *policies, struct cbx_arena *arena)
{
    static const struct cbx_worker_secrets none;
    const struct cbx_worker rehearsal = { .policies = policies, .secrets = &none };
    const struct analysis_request request = {
        .subject = { .action = CBX_ACTION_RUN, .language = CBX_STR("python") },
        .source = CBX_STR("import os\nprint(os.getcwd())\n"),
    };
    struct cbx_sha256 begin = cbx_ledger_begin(CBX_STR(""), &policies->items[0]->sha256);
    CBX_AUTO_DONE(past) past = { 0 };
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_JSON answer = json_object();
    cbx_buf_init(&bytes, CBX_WIRE_BYTES_MAX);
    cbx_past_begin(&past, &begin);
    judge_with(&rehearsal, &request, policies->items[0], &past, arena, answer, &bytes, NULL);
    cbx_arena_reset(arena);
}

_Noreturn void cbx_worker_main(int fd, const struct cbx_policies *policies,
                               const struct cbx_worker_secrets *secrets)
{
    const struct cbx_worker worker = { .policies = policies, .secrets = secrets };
    struct cbx_err err = { 0 };
    struct cbx_arena arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_log_set_component("worker");
    prctl(PR_SET_NAME, "cbx-analyzer");
    if (cbx_jail_worker(&err) != 0) {
        cbx_log(CBX_LOG_ERROR, "analyzer worker: %s", err.text);
        _exit(1);
    }
    rehearse(policies, &arena);
    struct cbx_message request;
    cbx_message_init(&request);
    if (cbx_wire_receive(fd, -1, &request, &err) != 0) {
        _exit(0);
    }
    CBX_AUTO_JSON answer = json_object();
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, CBX_WIRE_BYTES_MAX);
    int failed = judge(&worker, &request, &arena, answer, &bytes, &err);
    if (failed) {
        json_object_clear(answer);
        json_object_set_new(answer, "error", json_integer(failed));
        json_object_set_new(answer, "text", cbx_json_text(cbx_str_of(err.text)));
        cbx_buf_reset(&bytes);
    }
    cbx_wire_send(fd, answer, cbx_buf_str(&bytes), &err);
    _exit(0); /* nothing is freed: the process ends, and with it all that the source reached */
}

struct zygote {
    const struct cbx_policies *policies;
    struct cbx_zygote_secrets *secrets; /* on a page that is empty in every worker */
    uint64_t next_number;               /* of a worker */
    int control;
    pid_t pids[CBX_WORKER_SLOTS_MAX]; /* by slot; 0 = none yet */
    size_t count;                     /* number of slots with a worker */
    bool trimmed;                     /* workers lack the libraries that no worker calls */
    int queued_fd; /* descriptor of a worker to fork when there is time; -1 = none */
    unsigned queued_slot;
};

/* Forks the worker of a slot, and ends the slot's previous one. */
static void spawn(struct zygote *z, unsigned slot, int fd)
{
    pid_t zygote = getpid(), before = z->pids[slot];
    struct cbx_worker_secrets own = { .pasts = z->secrets->pasts };
    cbx_seal_token_make(&z->secrets->decisions, z->next_number++, &own.token);
    z->pids[slot] = cbx_trim_fork(z->trimmed);
    if (z->pids[slot] == 0) {
        close(z->control);
        cbx_fd_auto(&z->queued_fd);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != zygote) {
            _exit(0);
        }
        cbx_worker_main(fd, z->policies, &own);
    }
    explicit_bzero(&own, sizeof(own)); /* the next worker must not find the descriptor */
    /* after a failed fork the front reads the end of the stream, and takes its worker for gone */
    close(fd);
    z->count += before == 0;
    if (before > 0) {
        kill(before, SIGKILL);
        waitpid(before, NULL, 0);
    }
}

static void spawn_queued(struct zygote *z)
{
    if (z->queued_fd >= 0) {
        spawn(z, z->queued_slot, cbx_fd_steal(&z->queued_fd));
    }
}

/* The front requests the next worker of a slot before it answers its client. Forking at once
 * would take the processor from that answer, so the zygote waits a moment while other slots have
 * a worker, at most until the next request of the front. */
static void enqueue(struct zygote *z, unsigned slot, int fd)
{
    spawn_queued(z);
    if (z->pids[slot] == 0 || z->count < 2) {
        spawn(z, slot, fd);
    } else {
        z->queued_slot = slot;
        z->queued_fd = fd;
    }
}

/* False if the front has ended. */
static bool take_request(struct zygote *z)
{
    enum { DELAY_MS = 2 };
    struct pollfd ready = { .fd = z->control, .events = POLLIN };
    if (z->queued_fd >= 0 && poll(&ready, 1, DELAY_MS) == 0) {
        spawn_queued(z);
    }
    int fd;
    char tag;
    if (cbx_wire_receive_fd(z->control, &fd, &tag, NULL) != 0) {
        return false;
    }
    if (fd >= 0 && (unsigned char)tag < CBX_WORKER_SLOTS_MAX) {
        enqueue(z, (unsigned char)tag, fd);
    } else {
        cbx_fd_auto(&fd);
    }
    return true;
}

/* libcrypto opens its configuration and providers at the first use, and jansson takes its hash
 * seed: that must be before the jail. */
static int warm_up(const struct zygote *z, struct cbx_err *err)
{
    struct cbx_arena arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    rehearse(z->policies, &arena);
    cbx_arena_done(&arena);
    return cbx_jail_worker_prepare(err);
}

/* Does the work of a worker, without a request. */
static void try_worker(void *policies)
{
    struct cbx_err err;
    struct cbx_arena arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    if (cbx_jail_worker(&err) != 0) {
        _exit(1);
    }
    rehearse(policies, &arena);
}

/* NULL if the secrets cannot be read. */
static struct cbx_zygote_secrets *read_secrets(int fd)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool whole = p != MAP_FAILED && madvise(p, page, MADV_WIPEONFORK) == 0 &&
                 read(fd, p, sizeof(struct cbx_zygote_secrets)) ==
                     (ssize_t)sizeof(struct cbx_zygote_secrets);
    close(fd);
    return whole ? p : NULL;
}

_Noreturn void cbx_zygote_main(int control, int secrets_fd, const struct cbx_policies *policies)
{
    static struct zygote z;
    struct cbx_err err = { 0 };
    z.policies = policies;
    z.control = control;
    z.queued_fd = -1;
    z.secrets = read_secrets(secrets_fd);
    if (z.secrets == NULL) {
        _exit(1);
    }
    z.next_number = z.secrets->first_number;
    prctl(PR_SET_NAME, "cbx-zygote");
    cbx_jail_common();
    if (warm_up(&z, &err) != 0 || cbx_files_confine(NULL, 0, false, &err) != 0 ||
        cbx_jail_zygote(&err) != 0) {
        cbx_log(CBX_LOG_ERROR, "zygote: %s", err.text);
        _exit(1);
    }
    z.trimmed = cbx_trim_children(try_worker, (void *)(uintptr_t)policies);
    while (take_request(&z)) {
    }
    for (int i = 0; i < CBX_WORKER_SLOTS_MAX; i++) {
        if (z.pids[i] > 0) {
            kill(z.pids[i], SIGKILL);
        }
    }
    _exit(0);
}
