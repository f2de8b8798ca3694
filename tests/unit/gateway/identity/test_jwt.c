/* SPDX-License-Identifier: MIT
 * JSON Web Tokens that are signed with a key of the issuer: accepted ones, and those that are
 * refused for another reason. tests/system/test_identity.sh tests RSA keys and other issuers. */
#include "gateway/identity/jwt.h"
#include "policies/base/text/base64.h"
#include "tests/unit/unit.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <string.h>

enum { NOW_S = 1500000000 };
#define CLAIMS                                                                                     \
    "{\"iss\":\"https://issuer.example\",\"aud\":\"codebox\",\"sub\":\"ann\",\"exp\":2000000000"

static const struct key {
    const char *id, *algorithm, *type, *curve;
    const char *digest;
    size_t half; /* bytes of each number of its signatures */
} kinds[] = {
    { "ed", "EdDSA", "OKP", "Ed25519", NULL, 32 },
    { "p256", "ES256", "EC", "P-256", "SHA256", 32 },
    { "p384", "ES384", "EC", "P-384", "SHA384", 48 },
    { "p521", "ES512", "EC", "P-521", "SHA512", 66 },
};
enum { ED, P256, P384, P521, KINDS };

static EVP_PKEY *pairs[KINDS];
static struct cbx_jwks *keys;

static void add_coordinate(const char *name, EVP_PKEY *pair, const char *param, size_t bytes,
                           struct cbx_buf *out)
{
    uint8_t raw[66];
    BIGNUM *number = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(pair, param, &number), 1);
    assert_int_equal(BN_bn2binpad(number, raw, (int)bytes), (int)bytes);
    BN_free(number);
    cbx_buf_printf(out, ",\"%s\":\"", name);
    cbx_base64url_encode((struct cbx_str){ (const char *)raw, bytes }, out);
    cbx_buf_add_char(out, '"');
}

static void add_public(const struct key *kind, EVP_PKEY *pair, struct cbx_buf *out)
{
    uint8_t raw[32];
    size_t len = sizeof(raw);
    cbx_buf_printf(out, "{\"kty\":\"%s\",\"crv\":\"%s\",\"kid\":\"%s\"", kind->type, kind->curve,
                   kind->id);
    if (kind->digest == NULL) {
        assert_int_equal(EVP_PKEY_get_raw_public_key(pair, raw, &len), 1);
        cbx_buf_add_cstr(out, ",\"x\":\"");
        cbx_base64url_encode((struct cbx_str){ (const char *)raw, len }, out);
        cbx_buf_add_cstr(out, "\"}");
        return;
    }
    add_coordinate("x", pair, OSSL_PKEY_PARAM_EC_PUB_X, kind->half, out);
    add_coordinate("y", pair, OSSL_PKEY_PARAM_EC_PUB_Y, kind->half, out);
    cbx_buf_add_char(out, '}');
}

static int make_keys(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, 4000);
    cbx_buf_add_cstr(&set, "{\"keys\":[");
    for (size_t i = 0; i < KINDS; i++) {
        pairs[i] = kinds[i].digest == NULL ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                                           : EVP_PKEY_Q_keygen(NULL, NULL, "EC", kinds[i].curve);
        assert_non_null(pairs[i]);
        cbx_buf_add_cstr(&set, i > 0 ? "," : "");
        add_public(&kinds[i], pairs[i], &set);
    }
    cbx_buf_add_cstr(&set, "]}");
    assert_int_equal(cbx_jwks_read(cbx_buf_str(&set), &keys, &err), 0);
    return 0;
}

static int free_keys(void **state)
{
    (void)state;
    cbx_jwks_free(keys);
    for (size_t i = 0; i < KINDS; i++) {
        EVP_PKEY_free(pairs[i]);
    }
    return 0;
}

/* The two numbers of a signature in DER, each in `half` bytes. */
static void add_pair(const uint8_t *der, size_t len, size_t half, struct cbx_buf *out)
{
    uint8_t raw[2 * 66];
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)len);
    assert_non_null(signature);
    BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw, (int)half);
    BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw + half, (int)half);
    ECDSA_SIG_free(signature);
    cbx_base64url_encode((struct cbx_str){ (const char *)raw, 2 * half }, out);
}

