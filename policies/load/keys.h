/* SPDX-License-Identifier: MIT
 * The key table and the draft that it fills. Private to the loader; policy.h is the public
 * header. A draft is one file as it was written, with a bit for each given key; merging drafts
 * along `extends` gives the policy. */
#ifndef CBX_POLICIES_LOAD_KEYS_H
#define CBX_POLICIES_LOAD_KEYS_H

#include "policies/load/yaml.h"
#include "policies/policy.h"

/* The given keys of a section (bit = row in keys.def), and their place. First member of every
 * section that is merged. */
struct cbx_draft_head {
    uint64_t given;
    bool override;
    uint32_t line, column;
};

struct cbx_draft_rule {
    struct cbx_draft_head head;
    struct cbx_rule v;
};
struct cbx_draft_shell {
    struct cbx_draft_head head;
    struct cbx_strs allow;
};
struct cbx_draft_packages {
    struct cbx_draft_head head;
    struct cbx_packages v;
};
struct cbx_draft_both {
    struct cbx_draft_packages pip, npm;
};
struct cbx_draft_mounts {
    struct cbx_draft_head head;
    struct cbx_mounts v;
};
struct cbx_draft_limits {
    struct cbx_draft_head head;
    struct cbx_limits v;
};
struct cbx_draft_network {
    struct cbx_draft_head head;
    enum cbx_network mode;
    struct cbx_strs egress, test_deny, test_allow;
};
struct cbx_draft_environment {
    struct cbx_draft_head head;
    struct cbx_strs pass, set, test_deny, test_allow;
    struct cbx_secret *secrets;
    size_t secret_count;
};
struct cbx_draft_guard {
    struct cbx_draft_head head;
    struct cbx_guard_keys v;
};
struct cbx_draft_images {
    struct cbx_draft_head head;
    struct cbx_images v;
};
struct cbx_draft_suppressions {
    struct cbx_draft_head head;
    bool in_source;
};

struct cbx_draft {
    struct cbx_draft_head head;
    int64_t version;
    struct cbx_str name, description;
    struct cbx_strs extends;
    bool log_only, four_eyes;
    uint32_t languages;
    struct cbx_draft_rule *rules;
    size_t rule_count; /* directly after its pointer, like every count of a LIST */
    struct cbx_draft_shell shell;
    struct cbx_draft_both packages;
    struct cbx_draft_mounts mounts;
    struct cbx_draft_limits limits;
    struct cbx_draft_network network;
    struct cbx_draft_environment environment;
    struct cbx_draft_guard guard;
    struct cbx_exception *exceptions;
    size_t exception_count;
    struct cbx_draft_images images;
    struct cbx_draft_suppressions suppressions;
};

/* The format of a value. */
enum cbx_key_type {
    CBX_KEY_STR,       /* struct cbx_str */
    CBX_KEY_NAME,      /* struct cbx_str of [A-Za-z0-9._-] */
    CBX_KEY_STRS,      /* struct cbx_strs; a single text is read as a list of one */
    CBX_KEY_ENUMS,     /* struct cbx_strs of names in `names` */
    CBX_KEY_BOOL,      /* bool */
    CBX_KEY_INT,       /* int64_t */
    CBX_KEY_ENUM,      /* enum or bool: index in `names` */
    CBX_KEY_PRESENCE,  /* enum cbx_presence from true and false */
    CBX_KEY_LANGUAGES, /* uint32_t of bits; `more`: javascript includes typescript */
    CBX_KEY_FACTS,     /* uint64_t of bits */
    CBX_KEY_CAPABLE,   /* uint64_t of bits */
    CBX_KEY_DURATION,  /* int64_t milliseconds: 500ms, 60s, 5m, 1h */
    CBX_KEY_BYTES,     /* int64_t: 1048576, 64KiB, 512MiB, 2GiB */
    CBX_KEY_CPUS,      /* int64_t thousandths: 1.5 */
    CBX_KEY_ISOLATION, /* int64_t: enum cbx_isolation */
    CBX_KEY_DATE,      /* int64_t Unix seconds of YYYY-MM-DD 00:00 UTC */
    CBX_KEY_SECTION,   /* nested struct */
    CBX_KEY_LIST,      /* pointer and count of structs of `section` */
    CBX_KEY_MINIMUM,   /* pointer and count of struct cbx_minimum */
    CBX_KEY_NETWORK,   /* a mode's name, or the section */
};

