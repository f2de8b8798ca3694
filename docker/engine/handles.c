/* SPDX-License-Identifier: MIT
 * The cache of libcurl's handles, and the options of all of them. */
#include "docker/engine/handles.h"

#include "policies/base/buf.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Linux ends a TCP connection to an engine this long after bytes or probes were last
 * acknowledged. A silent link is probed from PROBE_S on; the renewal of a lease (every 15 s)
 * restarts the time. This is for connections without a waiting caller: a waiting caller uses
 * docker/engine/silence.h. */
enum { DEAD_LINK_MS = 10000, PROBE_S = 5 };

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void cbx_handles_start(void)
{
    pthread_once(&curl_once, start_curl);
}

void cbx_handles_init(struct cbx_handles *handles)
{
    *handles = (struct cbx_handles){ .count = 0 };
    pthread_mutex_init(&handles->lock, NULL);
}

void cbx_handles_done(struct cbx_handles *handles)
{
    for (int i = 0; i < handles->count; i++) {
        curl_easy_cleanup(handles->idle[i]);
    }
    pthread_mutex_destroy(&handles->lock);
}

CURL *cbx_handles_take(struct cbx_handles *handles)
{
    pthread_mutex_lock(&handles->lock);
    CURL *curl = handles->count > 0 ? handles->idle[--handles->count] : NULL;
    pthread_mutex_unlock(&handles->lock);
    if (curl != NULL) {
        curl_easy_reset(curl); /* keeps the connection */
    } else if ((curl = curl_easy_init()) == NULL) {
        abort();
    }
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
    return curl;
}

void cbx_handles_give(struct cbx_handles *handles, CURL *curl)
{
    pthread_mutex_lock(&handles->lock);
    bool kept = handles->count < CBX_HANDLES_IDLE;
    if (kept) {
        handles->idle[handles->count++] = curl;
    }
    pthread_mutex_unlock(&handles->lock);
    if (!kept) {
        curl_easy_cleanup(curl);
    }
}

static bool set_option(int socket, int level, int option, int value)
{
    return setsockopt(socket, level, option, &value, sizeof(value)) == 0;
}

static int watch_link(void *context, curl_socket_t socket, curlsocktype purpose)
{
    (void)context;
    (void)purpose;
    bool set = set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1) &&
               set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_S) &&
               set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S) &&
               set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, DEAD_LINK_MS);
    return set ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

void cbx_handles_watch(CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, watch_link);
}

size_t cbx_handles_collect(char *bytes, size_t size, size_t count, void *buf)
{
    return cbx_buf_add_bytes(buf, bytes, size * count) == 0 ? size * count : 0;
}
