/* SPDX-License-Identifier: MIT
 * Policies that load: the normative example, extending, identity, defaults. */
#include "policies/base/buf.h"
#include "policies/policy.h"
#include "tests/unit/unit.h"

#define HEAD "version: 1\nname: x\n"

/* DESIGN.md section 4, with the list of `block` written out. */
static const char normative[] =
    "version: 1\n"
    "name: data-analysis\n"
    "description: Notebook-style data work. No processes, no sockets, no native code.\n"
    "extends: [baseline]\n"
    "languages: [python, javascript, shell]\n"
    "\n"
    "rules:\n"
    "  - id: py.process\n"
    "    languages: [python]\n"
    "    match:\n"
    "      import: [subprocess, pty, multiprocessing, \"_posixsubprocess\"]   # a name covers its "
    "submodules\n"
    "      call: [os.system, os.popen, \"os.exec*\", \"os.spawn*\", os.fork, "
    "asyncio.create_subprocess_exec]\n"
    "    effect: deny                     # deny > ask > warn > allow\n"
    "    severity: high                   # critical high medium low\n"
    "    message: Starting other programs is not allowed here.\n"
    "    hint: Use Python libraries; files in the working directory can be read with open().\n"
    "    references: [CWE-78, \"ATT&CK T1059.006\"]\n"
    "    tests:                           # run by `codebox policy test`; a preset's rule without "
    "tests fails the check\n"
    "      deny: [\"import subprocess as s\", \"__import__('o'+'s').system('id')\"]\n"
    "      allow: [\"import os\\nprint(os.getcwd())\"]\n"
    "  - id: py.open-write\n"
    "    match: {call: [{name: open, where: [{arg: [1, mode], matches: \"*[wax+]*\"}, {arg: 0, "
    "outside: [\"/workspace/**\", \"/tmp/**\"]}]}]}\n"
    "    effect: deny\n"
    "  - id: py.dynamic\n"
    "    match: {fact: [unresolved-call-target, computed-attribute, dynamic-import, dynamic-code, "
    "dunder-walk]}\n"
    "    effect: deny\n"
    "  - id: custom.query                 # any tree-sitter query, for what the tables cannot say\n"
    "    languages: [javascript]\n"
    "    match: {query: \"(with_statement) @here\"}\n"
    "    effect: warn\n"
    "\n"
    "shell: {allow: [pip, ls, head, wc]}             # command words; pipes, substitutions, "
    "redirects analysed too\n"
    "packages:\n"
    "  pip: {mode: blocklist, block: [paramiko, scapy], allow: [], minimum: {numpy: 1.22.2, "
    "pillow: 9.0.0},\n"
    "        sources: [index], indexes: [default], transitive: true}\n"
    "  npm: {mode: allowlist, allow: [lodash, \"@types/*\"]}\n"
    "mounts:\n"
    "  allow: [{host: /srv/data, mode: ro}]\n"
    "  deny:  [/, /etc, /root, /home, /proc, /sys, /dev, /boot, /run, /var/run, \"**/.ssh\", "
    "\"**/.aws\", \"**/docker.sock\"]\n"
    "  container: [/data, /mnt]\n"
    "limits: {wall: 60s, cpu: 1.0, memory: 512MiB, pids: 64, disk: 64MiB, output: 1MiB, files: "
    "16MiB, source: 1MiB}\n"
    "network: none                                    # none | packages-only | {egress: [host "
    "patterns]}\n"
    "environment: {pass: [TZ], secrets: [OPENAI_API_KEY]}   # secrets are redacted from output and "
    "log\n"
    "exceptions:\n"
    "  - {rule: py.process, principal: ci-bot, until: 2027-01-31, reason: \"build images, ticket "
    "SEC-411\"}\n";

static struct cbx_policy *load_text(const char *text)
{
    struct cbx_policy *policy = NULL;
    struct cbx_err err = { 0 };
    if (cbx_policy_parse(cbx_str_of(text), "mine", &policy, &err) != 0) {
        fail_msg("%s (%u:%u), for:\n%s", err.text, err.line, err.column, text);
    }
    return policy;
}

