/* SPDX-License-Identifier: MIT
 * Listings in pages: the parameters `limit` and `cursor` of a GET, and `next` of its answer. */
#ifndef CBX_GATEWAY_FRONT_REST_LISTING_H
#define CBX_GATEWAY_FRONT_REST_LISTING_H

#include "gateway/front/rest/rest.h"

/* A listing: its name, which is also the member of the answer that has the items, and the member of
 * an item that is the key of its position, beside `created_at`. `internal`: the answer has no key.
 */
struct cbx_listing {
    const char *name, *key;
    bool internal;
};

/* What a client asked for: `limit` items behind a position. */
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

/* The page of a query that was read, with CBX_LISTING_LIMIT where it says nothing. False when it was refused; the
 * answer is then made. */
bool cbx_listing_find(struct cbx_rest_call *call, const struct cbx_listing *listing,
                      const struct cbx_listing_query *query, struct cbx_listing_page *out);

/* Reads the query. False when it was refused; the answer is then made. */
bool cbx_listing_read(struct cbx_rest_call *call, const struct cbx_listing *listing,
                      struct cbx_listing_page *out);

/* Answers with the first `limit` of the items (takes the reference). Of more items the answer has
 * `next`, the cursor of the following page: so a caller gives one item more than a page has. */
void cbx_listing_answer(struct cbx_rest_call *call, const struct cbx_listing *listing,
                        const struct cbx_listing_page *page, json_t *items);

/* The position of an item whose member `key` is its key. */
struct cbx_store_position cbx_listing_position(const json_t *item, const char *key);

#endif
