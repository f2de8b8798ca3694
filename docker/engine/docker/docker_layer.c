/* SPDX-License-Identifier: MIT
 * Layers of packages, by the engine's own builder: the installer's container is committed as a
 * temporary image, and the engine copies the folder from there into the sandbox image. Nothing
 * runs meanwhile. */
#include "docker/engine/docker/docker_http.h"

#include <string.h>

enum { DOCKERFILE_MAX = 128 * 1024 };

/* In single quotes a Dockerfile changes none but these. */
static int check_label(const char *name, const char *value, struct cbx_err *err)
{
    if (value == NULL || strpbrk(value, "'\\$\r\n") != NULL) {
        return cbx_fail(err, CBX_EENGINE, "the label '%s' of a layer has a quote or a control",
                        name);
    }
    return 0;
}

/* A line of a Dockerfile has at most 64 KiB, so a list of objects is written in several. */
static void add_value(struct cbx_str value, struct cbx_buf *out)
{
    for (const char *end; (end = memmem(value.p, value.len, "},{", 3)) != NULL;) {
        size_t len = (size_t)(end - value.p) + 2;
        cbx_buf_add(out, cbx_str_sub(value, 0, len));
        cbx_buf_add_cstr(out, "\\\n");
        value = cbx_str_sub(value, len, value.len);
    }
    cbx_buf_add(out, value);
}

static int write_dockerfile(const struct cbx_layer_recipe *recipe, const char *from,
                            struct cbx_buf *out, struct cbx_err *err)
{
    const char *name;
    json_t *value;
    cbx_buf_printf(out, "FROM %s\nCOPY --from=%s --chown=0:0 /packages/%s %s\nLABEL", recipe->base,
                   from, recipe->from, recipe->to);
    json_object_foreach((json_t *)(uintptr_t)recipe->labels, name, value)
    {
        int failed = check_label(name, json_string_value(value), err);
        if (failed) {
            return failed;
        }
        cbx_buf_printf(out, " %s='", name);
        add_value(cbx_str_of(json_string_value(value)), out);
        cbx_buf_add_char(out, '\'');
    }
    cbx_buf_add_char(out, '\n');
    if (out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the list of the packages is too long for a layer");
    }
    return 0;
}

static int build(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe, const char *from,
                 const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) dockerfile;
    cbx_buf_init(&dockerfile, DOCKERFILE_MAX);
    int failed = write_dockerfile(recipe, from, &dockerfile, err);
    if (failed) {
        return failed;
    }
    failed = cbx_docker_image_build(engine, recipe->name, cbx_buf_str(&dockerfile), stop, err);
    if (failed == CBX_EENGINE && !engine->abilities.makes_layers) {
        char detail[CBX_ERR_DETAIL_BYTES];
        snprintf(detail, sizeof(detail), "%s", err != NULL ? err->detail : "");
        cbx_fail(err, CBX_EENGINE, "%s could not make a layer of packages; Docker can",
                 engine->abilities.name);
        cbx_err_detail(err, "%s", detail);
    }
    return failed;
}

int cbx_docker_layer_make(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                          const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    char temporary[CBX_IMAGE_ID_CHARS + 1];
    int failed = cbx_docker_commit(engine, recipe->container, stop, temporary, err);
    cbx_engine_container_remove(engine, recipe->container, NULL);
    if (failed) {
        return failed;
    }
    failed = build(engine, recipe, temporary, stop, err);
    cbx_docker_image_remove(engine, temporary, NULL);
    return failed;
}

int cbx_docker_ended(struct cbx_engine *engine, const char *id, struct cbx_attach *attach,
                     int timeout_s, struct cbx_container_state *out, struct cbx_err *err)
{
    int exit_code = -1;
    (void)attach;
    int failed = cbx_docker_wait(engine, id, timeout_s, &exit_code, err);
    if (failed) {
        return failed;
    }
    failed = cbx_docker_state(engine, id, 0, out, err);
    out->exit_code = exit_code;
    return failed;
}
