/* SPDX-License-Identifier: MIT
 * Names, bindings and their values, with a language of one-letter names: a node is a letter, and
 * its value is the value of the name. The last tests use the real Python extractor. */
#include "analyzer/lang/actuals.h"

#include "analyzer/analyze.h"
#include "tests/unit/unit.h"

struct world {
    struct cbx_arena arena;
    struct cbx_facts facts;
    struct cbx_walk walk;
};

static const struct cbx_values *eval_letter(struct cbx_walk *walk, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    struct cbx_str name =
        cbx_arena_copy(walk->arena, (struct cbx_str){ (const char[]){ (char)node->kind }, 1 });
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent) {
        const struct cbx_values *found = cbx_scope_lookup(walk, s, name);
        if (found != NULL) {
            return found;
        }
    }
    return cbx_values_bare(walk->arena, name);
}

static const struct cbx_values *eval(struct cbx_walk *walk, struct cbx_node *node,
                                     struct cbx_scope *scope)
{
    return cbx_scope_eval(walk, node, scope, eval_letter);
}

static const struct cbx_values *member(struct cbx_walk *walk, const struct cbx_values *object,
                                       struct cbx_str key)
{
    return cbx_values_member(walk->arena, object, key);
}

static void open_world(struct world *w, size_t arena_max)
{
    static struct cbx_parsed parsed;
    *w = (struct world){ 0 };
    cbx_arena_init(&w->arena, arena_max);
    w->facts.arena = &w->arena;
    w->walk = (struct cbx_walk){ .parsed = &parsed,
                                 .arena = &w->arena,
                                 .facts = &w->facts,
                                 .escaped = &cbx_values_nothing,
                                 .eval = eval,
                                 .member = member };
    w->walk.module = cbx_scope_open(&w->walk, NULL, NULL, CBX_SCOPE_MODULE);
}

static void close_world(struct world *w)
{
    cbx_arena_done(&w->arena);
}

static struct cbx_node *letter(struct world *w, char name)
{
    struct cbx_node *node = cbx_arena_alloc(&w->arena, sizeof(*node));
    node->kind = (uint8_t)name;
    return node;
}

/* left = right, in a scope. */
static struct cbx_binding *assign(struct world *w, struct cbx_scope *scope, char left, char right)
{
    return cbx_scope_bind(&w->walk, scope, scope,
                          cbx_arena_copy(&w->arena, (struct cbx_str){ (const char[]){ left }, 1 }),
                          CBX_BIND_EXPR, letter(w, right));
}

static void bind_thing(struct world *w, struct cbx_scope *scope, const char *name,
                       const char *thing)
{
    struct cbx_binding *b =
        cbx_scope_bind(&w->walk, scope, scope, cbx_str_of(name), CBX_BIND_NAME, NULL);
    b->path = cbx_str_of(thing);
}

static bool may_be(const struct cbx_values *values, const char *thing)
{
    for (uint32_t i = 0; values != NULL && i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_NAME && cbx_str_is(values->items[i]->text, thing)) {
            return true;
        }
    }
    return false;
}

static const struct cbx_values *look(struct world *w, struct cbx_scope *scope, const char *name)
{
    return cbx_scope_lookup(&w->walk, scope, cbx_str_of(name));
}

static struct cbx_scope *function(struct world *w, struct cbx_scope *parent)
{
    return cbx_scope_open(&w->walk, parent, letter(w, 'f'), CBX_SCOPE_FUNCTION);
}

static void a_name_is_everything_that_it_is_bound_to(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    bind_thing(&w, w.walk.module, "x", "os");
    bind_thing(&w, w.walk.module, "x", "sys");
    bind_thing(&w, w.walk.module, "y", "json");
    const struct cbx_values *x = look(&w, w.walk.module, "x");
    assert_true(may_be(x, "os") && may_be(x, "sys") && !may_be(x, "json"));
    assert_int_equal(x->count, 2);
    assert_null(look(&w, w.walk.module, "z"));
    close_world(&w);
}