static void loads_the_normative_example(void **state)
{
    (void)state;
    CBX_AUTO(policy) p = load_text(normative);
    assert_true(cbx_str_is(p->name, "data-analysis"));
    assert_true(cbx_str_starts(p->description, CBX_STR("Notebook-style data work.")));
    assert_int_equal(p->languages, 7);
    assert_false(p->log_only);
    const struct cbx_rule *process = cbx_policy_rule(p, CBX_STR("py.process"));
    assert_int_equal(process->languages, 1 << CBX_PYTHON);
    assert_int_equal(process->match.import.count, 4);
    assert_int_equal(process->match.call_count, 6);
    assert_true(cbx_str_is(process->match.call[2].name, "os.exec*"));
    assert_int_equal(process->effect, CBX_EFFECT_DENY);
    assert_int_equal(process->severity, CBX_HIGH);
    assert_true(cbx_str_is(process->references.items[1], "ATT&CK T1059.006"));
    assert_int_equal(process->test_deny.count, 2);
    assert_true(cbx_str_is(process->test_allow.items[0], "import os\nprint(os.getcwd())"));
    assert_int_equal(process->line, 8);
    assert_true(cbx_str_is(process->origin, "data-analysis"));
    const struct cbx_rule *write = cbx_policy_rule(p, CBX_STR("py.open-write"));
    assert_int_equal(write->languages, (1 << CBX_LANGUAGES) - 1); /* all when absent */
    assert_int_equal(write->match.call[0].where_count, 2);
    assert_true(cbx_str_is(write->match.call[0].where[0].arg.items[1], "mode"));
    assert_true(write->match.call[0].where[1].unknown_holds);
    const struct cbx_rule *dynamic = cbx_policy_rule(p, CBX_STR("py.dynamic"));
    assert_int_equal(dynamic->match.facts,
                     1ull << CBX_FACT_UNRESOLVED_CALL | 1ull << CBX_FACT_COMPUTED_ATTRIBUTE |
                         1ull << CBX_FACT_DYNAMIC_IMPORT | 1ull << CBX_FACT_DYNAMIC_CODE |
                         1ull << CBX_FACT_DUNDER_WALK);
    assert_int_equal(cbx_policy_rule(p, CBX_STR("custom.query"))->effect, CBX_EFFECT_WARN);
    assert_null(cbx_policy_rule(p, CBX_STR("custom")));
    assert_int_equal(p->shell_allow.count, 4);
    assert_int_equal(p->pip.mode, CBX_PACKAGES_BLOCKLIST);
    assert_int_equal(p->pip.block.count, 2);
    assert_int_equal(p->pip.minimum_count, 2);
    assert_true(cbx_str_is(p->pip.minimum[0].name, "numpy") &&
                cbx_str_is(p->pip.minimum[0].version, "1.22.2"));
    assert_true(p->pip.transitive);
    assert_int_equal(p->npm.mode, CBX_PACKAGES_ALLOWLIST);
    assert_int_equal(p->mounts.allow_count, 1);
    assert_false(p->mounts.allow[0].writable);
    assert_true(p->mounts.deny.count >= 13);
    assert_int_equal(p->mounts.container.count, 2);
    assert_int_equal(p->limits.wall_ms, 60000);
    assert_int_equal(p->limits.cpu_milli, 1000);
    assert_int_equal(p->limits.memory_bytes, 512 << 20);
    assert_int_equal(p->limits.pids, 64);
    assert_int_equal(p->limits.source_bytes, 1 << 20);
    assert_int_equal(p->network, CBX_NETWORK_NONE);
    assert_true(cbx_str_is(p->environment_pass.items[0], "TZ"));
    assert_true(cbx_str_is(p->secrets[0].name, "OPENAI_API_KEY"));
    assert_int_equal(p->exception_count, 1);
}

static void loads_every_preset(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    assert_true(count >= 6);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        if (cbx_policy_load(presets[i].name, &policy, &err) != 0) {
            fail_msg("%s", err.text);
        }
        assert_true(cbx_str_is(policy->name, presets[i].name));
        assert_true(policy->limits.source_bytes > 0);
        for (size_t r = 0; r < policy->rule_count; r++) {
            assert_true(policy->rules[r].id.len > 0 && policy->rules[r].origin.len > 0);
        }
    }
}

static void names_the_presets_when_a_name_is_unknown(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policy_load("defaults", &policy, &err), CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "presets are default, strict"));
    assert_int_equal(cbx_policy_load("/nonexistent/x.yaml", &policy, &err), CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "/nonexistent/x.yaml"));
    assert_int_equal(cbx_policy_load("/dev/zero", &policy, &err), CBX_EINVAL);
    assert_null(policy);
}

