/* SPDX-License-Identifier: MIT
 * JSON Web Tokens: keys, signatures, claims. */
#include "gateway/identity/jwt.h"

#include "gateway/identity/tokens.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RSA 1
#define EC  2
#define OKP 3

static const struct algorithm {
    const char *name;
    int type, bits;
    const char *digest;
    int padding;
} algorithms[] = {
#define CBX_JWT_ALGORITHM(name, KEY, bits, digest, padding) { name, KEY, bits, digest, padding },
#include "gateway/identity/jwt.def"
};

static const struct curve {
    const char *name;
    int bits;
} curves[] = {
#define CBX_JWT_CURVE(name, bits) { name, bits },
#include "gateway/identity/jwt.def"
};

static const char *const types[] = {
#define CBX_JWT_TYPE(name) name,
#include "gateway/identity/jwt.def"
};

static const struct other_claim {
    const char *name;
    const char *what;
} other_claims[] = {
#define CBX_JWT_OTHER(claim, what) { claim, what },
#include "gateway/identity/jwt.def"
};

struct key {
    char id[129]; /* empty = the key has none */
    char algorithm[9];
    int type, bits;
    EVP_PKEY *key;
};

struct cbx_jwks {
    atomic_int references; /* besides the coordinate x */
    struct key items[CBX_JWKS_KEYS];
    size_t count;
};

/* --- keys ------------------------------------------------------------------------------------- */

static bool decode_member(const json_t *object, const char *name, struct cbx_buf *out)
{
    struct cbx_str text = cbx_json_str(json_object_get(object, name));
    return text.len > 0 && cbx_base64url_decode(text, out) && out->len > 0;
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *parts)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(parts);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (params == NULL || context == NULL || EVP_PKEY_fromdata_init(context) <= 0 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) <= 0) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *read_rsa(const json_t *json)
{
    enum { BYTES_MIN = 256, BYTES_MAX = 1024 };
    CBX_AUTO_DONE(buf) n;
    CBX_AUTO_DONE(buf) e;
    cbx_buf_init(&n, BYTES_MAX + 4);
    cbx_buf_init(&e, 16);
    if (!decode_member(json, "n", &n) || !decode_member(json, "e", &e) || n.len < BYTES_MIN ||
        n.len > BYTES_MAX || e.len > 8) {
        return NULL;
    }
    BIGNUM *modulus = BN_bin2bn((const unsigned char *)n.p, (int)n.len, NULL),
           *exponent = BN_bin2bn((const unsigned char *)e.p, (int)e.len, NULL);
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = BN_is_odd(exponent) && !BN_is_one(exponent) &&
                            OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, modulus) > 0 &&
                            OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, exponent) > 0
                        ? make_key("RSA", parts)
                        : NULL;
    OSSL_PARAM_BLD_free(parts);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

/* Returns true if the point is on the curve. */
static bool is_valid(EVP_PKEY *key)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool valid = context != NULL && EVP_PKEY_public_check(context) > 0;
    EVP_PKEY_CTX_free(context);
    return valid;
}

static int bits_of_curve(struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
        if (cbx_str_is(name, curves[i].name)) {
            return curves[i].bits;
        }
    }
    return 0;
}

/* Returns the bytes of a coordinate, and of each of the two numbers of a signature (RFC 7518,
 * sections 3.4 and 6.2.1.2). */
static size_t bytes_of_curve(int bits)
{
    return ((size_t)bits + 7) / 8;
}

