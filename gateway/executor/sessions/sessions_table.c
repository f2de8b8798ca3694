/* SPDX-License-Identifier: MIT
 * The table of sandboxes in use: its slots, found and closed. One lock for the table. */
#include "gateway/executor/sessions/sessions_internal.h"

#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ONE_SHOTS_MAX = 1024 };

struct cbx_sessions *cbx_sessions_new(int max_sessions, cbx_discard_fn *discard, void *context)
{
    struct cbx_sessions *sessions = cbx_new(sizeof(*sessions));
    int slots = max_sessions + ONE_SHOTS_MAX;
    sessions->items = cbx_new_array((size_t)slots, sizeof(struct cbx_session));
    sessions->max = max_sessions;
    sessions->slots = slots;
    sessions->discard = discard;
    sessions->context = context;
    pthread_mutex_init(&sessions->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sessions->changed, &clock);
    pthread_condattr_destroy(&clock);
    return sessions;
}

struct cbx_session *cbx_sessions_find_slot(struct cbx_sessions *sessions, const char *id)
{
    for (int i = 0; id[0] != '\0' && i < sessions->slots; i++) {
        if (strcmp(sessions->items[i].id, id) == 0) {
            return &sessions->items[i];
        }
    }
    return NULL;
}

struct cbx_session *cbx_sessions_find_slot_of_run(struct cbx_sessions *sessions, const char *run_id)
{
    for (int i = 0; run_id[0] != '\0' && i < sessions->slots; i++) {
        if (strcmp(sessions->items[i].run_id, run_id) == 0) {
            return &sessions->items[i];
        }
    }
    return NULL;
}

/* Ends the session's run, waits for it, and removes the sandbox from the slot. The slot is not
 * free before the caller clears it, so it is closed once. */
static struct cbx_sandbox *drain(struct cbx_sessions *sessions, struct cbx_session *session)
{
    session->state = cbx_slot_is_entered(session) ? CBX_SLOT_CLOSING : CBX_SLOT_DRAINED;
    while (session->state == CBX_SLOT_CLOSING) {
        if (session->sandbox != NULL) {
            cbx_sandbox_end(session->sandbox);
        }
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    return cbx_steal(&session->sandbox);
}

void cbx_sessions_close_slot(struct cbx_sessions *sessions, struct cbx_session *session)
{
    struct cbx_sandbox *sandbox = drain(sessions, session);
    *session = (struct cbx_session){ 0 };
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
    if (sandbox != NULL) {
        sessions->discard(sessions->context, sandbox);
    }
    pthread_mutex_lock(&sessions->lock);
}

void cbx_sessions_drop_result(struct cbx_sessions *sessions, struct cbx_session *session)
{
    char run_id[sizeof(session->run_id)];
    memcpy(run_id, session->run_id, sizeof(run_id));
    session->run_id[0] = '\0';
    if (session->one_shot) {
        cbx_sessions_close_slot(sessions, session);
    } else if (session->sandbox != NULL) {
        cbx_sandbox_acknowledge(session->sandbox, run_id);
    }
    pthread_cond_broadcast(&sessions->changed);
}

void cbx_sessions_close_all(struct cbx_sessions *sessions, bool detach)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->stopping = true;
    pthread_cond_broadcast(&sessions->changed);
    for (int i = 0; i < sessions->slots && !detach; i++) {
        struct cbx_session *session = &sessions->items[i];
        if (cbx_slot_is_open(session)) {
            cbx_sessions_close_slot(sessions, session);
        }
        while (session->state != CBX_SLOT_FREE) {
            pthread_cond_wait(&sessions->changed, &sessions->lock);
        }
    }
    pthread_mutex_unlock(&sessions->lock);
}

void cbx_sessions_free(struct cbx_sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    cbx_sessions_close_all(sessions, false);
    pthread_mutex_destroy(&sessions->lock);
    pthread_cond_destroy(&sessions->changed);
    free(sessions->items);
    free(sessions);
}