static void scopes_are_kept_apart(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_scope *f = function(&w, w.walk.module), *g = function(&w, w.walk.module);
    bind_thing(&w, f, "x", "os");
    bind_thing(&w, g, "x", "sys");
    assert_true(may_be(look(&w, f, "x"), "os"));
    assert_false(may_be(look(&w, f, "x"), "sys"));
    assert_null(look(&w, w.walk.module, "x"));
    assert_true(may_be(eval(&w.walk, letter(&w, 'x'), g), "sys"));
    assert_true(may_be(eval(&w.walk, letter(&w, 'q'), g), "q")); /* bare: nothing binds it */
    close_world(&w);
}

static void global_binds_in_the_module(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_scope *f = function(&w, w.walk.module), *g = function(&w, f);
    bind_thing(&w, f, "x", "json");
    cbx_scope_bind(&w.walk, g, g, CBX_STR("x"), CBX_BIND_GLOBAL, NULL);
    bind_thing(&w, g, "x", "os");
    assert_true(may_be(look(&w, w.walk.module, "x"), "os"));
    assert_true(may_be(look(&w, g, "x"), "os"));
    assert_false(may_be(look(&w, f, "x"), "os"));
    close_world(&w);
}

static void nonlocal_binds_in_the_function_around_and_not_in_a_class(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_scope *f = function(&w, w.walk.module);
    struct cbx_scope *class = cbx_scope_open(&w.walk, f, letter(&w, 'c'), CBX_SCOPE_CLASS);
    struct cbx_scope *g = function(&w, class);
    bind_thing(&w, w.walk.module, "x", "sys");
    bind_thing(&w, f, "x", "json");
    bind_thing(&w, class, "x", "re");
    cbx_scope_bind(&w.walk, g, g, CBX_STR("x"), CBX_BIND_NONLOCAL, NULL);
    bind_thing(&w, g, "x", "os");
    assert_true(may_be(look(&w, f, "x"), "os"));
    assert_true(may_be(look(&w, g, "x"), "os") && may_be(look(&w, g, "x"), "json"));
    assert_false(may_be(look(&w, g, "x"), "re"));
    assert_false(may_be(look(&w, class, "x"), "os"));
    assert_false(may_be(look(&w, w.walk.module, "x"), "os"));
    close_world(&w);
}

static void a_global_that_nothing_binds_is_bare(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_scope *f = function(&w, w.walk.module);
    cbx_scope_bind(&w.walk, f, f, CBX_STR("eval"), CBX_BIND_GLOBAL, NULL);
    const struct cbx_values *values = look(&w, f, "eval");
    assert_true(may_be(values, "eval"));
    assert_int_equal(values->items[0]->number, CBX_NAME_BARE);
    close_world(&w);
}

static void a_cycle_comes_out_from_every_entry(void **state)
{
    (void)state;
    for (int entry = 0; entry < 3; entry++) {
        for (int later = 0; later < 3; later++) {
            struct world w;
            open_world(&w, 1 << 20);
            struct cbx_scope *m = w.walk.module;
            const char *names[] = { "a", "b", "c" };
            assign(&w, m, 'a', 'b');
            assign(&w, m, 'b', 'c');
            assign(&w, m, 'c', 'a');
            bind_thing(&w, m, "b", "os");
            assert_true(may_be(look(&w, m, names[entry]), "os"));
            assert_true(may_be(look(&w, m, names[later]), "os"));
            assert_true(may_be(eval(&w.walk, letter(&w, 'c'), m), "os"));
            close_world(&w);
        }
    }
}

static void a_cycle_of_nothing_ends(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    assign(&w, w.walk.module, 'a', 'b');
    assign(&w, w.walk.module, 'b', 'a');
    assign(&w, w.walk.module, 'c', 'c');
    assert_true(cbx_values_has_unknown(look(&w, w.walk.module, "a")));
    assert_true(cbx_values_has_unknown(look(&w, w.walk.module, "b")));
    assert_true(cbx_values_has_unknown(look(&w, w.walk.module, "c")));
    assert_false(w.walk.gave_up);
    close_world(&w);
}

