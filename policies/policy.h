/* SPDX-License-Identifier: MIT
 * A policy: the actions that code may do, and its limits. Immutable once loaded; all of it is
 * allocated in its own arena and readers borrow it. Zeroed memory is a policy that denies. */
#ifndef CBX_POLICIES_POLICY_H
#define CBX_POLICIES_POLICY_H

#include "policies/base/arena.h"
#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/hash.h"
#include "policies/base/str.h"
#include "policies/language.h"
#include "policies/limits.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The strictest effect is zero: memory that was never written denies. */
enum cbx_effect { CBX_EFFECT_DENY = 0, CBX_EFFECT_ASK, CBX_EFFECT_WARN, CBX_EFFECT_ALLOW };
enum cbx_severity { CBX_CRITICAL = 0, CBX_HIGH, CBX_MEDIUM, CBX_LOW };

/* "deny", "high", ... for output. */
const char *cbx_effect_name(enum cbx_effect effect);
const char *cbx_severity_name(enum cbx_severity severity);

enum cbx_fact_id {
#define CBX_FACT(id, name, meaning) CBX_FACT_##id,
#include "policies/facts.def"
#undef CBX_FACT
    CBX_FACTS
};
const char *cbx_fact_name(enum cbx_fact_id id);
const char *cbx_fact_meaning(enum cbx_fact_id id);

/* The capabilities of names: see capabilities.def. A set of them is a word of bits 1 << id. */
enum cbx_capability {
#define CBX_CAPABILITY(id, name, meaning) CBX_CAN_##id,
#include "policies/guard/capabilities.def"
#undef CBX_CAPABILITY
    CBX_CAPABILITIES
};
const char *cbx_capability_name(enum cbx_capability id);
const char *cbx_capability_meaning(enum cbx_capability id);

struct cbx_strs {
    const struct cbx_str *items;
    size_t count;
};

/* One condition on an argument of a call. All conditions of a call must hold. A condition on an
 * argument whose value could not be folded holds, unless `unknown` states otherwise: an
 * undetermined value never counts as "no match" by default. An empty test (count 0, or flag
 * unset) is ignored. */
enum cbx_presence { CBX_PRESENCE_ANY = 0, CBX_PRESENT, CBX_ABSENT };
struct cbx_where {
    /* Positions ("0", "1", ...) and keyword names of one argument; the first given one counts. */
    struct cbx_strs arg;
    struct cbx_strs matches; /* globs: the value matches one; false for an absent argument */
    /* globs: the value matches none; true for an absent argument */
    struct cbx_strs not_matches;
    /* path globs: the value, made absolute in /workspace, matches none */
    struct cbx_strs outside;
    struct cbx_strs inside;             /* path globs: the value matches one */
    struct cbx_strs host, host_outside; /* globs: the host of a URL matches one, none of them */
    enum cbx_presence presence;         /* present: true | false */
    enum cbx_presence constant;         /* the value is a constant (PRESENT), is not (ABSENT) */
    /* the value is the constant name of a variable that the policy passes (PRESENT), is not
     * (ABSENT) */
    enum cbx_presence granted;
    /* result of the condition if the value is not a constant; default true */
    bool unknown_holds;
};

/* A callable by qualified name (glob over "os.exec*"), with conditions on its arguments. */
struct cbx_call {
    struct cbx_str name;
    const struct cbx_where *where;
    size_t where_count;
};

/* The matches of a rule: any one entry of any list is a match, unless an entry of the same list
 * that begins with '!' matches too: `import: [importlib, "!importlib.metadata"]`. */
