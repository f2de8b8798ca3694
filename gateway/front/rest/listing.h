/* SPDX-License-Identifier: MIT
 * Listings in pages: the parameters `limit` and `cursor` of a GET, and `next` of its response. */
#ifndef CBX_GATEWAY_FRONT_REST_LISTING_H
#define CBX_GATEWAY_FRONT_REST_LISTING_H

#include "gateway/front/rest/rest.h"

/* A listing: its name, which is also the response's member with the items, and the member of an
 * item that is the key of its position, besides `created_at`. A position of a listing that is not
 * internal has the same meaning at each replica, so its pages have the items of all. */
struct cbx_listing {
    const char *name, *key;
    bool internal;     /* true: the response has no key */
    bool newest_first; /* true: by falling positions */
};

/* A client's request: `limit` items after a position. */
struct cbx_listing_page {
    int64_t limit;
    struct cbx_store_position after;
};

/* The parameters of a listing's query, for a table of fields that has more. */
struct cbx_listing_query {
    int64_t limit;
    struct cbx_str cursor;
};
enum { CBX_LISTING_LIMIT = 100, CBX_LISTING_LIMIT_MAX = 1000 };
#define CBX_LISTING_FIELDS(type, member)                                                           \
    { "limit", CBX_JSON_INT,         offsetof(struct type, member.limit), false, false,            \
      1,       CBX_LISTING_LIMIT_MAX },                                                            \
    {                                                                                              \
        "cursor", CBX_JSON_STR, offsetof(struct type, member.cursor), false, false, 1, 512         \
    }

/* Finds the page of a query, with CBX_LISTING_LIMIT by default. False if it was refused; the
 * response is then made. */
bool cbx_listing_find(struct cbx_rest_call *call, const struct cbx_listing *listing,
                      const struct cbx_listing_query *query, struct cbx_listing_page *out);

/* Reads the query. False if it was refused; the response is then made. */
bool cbx_listing_read(struct cbx_rest_call *call, const struct cbx_listing *listing,
                      struct cbx_listing_page *out);

/* Responds with the first `limit` of the items (takes the reference), and of the items of the
 * other replicas. If there are more, the response has `next`, the cursor of the following page:
 * so a caller passes one item more than a page has. A replica that does not answer is named by
 * the member `missing`. */
void cbx_listing_answer(struct cbx_rest_call *call, const struct cbx_listing *listing,
                        const struct cbx_listing_page *page, json_t *items);

/* Returns the position of an item whose member `key` is its key. */
struct cbx_store_position cbx_listing_position(const json_t *item, const char *key);

#endif