static EVP_PKEY *read_ec(const json_t *json, int *bits)
{
    enum { POINT_MAX = 1 + 2 * 66 };
    struct cbx_str curve = cbx_json_str(json_object_get(json, "crv"));
    *bits = bits_of_curve(curve);
    size_t bytes = bytes_of_curve(*bits);
    CBX_AUTO_DONE(buf) point;
    cbx_buf_init(&point, POINT_MAX + 1);
    cbx_buf_add_char(&point, 4); /* uncompressed (SEC 1, 2.3.3) */
    if (*bits == 0 || !decode_member(json, "x", &point) || point.len != 1 + bytes ||
        !decode_member(json, "y", &point) || point.len != 1 + 2 * bytes) {
        return NULL;
    }
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    EVP_PKEY *key =
        OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, curve.p, 0) > 0 &&
                OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point.p,
                                                 point.len) > 0
            ? make_key("EC", parts)
            : NULL;
    OSSL_PARAM_BLD_free(parts);
    if (key != NULL && !is_valid(key)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

static EVP_PKEY *read_okp(const json_t *json)
{
    enum { BYTES = 32 };
    CBX_AUTO_DONE(buf) x;
    cbx_buf_init(&x, 64);
    return cbx_str_is(cbx_json_str(json_object_get(json, "crv")), "Ed25519") &&
                   decode_member(json, "x", &x) && x.len == BYTES
               ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)x.p,
                                             x.len)
               : NULL;
}

/* Skips keys of another use, and of an algorithm that is not in the table. */
static bool is_for_signatures(const json_t *json)
{
    struct cbx_str use = cbx_json_str(json_object_get(json, "use"));
    const json_t *operations = json_object_get(json, "key_ops"), *item;
    bool verifies = !json_is_array(operations);
    size_t i;
    json_array_foreach(operations, i, item)
    {
        verifies |= cbx_str_is(cbx_json_str(item), "verify");
    }
    return verifies && (use.len == 0 || cbx_str_is(use, "sig"));
}

static void add_key(struct cbx_jwks *keys, const json_t *json)
{
    struct key key = { 0 };
    struct cbx_str type = cbx_json_str(json_object_get(json, "kty")),
                   id = cbx_json_str(json_object_get(json, "kid")),
                   algorithm = cbx_json_str(json_object_get(json, "alg"));
    if (keys->count == CBX_JWKS_KEYS || !is_for_signatures(json) || id.len >= sizeof(key.id) ||
        algorithm.len >= sizeof(key.algorithm)) {
        return;
    }
    if (cbx_str_is(type, "RSA")) {
        key.type = RSA;
        key.key = read_rsa(json);
    } else if (cbx_str_is(type, "EC")) {
        key.type = EC;
        key.key = read_ec(json, &key.bits);
    } else if (cbx_str_is(type, "OKP")) {
        key.type = OKP;
        key.key = read_okp(json);
    }
    snprintf(key.id, sizeof(key.id), "%.*s", (int)id.len, id.len > 0 ? id.p : "");
    snprintf(key.algorithm, sizeof(key.algorithm), "%.*s", (int)algorithm.len,
             algorithm.len > 0 ? algorithm.p : "");
    if (key.key != NULL) {
        keys->items[keys->count++] = key;
    }
}

int cbx_jwks_read(struct cbx_str text, struct cbx_jwks **out, struct cbx_err *err)
{
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO(jwks) keys = calloc(1, sizeof(*keys));
    size_t i;
    const json_t *item;
    if (keys == NULL) {
        abort();
    }
    int failed = cbx_json_parse(text, CBX_JWKS_MAX, &json, err);
    if (failed) {
        return failed;
    }
    json_array_foreach(json_object_get(json, "keys"), i, item)
    {
        add_key(keys, item);
    }
    if (keys->count == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "no key can be used, allowed are RSA of 2048 to 8192 bits, EC on P-256, "
                        "P-384 and P-521, and Ed25519, for signatures");
    }
    *out = cbx_steal(&keys);
    return 0;
}

struct cbx_jwks *cbx_jwks_ref(struct cbx_jwks *keys)
{
    atomic_fetch_add(&keys->references, 1);
    return keys;
}

void cbx_jwks_free(struct cbx_jwks *keys)
{
    if (keys != NULL && atomic_fetch_sub(&keys->references, 1) > 0) {
        return;
    }
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        EVP_PKEY_free(keys->items[i].key);
    }
    free(keys);
}

/* --- signatures ------------------------------------------------------------------------------- */

/* Converts two numbers of equal length (RFC 7518, section 3.4) to DER, which libcrypto reads.
 * malloc'ed by OPENSSL. */
