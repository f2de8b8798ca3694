/* SPDX-License-Identifier: MIT
 * Refusals of the executor for a front that was taken over: the test has the real rows and tokens,
 * and sends the messages of such a front. */
#include "gateway/executor/executor.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/identity/identity.h"
#include "gateway/identity/tokens.h"
#include "tests/unit/docker/fake_engine.h"
#include "tests/unit/gateway/scratch.h"

#define SOURCE    CBX_STR("print(1)\n")
#define NO_ENGINE "unix:///nonexistent/engine.sock"
#define PRINCIPALS                                                                                 \
    "principals:\n"                                                                                \
    "- {name: ann, policies: [testing], rights: [execute]}\n"                                      \
    "- {name: bob, policies: [another], rights: [execute]}\n"                                      \
    "- {name: boss, policies: [testing], rights: [execute, approve]}\n"                            \
    "- {name: 'uid:1000', policies: [testing], rights: [execute]}\n"

enum person { ANN, BOB, BOSS, PEOPLE };
static const char *const names[PEOPLE] = { "ann", "bob", "boss" };

struct rig {
    struct scratch scratch;
    struct cbx_seal_key key;
    int control;
    pid_t pid;
    char ids[PEOPLE][CBX_TOKEN_ID_CHARS + 1];
    char credentials[PEOPLE][CBX_CREDENTIAL_MAX + 1]; /* "token ID" */
    char proofs[PEOPLE][CBX_TOKEN_CHARS + 8];         /* "Bearer TOKEN" */
};

static bool four_eyes;               /* setting of the next rig's policy */
static struct cbx_str shared_tokens; /* of the next rig; p NULL = none */

