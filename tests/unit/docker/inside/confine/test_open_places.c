/* SPDX-License-Identifier: MIT
 * The paths that programs of a sandbox may open: the rows of open_places.def, and the folders of
 * the host. */
#include "docker/inside/confine/open_places.c"

#include "policies/mounts.h"
#include "tests/unit/unit.h"

static bool reads(const char *text)
{
    mounts_are_read = false;
    mount_count = 0;
    return cbx_places_add_mounts(text);
}

static void folders_of_the_host_can_be_opened_as_they_are_granted(void **state)
{
    (void)state;
    assert_true(reads("/data:ro:/out:rw"));
    assert_true(cbx_place_is_inside("/data", false));
    assert_true(cbx_place_is_inside("/data/a/b", false));
    assert_false(cbx_place_is_inside("/data/a", true));
    assert_true(cbx_place_is_inside("/out/a", true));
    assert_false(cbx_place_is_inside("/database", false));
    assert_false(cbx_place_is_inside("/etc/shadow", false));
    assert_true(cbx_place_is_inside("/workspace/x", true));
}

static void without_mounts_nothing_is_added(void **state)
{
    (void)state;
    size_t before, count;
    assert_true(reads(NULL));
    cbx_places(&before);
    assert_true(reads(""));
    cbx_places(&count);
    assert_int_equal(count, before);
    cbx_places_mounts(&count);
    assert_int_equal(count, 0);
}

static void a_malformed_text_adds_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = { "/data", "/data:",    "/data:wo",      "data:ro",
                                         "/:rw",  "/data:ro:", "/data:ro:/out", ":ro" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t count = 1;
        assert_false(reads(texts[i]));
        cbx_places_mounts(&count);
        assert_int_equal(count, 0);
    }
}

/* A program's change of the variable has no effect. */
static void only_the_first_text_counts(void **state)
{
    (void)state;
    assert_true(reads("/data:ro"));
    assert_true(cbx_places_add_mounts("/etc:rw"));
    assert_false(cbx_place_is_inside("/etc/shadow", false));
}

/* A mount there would have the rights of the row: programs could read, execute and change it. */
static void no_mount_lies_where_a_row_grants_something(void **state)
{
    (void)state;
    static const struct cbx_mount_rule rule = { .host = { "/srv", 4 }, .writable = true };
    size_t count;
    assert_true(reads(NULL));
    const struct cbx_place *rows = cbx_places(&count);
    for (size_t i = 0; i < count; i++) {
        const struct cbx_str container = cbx_str_of(rows[i].path);
        const struct cbx_mounts mounts = { .allow = &rule,
                                           .allow_count = 1,
                                           .container = { .items = &container, .count = 1 } };
        struct cbx_mount_request request = { .host = "/srv" };
        char why[CBX_MOUNT_WHY_MAX];
        snprintf(request.container, sizeof(request.container), "%s", rows[i].path);
        if (cbx_mount_allowed(&mounts, &request, why)) {
            fail_msg("%s", rows[i].path);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_the_host_can_be_opened_as_they_are_granted),
        cmocka_unit_test(without_mounts_nothing_is_added),
        cmocka_unit_test(a_malformed_text_adds_nothing),
        cmocka_unit_test(only_the_first_text_counts),
        cmocka_unit_test(no_mount_lies_where_a_row_grants_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
