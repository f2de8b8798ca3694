/* SPDX-License-Identifier: MIT
 * Converts uv.lock to requirements with hashes. The file is a graph: edges have markers, packages
 * have none. A package is needed if the markers of one path from the project to it all hold, so
 * its marker is the alternative of the paths, each the conjunction of its edges. pip evaluates the
 * result. */
#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/locks/lockfile_internal.h"
#include "policies/base/sort.h"
#include "policies/versions/pinned.h"
#include "policies/versions/requirement.h"

enum {
    PACKAGES_MAX = 5000,
    NODES_MAX = 20000,
    MARKERS_MAX = 500,    /* maximum of different markers */
    WAYS_MAX = 32,        /* maximum of alternatives of one package */
    WAY_MARKERS_MAX = 12, /* maximum of parts of one alternative */
    STEPS_MAX = 2000000,
};

/* A conjunction: numbers of markers in ascending order. An empty one always holds. */
struct way {
    uint16_t markers[WAY_MARKERS_MAX];
    size_t count;
};

/* The condition under which a package is needed. Zeroed memory: never. */
struct need {
    struct way ways[WAYS_MAX];
    size_t count;
};

/* A package, or one of its extras. */
struct node {
    struct package *package;
    struct cbx_str extra; /* empty: the package itself */
    struct need need;
    bool queued;
    struct node *next, *next_queued; /* the node of the package */
};

struct package {
    const struct cbx_doc_node *entry;
    struct cbx_str name, version;
    bool root;
    struct node *nodes;
};

struct graph {
    struct cbx_lockfile *lockfile;
    struct cbx_arena *arena;
    struct cbx_err *err;
    struct package *packages; /* by name */
    size_t package_count, node_count, steps;
    struct cbx_str markers[MARKERS_MAX];
    size_t marker_count;
    struct node *first, *last; /* the queue */
};

static int fail_memory(struct graph *g)
{
    return cbx_fail(g->err, CBX_ETOOBIG, "out of the analysis's memory");
}

/* --- packages --------------------------------------------------------------------------------- */

static int add_package(void *context, const struct cbx_doc_node *entry)
{
    struct graph *g = context;
    if (g->package_count == PACKAGES_MAX) {
        return cbx_fail(g->err, CBX_ETOOBIG, "the lock file has more than %d packages",
                        PACKAGES_MAX);
    }
    g->packages[g->package_count++] = (struct package){ .entry = entry,
                                                        .name = cbx_doc_text(entry, "name"),
                                                        .version = cbx_doc_text(entry, "version") };
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct package *x = a, *y = b;
    return cbx_str_compare(x->name, y->name);
}