static void denies_when_zeroed(void **state)
{
    (void)state;
    struct cbx_policy zero = { 0 };
    assert_int_equal(zero.languages, 0);
    assert_int_equal(zero.pip.mode, CBX_PACKAGES_NONE);
    assert_int_equal(zero.network, CBX_NETWORK_NONE);
    assert_int_equal(zero.limits.wall_ms, 0);
    assert_false(zero.log_only);
    struct cbx_rule rule = { 0 };
    assert_int_equal(rule.effect, CBX_EFFECT_DENY);
    assert_string_equal(cbx_effect_name(rule.effect), "deny");
    assert_null(cbx_policy_exception(&zero, CBX_STR("any"), CBX_STR("me"), 0));
    assert_null(cbx_policy_rule(&zero, CBX_STR("any")));
}

static void missing_keys_give_the_strict_value(void **state)
{
    (void)state;
    CBX_AUTO(policy) p = load_text(HEAD);
    assert_int_equal(p->languages, 0);
    assert_int_equal(p->shell_allow.count, 0);
    assert_int_equal(p->pip.mode, CBX_PACKAGES_NONE);
    assert_int_equal(p->mounts.allow_count, 0);
    assert_int_equal(p->network, CBX_NETWORK_NONE);
    assert_int_equal(p->limits.wall_ms, 60000);
    assert_int_equal(p->limits.memory_bytes, 512 << 20);
    CBX_AUTO(policy)
    q = load_text(
        HEAD "rules: [{id: a, match: {import: os}}]\nlimits: {wall: 5m, cpu: 1.5, disk: 64KiB}\n");
    assert_int_equal(q->rules[0].effect, CBX_EFFECT_DENY); /* a missing key is strict */
    assert_int_equal(q->rules[0].severity, CBX_HIGH);
    assert_int_equal(q->limits.wall_ms, 300000);
    assert_int_equal(q->limits.cpu_milli, 1500);
    assert_int_equal(q->limits.disk_bytes, 65536);
    assert_int_equal(q->limits.pids, 64);
}

static void exceptions_end(void **state)
{
    (void)state;
    CBX_AUTO(policy) p = load_text(normative);
    const int64_t until = 1801353600; /* 2027-01-31 00:00 UTC */
    assert_int_equal(p->exceptions[0].until, until);
    assert_non_null(cbx_policy_exception(p, CBX_STR("py.process"), CBX_STR("ci-bot"), until - 1));
    assert_null(cbx_policy_exception(p, CBX_STR("py.process"), CBX_STR("ci-bot"), until));
    assert_null(cbx_policy_exception(p, CBX_STR("py.process"), CBX_STR("ci-bot2"), 0));
    assert_null(cbx_policy_exception(p, CBX_STR("py.process"), CBX_STR(""), 0));
    assert_null(cbx_policy_exception(p, CBX_STR("py.processes"), CBX_STR("ci-bot"), 0));
}

/* --- extending -------------------------------------------------------------------------------- */

static char folder[] = "/tmp/codebox-test-policy-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = { "a.yaml", "b.yaml", "c.yaml", "d.yaml", "child.yaml" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void write_policy(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    CBX_AUTO_FILE file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "version: 1\nname: %.*s\n%s", (int)strcspn(name, "."), name, text);
}

static int load_file(const char *name, struct cbx_policy **out, struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    *err = (struct cbx_err){ 0 };
    return cbx_policy_load(path, out, err);
}

static struct cbx_policy *load_two(const char *base, const char *child)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 65536);
    cbx_buf_printf(&text, "extends: [a.yaml]\n%s", child);
    write_policy("a.yaml", base);
    write_policy("child.yaml", text.p);
    struct cbx_policy *policy = NULL;
    struct cbx_err err;
    if (load_file("child.yaml", &policy, &err) != 0) {
        fail_msg("%s (%u:%u) for:\n%s\n%s", err.text, err.line, err.column, base, child);
    }
    return policy;
}