/* Signs with this key; `half` is the size of each number of the signature. */
static void make_token(size_t kind, const char *header, const char *claims, size_t half,
                       struct cbx_buf *out)
{
    uint8_t signature[200];
    size_t len = sizeof(signature);
    cbx_buf_init(out, 8000);
    cbx_base64url_encode(cbx_str_of(header), out);
    cbx_buf_add_cstr(out, ".");
    cbx_base64url_encode(cbx_str_of(claims), out);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(
        EVP_DigestSignInit_ex(context, NULL, kinds[kind].digest, NULL, NULL, pairs[kind], NULL), 1);
    assert_int_equal(EVP_DigestSign(context, signature, &len, (const uint8_t *)out->p, out->len),
                     1);
    EVP_MD_CTX_free(context);
    cbx_buf_add_cstr(out, ".");
    if (kinds[kind].digest == NULL) {
        cbx_base64url_encode((struct cbx_str){ (const char *)signature, len }, out);
    } else {
        add_pair(signature, len, half, out);
    }
}

static const struct cbx_issuer by_subject = {
    .name = "corp", .issuer = "https://issuer.example", .audience = "codebox", .claim = "sub"
};
static const struct cbx_issuer by_email = {
    .name = "corp", .issuer = "https://issuer.example", .audience = "codebox", .claim = "email"
};

static int verify(struct cbx_str token, const struct cbx_issuer *issuer, struct cbx_err *err)
{
    CBX_AUTO_DONE(jwt) jwt = { 0 };
    return cbx_jwt_verify(token, issuer, keys, NOW_S, &jwt, err);
}

/* The result of verifying a token of the Ed25519 key. */
static int result_of(const char *header, const char *claims, const struct cbx_issuer *issuer,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) token;
    make_token(ED, header, claims, 0, &token);
    *err = (struct cbx_err){ 0 };
    return verify(cbx_buf_str(&token), issuer, err);
}

#define HEADER "{\"alg\":\"EdDSA\",\"kid\":\"ed\""

static void accepts_all(const char *const *headers, size_t count)
{
    struct cbx_err err;
    for (size_t i = 0; i < count; i++) {
        if (result_of(headers[i], CLAIMS "}", &by_subject, &err) != 0) {
            fail_msg("refused: %s: %s", headers[i], err.text);
        }
    }
}

/* Each with this in the text. */
static void refuses_all(const char *const *headers, size_t count, const char *fragment)
{
    struct cbx_err err;
    for (size_t i = 0; i < count; i++) {
        if (result_of(headers[i], CLAIMS "}", &by_subject, &err) != CBX_EINVAL) {
            fail_msg("accepted: %s", headers[i]);
        }
        if (strstr(err.text, fragment) == NULL) {
            fail_msg("%s: %s", headers[i], err.text);
        }
    }
}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void a_header_with_an_extension_is_refused(void **state)
{
    (void)state;
    static const char *const headers[] = {
        HEADER ",\"crit\":[\"exp\"],\"exp\":1}",
        HEADER ",\"crit\":[\"b64\"],\"b64\":false}", /* RFC 7797 */
        HEADER ",\"crit\":[\"b64\"],\"b64\":true}",
        HEADER ",\"crit\":[\"http://example.com/x\"],\"http://example.com/x\":1}",
        HEADER ",\"crit\":[\"absent\"]}",
        HEADER ",\"crit\":[\"alg\"]}", /* a registered parameter */
        HEADER ",\"crit\":[\"kid\",\"kid\"]}",
        HEADER ",\"crit\":[1]}",
        HEADER ",\"crit\":[]}",
        HEADER ",\"crit\":[null]}",
        HEADER ",\"crit\":null}",
        HEADER ",\"crit\":\"exp\"}",
        HEADER ",\"crit\":{}}",
        HEADER ",\"crit\":false}",
    };
    refuses_all(headers, COUNT(headers), "'crit'");
}

static void a_header_that_names_a_parameter_twice_is_no_header(void **state)
{
    (void)state;
    static const char *const headers[] = {
        HEADER ",\"crit\":[\"x\"],\"crit\":[\"y\"]}",
        HEADER ",\"alg\":\"EdDSA\"}",
    };
    refuses_all(headers, COUNT(headers), "no signed JSON Web Token");
}