/* Returns the first package of a name; NULL if there is none. */
static struct package *find_name(struct graph *g, struct cbx_str name)
{
    size_t low = 0, high = g->package_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cbx_str_compare(g->packages[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < g->package_count && cbx_str_equal(g->packages[low].name, name);
    return found ? &g->packages[low] : NULL;
}

/* Returns the package that an edge means. If a file has several versions of a package for
 * several platforms, its edges have the version. */
static int find_target(struct graph *g, const struct cbx_doc_node *edge, struct package **out)
{
    struct cbx_str name = cbx_doc_text(edge, "name"), version = cbx_doc_text(edge, "version");
    struct package *at = find_name(g, name), *end = g->packages + g->package_count, *found = NULL;
    size_t count = 0;
    for (; at != NULL && at < end && cbx_str_equal(at->name, name); at++) {
        if (version.len == 0 || cbx_str_equal(at->version, version)) {
            found = at;
            count++;
        }
    }
    if (count != 1) {
        return cbx_lockfile_fail(g->lockfile, edge->start, g->err,
                                 "a package needs '%.*s' %.*s, which the lock file has %zu times, "
                                 "allowed is once ('uv lock' renews the file)",
                                 CBX_STR_SHOWN(name), CBX_STR_SHOWN(version), count);
    }
    *out = found;
    return 0;
}

static struct cbx_str folder_of(const struct cbx_doc_node *source)
{
    static const char *const keys[] = { "virtual", "editable", "directory", "path" };
    struct cbx_str folder = CBX_STR("");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && folder.len == 0; i++) {
        folder = cbx_doc_text(source, keys[i]);
    }
    return folder;
}

/* Returns the project of the lock file: the package in the folder of the file; in a workspace
 * without such a project its members. */
static bool mark_roots(struct graph *g)
{
    bool found = false;
    for (int members = 0; members < 2 && !found; members++) {
        for (size_t i = 0; i < g->package_count; i++) {
            const struct cbx_doc_node *source = cbx_doc_get(g->packages[i].entry, "source");
            bool member =
                cbx_doc_text(source, "virtual").len > 0 || cbx_doc_text(source, "editable").len > 0;
            if (member && (members == 1 || cbx_str_is(folder_of(source), "."))) {
                g->packages[i].root = true;
                found = true;
            }
        }
    }
    return found;
}

/* --- when packages are needed ----------------------------------------------------------------- */

static bool is_within(const struct way *part, const struct way *whole)
{
    size_t k = 0;
    for (size_t i = 0; i < whole->count && k < part->count; i++) {
        k += part->markers[k] == whole->markers[i];
    }
    return k == part->count;
}

/* A path that another one implies adds nothing. *changed is set if the condition changed. */
static int add_way(struct graph *g, const struct package *package, struct need *need,
                   const struct way *way, bool *changed)
{
    size_t kept = 0;
    for (size_t i = 0; i < need->count; i++) {
        if (is_within(&need->ways[i], way)) {
            return 0;
        }
    }
    for (size_t i = 0; i < need->count; i++) {
        if (!is_within(way, &need->ways[i])) {
            need->ways[kept++] = need->ways[i];
        }
    }
    if (kept == WAYS_MAX) {
        return cbx_fail(g->err, CBX_ETOOBIG,
                        "'%.*s' is needed under more than %d conditions, which are more than can "
                        "be installed from",
                        CBX_STR_SHOWN(package->name), WAYS_MAX);
    }
    need->ways[kept++] = *way;
    need->count = kept;
    *changed = true;
    return 0;
}

static int number_of(struct graph *g, const struct cbx_doc_node *marker, uint16_t *out)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_PINNED_BYTES_MAX);
    int failed = cbx_lockfile_add_marker(g->lockfile, marker->text, marker->start, &text, g->err);
    if (failed) {
        return failed;
    }
    for (size_t i = 0; i < g->marker_count; i++) {
        if (cbx_str_equal(g->markers[i], cbx_buf_str(&text))) {
            *out = (uint16_t)i;
            return 0;
        }
    }
    if (g->marker_count == MARKERS_MAX) {
        return cbx_fail(g->err, CBX_ETOOBIG, "the lock file has more than %d different markers",
                        MARKERS_MAX);
    }
    g->markers[g->marker_count] = cbx_arena_copy(g->arena, cbx_buf_str(&text));
    *out = (uint16_t)g->marker_count;
    if (g->markers[g->marker_count++].p == NULL) {
        return fail_memory(g);
    }
    return 0;
}

/* Adds a marker to a conjunction, once and in order. */
static bool join(struct way *way, uint16_t marker)
{
    size_t at = 0;
    while (at < way->count && way->markers[at] < marker) {
        at++;
    }
    if (at < way->count && way->markers[at] == marker) {
        return true;
    }
    if (way->count == WAY_MARKERS_MAX) {
        return false;
    }
    memmove(&way->markers[at + 1], &way->markers[at], (way->count - at) * sizeof(way->markers[0]));
    way->markers[at] = marker;
    way->count++;
    return true;
}

static struct node *find_node(struct graph *g, struct package *package, struct cbx_str extra)
{
    struct node *node = package->nodes;
    while (node != NULL && !cbx_str_equal(node->extra, extra)) {
        node = node->next;
    }
    if (node != NULL || g->node_count == NODES_MAX) {
        return node;
    }
    node = cbx_arena_alloc(g->arena, sizeof(*node));
    if (node != NULL) {
        *node = (struct node){ .package = package, .extra = extra, .next = package->nodes };
        package->nodes = node;
        g->node_count++;
    }
    return node;
}

static void enqueue(struct graph *g, struct node *node)
{
    if (node->queued) {
        return;
    }
    node->queued = true;
    node->next_queued = NULL;
    if (g->first == NULL) {
        g->first = node;
    } else {
        g->last->next_queued = node;
    }
    g->last = node;
}

/* Adds that the package, or an extra of it, is needed on each path of `from` if the marker
 * (NULL: none) holds too. */