static void inherits_and_tightens(void **state)
{
    (void)state;
    CBX_AUTO(policy)
    p = load_two(
        "languages: [python, shell]\n"
        "rules:\n  - {id: r, match: {import: os}, effect: warn, message: base}\n  - {id: s, match: "
        "{import: re}, effect: ask}\n"
        "shell: {allow: [ls, cat]}\nlimits: {wall: 60s, pids: 100}\nnetwork: {egress: "
        "[\"*.a.org\", "
        "b.org]}\n"
        "packages: {pip: {mode: blocklist, block: [x], minimum: {numpy: 1.20}, sources: [index, "
        "url]}}\n"
        "mounts: {allow: [{host: /srv, mode: rw}], deny: [/etc]}\nenvironment: {pass: [TZ, "
        "LANG]}\n",
        "languages: [python]\nrules:\n  - {id: r, effect: deny}\n  - {id: t, match: {import: io}}\n"
        "shell: {allow: [ls]}\nlimits: {wall: 10s}\nnetwork: {egress: [\"x.a.org:443\"]}\n"
        "packages: {pip: {mode: allowlist, block: [y], minimum: {numpy: 1.22, pillow: 9}, sources: "
        "[index]}}\n"
        "mounts: {allow: [{host: /srv, mode: ro}], deny: [/root]}\nenvironment: {pass: [TZ]}\n");
    assert_true(cbx_str_is(p->name, "child"));
    assert_int_equal(p->languages, 1 << CBX_PYTHON);
    assert_int_equal(p->rule_count, 3);
    const struct cbx_rule *r = cbx_policy_rule(p, CBX_STR("r"));
    assert_int_equal(r->effect, CBX_EFFECT_DENY);
    assert_true(cbx_str_is(r->message, "base")); /* the child does not set it */
    assert_true(cbx_str_is(r->match.import.items[0], "os"));
    assert_int_equal(cbx_policy_rule(p, CBX_STR("s"))->effect, CBX_EFFECT_ASK);
    assert_int_equal(p->shell_allow.count, 1);
    assert_int_equal(p->limits.wall_ms, 10000);
    assert_int_equal(p->limits.pids, 100);
    assert_int_equal(p->egress.count, 1);
    assert_int_equal(p->pip.mode, CBX_PACKAGES_ALLOWLIST);
    assert_int_equal(p->pip.block.count, 2); /* refusals add up */
    assert_int_equal(p->pip.minimum_count, 2);
    assert_true(cbx_str_is(p->pip.minimum[0].version, "1.22"));
    assert_int_equal(p->pip.sources.count, 1);
    assert_false(p->mounts.allow[0].writable);
    assert_int_equal(p->mounts.deny.count, 2);
    assert_int_equal(p->environment_pass.count, 1);
}

