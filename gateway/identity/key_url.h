/* SPDX-License-Identifier: MIT
 * The URLs that keys of an issuer may be fetched from: https://HOST[:PORT]/PATH, maybe with a
 * query. They are read by libcurl, which fetches them. */
#ifndef CBX_GATEWAY_IDENTITY_KEY_URL_H
#define CBX_GATEWAY_IDENTITY_KEY_URL_H

#include "policies/base/str.h"

/* True for a text that begins with a scheme of any kind and ':'. Any other text is the path of a
 * file; "./a:b" is one too. */
bool cbx_key_url_is(struct cbx_str text);

/* Returns NULL for a permitted URL. Otherwise the problem, a static text that completes "'jwks'
 * is": "a URL with user information". `url` has no NUL. */
const char *cbx_key_url_problem(struct cbx_str url);

#endif