static int need_node(struct graph *g, const struct need *from, const uint16_t *marker,
                     struct package *package, struct cbx_str extra)
{
    struct node *node = find_node(g, package, extra);
    bool changed = false;
    if (node == NULL) {
        return fail_memory(g);
    }
    for (size_t i = 0; i < from->count; i++) {
        struct way way = from->ways[i];
        if (marker != NULL && !join(&way, *marker)) {
            return cbx_fail(g->err, CBX_ETOOBIG,
                            "'%.*s' is needed under a condition of more than %d markers, which "
                            "are more than can be installed from",
                            CBX_STR_SHOWN(package->name), WAY_MARKERS_MAX);
        }
        int failed = add_way(g, package, &node->need, &way, &changed);
        if (failed) {
            return failed;
        }
        if (++g->steps > STEPS_MAX) {
            return cbx_fail(g->err, CBX_ETOOBIG,
                            "the conditions of the lock file take too many steps to join");
        }
    }
    if (changed) {
        enqueue(g, node);
    }
    return 0;
}

/* Reads an item of a list of dependencies: {name, version, extra, marker}. */
static int follow_edge(struct graph *g, const struct need *from, const struct cbx_doc_node *edge)
{
    const struct cbx_doc_node *marker = cbx_doc_get(edge, "marker");
    const struct cbx_doc_node *extras = cbx_doc_get(edge, "extra");
    struct package *target = NULL;
    uint16_t number = 0;
    bool conditional = marker != NULL && marker->text.len > 0;
    if (edge->kind != CBX_DOC_MAP) {
        return cbx_lockfile_fail(g->lockfile, edge->start, g->err,
                                 "a dependency that is no table, allowed is { name = \"...\" }");
    }
    if (conditional && cbx_marker_read(marker->text) == CBX_MARKER_NEVER) {
        return 0; /* for another platform */
    }
    int failed = find_target(g, edge, &target);
    if (!failed && conditional) {
        failed = number_of(g, marker, &number);
    }
    if (failed) {
        return failed;
    }
    const uint16_t *condition = conditional ? &number : NULL;
    failed = need_node(g, from, condition, target, CBX_STR(""));
    const struct cbx_doc_node *extra = extras != NULL ? extras->first : NULL;
    for (; extra != NULL && !failed; extra = extra->next) {
        failed = need_node(g, from, condition, target, extra->text);
    }
    return failed;
}

