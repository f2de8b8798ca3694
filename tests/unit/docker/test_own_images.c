/* SPDX-License-Identifier: MIT
 * Images from a user's own images: their names, and their list from a response of the engine. */
#include "docker/kernel_names.h"
#include "docker/own_images.h"
#include "tests/unit/unit.h"

/* The engine's answer to "list images with the label codebox.own". */
static const char *answer;

int cbx_engine_image_list(struct cbx_engine *engine, const char *label, json_t **out,
                          struct cbx_err *err)
{
    (void)engine;
    assert_string_equal(label, CBX_LABEL_OWN);
    return cbx_json_parse(cbx_str_of(answer), 1 << 20, out, err);
}

static void names_are_small_and_none_of_the_gateways(void **state)
{
    (void)state;
    static const char *const good[] = { "lab", "a", "data-2026",
                                        "abcdefghijklmnopqrstuvwxyzabcdef" };
    static const char *const bad[] = { "",
                                       "Lab",
                                       "2lab",
                                       "-lab",
                                       "lab/x",
                                       "lab:1",
                                       "small",
                                       "layer",
                                       "lab python",
                                       "../lab",
                                       "abcdefghijklmnopqrstuvwxyzabcdefg" };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(cbx_own_image_check(good[i], NULL), 0);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_own_image_check(bad[i], &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, "allowed are"));
    }
}

static void images_have_the_names_that_policies_choose(void **state)
{
    (void)state;
    char name[CBX_IMAGE_NAME_BYTES];
    cbx_image_name(NULL, "python", NULL, name);
    assert_string_equal(name, "codebox-python:latest");
    cbx_image_name(NULL, "python", CBX_VARIANT_SMALL, name);
    assert_string_equal(name, "codebox-python-small:latest");
    cbx_image_name(NULL, "javascript", CBX_VARIANT_SMALL, name);
    assert_string_equal(name, "codebox-javascript:latest");
    cbx_image_name("test", "javascript", "lab", name);
    assert_string_equal(name, "test-javascript-lab:latest");
}

static void lists_the_images_in_order(void **state)
{
    (void)state;
    CBX_AUTO_JSON rows = NULL;
    answer =
        "[{\"Id\":\"sha256:b\",\"Size\":2,\"RepoTags\":[\"codebox-python-lab:latest\"],\"Labels\":"
        "{\"codebox.own\":\"lab\",\"codebox.kernel\":\"python\",\"codebox.from\":\"x sha256:c\"}},"
        "{\"Id\":\"sha256:a\",\"Size\":1,\"RepoTags\":[\"other:1\",\"codebox-javascript-lab:"
        "latest\"],"
        "\"Labels\":{\"codebox.own\":\"lab\",\"codebox.kernel\":\"javascript\"}}]";
    assert_int_equal(cbx_own_images_list(NULL, &rows, NULL), 0);
    assert_int_equal(json_array_size(rows), 2);
    const json_t *first = json_array_get(rows, 0), *second = json_array_get(rows, 1);
    assert_string_equal(json_string_value(json_object_get(first, "kernel")), "javascript");
    assert_string_equal(json_string_value(json_object_get(second, "from")), "x sha256:c");
}

static void leaves_out_what_is_none(void **state)
{
    (void)state;
    CBX_AUTO_JSON rows = NULL;
    /* A layer, an installer, another tag, an unknown kernel, a malformed name, no labels, no
     * object. */
    answer =
        "[{\"Id\":\"a\",\"RepoTags\":[\"codebox-python-lab:latest\"],\"Labels\":{\"codebox.own\":"
        "\"lab\",\"codebox.kernel\":\"python\",\"codebox.layer\":\"x\"}},"
        "{\"Id\":\"a\",\"RepoTags\":[\"codebox-python-lab:latest\"],\"Labels\":{\"codebox.own\":"
        "\"lab\",\"codebox.kernel\":\"python\",\"codebox.base\":\"x\"}},"
        "{\"Id\":\"a\",\"RepoTags\":[\"codebox-python-lab:old\"],\"Labels\":{\"codebox.own\":"
        "\"lab\",\"codebox.kernel\":\"python\"}},"
        "{\"Id\":\"a\",\"RepoTags\":[\"codebox-perl-lab:latest\"],\"Labels\":{\"codebox.own\":"
        "\"lab\",\"codebox.kernel\":\"perl\"}},"
        "{\"Id\":\"a\",\"RepoTags\":[\"codebox-python-../x:latest\"],\"Labels\":{\"codebox.own\":"
        "\"../x\",\"codebox.kernel\":\"python\"}},"
        "{\"Id\":\"a\",\"RepoTags\":null},7]";
    assert_int_equal(cbx_own_images_list(NULL, &rows, NULL), 0);
    assert_int_equal(json_array_size(rows), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_small_and_none_of_the_gateways),
        cmocka_unit_test(images_have_the_names_that_policies_choose),
        cmocka_unit_test(lists_the_images_in_order),
        cmocka_unit_test(leaves_out_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
