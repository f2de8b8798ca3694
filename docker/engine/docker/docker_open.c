/* SPDX-License-Identifier: MIT
 * Finds the engine, negotiates the version of its API, and makes its object. */
#include "docker/engine/docker/docker_http.h"
#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool uses_tls(const char *host)
{
    const char *verify = getenv("DOCKER_TLS_VERIFY");
    return strncmp(host, "https://", 8) == 0 || (verify != NULL && verify[0] != '\0');
}

static void name_certs(char *out, size_t size)
{
    const char *certs = getenv("DOCKER_CERT_PATH"), *home = getenv("HOME");
    if (certs != NULL) {
        snprintf(out, size, "%.380s", certs);
    } else {
        snprintf(out, size, "%.380s/.docker", home != NULL ? home : "");
    }
}

static int parse_host(struct cbx_docker *docker, const char *host, struct cbx_err *err)
{
    snprintf(docker->engine.host, sizeof(docker->engine.host), "%s", host);
    docker->socket[0] = docker->tls.cert[0] = '\0';
    if (strncmp(host, "unix://", 7) == 0 && host[7] == '/') {
        if (strlen(host + 7) > 107) {
            return cbx_fail(err, CBX_EENGINE,
                            "the sandbox engine's socket path has %zu bytes, allowed are 107",
                            strlen(host + 7));
        }
        snprintf(docker->socket, sizeof(docker->socket), "%s", host + 7);
        snprintf(docker->base, sizeof(docker->base), "http://localhost");
        return 0;
    }
    bool tls = uses_tls(host);
    const char *rest = strstr(host, "://");
    if (rest == NULL || strlen(rest) > 256 ||
        (strncmp(host, "tcp://", 6) != 0 && strncmp(host, "http", 4) != 0)) {
        cbx_fail(
            err, CBX_EENGINE,
            "the sandbox engine's address is none; allowed is unix:///path or tcp://host:port");
        return cbx_docker_add_address(docker, err);
    }
    snprintf(docker->base, sizeof(docker->base), "%s%s", tls ? "https" : "http", rest);
    if (tls) {
        char folder[400];
        name_certs(folder, sizeof(folder));
        snprintf(docker->tls.ca, sizeof(docker->tls.ca), "%s/ca.pem", folder);
        snprintf(docker->tls.cert, sizeof(docker->tls.cert), "%s/cert.pem", folder);
        snprintf(docker->tls.key, sizeof(docker->tls.key), "%s/key.pem", folder);
        return cbx_docker_tls_check(&docker->tls, err);
    }
    return 0;
}

/* Converts "1.41" to 1041, 0 if it is no version. */
static int version_number(const char *text)
{
    int major = 0, minor = 0;
    return text != NULL && sscanf(text, "%4d.%4d", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

static bool names_podman(const json_t *components)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(components, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "Name"));
        if (name != NULL && strncmp(name, "Podman", 6) == 0) {
            return true;
        }
    }
    return false;
}

static int negotiate(struct cbx_docker *docker, struct cbx_err *err)
{
    enum { OLDEST = 1041, NEWEST = 1051 };
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_docker_request request = { .method = "GET", .path = "/version" };
    int failed = cbx_docker_call(docker, &request, &status, &answer, err);
    if (failed) {
        return failed;
    }
    const char *api = json_string_value(json_object_get(answer, "ApiVersion"));
    const char *version = json_string_value(json_object_get(answer, "Version"));
    int number = version_number(api);
    if (status != 200 || number == 0) {
        cbx_fail(err, CBX_EENGINE,
                 "what answers in place of the sandbox engine is no Docker engine");
        return cbx_docker_add_address(docker, err);
    }
    if (number < OLDEST) {
        cbx_fail(err, CBX_EENGINE, "the sandbox engine has API %.16s, needed is 1.41 or newer",
                 api);
        return cbx_docker_add_address(docker, err);
    }
    number = number > NEWEST ? NEWEST : number;
    snprintf(docker->engine.api, sizeof(docker->engine.api), "%d.%d", number / 1000, number % 1000);
    snprintf(docker->engine.version, sizeof(docker->engine.version), "%.60s",
             version != NULL ? version : "unknown");
    static const struct cbx_engine_abilities of_docker = { .name = "Docker",
                                                           .mounts_verified = true,
                                                           .makes_layers = true },
                                             of_podman = { .name = "Podman" };
    docker->podman = names_podman(json_object_get(answer, "Components"));
    docker->engine.abilities = docker->podman ? of_podman : of_docker;
    return 0;
}

