/* SPDX-License-Identifier: MIT
 * Analyzer workers. A request is a header and the source; the answer is the decision in full, the
 * text that may run, and the sealed decision. When a worker ends or answers with an error, the
 * front denies or refuses the source. */
#include "gateway/worker/worker.h"

#include "analyzer/analyze.h"
#include "analyzer/context.h"
#include "analyzer/report/report.h"
#include "gateway/ipc/jail.h"
#include "gateway/ipc/wire.h"
#include "policies/base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a worker inherits from the zygote. */
struct cbx_worker {
    const struct cbx_policies *policies;
    const struct cbx_seal_key *key;
};

/* A request: the subject's fields and the policy's name in the header; the bytes are the context,
 * then the source. */
struct analysis_request {
    struct cbx_str policy, action;
    struct cbx_subject subject;
    struct cbx_limits limits;
    int64_t context_bytes;
    struct cbx_str source; /* not a field of the header */
};
#define FIELD(member, kind, needed, most)                                                          \
    {                                                                                              \
        .name = #member, .type = CBX_JSON_##kind,                                                  \
        .offset = offsetof(struct analysis_request, member), .required = (needed), .max = (most)   \
    }
#define TEXT(member)                                                                               \
    {                                                                                              \
        .name = #member, .type = CBX_JSON_STR,                                                     \
        .offset = offsetof(struct analysis_request, subject.member), .required = true,             \
        .max = CBX_FILE_NAME_MAX                                                                   \
    }
#define LIMIT(member)                                                                              \
    {                                                                                              \
        .name = #member, .type = CBX_JSON_INT,                                                     \
        .offset = offsetof(struct analysis_request, limits.member), .max = INT64_MAX               \
    }
static const struct cbx_json_field request_fields[] = {
    FIELD(policy, STR, true, CBX_NAME_MAX),
    FIELD(action, STR, true, 16),
    FIELD(context_bytes, INT, false, 2 * CBX_CONTEXT_MAX_BYTES),
    { .name = "arguments",
      .type = CBX_JSON_ARRAY,
      .offset = offsetof(struct analysis_request, subject.arguments),
      .max = CBX_ARGUMENTS_MAX },
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning) TEXT(member),
#include "gateway/ipc/subject.def"
#undef CBX_SUBJECT
#define CBX_LIMIT(member, ...) LIMIT(member),
#include "policies/limits.def"
#undef CBX_LIMIT
};
#undef FIELD
#undef TEXT
#undef LIMIT

/* *out borrows from the message. */
static int read_request(const struct cbx_message *message, struct analysis_request *out,
                        struct cbx_err *err)
{
    struct analysis_request request = { 0 };
    cbx_limits_unset(&request.limits);
    int failed = cbx_json_read(message->header, request_fields,
                               sizeof(request_fields) / sizeof(request_fields[0]), &request, err);
    if (failed) {
        return failed;
    }
    struct cbx_str bytes = cbx_buf_str(&message->bytes);
    if ((size_t)request.context_bytes > bytes.len) {
        return cbx_fail(err, CBX_EPROTO, "the context has %lld bytes, the request only %zu",
                        (long long)request.context_bytes, bytes.len);
    }
    request.subject.action = cbx_action_of(request.action);
    request.subject.context = cbx_str_sub(bytes, 0, (size_t)request.context_bytes);
    request.source = cbx_str_sub(bytes, (size_t)request.context_bytes, bytes.len);
    *out = request;
    out->subject.limits = &out->limits;
    return 0;
}

/* Seals the decision and writes {sealed, mac, decision} into `answer`. */
static int seal_decision(const struct cbx_seal_key *key, const struct cbx_policy *policy,
                         const struct cbx_subject *subject, const struct cbx_decision *decision,
                         json_t *answer, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) sealed;
    cbx_buf_init(&sealed, CBX_SEAL_MAX_BYTES);
    struct cbx_sha256 mac;
    json_t *full = NULL;
    struct cbx_judged judged = { .policy = policy, .subject = subject, .decision = decision };
    int failed = cbx_seal_make(key, &judged, &sealed, &mac, err);
    failed = failed ? failed : cbx_decision_json(decision, &full, err);
    if (failed) {
        return failed;
    }
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&mac, hex);
    json_object_set_new(answer, "sealed", json_stringn(sealed.p, sealed.len));
    json_object_set_new(answer, "mac", json_string(hex));
    json_object_set_new(answer, "decision", full);
    return 0;
}