static const struct {
    const char *base, *child, *overriding, *message;
} laxer[] = {
    { "rules: [{id: r, match: {import: os}}]\n", "rules: [{id: r, effect: ask}]\n",
      "rules: [{id: r, effect: ask, override: true}]\n", "laxer effect" },
    { "rules: [{id: r, match: {import: os}}]\n", "rules: [{id: r, match: {import: re}}]\n",
      "rules: [{id: r, override: true, match: {import: re}}]\n", "matches something else" },
    { "rules: [{id: r, match: {import: os}}]\n", "rules: [{id: r, languages: [shell]}]\n",
      "rules: [{id: r, override: true, languages: [shell]}]\n", "matches something else" },
    { "shell: {allow: [ls]}\n", "shell: {allow: [ls, rm]}\n",
      "shell: {allow: [ls, rm], override: true}\n", "more shell commands" },
    { "limits: {isolation: gvisor}\n", "limits: {isolation: container}\n",
      "limits: {override: true, isolation: container}\n", "limit 'isolation' is wider" },
    { "limits: {memory: 64MiB}\n", "limits: {memory: 65MiB}\n",
      "limits: {override: true, memory: 65MiB}\n", "limit 'memory' is wider" },
    { "network: none\n", "network: packages-only\n",
      "network: {mode: packages-only, override: true}\n", "network is wider" },
    { "network: {egress: [a.org]}\n", "network: {egress: [b.org]}\n",
      "network: {egress: [b.org], override: true}\n", "more hosts" },
    { "network: {egress: [\"*.a.org:443\"]}\n", "network: {egress: [x.a.org]}\n",
      "network: {egress: [x.a.org], override: true}\n", "more hosts" },
    { "packages: {pip: {mode: allowlist}}\n", "packages: {pip: {mode: blocklist}}\n",
      "packages: {pip: {mode: blocklist, override: true}}\n", "mode of package installs" },
    { "packages: {npm: {allow: [a]}}\n", "packages: {npm: {allow: [b]}}\n",
      "packages: {npm: {allow: [b], override: true}}\n", "more packages" },
    { "packages: {pip: {minimum: {numpy: 1.22}}}\n", "packages: {pip: {minimum: {numpy: 1.9}}}\n",
      "packages: {pip: {minimum: {numpy: 1.9}, override: true}}\n",
      "minimum version of 'numpy' is lower" },
    { "packages: {pip: {sources: [index]}}\n", "packages: {pip: {sources: [vcs]}}\n",
      "packages: {pip: {sources: [vcs], override: true}}\n", "package sources" },
    { "packages: {pip: {indexes: [default]}}\n", "packages: {pip: {indexes: [\"https://h\"]}}\n",
      "packages: {pip: {indexes: [\"https://h\"], override: true}}\n", "package indexes" },
    { "packages: {pip: {transitive: true}}\n", "packages: {pip: {transitive: false}}\n",
      "packages: {pip: {transitive: false, override: true}}\n", "transitive" },
    { "mounts: {allow: [{host: /srv}]}\n", "mounts: {allow: [{host: /srv, mode: rw}]}\n",
      "mounts: {override: true, allow: [{host: /srv, mode: rw}]}\n", "more mounts" },
    { "mounts: {container: [/data]}\n", "mounts: {container: [/etc]}\n",
      "mounts: {override: true, container: [/etc]}\n", "more places" },
    { "environment: {pass: [TZ]}\n", "environment: {pass: [LANGUAGE]}\n",
      "environment: {pass: [LANGUAGE], override: true}\n", "environment variables" },
    { "environment: {secrets: [A]}\n", "environment: {secrets: [B]}\n",
      "environment: {secrets: [B], override: true}\n", "more secrets" },
    { "suppressions: {inline: false}\n", "suppressions: {inline: true}\n",
      "suppressions: {inline: true, override: true}\n", "more findings can be suppressed" },
    { "languages: [python]\n", "suppressions: {inline: true}\n",
      "suppressions: {inline: true, override: true}\n", "more findings can be suppressed" },
};

static void refuses_to_loosen_without_override(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(laxer) / sizeof(laxer[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 4096);
        cbx_buf_printf(&text, "extends: [a.yaml]\n%s", laxer[i].child);
        write_policy("a.yaml", laxer[i].base);
        write_policy("child.yaml", text.p);
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err;
        int code = load_file("child.yaml", &policy, &err);
        if (code != CBX_EPOLICY || strstr(err.text, laxer[i].message) == NULL || err.line != 4) {
            fail_msg("%d, %u, '%s' for:\n%s", code, err.line, err.text, laxer[i].child);
        }
        assert_non_null(strstr(err.text, "override: true"));
        assert_null(policy);
    }
}

static void override_loosens_a_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(laxer) / sizeof(laxer[0]); i++) {
        CBX_AUTO(policy) policy = load_two(laxer[i].base, laxer[i].overriding);
        CBX_AUTO(policy) base = NULL;
        struct cbx_err err;
        assert_int_equal(load_file("a.yaml", &base, &err), 0);
        assert_false(cbx_sha256_equal(&policy->sha256, &base->sha256));
    }
}

