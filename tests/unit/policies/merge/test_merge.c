/* SPDX-License-Identifier: MIT
 * The property of extending: for all policies, a child without `override` never allows an action
 * that a policy that it extends, at any distance, denies. The policies come from a generator with a
 * fixed seed; the test compares each policy alone with the resolved child. */
#include "policies/egress.h"
#include "policies/load/keys.h"
#include "policies/mounts.h"
#include "policies/versions/version.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/codebox-test-merge-XXXXXX";
static uint64_t state_of_random;

static unsigned pick(unsigned count)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_random >> 33) % count;
}

/* --- policies --------------------------------------------------------------------------------- */

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const char *pick_word(const char *const *words)
{
    unsigned count = 0;
    while (words[count] != NULL) {
        count++;
    }
    return words[pick(count)];
}

/* "key: [some, of, the, words], " or nothing. */
static void add_list(struct cbx_buf *out, const char *key, const char *const *words)
{
    if (pick(3) == 0) {
        return;
    }
    bool any = false;
    cbx_buf_printf(out, "%s: [", key);
    for (size_t i = 0; words[i] != NULL; i++) {
        if (pick(2) == 0) {
            cbx_buf_printf(out, "%s%s", any ? ", " : "", words[i]);
            any = true;
        }
    }
    cbx_buf_add_cstr(out, "], ");
}

static void add_choice(struct cbx_buf *out, const char *key, const char *const *words)
{
    if (pick(3) > 0) {
        cbx_buf_printf(out, "%s: %s, ", key, pick_word(words));
    }
}

static const char *const programs[] = { "ls", "cat", "rm", "\"*\"", NULL };
static const char *const packages[] = { "numpy", "pandas", "\"p*\"", "\"*\"", "requests", NULL };
static const char *const versions[] = { "1.0.0", "1.9.0", "1.22.0", "2.0.0", NULL };
static const char *const sources[] = { "index", "url", "vcs", NULL };
static const char *const indexes[] = { "default", "\"https://a.org\"", "\"*\"", NULL };
static const char *const hosts[] = { "a.org", "\"*.a.org\"", "x.a.org", "\"x.a.org:443\"", NULL };
static const char *const folders[] = { "/srv", "/srv/a", "/data", NULL };
static const char *const variables[] = { "TZ", "STAGE", "\"S*\"", NULL };
static const char *const secrets[] = { "A", "B", "{name: C, file: /x}", NULL };

static void add_packages(struct cbx_buf *out, const char *manager)
{
    cbx_buf_printf(out, "%s: {", manager);
    add_choice(out, "mode", WORDS("none", "allowlist", "blocklist"));
    add_list(out, "allow", packages);
    add_list(out, "block", packages);
    add_list(out, "block-in-sandboxes", packages);
    if (pick(2) == 0) {
        cbx_buf_printf(out, "minimum: {numpy: %s, %s: %s}, ", pick_word(versions),
                       pick_word(WORDS("pandas", "requests")), pick_word(versions));
    }
    add_list(out, "sources", sources);
    add_list(out, "indexes", indexes);
    add_choice(out, "transitive", WORDS("true", "false"));
    cbx_buf_add_cstr(out, "}, ");
}

static void add_network(struct cbx_buf *out)
{
    unsigned kind = pick(5);
    if (kind == 0) {
        cbx_buf_printf(out, "network: %s\n", pick_word(WORDS("none", "packages-only")));
    } else if (kind < 4) {
        cbx_buf_printf(out, "network: {egress: [%s, %s]}\n", pick_word(hosts), pick_word(hosts));
    }
}

static void add_limits(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "limits: {");
    add_choice(out, "wall", WORDS("1s", "10s", "1h"));
    add_choice(out, "memory", WORDS("64MiB", "1GiB"));
    add_choice(out, "pids", WORDS("8", "100"));
    add_choice(out, "isolation", WORDS("gvisor", "container"));
    cbx_buf_add_cstr(out, "}\n");
}

static void add_mounts(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "mounts: {");
    if (pick(2) == 0) {
        cbx_buf_printf(out, "allow: [{host: %s, mode: %s}, {host: %s, mode: %s}], ",
                       pick_word(folders), pick_word(WORDS("ro", "rw")), pick_word(folders),
                       pick_word(WORDS("ro", "rw")));
    }
    add_list(out, "deny", folders);
    add_list(out, "container", WORDS("/data", "/mnt", "\"*\""));
    cbx_buf_add_cstr(out, "}\n");
}

