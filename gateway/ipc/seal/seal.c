/* SPDX-License-Identifier: MIT
 * Sealed decisions. */
#include "gateway/ipc/seal/seal.h"

#include "analyzer/analyze.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "gateway/ipc/wire/ipc_wire.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER_BITS = 40 };

/* --- keys ------------------------------------------------------------------------------------- */

static struct cbx_str bytes_of(const struct cbx_seal_key *key)
{
    return (struct cbx_str){ .p = (const char *)key->bytes, .len = sizeof(key->bytes) };
}

static struct cbx_seal_key derive(const struct cbx_seal_key *key, uint64_t number, const char *id)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "decision %" PRIu64 " %s", number, id);
    struct cbx_sha256 mac =
        cbx_hmac_sha256(bytes_of(key), (struct cbx_str){ .p = text, .len = (size_t)len });
    struct cbx_seal_key derived;
    memcpy(derived.bytes, mac.bytes, sizeof(derived.bytes));
    return derived;
}

/* libcrypto clears its contexts; its compression function may leave the key block on the stack. */
__attribute__((noinline)) static void wipe_stack(void)
{
    char below[16 * 1024];
    explicit_bzero(below, sizeof(below));
}

void cbx_seal_token_make(const struct cbx_seal_key *key, uint64_t number,
                         struct cbx_seal_token *out)
{
    out->number = number;
    cbx_id_make(out->id);
    out->key = derive(key, number, out->id);
    wipe_stack();
}

/* --- sealing ---------------------------------------------------------------------------------- */

static json_t *hex(const struct cbx_sha256 *hash)
{
    char text[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(hash, text);
    return json_string(text);
}

/* Records of each finding for the log: its rule, its object and its place. */
json_t *cbx_seal_findings(const struct cbx_decision *decision)
{
    json_t *array = json_array();
    for (size_t i = 0; i < decision->finding_count && i < CBX_SEAL_FINDINGS_MAX; i++) {
        const struct cbx_finding *f = &decision->findings[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "rule", cbx_json_text(f->rule->id));
        json_object_set_new(entry, "effect", json_string(cbx_effect_name(f->enforced)));
        json_object_set_new(entry, "symbol", cbx_json_text(cbx_str_sub(f->symbol, 0, 128)));
        json_object_set_new(entry, "line", json_integer(f->span.line));
        json_object_set_new(entry, "column", json_integer(f->span.column));
        if (f->exception.len > 0) {
            json_object_set_new(entry, "exception", cbx_json_text(f->exception));
        }
        json_array_append_new(array, entry);
    }
    return array;
}

/* Writes the JSON with the source. A source that does not fit is left out, so that a large
 * source does not make a decision fail. */
static int write_with_code(const struct cbx_judged *judged, json_t *json, struct cbx_buf *text)
{
    if (judged->code.p == NULL) {
        return cbx_json_write(text, json);
    }
    json_object_set_new(json, "code", cbx_json_text(judged->code));
    if (judged->code.len < CBX_SEAL_MAX_BYTES && cbx_json_write(text, json) == 0) {
        return 0;
    }
    json_object_del(json, "code");
    json_object_set_new(json, "code_omitted", json_integer((json_int_t)judged->code.len));
    text->overflow = false;
    cbx_buf_reset(text);
    return cbx_json_write(text, json);
}

int cbx_seal_make(const struct cbx_seal_token *token, const struct cbx_judged *judged,
                  struct cbx_buf *text, struct cbx_sha256 *mac, struct cbx_err *err)
{
    const struct cbx_policy *policy = judged->policy;
    const struct cbx_subject *subject = judged->subject;
    const struct cbx_decision *decision = judged->decision;
    CBX_AUTO_JSON json = json_object();
    json_object_set_new(json, "id", json_string(token->id));
    json_object_set_new(json, "worker", json_integer((json_int_t)token->number));
    json_object_set_new(json, "action", json_string(cbx_action_name(subject->action)));
    json_object_set_new(json, "verdict", json_string(cbx_verdict_name(decision->verdict)));
    json_object_set_new(json, "sha256", hex(&decision->sha256));
    json_object_set_new(json, "policy", cbx_json_text(policy->name));
    json_object_set_new(json, "policy_sha256", hex(&policy->sha256));
    json_object_set_new(json, "analyzer", json_string(CBX_ANALYZER_VERSION));
    cbx_subject_write(subject, json);
    json_object_set_new(json, "language",
                        cbx_json_text(decision->language)); /* canonical name of the language */
    json_object_set_new(json, "ledger", hex(&judged->ledger));
    json_object_set_new(json, "entry", hex(&judged->entry));
    if (judged->files.len > 0) {
        struct cbx_sha256 files = cbx_sha256_of(judged->files);
        json_object_set_new(json, "files", hex(&files));
    }
    json_object_set_new(json, "asked", cbx_asked_sealed(cbx_subject_asked(subject)));
    if (decision->runs_lines) {
        json_object_set_new(json, "runs_lines", json_true());
    }
    json_object_set_new(json, "issued_ms", json_integer(cbx_time_ms()));
    json_object_set_new(json, "source_bytes", json_integer((json_int_t)decision->text.len));
    json_object_set_new(json, "findings", cbx_seal_findings(decision));
    json_object_set_new(json, "finding_count", json_integer((json_int_t)decision->finding_count));
    if (write_with_code(judged, json, text) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the decision has more than %d bytes",
                        CBX_SEAL_MAX_BYTES);
    }
    *mac = cbx_hmac_sha256(bytes_of(&token->key), cbx_buf_str(text));
    return 0;
}