static int der_of(struct cbx_str pair, unsigned char **out)
{
    int half = (int)(pair.len / 2), len = -1;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn((const unsigned char *)pair.p, half, NULL),
           *s = BN_bin2bn((const unsigned char *)pair.p + half, half, NULL);
    if (signature != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(signature, r, s) > 0) {
        len = i2d_ECDSA_SIG(signature, out);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(signature);
    return len;
}

static bool verify_by(const struct key *key, const struct algorithm *algorithm,
                      struct cbx_str signature, struct cbx_str text)
{
    EVP_PKEY_CTX *pkey = NULL;
    unsigned char *der = NULL;
    const unsigned char *bytes = (const unsigned char *)signature.p;
    size_t len = signature.len;
    if (key->type == EC) {
        int der_len = len == 2 * bytes_of_curve(key->bits) ? der_of(signature, &der) : -1;
        if (der_len < 0) {
            return false;
        }
        bytes = der;
        len = (size_t)der_len;
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestVerifyInit_ex(context, &pkey, algorithm->digest, NULL,
                                                           NULL, key->key, NULL) > 0;
    if (good && key->type == RSA) {
        good = EVP_PKEY_CTX_set_rsa_padding(pkey, algorithm->padding) > 0 &&
               (algorithm->padding != RSA_PKCS1_PSS_PADDING ||
                EVP_PKEY_CTX_set_rsa_pss_saltlen(pkey, RSA_PSS_SALTLEN_DIGEST) > 0);
    }
    good =
        good && EVP_DigestVerify(context, bytes, len, (const unsigned char *)text.p, text.len) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    return good;
}

/* Verifies by the key with the id; by any fitting key if the token names none. */
static bool is_signed(const struct cbx_jwks *keys, const struct algorithm *algorithm,
                      struct cbx_str id, struct cbx_str signature, struct cbx_str text)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct key *key = &keys->items[i];
        bool fits = key->type == algorithm->type && key->bits == algorithm->bits &&
                    (key->algorithm[0] == '\0' || strcmp(key->algorithm, algorithm->name) == 0) &&
                    (id.len == 0 || cbx_str_is(id, key->id));
        if (fits && verify_by(key, algorithm, signature, text)) {
            return true;
        }
    }
    return false;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* The three decoded parts, and the signed bytes. */
struct token {
    json_t *header, *claims;
    struct cbx_buf signature;
    struct cbx_str text;
};

static void token_done(struct token *token)
{
    json_decref(token->header);
    json_decref(token->claims);
    cbx_buf_done(&token->signature);
}

static bool decode_json(struct cbx_str part, json_t **out)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_JWT_MAX);
    return cbx_base64url_decode(part, &text) &&
           cbx_json_parse(cbx_buf_str(&text), CBX_JWT_MAX, out, NULL) == 0 && json_is_object(*out);
}

static int split(struct cbx_str text, struct token *out, struct cbx_err *err)
{
    *out = (struct token){ 0 };
    cbx_buf_init(&out->signature, CBX_JWT_MAX);
    const char *first =
        text.len > 0 && text.len <= CBX_JWT_MAX ? memchr(text.p, '.', text.len) : NULL;
    size_t a = first != NULL ? (size_t)(first - text.p) : 0;
    const char *second = first != NULL ? memchr(first + 1, '.', text.len - a - 1) : NULL;
    size_t b = second != NULL ? (size_t)(second - text.p) : 0;
    out->text = cbx_str_sub(text, 0, b);
    if (second == NULL || !decode_json(cbx_str_sub(text, 0, a), &out->header) ||
        !decode_json(cbx_str_sub(text, a + 1, b), &out->claims) ||
        !cbx_base64url_decode(cbx_str_sub(text, b + 1, text.len), &out->signature)) {
        return cbx_fail(err, CBX_EINVAL, "it is no signed JSON Web Token");
    }
    return 0;
}

int cbx_jwt_issuer(struct cbx_str text, char *out, struct cbx_err *err)
{
    enum { ISSUER_BYTES = 513 };
    struct token token;
    int failed = split(text, &token, err);
    struct cbx_str issuer = cbx_json_str(json_object_get(token.claims, "iss"));
    if (!failed && (issuer.len == 0 || issuer.len >= ISSUER_BYTES)) {
        failed = cbx_fail(err, CBX_EINVAL, "it names no issuer");
    }
    snprintf(out, ISSUER_BYTES, "%.*s", failed ? 0 : (int)issuer.len, failed ? "" : issuer.p);
    token_done(&token);
    return failed;
}

