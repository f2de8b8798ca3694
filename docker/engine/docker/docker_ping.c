/* SPDX-License-Identifier: MIT
 * Pings the engine within a time limit. */
#include "docker/engine/docker/docker_http.h"

static size_t ignore_body(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

int cbx_docker_ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err)
{
    struct cbx_docker *docker = cbx_docker_of(engine);
    char url[1024], detail[CURL_ERROR_SIZE] = "";
    long status = 0;
    cbx_docker_url(docker, "/_ping", url, sizeof(url));
    CURL *curl = cbx_docker_handle(docker);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L); /* an idle connection may be dead */
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore_body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return cbx_docker_silent(docker, err);
    }
    if (code != CURLE_OK) {
        return cbx_docker_unreachable(docker, code, detail, err);
    }
    if (status != 200) {
        return cbx_docker_refused(docker, status, NULL, "answer a ping", err);
    }
    return 0;
}
