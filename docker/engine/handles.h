/* SPDX-License-Identifier: MIT
 * Handles of libcurl with open connections to an engine. */
#ifndef CBX_DOCKER_ENGINE_HANDLES_H
#define CBX_DOCKER_ENGINE_HANDLES_H

#include <curl/curl.h>
#include <pthread.h>

enum { CBX_HANDLES_IDLE = 8 };
struct cbx_handles {
    pthread_mutex_t lock;
    CURL *idle[CBX_HANDLES_IDLE];
    int count;
};
void cbx_handles_init(struct cbx_handles *handles);
void cbx_handles_done(struct cbx_handles *handles);

/* Initialises libcurl, once in a process. */
void cbx_handles_start(void);

/* Returns a handle, new or with an open connection, without options but those that every request
 * to an engine has. The caller frees it, or gives it back. */
CURL *cbx_handles_take(struct cbx_handles *handles);
void cbx_handles_give(struct cbx_handles *handles, CURL *curl);

/* For TCP: the system closes a connection whose link was cut. Without it such a connection would
 * stay until its next use. */
void cbx_handles_watch(CURL *curl);

/* Appends received bytes to a struct cbx_buf: a CURLOPT_WRITEFUNCTION. */
size_t cbx_handles_collect(char *bytes, size_t size, size_t count, void *buf);

#endif