bool cbx_jwt_lacks_key(struct cbx_str text, const struct cbx_jwks *keys)
{
    struct token token;
    int failed = split(text, &token, NULL);
    struct cbx_str id = cbx_json_str(json_object_get(token.header, "kid"));
    bool lacks = !failed && id.len > 0;
    for (size_t i = 0; i < keys->count && lacks; i++) {
        lacks = !cbx_str_is(id, keys->items[i].id);
    }
    token_done(&token);
    return lacks;
}

/* Extensions that must be understood (RFC 7515, section 4.1.11): this code knows none, and a
 * malformed list is refused as well. */
static int check_extensions(const struct token *token, struct cbx_err *err)
{
    const json_t *named = json_object_get(token->header, "crit");
    if (named != NULL) {
        struct cbx_str first = cbx_json_str(json_array_get(named, 0));
        return cbx_fail(err, CBX_EINVAL,
                        "its header has 'crit' with '%.*s', and no extension is served",
                        CBX_STR_SHOWN(first));
    }
    return 0;
}

static struct cbx_str type_of(const struct token *token)
{
    static const struct cbx_str prefix = CBX_STR("application/");
    struct cbx_str type = cbx_json_str(json_object_get(token->header, "typ"));
    bool full = type.len > prefix.len && strncasecmp(type.p, prefix.p, prefix.len) == 0;
    return full ? cbx_str_sub(type, prefix.len, type.len) : type;
}

/* An issuer's keys sign tokens of many uses; only access tokens authenticate a caller. */
static int check_use(const struct token *token, struct cbx_err *err)
{
    struct cbx_str type = type_of(token);
    bool known = json_object_get(token->header, "typ") == NULL;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && !known; i++) {
        known = cbx_str_is_nocase(type, types[i]);
    }
    if (!known) {
        return cbx_fail(err, CBX_EINVAL,
                        "its type '%.*s' is not one of access tokens: at+jwt, JWT or none",
                        CBX_STR_SHOWN(type));
    }
    for (size_t i = 0; i < sizeof(other_claims) / sizeof(other_claims[0]); i++) {
        const struct other_claim *other = &other_claims[i];
        if (json_object_get(token->claims, other->name) != NULL) {
            return cbx_fail(err, CBX_EINVAL, "its claim '%s' is of %s, and not of an access token",
                            other->name, other->what);
        }
    }
    return 0;
}

static int check_signature(const struct token *token, const struct cbx_jwks *keys,
                           struct cbx_err *err)
{
    struct cbx_str name = cbx_json_str(json_object_get(token->header, "alg"));
    const struct algorithm *algorithm = NULL;
    for (size_t i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++) {
        algorithm = cbx_str_is(name, algorithms[i].name) ? &algorithms[i] : algorithm;
    }
    if (algorithm == NULL) {
        return cbx_fail(err, CBX_EINVAL, "its algorithm '%.*s' is not served",
                        (int)(name.len < 16 ? name.len : 16), name.len > 0 ? name.p : "");
    }
    if (!is_signed(keys, algorithm, cbx_json_str(json_object_get(token->header, "kid")),
                   cbx_buf_str(&token->signature), token->text)) {
        return cbx_fail(err, CBX_ESEAL, "no key of the issuer made its signature");
    }
    return 0;
}

static bool has_audience(const json_t *audience, const char *wanted)
{
    size_t i;
    const json_t *item;
    bool found = cbx_str_is(cbx_json_str(audience), wanted);
    json_array_foreach(audience, i, item)
    {
        found |= cbx_str_is(cbx_json_str(item), wanted);
    }
    return found;
}

/* Reads a NumericDate: seconds, possibly with a fraction. False for any other value. */
static bool read_date(const json_t *value, double *out)
{
    *out = json_number_value(value);
    return json_is_number(value) && *out >= 0 && *out < 1e12;
}

