/* SPDX-License-Identifier: MIT
 * Presets as they were compiled, against their YAML. */
#include "policies/base/text/json.h"
#include "policies/load/image.h"
#include "policies/load/index.h"
#include "tests/unit/unit.h"

static void assert_same_json(const struct cbx_policy *a, const struct cbx_policy *b)
{
    CBX_AUTO_JSON x = cbx_policy_json(a);
    CBX_AUTO_JSON y = cbx_policy_json(b);
    CBX_AUTO_DONE(buf) one;
    CBX_AUTO_DONE(buf) other;
    cbx_buf_init(&one, 1 << 22);
    cbx_buf_init(&other, 1 << 22);
    assert_int_equal(cbx_json_write(&one, x), 0);
    assert_int_equal(cbx_json_write(&other, y), 0);
    assert_string_equal(one.p, other.p);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&one));
    assert_true(cbx_sha256_equal(&hash, &a->sha256));
}

static void assert_same_str(struct cbx_str a, struct cbx_str b)
{
    assert_true(cbx_str_equal(a, b));
}

/* Members without a place in the canonical form. */
static void assert_same_rules(const struct cbx_policy *a, const struct cbx_policy *b)
{
    assert_int_equal(a->rule_count, b->rule_count);
    for (size_t i = 0; i < a->rule_count; i++) {
        const struct cbx_rule *x = &a->rules[i], *y = &b->rules[i];
        assert_int_equal(x->line, y->line);
        assert_same_str(x->origin, y->origin);
        assert_int_equal(x->test_deny.count, y->test_deny.count);
        for (size_t k = 0; k < x->test_deny.count; k++) {
            assert_same_str(x->test_deny.items[k], y->test_deny.items[k]);
        }
    }
}

static void assert_same_chains(const struct cbx_pattern *const *a,
                               const struct cbx_pattern *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct cbx_pattern *x = a[i], *y = b[i];
        for (; x != NULL && y != NULL; x = x->next, y = y->next) {
            assert_same_str(x->text, y->text);
            assert_same_str(x->must, y->must);
            assert_int_equal(x->shortest, y->shortest);
            assert_int_equal(x->rule, y->rule);
            assert_int_equal(x->number, y->number);
            assert_int_equal(x->list, y->list);
            assert_int_equal(x->glob, y->glob);
            assert_int_equal(x->call != NULL, y->call != NULL);
            if (x->call != NULL) {
                assert_same_str(x->call->name, y->call->name);
                assert_int_equal(x->call->where_count, y->call->where_count);
            }
        }
        assert_true(x == NULL && y == NULL);
    }
}

static void assert_same_numbers(const struct cbx_index_rules *a, const struct cbx_index_rules *b,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].count, b[i].count);
        assert_true(a[i].count == 0 ||
                    memcmp(a[i].items, b[i].items, a[i].count * sizeof(*a[i].items)) == 0);
    }
}

static void assert_same_index(const struct cbx_policy *a, const struct cbx_policy *b)
{
    const struct cbx_index *x = a->index, *y = b->index;
    assert_int_equal(x->pattern_count, y->pattern_count);
    assert_int_equal(x->exact_mask, y->exact_mask);
    assert_int_equal(x->lists, y->lists);
    assert_int_equal(x->capabilities, y->capabilities);
    assert_same_chains(x->exact, y->exact, x->exact_mask + 1u);
    assert_same_chains(x->by_gram, y->by_gram, CBX_INDEX_GRAMS);
    assert_same_chains(&x->globs, &y->globs, 1);
    assert_same_chains(x->excluding, y->excluding, a->rule_count);
    assert_same_numbers(x->by_capability, y->by_capability, CBX_CAPABILITIES);
    assert_same_numbers(x->by_fact, y->by_fact, CBX_FACTS);
    assert_same_numbers(&x->queries, &y->queries, 1);
}