static struct cbx_identity *load_identity(const char *state_dir)
{
    CBX_AUTO_DONE(arena) arena;
    struct cbx_yaml *root = NULL;
    struct cbx_identity *identity = NULL;
    struct cbx_err err = { 0 };
    cbx_arena_init(&arena, 1 << 20);
    assert_int_equal(cbx_yaml_parse(cbx_str_of(PRINCIPALS), 16, &arena, &root, &err), 0);
    const struct cbx_identity_config config = { .state_dir = state_dir,
                                                .principals = root->first,
                                                .tokens = shared_tokens };
    if (cbx_identity_new(&config, &identity, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return identity;
}

static void start_on(struct rig *rig, const char *engine)
{
    int control[2], secrets[2];
    struct cbx_err err = { 0 };
    scratch_make(&rig->scratch);
    cbx_random(rig->key.bytes, sizeof(rig->key.bytes));
    for (int i = 0; i < PEOPLE; i++) {
        struct cbx_token token = { 0 };
        char text[CBX_TOKEN_CHARS + 1], id[CBX_TOKEN_ID_CHARS + 1];
        snprintf(token.principal, sizeof(token.principal), "%s", names[i]);
        assert_int_equal(cbx_tokens_create(rig->scratch.path, &token, id, text, &err), 0);
        snprintf(rig->credentials[i], sizeof(rig->credentials[i]), "token %s", id);
        memcpy(rig->ids[i], id, sizeof(id));
        snprintf(rig->proofs[i], sizeof(rig->proofs[i]), "Bearer %s", text);
    }
    CBX_AUTO(identity) identity = load_identity(rig->scratch.path);
    assert_int_equal(cbx_wire_pair(control, NULL), 0);
    assert_int_equal(cbx_wire_pair(secrets, NULL), 0);
    rig->pid = fork();
    assert_true(rig->pid >= 0);
    if (rig->pid == 0) {
        struct cbx_policy policy = sealing_policy(), *items[] = { &policy };
        policy.four_eyes = four_eyes;
        struct cbx_policies policies = { .items = items, .count = 1 };
        struct cbx_executor_config config = { .policies = &policies,
                                              .identity = identity,
                                              .state_dir = rig->scratch.path,
                                              .docker_host = engine,
                                              .max_sessions = 4,
                                              .max_runs = 4,
                                              .idle_ms = 40 };
        close(control[0]);
        close(secrets[0]);
        signal(SIGPIPE, SIG_IGN);
        int channel[2]; /* to a process that fetches no keys */
        assert_int_equal(cbx_key_channel(channel, NULL), 0);
        const struct cbx_executor_channels channels = {
            .control = control[1], .secrets = secrets[1], .reload = -1, .keys = channel[0]
        };
        cbx_executor_main(&channels, &config);
    }
    close(control[1]);
    close(secrets[1]);
    struct cbx_executor_secrets given = { .decisions = rig->key,
                                          .first_number = CBX_SEAL_FIRST_NUMBER(1) };
    assert_int_equal(write(secrets[0], &given, sizeof(given)), sizeof(given));
    close(secrets[0]);
    rig->control = control[0];
}

static void start(struct rig *rig)
{
    start_on(rig, NO_ENGINE);
}

static void stop(struct rig *rig)
{
    assert_int_equal(waitpid(rig->pid, NULL, WNOHANG), 0);
    close(rig->control);
    int status = await_child(rig->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    scratch_remove(&rig->scratch);
}

/* The first answer to a call but `waiting` (new reference). Takes the reference. */
static json_t *call(struct rig *rig, json_t *header, struct cbx_str bytes)
{
    CBX_AUTO_JSON owned = header;
    CBX_AUTO_DONE(message) message;
    struct cbx_err err = { 0 };
    int pair[2];
    cbx_message_init(&message);
    assert_int_equal(cbx_wire_pair(pair, NULL), 0);
    assert_int_equal(cbx_wire_send_fd(rig->control, pair[1], 'r', NULL), 0);
    close(pair[1]);
    CBX_AUTO_FD fd = pair[0];
    assert_int_equal(cbx_wire_send(fd, owned, bytes, NULL), 0);
    do {
        cbx_message_done(&message);
        cbx_message_init(&message);
        if (cbx_wire_receive(fd, DEADLINE_MS, &message, &err) != 0) {
            fail_msg("no answer: %s", err.text);
        }
    } while (cbx_reply_of(message.header) == CBX_REPLY_WAITING);
    return cbx_steal(&message.header);
}

/* Asserts that the reply has this type; for an error, that it is CBX_EFORBIDDEN with this text.
 * Takes the reference. */
static void assert_answer(json_t *answer, const char *type, const char *says)
{
    CBX_AUTO_JSON owned = answer;
    struct cbx_str said = cbx_json_str(json_object_get(owned, "type")),
                   text = cbx_json_str(json_object_get(owned, "text"));
    if (!cbx_str_is(said, type)) {
        fail_msg("'%.*s' instead of '%s': %.*s", CBX_STR_ARG(said), type, CBX_STR_ARG(text));
    }
    if (strcmp(type, "error") == 0) {
        assert_int_equal(json_integer_value(json_object_get(owned, "code")), CBX_EFORBIDDEN);
        if (memmem(text.p, text.len, says, strlen(says)) == NULL) {
            fail_msg("'%.*s' does not say '%s'", CBX_STR_ARG(text), says);
        }
    }
}

static void assert_refused(json_t *answer, const char *says)
{
    assert_answer(answer, "error", says);
}

/* A decision of a worker, which saw this principal and credential. */
static struct sealing decide(struct rig *rig, enum cbx_verdict verdict, const char *principal,
                             const char *credential, struct cbx_str source)
{
    struct sealing s = sealing_make(&rig->key, verdict, CBX_ACTION_RUN, "", source);
    sealing_set(&s, "principal", json_string(principal));
    sealing_set(&s, "credential", json_string(credential));
    return s;
}

/* Submits and ends the decision. Takes the reference to `more`, which may be NULL. */
static json_t *submit(struct rig *rig, struct sealing *s, struct cbx_str source, const char *proof,
                      json_t *more)
{
    CBX_AUTO_JSON owned = more;
    char mac[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&s->mac, mac);
    json_t *header = json_pack("{s:s,s:s,s:s}", "call", "submit", "mac", mac, "proof", proof);
    json_object_set_new(header, "sealed", json_stringn(s->text.p, s->text.len));
    json_object_update(header, owned);
    json_t *answer = call(rig, header, source);
    sealing_done(s);
    return answer;
}

static json_t *submit_of(struct rig *rig, enum person person, const char *proof)
{
    struct sealing s = decide(rig, CBX_ALLOW, names[person], rig->credentials[person], SOURCE);
    return submit(rig, &s, SOURCE, proof, NULL);
}

static json_t *ask_voucher(struct rig *rig, const char *kind, enum person principal,
                           const char *subject, const char *proof)
{
    return call(rig,
                json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "call", "vouch", "kind", kind, "principal",
                          names[principal], "credential", rig->credentials[principal], "subject",
                          subject, "proof", proof),
                CBX_STR(""));
}

static void get_voucher(struct rig *rig, const char *kind, enum person principal,
                        const char *subject, char out[CBX_VOUCHER_CHARS + 1])
{
    CBX_AUTO_JSON answer = ask_voucher(rig, kind, principal, subject, rig->proofs[principal]);
    struct cbx_str voucher = cbx_json_str(json_object_get(answer, "voucher"));
    assert_int_equal(voucher.len, CBX_VOUCHER_CHARS);
    snprintf(out, CBX_VOUCHER_CHARS + 1, "%s", voucher.p);
}

static void name_run(const char *session, struct cbx_str source, char out[CBX_SHA256_HEX + 1])
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(source);
    cbx_sha256_hex(&hash, hex);
    cbx_voucher_run(cbx_str_of(session), cbx_str_of(hex), out);
}

/* --- programs --------------------------------------------------------------------------------- */

static void
a_decision_is_carried_out_for_whoever_shows_the_credential_of_its_principal(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    assert_answer(submit_of(&rig, ANN, rig.proofs[ANN]), "admitted", "");
    assert_refused(submit_of(&rig, ANN, ""), "nothing was shown");
    assert_refused(submit_of(&rig, ANN, "Bearer cbx_0123456789ab_x"), "the credential");
    assert_refused(submit_of(&rig, ANN, rig.proofs[BOSS]), "another principal");
    struct sealing s = decide(&rig, CBX_ALLOW, "ann", rig.credentials[BOB], SOURCE);
    assert_refused(submit(&rig, &s, SOURCE, rig.proofs[ANN], NULL), "another one");
    s = decide(&rig, CBX_ALLOW, "nobody", "token 0123456789ab", SOURCE);
    assert_refused(submit(&rig, &s, SOURCE, rig.proofs[ANN], NULL), "another principal");
    stop(&rig);
}

static void with_shared_tokens_one_of_the_state_directory_proves_nothing(void **state)
{
    (void)state;
    struct rig rig;
    shared_tokens = CBX_STR("");
    start(&rig);
    shared_tokens = (struct cbx_str){ 0 };
    assert_refused(submit_of(&rig, ANN, rig.proofs[ANN]), "the token is not valid");
    stop(&rig);
}

static void no_principal_runs_under_a_policy_that_is_not_among_its_own(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    assert_refused(submit_of(&rig, BOB, rig.proofs[BOB]), "no policy is called 'testing'");
    stop(&rig);
}

static void a_user_of_the_machine_shows_nothing_and_has_its_row(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = decide(&rig, CBX_ALLOW, "uid:1000", CBX_CREDENTIAL_PEER, SOURCE);
    assert_answer(submit(&rig, &s, SOURCE, "", NULL), "admitted", "");
    s = decide(&rig, CBX_ALLOW, "uid:1001", CBX_CREDENTIAL_PEER, SOURCE);
    assert_refused(submit(&rig, &s, SOURCE, "", NULL), "lacks the right");
    stop(&rig);
}

static void a_denial_is_recorded_whoever_shows_it(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    struct sealing s = decide(&rig, CBX_DENY, "ann", rig.credentials[ANN], SOURCE);
    assert_answer(submit(&rig, &s, SOURCE, "", NULL), "recorded", "");
    stop(&rig);
}

/* --- vouchers --------------------------------------------------------------------------------- */

static void a_voucher_lets_run_what_it_is_for_and_nothing_else(void **state)
{
    (void)state;
    struct rig rig;
    char subject[CBX_SHA256_HEX + 1], voucher[CBX_VOUCHER_CHARS + 1];
    start(&rig);
    name_run("", SOURCE, subject);
    get_voucher(&rig, "run", ANN, subject, voucher);
    assert_answer(submit_of(&rig, ANN, voucher), "admitted", "");
    assert_refused(submit_of(&rig, BOSS, voucher), "something else");
    struct sealing s = decide(&rig, CBX_ALLOW, "ann", rig.credentials[ANN], CBX_STR("print(2)\n"));
    assert_refused(submit(&rig, &s, CBX_STR("print(2)\n"), voucher, NULL), "something else");
    s = sealing_make(&rig.key, CBX_ALLOW, CBX_ACTION_RUN, "session", SOURCE);
    sealing_set(&s, "credential", json_string(rig.credentials[ANN]));
    assert_refused(submit(&rig, &s, SOURCE, voucher, NULL), "something else");
    voucher[CBX_VOUCHER_CHARS - 1] ^= 1;
    assert_refused(submit_of(&rig, ANN, voucher), "something else");
    stop(&rig);
}

static void a_voucher_is_made_for_what_is_proved_alone(void **state)
{
    (void)state;
    struct rig rig;
    char subject[CBX_SHA256_HEX + 1];
    start(&rig);
    name_run("", SOURCE, subject);
    assert_refused(ask_voucher(&rig, "run", ANN, subject, ""), "nothing was shown");
    assert_refused(ask_voucher(&rig, "run", ANN, subject, rig.proofs[BOB]), "another principal");
    assert_refused(ask_voucher(&rig, "approval", ANN, subject, rig.proofs[ANN]), "'approve'");
    CBX_AUTO_JSON unknown = ask_voucher(&rig, "admin", ANN, subject, rig.proofs[ANN]);
    assert_int_equal(json_integer_value(json_object_get(unknown, "code")), CBX_EPROTO);
    CBX_AUTO_JSON vague = ask_voucher(&rig, "run", ANN, "anything", rig.proofs[ANN]);
    assert_int_equal(json_integer_value(json_object_get(vague, "code")), CBX_EPROTO);
    stop(&rig);
}

static void a_voucher_ends_with_the_token_that_it_was_made_for(void **state)
{
    (void)state;
    struct rig rig;
    char subject[CBX_SHA256_HEX + 1], voucher[CBX_VOUCHER_CHARS + 1];
    start(&rig);
    name_run("", SOURCE, subject);
    get_voucher(&rig, "run", ANN, subject, voucher);
    assert_int_equal(cbx_tokens_revoke(rig.scratch.path, cbx_str_of(rig.ids[ANN]), NULL), 0);
    assert_refused(submit_of(&rig, ANN, voucher), "revoked");
    stop(&rig);
}

/* --- approvals -------------------------------------------------------------------------------- */

/* An approval of the decision as a front reports it (new reference): by a principal, or by the
 * client when `approver` is PEOPLE. */
static json_t *claim_approval(const struct rig *rig, const struct sealing *s, enum person approver,
                              const char *voucher)
{
    char digest[CBX_SHA256_HEX + 1];
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(cbx_json_parse(cbx_buf_str(&s->text), CBX_SEAL_MAX_BYTES, &json, NULL), 0);
    struct cbx_sha256 hash = cbx_seal_digest(json);
    cbx_sha256_hex(&hash, digest);
    bool by_client = approver == PEOPLE;
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "approval_digest", digest, "approval_asked",
                     "01A", "approval_client", by_client ? "editor" : "", "approval_approver",
                     by_client ? "" : names[approver], "approval_approver_credential",
                     by_client ? "" : rig->credentials[approver], "approval_how",
                     by_client ? "elicitation" : "rest", "approval_voucher", voucher);
}

