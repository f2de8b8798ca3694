/* SPDX-License-Identifier: MIT
 * The HTML of the page. Pure but for what cbx_view_read asks the other processes. */
#ifndef CBX_GATEWAY_FRONT_PAGE_VIEW_H
#define CBX_GATEWAY_FRONT_PAGE_VIEW_H

#include "gateway/front/service/service.h"

enum { CBX_VIEW_BYTES_MAX = 16 << 20, CBX_VIEW_DECISIONS = 60 };

/* What is shown. Owned: cbx_view_done. */
struct cbx_view {
    const char *principal;
    bool may_log_out;  /* it was shown for a login that the reader can end */
    json_t *health;    /* of the executor; NULL = it does not answer */
    json_t *sessions;  /* of all principals, as the executor has them */
    json_t *decisions; /* all that are in memory, without code and findings */
    json_t *recent;    /* the last CBX_VIEW_DECISIONS, with code */
    bool store_ok;
    struct cbx_err store, executor; /* what is wrong */
};
void cbx_view_done(struct cbx_view *view);
CBX_DEFINE_AUTO_DONE(view)

/* Reads what the page shows; what cannot be read is left out. */
void cbx_view_read(struct cbx_service *service, const char *principal, struct cbx_view *out);

/* Appends the whole document. */
void cbx_view_write(const struct cbx_view *view, struct cbx_buf *out);

/* Appends a document that asks for a token; `text` says why the last one was refused, NULL = none was. */
void cbx_view_write_login(const char *text, struct cbx_buf *out);

/* Appends a document with one sentence; with `may_log_out` a button that ends the login. */
void cbx_view_write_refusal(const char *text, bool may_log_out, struct cbx_buf *out);

/* Static: the style and the script. */
const char *cbx_view_style(void);
const char *cbx_view_script(void);

#endif
