/* SPDX-License-Identifier: MIT
 * The table of functions that an engine implements. The contract of each function is that of the
 * cbx_engine_... or cbx_attach_... function of its name (engine.h). An engine's object begins
 * with struct cbx_engine, its attached streams with struct cbx_attach. */
#ifndef CBX_DOCKER_ENGINE_ENGINE_OPS_H
#define CBX_DOCKER_ENGINE_ENGINE_OPS_H

#include "docker/engine/engine.h"

#include <stdint.h>

/* A container in a listing. */
struct cbx_container_entry {
    char id[CBX_CONTAINER_ID_CHARS + 1];
    bool running;
    int64_t created_s; /* seconds since 1970 */
    int64_t lease_s;   /* of CBX_LABEL_LEASE, as written; may be negative or too long */
};

struct cbx_engine_ops {
    void (*free)(struct cbx_engine *engine);
    int (*version_info)(struct cbx_engine *engine, json_t **out, struct cbx_err *err);
    int (*info)(struct cbx_engine *engine, json_t **out, struct cbx_err *err);
    int (*ping)(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err);

    /* Reads an image and all of its labels (new reference; an object or NULL). */
    int (*image)(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                 json_t **labels, struct cbx_err *err);
    int (*image_list)(struct cbx_engine *engine, const char *label, json_t **out,
                      struct cbx_err *err);
    int (*image_remove)(struct cbx_engine *engine, const char *id, struct cbx_err *err);

    int (*begin)(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                 char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                 struct cbx_err *err);
    int (*attach)(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                  struct cbx_err *err);
    int (*remove)(struct cbx_engine *engine, const char *id, struct cbx_err *err);
    int (*state)(struct cbx_engine *engine, const char *id, int timeout_ms,
                 struct cbx_container_state *out, struct cbx_err *err);
    int (*throttled)(struct cbx_engine *engine, const char *id, int timeout_ms, int64_t *out,
                     struct cbx_err *err);
    int (*ended)(struct cbx_engine *engine, const char *id, struct cbx_attach *attach,
                 int timeout_s, struct cbx_container_state *out, struct cbx_err *err);
    int (*layer_make)(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                      const struct cbx_engine_stop *stop, struct cbx_err *err);

    /* Lists all containers with this label ("key=value"); the caller frees *out. */
    int (*list)(struct cbx_engine *engine, const char *label, struct cbx_container_entry **out,
                size_t *count, struct cbx_err *err);
};

struct cbx_engine {
    const struct cbx_engine_ops *ops;
    struct cbx_engine_abilities abilities;
    char host[512]; /* as configured */
    char version[64], api[16];
    bool uses_bridges;                 /* cbx_engine_use_bridges */
    bool (*may_remove)(void *context); /* cbx_engine_guard_removals; NULL = always */
    void *removal_context;
};

/* Adds a folder, or the folder of a file, to what an engine needs; empty text is ignored. The
 * number is fixed by the callers. */
void cbx_engine_needs_folder(struct cbx_engine_needs *needs, const char *path);
void cbx_engine_needs_file(struct cbx_engine_needs *needs, const char *path);

struct cbx_attach_ops {
    void (*free)(struct cbx_attach *attach);
    int (*send_some)(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                     size_t *sent, struct cbx_err *err);
    int (*receive)(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                   struct cbx_attach_bytes *out, struct cbx_err *err);
    int64_t (*silent_ms)(struct cbx_attach *attach);
};

struct cbx_attach {
    const struct cbx_attach_ops *ops;
};

#endif
