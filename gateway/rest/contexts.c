/* SPDX-License-Identifier: MIT
 * What ran in each session, for the judgement of its next cell. In memory only: sessions end with
 * the gateway too. */
#include "analyzer/analyze.h"
#include "gateway/rest/rest.h"

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

void cbx_rest_context_copy(struct cbx_rest *rest, const char *session, struct cbx_buf *out)
{
    pthread_mutex_lock(&rest->lock);
    struct cbx_rest_context *c = find_context(rest, session, false);
    if (c != NULL) {
        c->used = ++rest->context_uses;
        cbx_buf_add(out, cbx_buf_str(&c->text));
    }
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