static void add_rules(struct cbx_buf *out)
{
    static const char *const modules[] = { "os", "re", "io" };
    cbx_buf_add_cstr(out, "rules: [");
    for (size_t i = 0; i < 3; i++) {
        if (pick(2) == 0) {
            cbx_buf_printf(out, "{id: %s, match: {import: %s}, effect: %s, languages: [%s]}, ",
                           modules[i], modules[i], pick_word(WORDS("deny", "ask", "warn", "allow")),
                           pick_word(WORDS("python", "python, shell", "shell")));
        }
    }
    cbx_buf_add_cstr(out, "]\n");
}

/* The keys of a policy, each now and then. */
static void add_policy(struct cbx_buf *out)
{
    if (pick(2) == 0) {
        cbx_buf_printf(out, "languages: [%s]\n",
                       pick_word(WORDS("python", "python, shell", "shell, javascript")));
    }
    if (pick(2) == 0) {
        cbx_buf_add_cstr(out, "shell: {");
        add_list(out, "allow", programs);
        cbx_buf_add_cstr(out, "}\n");
    }
    cbx_buf_add_cstr(out, "packages: {");
    add_packages(out, "pip");
    add_packages(out, "npm");
    cbx_buf_add_cstr(out, "}\n");
    add_mounts(out);
    add_limits(out);
    add_network(out);
    cbx_buf_add_cstr(out, "environment: {");
    add_list(out, "pass", WORDS("TZ", "LANG"));
    add_list(out, "set", variables);
    add_list(out, "secrets", secrets);
    cbx_buf_add_cstr(out, "}\nguard: {");
    add_choice(out, "start-process", WORDS("rules", "refuse", "allow"));
    add_choice(out, "socket", WORDS("rules", "refuse", "allow"));
    add_choice(out, "ends-run", WORDS("true", "false"));
    cbx_buf_add_cstr(out, "}\n");
    if (pick(2) == 0) {
        cbx_buf_printf(out, "suppressions: {inline: %s}\n", pick_word(WORDS("true", "false")));
    }
    add_rules(out);
}

static void write_policy(const char *name, const char *extends, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s.yaml", folder, name);
    CBX_AUTO_FILE file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "version: 1\nname: %s\n%s%s", name, extends, text);
}

static int load_policy(const char *name, struct cbx_policy **out, struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s.yaml", folder, name);
    *err = (struct cbx_err){ 0 };
    return cbx_policy_load(path, out, err);
}

/* --- denials of a policy ---------------------------------------------------------------------- */

static bool has(const struct cbx_strs *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_is(list->items[i], item)) {
            return true;
        }
    }
    return false;
}

static bool has_glob(const struct cbx_strs *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_glob(list->items[i], cbx_str_of(item))) {
            return true;
        }
    }
    return false;
}

/* The policy alone set the section's key. */
#define GIVEN(section, member, key) cbx_draft_has(&cbx_section_##section, &draft->member.head, key)

static bool denies_version(const struct cbx_packages *p, const char *name, const char *version)
{
    for (size_t i = 0; i < p->minimum_count; i++) {
        bool ok = true;
        if (cbx_str_is(p->minimum[i].name, name) &&
            cbx_version_compare(cbx_str_of(version), p->minimum[i].version, &ok) < 0) {
            return true;
        }
    }
    return false;
}

/* 1 denied, 0 allowed, for each question; `silent` for a policy that does not answer it. */
static const char *find_package(const struct cbx_draft_packages *alone,
                                const struct cbx_packages *child)
{
    const struct cbx_draft_head *head = &alone->head;
    const struct cbx_section *section = &cbx_section_packages_of;
    const struct cbx_packages *p = &alone->v;
    static const char *const names[] = { "numpy", "pandas", "requests", "pip", "x" };
    bool mode = cbx_draft_has(section, head, "mode");
    for (size_t i = 0; i < 5; i++) {
        bool open = child->mode == CBX_PACKAGES_BLOCKLIST ||
                    (child->mode == CBX_PACKAGES_ALLOWLIST && has_glob(&child->allow, names[i]));
        open &= !has_glob(&child->block, names[i]);
        bool in_sandboxes = open && !has_glob(&child->block_in_sandboxes, names[i]);
        bool refused =
            mode && (p->mode == CBX_PACKAGES_NONE ||
                     (p->mode == CBX_PACKAGES_ALLOWLIST && !has_glob(&p->allow, names[i])));
        if (open && (refused || has_glob(&p->block, names[i]))) {
            return names[i];
        }
        if (in_sandboxes && has_glob(&p->block_in_sandboxes, names[i])) {
            return "a package in sandboxes";
        }
        for (size_t v = 0; open && versions[v] != NULL; v++) {
            if (denies_version(p, names[i], versions[v]) &&
                !denies_version(child, names[i], versions[v])) {
                return "a version";
            }
        }
    }
    for (size_t i = 0; cbx_draft_has(section, head, "sources") && sources[i] != NULL; i++) {
        if (has(&child->sources, sources[i]) && !has(&p->sources, sources[i])) {
            return "a source";
        }
    }
    for (size_t i = 0; cbx_draft_has(section, head, "indexes") && i < child->indexes.count; i++) {
        if (!has(&p->indexes, child->indexes.items[i].p)) {
            return "an index";
        }
    }
    return p->transitive && !child->transitive ? "transitive" : NULL;
}

