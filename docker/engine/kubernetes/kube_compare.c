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
    /* Kubernetes before 1.27 repeats spec.securityContext.seccompProfile here, and requires that
     * both agree. */
    { "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod", NULL },
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
    if (made != NULL && (json_equal(asked, made) || same_quantity(path, asked, made))) {
        return 0;
    }
    return refuse(err, path, made);
}

int cbx_kube_pod_compare(const json_t *asked, const json_t *made, struct cbx_err *err)
{
    const json_t *asked_meta = json_object_get(asked, "metadata"),
                 *made_meta = json_object_get(made, "metadata");
    /* The other members of the metadata are the API server's own. */
    static const char *const parts[] = { "labels", "annotations", "finalizers", "ownerReferences" };
    CBX_AUTO_JSON none = json_object();
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[64];
        const json_t *want = json_object_get(asked_meta, parts[i]),
                     *found = json_object_get(made_meta, parts[i]);
        snprintf(path, sizeof(path), "metadata.%s", parts[i]);
        if (want == NULL && found == NULL) {
            continue;
        }
        int failed = compare(want != NULL ? want : none, found, path, 0, err);
        if (failed) {
            return failed;
        }
    }
    return compare(json_object_get(asked, "spec"), json_object_get(made, "spec"), "spec", 0, err);
}
