/* SPDX-License-Identifier: MIT
 * Compares the Pod that a cluster made with the one that was asked for. Admission webhooks may
 * change a Pod before it exists: a second container, a volume of the host, a weaker profile. */
#include "docker/engine/kubernetes/kube.h"

#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 256, DEPTH_MAX = 16 };

/* Members that an API server or its plugins fill in. "[]" is any item of an array. A value is JSON
 * text; NULL = any: it cannot weaken the sandbox. Whole subtrees end with ".*". */
static const struct {
    const char *path, *value;
} fillable[] = {
    /* Notes of admission plugins: what LimitRanger filled in, the policy that allowed the Pod
     * (Kubernetes before 1.25). */
    { "metadata.annotations.kubernetes.io/limit-ranger", NULL },
    { "metadata.annotations.kubernetes.io/psp", NULL },
    { "spec.serviceAccount", NULL },
    { "spec.serviceAccountName", NULL },
    { "spec.schedulerName", NULL },
    { "spec.priority", NULL },
    { "spec.priorityClassName", NULL },
    { "spec.preemptionPolicy", NULL },
    { "spec.overhead.*", NULL },
    { "spec.nodeSelector.*", NULL },
    { "spec.nodeName", NULL },
    { "spec.affinity.*", NULL },
    { "spec.topologySpreadConstraints.*", NULL },
    { "spec.imagePullSecrets.*", NULL },
    { "spec.tolerations.*", NULL },
    { "spec.containers[].terminationMessagePath", "\"/dev/termination-log\"" },
    { "spec.containers[].terminationMessagePolicy", "\"File\"" },
    { "spec.containers[].securityContext.procMount", "\"Default\"" },
    { "spec.containers[].resizePolicy.*", NULL },
    /* defaults of a LimitRange; the sandbox asks for no disk of the node */
    { "spec.containers[].resources.limits.ephemeral-storage", NULL },
    { "spec.containers[].resources.requests.ephemeral-storage", NULL },
};

static int refuse(struct cbx_err *err, const char *path, const json_t *found)
{
    CBX_AUTO_MEM char *text = json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY);
    bool users = strcmp(path, "spec.hostUsers") == 0 && found == NULL;
    cbx_fail(err, CBX_EENGINE, "the cluster changed the sandbox's Pod, so it does not run");
    cbx_err_detail(err, "%s is %.120s in the Pod that the cluster made; %s", path,
                   text != NULL ? text : "missing",
                   users ? "it needs Kubernetes 1.30, or 'host-users: true' in the settings"
                         : "exclude the namespace from admission webhooks that change Pods");
    return CBX_EENGINE;
}

static bool may_be_filled(const char *path, const json_t *value)
{
    for (size_t i = 0; i < sizeof(fillable) / sizeof(fillable[0]); i++) {
        const char *allowed = fillable[i].path;
        size_t len = strlen(allowed);
        bool subtree = len > 2 && strcmp(allowed + len - 2, ".*") == 0;
        if (subtree ? strncmp(path, allowed, len - 2) == 0 &&
                          (path[len - 2] == '\0' || path[len - 2] == '.' || path[len - 2] == '[')
                    : strcmp(path, allowed) == 0) {
            CBX_AUTO_MEM char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
            return fillable[i].value == NULL ||
                   (text != NULL && strcmp(text, fillable[i].value) == 0);
        }
    }
    return false;
}

/* --- quantities ("500m", "1Gi"), which an API server rewrites --------------------------------- */

/* In thousandths; -1 if it is no quantity, or a very large one. */
static int64_t read_quantity(const char *text)
{
    static const struct {
        const char *suffix;
        int64_t factor;
    } suffixes[] = {
        { "m", 1 },
        { "", 1000 },
        { "k", 1000 * 1000LL },
        { "M", 1000 * 1000000LL },
        { "G", 1000 * 1000000000LL },
        { "T", 1000 * 1000000000000LL },
        { "Ki", 1000 * 1024LL },
        { "Mi", 1000 * 1048576LL },
        { "Gi", 1000 * 1073741824LL },
        { "Ti", 1000 * 1099511627776LL },
    };
    char *end;
    long long number = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (end != text && strcmp(end, suffixes[i].suffix) == 0 && number >= 0 &&
            number <= INT64_MAX / suffixes[i].factor) {
            return number * suffixes[i].factor;
        }
    }
    return -1;
}

static bool same_quantity(const char *path, const json_t *a, const json_t *b)
{
    if (strstr(path, ".resources.") == NULL && strstr(path, ".sizeLimit") == NULL) {
        return false;
    }
    int64_t asked = json_is_string(a) ? read_quantity(json_string_value(a)) : -1;
    int64_t made = json_is_string(b) ? read_quantity(json_string_value(b)) : -1;
    return asked >= 0 && asked == made;
}

/* --- other forms of the same ------------------------------------------------------------------ */

