/* SPDX-License-Identifier: MIT
 * Places and deadlines of connections. libmicrohttpd only knows a timeout that starts anew with
 * each byte; so a thread of this file shuts down the socket of a connection whose deadline has
 * passed, which the event loop sees as the end of the client's data. While the server waits for
 * a client, nothing else is written to it, so the thread may write the answer 408 itself. */
#include "gateway/front/http/http_connections.h"

#include "gateway/ipc/wire/descriptors.h"
#include "policies/base/buf.h"
#include "policies/base/list.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PEER_BYTES = 9 }; /* family and the part of the address that identifies a peer */

struct cbx_http_connection {
    struct cbx_link link;
    int fd;
    enum cbx_http_awaited awaited;
    enum cbx_http_place place;
    int64_t deadline_ms; /* INT64_MAX = none */
    uint64_t change;     /* number of the change of `awaited`, in the order of time */
    uint8_t peer[PEER_BYTES];
    bool expired;
};

struct cbx_http_connections {
    struct cbx_http_limits limits;
    struct cbx_buf answers[CBX_AWAITED]; /* responses to a passed deadline; empty = none */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct cbx_queue open; /* the oldest first */
    uint64_t changes;
    int64_t wakes_ms; /* time of the next check of the deadlines */
    bool ending, started;
    pthread_t thread;
};

/* --- limits ----------------------------------------------------------------------------------- */

/* Descriptors of the process that are no connections: runs with waiting clients, the store,
 * pipes. */
enum { OTHER_DESCRIPTORS = 2048 };

void cbx_http_limits_resolve(struct cbx_http_limits *limits)
{
    enum { FEWEST = 64 };
#define CBX_HTTP_LIMIT(name, standard, meaning)                                                    \
    limits->name = limits->name > 0 ? limits->name : (standard);
#include "gateway/front/http/http_limits.def"
#undef CBX_HTTP_LIMIT
    int most = limits->connections + limits->reserve;
    int have = cbx_descriptors_limit();
    if (have >= most + OTHER_DESCRIPTORS) {
        return;
    }
    int room = have - OTHER_DESCRIPTORS - limits->reserve;
    room = room > FEWEST ? room : FEWEST;
    cbx_log(CBX_LOG_WARNING,
            "this process may have %d descriptors ('ulimit -n'), so at most %d of %d connections",
            have, room, limits->connections);
    limits->connections = room < limits->connections ? room : limits->connections;
}

/* --- deadlines -------------------------------------------------------------------------------- */

static int limit_of(const struct cbx_http_connections *all, enum cbx_http_awaited awaited)
{
    const int limits[CBX_AWAITED] = { [CBX_AWAIT_HEADERS] = all->limits.headers_ms,
                                      [CBX_AWAIT_BODY] = all->limits.body_ms,
                                      [CBX_AWAIT_READER] = all->limits.answer_ms,
                                      [CBX_AWAIT_NEXT] = all->limits.idle_ms };
    return limits[awaited];
}

#define CBX_HTTP_HEADER(name, value) name ": " value "\r\n"
static const char fixed_headers[] =
#include "gateway/front/http/headers.def"
    CBX_HTTP_HEADER("Content-Security-Policy", CBX_HTTP_SANDBOX);
#undef CBX_HTTP_HEADER

/* A client that reads its response, or has not begun its next request gets none. */
static void make_answer(struct cbx_http_connections *all, enum cbx_http_awaited awaited,
                        void (*refuse)(int status, const char *detail,
                                       struct cbx_http_response *out))
{
    static const char *const parts[CBX_AWAITED] = {
        [CBX_AWAIT_HEADERS] = "headers", [CBX_AWAIT_BODY] = "body"
    };
    enum { ANSWER_MAX = 4096 };
    cbx_buf_init(&all->answers[awaited], ANSWER_MAX);
    if (parts[awaited] == NULL || refuse == NULL) {
        return;
    }
    char detail[128];
    struct cbx_http_response response = { 0 };
    snprintf(detail, sizeof(detail), "the %s of the request did not arrive within %d ms",
             parts[awaited], limit_of(all, awaited));
    refuse(408, detail, &response);
    CBX_AUTO_MEM char *body = json_dumps(response.json, JSON_COMPACT);
    json_decref(response.json);
    if (body != NULL) {
        cbx_buf_printf(&all->answers[awaited],
                       "HTTP/1.1 408 Request Timeout\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                       "%sConnection: close\r\n\r\n%s",
                       response.type != NULL ? response.type : "application/json", strlen(body),
                       fixed_headers, body);
    }
}

