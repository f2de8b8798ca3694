/* SPDX-License-Identifier: MIT
 * The format of one audit record and of the signed head. */
#include "gateway/executor/audit/audit_chain.h"

#include "gateway/executor/audit/audit.h"

#include <inttypes.h>
#include <time.h>

void cbx_chain_format_time(int64_t time_ms, char out[32])
{
    time_t seconds = time_ms / 1000;
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t n = strftime(out, 24, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + n, 32 - n, ".%03dZ", (int)(time_ms % 1000));
}

bool cbx_chain_time(struct cbx_str text, int64_t *out)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d" };
    char copy[32];
    if (text.len >= sizeof(copy)) {
        return false;
    }
    snprintf(copy, sizeof(copy), "%.*s", CBX_STR_ARG(text));
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm utc = { 0 };
        const char *rest = strptime(copy, forms[i], &utc);
        unsigned ms = 0;
        int used = 0;
        if (rest != NULL && *rest == '.' && sscanf(rest, ".%3u%n", &ms, &used) == 1 && used == 4) {
            rest += used;
        }
        if (rest != NULL && (strcmp(rest, "Z") == 0 || *rest == '\0')) {
            *out = (int64_t)timegm(&utc) * 1000 + ms;
            return true;
        }
    }
    return false;
}

static json_t *hex(const struct cbx_sha256 *hash)
{
    char text[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(hash, text);
    return json_string(text);
}

int cbx_chain_add(struct cbx_chain *chain, const char *type, const json_t *body, int64_t time_ms,
                  struct cbx_buf *out)
{
    char when[32];
    cbx_chain_format_time(time_ms, when);
    CBX_AUTO_JSON record = json_object();
    json_object_set_new(record, "v", json_integer(CBX_CHAIN_VERSION));
    json_object_set_new(record, "seq", json_integer((json_int_t)chain->seq + 1));
    json_object_set_new(record, "time", json_string(when));
    json_object_set_new(record, "type", json_string(type));
    json_object_set_new(record, "prev", hex(&chain->hash));
    json_object_set(record, "body", (json_t *)(uintptr_t)body);
    if (time_ms < chain->time_ms) {
        json_object_set_new(record, "clock_back_ms", json_integer(chain->time_ms - time_ms));
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_AUDIT_LINE_MAX);
    if (cbx_json_write(&text, record) != 0) {
        return CBX_ETOOBIG;
    }
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&text));
    json_object_set_new(record, "hash", hex(&hash));
    cbx_buf_reset(
        &text); /* the line with its hash must fit too, or a written record could not be read */
    if (cbx_json_write(&text, record) != 0 || cbx_buf_add_char(&text, '\n') != 0 ||
        cbx_buf_add(out, cbx_buf_str(&text)) != 0) {
        return CBX_ETOOBIG;
    }
    chain->seq++;
    chain->hash = hash;
    chain->time_ms = time_ms;
    return 0;
}

/* Checks that the hash is the hash of the record without its member "hash", and that the line
 * has exactly the format of cbx_chain_add. */
static int check_hash(json_t *record, struct cbx_str line, struct cbx_sha256 *hash,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_AUDIT_LINE_MAX);
    cbx_json_write(&text, record);
    if (!cbx_str_equal(cbx_buf_str(&text), line)) {
        return cbx_fail(err, CBX_EAUDIT,
                        "the line is not in the form in which records are written");
    }
    struct cbx_sha256 stated;
    if (!cbx_sha256_from_hex(cbx_json_str(json_object_get(record, "hash")), &stated)) {
        return cbx_fail(err, CBX_EAUDIT, "the record has no hash");
    }
    json_t *bare = json_copy(record);
    json_object_del(bare, "hash");
    cbx_buf_reset(&text);
    cbx_json_write(&text, bare);
    json_decref(bare);
    *hash = cbx_sha256_of(cbx_buf_str(&text));
    if (!cbx_sha256_equal(hash, &stated)) {
        return cbx_fail(err, CBX_EAUDIT, "the record was changed: its hash does not fit");
    }
    return 0;
}

/* --- checking without parsing ----------------------------------------------------------------- */

/* The members after the body, in every line of this writer: members are sorted, and only the
 * body has text from other sources. */
