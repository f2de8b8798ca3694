/* SPDX-License-Identifier: MIT
 * Two policies compared, by their canonical form: every key is a list whose entries allow, a
 * list whose entries refuse, a bound, or a name with an order. */
#include "policies/texts/diff.h"

#include "policies/base/buf.h"
#include "policies/base/text/json.h"
#include "policies/base/text/printable.h"
#include "policies/guard/guard.h"
#include "policies/load/keys.h"
#include "policies/versions/version.h"

struct diff {
    void (*tell)(void *context, const struct cbx_policy_difference *difference);
    void *context;
    struct cbx_buf text;
};

static void tell(struct diff *d, bool more)
{
    d->tell(d->context,
            &(struct cbx_policy_difference){ .more = more, .text = cbx_buf_str(&d->text) });
    cbx_buf_reset(&d->text);
}

static void add_json(struct cbx_buf *out, const json_t *value)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    if (json_is_string(value)) {
        cbx_printable_add(out, cbx_json_str(value), CBX_PRINTABLE_LINE);
    } else if (cbx_json_write(&text, value) == 0) {
        cbx_buf_add(out, cbx_buf_str(&text));
    }
}

static bool holds(const json_t *list, const json_t *item)
{
    size_t i;
    json_t *other;
    json_array_foreach(list, i, other)
    {
        if (json_equal(other, (json_t *)(uintptr_t)item) == 1) {
            return true;
        }
    }
    return false;
}

/* Writes the entries of `list` that are not in `other` as one line. `more`: an additional entry
 * allows more. `out`: selects the entries that begin with '!' (they exclude names), or the
 * others. */
static void only_in(struct diff *d, const char *what, const json_t *list, const json_t *other,
                    bool out, bool more)
{
    size_t i, count = 0;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *text = json_string_value(item);
        if (holds(other, item) || (text != NULL && text[0] == '!') != out) {
            continue;
        }
        cbx_buf_add_cstr(&d->text, count++ == 0 ? what : ",");
        cbx_buf_add_cstr(&d->text, out ? " all but " : " ");
        if (out) {
            cbx_printable_add(&d->text, cbx_str_of(text + 1), CBX_PRINTABLE_LINE);
        } else {
            add_json(&d->text, item);
        }
    }
    if (count > 0) {
        tell(d, more);
    }
}

static void compare_lists(struct diff *d, const char *what, const json_t *a, const json_t *b,
                          bool entries_allow)
{
    only_in(d, what, b, a, false, entries_allow);
    only_in(d, what, a, b, false, !entries_allow);
    only_in(d, what, b, a, true, !entries_allow);
    only_in(d, what, a, b, true, entries_allow);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const json_t *find_rule(const json_t *rules, const char *id)
{
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule)
    {
        if (strcmp(json_string_value(json_object_get(rule, "id")), id) == 0) {
            return rule;
        }
    }
    return NULL;
}

/* Returns 0 for allowed, 1 warning, 2 needs approval, 3 denied. */
static int strictness(const json_t *rule)
{
    static const char *const effects[] = { "allow", "warn", "ask", "deny" };
    const char *effect =
        rule != NULL ? json_string_value(json_object_get(rule, "effect")) : "allow";
    int i = 3;
    while (i > 0 && strcmp(effect, effects[i]) != 0) {
        i--;
    }
    return i;
}

static void compare_effects(struct diff *d, const char *id, const json_t *a, const json_t *b)
{
    static const char *const words[] = { "allowed", "warned of", "asked about", "denied" };
    int before = strictness(a), after = strictness(b);
    if (before != after) {
        cbx_buf_printf(&d->text, "rule %s: what it finds is %s instead of %s%s", id, words[after],
                       words[before],
                       a == NULL || b == NULL ? " (the other has no such rule)" : "");
        tell(d, after < before);
    }
}

/* Compares the key `guarded`: a denial becomes a warning if the guard refuses the same action. */
static void compare_guarded(struct diff *d, const char *id, const json_t *a, const json_t *b)
{
    const char *before = json_string_value(json_object_get(a, "guarded")),
               *after = json_string_value(json_object_get(b, "guarded"));
    const char *never = cbx_guarded_names[0];
    before = before != NULL ? before : never;
    after = after != NULL ? after : never;
    if (strcmp(before, after) != 0) {
        bool stricter = strcmp(after, never) == 0;
        cbx_buf_printf(&d->text, "rule %s: where the guard refuses %s its denial is %s", id,
                       stricter ? before : after, stricter ? "no warning" : "a warning");
        tell(d, !stricter);
    }
}

static void compare_matches(struct diff *d, const char *id, const json_t *a, const json_t *b)
{
    static const char *const keys[] = { "import",  "call", "reference",  "attribute",
                                        "literal", "fact", "capability", "outside" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char what[160];
        snprintf(what, sizeof(what), "rule %s, %s:", id, keys[i]);
        compare_lists(d, what, json_object_get(a, keys[i]), json_object_get(b, keys[i]),
                      strcmp(keys[i], "outside") == 0);
    }
    const char *before = json_string_value(json_object_get(a, "query")),
               *after = json_string_value(json_object_get(b, "query"));
    if ((before == NULL) != (after == NULL) || (before != NULL && strcmp(before, after) != 0)) {
        cbx_buf_printf(&d->text, "rule %s: its query is another one", id);
        tell(d, after == NULL);
    }
}