static void every_compiled_preset_equals_its_yaml(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) compiled = NULL;
        CBX_AUTO(policy) source = NULL;
        struct cbx_err err;
        assert_non_null(presets[i].image_begin);
        assert_int_equal(cbx_policy_load(presets[i].name, &compiled, &err), 0);
        assert_int_equal(cbx_policy_load_source(presets[i].name, &source, &err), 0);
        assert_true(cbx_sha256_equal(&compiled->sha256, &source->sha256));
        assert_same_json(compiled, source);
        assert_same_rules(compiled, source);
        assert_memory_equal(&compiled->limits, &source->limits, sizeof(compiled->limits));
        assert_same_index(compiled, source);
    }
}

/* Every struct, every text, and every note of which keys were given. */
static void the_image_of_a_preset_is_the_image_of_its_yaml(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) source = NULL;
        CBX_AUTO_DONE(buf) image;
        struct cbx_err err;
        cbx_buf_init(&image, 1 << 22);
        assert_int_equal(cbx_policy_load_source(presets[i].name, &source, &err), 0);
        assert_int_equal(cbx_image_write(source, &image, &err), 0);
        assert_int_equal(image.len, presets[i].image_end - presets[i].image_begin);
        assert_memory_equal(image.p, presets[i].image_begin, image.len);
    }
}

static void an_image_of_an_image_is_the_same(void **state)
{
    (void)state;
    CBX_AUTO(policy) compiled = NULL;
    CBX_AUTO(policy) source = NULL;
    CBX_AUTO_DONE(buf) one;
    CBX_AUTO_DONE(buf) other;
    struct cbx_err err;
    cbx_buf_init(&one, 1 << 22);
    cbx_buf_init(&other, 1 << 22);
    assert_int_equal(cbx_policy_load("default", &compiled, &err), 0);
    assert_int_equal(cbx_policy_load_source("default", &source, &err), 0);
    assert_int_equal(cbx_image_write(compiled, &one, &err), 0);
    assert_int_equal(cbx_image_write(source, &other, &err), 0);
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.p, other.p, one.len);
}

/* The compiled form distinguishes limits that a policy sets from defaults: a child inherits only
 * the former. */
static void a_file_that_extends_a_preset_gets_the_same_policy_either_way(void **state)
{
    (void)state;
    static const char *const files[] = {
        "version: 1\nname: c\nextends: [default]\n",
        "version: 1\nname: c\nextends: [strict]\nlimits: {wall: 5s}\n",
        "version: 1\nname: c\nextends: [default, strict]\nshell: {allow: [ls]}\n",
        "version: 1\nname: c\nextends: [data-analysis]\nlimits: {wall: 1h, override: true}\n",
        "version: 1\nname: c\nextends: [notebook]\nlimits: {wall: 100h}\n",
        "version: 1\nname: c\nextends: [permissive]\nlimits: {idle: 720h}\n",
        "version: 1\nname: c\nextends: [codebox-ai]\nrules: [{id: py.process, effect: allow}]\n",
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[] = "/tmp/cbx-preset-XXXXXX.yaml";
        CBX_AUTO_FD fd = mkstemps(path, 5);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, files[i], strlen(files[i])), strlen(files[i]));
        struct cbx_policy *compiled = NULL, *source = NULL;
        struct cbx_err one = { 0 }, other = { 0 };
        int a = cbx_policy_load(path, &compiled, &one),
            b = cbx_policy_load_source(path, &source, &other);
        unlink(path);
        assert_int_equal(a, b);
        assert_string_equal(one.text, other.text);
        if (a == 0) {
            assert_true(cbx_sha256_equal(&compiled->sha256, &source->sha256));
            assert_same_json(compiled, source);
        }
        cbx_policy_free(compiled);
        cbx_policy_free(source);
    }
}

static void refuses_an_arena_that_is_too_small(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *preset = cbx_preset_list(&count);
    struct cbx_str image = { .p = preset->image_begin,
                             .len = (size_t)(preset->image_end - preset->image_begin) };
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1024);
    struct cbx_image out;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_image_read(image, &arena, &out, &err), CBX_ETOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compiled_preset_equals_its_yaml),
        cmocka_unit_test(the_image_of_a_preset_is_the_image_of_its_yaml),
        cmocka_unit_test(an_image_of_an_image_is_the_same),
        cmocka_unit_test(a_file_that_extends_a_preset_gets_the_same_policy_either_way),
        cmocka_unit_test(refuses_an_arena_that_is_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
