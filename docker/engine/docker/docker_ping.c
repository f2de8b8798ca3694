/* SPDX-License-Identifier: MIT
 * Pings the engine within a time limit. */
#include "docker/engine/docker/docker_http.h"
#include "docker/engine/silence.h"
#include "policies/base/clock.h"

static size_t ignore_body(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

int cbx_engine_ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err)
{
    char url[1024], detail[CURL_ERROR_SIZE] = "";
    long status = 0;
    cbx_engine_url(engine, "/_ping", url, sizeof(url));
    CURL *curl = cbx_engine_handle(engine);
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
        return cbx_engine_silent(engine, err);
    }
    if (code != CURLE_OK) {
        return cbx_engine_unreachable(engine, code, detail, err);
    }
    if (status != 200) {
        return cbx_engine_refused(engine, status, NULL, "answer a ping", err);
    }
    return 0;
}

int cbx_engine_check(struct cbx_engine *engine, int64_t *heard_ms, struct cbx_err *err)
{
    if (cbx_clock_ms() - *heard_ms < CBX_SILENCE_CALL_MS) {
        return 0;
    }
    int failed = cbx_engine_ping(engine, CBX_SILENCE_ENGINE_MS, err);
    if (!failed) {
        *heard_ms = cbx_clock_ms();
    }
    return failed;
}
