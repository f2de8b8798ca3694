/* SPDX-License-Identifier: MIT
 * The HTML of the page. Pure except for cbx_view_read, which queries the other processes. */
#ifndef CBX_GATEWAY_FRONT_PAGE_VIEW_H
#define CBX_GATEWAY_FRONT_PAGE_VIEW_H

#include "gateway/front/service/service.h"

enum { CBX_VIEW_BYTES_MAX = 16 << 20, CBX_VIEW_DECISIONS = 60 };

/* The contents of the page. Owned: cbx_view_done. */
struct cbx_view {
    const char *principal;
    bool may_log_out;  /* true for a login that the reader can end */
    json_t *health;    /* health of the executor; NULL = it does not reply */
    json_t *sessions;  /* sessions of all principals, from the executor */
    json_t *decisions; /* all decisions in memory, without code and findings */
    json_t *recent;    /* the last CBX_VIEW_DECISIONS, with code */
    bool store_ok;
    struct cbx_err store, executor; /* errors of the two */
};
void cbx_view_done(struct cbx_view *view);
CBX_DEFINE_AUTO_DONE(view)

/* Reads the contents of the page; unreadable parts are left out. */
void cbx_view_read(struct cbx_service *service, const char *principal, struct cbx_view *out);

/* Appends the whole document. */
void cbx_view_write(const struct cbx_view *view, struct cbx_buf *out);

/* Appends a document with a form for a token; `text` is the reason why the last one was refused,
 * NULL = none was. */
void cbx_view_write_login(const char *text, struct cbx_buf *out);

/* Appends a document with one sentence; with `may_log_out` a button that ends the login. */
void cbx_view_write_refusal(const char *text, bool may_log_out, struct cbx_buf *out);

/* Return the style and the script, static. */
const char *cbx_view_style(void);
const char *cbx_view_script(void);

#endif
