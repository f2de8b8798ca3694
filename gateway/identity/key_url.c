/* SPDX-License-Identifier: MIT
 * URLs of keys. */
#include "gateway/identity/key_url.h"

#include "policies/base/auto.h"
#include "policies/base/memory.h"

#include <ctype.h>
#include <curl/curl.h>

bool cbx_key_url_is(struct cbx_str text)
{
    size_t n = 0;
    while (n < text.len &&
           (isalnum((unsigned char)text.p[n]) || (n > 0 && memchr("+-.", text.p[n], 3) != NULL))) {
        n++;
    }
    return n > 0 && n < text.len && text.p[n] == ':';
}

/* True if the URL has the part, with this text unless it is NULL. */
static bool has(CURLU *url, CURLUPart part, const char *text)
{
    char *found = NULL;
    bool is = curl_url_get(url, part, &found, 0) == CURLUE_OK &&
              (text == NULL || strcmp(found, text) == 0);
    curl_free(found);
    return is;
}

static const char *find_problem(CURLU *url, const char *text)
{
    CURLUcode failed =
        curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME);
    if (failed == CURLUE_USER_NOT_ALLOWED) {
        return "a URL with user information";
    }
    if (failed) {
        return "no URL that libcurl can read";
    }
    if (!has(url, CURLUPART_SCHEME, "https")) {
        return "a URL of another scheme";
    }
    return has(url, CURLUPART_FRAGMENT, NULL) ? "a URL with a fragment" : NULL;
}

const char *cbx_key_url_problem(struct cbx_str url)
{
    CBX_AUTO_MEM char *text = cbx_str_copy(url);
    CURLU *parsed = curl_url();
    if (parsed == NULL) {
        abort();
    }
    const char *problem = find_problem(parsed, text);
    curl_url_cleanup(parsed);
    return problem;
}