static const char *find_mount(const struct cbx_draft_mounts *alone, const struct cbx_mounts *child)
{
    static const char *const requests[] = { "/srv:/data/x:ro",  "/srv:/data/x:rw",
                                            "/srv/a:/mnt/x:rw", "/srv/a/b:/mnt/x:ro",
                                            "/data:/mnt/x:rw",  "/data:/data/x:ro" };
    struct cbx_mounts own = alone->v;
    struct cbx_str everywhere[] = { CBX_STR("/data"), CBX_STR("/mnt") };
    struct cbx_mount_rule anything[] = { { CBX_STR("/srv"), true }, { CBX_STR("/data"), true } };
    if (!cbx_draft_has(&cbx_section_mounts, &alone->head, "container")) {
        own.container = (struct cbx_strs){ everywhere, 2 };
    }
    if (!cbx_draft_has(&cbx_section_mounts, &alone->head, "allow")) {
        own.allow = anything;
        own.allow_count = 2;
    }
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct cbx_mount_request request;
        char why[CBX_MOUNT_WHY_MAX];
        assert_int_equal(cbx_mount_parse(cbx_str_of(requests[i]), &request, NULL), 0);
        if (cbx_mount_allowed(child, &request, why) && !cbx_mount_allowed(&own, &request, why)) {
            return requests[i];
        }
    }
    return NULL;
}

static const char *find_limit(const struct cbx_draft_limits *alone, const struct cbx_limits *child)
{
    for (size_t i = 0; i < cbx_section_limits.key_count; i++) {
        const struct cbx_key *key = &cbx_section_limits.keys[i];
        if (key->type != CBX_KEY_BOOL && (alone->head.given >> i & 1) != 0) {
            size_t within = key->offset - offsetof(struct cbx_draft_limits, v);
            int64_t own, resolved;
            memcpy(&own, (const char *)&alone->v + within, sizeof(own));
            memcpy(&resolved, (const char *)child + within, sizeof(resolved));
            if (resolved > own) {
                return key->name;
            }
        }
    }
    return NULL;
}

static const char *find_host(const struct cbx_draft *alone, const struct cbx_policy *child)
{
    static const char *const names[] = { "a.org", "x.a.org", "y.a.org", "b.org" };
    if (!cbx_draft_has(&cbx_section_policy, &alone->head, "network")) {
        return NULL;
    }
    for (size_t i = 0; i < 8; i++) {
        struct cbx_str name = cbx_str_of(names[i / 2]);
        uint16_t port = i % 2 == 0 ? 80 : 443;
        if (cbx_egress_grants(&child->egress, name, port) &&
            !cbx_egress_grants(&alone->network.egress, name, port)) {
            return names[i / 2];
        }
    }
    return child->network > alone->network.mode ? "the network" : NULL;
}

static const char *find_variable(const struct cbx_draft_environment *alone,
                                 const struct cbx_policy *child)
{
    const struct cbx_section *section = &cbx_section_environment;
    static const char *const names[] = { "TZ", "LANG", "STAGE", "SX" };
    for (size_t i = 0; i < 4; i++) {
        if (cbx_draft_has(section, &alone->head, "pass") &&
            has(&child->environment_pass, names[i]) && !has(&alone->pass, names[i])) {
            return names[i];
        }
        if (cbx_draft_has(section, &alone->head, "set") &&
            has_glob(&child->environment_set, names[i]) && !has_glob(&alone->set, names[i])) {
            return names[i];
        }
    }
    for (size_t i = 0; cbx_draft_has(section, &alone->head, "secrets") && i < child->secret_count;
         i++) {
        bool known = false;
        for (size_t k = 0; k < alone->secret_count; k++) {
            known |= cbx_str_equal(alone->secrets[k].name, child->secrets[i].name) &&
                     cbx_str_equal(alone->secrets[k].file, child->secrets[i].file);
        }
        if (!known) {
            return "a secret";
        }
    }
    return NULL;
}

