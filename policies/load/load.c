/* SPDX-License-Identifier: MIT
 * Names and files to policies: reading, `extends`, and sealing the result into an immutable
 * policy. */
#include "policies/load/keys.h"

#include "policies/base/buf.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/load/image.h"
#include "policies/load/index.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names along `extends`, to find cycles; newest first. */
struct chain {
    const char *name;
    const struct chain *up;
    int depth;
};

struct loader {
    struct cbx_arena *arena;
    struct cbx_err *err;
    bool from_source; /* true to read presets from their YAML too */
};

static int load_draft(struct loader *l, const char *name, const char *folder,
                      const struct chain *up, struct cbx_image *out);

static bool is_path(const char *name)
{
    struct cbx_str s = cbx_str_of(name);
    return strchr(name, '/') != NULL || cbx_str_ends(s, CBX_STR(".yaml")) ||
           cbx_str_ends(s, CBX_STR(".yml"));
}

static int read_file(struct loader *l, const char *path, struct cbx_str *out)
{
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(l->err, errno == ENOENT ? CBX_ENOTFOUND : CBX_EIO, "policy file '%s': %s",
                        path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(l->err, CBX_EINVAL, "policy file '%s' is not a regular file", path);
    }
    if (status.st_size > CBX_POLICY_FILE_MAX) {
        return cbx_fail(l->err, CBX_ETOOBIG, "policy file '%s' has %lld bytes, allowed are %d",
                        path, (long long)status.st_size, CBX_POLICY_FILE_MAX);
    }
    char *text = cbx_arena_alloc(l->arena, (size_t)status.st_size + 1);
    size_t len = 0;
    while (text != NULL && len < (size_t)status.st_size) {
        ssize_t n = read(fd, text + len, (size_t)status.st_size - len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return cbx_fail(l->err, CBX_EIO, "reading policy file '%s': %s", path, strerror(errno));
        }
        if (n == 0) {
            break;
        }
        len += (size_t)n;
    }
    if (text == NULL) {
        return cbx_fail(l->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    *out = (struct cbx_str){ .p = text, .len = len };
    return 0;
}

static int fail_unknown_preset(struct loader *l, const char *name)
{
    char known[256] = "";
    size_t count, used = 0, best = 4;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    const char *nearest = NULL;
    for (size_t i = 0; i < count && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
                         presets[i].name);
        used += n > 0 ? (size_t)n : 0;
        size_t distance = cbx_str_distance(cbx_str_of(name), cbx_str_of(presets[i].name), 3);
        nearest = distance < best ? presets[i].name : nearest;
        best = distance < best ? distance : best;
    }
    if (nearest == NULL) {
        return cbx_fail(l->err, CBX_ENOTFOUND,
                        "no policy is called '%.60s'; presets are %s; a file's name ends in .yaml "
                        "or holds a '/'",
                        name, known);
    }
    return cbx_fail(l->err, CBX_ENOTFOUND,
                    "no policy is called '%.60s', did you mean '%s'; presets are %s; a file's name "
                    "ends in .yaml or holds a '/'",
                    name, nearest, known);
}

static const struct cbx_preset *find_preset(const char *name)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

/* Merges the file's draft over its parents, left to right. */
static int apply_extends(struct loader *l, const char *folder, const struct chain *chain,
                         struct cbx_draft *own)
{
    struct cbx_draft base = { 0 };
    for (size_t i = 0; i < own->extends.count; i++) {
        char name[PATH_MAX];
        struct cbx_image parent = { 0 };
        struct cbx_str item = own->extends.items[i];
        if (item.len >= sizeof(name)) {
            return cbx_fail(l->err, CBX_ETOOBIG,
                            "a name in 'extends' has %zu bytes, allowed are %zu", item.len,
                            sizeof(name) - 1);
        }
        memcpy(name, item.p, item.len);
        name[item.len] = '\0';
        int failed = load_draft(l, name, folder, chain, &parent);
        if (failed) {
            return failed;
        }
        if (i == 0) {
            base = parent.draft;
        } else if ((failed = cbx_draft_merge(&base, &parent.draft, true, l->arena, l->err)) != 0) {
            return failed;
        }
    }
    if (own->extends.count > 0) {
        int failed = cbx_draft_merge(&base, own, false, l->arena, l->err);
        if (failed) {
            return failed;
        }
        *own = base;
    }
    for (size_t i = 0; i < own->rule_count; i++) {
        if (!cbx_draft_has(&cbx_section_rule, &own->rules[i].head, "match")) {
            return cbx_fail_at(l->err, CBX_EPOLICY, own->rules[i].head.line,
                               own->rules[i].head.column,
                               "rule '%.*s' has no 'match', and no rule of that id is extended",
                               CBX_STR_SHOWN(own->rules[i].v.id));
        }
    }
    return 0;
}

static int parse_draft(struct loader *l, struct cbx_str text, const char *folder,
                       const struct chain *chain, struct cbx_draft *out)
{
    size_t bad;
    if (!cbx_str_is_utf8(text, &bad)) {
        uint32_t line, column;
        cbx_str_place(text, bad, &line, &column);
        cbx_fail_at(l->err, CBX_EPOLICY, line, column, "the file is not UTF-8 here");
        cbx_err_quote(l->err, text);
        return CBX_EPOLICY;
    }
    struct cbx_yaml *root;
    int failed = cbx_yaml_parse(text, CBX_POLICY_DEPTH_MAX, l->arena, &root, l->err);
    struct cbx_draft draft = { 0 };
    if (!failed) {
        failed = cbx_draft_bind(root, l->arena, &draft, l->err);
    }
    for (size_t i = 0; !failed && i < draft.rule_count; i++) {
        draft.rules[i].v.line = draft.rules[i].head.line;
        draft.rules[i].v.origin = draft.name;
    }
    if (!failed) {
        failed = apply_extends(l, folder, chain, &draft);
    }
    if (!failed) {
        *out = draft;
        return 0;
    }
    /* not an error in a parent */
    if (l->err != NULL && strncmp(l->err->text, "policy ", 7) != 0) {
        cbx_err_quote(l->err, text);
    }
    return failed;
}

static int check_chain(struct loader *l, const struct chain *chain)
{
    if (chain->depth > CBX_POLICY_EXTENDS_MAX) {
        return cbx_fail(l->err, CBX_EPOLICY, "'extends' goes deeper than %d policies",
                        CBX_POLICY_EXTENDS_MAX);
    }
    for (const struct chain *c = chain->up; c != NULL; c = c->up) {
        if (strcmp(c->name, chain->name) == 0) {
            return cbx_fail(l->err, CBX_EPOLICY, "'extends' goes in a circle through '%s'",
                            chain->name);
        }
    }
    return 0;
}

/* The place of a policy: a file, or a preset. */
struct origin {
    char path[PATH_MAX], beside[PATH_MAX];
    const char *folder; /* folder of the files that it extends, in `beside`; NULL for a preset */
    struct cbx_str text;
    const struct cbx_preset *preset; /* NULL for a file */
};

/* Reads the file of this name, relative to the folder. */
static int open_file(struct loader *l, const char *name, const char *folder, struct origin *out)
{
    if (folder == NULL) {
        return cbx_fail(l->err, CBX_EPOLICY,
                        "a policy without a file of its own extends only presets, not '%s'", name);
    }
    bool relative = name[0] != '/' && folder[0] != '\0';
    int n = snprintf(out->path, sizeof(out->path), "%s%s%s", relative ? folder : "",
                     relative ? "/" : "", name);
    if (n >= (int)sizeof(out->path)) {
        return cbx_fail(l->err, CBX_ETOOBIG, "the path of the policy is too long");
    }
    snprintf(out->beside, sizeof(out->beside), "%s", out->path);
    char *slash = strrchr(out->beside, '/');
    if (slash != NULL) {
        *(slash == out->beside ? slash + 1 : slash) = '\0';
    } else {
        out->beside[0] = '\0';
    }
    out->folder = out->beside;
    return read_file(l, out->path, &out->text);
}

static int open_preset(struct loader *l, const char *name, struct origin *out)
{
    out->preset = find_preset(name);
    if (out->preset == NULL) {
        return fail_unknown_preset(l, name);
    }
    out->text = (struct cbx_str){ .p = out->preset->begin,
                                  .len = (size_t)(out->preset->end - out->preset->begin) };
    snprintf(out->path, sizeof(out->path), "%s", name);
    return 0;
}

static int load_draft(struct loader *l, const char *name, const char *folder,
                      const struct chain *up, struct cbx_image *out)
{
    struct origin from;
    from.folder = NULL;
    from.preset = NULL;
    int failed;
    if (is_path(name)) {
        failed = open_file(l, name, folder, &from);
    } else {
        failed = open_preset(l, name, &from);
    }
    if (failed) {
        return failed;
    }
    struct chain chain = { .name = from.path, .up = up, .depth = up != NULL ? up->depth + 1 : 0 };
    failed = check_chain(l, &chain);
    if (failed) {
        return failed;
    }
    const struct cbx_preset *preset = from.preset;
    if (preset != NULL && preset->image_begin != NULL && !l->from_source) {
        struct cbx_str image = { .p = preset->image_begin,
                                 .len = (size_t)(preset->image_end - preset->image_begin) };
        return cbx_image_read(image, l->arena, out, l->err);
    }
    failed = parse_draft(l, from.text, from.folder, &chain, &out->draft);
    /* Line and column are places in the innermost file: the outer files are not named. */
    if (failed && l->err != NULL && strncmp(l->err->text, "policy ", 7) != 0) {
        cbx_wrap(l->err, "policy '%s'", from.path);
    }
    return failed;
}

/* Sets the limits that no policy along `extends` gives. */
static void set_default_limits(struct cbx_draft_limits *limits)
{
    struct cbx_limits defaults;
    cbx_limits_default(&defaults);
    for (size_t i = 0; i < cbx_section_limits.key_count; i++) {
        const struct cbx_key *key = &cbx_section_limits.keys[i];
        if (key->type != CBX_KEY_BOOL && (limits->head.given >> i & 1) == 0) {
            size_t within = key->offset - offsetof(struct cbx_draft_limits, v);
            memcpy((char *)limits + key->offset, (const char *)&defaults + within, sizeof(int64_t));
        }
    }
}

static int hash_policy(struct cbx_policy *policy, struct cbx_err *err)
{
    CBX_AUTO_JSON json = cbx_policy_json(policy);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_POLICY_ARENA_MAX);
    if (cbx_json_write(&text, json) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    policy->sha256 = cbx_sha256_of(cbx_buf_str(&text));
    return 0;
}

static int seal(const struct cbx_image *loaded, struct cbx_policy *policy, struct cbx_err *err)
{
    struct cbx_draft *draft = cbx_arena_alloc(&policy->arena, sizeof(*draft));
    struct cbx_rule *rules =
        cbx_arena_array(&policy->arena, loaded->draft.rule_count + 1, sizeof(*rules));
    if (draft == NULL || rules == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    *draft = loaded->draft;
    draft->version = 1;
    for (size_t i = 0; i < draft->rule_count; i++) {
        rules[i] = draft->rules[i].v;
    }
    struct cbx_draft_limits limits = draft->limits;
    set_default_limits(&limits);
    policy->draft = draft;
    policy->name = draft->name;
    policy->description = draft->description;
    policy->languages = draft->languages;
    policy->log_only = draft->log_only;
    policy->four_eyes = draft->four_eyes;
    policy->rules = rules;
    policy->rule_count = draft->rule_count;
    policy->shell_allow = draft->shell.allow;
    policy->pip = draft->packages.pip.v;
    policy->npm = draft->packages.npm.v;
    policy->mounts = draft->mounts.v;
    policy->limits = limits.v;
    policy->network = draft->network.mode;
    policy->egress = draft->network.egress;
    policy->network_test_deny = draft->network.test_deny;
    policy->network_test_allow = draft->network.test_allow;
    policy->environment_pass = draft->environment.pass;
    policy->environment_set = draft->environment.set;
    policy->environment_test_deny = draft->environment.test_deny;
    policy->environment_test_allow = draft->environment.test_allow;
    policy->secrets = draft->environment.secrets;
    policy->secret_count = draft->environment.secret_count;
    policy->guard = draft->guard.v;
    policy->exceptions = draft->exceptions;
    policy->exception_count = draft->exception_count;
    policy->images = draft->images.v;
    policy->inline_suppressions = draft->suppressions.in_source;
    if (loaded->index != NULL) { /* a compiled preset */
        policy->sha256 = loaded->sha256;
        policy->index = loaded->index;
        return 0;
    }
    int failed = hash_policy(policy, err);
    if (failed) {
        return failed;
    }
    return cbx_index_build(policy, err);
}

json_t *cbx_policy_json(const struct cbx_policy *policy)
{
    struct cbx_draft draft = *policy->draft;
    set_default_limits(&draft.limits);
    return cbx_section_json(&cbx_section_policy, &draft);
}

static struct cbx_policy *new_policy(void)
{
    struct cbx_policy *policy = cbx_new(sizeof(*policy));
    /* jansson reads /dev/urandom when it creates its first object, and a worker with its policy
     * is confined */
    json_object_seed(0);
    cbx_arena_init(&policy->arena, CBX_POLICY_ARENA_MAX);
    return policy;
}

static int load(const char *name, bool from_source, struct cbx_policy **out, struct cbx_err *err)
{
    CBX_AUTO(policy) policy = new_policy();
    struct loader l = { .arena = &policy->arena, .err = err, .from_source = from_source };
    struct cbx_image loaded = { 0 };
    int failed = load_draft(&l, name, "", NULL, &loaded);
    if (failed) {
        return failed;
    }
    failed = seal(&loaded, policy, err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&policy);
    return 0;
}

int cbx_policy_load(const char *name, struct cbx_policy **out, struct cbx_err *err)
{
    return load(name, false, out, err);
}

int cbx_policy_load_source(const char *name, struct cbx_policy **out, struct cbx_err *err)
{
    return load(name, true, out, err);
}

int cbx_policy_write(const struct cbx_policy *policy, struct cbx_buf *out, struct cbx_err *err)
{
    return cbx_image_write(policy, out, err);
}

int cbx_policy_read(struct cbx_str bytes, struct cbx_policy **out, struct cbx_err *err)
{
    CBX_AUTO(policy) policy = new_policy();
    struct cbx_image loaded = { 0 };
    int failed = cbx_image_read(bytes, &policy->arena, &loaded, err);
    if (failed) {
        return failed;
    }
    failed = seal(&loaded, policy, err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&policy);
    return 0;
}

int cbx_policy_parse(struct cbx_str yaml, const char *label, struct cbx_policy **out,
                     struct cbx_err *err)
{
    if (yaml.len > CBX_POLICY_FILE_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy has %zu bytes, allowed are %d", yaml.len,
                        CBX_POLICY_FILE_MAX);
    }
    CBX_AUTO(policy) policy = new_policy();
    struct loader l = { .arena = &policy->arena, .err = err };
    struct chain chain = { .name = label };
    struct cbx_image loaded = { 0 };
    int failed = parse_draft(&l, cbx_arena_copy(&policy->arena, yaml), NULL, &chain, &loaded.draft);
    if (failed && err != NULL && strncmp(err->text, "policy ", 7) != 0) {
        cbx_wrap(err, "policy '%s'", label);
    }
    if (failed) {
        return failed;
    }
    failed = seal(&loaded, policy, err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&policy);
    return 0;
}

void cbx_policy_free(struct cbx_policy *policy)
{
    if (policy != NULL) {
        cbx_arena_done(&policy->arena);
        free(policy);
    }
}