struct cbx_match {
    struct cbx_strs import; /* modules; a name covers its submodules */
    const struct cbx_call *call;
    size_t call_count;
    struct cbx_strs reference; /* qualified names, used in any way */
    struct cbx_strs attribute; /* attribute names read on any object */
    struct cbx_strs literal;   /* globs over constant strings, after folding */
    uint64_t facts;            /* bit 1 << enum cbx_fact_id */
    /* Path globs: a name of a capability counts only if it is called with a constant path that
     * matches none of them. */
    struct cbx_strs outside;
    /* Bit 1 << enum cbx_capability; entries with '!' of `import`, `call` and `reference` take
     * names out of these too. */
    uint64_t capabilities;
    struct cbx_str query; /* a tree-sitter query, or empty */
};

struct cbx_rule {
    struct cbx_str id;
    uint32_t languages; /* bit 1 << enum cbx_language */
    struct cbx_match match;
    enum cbx_effect effect;
    /* 1 + enum cbx_refusal: if the guard refuses that action, a denial of this rule is a warning
     * (cbx_guard_covers); 0: never */
    unsigned guarded;
    enum cbx_severity severity;
    struct cbx_str message, hint;
    struct cbx_strs references;
    struct cbx_strs test_deny, test_allow; /* snippets; "deny" means: this rule matches */
    uint32_t line;                         /* line of the rule in its file */
    struct cbx_str origin;                 /* name of the policy with the rule */
};

/* An exception: until a date, a principal may do actions that matching rules deny. */
struct cbx_exception {
    struct cbx_str rule;      /* glob over rule ids */
    struct cbx_str principal; /* glob */
    int64_t until;            /* Unix seconds; the exception expires at this time */
    struct cbx_str reason;
    uint32_t line, column; /* place in its file */
};

enum cbx_package_mode { CBX_PACKAGES_NONE = 0, CBX_PACKAGES_ALLOWLIST, CBX_PACKAGES_BLOCKLIST };
struct cbx_minimum {
    struct cbx_str name, version;
};
struct cbx_packages {
    enum cbx_package_mode mode;
    struct cbx_strs allow, block; /* globs over normalised names (PEP 503; npm names as they are) */
    struct cbx_strs block_in_sandboxes; /* the same, except for the builds of a project */
    const struct cbx_minimum *minimum;
    size_t minimum_count;
    struct cbx_strs sources; /* "index", "url", "vcs", "path", "requirements" */
    struct cbx_strs indexes; /* "default" or a URL prefix */
    bool transitive;
};

struct cbx_mount_rule {
    struct cbx_str host; /* path glob */
    bool writable;       /* mode: rw */
};
struct cbx_mounts {
    const struct cbx_mount_rule *allow;
    size_t allow_count;
    struct cbx_strs deny;                  /* path globs over the resolved host path */
    struct cbx_strs test_deny, test_allow; /* HOST:CONTAINER:MODE */
    struct cbx_strs container;             /* folders for mounts in the sandbox */
};

enum cbx_network { CBX_NETWORK_NONE = 0, CBX_NETWORK_PACKAGES, CBX_NETWORK_EGRESS };

/* The actions that the sandbox refuses while a program runs: the rows of guard.def. */
enum cbx_refusal {
#define CBX_REFUSAL(id, ...) CBX_REFUSE_##id,
#include "policies/guard/guard.def"
    CBX_REFUSALS
};

/* A policy's setting for a refusal: follow the rules, refuse, do not refuse. */
enum cbx_guard_key { CBX_GUARD_RULES = 0, CBX_GUARD_REFUSE, CBX_GUARD_ALLOW };
struct cbx_guard_keys {
    enum cbx_guard_key of[CBX_REFUSALS];
    bool ends_run; /* true if the first refusal ends the run */
};

/* A variable whose value is redacted. */
struct cbx_secret {
    struct cbx_str name, file; /* file: contains the value; empty = the gateway's environment */
};

/* The operator's own images for sandboxes (`codebox image build --from`); empty = the gateway's. */
struct cbx_images {
    struct cbx_str python, javascript; /* javascript: also TypeScript */
};

struct cbx_index;
struct cbx_draft;