static const char *find_rule(const struct cbx_draft *alone, const struct cbx_policy *child)
{
    for (size_t i = 0; i < alone->rule_count; i++) {
        const struct cbx_rule *own = &alone->rules[i].v, *rule = cbx_policy_rule(child, own->id);
        if (rule == NULL || rule->effect > own->effect ||
            (own->languages & ~rule->languages) != 0) {
            return "a rule";
        }
    }
    return NULL;
}

static const char *find_guard(const struct cbx_draft *draft, const struct cbx_policy *child)
{
    static const int strictness[] = { 1, 2, 0 }; /* rules, refuse, allow */
    static const struct {
        const char *name;
        enum cbx_refusal id;
    } keys[] = { { "start-process", CBX_REFUSE_START }, { "socket", CBX_REFUSE_SOCKET } };
    for (size_t i = 0; i < 2; i++) {
        if (GIVEN(guard, guard, keys[i].name) &&
            strictness[child->guard.of[keys[i].id]] < strictness[draft->guard.v.of[keys[i].id]]) {
            return keys[i].name;
        }
    }
    return draft->guard.v.ends_run && !child->guard.ends_run ? "ends-run" : NULL;
}

/* Returns an action that this policy alone denies and the child allows; NULL if there is none. */
static const char *find_widened(const struct cbx_draft *draft, const struct cbx_policy *child)
{
    for (size_t i = 0; GIVEN(shell, shell, "allow") && i < child->shell_allow.count; i++) {
        if (!has(&draft->shell.allow, child->shell_allow.items[i].p)) {
            return "a program";
        }
    }
    if (cbx_draft_has(&cbx_section_policy, &draft->head, "languages") &&
        (child->languages & ~draft->languages) != 0) {
        return "a language";
    }
    if (GIVEN(suppressions, suppressions, "inline") && !draft->suppressions.in_source &&
        child->inline_suppressions) {
        return "suppressions";
    }
    const char *found[] = { find_package(&draft->packages.pip, &child->pip),
                            find_package(&draft->packages.npm, &child->npm),
                            find_mount(&draft->mounts, &child->mounts),
                            find_limit(&draft->limits, &child->limits),
                            find_host(draft, child),
                            find_variable(&draft->environment, child),
                            find_rule(draft, child),
                            find_guard(draft, child) };
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        if (found[i] != NULL) {
            return found[i];
        }
    }
    return NULL;
}

/* --- the property ------------------------------------------------------------------------------- */

enum { PARENTS = 3, TEXT_BYTES = 16384 };

/* The verdicts of one policy alone. */
static void bind_alone(const char *text, struct cbx_arena *arena, struct cbx_draft *out)
{
    CBX_AUTO_DONE(buf) whole;
    struct cbx_yaml *root;
    struct cbx_err err = { 0 };
    cbx_buf_init(&whole, TEXT_BYTES);
    cbx_buf_printf(&whole, "version: 1\nname: x\n%s", text);
    if (cbx_yaml_parse(cbx_arena_copy(arena, cbx_buf_str(&whole)), CBX_POLICY_DEPTH_MAX, arena,
                       &root, &err) != 0 ||
        cbx_draft_bind(root, arena, out, &err) != 0) {
        fail_msg("%s for:\n%s", err.text, text);
    }
}

/* Creates a child of one to three policies, the second of which may extend the first. Returns false
 * if it is refused. */
static bool check_one(uint64_t seed, bool empty_child)
{
    static const char *const names[] = { "a", "b", "c" };
    CBX_AUTO_DONE(arena) arena;
    CBX_AUTO(policy) child = NULL;
    struct cbx_buf texts[PARENTS + 1];
    struct cbx_draft alone[PARENTS] = { 0 };
    struct cbx_err err;
    state_of_random = seed * 2654435761u + 1;
    cbx_arena_init(&arena, 64 * 1024 * 1024);
    unsigned parents = 1 + pick(PARENTS);
    bool chain = parents > 1 && pick(3) == 0;
    for (unsigned i = 0; i <= PARENTS; i++) {
        cbx_buf_init(&texts[i], TEXT_BYTES);
        if (i < parents || (i == PARENTS && !empty_child)) {
            add_policy(&texts[i]);
        }
        if (i < parents) {
            write_policy(names[i], chain && i == 1 ? "extends: [a.yaml]\n" : "", texts[i].p);
            bind_alone(texts[i].p, &arena, &alone[i]);
        }
    }
    static const char *const extends[2][PARENTS] = {
        { "extends: [a.yaml]\n", "extends: [a.yaml, b.yaml]\n",
          "extends: [a.yaml, b.yaml, c.yaml]\n" },
        { "", "extends: [b.yaml]\n", "extends: [b.yaml, c.yaml]\n" },
    };
    write_policy("child", extends[chain][parents - 1], texts[PARENTS].p);
    bool loaded = load_policy("child", &child, &err) == 0;
    for (unsigned i = 0; loaded && i < parents; i++) {
        const char *widened = find_widened(&alone[i], child);
        if (widened != NULL) {
            fail_msg("seed %u: '%s' is denied by '%s' and allowed by the child\n--- a\n%s--- b\n%s"
                     "--- c\n%s--- child (chain %d)\n%s",
                     (unsigned)seed, widened, names[i], texts[0].p, texts[1].p, texts[2].p, chain,
                     texts[PARENTS].p);
        }
    }
    if (!loaded && strstr(err.text, "override: true") == NULL &&
        strstr(err.text, "extended beside") == NULL) {
        fail_msg("seed %u: %s", (unsigned)seed, err.text);
    }
    for (unsigned i = 0; i <= PARENTS; i++) {
        cbx_buf_done(&texts[i]);
    }
    return loaded;
}