static int follow_list(struct graph *g, const struct need *from, const struct cbx_doc_node *list)
{
    const struct cbx_doc_node *edge = list != NULL ? list->first : NULL;
    for (; edge != NULL; edge = edge->next) {
        int failed = follow_edge(g, from, edge);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static const struct cbx_doc_node *get_text(const struct cbx_doc_node *map, struct cbx_str key)
{
    const struct cbx_doc_node *at = map != NULL && map->kind == CBX_DOC_MAP ? map->first : NULL;
    while (at != NULL && !cbx_str_equal(at->key, key)) {
        at = at->next;
    }
    return at;
}

static int follow_node(struct graph *g, struct node *node)
{
    const struct cbx_doc_node *entry = node->package->entry;
    const struct need from = node->need; /* a cycle may change the node's own condition */
    if (node->extra.len > 0) {
        return follow_list(g, &from,
                           get_text(cbx_doc_get(entry, "optional-dependencies"), node->extra));
    }
    int failed = follow_list(g, &from, cbx_doc_get(entry, "dependencies"));
    if (failed || !node->package->root) {
        return failed;
    }
    return follow_list(g, &from, cbx_doc_get(cbx_doc_get(entry, "dev-dependencies"), "dev"));
}

static int walk(struct graph *g)
{
    const struct need always = { .count = 1 };
    for (size_t i = 0; i < g->package_count; i++) {
        if (!g->packages[i].root) {
            continue;
        }
        int failed = need_node(g, &always, NULL, &g->packages[i], CBX_STR(""));
        if (failed) {
            return failed;
        }
    }
    while (g->first != NULL) {
        struct node *node = g->first;
        g->first = node->next_queued;
        node->queued = false;
        int failed = follow_node(g, node);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int check_source(struct graph *g, const struct package *package)
{
    const struct cbx_doc_node *source = cbx_doc_get(package->entry, "source");
    static const char *const keys[] = { "git", "url" };
    struct cbx_str from = folder_of(source);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && from.len == 0; i++) {
        from = cbx_doc_text(source, keys[i]);
    }
    struct cbx_str registry = cbx_doc_text(source, "registry");
    bool web = cbx_str_starts(registry, CBX_STR("https://")) ||
               cbx_str_starts(registry, CBX_STR("http://"));
    if (from.len == 0 && web) {
        return 0;
    }
    from = from.len > 0 ? from : registry;
    return cbx_lockfile_fail(g->lockfile, package->entry->start, g->err,
                             "'%.*s' comes from '%.*s', allowed are packages of an index "
                             "(source = { registry = \"https://...\" })",
                             CBX_STR_SHOWN(package->name), CBX_STR_SHOWN(from));
}

/* Writes "(a) and (b) or (c)"; a single marker has no parentheses. */
static void add_need(const struct graph *g, const struct need *need, struct cbx_buf *line)
{
    bool one = need->count == 1 && need->ways[0].count == 1;
    cbx_buf_add_cstr(line, " ; ");
    for (size_t i = 0; i < need->count; i++) {
        cbx_buf_add_cstr(line, i > 0 ? " or " : "");
        for (size_t k = 0; k < need->ways[i].count; k++) {
            cbx_buf_add_cstr(line, k > 0 ? " and " : "");
            cbx_buf_add_cstr(line, one ? "" : "(");
            cbx_buf_add(line, g->markers[need->ways[i].markers[k]]);
            cbx_buf_add_cstr(line, one ? "" : ")");
        }
    }
}

static int add_line(struct graph *g, const struct package *package, struct cbx_buf *out)
{
    struct need need = { 0 };
    bool changed;
    for (const struct node *node = package->nodes; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->need.count; i++) {
            int failed = add_way(g, package, &need, &node->need.ways[i], &changed);
            if (failed) {
                return failed;
            }
        }
    }
    if (need.count == 0 || package->root) {
        return 0;
    }
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_PINNED_BYTES_MAX + 1);
    cbx_buf_printf(&line, "%.*s==%.*s", CBX_STR_ARG(package->name), CBX_STR_ARG(package->version));
    if (need.ways[0].count > 0) {
        add_need(g, &need, &line);
    }
    int failed = check_source(g, package);
    if (failed) {
        return failed;
    }
    failed = cbx_lockfile_add_wheels(g->lockfile, package->entry, &line, g->err);
    if (failed) {
        return failed;
    }
    if (line.overflow) {
        return cbx_fail(g->err, CBX_ETOOBIG,
                        "'%.*s' has more than %d bytes of conditions and hashes",
                        CBX_STR_SHOWN(package->name), CBX_PINNED_BYTES_MAX);
    }
    return cbx_lockfile_add_line(g->lockfile, cbx_buf_str(&line), package->entry->start, out,
                                 g->err);
}

int cbx_lockfile_read_uv(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                         struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    struct graph *g = cbx_arena_alloc(arena, sizeof(*g));
    if (g == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    *g = (struct graph){ .lockfile = lockfile, .arena = arena, .err = err };
    g->packages = cbx_arena_array(arena, PACKAGES_MAX, sizeof(*g->packages));
    if (g->packages == NULL) {
        return fail_memory(g);
    }
    int failed = cbx_doc_read_toml(lockfile->manifest.text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    const struct cbx_doc_node *version = cbx_doc_get(doc.root, "version");
    if (version == NULL || !cbx_str_is(version->text, "1")) {
        return cbx_fail(err, CBX_EINVAL, "version is '%.*s', allowed is 1: what uv.lock has",
                        CBX_STR_SHOWN(version != NULL ? version->text : CBX_STR("missing")));
    }
    failed = cbx_doc_each(&doc, "package[]", add_package, g, err);
    if (failed) {
        return failed;
    }
    cbx_sort_heap(g->packages, g->package_count, sizeof(*g->packages), compare_names);
    if (!mark_roots(g)) {
        return cbx_fail(err, CBX_EINVAL,
                        "the lock file is of no project: no package has a source 'virtual' or "
                        "'editable', allowed is what 'uv lock' writes for a project");
    }
    failed = walk(g);
    for (size_t i = 0; i < g->package_count && !failed; i++) {
        failed = add_line(g, &g->packages[i], out);
    }
    return failed;
}