/* How a value and the extended policy's value are merged: merge.def. */
enum cbx_merge {
#define CBX_MERGE(id, function, meaning) CBX_MERGE_##id,
#include "policies/merge/merge.def"
#undef CBX_MERGE
};

/* Returns the meaning for the reference; "" for none. */
const char *cbx_merge_meaning(enum cbx_merge merge);

struct cbx_section;
struct cbx_key {
    const char *name;
    enum cbx_key_type type;
    size_t offset, size;
    int64_t lo, hi;
    const void *more;
    enum cbx_merge merge;
    const char *laxer; /* the error for a laxer value, or NULL */
    const char *help;
};
struct cbx_section {
    const char *name;
    size_t size;
    bool head;
    const struct cbx_key *keys;
    size_t key_count;
};

#define CBX_SECTION(section, type, has_head) extern const struct cbx_section cbx_section_##section;
#define CBX_KEY(section, name, type, member, lo, hi, more, merge, laxer, help)
#define CBX_SECTION_END(section)
#include "policies/load/keys.def"
#undef CBX_SECTION
#undef CBX_KEY
#undef CBX_SECTION_END

/* NULL-terminated. */
extern const char *const cbx_effect_names[];
extern const char *const cbx_severity_names[];
extern const char *const cbx_unknown_names[];
extern const char *const cbx_package_mode_names[];
extern const char *const cbx_source_names[];
extern const char *const cbx_mount_mode_names[];
extern const char *const cbx_network_names[];
extern const char *const cbx_mode_names[];
extern const char *const cbx_guarded_names[];          /* "never", then enum cbx_refusal */
extern const char *const cbx_guard_key_names[];        /* in the order of enum cbx_guard_key */
extern const char *const cbx_guard_key_always_names[]; /* names of refusals that always hold */

/* True if the section's key was given; aborts for a name that is not in the table (a programming
 * error). */
bool cbx_draft_has(const struct cbx_section *section, const struct cbx_draft_head *head,
                   const char *key);

/* Binds one file's tree to `out`, which is zeroed and gets the defaults. Strings are in `arena`.
 * CBX_EPOLICY with line and column: unknown key (with the nearest known one), wrong type, out of
 * bounds, missing. */
int cbx_draft_bind(const struct cbx_yaml *root, struct cbx_arena *arena, struct cbx_draft *out,
                   struct cbx_err *err);

/* Merges `child` over `base` (the result is in base), each key by its column. A child may only
 * tighten unless it has `override: true` there. With `parents`, for the second of two policies
 * that are extended side by side, the result allows only what both allow: an override in either
 * parent's own file does not count. */
int cbx_draft_merge(struct cbx_draft *base, const struct cbx_draft *child, bool parents,
                    struct cbx_arena *arena, struct cbx_err *err);

/* Checks that a row cannot express: missing keys, contradictory keys. For one file, before
 * merging. */
int cbx_draft_check(const struct cbx_draft *draft, struct cbx_err *err);

/* cbx_policy_load with presets from their YAML, compiled or not: for the program that compiles
 * them, and for tests that compare both. */
int cbx_policy_load_source(const char *name, struct cbx_policy **out, struct cbx_err *err);

/* Returns a struct of this section as JSON (new reference): the canonical form. */
json_t *cbx_section_json(const struct cbx_section *section, const void *from);

#endif