static void no_child_allows_what_a_policy_that_it_extends_denies(void **state)
{
    (void)state;
    size_t loaded = 0, refused = 0;
    for (uint64_t seed = 0; seed < 6000; seed++) {
        bool one = check_one(seed, seed % 2 == 0);
        loaded += one;
        refused += !one;
    }
    assert_true(loaded > 1000 && refused > 1000); /* both kinds were tried */
}

static void of_two_parents_none_undoes_the_other(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *child; /* the child must be refused */
    } cases[] = {
        { "packages: {pip: {mode: allowlist, allow: [a], transitive: true}}\n",
          "packages: {pip: {transitive: false}}\n", "packages: {pip: {allow: [a, b]}}\n" },
        { "packages: {pip: {transitive: true}}\n",
          "packages: {pip: {mode: allowlist, allow: [a], transitive: false}}\n",
          "packages: {pip: {allow: [a, b]}}\n" },
        { "packages: {pip: {mode: allowlist}}\n", "packages: {pip: {mode: blocklist}}\n",
          "packages: {pip: {allow: [a]}}\n" },
        { "shell: {allow: [ls]}\n", "shell: {override: true, allow: [ls, rm]}\n",
          "shell: {allow: [ls, rm]}\n" },
        { "shell: {allow: [\"*\"]}\n", "shell: {allow: [\"*\"]}\n", "shell: {allow: [rm]}\n" },
        { "limits: {wall: 1s}\n", "limits: {override: true, wall: 9s}\n", "limits: {wall: 9s}\n" },
        { "mounts: {allow: [{host: /a}]}\n", "mounts: {override: true, allow: [{host: /b}]}\n",
          "mounts: {allow: [{host: /b}]}\n" },
    };
    for (size_t i = 0; i < 2 * (sizeof(cases) / sizeof(cases[0])); i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err;
        write_policy("a", "", cases[i / 2].first);
        write_policy("b", "", cases[i / 2].second);
        write_policy("child",
                     i % 2 == 0 ? "extends: [a.yaml, b.yaml]\n" : "extends: [b.yaml, a.yaml]\n",
                     cases[i / 2].child);
        if (load_policy("child", &policy, &err) != CBX_EPOLICY ||
            strstr(err.text, "override: true") == NULL) {
            fail_msg("case %zu is not refused: %s", i / 2, err.text);
        }
    }
}

/* Each key that is given in a section that has `override` has a rule of merging. */
static void every_key_has_a_rule(void **state)
{
    (void)state;
    static const struct cbx_section *const sections[] = {
#define CBX_SECTION(section, type, has_head) has_head ? &cbx_section_##section : NULL,
#define CBX_KEY(section, name, type, member, lo, hi, more, merge, laxer, help)
#define CBX_SECTION_END(section)
#include "policies/load/keys.def"
#undef CBX_SECTION
#undef CBX_KEY
#undef CBX_SECTION_END
    };
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        for (size_t k = 0; sections[i] != NULL && k < sections[i]->key_count; k++) {
            const struct cbx_key *key = &sections[i]->keys[k];
            if ((key->merge == CBX_MERGE_NONE) != (strcmp(key->name, "override") == 0)) {
                fail_msg("%s.%s", sections[i]->name, key->name);
            }
        }
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c", "child" };
    for (size_t i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s.yaml", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_child_allows_what_a_policy_that_it_extends_denies),
        cmocka_unit_test(of_two_parents_none_undoes_the_other),
        cmocka_unit_test(every_key_has_a_rule),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