struct cbx_sha256 cbx_seal_digest(const json_t *sealed)
{
    static const char *const left_out[] = {
        "id",
        "worker",
        "issued_ms",
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) #member,
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON rest = json_copy((json_t *)(uintptr_t)sealed);
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        json_object_del(rest, left_out[i]);
    }
    cbx_buf_init(&text, CBX_SEAL_MAX_BYTES);
    cbx_json_write(&text, rest);
    return cbx_sha256_of(cbx_buf_str(&text));
}

/* --- opening ---------------------------------------------------------------------------------- */

void cbx_sealed_done(struct cbx_sealed *sealed)
{
    json_decref(sealed->json);
    sealed->json = NULL;
    cbx_asked_done(&sealed->asked);
    cbx_buf_done(&sealed->arguments);
    cbx_buf_done(&sealed->programs);
    cbx_buf_done(&sealed->files);
}

/* Advances the window to a higher number; the bits for numbers that leave the window are
 * dropped. */
static void advance(struct cbx_replay_window *w, uint64_t highest)
{
    if (highest - w->highest >= CBX_REPLAY_NUMBERS) {
        memset(w->used, 0, sizeof(w->used));
    } else {
        for (uint64_t n = w->highest + 1; n <= highest; n++) {
            w->used[n % CBX_REPLAY_NUMBERS / 64] &= ~(UINT64_C(1) << n % 64);
        }
    }
    w->highest = highest;
}

/* False if the number was used before, or is so low that the window no longer covers it. */
static bool use_number(struct cbx_replay_guard *guard, uint64_t number)
{
    uint64_t zygote = number >> NUMBER_BITS, n = number & ((UINT64_C(1) << NUMBER_BITS) - 1);
    struct cbx_replay_window *w = &guard->windows[zygote % CBX_REPLAY_ZYGOTES];
    if (zygote > w->zygote) {
        *w = (struct cbx_replay_window){ .zygote = zygote };
    }
    if (zygote == w->zygote && n > w->highest) {
        advance(w, n);
    }
    uint64_t *bits = &w->used[n % CBX_REPLAY_NUMBERS / 64], bit = UINT64_C(1) << n % 64;
    if (zygote < w->zygote || w->highest - n >= CBX_REPLAY_NUMBERS || (*bits & bit) != 0) {
        return false;
    }
    *bits |= bit;
    return true;
}

/* Fields of a seal. The MAC proves that a worker wrote them; a worker may be compromised too, so
 * they are checked. */
struct fields {
    struct cbx_str id, action, verdict, sha256, policy, policy_sha256, analyzer, ledger, entry,
        files, code;
    struct cbx_subject subject;
    const json_t *asked, *findings;
    bool runs_lines;
    int64_t worker, issued_ms, source_bytes, finding_count, code_omitted;
};
#define FIELD(name, type, lo, hi)                                                                  \
    {                                                                                              \
#name, CBX_JSON_##type, offsetof(struct fields, name), true, false, lo, hi                 \
    }
