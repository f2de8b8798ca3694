/* SPDX-License-Identifier: MIT
 * `codebox image build|list|host`. The script docker/images/build builds; it is installed with the
 * program. */
#include "docker/container.h"
#include "docker/engine.h"
#include "gateway/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static int list(const struct cbx_options *options)
{
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = 0;
    const char *kernel;
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        char name[64], id[CBX_IMAGE_ID_CHARS + 1];
        snprintf(name, sizeof(name), "codebox-%s:latest", kernel);
        int failed = cbx_engine_image_id(engine, name, id, &err);
        if (failed && failed != CBX_ENOTFOUND) {
            return cbx_cli_fail(&err);
        }
        printf("%-12s %-28s %s\n", kernel, name,
               failed ? "missing; 'codebox image build' makes it" : id);
        status = failed ? 1 : status;
    }
    return status;
}

/* Prints the engine's address, for scripts that use the docker client. */
static int print_host(const struct cbx_options *options)
{
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    puts(cbx_engine_host(engine));
    return 0;
}

/* In the source tree (build/release/codebox) and where it is installed (bin/codebox,
 * share/codebox). */
bool cbx_image_script(char *script, char *supervisor)
{
    static const struct {
        const char *script, *supervisor;
    } places[] = {
        { "../../docker/images/build", "codebox-supervisor" },
        { "../share/codebox/docker/images/build", "../share/codebox/codebox-supervisor" },
    };
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
        int a = snprintf(script, PATH_MAX, "%.*s/%s", (int)(slash - self), self, places[i].script);
        int b = snprintf(supervisor, PATH_MAX, "%.*s/%s", (int)(slash - self), self,
                         places[i].supervisor);
        if (a > 0 && a < PATH_MAX && b > 0 && b < PATH_MAX && access(script, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

static int build(const struct cbx_options *options)
{
    char script[PATH_MAX], supervisor[PATH_MAX];
    if (!cbx_image_script(script, supervisor)) {
        fprintf(stderr, "codebox: the script docker/images/build is missing: it is neither in the "
                        "source tree nor in the installation of this program\n");
        return 2;
    }
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    setenv("DOCKER_HOST", cbx_engine_host(engine),
           1); /* the docker client builds on the engine that runs the sandboxes */
    setenv("CODEBOX_SUPERVISOR", supervisor, 1);
    char *arguments[8] = { script };
    for (size_t i = 1; i < options->arguments.count && i < 7; i++) {
        arguments[i] = (char *)(uintptr_t)options->arguments.items[i];
    }
    closefrom(3);          /* the engine client's connections, and what the caller had open */
    umask(options->umask); /* files of images are for other users */
    execv(script, arguments);
    fprintf(stderr, "codebox: '%s': %s\n", script, strerror(errno));
    return 2;
}

int cbx_image_command(const struct cbx_options *options)
{
    const char *verb = options->arguments.count > 0 ? options->arguments.items[0] : "";
    if (strcmp(verb, "list") == 0) {
        return list(options);
    }
    if (strcmp(verb, "host") == 0) {
        return print_host(options);
    }
    if (strcmp(verb, "build") == 0) {
        return build(options);
    }
    fprintf(stderr, "codebox: image takes 'list', 'host' or 'build [LANGUAGE ...]', not '%s'\n",
            verb);
    return 2;
}