static void a_run_binds_its_parameters_and_the_names_that_depend_on_them(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_scope *f = function(&w, w.walk.module);
    cbx_scope_bind(&w.walk, f, f, CBX_STR("p"), CBX_BIND_UNKNOWN, NULL);
    assign(&w, f, 'x', 'p');
    bind_thing(&w, w.walk.module, "g", "json");
    struct cbx_scope *one = cbx_scope_run(&w.walk, f, w.walk.module),
                     *two = cbx_scope_run(&w.walk, f, w.walk.module);
    assert_non_null(one);
    assert_non_null(two);
    cbx_scope_bind(&w.walk, one, one, CBX_STR("p"), CBX_BIND_VALUES, NULL)->values =
        cbx_values_name(&w.arena, CBX_STR("os"));
    cbx_scope_bind(&w.walk, two, two, CBX_STR("p"), CBX_BIND_VALUES, NULL)->values =
        cbx_values_name(&w.arena, CBX_STR("sys"));
    assert_true(may_be(look(&w, one, "x"), "os"));
    assert_false(may_be(look(&w, one, "x"), "sys"));
    assert_true(may_be(look(&w, two, "x"), "sys"));
    assert_true(cbx_values_has_unknown(look(&w, f, "x"))); /* outside of a run it is anything */
    assert_true(may_be(eval(&w.walk, letter(&w, 'g'), one), "json"));
    close_world(&w);
}

static void runs_of_one_function_are_capped(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 22);
    struct cbx_scope *f = function(&w, w.walk.module);
    uint32_t runs = 0;
    while (runs < 100000 && cbx_scope_run(&w.walk, f, w.walk.module) != NULL) {
        runs++;
    }
    assert_in_range(runs, 1, 1000);
    struct cbx_scope *g = function(&w, w.walk.module);
    assert_non_null(cbx_scope_run(&w.walk, g, w.walk.module)); /* others have their own */
    close_world(&w);
}

static void runs_of_all_are_capped(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 24);
    uint32_t runs = 0;
    while (runs < 100000 &&
           cbx_scope_run(&w.walk, function(&w, w.walk.module), w.walk.module) != NULL) {
        runs++;
    }
    assert_in_range(runs, 1000, 50000);
    w.walk.runs = 0;
    w.walk.run_depth = 1000;
    assert_null(cbx_scope_run(&w.walk, function(&w, w.walk.module), w.walk.module));
    close_world(&w);
}

static void too_many_bindings_of_one_name_are_anything(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 22);
    for (int i = 0; i < 5000; i++) {
        bind_thing(&w, w.walk.module, "x",
                   CBX_JOIN(&w.arena, CBX_STR("module"), cbx_arena_number(&w.arena, i),
                            CBX_STR(".function"))
                       .p);
    }
    const struct cbx_values *values = look(&w, w.walk.module, "x");
    assert_true(cbx_values_has_unknown(values) && cbx_values_has_more(values));
    assert_true(values->count <= CBX_VALUES_MAX);
    close_world(&w);
}

static void a_value_that_is_too_deep_is_unknown_and_reported(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 24);
    w.walk.depth = 100000;
    assert_true(cbx_values_has_unknown(eval(&w.walk, letter(&w, 'x'), w.walk.module)));
    assert_true(w.walk.gave_up);
    cbx_walk_end(&w.walk);
    assert_int_equal(w.facts.count, 1);
    assert_int_equal(w.facts.items[0].special, CBX_FACT_TOO_COMPLEX);
    close_world(&w);
}

static void too_many_steps_give_an_unknown_value_and_are_reported(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    w.walk.steps = UINT32_MAX - 1;
    assert_true(cbx_values_has_unknown(eval(&w.walk, letter(&w, 'x'), w.walk.module)));
    assert_true(w.walk.gave_up);
    close_world(&w);
}

static void an_exhausted_arena_binds_nothing_and_ends(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 16);
    bind_thing(&w, w.walk.module, "x", "os");
    struct cbx_binding *b = &(struct cbx_binding){ 0 };
    for (int i = 0; i < 100000 && b != NULL; i++) {
        b = cbx_scope_bind(&w.walk, w.walk.module, w.walk.module, CBX_STR("y"), CBX_BIND_UNKNOWN,
                           NULL);
    }
    assert_null(b);
    assert_ptr_equal(cbx_scope_open(&w.walk, w.walk.module, NULL, CBX_SCOPE_FUNCTION),
                     w.walk.module);
    assert_non_null(look(&w, w.walk.module, "x"));
    close_world(&w);
}