static int check_times(const json_t *claims, const struct cbx_issuer *issuer, int64_t now_s,
                       struct cbx_err *err)
{
    double until = 0, from = 0;
    const json_t *not_before = json_object_get(claims, "nbf");
    if (!read_date(json_object_get(claims, "exp"), &until) ||
        (not_before != NULL && !read_date(not_before, &from))) {
        return cbx_fail(err, CBX_EINVAL, "it has no expiry, or a time that is no number");
    }
    int64_t whole = (int64_t)until;
    if (now_s >= whole + (until > (double)whole) + issuer->leeway_s) {
        return cbx_fail(err, CBX_ETIMEDOUT, "it has expired");
    }
    if ((double)(now_s + issuer->leeway_s) < from) {
        return cbx_fail(err, CBX_ETIMEDOUT, "it is not valid yet");
    }
    return 0;
}

/* Otherwise a user who registers with another user's address would be that principal. Some
 * issuers send the text "true". */
static bool is_verified_email(const json_t *claims)
{
    const json_t *verified = json_object_get(claims, "email_verified");
    return json_is_true(verified) || cbx_str_is(cbx_json_str(verified), "true");
}

static int name_principal(const json_t *claims, const struct cbx_issuer *issuer, char *out,
                          struct cbx_err *err)
{
    struct cbx_str claim = cbx_json_str(json_object_get(claims, issuer->claim));
    CBX_AUTO_DONE(buf) name;
    cbx_buf_init(&name, 4096);
    cbx_buf_printf(&name, "%s:", issuer->name);
    cbx_buf_add(&name, claim);
    if (claim.len == 0 || cbx_principal_check(cbx_buf_str(&name), err) != 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "its claim '%s' is absent, or makes no principal's name of at most %d "
                        "characters",
                        issuer->claim, CBX_NAME_MAX);
    }
    if (strcmp(issuer->claim, "email") == 0 && !is_verified_email(claims)) {
        return cbx_fail(err, CBX_EINVAL,
                        "its claim 'email_verified' is not true, so 'email' names no principal");
    }
    snprintf(out, CBX_NAME_MAX + 1, "%s", name.p);
    return 0;
}

static int check_addressee(const json_t *claims, const struct cbx_issuer *issuer,
                           struct cbx_err *err)
{
    if (!cbx_str_is(cbx_json_str(json_object_get(claims, "iss")), issuer->issuer)) {
        return cbx_fail(err, CBX_ESEAL, "it is of another issuer");
    }
    if (!has_audience(json_object_get(claims, "aud"), issuer->audience)) {
        return cbx_fail(err, CBX_ESEAL, "it is for another audience");
    }
    return 0;
}

static int verify(const struct token *token, const struct cbx_issuer *issuer,
                  const struct cbx_jwks *keys, int64_t now_s, struct cbx_jwt *out,
                  struct cbx_err *err)
{
    int failed = check_extensions(token, err);
    if (failed) {
        return failed;
    }
    failed = check_signature(token, keys, err);
    if (failed) {
        return failed;
    }
    failed = check_use(token, err);
    if (failed) {
        return failed;
    }
    failed = check_addressee(token->claims, issuer, err);
    if (failed) {
        return failed;
    }
    failed = check_times(token->claims, issuer, now_s, err);
    if (failed) {
        return failed;
    }
    return name_principal(token->claims, issuer, out->principal, err);
}

int cbx_jwt_verify(struct cbx_str text, const struct cbx_issuer *issuer,
                   const struct cbx_jwks *keys, int64_t now_s, struct cbx_jwt *out,
                   struct cbx_err *err)
{
    struct token token;
    struct cbx_jwt verified = { 0 };
    int failed = split(text, &token, err);
    if (!failed) {
        failed = verify(&token, issuer, keys, now_s, &verified, err);
    }
    if (!failed) {
        *out = verified;
        out->claims = json_incref(token.claims);
    }
    token_done(&token);
    return failed;
}

void cbx_jwt_done(struct cbx_jwt *jwt)
{
    json_decref(jwt->claims);
    *jwt = (struct cbx_jwt){ 0 };
}
