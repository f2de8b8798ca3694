/* SPDX-License-Identifier: MIT
 * Finds programs that a source writes and then loads. */
#include "analyzer/past/written.h"

#include "analyzer/facts/sinks.h"

static bool is_code(struct cbx_str path)
{
    static const char *const endings[] = { ".py", ".pyc", ".so", ".js", ".mjs", ".cjs", ".node" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (cbx_str_ends(path, cbx_str_of(endings[i]))) {
            return true;
        }
    }
    return false;
}

/* Returns the module of a file: b for "a/b.py"; for a package's own file the name of its folder. */
static struct cbx_str module_of(struct cbx_str path)
{
    size_t end = path.len;
    for (int level = 0; level < 2; level++) {
        size_t from = end;
        while (from > 0 && path.p[from - 1] != '/') {
            from--;
        }
        struct cbx_str name = cbx_str_sub(path, from, end);
        const char *dot = name.len > 0 ? memchr(name.p, '.', name.len) : NULL;
        name.len = dot != NULL ? (size_t)(dot - name.p) : name.len;
        if ((!cbx_str_is(name, "__init__") && !cbx_str_is(name, "index")) || from == 0) {
            return name;
        }
        end = from - 1;
    }
    return (struct cbx_str){ 0 };
}

/* Returns true if the mode writes, as in open(path, 'w'); the function can also read. */
static bool has_mode(const struct cbx_fact *call)
{
    enum { MODE_MAX_BYTES = 3 };
    for (uint32_t i = 0; i < call->arg_count; i++) {
        struct cbx_str mode = call->args[i].value;
        for (size_t c = 0; call->args[i].constant && mode.len <= MODE_MAX_BYTES && c < mode.len;
             c++) {
            if (memchr("wax+", mode.p[c], 4) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static bool writes(const struct cbx_fact *call)
{
    uint32_t can = cbx_sinks_of(call->language, call->name);
    bool reads = (can >> CBX_CAN_FILE_READ & 1) != 0;
    return (can >> CBX_CAN_FILE_WRITE & 1) != 0 && (!reads || has_mode(call));
}

static void take_paths(const struct cbx_fact *call, const struct cbx_str *paths, uint32_t count,
                       struct cbx_written *out)
{
    for (uint32_t i = 0; i < count && out->count < CBX_WRITTEN_MAX; i++) {
        if (is_code(paths[i]) && writes(call)) {
            struct cbx_str module = module_of(paths[i]);
            bool whole = module.len > 0 && memchr(module.p, '*', module.len) == NULL;
            out->modules[out->count] = module;
            out->count += whole;
        }
    }
}

/* Returns true if a part of a dotted name or path is the name of such a module. */
static bool names_one(struct cbx_str import, const struct cbx_written *written)
{
    for (size_t at = 0; at < import.len;) {
        size_t end = at;
        while (end < import.len && import.p[end] != '.' && import.p[end] != '/') {
            end++;
        }
        for (uint32_t i = 0; i < written->count; i++) {
            if (cbx_str_equal(cbx_str_sub(import, at, end), written->modules[i])) {
                return true;
            }
        }
        at = end + 1;
    }
    return false;
}

void cbx_written_read(const struct cbx_facts *writers, struct cbx_written *out)
{
    *out = (struct cbx_written){ 0 };
    for (size_t i = 0; i < writers->count; i++) {
        const struct cbx_fact *fact = &writers->items[i];
        for (uint32_t a = 0; fact->kind == CBX_IS_CALL && a < fact->arg_count; a++) {
            const struct cbx_arg *arg = &fact->args[a];
            take_paths(fact, arg->known ? &arg->value : arg->texts,
                       arg->known ? arg->constant : arg->text_count, out);
            take_paths(fact, arg->partials, arg->partial_count, out);
        }
    }
}

void cbx_written_imports(const struct cbx_written *written, struct cbx_facts *facts)
{
    for (size_t i = 0, count = written->count > 0 ? facts->count : 0; i < count; i++) {
        struct cbx_fact fact = facts->items[i];
        if (fact.kind == CBX_IS_IMPORT && names_one(fact.name, written)) {
            struct cbx_fact *added =
                cbx_facts_add(facts, CBX_IS_SPECIAL, fact.name, fact.start, fact.end);
            if (added != NULL) {
                added->start = fact.start; /* the place already includes facts->base */
                added->end = fact.end;
                added->language = fact.language;
                added->special = CBX_FACT_WRITTEN_IMPORT;
            }
        }
    }
}