static void arguments_are_found_by_position_and_keyword(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_actuals actuals = { 0 }, shifted;
    const struct cbx_values *os = cbx_values_name(&w.arena, CBX_STR("os"));
    cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, letter(&w, 'x'), w.walk.module, NULL);
    cbx_actuals_add(&actuals, CBX_STR("m"), NULL, NULL, os);
    cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, letter(&w, 'y'), w.walk.module, NULL);
    assert_true(may_be(cbx_actual_values(&w.walk, &actuals, 0, NULL), "x"));
    assert_true(may_be(cbx_actual_values(&w.walk, &actuals, 1, NULL), "y"));
    assert_true(may_be(cbx_actual_values(&w.walk, &actuals, 9, "m"), "os"));
    assert_null(cbx_actual_find(&actuals, 2, "n"));
    assert_true(cbx_values_has_unknown(cbx_actual_values(&w.walk, &actuals, 2, "n")));
    cbx_actuals_shift(&actuals, 1, os, &shifted);
    assert_true(may_be(cbx_actual_values(&w.walk, &shifted, 0, NULL), "os"));
    assert_true(may_be(cbx_actual_values(&w.walk, &shifted, 1, NULL), "y"));
    assert_non_null(cbx_actual_find(&shifted, 9, "m"));
    close_world(&w);
}

static void arguments_beyond_the_cap_are_a_spread(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    struct cbx_actuals actuals = { 0 };
    for (int i = 0; i < CBX_ACTUALS_MAX; i++) {
        cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, letter(&w, 'x'), w.walk.module, NULL);
    }
    assert_false(actuals.spread);
    struct cbx_actuals shifted;
    cbx_actuals_shift(&actuals, 0, &cbx_values_unknown, &shifted);
    assert_true(shifted.spread);
    assert_int_equal(shifted.count, CBX_ACTUALS_MAX);
    cbx_actuals_add(&actuals, CBX_STR("k"), letter(&w, 'x'), w.walk.module, NULL);
    assert_true(actuals.spread);
    assert_int_equal(actuals.count, CBX_ACTUALS_MAX);
    close_world(&w);
}

static void results_are_joined_and_what_is_yielded_is_a_member(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    bind_thing(&w, w.walk.module, "x", "os");
    struct cbx_scope *f = function(&w, w.walk.module), *g = function(&w, w.walk.module);
    assert_int_equal(cbx_scope_returns(&w.walk, f)->count, 0);
    cbx_scope_return(&w.walk, f, letter(&w, 'x'), CBX_RETURNS);
    cbx_scope_return(&w.walk, f, letter(&w, 'y'), CBX_RETURNS);
    cbx_scope_return(&w.walk, f, NULL, CBX_RETURNS);
    const struct cbx_values *values = cbx_scope_returns(&w.walk, f);
    assert_true(may_be(values, "os") && may_be(values, "y"));
    cbx_scope_return(&w.walk, g, letter(&w, 'x'), CBX_YIELDS);
    values = cbx_scope_returns(&w.walk, g);
    assert_false(may_be(values, "os"));
    assert_true(may_be(cbx_values_members(&w.arena, values), "os"));
    close_world(&w);
}

static void paths_lead_into_what_is_bound(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20);
    const struct cbx_values *members[] = { cbx_values_name(&w.arena, CBX_STR("sys")),
                                           cbx_values_name(&w.arena, CBX_STR("os")) };
    const struct cbx_values *outer[] = { cbx_values_list(&w.arena, members, 2) };
    struct cbx_binding *x =
        cbx_scope_bind(&w.walk, w.walk.module, w.walk.module, CBX_STR("x"), CBX_BIND_VALUES, NULL);
    x->values = cbx_values_list(&w.arena, outer, 1);
    assign(&w, w.walk.module, 'a', 'x')->path = CBX_STR("0\x1f"
                                                        "1");
    assign(&w, w.walk.module, 'b', 'x')->each = true;
    assert_true(may_be(look(&w, w.walk.module, "a"), "os"));
    assert_false(may_be(look(&w, w.walk.module, "a"), "sys"));
    assert_int_equal(look(&w, w.walk.module, "b")->items[0]->kind, CBX_V_LIST);
    close_world(&w);
}

