/* SPDX-License-Identifier: MIT
 * The table of replicas, and the owner of an identifier. */
#include "gateway/ipc/replicas.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char *const rows[] = { "a=host-a:8443", "b=10.0.0.2:8443", "c=[fd00::3]:1" };

static void reads_the_same_rows_at_each_replica(void **state)
{
    (void)state;
    for (size_t own = 0; own < 3; own++) {
        const char name[] = { rows[own][0], '\0' };
        struct cbx_replicas replicas;
        struct cbx_err err;
        assert_int_equal(cbx_replicas_read(name, rows, 3, &replicas, &err), 0);
        assert_int_equal(replicas.count, 2);
        assert_null(cbx_replicas_find(&replicas, cbx_str_of(name)));
    }
    struct cbx_replicas replicas;
    struct cbx_err err;
    assert_int_equal(cbx_replicas_read("a", rows, 3, &replicas, &err), 0);
    assert_string_equal(cbx_replicas_find(&replicas, CBX_STR("c"))->host, "fd00::3");
    assert_string_equal(cbx_replicas_find(&replicas, CBX_STR("b"))->port, "8443");
}

static void refuses_malformed_rows(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",          "b",       "b=",      "=h:1",   "b=h",        "b=h:",        "b=h:0",
        "b=h:65536", "b=h:1x",  "B=h:1",   "-b=h:1", "b-=h:1",     "b=fd00::3:1", "b=[h]:1",
        "b=h h:1",   "b_c=h:1", "b=h/x:1", "b=:1",   "b=h:123456",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_replicas replicas;
        struct cbx_err err;
        assert_int_equal(cbx_replicas_read("a", &bad[i], 1, &replicas, &err), CBX_EINVAL);
    }
    static const char *const twice[] = { "b=h:1", "b=h:2" }, *const own[] = { "a=h:1", "a=h:2" };
    struct cbx_replicas replicas;
    struct cbx_err err;
    assert_int_equal(cbx_replicas_read("a", twice, 2, &replicas, &err), CBX_EINVAL);
    assert_int_equal(cbx_replicas_read("a", own, 2, &replicas, &err), CBX_EINVAL);
    assert_int_equal(cbx_replicas_read("", rows, 3, &replicas, &err), CBX_EINVAL);
    char name[CBX_REPLICA_NAME_MAX + 2];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(cbx_replicas_read(name, rows, 3, &replicas, &err), CBX_EINVAL);
}

/* Names are tried until two have the same tag of 20 bits. */
static void refuses_names_with_one_tag(void **state)
{
    (void)state;
    static int32_t tags[4096];
    struct cbx_replicas replicas;
    struct cbx_err err;
    for (int i = 0; i < 4096; i++) {
        char name[16], row[32], other[32];
        snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(cbx_replicas_read(name, NULL, 0, &replicas, &err), 0);
        tags[i] = replicas.own_tag;
        for (int k = 0; k < i; k++) {
            if (tags[k] == tags[i]) {
                snprintf(row, sizeof(row), "n%d=h:1", k);
                snprintf(other, sizeof(other), "n%d=h:1", i);
                const char *const both[] = { row, other };
                assert_int_equal(cbx_replicas_read(name, both, 1, &replicas, &err), CBX_EINVAL);
                assert_int_equal(cbx_replicas_read("z", both, 2, &replicas, &err), CBX_EINVAL);
                assert_non_null(strstr(err.text, "same tag"));
                return;
            }
        }
    }
    fail(); /* with 4,096 names it is all but certain */
}

static void finds_the_owner_of_each_kind_of_identifier(void **state)
{
    (void)state;
    struct cbx_replicas here, there;
    struct cbx_err err;
    char id[CBX_ID_CHARS + 1], uuid[37], hex[CBX_SHA256_HEX + 1], untagged[37];
    struct cbx_sha256 random = cbx_sha256_of(CBX_STR("x"));
    assert_int_equal(cbx_replicas_read("a", rows, 3, &here, &err), 0);
    assert_int_equal(cbx_replicas_read("b", rows, 3, &there, &err), 0);
    cbx_uuid_make(untagged);
    cbx_tag_use(there.own_tag);
    cbx_id_make(id);
    cbx_uuid_make(uuid);
    cbx_sha256_hex(&random, hex);
    cbx_tag_mark(hex);
    cbx_tag_use(CBX_TAG_NONE);
    assert_int_equal(uuid[14], '8');
    const char *const ids[] = { id, uuid, hex };
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(cbx_replicas_owner(&here, cbx_str_of(ids[i]))->name, "b");
        assert_null(cbx_replicas_owner(&there, cbx_str_of(ids[i])));
    }
    assert_null(cbx_replicas_owner(&here, cbx_str_of(untagged)));
    assert_null(cbx_replicas_owner(&here, CBX_STR("")));
    assert_null(cbx_replicas_owner(&here, CBX_STR("new")));
}

static void chooses_one_replica_for_a_key(void **state)
{
    (void)state;
    int counts[3] = { 0 };
    for (int key = 0; key < 300; key++) {
        char text[16];
        int chosen = -1;
        snprintf(text, sizeof(text), "key %d", key);
        for (int own = 0; own < 3; own++) {
            const char name[] = { rows[own][0], '\0' };
            struct cbx_replicas replicas;
            struct cbx_err err;
            assert_int_equal(cbx_replicas_read(name, rows, 3, &replicas, &err), 0);
            const struct cbx_replica *owner = cbx_replicas_of_key(&replicas, cbx_str_of(text));
            int found = owner != NULL ? owner->name[0] - 'a' : own;
            assert_true(chosen < 0 || chosen == found);
            chosen = found;
        }
        counts[chosen]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(counts[i] > 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_same_rows_at_each_replica),
        cmocka_unit_test(refuses_malformed_rows),
        cmocka_unit_test(refuses_names_with_one_tag),
        cmocka_unit_test(finds_the_owner_of_each_kind_of_identifier),
        cmocka_unit_test(chooses_one_replica_for_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
