/* SPDX-License-Identifier: MIT
 * Listings in pages. A cursor is the position of the last item of a page and not a count of items,
 * so that inserted and removed items neither repeat nor hide others. */
#include "gateway/front/rest/listing.h"

#include "gateway/front/forward/forward.h"
#include "policies/base/log.h"
#include "policies/base/text/hex.h"

#include <stdio.h>

struct query {
    struct cbx_listing_query page;
};
static const struct cbx_json_field query_fields[] = { CBX_LISTING_FIELDS(query, page) };
CBX_REST_INPUT(page, query_fields);

/* The text of a cursor names its listing, since a position of another listing would be wrong. In
 * hexadecimal, because clients should not read or make it. */
enum { TEXT_BYTES = 128 };

static bool read_cursor(struct cbx_str cursor, const char *listing, struct cbx_store_position *out)
{
    char text[TEXT_BYTES] = "", name[16], after;
    struct cbx_store_position position = { 0 };
    if (cursor.len / 2 >= sizeof(text) || !cbx_hex_decode(cursor, text, cursor.len / 2) ||
        sscanf(text, "%15[a-z] %31[0-9T:.-] %39[0-9A-Za-z-]%c", name, position.created_at,
               position.key, &after) != 3 ||
        strcmp(name, listing) != 0) {
        return false;
    }
    *out = position;
    return true;
}

static json_t *make_cursor(const struct cbx_listing *listing, const json_t *item)
{
    char text[TEXT_BYTES], cursor[2 * TEXT_BYTES + 1];
    struct cbx_store_position p = cbx_listing_position(item, listing->key);
    snprintf(text, sizeof(text), "%s %s %s", listing->name, p.created_at, p.key);
    cbx_hex_encode(text, strlen(text), cursor);
    return json_string(cursor);
}

bool cbx_listing_find(struct cbx_rest_call *call, const struct cbx_listing *listing,
                      const struct cbx_listing_query *query, struct cbx_listing_page *out)
{
    struct cbx_listing_page page = { .limit = query->limit > 0 ? query->limit : CBX_LISTING_LIMIT };
    struct cbx_err err = { 0 };
    if (query->cursor.len > 0 && !read_cursor(query->cursor, listing->name, &page.after)) {
        cbx_fail(&err, CBX_EINVAL,
                 "the query: 'cursor' is '%.*s', allowed is the 'next' of an answer with %s",
                 CBX_STR_SHOWN(query->cursor), listing->name);
        cbx_rest_fail(call, 400, &err);
        return false;
    }
    *out = page;
    return true;
}

bool cbx_listing_read(struct cbx_rest_call *call, const struct cbx_listing *listing,
                      struct cbx_listing_page *out)
{
    struct query query = { 0 };
    return cbx_rest_query(call, query_fields, sizeof(query_fields) / sizeof(query_fields[0]),
                          &query) &&
           cbx_listing_find(call, listing, &query.page, out);
}

struct cbx_store_position cbx_listing_position(const json_t *item, const char *key)
{
    struct cbx_store_position position = { 0 };
    snprintf(position.created_at, sizeof(position.created_at), "%s",
             json_string_value(json_object_get(item, "created_at")));
    snprintf(position.key, sizeof(position.key), "%s",
             json_string_value(json_object_get(item, key)));
    return position;
}

/* --- the other replicas ----------------------------------------------------------------------- */

static int compare(const struct cbx_listing *listing, const json_t *a, const json_t *b)
{
    struct cbx_store_position x = cbx_listing_position(a, listing->key);
    struct cbx_store_position y = cbx_listing_position(b, listing->key);
    int order = strcmp(x.created_at, y.created_at);
    if (order == 0) {
        order = strcmp(x.key, y.key);
    }
    return listing->newest_first ? -order : order;
}

/* Merges two lists that are in order (takes both references). */
static json_t *merge(const struct cbx_listing *listing, json_t *a, json_t *b)
{
    json_t *all = json_array();
    size_t i = 0, k = 0, a_count = json_array_size(a), b_count = json_array_size(b);
    while (i < a_count || k < b_count) {
        bool first = k == b_count || (i < a_count && compare(listing, json_array_get(a, i),
                                                             json_array_get(b, k)) <= 0);
        json_array_append(all, first ? json_array_get(a, i++) : json_array_get(b, k++));
    }
    json_decref(a);
    json_decref(b);
    return all;
}

/* Merges the page of each other replica into the items (takes the reference). *more is set if one
 * of them has further items; *missing has the names of those that gave no page. */
static json_t *gather(const struct cbx_rest_call *call, const struct cbx_listing *listing,
                      json_t *items, bool *more, json_t *missing)
{
    struct cbx_forward_answer answers[CBX_REPLICAS_MAX];
    size_t count = cbx_forward_all(call->service->forwarder, call->request, answers);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO_JSON page = answers[i].json;
        json_t *theirs = json_object_get(page, listing->name);
        if (answers[i].status != 200 || !json_is_array(theirs)) {
            json_array_append_new(missing, json_string(answers[i].replica->name));
            cbx_log(CBX_LOG_WARNING, "request %s: replica '%s' gives no page of %s: %s",
                    call->request->id, answers[i].replica->name, listing->name, answers[i].reason);
            continue;
        }
        *more = *more || json_is_string(json_object_get(page, "next"));
        items = merge(listing, items, json_incref(theirs));
    }
    return items;
}

static bool asks_others(const struct cbx_rest_call *call, const struct cbx_listing *listing)
{
    return call->service->forwarder != NULL && call->request->replica.len == 0 &&
           !listing->internal;
}

void cbx_listing_answer(struct cbx_rest_call *call, const struct cbx_listing *listing,
                        const struct cbx_listing_page *page, json_t *items)
{
    CBX_AUTO_JSON missing = json_array();
    bool more = false;
    if (asks_others(call, listing)) {
        items = gather(call, listing, items, &more, missing);
    }
    json_t *answer = json_pack("{s:o}", listing->name, items), *item;
    size_t limit = (size_t)page->limit, i;
    if (json_array_size(items) > limit || (more && json_array_size(items) == limit)) {
        json_object_set_new(answer, "next", make_cursor(listing, json_array_get(items, limit - 1)));
    }
    while (json_array_size(items) > limit) {
        json_array_remove(items, json_array_size(items) - 1);
    }
    json_array_foreach(items, i, item)
    {
        if (listing->internal) {
            json_object_del(item, listing->key);
        }
    }
    if (json_array_size(missing) > 0) {
        json_object_set(answer, "missing", missing);
    }
    cbx_rest_answer(call, 200, answer);
}