static void takes_the_stricter_of_two_parents(void **state)
{
    (void)state;
    static const char first[] =
        "languages: [python, shell]\nrules: [{id: r, match: {import: os}, effect: warn}]\nshell: "
        "{allow: [ls, cat]}\n"
        "suppressions: {inline: true}\nlimits: {wall: 10s, pids: 100}\nnetwork: {egress: [a.org, "
        "\"*.b.org\"]}\nmounts: {allow: "
        "[{host: /a}, {host: /b}]}\npackages: {pip: {mode: allowlist, block: [x], minimum: {numpy: "
        "1.20, pillow: 9}}}\n";
    static const char second[] =
        "languages: [python, javascript]\nrules: [{id: r, match: {import: os}, effect: "
        "deny}]\nshell: {allow: [ls]}\n"
        "limits: {wall: 60s, pids: 50}\nnetwork: {egress: [\"x.b.org:443\", c.org]}\nmounts: "
        "{allow: [{host: "
        "/b}, {host: /c}]}\npackages: {pip: {mode: blocklist, block: [y], minimum: {numpy: 1.22, "
        "pillow: 8}}}\n";
    write_policy("a.yaml", first);
    write_policy("b.yaml", second);
    for (int turn = 0; turn < 2; turn++) {
        write_policy("child.yaml",
                     turn == 0 ? "extends: [a.yaml, b.yaml]\n" : "extends: [b.yaml, a.yaml]\n");
        CBX_AUTO(policy) p = NULL;
        struct cbx_err err;
        assert_int_equal(load_file("child.yaml", &p, &err), 0);
        assert_int_equal(p->languages, 1 << CBX_PYTHON);
        assert_int_equal(p->rules[0].effect, CBX_EFFECT_DENY);
        assert_int_equal(p->shell_allow.count, 1);
        assert_int_equal(p->limits.wall_ms, 10000);
        assert_int_equal(p->limits.pids, 50);
        assert_int_equal(p->egress.count, 1); /* nothing that one of the policies refuses */
        assert_false(p->inline_suppressions);
        assert_true(cbx_str_is(p->egress.items[0], "x.b.org:443"));
        assert_int_equal(p->mounts.allow_count, 1);
        assert_true(cbx_str_is(p->mounts.allow[0].host, "/b"));
        assert_int_equal(p->pip.mode, CBX_PACKAGES_ALLOWLIST);
        assert_int_equal(p->pip.block.count, 2);
        for (size_t i = 0; i < p->pip.minimum_count; i++) {
            bool numpy = cbx_str_is(p->pip.minimum[i].name, "numpy");
            assert_true(cbx_str_is(p->pip.minimum[i].version, numpy ? "1.22" : "9"));
        }
    }
}

static void refuses_two_parents_that_mean_different_things_by_one_rule(void **state)
{
    (void)state;
    write_policy("a.yaml", "rules: [{id: r, match: {import: os}}]\n");
    write_policy("b.yaml", "rules: [{id: r, match: {import: re}}]\n");
    write_policy("child.yaml", "extends: [a.yaml, b.yaml]\n");
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_equal(load_file("child.yaml", &policy, &err), CBX_EPOLICY);
    assert_non_null(strstr(err.text, "rule 'r' matches something else"));
    write_policy("a.yaml", "rules: [{id: r, languages: [python], match: {import: os}}]\n");
    write_policy("b.yaml", "rules: [{id: r, languages: [shell], match: {import: os}}]\n");
    assert_int_equal(load_file("child.yaml", &policy, &err), 0);
    assert_int_equal(policy->rules[0].languages, 1 << CBX_PYTHON | 1 << CBX_SHELL);
}

static void lets_any_two_presets_be_extended_together(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count * count; i++) {
        char text[200];
        snprintf(text, sizeof(text), HEAD "extends: [%s, %s]\n", presets[i / count].name,
                 presets[i % count].name);
        CBX_AUTO(policy) policy = load_text(text);
        assert_non_null(policy);
    }
}

static void finds_circles_and_endless_descents(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    write_policy("a.yaml", "extends: [a.yaml]\n");
    assert_int_equal(load_file("a.yaml", &policy, &err), CBX_EPOLICY);
    assert_non_null(strstr(err.text, "in a circle"));
    write_policy("a.yaml", "extends: [b.yaml]\n");
    write_policy("b.yaml", "extends: [c.yaml]\n");
    write_policy("c.yaml", "extends: [a.yaml]\n");
    assert_int_equal(load_file("a.yaml", &policy, &err), CBX_EPOLICY);
    assert_non_null(strstr(err.text, "in a circle"));
    write_policy("c.yaml", "extends: [./././a.yaml]\n"); /* another spelling of the same file */
    assert_int_equal(load_file("a.yaml", &policy, &err), CBX_EPOLICY);
    assert_non_null(strstr(err.text, "'extends' goes"));
    write_policy("c.yaml", "extends: [default]\n");
    assert_int_equal(load_file("a.yaml", &policy, &err), 0);
}

static void does_not_cut_long_names_of_parents(void **state)
{
    (void)state;
    char text[400] = "extends: [\"";
    size_t n = strlen(text);
    for (int i = 0; i < 97; i++) {
        memcpy(text + n, "./", 2), n += 2;
    }
    memcpy(text + n, "a.yaml.more.yaml\"]\n", 20); /* its first 200 bytes are the name of a.yaml */
    write_policy("a.yaml", "");
    write_policy("child.yaml", text);
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_not_equal(load_file("child.yaml", &policy, &err), 0);
}