static const struct cbx_json_field field_table[] = {
    FIELD(id, STR, CBX_ID_CHARS, CBX_ID_CHARS),
    FIELD(worker, INT, 0, INT64_MAX),
    FIELD(action, STR, 1, 16),
    FIELD(verdict, STR, 1, 16),
    FIELD(sha256, STR, 64, 64),
    FIELD(policy, STR, 1, CBX_NAME_MAX),
    FIELD(policy_sha256, STR, 64, 64),
    FIELD(ledger, STR, 64, 64),
    FIELD(entry, STR, 64, 64),
    { "files", CBX_JSON_STR, offsetof(struct fields, files), false, false, 64, 64 },
    { "code", CBX_JSON_STR, offsetof(struct fields, code), false, false, 0, CBX_SEAL_MAX_BYTES },
    { "code_omitted", CBX_JSON_INT, offsetof(struct fields, code_omitted), false, false, 0,
      INT64_MAX },
    FIELD(analyzer, STR, 1, 64),
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)                                         \
    { #member, CBX_JSON_STR, offsetof(struct fields, subject.member), true, false, 0, max_bytes },
#define CBX_CLAIM(member, max_bytes, meaning)                                                      \
    { #member, CBX_JSON_STR, offsetof(struct fields, subject.member), false, false, 0, max_bytes },
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    FIELD(asked, OBJECT, 0, 0),
    { "runs_lines", CBX_JSON_BOOL, offsetof(struct fields, runs_lines), false, false, 0, 0 },
    FIELD(issued_ms, INT, 1, INT64_MAX),
    FIELD(source_bytes, INT, 0, INT32_MAX),
    FIELD(findings, ARRAY, 0, CBX_SEAL_FINDINGS_MAX),
    FIELD(finding_count, INT, 0, INT32_MAX),
};
#undef FIELD

static void copy_name(char *to, size_t size, struct cbx_str from)
{
    snprintf(to, size, "%.*s", CBX_STR_ARG(from));
}

/* Reads the caller's requests that permits have besides the limits. */
static int read_asked(const json_t *json, struct cbx_sealed *out, struct cbx_err *err)
{
    struct cbx_permit *p = &out->fields;
    bool sandbox = p->action == CBX_ACTION_OPEN || p->action == CBX_ACTION_RUN;
    int failed = cbx_asked_read(json, &out->asked, err);
    if (failed) {
        return failed;
    }
    struct cbx_str layer = cbx_asked_packages(&out->asked);
    if (sandbox && layer.len > 0 && !cbx_sha256_from_hex(layer, &p->layer)) {
        return cbx_fail(err, CBX_ESEAL, "the hash of the packages is malformed");
    }
    if (sandbox) {
        p->environment = cbx_environment_digest(out->asked.environment);
    }
    p->mounts = cbx_mounts_digest(out->asked.mounts);
    cbx_buf_init(&out->arguments, CBX_ARGUMENTS_BYTES_MAX);
    failed = cbx_arguments_join(out->asked.arguments, &out->arguments, err);
    if (failed) {
        return failed;
    }
    p->arguments = cbx_buf_str(&out->arguments);
    return cbx_permit_check_arguments(p->file_name, p->arguments, err);
}

/* Reads the hashes of the files; the seal has the hash of their list. */
static int read_files(struct cbx_str sealed, struct cbx_str files, struct cbx_sealed *out,
                      struct cbx_err *err)
{
    struct cbx_sha256 want, have = cbx_sha256_of(files), one;
    size_t count = files.len / CBX_SHA256_HEX;
    bool same = sealed.len == 0
                    ? files.len == 0
                    : cbx_sha256_from_hex(sealed, &want) && cbx_sha256_equal(&want, &have);
    cbx_buf_init(&out->files, CBX_FILES_MAX * sizeof(one));
    for (size_t i = 0; same && i < count; i++) {
        same = cbx_sha256_from_hex(cbx_str_sub(files, i * CBX_SHA256_HEX, (i + 1) * CBX_SHA256_HEX),
                                   &one) &&
               cbx_buf_add_bytes(&out->files, &one, sizeof(one)) == 0;
    }
    if (!same || files.len % CBX_SHA256_HEX != 0) {
        return cbx_fail(err, CBX_ESEAL,
                        "the decision is for other files of the session than these");
    }
    out->fields.files = (const struct cbx_sha256 *)(const void *)out->files.p;
    out->fields.file_count = count;
    return 0;
}

static int read_fields(const json_t *json, struct cbx_sealed *out, struct cbx_err *err)
{
    struct fields f = { 0 };
    int failed =
        cbx_json_read(json, field_table, sizeof(field_table) / sizeof(field_table[0]), &f, err);
    if (failed) {
        return failed;
    }
    struct cbx_permit *p = &out->fields;
    p->action = cbx_action_of(f.action);
    out->verdict = cbx_str_is(f.verdict, "allow") ? CBX_ALLOW
                   : cbx_str_is(f.verdict, "ask") ? CBX_ASK
                                                  : CBX_DENY;
    out->number = (uint64_t)f.worker;
    out->issued_ms = f.issued_ms;
    out->runs_lines = f.runs_lines;
    copy_name(p->decision, sizeof(p->decision), f.id);
    copy_name(p->policy, sizeof(p->policy), f.policy);
#define COPY_YES(member) copy_name(p->member, sizeof(p->member), f.subject.member);
#define COPY_NO(member)
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning) COPY_##in_permit(member)
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
#undef COPY_YES
#undef COPY_NO
    if (!cbx_sha256_from_hex(f.sha256, &p->source_sha256) ||
        !cbx_sha256_from_hex(f.policy_sha256, &p->policy_sha256) ||
        !cbx_sha256_from_hex(f.ledger, &p->ledger) || !cbx_sha256_from_hex(f.entry, &p->entry)) {
        return cbx_fail(err, CBX_ESEAL, "the decision's hashes are malformed");
    }
    return read_asked(f.asked, out, err);
}