/* Returns the reply to a decision of the principal that asks, with a voucher of `approver` for it,
 * which the front claims to be of `claimed`. */
static json_t *submit_approved(struct rig *rig, enum person person, enum person approver,
                               enum person claimed)
{
    char voucher[CBX_VOUCHER_CHARS + 1] = "";
    struct sealing s = decide(rig, CBX_ASK, names[person], rig->credentials[person], SOURCE);
    if (approver < PEOPLE) {
        CBX_AUTO_JSON claim = claim_approval(rig, &s, approver, "");
        get_voucher(rig, "approval", approver,
                    json_string_value(json_object_get(claim, "approval_digest")), voucher);
    }
    json_t *claim = claim_approval(rig, &s, claimed, voucher);
    return submit(rig, &s, SOURCE, rig->proofs[person], claim);
}

static void what_asks_runs_when_somebody_with_the_right_approved_it(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    assert_answer(submit_approved(&rig, ANN, BOSS, BOSS), "admitted", "");
    assert_answer(submit_approved(&rig, BOSS, BOSS, PEOPLE), "admitted", "");
    stop(&rig);
}

static void an_approval_that_a_front_makes_up_lets_nothing_run(void **state)
{
    (void)state;
    struct rig rig;
    start(&rig);
    assert_refused(submit_approved(&rig, ANN, PEOPLE, BOSS), "something else");
    assert_refused(submit_approved(&rig, ANN, PEOPLE, PEOPLE), "something else");
    assert_refused(submit_approved(&rig, ANN, BOSS, PEOPLE), "something else");
    char run[CBX_SHA256_HEX + 1], voucher[CBX_VOUCHER_CHARS + 1];
    name_run("", SOURCE, run);
    get_voucher(&rig, "run", BOSS, run, voucher);
    struct sealing s = decide(&rig, CBX_ASK, "ann", rig.credentials[ANN], SOURCE);
    json_t *claim = claim_approval(&rig, &s, BOSS, voucher);
    assert_refused(submit(&rig, &s, SOURCE, rig.proofs[ANN], claim), "something else");
    get_voucher(&rig, "approval", BOSS, run, voucher); /* for another decision */
    s = decide(&rig, CBX_ASK, "ann", rig.credentials[ANN], SOURCE);
    claim = claim_approval(&rig, &s, BOSS, voucher);
    assert_refused(submit(&rig, &s, SOURCE, rig.proofs[ANN], claim), "something else");
    assert_false(scratch_holds(rig.scratch.path, CBX_AUDIT_FILE, "\"approved_by\""));
    stop(&rig);
}

