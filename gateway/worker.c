/* SPDX-License-Identifier: MIT
 * Analyzer workers. A request is a header and the source; the answer is the decision in full, the
 * text that may run, and the sealed decision. Whatever goes wrong in here ends the worker, and the
 * front takes that as a denial. */
#include "gateway/worker.h"

#include "analyzer/analyze.h"
#include "analyzer/context.h"
#include "analyzer/report/report.h"
#include "gateway/jail.h"
#include "gateway/wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const struct cbx_policy *cbx_policies_find(const struct cbx_policies *policies, struct cbx_str name)
{
    for (size_t i = 0; i < policies->count; i++) {
        if (name.len == 0 || cbx_str_equal(policies->items[i]->name, name)) {
            return policies->items[i];
        }
    }
    return NULL;
}

struct ask {
    struct cbx_str policy, action, language, principal, session, origin;
    struct cbx_limits limits;
    int64_t context_bytes;
};
#define FIELD(name, type, required, hi)                                                            \
    {                                                                                              \
#name, CBX_JSON_##type, offsetof(struct ask, name), required, false, 0, hi                 \
    }
static const struct cbx_json_field ask_fields[] = {
    FIELD(policy, STR, true, CBX_NAME_MAX),
    FIELD(action, STR, true, 16),
    FIELD(language, STR, true, 0),
    FIELD(principal, STR, true, CBX_NAME_MAX),
    FIELD(session, STR, true, CBX_NAME_MAX),
    FIELD(origin, STR, true, CBX_NAME_MAX),
#define CBX_LIMIT(member, ...)                                                                     \
    { #member, CBX_JSON_INT, offsetof(struct ask, limits.member), false, false, 0, INT64_MAX },
#include "policies/limits.def"
#undef CBX_LIMIT
    FIELD(context_bytes, INT, false, 2 * CBX_CONTEXT_MAX_BYTES),
};
#undef FIELD

static int judge(const struct cbx_policies *policies, const struct cbx_seal_key *key,
                 const struct cbx_message *request, struct cbx_arena *arena, json_t *answer,
                 struct cbx_str *text, struct cbx_err *err)
{
    struct ask ask = { 0 };
    int failed = cbx_json_read(request->header, ask_fields,
                               sizeof(ask_fields) / sizeof(ask_fields[0]), &ask, err);
    if (failed) {
        return failed;
    }
    const struct cbx_policy *policy = cbx_policies_find(policies, ask.policy);
    if (policy == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND, "no policy is called '%.*s'", CBX_STR_ARG(ask.policy));
    }
    struct cbx_subject subject = {
        .language = ask.language,
        .principal = ask.principal,
        .session = ask.session,
        .origin = ask.origin,
        .limits = ask.limits,
        .action = cbx_str_is(ask.action, "run")    ? CBX_ACTION_RUN
                  : cbx_str_is(ask.action, "open") ? CBX_ACTION_OPEN
                                                   : CBX_ACTION_CHECK,
    };
    struct cbx_str bytes = cbx_buf_str(&request->bytes);
    if ((size_t)ask.context_bytes > bytes.len) {
        return cbx_fail(err, CBX_EPROTO, "the context is longer than all that came");
    }
    subject.context = cbx_str_sub(bytes, 0, (size_t)ask.context_bytes);
    struct cbx_analysis analysis = { .source = cbx_str_sub(bytes, subject.context.len, bytes.len),
                                     .context = subject.context,
                                     .language = ask.language,
                                     .principal = ask.principal,
                                     .now = cbx_time_ms() / 1000 };
    struct cbx_decision decision = { 0 };
    failed = cbx_analyze(policy, &analysis, arena, &decision, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(buf) sealed;
    cbx_buf_init(&sealed, CBX_SEAL_MAX_BYTES);
    struct cbx_sha256 mac;
    json_t *full = NULL;
    failed = cbx_seal_make(key, policy, &subject, &decision, &sealed, &mac, err);
    failed = failed ? failed : cbx_decision_json(&decision, &full, err);
    if (failed) {
        return failed;
    }
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&mac, hex);
    json_object_set_new(answer, "sealed", json_stringn(sealed.p, sealed.len));
    json_object_set_new(answer, "mac", json_string(hex));
    json_object_set_new(answer, "decision", full);
    *text = decision.text;
    return 0;
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
    struct cbx_err err = { 0 };
    struct cbx_arena arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    prctl(PR_SET_NAME, "cbx-analyzer");
    if (cbx_jail_worker(&err) != 0) {
        fprintf(stderr, "codebox: analyzer worker: %s\n", err.text);
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
        int failed = judge(policies, key, &request, &arena, answer, &text, &err);
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
    pid_t nursery = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        close(control);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != nursery) {
            _exit(0);
        }
        cbx_worker_main(fd, policies, key);
    }
    close(fd); /* when fork failed, this reads as a dead worker */
    return pid;
}

_Noreturn void cbx_nursery_main(int control, int key_fd, const struct cbx_policies *policies)
{
    struct cbx_seal_key key;
    if (read(key_fd, key.bytes, sizeof(key.bytes)) != (ssize_t)sizeof(key.bytes)) {
        _exit(1);
    }
    close(key_fd);
    prctl(PR_SET_NAME, "cbx-nursery");
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