static void other_algorithms_and_keys_are_refused(void **state)
{
    (void)state;
    struct cbx_err err;
    static const char *const headers[] = {
        "{\"alg\":\"none\",\"kid\":\"ed\"}",
        "{\"alg\":\"HS256\",\"kid\":\"ed\"}",
        "{\"alg\":\"ES256K\"}",
        "{\"alg\":\"\"}",
        "{\"kid\":\"ed\"}",
    };
    refuses_all(headers, COUNT(headers), "its algorithm");
    assert_int_equal(
        result_of("{\"alg\":\"EdDSA\",\"kid\":\"other\"}", CLAIMS "}", &by_subject, &err),
        CBX_ESEAL);
}

static void only_types_of_access_tokens_are_accepted_in_either_case(void **state)
{
    (void)state;
    static const char *const good[] = {
        HEADER "}",
        HEADER ",\"typ\":\"at+jwt\"}",
        HEADER ",\"typ\":\"AT+JWT\"}",
        HEADER ",\"typ\":\"application/at+jwt\"}",
        HEADER ",\"typ\":\"Application/AT+jwt\"}",
        HEADER ",\"typ\":\"JWT\"}",
        HEADER ",\"typ\":\"jwt\"}",
        HEADER ",\"typ\":\"application/jwt\"}",
    };
    static const char *const bad[] = {
        HEADER ",\"typ\":\"dpop+jwt\"}",
        HEADER ",\"typ\":\"logout+jwt\"}",
        HEADER ",\"typ\":\"secevent+jwt\"}",
        HEADER ",\"typ\":\"token-introspection+jwt\"}",
        HEADER ",\"typ\":\"oauth-authz-req+jwt\"}",
        HEADER ",\"typ\":\"application/dpop+jwt\"}",
        HEADER ",\"typ\":\"application/application/jwt\"}",
        HEADER ",\"typ\":\"text/at+jwt\"}",
        HEADER ",\"typ\":\"id_token\"}",
        HEADER ",\"typ\":\"JOSE\"}",
        HEADER ",\"typ\":\"at+jwt \"}",
        HEADER ",\"typ\":\"at\"}",
        HEADER ",\"typ\":\"application/\"}",
        HEADER ",\"typ\":\"\"}",
        HEADER ",\"typ\":null}",
        HEADER ",\"typ\":[\"at+jwt\"]}",
    };
    accepts_all(good, COUNT(good));
    refuses_all(bad, COUNT(bad), "its type");
}

static void tokens_for_another_use_are_refused_by_their_claims(void **state)
{
    (void)state;
    struct cbx_err err;
    static const char *const claims[] = {
        CLAIMS ",\"at_hash\":\"1\"}",
        CLAIMS ",\"c_hash\":\"1\"}",
        CLAIMS ",\"s_hash\":\"1\"}",
        CLAIMS ",\"events\":{\"e\":{}}}",
    };
    for (size_t i = 0; i < COUNT(claims); i++) {
        assert_int_equal(result_of(HEADER "}", claims[i], &by_subject, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, "not of an access token"));
    }
    assert_int_equal(result_of(HEADER "}", CLAIMS ",\"nonce\":\"1\"}", &by_subject, &err), 0);
}

static void a_principal_is_named_by_an_email_that_the_issuer_verified(void **state)
{
    (void)state;
    struct cbx_err err;
    static const struct {
        const char *claims;
        bool good;
    } cases[] = {
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":true}", true },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":\"true\"}", true },
        { CLAIMS ",\"email\":\"a@b.c\"}", false },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":false}", false },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":\"false\"}", false },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":\"\"}", false },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":1}", false },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":null}", false },
        { CLAIMS ",\"email\":\"a@b.c\",\"email_verified\":[true]}", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int failed = result_of(HEADER "}", cases[i].claims, &by_email, &err);
        assert_int_equal(failed, cases[i].good ? 0 : CBX_EINVAL);
        assert_true(cases[i].good || strstr(err.text, "'email_verified' is not true") != NULL);
        assert_int_equal(result_of(HEADER "}", cases[i].claims, &by_subject, &err), 0);
    }
}