/* An API server leaves these out. */
static bool is_empty(const json_t *value)
{
    return (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

/* The admission plugin AlwaysPullImages. */
static bool pulls_more_often(const char *path, const json_t *asked, const json_t *made)
{
    return strcmp(path, "spec.containers[].imagePullPolicy") == 0 &&
           cbx_str_is(cbx_json_str(asked), "IfNotPresent") &&
           cbx_str_is(cbx_json_str(made), "Always");
}

/* Returns a profile in the form of an annotation (new reference); NULL if there is none. */
static json_t *profile_text(const json_t *profile)
{
    struct cbx_str type = cbx_json_str(json_object_get(profile, "type"));
    if (cbx_str_is(type, "RuntimeDefault")) {
        return json_string("runtime/default");
    }
    if (cbx_str_is(type, "Localhost")) {
        return json_sprintf("localhost/%.*s", CBX_JSON_ARG(profile, "localhostProfile"));
    }
    return NULL;
}

/* Returns the annotations that the made Pod must have (new reference). API servers repeat profiles
 * as annotations of older versions: seccomp before 1.27, AppArmor since 1.30. */
static json_t *expected_annotations(const json_t *asked, const json_t *made)
{
    const json_t *spec = json_object_get(asked, "spec");
    const json_t *container = json_array_get(json_object_get(spec, "containers"), 0);
    const struct {
        const char *name;
        const json_t *profile;
    } repeated[] = {
        { "seccomp.security.alpha.kubernetes.io/pod",
          json_object_get(json_object_get(spec, "securityContext"), "seccompProfile") },
        { "container.apparmor.security.beta.kubernetes.io/sandbox",
          json_object_get(json_object_get(container, "securityContext"), "appArmorProfile") },
    };
    json_t *annotations = json_object();
    json_object_update(annotations,
                       json_object_get(json_object_get(asked, "metadata"), "annotations"));
    for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++) {
        json_t *text = profile_text(repeated[i].profile);
        if (text != NULL && json_object_get(made, repeated[i].name) != NULL) {
            json_object_set(annotations, repeated[i].name, text);
        }
        json_decref(text);
    }
    return annotations;
}

/* --- the comparison --------------------------------------------------------------------------- */

static int compare(const json_t *asked, const json_t *made, const char *path, int depth,
                   struct cbx_err *err);

static int compare_objects(const json_t *asked, const json_t *made, const char *path, int depth,
                           struct cbx_err *err)
{
    const char *name;
    json_t *value;
    char member[PATH_BYTES];
    json_object_foreach((json_t *)asked, name, value)
    {
        snprintf(member, sizeof(member), "%s.%s", path, name);
        int failed = compare(value, json_object_get(made, name), member, depth + 1, err);
        if (failed) {
            return failed;
        }
    }
    json_object_foreach((json_t *)made, name, value)
    {
        snprintf(member, sizeof(member), "%s.%s", path, name);
        if (json_object_get(asked, name) == NULL && !may_be_filled(member, value)) {
            return refuse(err, member, value);
        }
    }
    return 0;
}

static int compare_arrays(const json_t *asked, const json_t *made, const char *path, int depth,
                          struct cbx_err *err)
{
    char item[PATH_BYTES];
    snprintf(item, sizeof(item), "%s[]", path);
    size_t count = json_array_size(asked);
    if (json_array_size(made) < count ||
        (json_array_size(made) > count && !may_be_filled(item, made))) {
        return refuse(err, path, made);
    }
    for (size_t i = 0; i < count; i++) {
        int failed =
            compare(json_array_get(asked, i), json_array_get(made, i), item, depth + 1, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static int compare(const json_t *asked, const json_t *made, const char *path, int depth,
                   struct cbx_err *err)
{
    if (json_is_object(asked) && json_is_object(made) && depth < DEPTH_MAX) {
        return compare_objects(asked, made, path, depth, err);
    }
    if (json_is_array(asked) && json_is_array(made) && depth < DEPTH_MAX) {
        return compare_arrays(asked, made, path, depth, err);
    }
    if (made == NULL && is_empty(asked)) {
        return 0;
    }
    if (made != NULL && (json_equal(asked, made) || same_quantity(path, asked, made) ||
                         pulls_more_often(path, asked, made))) {
        return 0;
    }
    return refuse(err, path, made);
}

/* The other members of the metadata are the API server's own. A Pod with another name would be
 * out of the gateway's control. */
static int compare_metadata(const json_t *asked, const json_t *made, struct cbx_err *err)
{
    static const char *const parts[] = { "name", "namespace", "labels", "finalizers",
                                         "ownerReferences" };
    CBX_AUTO_JSON none = json_object();
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[64];
        const json_t *want = json_object_get(asked, parts[i]),
                     *found = json_object_get(made, parts[i]);
        snprintf(path, sizeof(path), "metadata.%s", parts[i]);
        if (want == NULL && found == NULL) {
            continue;
        }
        int failed = compare(want != NULL ? want : none, found, path, 0, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_kube_pod_compare(const json_t *asked, const json_t *made, struct cbx_err *err)
{
    const json_t *metadata = json_object_get(made, "metadata");
    const json_t *annotations = json_object_get(metadata, "annotations");
    CBX_AUTO_JSON none = json_object();
    CBX_AUTO_JSON expected = expected_annotations(asked, annotations);
    int failed = compare_metadata(json_object_get(asked, "metadata"), metadata, err);
    if (failed) {
        return failed;
    }
    failed =
        compare(expected, annotations != NULL ? annotations : none, "metadata.annotations", 0, err);
    if (failed) {
        return failed;
    }
    return compare(json_object_get(asked, "spec"), json_object_get(made, "spec"), "spec", 0, err);
}