static void compare_rules(struct diff *d, const json_t *a, const json_t *b)
{
    size_t i;
    json_t *rule;
    json_array_foreach(a, i, rule)
    {
        const char *id = json_string_value(json_object_get(rule, "id"));
        const json_t *other = find_rule(b, id);
        compare_effects(d, id, rule, other);
        if (other != NULL) {
            compare_guarded(d, id, rule, other);
        }
        if (other != NULL && strictness(other) > 1) {
            char what[160];
            snprintf(what, sizeof(what), "rule %s is about:", id);
            compare_lists(d, what, json_object_get(rule, "languages"),
                          json_object_get(other, "languages"), false);
            compare_matches(d, id, json_object_get(rule, "match"), json_object_get(other, "match"));
        }
    }
    json_array_foreach(b, i, rule)
    {
        const char *id = json_string_value(json_object_get(rule, "id"));
        if (find_rule(a, id) == NULL) {
            compare_effects(d, id, NULL, rule);
        }
    }
}

/* --- the other keys --------------------------------------------------------------------------- */

static void compare_numbers(struct diff *d, const char *what, const json_t *a, const json_t *b,
                            double unit, const char *unit_name)
{
    json_int_t before = json_integer_value(a), after = json_integer_value(b);
    if (before != after) {
        cbx_buf_printf(&d->text, "limit of %s: %.6g%s instead of %.6g%s", what,
                       (double)after / unit, unit_name, (double)before / unit, unit_name);
        tell(d, after > before);
    }
}

/* `order`: the names, the strictest one first. */
static void compare_names(struct diff *d, const char *what, const json_t *a, const json_t *b,
                          const char *const *order)
{
    const char *before = json_string_value(a), *after = json_string_value(b);
    int x = 0, y = 0;
    for (int i = 0; before != NULL && after != NULL && order[i] != NULL; i++) {
        x = strcmp(before, order[i]) == 0 ? i : x;
        y = strcmp(after, order[i]) == 0 ? i : y;
    }
    if (x != y) {
        cbx_buf_printf(&d->text, "%s %s instead of %s", what, after, before);
        tell(d, y > x);
    }
}

static void compare_minimums(struct diff *d, const char *what, const json_t *a, const json_t *b,
                             bool more)
{
    const char *name;
    json_t *version;
    json_object_foreach((json_t *)(uintptr_t)a, name, version)
    {
        const json_t *other = json_object_get(b, name);
        if (other == NULL) {
            cbx_buf_printf(&d->text, "%s %s of any version, the other wants %s", what, name,
                           json_string_value(version));
            tell(d, more);
        } else if (more && json_equal(version, (json_t *)(uintptr_t)other) != 1) {
            char exactly[80];
            snprintf(exactly, sizeof(exactly), "==%s", json_string_value(other));
            cbx_buf_printf(&d->text, "%s %s from %s on instead of %s", what, name,
                           json_string_value(other), json_string_value(version));
            tell(d, cbx_version_below(cbx_str_of(exactly), cbx_str_of(json_string_value(version))));
        }
    }
}

static void compare_packages(struct diff *d, const char *manager, const json_t *a, const json_t *b)
{
    static const char *const modes[] = { "none", "allowlist", "blocklist", NULL };
    static const struct {
        const char *key, *text;
        bool allows;
    } lists[] = { { "allow", "on the allow list:", true },
                  { "block", "on the block list:", false },
                  { "block-in-sandboxes", "on the block list of sandboxes:", false },
                  { "sources", "from:", true },
                  { "indexes", "from the index:", true } };
    char what[96];
    snprintf(what, sizeof(what), "packages, %s, mode", manager);
    compare_names(d, what, json_object_get(a, "mode"), json_object_get(b, "mode"), modes);
    bool listed = cbx_str_is(cbx_json_str(json_object_get(a, "mode")), "allowlist") &&
                  cbx_str_is(cbx_json_str(json_object_get(b, "mode")), "allowlist");
    for (size_t i = listed ? 0 : 1; i < sizeof(lists) / sizeof(lists[0]); i++) {
        snprintf(what, sizeof(what), "packages, %s, %s", manager, lists[i].text);
        compare_lists(d, what, json_object_get(a, lists[i].key), json_object_get(b, lists[i].key),
                      lists[i].allows);
    }
    snprintf(what, sizeof(what), "packages, %s:", manager);
    compare_minimums(d, what, json_object_get(a, "minimum"), json_object_get(b, "minimum"), true);
    compare_minimums(d, what, json_object_get(b, "minimum"), json_object_get(a, "minimum"), false);
}

static const json_t *at(const json_t *policy, const char *section, const char *key)
{
    return json_object_get(json_object_get(policy, section), key);
}