static int check_sealed(const struct cbx_sealed *sealed, struct cbx_str source, int64_t now_ms,
                        struct cbx_err *err)
{
    if (sealed->issued_ms > now_ms + 1000) {
        return cbx_fail(err, CBX_ESEAL,
                        "the decision is from the future: allowed is one made at most 1000 ms "
                        "ahead of this clock");
    }
    if (sealed->issued_ms + CBX_SEAL_LIFE_MS < now_ms) {
        return cbx_fail(err, CBX_ESEAL, "the decision is expired: made %lld ms ago, allowed are %d",
                        (long long)(now_ms - sealed->issued_ms), CBX_SEAL_LIFE_MS);
    }
    struct cbx_sha256 hash = cbx_sha256_of(source);
    if (!cbx_sha256_equal(&hash, &sealed->fields.source_sha256)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is for other bytes than these");
    }
    return 0;
}

/* True if the MAC is valid for the worker that the text names. The front controls the text until
 * then, so no other field is read before. */
static bool is_sealed(const struct cbx_seal_key *key, const struct cbx_seal_claim *claim,
                      const json_t *json)
{
    struct cbx_str id = cbx_json_str(json_object_get(json, "id"));
    json_int_t number = json_integer_value(json_object_get(json, "worker"));
    char name[CBX_ID_CHARS + 1];
    if (id.len != CBX_ID_CHARS || number < 0) {
        return false;
    }
    copy_name(name, sizeof(name), id);
    struct cbx_seal_key own = derive(key, (uint64_t)number, name);
    struct cbx_sha256 expected = cbx_hmac_sha256(bytes_of(&own), claim->text);
    explicit_bzero(&own, sizeof(own));
    return cbx_sha256_equal(&expected, &claim->mac);
}

int cbx_seal_open(const struct cbx_seal_key *key, const struct cbx_seal_claim *claim,
                  int64_t now_ms, struct cbx_replay_guard *guard, struct cbx_sealed *out,
                  struct cbx_err *err)
{
    CBX_AUTO_DONE(sealed) sealed = { .asked = cbx_asked_nothing };
    if (cbx_json_parse(claim->text, CBX_SEAL_MAX_BYTES, &sealed.json, NULL) != 0 ||
        !is_sealed(key, claim, sealed.json)) {
        return cbx_fail(err, CBX_ESEAL, "the decision's seal is not valid: forged or altered");
    }
    int failed = read_fields(sealed.json, &sealed, err);
    if (failed) {
        return cbx_fail(err, CBX_ESEAL, "the decision is malformed");
    }
    failed =
        read_files(cbx_json_str(json_object_get(sealed.json, "files")), claim->files, &sealed, err);
    if (failed) {
        return failed;
    }
    failed = check_sealed(&sealed, claim->source, now_ms, err);
    if (failed) {
        return failed;
    }
    if (!use_number(guard, sealed.number)) {
        return cbx_fail(err, CBX_ESEAL, "the decision was used before");
    }
    *out = sealed;
    sealed = (struct cbx_sealed){ 0 };
    return 0;
}