struct tail {
    struct cbx_str hash, prev, seq, time, type;
};

static bool take(struct cbx_str *left, const char *literal)
{
    struct cbx_str expected = cbx_str_of(literal);
    if (!cbx_str_starts(*left, expected)) {
        return false;
    }
    *left = cbx_str_sub(*left, expected.len, left->len);
    return true;
}

/* Takes the text up to the next of `ends`, which stays. */
static struct cbx_str take_until(struct cbx_str *left, char end)
{
    const char *at = memchr(left->p, end, left->len);
    size_t len = at != NULL ? (size_t)(at - left->p) : left->len;
    struct cbx_str taken = cbx_str_sub(*left, 0, len);
    *left = cbx_str_sub(*left, len, left->len);
    return taken;
}

static bool read_tail(struct cbx_str left, struct tail *out)
{
    struct tail t;
    bool ok = take(&left, ",\"hash\":\"");
    t.hash = take_until(&left, '"');
    ok = ok && take(&left, "\",\"prev\":\"");
    t.prev = take_until(&left, '"');
    ok = ok && take(&left, "\",\"seq\":");
    t.seq = take_until(&left, ',');
    ok = ok && take(&left, ",\"time\":\"");
    t.time = take_until(&left, '"');
    ok = ok && take(&left, "\",\"type\":\"");
    t.type = take_until(&left, '"');
    ok = ok && take(&left, "\"");
    (void)take(&left, ",\"v\":1"); /* records of version 0 have no such field */
    ok = ok && take(&left, "}") && left.len == 0;
    if (ok) {
        *out = t;
    }
    return ok;
}

/* Finds the tail from the line's end. The beginning of the tail cannot occur inside a JSON
 * string. */
static bool find_tail(struct cbx_str line, size_t *at, struct tail *out)
{
    enum { TAIL_MAX = 400 };
    static const char start[] = ",\"hash\":\"";
    size_t from = line.len > TAIL_MAX ? line.len - TAIL_MAX : 0;
    const char *found = memmem(line.p + from, line.len - from, start, sizeof(start) - 1);
    *at = found != NULL ? (size_t)(found - line.p) : 0;
    return found != NULL && cbx_str_starts(line, CBX_STR("{\"body\":{")) &&
           read_tail(cbx_str_sub(line, *at, line.len), out);
}

/* Returns the SHA-256 of the line without its member "hash". */
static struct cbx_sha256 hash_without(struct cbx_str line, size_t at, struct cbx_str hash,
                                      struct cbx_buf *scratch)
{
    size_t end = (size_t)(hash.p - line.p) + hash.len + 1;
    cbx_buf_reset(scratch);
    cbx_buf_add(scratch, cbx_str_sub(line, 0, at));
    cbx_buf_add(scratch, cbx_str_sub(line, end, line.len));
    return cbx_sha256_of(cbx_buf_str(scratch));
}

static bool is_number(struct cbx_str text, uint64_t number)
{
    char expected[24];
    snprintf(expected, sizeof(expected), "%" PRIu64, number);
    return cbx_str_is(text, expected);
}

bool cbx_chain_follow(struct cbx_chain *chain, struct cbx_str line, struct cbx_buf *scratch,
                      struct cbx_chain_line *out)
{
    struct tail t;
    size_t at;
    struct cbx_sha256 prev, stated;
    if (!find_tail(line, &at, &t) || !is_number(t.seq, chain->seq + 1) ||
        !cbx_sha256_from_hex(t.prev, &prev) || !cbx_sha256_equal(&prev, &chain->hash) ||
        !cbx_sha256_from_hex(t.hash, &stated)) {
        return false;
    }
    struct cbx_sha256 hash = hash_without(line, at, t.hash, scratch);
    if (!cbx_sha256_equal(&hash, &stated)) {
        return false;
    }
    chain->seq++;
    chain->hash = hash;
    *out = (struct cbx_chain_line){ .type = t.type, .time = t.time };
    return true;
}