/* Call it with the lock. The event loop closes the connection. */
static void cut(struct cbx_http_connection *c)
{
    c->expired = true;
    c->deadline_ms = INT64_MAX;
    shutdown(c->fd, SHUT_RDWR);
}

/* The same, with the response 408; a client that does not read gets none. */
static void expire(struct cbx_http_connections *all, struct cbx_http_connection *c)
{
    struct cbx_buf *answer = &all->answers[c->awaited];
    if (answer->len > 0) {
        (void)!send(c->fd, answer->p, answer->len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    cut(c);
}

/* With the lock: ends late connections, and returns the next deadline. */
static int64_t expire_late(struct cbx_http_connections *all)
{
    int64_t now = cbx_clock_ms(), next = INT64_MAX;
    for (struct cbx_link *link = all->open.first; link != NULL; link = link->next) {
        struct cbx_http_connection *c = CBX_LINK_OWNER(link, struct cbx_http_connection, link);
        if (c->deadline_ms <= now) {
            expire(all, c);
        }
        next = c->deadline_ms < next ? c->deadline_ms : next;
    }
    return next;
}

static void *watch(void *context)
{
    struct cbx_http_connections *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->ending) {
        all->wakes_ms = expire_late(all);
        if (all->wakes_ms == INT64_MAX) {
            pthread_cond_wait(&all->changed, &all->lock);
        } else {
            cbx_cond_wait_until(&all->changed, &all->lock, all->wakes_ms);
        }
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Call it with the lock. */
static void set_awaited(struct cbx_http_connections *all, struct cbx_http_connection *c,
                        enum cbx_http_awaited awaited)
{
    c->awaited = awaited;
    c->change = ++all->changes;
    c->deadline_ms =
        awaited != CBX_AWAIT_NOTHING ? cbx_clock_ms() + limit_of(all, awaited) : INT64_MAX;
    if (c->deadline_ms < all->wakes_ms) {
        pthread_cond_signal(&all->changed);
    }
}

bool cbx_http_connection_await(struct cbx_http_connections *all, struct cbx_http_connection *c,
                               enum cbx_http_awaited awaited)
{
    pthread_mutex_lock(&all->lock);
    bool in_time = !c->expired;
    if (in_time && c->awaited != awaited) {
        set_awaited(all, c, awaited);
    }
    pthread_mutex_unlock(&all->lock);
    return in_time;
}

/* --- places ----------------------------------------------------------------------------------- */

static void find_peer(const struct sockaddr *address, uint8_t out[PEER_BYTES])
{
    enum { PREFIX_V6 = 8, LOOPBACK_V4 = 127 };
    memset(out, 0, PEER_BYTES);
    out[0] = (uint8_t)address->sa_family;
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        memcpy(out + 1, &v6.sin6_addr, PREFIX_V6);
    } else if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        memcpy(out + 1, &v4.sin_addr, sizeof(v4.sin_addr));
        if (out[1] == LOOPBACK_V4) { /* a local client has sixteen million addresses */
            memset(out + 2, 0, sizeof(v4.sin_addr) - 1);
        }
    }
}

/* Returns the idle connection that has been idle longer; NULL is none. */
static struct cbx_http_connection *longer_idle(struct cbx_http_connection *a,
                                               struct cbx_http_connection *b)
{
    return a == NULL || b->change < a->change ? b : a;
}

/* Call it with the lock. *idle is the connection that gives up its place first; NULL = none. */
static enum cbx_http_place find_place(const struct cbx_http_connections *all,
                                      const struct cbx_http_connection *new,
                                      struct cbx_http_connection **idle)
{
    int ordinary = 0, of_peer = 0;
    struct cbx_http_connection *idle_one = NULL, *idle_of_peer = NULL;
    for (struct cbx_link *link = all->open.first; link != NULL; link = link->next) {
        struct cbx_http_connection *c = CBX_LINK_OWNER(link, struct cbx_http_connection, link);
        bool counts = c->place == CBX_PLACE_ORDINARY && !c->expired;
        bool same = counts && memcmp(c->peer, new->peer, PEER_BYTES) == 0;
        bool is_idle = c->awaited == CBX_AWAIT_NEXT;
        ordinary += counts;
        of_peer += same;
        idle_one = counts && is_idle ? longer_idle(idle_one, c) : idle_one;
        idle_of_peer = same && is_idle ? longer_idle(idle_of_peer, c) : idle_of_peer;
    }
    bool peer_full = of_peer >= all->limits.per_peer;
    *idle = peer_full ? idle_of_peer : idle_one;
    return ordinary >= all->limits.connections ? CBX_PLACE_RESERVE_FULL
           : peer_full                         ? CBX_PLACE_RESERVE_PEER
                                               : CBX_PLACE_ORDINARY;
}

/* With the lock: frees a place in the reserve. */
static void evict_from_reserve(struct cbx_http_connections *all)
{
    struct cbx_http_connection *oldest = NULL;
    int waiting = 0;
    for (struct cbx_link *link = all->open.first; link != NULL; link = link->next) {
        struct cbx_http_connection *c = CBX_LINK_OWNER(link, struct cbx_http_connection, link);
        if (c->place != CBX_PLACE_ORDINARY && c->deadline_ms != INT64_MAX) {
            oldest = oldest != NULL ? oldest : c;
            waiting++;
        }
    }
    if (waiting > all->limits.reserve / 2) {
        cut(oldest);
    }
}

struct cbx_http_connection *cbx_http_connection_add(struct cbx_http_connections *all, int fd,
                                                    const struct sockaddr *address)
{
    struct cbx_http_connection *c = cbx_new(sizeof(*c));
    c->fd = fd;
    find_peer(address, c->peer);
    pthread_mutex_lock(&all->lock);
    struct cbx_http_connection *idle;
    c->place = find_place(all, c, &idle);
    if (c->place != CBX_PLACE_ORDINARY && idle != NULL) {
        cut(idle);
        c->place = CBX_PLACE_ORDINARY;
    }
    cbx_queue_push(&all->open, &c->link);
    set_awaited(all, c, CBX_AWAIT_HEADERS);
    if (c->place != CBX_PLACE_ORDINARY) {
        evict_from_reserve(all);
    }
    pthread_mutex_unlock(&all->lock);
    return c;
}

void cbx_http_connection_remove(struct cbx_http_connections *all, struct cbx_http_connection *c)
{
    if (c != NULL) {
        pthread_mutex_lock(&all->lock);
        cbx_queue_remove(&all->open, &c->link);
        pthread_mutex_unlock(&all->lock);
        free(c);
    }
}

enum cbx_http_place cbx_http_connection_place(const struct cbx_http_connection *connection)
{
    return connection->place;
}

/* --- life ------------------------------------------------------------------------------------- */

struct cbx_http_connections *cbx_http_connections_new(const struct cbx_http_limits *limits,
                                                      void (*refuse)(int status, const char *detail,
                                                                     struct cbx_http_response *out))
{
    struct cbx_http_connections *all = cbx_new(sizeof(*all));
    all->limits = *limits;
    all->wakes_ms = INT64_MAX;
    for (int i = 0; i < CBX_AWAITED; i++) {
        make_answer(all, (enum cbx_http_awaited)i, refuse);
    }
    pthread_mutex_init(&all->lock, NULL);
    cbx_cond_init(&all->changed);
    all->started = pthread_create(&all->thread, NULL, watch, all) == 0;
    if (!all->started) {
        cbx_http_connections_free(all);
        return NULL;
    }
    return all;
}

void cbx_http_connections_free(struct cbx_http_connections *all)
{
    if (all == NULL) {
        return;
    }
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
    if (all->started) {
        pthread_join(all->thread, NULL);
    }
    for (int i = 0; i < CBX_AWAITED; i++) {
        cbx_buf_done(&all->answers[i]);
    }
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->changed);
    free(all);
}