/* Returns a new reference: ["/srv/data", "/srv/out", "/srv/out for writing"]. */
static json_t *mounts_of(const json_t *policy)
{
    json_t *texts = json_array();
    size_t i;
    const json_t *mount;
    json_array_foreach(at(policy, "mounts", "allow"), i, mount)
    {
        const json_t *host = json_object_get(mount, "host");
        json_array_append(texts, (json_t *)(uintptr_t)host);
        if (cbx_str_is(cbx_json_str(json_object_get(mount, "mode")), "rw")) {
            json_array_append_new(texts, json_sprintf("%s for writing", json_string_value(host)));
        }
    }
    return texts;
}

static void compare_mounts(struct diff *d, const json_t *a, const json_t *b)
{
    CBX_AUTO_JSON x = mounts_of(a);
    CBX_AUTO_JSON y = mounts_of(b);
    compare_lists(d, "mounts of:", x, y, true);
}

static void compare_limits(struct diff *d, const json_t *a, const json_t *b)
{
    const struct cbx_limit_row *row;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        const json_t *before = at(a, "limits", row->key), *after = at(b, "limits", row->key);
        if (row->words != NULL) {
            compare_names(d, row->title, before, after, row->words);
        } else {
            compare_numbers(d, row->title, before, after, row->divisor, row->suffix);
        }
    }
}

/* An operator's own image has other libraries than the gateway's, so it counts as more. */
static void compare_image(struct diff *d, const char *language, struct cbx_str a, struct cbx_str b)
{
    if (!cbx_str_equal(a, b)) {
        struct cbx_str named = b.len > 0 ? b : a;
        cbx_buf_printf(&d->text, "sandboxes for %s from the image '%.*s'", language,
                       CBX_STR_ARG(named));
        tell(d, b.len > 0);
    }
}

/* A setting that only allows more or less; `allows`: more than before. */
static void compare_flag(struct diff *d, const char *text, bool before, bool after, bool allows)
{
    if (before != after) {
        cbx_buf_add_cstr(&d->text, text);
        tell(d, allows);
    }
}

void cbx_policy_diff(const struct cbx_policy *a, const struct cbx_policy *b,
                     void (*to)(void *context, const struct cbx_policy_difference *difference),
                     void *context)
{
    static const char *const modes[] = { "enforce", "log-only", NULL }, *const networks[] = {
        "none", "packages-only", "egress", NULL
    };
    static const struct {
        const char *section, *key, *text;
        bool allows;
    } lists[] = { { "shell", "allow", "shell commands:", true },
                  { "mounts", "deny", "never mounted:", false },
                  { "mounts", "container", "mounts into:", true },
                  { "network", "egress", "hosts that may be reached:", true },
                  { "environment", "pass", "variables passed in:", true },
                  { "environment", "secrets", "secrets passed in:", true },
                  { "environment", "set", "variables that callers may set:", true } };
    struct diff d = { .tell = to, .context = context };
    CBX_AUTO_JSON x = cbx_policy_json(a);
    CBX_AUTO_JSON y = cbx_policy_json(b);
    cbx_buf_init(&d.text, 1 << 20);
    compare_names(&d, "mode", json_object_get(x, "mode"), json_object_get(y, "mode"), modes);
    compare_lists(&d, "languages:", json_object_get(x, "languages"),
                  json_object_get(y, "languages"), true);
    compare_rules(&d, json_object_get(x, "rules"), json_object_get(y, "rules"));
    compare_packages(&d, "pip", at(x, "packages", "pip"), at(y, "packages", "pip"));
    compare_packages(&d, "npm", at(x, "packages", "npm"), at(y, "packages", "npm"));
    compare_names(&d, "network", at(x, "network", "mode"), at(y, "network", "mode"), networks);
    compare_mounts(&d, x, y);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        compare_lists(&d, lists[i].text, at(x, lists[i].section, lists[i].key),
                      at(y, lists[i].section, lists[i].key), lists[i].allows);
    }
    for (unsigned i = 0; i < CBX_REFUSALS; i++) {
        static const char *const order[] = { "refuse", "rules", "allow", NULL };
        const char *name = cbx_refusal_row((enum cbx_refusal)i)->name;
        char what[96];
        snprintf(what, sizeof(what), "guard, %s:", name);
        compare_names(&d, what, at(x, "guard", name), at(y, "guard", name), order);
    }
    compare_flag(&d, "approvals of one's own runs", a->four_eyes, b->four_eyes, a->four_eyes);
    compare_flag(&d, "runs that go on after a refusal", a->guard.ends_run, b->guard.ends_run,
                 a->guard.ends_run);
    compare_lists(&d, "exceptions:", json_object_get(x, "exceptions"),
                  json_object_get(y, "exceptions"), true);
    compare_flag(&d, "suppressions in the source, for codebox-lint", a->inline_suppressions,
                 b->inline_suppressions, b->inline_suppressions);
    compare_image(&d, "Python", a->images.python, b->images.python);
    compare_image(&d, "JavaScript", a->images.javascript, b->images.javascript);
    compare_limits(&d, x, y);
    cbx_buf_done(&d.text);
}
