/* SPDX-License-Identifier: MIT
 * What programs of a sandbox may open: the rows of places.def, and the folders of the host. */
#include "docker/inside/places.c"

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

/* A program that changes the variable changes nothing. */
static void only_the_first_text_counts(void **state)
{
    (void)state;
    assert_true(reads("/data:ro"));
    assert_true(cbx_places_add_mounts("/etc:rw"));
    assert_false(cbx_place_is_inside("/etc/shadow", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_the_host_can_be_opened_as_they_are_granted),
        cmocka_unit_test(without_mounts_nothing_is_added),
        cmocka_unit_test(a_malformed_text_adds_nothing),
        cmocka_unit_test(only_the_first_text_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
