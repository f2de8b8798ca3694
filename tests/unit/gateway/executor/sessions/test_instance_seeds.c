/* SPDX-License-Identifier: MIT
 * Seeds of instances that replicas derive from one secret. */
#include "gateway/executor/sessions/instance_seeds.h"
#include "tests/unit/unit.h"

#include <string.h>

#define SECRET CBX_STR("0123456789abcdef0123456789abcdef")

static const char *const rows[] = { "a=h:1", "b=h:2", "c=h:3" };

static void write_seeds(struct cbx_str secret, const char *own, struct cbx_buf *out)
{
    struct cbx_replicas replicas;
    struct cbx_err err;
    assert_int_equal(cbx_replicas_read(own, rows, 3, &replicas, &err), 0);
    cbx_buf_init(out, 1 << 20);
    cbx_instance_seeds_write(secret, &replicas, out);
}

static void find_seed(const struct cbx_buf *seeds, const char *name, uint64_t generation,
                      uint8_t out[CBX_INSTANCE_SEED_BYTES])
{
    assert_true(cbx_instance_seeds_find(cbx_buf_str(seeds), cbx_str_of(name), generation, out));
}

static void each_replica_derives_the_same_seed_for_a_name(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) of_a = { 0 };
    CBX_AUTO_DONE(buf) of_b = { 0 };
    write_seeds(SECRET, "a", &of_a);
    write_seeds(SECRET, "b", &of_b);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = { "a", "b", "c" };
        uint8_t here[CBX_INSTANCE_SEED_BYTES], there[CBX_INSTANCE_SEED_BYTES];
        find_seed(&of_a, names[i], 3, here);
        find_seed(&of_b, names[i], 3, there);
        assert_memory_equal(here, there, sizeof(here));
    }
    uint8_t here[CBX_INSTANCE_SEED_BYTES], there[CBX_INSTANCE_SEED_BYTES];
    assert_true(cbx_instance_seeds_vouchers(cbx_buf_str(&of_a), here));
    assert_true(cbx_instance_seeds_vouchers(cbx_buf_str(&of_b), there));
    assert_memory_equal(here, there, sizeof(here));
}

static void names_generations_and_secrets_give_different_seeds(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) seeds = { 0 };
    CBX_AUTO_DONE(buf) others = { 0 };
    uint8_t all[5][CBX_INSTANCE_SEED_BYTES];
    write_seeds(SECRET, "a", &seeds);
    write_seeds(CBX_STR("another secret of thirty-two bytes"), "a", &others);
    find_seed(&seeds, "a", 1, all[0]);
    find_seed(&seeds, "a", 2, all[1]);
    find_seed(&seeds, "b", 1, all[2]);
    find_seed(&others, "a", 1, all[3]);
    assert_true(cbx_instance_seeds_vouchers(cbx_buf_str(&seeds), all[4]));
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal(all[i], all[k], CBX_INSTANCE_SEED_BYTES);
        }
    }
}

static void a_name_that_the_configuration_lacks_has_no_seed(void **state)
{
    (void)state;
    static const char *const names[] = { "d", "", "a ", "A", "aa" };
    static const uint8_t zero[CBX_INSTANCE_SEED_BYTES] = { 0 };
    CBX_AUTO_DONE(buf) seeds = { 0 };
    write_seeds(SECRET, "a", &seeds);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint8_t seed[CBX_INSTANCE_SEED_BYTES] = { 1 };
        assert_false(cbx_instance_seeds_find(cbx_buf_str(&seeds), cbx_str_of(names[i]), 1, seed));
        assert_memory_equal(seed, zero, sizeof(seed));
    }
    assert_false(cbx_instance_seeds_find(CBX_STR(""), CBX_STR("a"), 1, (uint8_t[32]){ 0 }));
}

static void the_secret_is_not_among_the_seeds(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) seeds = { 0 };
    write_seeds(SECRET, "a", &seeds);
    assert_null(memmem(seeds.p, seeds.len, SECRET.p, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_replica_derives_the_same_seed_for_a_name),
        cmocka_unit_test(names_generations_and_secrets_give_different_seeds),
        cmocka_unit_test(a_name_that_the_configuration_lacks_has_no_seed),
        cmocka_unit_test(the_secret_is_not_among_the_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
