/* SPDX-License-Identifier: MIT
 * The session table: connections of idle sessions that broke are opened again. */
#include "gateway/executor/sessions/sessions_internal.h"

#include <stdatomic.h>

/* One pass over the table, by several threads. */
struct pass {
    struct cbx_sessions *sessions;
    atomic_int next;
    atomic_bool away; /* the engine does not answer */
};

/* Enters the slot if it is idle and its connection is broken; its sandbox, else NULL. */
static struct cbx_sandbox *enter_broken(struct cbx_sessions *sessions, struct cbx_session *session)
{
    struct cbx_sandbox *broken = NULL;
    pthread_mutex_lock(&sessions->lock);
    if (!sessions->stopping && session->state == CBX_SLOT_IDLE && session->sandbox != NULL &&
        cbx_sandbox_is_broken(session->sandbox)) {
        session->state = CBX_SLOT_ENTERED;
        broken = session->sandbox;
    }
    pthread_mutex_unlock(&sessions->lock);
    return broken;
}

/* A sandbox that has ended stays in the table: the next run of the session reports it. */
static void reach(struct pass *pass, struct cbx_session *session, struct cbx_sandbox *sandbox)
{
    bool gone;
    int failed = cbx_sandbox_reach(sandbox, false, &gone, NULL);
    if (failed) {
        atomic_store(&pass->away, true);
    }
    pthread_mutex_lock(&pass->sessions->lock);
    cbx_sessions_leave_slot(pass->sessions, session);
    pthread_mutex_unlock(&pass->sessions->lock);
}

static void *work(void *context)
{
    struct pass *pass = context;
    for (int i; !atomic_load(&pass->away) &&
                (i = atomic_fetch_add(&pass->next, 1)) < pass->sessions->slots;) {
        struct cbx_session *session = &pass->sessions->items[i];
        struct cbx_sandbox *broken = enter_broken(pass->sessions, session);
        if (broken != NULL) {
            reach(pass, session, broken);
        }
    }
    return NULL;
}

static int count_broken(struct cbx_sessions *sessions)
{
    int count = 0;
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->slots; i++) {
        struct cbx_session *s = &sessions->items[i];
        count +=
            s->state == CBX_SLOT_IDLE && s->sandbox != NULL && cbx_sandbox_is_broken(s->sandbox);
    }
    pthread_mutex_unlock(&sessions->lock);
    return count;
}

void cbx_sessions_reattach(struct cbx_sessions *sessions)
{
    enum { HELPERS = 8 };
    pthread_t helpers[HELPERS];
    int count = 0, broken = count_broken(sessions);
    struct pass pass = { .sessions = sessions };
    if (broken == 0) {
        return;
    }
    while (count < HELPERS && count + 1 < broken &&
           pthread_create(&helpers[count], NULL, work, &pass) == 0) {
        count++;
    }
    work(&pass);
    for (int i = 0; i < count; i++) {
        pthread_join(helpers[i], NULL);
    }
}