static void free_docker(struct cbx_engine *engine)
{
    struct cbx_docker *docker = cbx_docker_of(engine);
    cbx_handles_done(&docker->handles);
    free(docker);
}

static const struct cbx_engine_ops ops = {
    .free = free_docker,
    .version_info = cbx_docker_version_info,
    .info = cbx_docker_info,
    .ping = cbx_docker_ping,
    .image = cbx_docker_image,
    .image_list = cbx_docker_image_list,
    .image_remove = cbx_docker_image_remove,
    .begin = cbx_docker_begin,
    .attach = cbx_docker_attach,
    .remove = cbx_docker_remove,
    .state = cbx_docker_state,
    .throttled = cbx_docker_throttled,
    .ended = cbx_docker_ended,
    .layer_make = cbx_docker_layer_make,
    .list = cbx_docker_list,
};

/* Tries the usual sockets in turn; the detail of the error names them all. */
static int probe(struct cbx_docker *docker, struct cbx_err *err)
{
    const char *runtime_dir = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");
    char places[5][300] = { "unix:///var/run/docker.sock" };
    int count = 1;
    if (runtime_dir != NULL) {
        snprintf(places[count++], 300, "unix://%.200s/docker.sock", runtime_dir);
        snprintf(places[count++], 300, "unix://%.200s/podman/podman.sock", runtime_dir);
    }
    if (home != NULL) {
        snprintf(places[count++], 300, "unix://%.200s/.docker/run/docker.sock", home);
    }
    snprintf(places[count++], 300, "unix:///run/podman/podman.sock");
    char tried[360] = "";
    struct cbx_err last = { 0 };
    for (int i = 0; i < count; i++) {
        size_t used = strlen(tried);
        snprintf(tried + used, sizeof(tried) - used, "%s%s", i > 0 ? ", " : "", places[i] + 7);
        if (access(places[i] + 7, F_OK) == 0 && parse_host(docker, places[i], &last) == 0 &&
            negotiate(docker, &last) == 0) {
            return 0;
        }
    }
    cbx_fail(err, CBX_EENGINE, "%s",
             last.text[0] != '\0' ? last.text : "no sandbox engine was found");
    cbx_err_detail(err, "%.340s%stried %s; start one or set DOCKER_HOST", last.detail,
                   last.detail[0] != '\0' ? "; " : "", tried);
    return CBX_EENGINE;
}

/* Returns the given address; NULL to try the usual sockets. */
static const char *choose_host(const char *host)
{
    const char *from_environment = getenv("DOCKER_HOST");
    return host == NULL && from_environment != NULL && from_environment[0] != '\0'
               ? from_environment
               : host;
}

void cbx_docker_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out)
{
    cbx_handles_start();
    cbx_podman_scratch(scratch != NULL ? scratch : "/tmp");
    host = choose_host(host);
    out->tcp = host != NULL && strncmp(host, "unix://", 7) != 0;
    if (out->tcp && uses_tls(host)) {
        char certs[400];
        name_certs(certs, sizeof(certs));
        cbx_engine_needs_folder(out, certs);
    }
}

static int use_host(struct cbx_docker *docker, const char *host, struct cbx_err *err)
{
    int failed = parse_host(docker, host, err);
    if (failed) {
        return failed;
    }
    return negotiate(docker, err);
}

int cbx_docker_open(const char *host, struct cbx_engine **out, struct cbx_err *err)
{
    cbx_handles_start();
    struct cbx_docker *docker = cbx_new(sizeof(*docker));
    CBX_AUTO(engine) engine = &docker->engine;
    engine->ops = &ops;
    cbx_handles_init(&docker->handles);
    host = choose_host(host);
    int failed;
    if (host == NULL) {
        failed = probe(docker, err);
    } else {
        failed = use_host(docker, host, err);
    }
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&engine);
    return 0;
}
