/* SPDX-License-Identifier: MIT
 * JSON Web Tokens that are signed with a key of the issuer, and refused nevertheless. Those of other keys and algorithms:
 * tests/system/test_issuers.sh. */
#include "gateway/identity/jwt.h"
#include "policies/base/base64.h"
#include "tests/unit/unit.h"

#include <openssl/evp.h>

static EVP_PKEY *key;
static struct cbx_jwks *keys;

static int make_key(void **state)
{
    (void)state;
    uint8_t public[32];
    size_t len = sizeof(public);
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, 1000);
    key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    assert_int_equal(EVP_PKEY_get_raw_public_key(key, public, &len), 1);
    cbx_buf_add_cstr(&set,
                     "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"one\",\"x\":\"");
    cbx_base64url_encode((struct cbx_str){ (const char *)public, len }, &set);
    cbx_buf_add_cstr(&set, "\"}]}");
    assert_int_equal(cbx_jwks_read(cbx_buf_str(&set), &keys, &err), 0);
    return 0;
}

static int free_key(void **state)
{
    (void)state;
    cbx_jwks_free(keys);
    EVP_PKEY_free(key);
    return 0;
}

/* Whether a token with this header, and claims that are right, is accepted. */
static bool accepts(const char *header, const struct cbx_issuer *issuer)
{
    uint8_t signature[64];
    size_t len = sizeof(signature);
    char principal[CBX_NAME_MAX + 1];
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) token;
    cbx_buf_init(&token, 4000);
    cbx_base64url_encode(cbx_str_of(header), &token);
    cbx_buf_add_cstr(&token, ".");
    cbx_base64url_encode(CBX_STR("{\"iss\":\"https://"
                                 "issuer.example\",\"aud\":\"codebox\",\"sub\":\"ann\",\"exp\":"
                                 "2000000000,\"iat\":1000000000}"),
                         &token);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(context, NULL, NULL, NULL, key), 1);
    assert_int_equal(EVP_DigestSign(context, signature, &len, (const uint8_t *)token.p, token.len),
                     1);
    EVP_MD_CTX_free(context);
    cbx_buf_add_cstr(&token, ".");
    cbx_base64url_encode((struct cbx_str){ (const char *)signature, len }, &token);
    return cbx_jwt_verify(cbx_buf_str(&token), issuer, keys, 1500000000, principal, &err) == 0;
}

static void a_header_with_an_extension_is_refused(void **state)
{
    (void)state;
    const struct cbx_issuer issuer = {
        .name = "corp", .issuer = "https://issuer.example", .audience = "codebox", .claim = "sub"
    };
    static const char *const refused[] = {
        "{\"alg\":\"EdDSA\",\"kid\":\"one\",\"crit\":[\"exp\"],\"exp\":1}",
        "{\"alg\":\"EdDSA\",\"kid\":\"one\",\"crit\":[]}",
        "{\"alg\":\"EdDSA\",\"kid\":\"one\",\"crit\":null}",
        "{\"alg\":\"EdDSA\",\"kid\":\"one\",\"b64\":false,\"crit\":[\"b64\"]}", /* RFC 7797 */
        "{\"alg\":\"none\",\"kid\":\"one\"}",
        "{\"alg\":\"HS256\",\"kid\":\"one\"}",
        "{\"alg\":\"EdDSA\",\"kid\":\"two\"}",
    };
    assert_true(accepts("{\"alg\":\"EdDSA\",\"kid\":\"one\"}", &issuer));
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (accepts(refused[i], &issuer)) {
            fail_msg("accepted: %s", refused[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_with_an_extension_is_refused),
    };
    return cmocka_run_group_tests(tests, make_key, free_key);
}