struct cbx_policy {
    struct cbx_str name, description;
    uint32_t languages; /* bit 1 << enum cbx_language: the languages that may run */
    bool log_only;
    bool four_eyes; /* true if a principal may not approve its own runs */
    const struct cbx_rule *rules;
    size_t rule_count;
    const struct cbx_index *index; /* index of the rules' matches: index.h */
    struct cbx_strs shell_allow;   /* command words */
    struct cbx_packages pip, npm;
    struct cbx_mounts mounts;
    struct cbx_limits limits;
    enum cbx_network network;
    struct cbx_strs egress;                                /* patterns: egress.h */
    struct cbx_strs network_test_deny, network_test_allow; /* HOST or HOST:PORT */
    struct cbx_strs environment_pass, environment_set;
    struct cbx_strs environment_test_deny, environment_test_allow; /* names */
    const struct cbx_secret *secrets;
    size_t secret_count;
    struct cbx_guard_keys guard;
    const struct cbx_exception *exceptions;
    size_t exception_count;
    struct cbx_images images;
    /* true if suppression comments in the source count, for codebox-lint alone */
    bool inline_suppressions;

    /* draft that it was sealed from, with limits that were not given unset */
    const struct cbx_draft *draft;
    /* hash of cbx_policy_json in its canonical form: the policy's identity */
    struct cbx_sha256 sha256;
    struct cbx_arena arena;
};

/* Limits of the loader (bytes of one file, nesting, `extends` depth, rules, strings in all
 * lists). */
enum {
    CBX_IMAGE_OWN_MAX = 32, /* bytes of the name of an operator's own image */
    CBX_POLICY_FILE_MAX = 1024 * 1024,
    CBX_POLICY_DEPTH_MAX = 16,
    CBX_POLICY_EXTENDS_MAX = 8,
    CBX_POLICY_RULES_MAX = 4096,
    CBX_POLICY_ARENA_MAX = 64 * 1024 * 1024,
};

/* Loads a preset by its name, or a file if `name` has a '/' or ends in .yaml or .yml. `extends`
 * names presets, or files in the folder of the extending file. CBX_EPOLICY with line and column
 * for an error in the text (the file's name is in err->text), CBX_ENOTFOUND with the list of
 * presets for an unknown name. The caller owns *out. */
int cbx_policy_load(const char *name, struct cbx_policy **out, struct cbx_err *err);

/* The same from memory; `label` names it in errors. It can extend only presets. */
int cbx_policy_parse(struct cbx_str yaml, const char *label, struct cbx_policy **out,
                     struct cbx_err *err);

/* Write a loaded policy as bytes, and read it back, between processes of one program: the bytes
 * are trusted, and read without parsing. The policy borrows the bytes, which begin at a multiple
 * of 16. CBX_ETOOBIG. */
int cbx_policy_write(const struct cbx_policy *policy, struct cbx_buf *out, struct cbx_err *err);
int cbx_policy_read(struct cbx_str bytes, struct cbx_policy **out, struct cbx_err *err);

void cbx_policy_free(struct cbx_policy *policy);
CBX_DEFINE_AUTO(policy)

/* Returns the resolved policy as JSON, without positions: the input of the hash. A new
 * reference. */
json_t *cbx_policy_json(const struct cbx_policy *policy);

/* Returns the rule with this id, or NULL. */
const struct cbx_rule *cbx_policy_rule(const struct cbx_policy *policy, struct cbx_str id);

/* Returns the exception that lets `principal` pass this rule at `now` (Unix seconds), or NULL. */
const struct cbx_exception *cbx_policy_exception(const struct cbx_policy *policy,
                                                 struct cbx_str rule, struct cbx_str principal,
                                                 int64_t now);

/* The built-in presets, in display order. */
struct cbx_preset {
    const char *name;
    const char *begin, *end;             /* its YAML */
    const char *image_begin, *image_end; /* its compiled image (image.h), or NULL */
};
const struct cbx_preset *cbx_preset_list(size_t *count);

#endif
