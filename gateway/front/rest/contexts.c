/* SPDX-License-Identifier: MIT
 * The earlier cells of each session, for the judgement of its next cell: in memory for the sessions
 * that were used last, read from the store for any other. */
#include "analyzer/context.h"
#include "gateway/front/rest/listing.h"
#include "gateway/front/rest/rest.h"

static void drop_context(struct cbx_rest_context *c)
{
    if (c->session[0] != '\0') {
        cbx_buf_done(&c->text);
        *c = (struct cbx_rest_context){ 0 };
    }
}

/* Reads all earlier cells from the store. */
static int recall(struct cbx_rest *rest, struct cbx_rest_context *c, struct cbx_err *err)
{
    enum { PAGE = 500 };
    struct cbx_store_position after = { 0 };
    int failed = 0;
    for (size_t count = PAGE; !failed && count == PAGE;) {
        CBX_AUTO_JSON page = NULL;
        size_t i;
        const json_t *row;
        failed = cbx_store_page_history(rest->store, c->session, &after, PAGE, &page, err);
        count = json_array_size(page);
        json_array_foreach(page, i, row)
        {
            cbx_context_add(&c->text, cbx_json_str(json_object_get(row, "code")));
        }
        if (count > 0) {
            after = cbx_listing_position(json_array_get(page, count - 1), "position");
        }
    }
    return failed;
}

/* With the lock: the session's entry. One that is not in memory is read from the store and
 * replaces the least recently used one: an entry never lacks an earlier cell. */
static int find_context(struct cbx_rest *rest, const char *session, struct cbx_rest_context **out,
                        struct cbx_err *err)
{
    struct cbx_rest_context *found = NULL, *oldest = &rest->contexts[0];
    for (size_t i = 0; i < CBX_REST_CONTEXTS && found == NULL; i++) {
        struct cbx_rest_context *c = &rest->contexts[i];
        found = strcmp(c->session, session) == 0 ? c : NULL;
        oldest = c->used < oldest->used ? c : oldest;
    }
    if (found == NULL) {
        found = oldest;
        drop_context(found);
        cbx_buf_init(&found->text, 2 * CBX_CONTEXT_MAX_BYTES);
        snprintf(found->session, sizeof(found->session), "%s", session);
        found->state = ++rest->context_states;
        int failed = recall(rest, found, err);
        if (failed) {
            drop_context(found);
            return failed;
        }
    }
    found->used = ++rest->context_uses;
    *out = found;
    return 0;
}

int cbx_rest_context_copy(struct cbx_rest *rest, const char *session, struct cbx_buf *out,
                          uint64_t *state, struct cbx_err *err)
{
    struct cbx_rest_context *c;
    pthread_mutex_lock(&rest->lock);
    int failed = find_context(rest, session, &c, err);
    if (!failed) {
        cbx_buf_add(out, cbx_buf_str(&c->text));
        *state = c->state;
    }
    pthread_mutex_unlock(&rest->lock);
    return failed;
}

bool cbx_rest_context_add(struct cbx_rest *rest, const char *session, uint64_t state,
                          struct cbx_str text)
{
    struct cbx_rest_context *c;
    if (find_context(rest, session, &c, NULL) != 0 || c->state != state) {
        return false;
    }
    cbx_context_add(&c->text, text); /* one that does not fit denies every later cell */
    c->state = ++rest->context_states;
    return true;
}

void cbx_rest_contexts_done(struct cbx_rest *rest)
{
    for (size_t i = 0; i < CBX_REST_CONTEXTS; i++) {
        drop_context(&rest->contexts[i]);
    }
}
