/* SPDX-License-Identifier: MIT
 * What ran in each session, for the judgement of its next cell. Kept in memory, and made again from
 * the store for a session that a gateway before us opened. */
#include "analyzer/context.h"
#include "gateway/front/rest/rest.h"

/* The session's entry, or with `make` a new one, in the place of the one that was used the longest
 * ago. */
static struct cbx_rest_context *find_context(struct cbx_rest *rest, const char *session, bool make)
{
    struct cbx_rest_context *oldest = &rest->contexts[0];
    for (size_t i = 0; i < CBX_REST_CONTEXTS; i++) {
        struct cbx_rest_context *c = &rest->contexts[i];
        if (strcmp(c->session, session) == 0) {
            return c;
        }
        oldest = c->used < oldest->used ? c : oldest;
    }
    if (!make) {
        return NULL;
    }
    if (oldest->session[0] == '\0') {
        cbx_buf_init(&oldest->text, 2 * CBX_CONTEXT_MAX_BYTES);
    }
    snprintf(oldest->session, sizeof(oldest->session), "%s", session);
    cbx_buf_reset(&oldest->text);
    return oldest;
}

static void recall(struct cbx_rest *rest, const char *session, struct cbx_rest_context *c)
{
    CBX_AUTO_JSON history = NULL;
    struct cbx_err err;
    size_t i;
    const json_t *row;
    if (cbx_store_list_history(rest->store, session, &history, &err) == 0) {
        json_array_foreach(history, i, row)
        {
            cbx_context_add(&c->text, cbx_json_str(json_object_get(row, "code")));
        }
    }
}

void cbx_rest_context_copy(struct cbx_rest *rest, const char *session, struct cbx_buf *out)
{
    pthread_mutex_lock(&rest->lock);
    struct cbx_rest_context *c = find_context(rest, session, false);
    if (c == NULL) {
        c = find_context(rest, session, true);
        recall(rest, session, c);
    }
    c->used = ++rest->context_uses;
    cbx_buf_add(out, cbx_buf_str(&c->text));
    pthread_mutex_unlock(&rest->lock);
}

void cbx_rest_context_add(struct cbx_rest *rest, const char *session, struct cbx_str text)
{
    pthread_mutex_lock(&rest->lock);
    struct cbx_rest_context *c = find_context(rest, session, true);
    c->used = ++rest->context_uses;
    cbx_context_add(&c->text, text);
    pthread_mutex_unlock(&rest->lock);
}

void cbx_rest_contexts_done(struct cbx_rest *rest)
{
    for (size_t i = 0; i < CBX_REST_CONTEXTS; i++) {
        if (rest->contexts[i].session[0] != '\0') {
            cbx_buf_done(&rest->contexts[i].text);
        }
    }
}