static int judge(const struct cbx_worker *worker, const struct cbx_message *message,
                 struct cbx_arena *arena, json_t *answer, struct cbx_str *text, struct cbx_err *err)
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
    struct cbx_analysis analysis = { .source = request.source,
                                     .context = request.subject.context,
                                     .language = request.subject.language,
                                     .principal = request.subject.principal,
                                     .now = cbx_time_ms() / 1000 };
    struct cbx_decision decision = { 0 };
    failed = cbx_analyze(policy, &analysis, arena, &decision, err);
    failed = failed ? failed
                    : seal_decision(worker->key, policy, &request.subject, &decision, answer, err);
    if (!failed) {
        *text = decision.text;
    }
    return failed;
}

/* libcrypto opens its configuration and providers at the first use; that must be before the jail.
 */
static void warm_up(void)
{
    struct cbx_sha256 mac = cbx_hmac_sha256(CBX_STR("k"), CBX_STR("m"));
    char id[CBX_ID_CHARS + 1];
    cbx_id_make(id);
    json_decref(json_object()); /* jansson takes its hash seed now */
    (void)mac;
}

_Noreturn void cbx_worker_main(int fd, const struct cbx_policies *policies,
                               const struct cbx_seal_key *key)
{
    const struct cbx_worker worker = { .policies = policies, .key = key };
    struct cbx_err err = { 0 };
    struct cbx_arena arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    prctl(PR_SET_NAME, "cbx-analyzer");
    if (cbx_jail_worker(&err) != 0) {
        cbx_log(CBX_LOG_ERROR, "analyzer worker: %s", err.text);
        _exit(1);
    }
    for (;;) {
        struct cbx_message request;
        cbx_message_init(&request);
        if (cbx_wire_receive(fd, -1, &request, &err) != 0) {
            _exit(0);
        }
        CBX_AUTO_JSON answer = json_object();
        struct cbx_str text = { 0 };
        int failed = judge(&worker, &request, &arena, answer, &text, &err);
        if (failed) {
            json_object_clear(answer);
            json_object_set_new(answer, "error", json_integer(failed));
            json_object_set_new(answer, "text", cbx_json_text(cbx_str_of(err.text)));
            text = (struct cbx_str){ 0 };
        }
        if (cbx_wire_send(fd, answer, text, &err) != 0) {
            _exit(0);
        }
        cbx_message_done(&request);
        cbx_arena_reset(&arena);
    }
}

static pid_t spawn(int control, int fd, const struct cbx_policies *policies,
                   const struct cbx_seal_key *key)
{
    pid_t zygote = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        close(control);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != zygote) {
            _exit(0);
        }
        cbx_worker_main(fd, policies, key);
    }
    close(fd); /* after a failed fork the front reads the end of the stream: its worker is gone */
    return pid;
}

_Noreturn void cbx_zygote_main(int control, int key_fd, const struct cbx_policies *policies)
{
    struct cbx_seal_key key;
    if (read(key_fd, key.bytes, sizeof(key.bytes)) != (ssize_t)sizeof(key.bytes)) {
        _exit(1);
    }
    close(key_fd);
    prctl(PR_SET_NAME, "cbx-zygote");
    cbx_jail_common();
    warm_up();
    pid_t pids[CBX_WORKER_SLOTS_MAX] = { 0 };
    for (;;) {
        int fd;
        char tag;
        struct cbx_err err;
        if (cbx_wire_receive_fd(control, &fd, &tag, &err) != 0) {
            break;
        }
        unsigned slot = (unsigned char)tag;
        if (fd < 0 || slot >= CBX_WORKER_SLOTS_MAX) {
            cbx_fd_auto(&fd);
            continue;
        }
        if (pids[slot] > 0) {
            kill(pids[slot], SIGKILL);
            waitpid(pids[slot], NULL, 0);
        }
        pids[slot] = spawn(control, fd, policies, &key);
    }
    for (int i = 0; i < CBX_WORKER_SLOTS_MAX; i++) {
        if (pids[i] > 0) {
            kill(pids[i], SIGKILL);
        }
    }
    _exit(0);
}