static void under_four_eyes_nobody_approves_what_it_runs(void **state)
{
    (void)state;
    struct rig rig;
    four_eyes = true;
    start(&rig);
    four_eyes = false;
    assert_answer(submit_approved(&rig, ANN, BOSS, BOSS), "admitted", "");
    assert_refused(submit_approved(&rig, BOSS, BOSS, BOSS), "another principal");
    assert_refused(submit_approved(&rig, BOSS, BOSS, PEOPLE), "another principal");
    stop(&rig);
}

/* --- sessions --------------------------------------------------------------------------------- */

static json_t *in_session(struct rig *rig, const char *name, const char *proof)
{
    return call(rig,
                json_pack("{s:s,s:s,s:s,s:s,s:s}", "call", name, "session", "a-session",
                          "principal", "ann", "path", "secret.txt", "proof", proof),
                CBX_STR("x"));
}

static void
the_files_of_a_session_are_for_whoever_shows_the_credential_of_its_principal(void **state)
{
    (void)state;
    struct rig rig;
    static const char *const calls[] = { "get_file", "list_files", "put_file", "delete_file" };
    start(&rig);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        assert_refused(in_session(&rig, calls[i], ""), "nothing was shown");
        assert_refused(in_session(&rig, calls[i], rig.proofs[BOSS]), "another principal");
        CBX_AUTO_JSON allowed = in_session(&rig, calls[i], rig.proofs[ANN]);
        assert_int_equal(json_integer_value(json_object_get(allowed, "code")), CBX_EENGINE);
    }
    static const char ledger[] = "0123456789012345678901234567890123456789012345678901234567890123";
    assert_refused(call(&rig,
                        json_pack("{s:s,s:s,s:s,s:s}", "call", "reset", "session", "a-session",
                                  "principal", "ann", "ledger", ledger),
                        CBX_STR("")),
                   "nothing was shown");
    assert_refused(call(&rig,
                        json_pack("{s:s,s:s,s:s}", "call", "input", "session", "a-session",
                                  "principal", "ann"),
                        CBX_STR("yes\n")),
                   "nothing was shown");
    stop(&rig);
}

