/* SPDX-License-Identifier: MIT
 * Hashes against published vectors (FIPS 180-4 examples, RFC 4231), and identifiers. */
#include "policies/base/hash.h"
#include "tests/unit/unit.h"

static void assert_hex(struct cbx_sha256 hash, const char *expected)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&hash, hex);
    assert_string_equal(hex, expected);
}

static void hashes_the_published_vectors(void **state)
{
    (void)state;
    assert_hex(cbx_sha256_of(CBX_STR("")),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_hex(cbx_sha256_of((struct cbx_str){ 0 }),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_hex(cbx_sha256_of(CBX_STR("abc")),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_hex(cbx_sha256_of(CBX_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void hashes_two_parts_as_one_message(void **state)
{
    (void)state;
    assert_hex(cbx_sha256_of2(CBX_STR("ab"), CBX_STR("c")),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_hex(cbx_sha256_of2(CBX_STR(""), CBX_STR("abc")),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void keys_the_published_vectors(void **state)
{
    (void)state;
    char key[131];
    memset(key, 0x0b, 20);
    assert_hex(cbx_hmac_sha256((struct cbx_str){ key, 20 }, CBX_STR("Hi There")),
               "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_hex(cbx_hmac_sha256(CBX_STR("Jefe"), CBX_STR("what do ya want for nothing?")),
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, 131); /* longer than a block: the key itself is hashed first */
    assert_hex(cbx_hmac_sha256((struct cbx_str){ key, 131 },
                               CBX_STR("Test Using Larger Than Block-Size Key - Hash Key First")),
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void reads_back_only_what_it_writes(void **state)
{
    (void)state;
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("abc")), back;
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&hash, hex);
    assert_true(cbx_sha256_from_hex(cbx_str_of(hex), &back));
    assert_true(cbx_sha256_equal(&hash, &back));
    back.bytes[31] ^= 1;
    assert_false(cbx_sha256_equal(&hash, &back));
    assert_false(cbx_sha256_from_hex((struct cbx_str){ hex, 63 }, &back));
    hex[5] = 'A'; /* upper case is another spelling of the same hash: refused */
    assert_false(cbx_sha256_from_hex(cbx_str_of(hex), &back));
    hex[5] = 'g';
    assert_false(cbx_sha256_from_hex(cbx_str_of(hex), &back));
    assert_false(cbx_sha256_from_hex((struct cbx_str){ 0 }, &back));
}

static void makes_ids_that_differ_and_sort_by_time(void **state)
{
    (void)state;
    char ids[64][CBX_ID_CHARS + 1];
    for (size_t i = 0; i < 64; i++) {
        cbx_id_make(ids[i]);
        assert_int_equal(strlen(ids[i]), CBX_ID_CHARS);
        assert_int_equal(strspn(ids[i], "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), CBX_ID_CHARS);
        assert_true(i == 0 || memcmp(ids[i - 1], ids[i], 10) <= 0);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(ids[k], ids[i]);
        }
    }
}

static void makes_version_4_uuids(void **state)
{
    (void)state;
    char a[37], b[37];
    cbx_uuid_make(a);
    cbx_uuid_make(b);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    assert_true(a[8] == '-' && a[13] == '-' && a[18] == '-' && a[23] == '-');
}

static void a_hash_in_pieces_is_that_of_the_whole(void **state)
{
    (void)state;
    struct cbx_sha256_sum *sum = cbx_sha256_sum_new();
    struct cbx_sha256 empty = cbx_sha256_of(CBX_STR("")), part = cbx_sha256_of(CBX_STR("ab")),
                      whole = cbx_sha256_of(CBX_STR("abc"));
    struct cbx_sha256 now = cbx_sha256_now(sum);
    assert_true(cbx_sha256_equal(&now, &empty));
    cbx_sha256_add(sum, CBX_STR("a"));
    cbx_sha256_add(sum, CBX_STR("b"));
    now = cbx_sha256_now(sum);
    assert_true(cbx_sha256_equal(&now, &part));
    cbx_sha256_add(sum, CBX_STR("c"));
    now = cbx_sha256_now(sum);
    assert_true(cbx_sha256_equal(&now, &whole));
    cbx_sha256_sum_free(sum);
    cbx_sha256_sum_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_the_published_vectors),
        cmocka_unit_test(hashes_two_parts_as_one_message),
        cmocka_unit_test(keys_the_published_vectors),
        cmocka_unit_test(reads_back_only_what_it_writes),
        cmocka_unit_test(makes_ids_that_differ_and_sort_by_time),
        cmocka_unit_test(makes_version_4_uuids),
        cmocka_unit_test(a_hash_in_pieces_is_that_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