int cbx_chain_check(struct cbx_chain *chain, struct cbx_str line, json_t **record,
                    struct cbx_err *err)
{
    CBX_AUTO_JSON json = NULL;
    struct cbx_err inner;
    if (cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &json, &inner) != 0 || !json_is_object(json)) {
        return cbx_fail(err, CBX_EAUDIT, "the line is not a JSON object");
    }
    struct cbx_sha256 hash, prev;
    int failed = check_hash(json, line, &hash, err);
    if (failed) {
        return failed;
    }
    const json_t *version = json_object_get(json, "v");
    if (version != NULL && json_integer_value(version) != CBX_CHAIN_VERSION) {
        return cbx_fail(err, CBX_EAUDIT,
                        "the record has format version %lld, this program reads versions 0 to %d",
                        (long long)json_integer_value(version), CBX_CHAIN_VERSION);
    }
    int64_t seq = json_integer_value(json_object_get(json, "seq"));
    if (seq != (int64_t)chain->seq + 1) {
        return cbx_fail(err, CBX_EAUDIT,
                        "record %lld stands where record %" PRIu64
                        " belongs: a record was removed, added or moved",
                        (long long)seq, chain->seq + 1);
    }
    if (!cbx_sha256_from_hex(cbx_json_str(json_object_get(json, "prev")), &prev) ||
        !cbx_sha256_equal(&prev, &chain->hash)) {
        return cbx_fail(err, CBX_EAUDIT, "the record does not follow the one before it");
    }
    chain->seq++;
    chain->hash = hash;
    if (record != NULL) {
        *record = json_incref(json);
    }
    return 0;
}

/* Writes "1 SEQ HASH": the signed text. */
static void format_head(const struct cbx_chain *chain, char out[128])
{
    char text[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&chain->hash, text);
    snprintf(out, 128, "codebox-audit 1 %020" PRIu64 " %s", chain->seq, text);
}

enum { SIGNATURE_BYTES = 64 };

int cbx_chain_sign(const struct cbx_chain *chain, EVP_PKEY *key, struct cbx_buf *out)
{
    char text[128];
    uint8_t signature[SIGNATURE_BYTES];
    size_t len = sizeof(signature);
    format_head(chain, text);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(context, signature, &len, (const uint8_t *)text, strlen(text)) == 1;
    EVP_MD_CTX_free(context);
    if (!ok) {
        return CBX_EIO;
    }
    cbx_buf_add_cstr(out, text);
    cbx_buf_add_char(out, ' ');
    for (size_t i = 0; i < sizeof(signature); i++) {
        cbx_buf_printf(out, "%02x", signature[i]);
    }
    return cbx_buf_add_char(out, '\n');
}

static bool read_hex(struct cbx_str text, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned value;
        char two[3] = { text.p[2 * i], text.p[2 * i + 1], '\0' };
        if (sscanf(two, "%2x", &value) != 1) {
            return false;
        }
        out[i] = (uint8_t)value;
    }
    return true;
}

int cbx_chain_open(struct cbx_str head, EVP_PKEY *key, struct cbx_chain *out, struct cbx_err *err)
{
    struct cbx_chain chain = { 0 };
    char text[128];
    format_head(&chain, text); /* for its length, which is constant */
    size_t len = strlen(text);
    uint8_t signature[SIGNATURE_BYTES];
    if (head.len != len + 1 + 2 * SIGNATURE_BYTES + 1 || head.p[len] != ' ' ||
        head.p[head.len - 1] != '\n' || !cbx_str_starts(head, CBX_STR("codebox-audit 1 ")) ||
        !read_hex(cbx_str_sub(head, len + 1, head.len), signature, sizeof(signature)) ||
        !cbx_sha256_from_hex(cbx_str_sub(head, len - CBX_SHA256_HEX, len), &chain.hash)) {
        return cbx_fail(err, CBX_EAUDIT, "the head is malformed");
    }
    memcpy(text, head.p, len);
    text[len] = '\0';
    chain.seq = strtoull(text + strlen("codebox-audit 1 "), NULL, 10);
    if (key == NULL) {
        *out = chain;
        return 0;
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok =
        context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestVerify(context, signature, sizeof(signature), (const uint8_t *)text, len) == 1;
    EVP_MD_CTX_free(context);
    if (!ok) {
        return cbx_fail(err, CBX_EAUDIT, "the head's signature is not valid");
    }
    *out = chain;
    return 0;
}