/* --- events of runs --------------------------------------------------------------------------- */

static json_t *resume(struct rig *rig, const char *run, enum person principal, const char *proof,
                      const char *subject)
{
    return call(rig,
                json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b}", "call", "resume", "run", run,
                          "principal", names[principal], "credential", rig->credentials[principal],
                          "proof", proof, "voucher_subject", subject, "detach", 1),
                CBX_STR(""));
}

static void assert_code(json_t *answer, int code)
{
    CBX_AUTO_JSON owned = answer;
    struct cbx_str text = cbx_json_str(json_object_get(owned, "text"));
    if (json_integer_value(json_object_get(owned, "code")) != code) {
        fail_msg("%lld instead of %d: %.*s",
                 (long long)json_integer_value(json_object_get(owned, "code")), code,
                 CBX_STR_ARG(text));
    }
}

static void events_of_runs_are_for_whoever_proves_a_principal(void **state)
{
    (void)state;
    struct rig rig;
    char subject[CBX_SHA256_HEX + 1], other[CBX_SHA256_HEX + 1], voucher[CBX_VOUCHER_CHARS + 1];
    start(&rig);
    name_run("", SOURCE, subject);
    name_run("", CBX_STR("other"), other);
    get_voucher(&rig, "run", ANN, subject, voucher);
    assert_refused(resume(&rig, "r1", ANN, "", ""), "nothing was shown");
    assert_refused(resume(&rig, "r1", ANN, rig.proofs[BOB], ""), "another principal");
    assert_refused(resume(&rig, "r1", ANN, voucher, other), "something else");
    assert_refused(resume(&rig, "r1", ANN, voucher, ""), "something else");
    assert_refused(resume(&rig, "r1", BOB, voucher, subject), "something else");
    assert_code(resume(&rig, "r1", ANN, voucher, subject), CBX_EENGINE); /* there is none */
    assert_code(resume(&rig, "r1", ANN, rig.proofs[ANN], ""), CBX_EENGINE);
    stop(&rig);
}

