/* SPDX-License-Identifier: MIT
 * Steps of `codebox config check` beyond the steps of a start: they try what the processes of
 * `serve` open later. Nothing is changed. */
#include "gateway/cli/serve/serve_start.h"

#include "docker/engine/engine.h"
#include "docker/kernel_names.h"
#include "gateway/cli/serve/steps.h"
#include "gateway/cli/settings/database_options.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/front/store/store.h"
#include "gateway/ipc/master/state.h"

/* Without a usable log and key `serve` starts and runs nothing, so this is a problem. */
static int try_audit(void *context, struct cbx_err *err)
{
    const struct cbx_options *options = context;
    return cbx_audit_try(options->state_dir, err);
}

/* Success also if a gateway has the database open: then the database is usable. */
static int try_store(void *context, struct cbx_err *err)
{
    const struct cbx_options *options = context;
    char folder[PATH_MAX];
    bool busy;
    int failed = cbx_state_find_front(options->state_dir, folder, sizeof(folder), err);
    if (failed) {
        return failed;
    }
    return cbx_store_try(folder, &busy, err);
}

static int find_images(struct cbx_engine *engine, const char *variant, struct cbx_err *err)
{
    const char *kernel;
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        char name[CBX_IMAGE_NAME_BYTES], id[CBX_IMAGE_ID_CHARS + 1];
        cbx_image_name(NULL, kernel, variant, name);
        int failed = cbx_engine_image_id(engine, name, id, err);
        if (failed == CBX_ENOTFOUND) {
            return cbx_fail(err, CBX_ENOTFOUND,
                            "the engine has no image '%s', so no program of its languages runs; "
                            "'codebox image build%s' makes it",
                            name, variant != NULL ? " --images small" : "");
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* `serve` starts without an engine, and logs a warning. */
static int ask_engine(void *context, struct cbx_err *err)
{
    enum { PING_MS = 3000 };
    const struct cbx_options *options = context;
    CBX_AUTO(engine) engine = NULL;
    int failed = cbx_engine_new(options->docker_host, &engine, err);
    if (failed) {
        return failed;
    }
    failed = cbx_engine_ping(engine, PING_MS, err);
    if (failed) {
        return failed;
    }
    return find_images(engine, cbx_options_variant(options), err);
}

/* `serve` waits some time for the server, and does not start without it. */
static int ask_database(void *context, struct cbx_err *err)
{
    return cbx_options_database_try(context, err);
}

void cbx_serve_check_later(const struct cbx_options *options, struct cbx_problems *problems,
                           struct cbx_problems *warnings)
{
    static const struct cbx_step of_state[] = { { "state", try_audit }, { "state", try_store } };
    static const struct cbx_step of_servers[] = { { "docker-host", ask_engine },
                                                  { "store", ask_database } };
    struct cbx_err err;
    void *context = (void *)(uintptr_t)options; /* the steps only read it */
    if (problems != NULL) {
        cbx_steps_run(of_state, sizeof(of_state) / sizeof(of_state[0]), context, options, problems,
                      &err);
    }
    cbx_steps_run(of_servers, sizeof(of_servers) / sizeof(of_servers[0]), context, options,
                  warnings, &err);
}