static void extends_only_presets_from_memory(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policy_parse(CBX_STR(HEAD "extends: [/etc/passwd]\n"), "x", &policy, &err),
                     CBX_EPOLICY);
    CBX_AUTO(policy) child = load_text(HEAD "extends: [strict]\n");
    assert_true(child->rule_count > 10);
}

/* --- identity --------------------------------------------------------------------------------- */

static bool same_identity(const char *a, const char *b)
{
    CBX_AUTO(policy) x = load_text(a);
    CBX_AUTO(policy) y = load_text(b);
    return cbx_sha256_equal(&x->sha256, &y->sha256);
}

static void has_an_identity_that_formatting_does_not_change(void **state)
{
    (void)state;
    static const char *const same[] = {
        HEAD "languages: [python]\nrules: [{id: r, match: {import: [os]}, effect: warn}]\nlimits: "
             "{wall: 60s}\n",
        "# a comment\nlimits:\n  wall: 1m\nname: 'x'\nrules:\n- effect: warn\n  id: r\n  match:\n  "
        "  import: os\nlanguages: python\nversion: 1\n",
        HEAD "languages: &l [python]\nrules: [{id: r, match: {import: [\"o\\u0073\"]}, effect: "
             "warn, severity: high}]\nlimits: {wall: 60000ms}\n",
    };
    for (size_t i = 1; i < sizeof(same) / sizeof(same[0]); i++) {
        assert_true(same_identity(same[0], same[i]));
    }
}

static void has_another_identity_when_it_means_something_else(void **state)
{
    (void)state;
    static const char one[] = HEAD "rules: [{id: r, match: {import: [os, re]}, effect: warn}]\n";
    static const char *const others[] = {
        HEAD "rules: [{id: r, match: {import: [os, re]}}]\n",
        HEAD "rules: [{id: r, match: {import: [os]}, effect: warn}]\n",
        HEAD "rules: [{id: r, match: {reference: [os, re]}, effect: warn}]\n",
        HEAD "rules: [{id: r, match: {import: [os, \"!re\"]}, effect: warn}]\n",
        HEAD "rules: [{id: r, match: {import: [os, re]}, effect: warn, languages: [python]}]\n",
        HEAD "rules: [{id: r2, match: {import: [os, re]}, effect: warn}]\n",
        HEAD "rules: [{id: r, match: {import: [os, re]}, effect: warn}]\nlimits: {wall: 61s}\n",
        HEAD "rules: [{id: r, match: {import: [os, re]}, effect: warn}]\nmode: log-only\n",
        HEAD "rules: [{id: r, match: {import: [os, re]}, effect: warn}]\nnetwork: packages-only\n",
        HEAD "rules: [{id: r, match: {import: [os, re]}, effect: warn}]\nexceptions: [{rule: r, "
             "principal: p, until: 2027-01-01, reason: q}]\n",
        HEAD "rules: [{id: r, match: {call: [{name: os, where: [{arg: 0, matches: x}]}]}, effect: "
             "warn}]\n",
        HEAD "rules: [{id: r, match: {call: [{name: os, where: [{arg: 0, matches: x, unknown: "
             "no-match}]}]}, effect: warn}]\n",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(same_identity(one, others[i]));
        for (size_t k = 0; k < i; k++) {
            assert_false(same_identity(others[k], others[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_the_normative_example),
        cmocka_unit_test(loads_every_preset),
        cmocka_unit_test(names_the_presets_when_a_name_is_unknown),
        cmocka_unit_test(denies_when_zeroed),
        cmocka_unit_test(missing_keys_give_the_strict_value),
        cmocka_unit_test(exceptions_end),
        cmocka_unit_test(inherits_and_tightens),
        cmocka_unit_test(refuses_to_loosen_without_override),
        cmocka_unit_test(override_loosens_a_rule),
        cmocka_unit_test(takes_the_stricter_of_two_parents),
        cmocka_unit_test(refuses_two_parents_that_mean_different_things_by_one_rule),
        cmocka_unit_test(lets_any_two_presets_be_extended_together),
        cmocka_unit_test(finds_circles_and_endless_descents),
        cmocka_unit_test(does_not_cut_long_names_of_parents),
        cmocka_unit_test(extends_only_presets_from_memory),
        cmocka_unit_test(has_an_identity_that_formatting_does_not_change),
        cmocka_unit_test(has_another_identity_when_it_means_something_else),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