/* A front that was taken over and has the credential of one of its principals. */
static void a_run_of_another_principal_is_not_there(void **state)
{
    (void)state;
    struct rig rig;
    char run[CBX_NAME_MAX + 1];
    fake_start();
    start_on(&rig, fake.host);
    struct sealing s = decide(&rig, CBX_ALLOW, "ann", rig.credentials[ANN], SOURCE);
    const struct cbx_sha256 none = { 0 }, ledger = cbx_ledger_begin(CBX_STR(""), &none);
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&ledger, hex);
    sealing_set(&s, "ledger", json_string(hex)); /* as the new sandbox has it */
    CBX_AUTO_JSON sealed = NULL;
    assert_int_equal(cbx_json_parse(cbx_buf_str(&s.text), CBX_SEAL_MAX_BYTES, &sealed, NULL), 0);
    snprintf(run, sizeof(run), "%s", json_string_value(json_object_get(sealed, "id")));
    assert_answer(submit(&rig, &s, SOURCE, rig.proofs[ANN], json_pack("{s:b}", "detach", 1)),
                  "admitted", "");
    FAKE_AWAIT(fake.count > 0 && fake.containers[0].run_id[0] != '\0');
    assert_code(resume(&rig, run, BOB, rig.proofs[BOB], ""), CBX_ENOTFOUND);
    json_t *own = resume(&rig, run, ANN, rig.proofs[ANN], "");
    assert_answer(own, "begun", "");
    stop(&rig);
    fake_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_decision_is_carried_out_for_whoever_shows_the_credential_of_its_principal),
        cmocka_unit_test(with_shared_tokens_one_of_the_state_directory_proves_nothing),
        cmocka_unit_test(no_principal_runs_under_a_policy_that_is_not_among_its_own),
        cmocka_unit_test(a_user_of_the_machine_shows_nothing_and_has_its_row),
        cmocka_unit_test(a_denial_is_recorded_whoever_shows_it),
        cmocka_unit_test(a_voucher_lets_run_what_it_is_for_and_nothing_else),
        cmocka_unit_test(a_voucher_is_made_for_what_is_proved_alone),
        cmocka_unit_test(a_voucher_ends_with_the_token_that_it_was_made_for),
        cmocka_unit_test(what_asks_runs_when_somebody_with_the_right_approved_it),
        cmocka_unit_test(an_approval_that_a_front_makes_up_lets_nothing_run),
        cmocka_unit_test(under_four_eyes_nobody_approves_what_it_runs),
        cmocka_unit_test(
            the_files_of_a_session_are_for_whoever_shows_the_credential_of_its_principal),
        cmocka_unit_test(events_of_runs_are_for_whoever_proves_a_principal),
        cmocka_unit_test(a_run_of_another_principal_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