static void signatures_of_every_curve_have_two_numbers_of_its_length(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    for (size_t i = P256; i < KINDS; i++) {
        char header[100];
        CBX_AUTO_DONE(buf) good;
        CBX_AUTO_DONE(buf) longer;
        snprintf(header, sizeof(header), "{\"alg\":\"%s\"}", kinds[i].algorithm);
        make_token(i, header, CLAIMS "}", kinds[i].half, &good);
        assert_int_equal(verify(cbx_buf_str(&good), &by_subject, &err), 0);
        if (kinds[i].half < 66) {
            make_token(i, header, CLAIMS "}", kinds[i].half + 1, &longer);
            assert_int_equal(verify(cbx_buf_str(&longer), &by_subject, &err), CBX_ESEAL);
        } else {
            cbx_buf_init(&longer, 1);
        }
        good.p[good.len - 10] = good.p[good.len - 10] == 'A' ? 'B' : 'A';
        assert_int_equal(verify(cbx_buf_str(&good), &by_subject, &err), CBX_ESEAL);
    }
}

static void a_signature_of_es512_has_132_bytes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) token;
    make_token(P521, "{\"alg\":\"ES512\",\"kid\":\"p521\"}", CLAIMS "}", 66, &token);
    const char *signature = strrchr(token.p, '.') + 1;
    assert_int_equal(strlen(signature), (132 * 4 + 2) / 3);
}

static void a_key_signs_by_the_algorithm_of_its_curve_alone(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    for (size_t i = P256; i < KINDS; i++) {
        for (size_t other = P256; other < KINDS; other++) {
            char header[100];
            CBX_AUTO_DONE(buf) token;
            snprintf(header, sizeof(header), "{\"alg\":\"%s\"}", kinds[other].algorithm);
            make_token(i, header, CLAIMS "}", kinds[i].half, &token);
            assert_int_equal(verify(cbx_buf_str(&token), &by_subject, &err),
                             i == other ? 0 : CBX_ESEAL);
        }
    }
}

static void a_point_that_is_on_no_curve_is_no_key(void **state)
{
    (void)state;
    struct cbx_jwks *none = NULL;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) set;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&set, 4000);
    cbx_buf_init(&text, 4000);
    cbx_buf_add_cstr(&set, "{\"keys\":[");
    add_public(&kinds[P521], pairs[P521], &set);
    cbx_buf_add_cstr(&set, "]}");
    char *x = strstr(set.p, "\"x\":\"") + 10;
    *x = *x == 'A' ? 'B' : 'A';
    assert_int_equal(cbx_jwks_read(cbx_buf_str(&set), &none, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "P-521"));
}

static void a_token_is_refused_from_the_end_of_its_time_and_the_leeway(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct cbx_issuer issuer = by_subject;
    issuer.leeway_s = 60;
    CBX_AUTO_DONE(buf) token;
    make_token(ED, HEADER "}",
               "{\"iss\":\"https://issuer.example\",\"aud\":\"codebox\",\"sub\":\"ann\",\"exp\":"
               "1000.5,\"nbf\":500}",
               0, &token);
    static const struct {
        int64_t now_s;
        int result;
    } times[] = { { 439, CBX_ETIMEDOUT }, { 440, 0 }, { 1060, 0 }, { 1061, CBX_ETIMEDOUT } };
    for (size_t i = 0; i < COUNT(times); i++) {
        CBX_AUTO_DONE(jwt) jwt = { 0 };
        assert_int_equal(
            cbx_jwt_verify(cbx_buf_str(&token), &issuer, keys, times[i].now_s, &jwt, &err),
            times[i].result);
        assert_int_equal(jwt.claims != NULL, times[i].result == 0);
        assert_string_equal(jwt.principal, times[i].result == 0 ? "corp:ann" : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_with_an_extension_is_refused),
        cmocka_unit_test(a_header_that_names_a_parameter_twice_is_no_header),
        cmocka_unit_test(other_algorithms_and_keys_are_refused),
        cmocka_unit_test(only_types_of_access_tokens_are_accepted_in_either_case),
        cmocka_unit_test(tokens_for_another_use_are_refused_by_their_claims),
        cmocka_unit_test(a_principal_is_named_by_an_email_that_the_issuer_verified),
        cmocka_unit_test(signatures_of_every_curve_have_two_numbers_of_its_length),
        cmocka_unit_test(a_signature_of_es512_has_132_bytes),
        cmocka_unit_test(a_key_signs_by_the_algorithm_of_its_curve_alone),
        cmocka_unit_test(a_point_that_is_on_no_curve_is_no_key),
        cmocka_unit_test(a_token_is_refused_from_the_end_of_its_time_and_the_leeway),
    };
    return cmocka_run_group_tests(tests, make_keys, free_keys);
}