/* --- the same in Python ----------------------------------------------------------------------- */

static enum cbx_verdict judge(const char *source)
{
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(arena) arena;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cbx_str_of(source), .language = CBX_STR("python") };
    struct cbx_decision decision;
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    return decision.verdict;
}

static void python_resolves_cycles_from_every_entry(void **state)
{
    (void)state;
    static const char *const cycles[] = {
        "a = b\nb = a\nb = os\n",
        "b = os\na = b\nb = a\n",
        "b = a\na = b\na = os\n",
        "a, b = b, a\nb = os\n",
        "def f(): return g()\ndef g(): return f() or os\na = b = f()\na = g()\n",
        "class C:\n    def f(self): self.x = self.y\n    def g(self): self.y = self.x\n    def "
        "h(self): "
        "self.y = os\na = b = C().x\n",
        "for a in [b]: b = a\nb = os\n",
        "a = [b]\nb = a[0]\na.append(os)\na = b\n",
        "a = lambda: b()\nb = lambda: a() or os\na = b = a()\n",
    };
    for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
        for (int entry = 0; entry < 2; entry++) {
            for (int first = 0; first < 2; first++) {
                char source[512];
                const char *call = entry == 0 ? "a.system('id')\n" : "b.system('id')\n";
                snprintf(source, sizeof(source), "import os\n%s%s%s", first ? call : "", cycles[i],
                         first ? "" : call);
                if (judge(source) != CBX_DENY) {
                    fail_msg("allowed: %s", source);
                }
            }
        }
    }
}

static void python_keeps_ordinary_names_apart(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "import os\nm = 1\ndef f():\n    m = os\n    return m.getcwd()\nprint(m.real, f())\n",
        "import os\nclass A:\n    m = os.getcwd\nclass B:\n    m = 1\nprint(A.m(), B.m)\n",
        "a = b\nb = a\nc = c\nprint(a, c)\n",
        "def f(n):\n    return f(n - 1) if n else g(n)\ndef g(n):\n    return f(n)\nprint(f(3))\n",
    };
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (judge(sources[i]) != CBX_ALLOW) {
            fail_msg("denied: %s", sources[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_everything_that_it_is_bound_to),
        cmocka_unit_test(scopes_are_kept_apart),
        cmocka_unit_test(global_binds_in_the_module),
        cmocka_unit_test(nonlocal_binds_in_the_function_around_and_not_in_a_class),
        cmocka_unit_test(a_global_that_nothing_binds_is_bare),
        cmocka_unit_test(a_cycle_comes_out_from_every_entry),
        cmocka_unit_test(a_cycle_of_nothing_ends),
        cmocka_unit_test(a_run_binds_its_parameters_and_the_names_that_depend_on_them),
        cmocka_unit_test(runs_of_one_function_are_capped),
        cmocka_unit_test(runs_of_all_are_capped),
        cmocka_unit_test(too_many_bindings_of_one_name_are_anything),
        cmocka_unit_test(a_value_that_is_too_deep_is_unknown_and_reported),
        cmocka_unit_test(too_many_steps_give_an_unknown_value_and_are_reported),
        cmocka_unit_test(an_exhausted_arena_binds_nothing_and_ends),
        cmocka_unit_test(arguments_are_found_by_position_and_keyword),
        cmocka_unit_test(arguments_beyond_the_cap_are_a_spread),
        cmocka_unit_test(results_are_joined_and_what_is_yielded_is_a_member),
        cmocka_unit_test(paths_lead_into_what_is_bound),
        cmocka_unit_test(python_resolves_cycles_from_every_entry),
        cmocka_unit_test(python_keeps_ordinary_names_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
