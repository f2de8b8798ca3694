/* SPDX-License-Identifier: MIT
 * A response body that is produced while it is sent: a queue of bytes between the producing
 * thread and the event loop. The connection is suspended while the queue is empty. */
#include "gateway/front/http/http_stream.h"

#include "policies/base/buf.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <poll.h>
#include <stdlib.h>

enum { BEHIND_MAX = 1024 * 1024, QUEUE_MAX = 128 * 1024 * 1024 };

struct cbx_http_stream {
    pthread_mutex_t lock;
    pthread_cond_t taken;
    struct MHD_Connection *connection; /* NULL before the response is queued */
    struct cbx_http_streams *streams;  /* NULL before the response is queued */
    struct cbx_link link;              /* its link in that list */
    struct cbx_buf bytes;
    bool suspended, ended;
    bool gone;  /* true after the client disconnected, or the server cut the stream */
    int owners; /* number of references: of the producing thread and of the event loop */
};

struct cbx_http_stream *cbx_http_stream_new(void)
{
    struct cbx_http_stream *stream = cbx_new(sizeof(*stream));
    pthread_mutex_init(&stream->lock, NULL);
    cbx_cond_init(&stream->taken);
    cbx_buf_init(&stream->bytes, QUEUE_MAX);
    stream->owners = 2;
    return stream;
}

/* Call it with the lock held, which it releases. */
static void drop_reference(struct cbx_http_stream *stream)
{
    bool last = --stream->owners == 0;
    pthread_mutex_unlock(&stream->lock);
    if (last) {
        cbx_buf_done(&stream->bytes);
        pthread_mutex_destroy(&stream->lock);
        pthread_cond_destroy(&stream->taken);
        free(stream);
    }
}

static void resume(struct cbx_http_stream *stream)
{
    if (stream->suspended) {
        stream->suspended = false;
        MHD_resume_connection(stream->connection);
    }
}

/* With the lock: waits until the client has read enough, or ends the stream: a client that reads
 * slowly, or not at all, must not block the thread of a run. */
static void await_room(struct cbx_http_stream *stream)
{
    int64_t began_ms = cbx_clock_ms();
    bool in_time = true;
    while (!stream->gone && stream->bytes.len > BEHIND_MAX && in_time) {
        /* The stall timeout starts when the response is queued. */
        if (stream->streams == NULL) {
            pthread_cond_wait(&stream->taken, &stream->lock);
            began_ms = cbx_clock_ms();
        } else {
            in_time = cbx_cond_wait_until(&stream->taken, &stream->lock,
                                          began_ms + stream->streams->stall_ms);
        }
    }
    stream->gone |= stream->bytes.len > BEHIND_MAX;
}

int cbx_http_stream_add(struct cbx_http_stream *stream, struct cbx_str bytes)
{
    pthread_mutex_lock(&stream->lock);
    await_room(stream);
    int failed = stream->gone || cbx_buf_add(&stream->bytes, bytes) != 0 ? CBX_EIO : 0;
    resume(stream);
    pthread_mutex_unlock(&stream->lock);
    return failed;
}

bool cbx_http_connection_is_gone(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd poll_fd = { .fd = info != NULL ? info->connect_fd : -1, .events = POLLRDHUP };
    return poll(&poll_fd, 1, 0) > 0 &&
           (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

bool cbx_http_stream_is_gone(struct cbx_http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool gone = stream->gone ||
                (stream->connection != NULL && cbx_http_connection_is_gone(stream->connection));
    pthread_mutex_unlock(&stream->lock);
    return gone;
}

void cbx_http_stream_end(struct cbx_http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    resume(stream);
    drop_reference(stream);
}

void cbx_http_streams_init(struct cbx_http_streams *streams, int stall_ms)
{
    *streams = (struct cbx_http_streams){ .stall_ms = stall_ms };
    pthread_mutex_init(&streams->lock, NULL);
}

void cbx_http_streams_done(struct cbx_http_streams *streams)
{
    pthread_mutex_destroy(&streams->lock);
}

static void cut(struct cbx_http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->gone = true;
    pthread_cond_broadcast(&stream->taken);
    resume(stream);
    pthread_mutex_unlock(&stream->lock);
}

void cbx_http_streams_cut(struct cbx_http_streams *streams)
{
    pthread_mutex_lock(&streams->lock);
    streams->cut = true;
    for (struct cbx_link *link = streams->open.first; link != NULL; link = link->next) {
        cut(CBX_LINK_OWNER(link, struct cbx_http_stream, link));
    }
    pthread_mutex_unlock(&streams->lock);
}

void cbx_http_streams_drop_gone(struct cbx_http_streams *streams)
{
    enum { PAUSE_MS = 100 };
    int64_t now_ms = cbx_clock_ms();
    pthread_mutex_lock(&streams->lock);
    bool due = now_ms - streams->looked_ms >= PAUSE_MS;
    streams->looked_ms = due ? now_ms : streams->looked_ms;
    for (struct cbx_link *link = due ? streams->open.first : NULL; link != NULL;
         link = link->next) {
        struct cbx_http_stream *stream = CBX_LINK_OWNER(link, struct cbx_http_stream, link);
        if (cbx_http_stream_is_gone(stream)) {
            cut(stream);
        }
    }
    pthread_mutex_unlock(&streams->lock);
}

void cbx_http_stream_connect(struct cbx_http_stream *stream, struct MHD_Connection *connection,
                             struct cbx_http_streams *streams)
{
    pthread_mutex_lock(&streams->lock);
    pthread_mutex_lock(&stream->lock);
    stream->connection = connection;
    stream->streams = streams;
    pthread_cond_broadcast(&stream->taken);
    pthread_mutex_unlock(&stream->lock);
    cbx_queue_push(&streams->open, &stream->link);
    if (streams->cut) {
        cut(stream);
    }
    pthread_mutex_unlock(&streams->lock);
}

static void disconnect(struct cbx_http_stream *stream)
{
    if (stream->streams != NULL) {
        pthread_mutex_lock(&stream->streams->lock);
        cbx_queue_remove(&stream->streams->open, &stream->link);
        pthread_mutex_unlock(&stream->streams->lock);
    }
}

ssize_t cbx_http_stream_read(void *context, uint64_t position, char *to, size_t size)
{
    struct cbx_http_stream *stream = context;
    (void)position;
    pthread_mutex_lock(&stream->lock);
    size_t n = stream->bytes.len < size ? stream->bytes.len : size;
    ssize_t result = (ssize_t)n;
    if (stream->gone) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (n > 0) {
        memcpy(to, stream->bytes.p, n);
        cbx_buf_consume(&stream->bytes, n);
        pthread_cond_broadcast(&stream->taken);
    } else if (stream->ended) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
    }
    pthread_mutex_unlock(&stream->lock);
    return result;
}

void cbx_http_stream_discard(struct cbx_http_stream *stream)
{
    cbx_http_stream_drop(stream);
}

void cbx_http_stream_drop(void *context)
{
    struct cbx_http_stream *stream = context;
    disconnect(stream);
    pthread_mutex_lock(&stream->lock);
    stream->gone = true;
    pthread_cond_broadcast(&stream->taken);
    drop_reference(stream);
}
