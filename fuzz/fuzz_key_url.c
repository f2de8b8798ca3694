/* SPDX-License-Identifier: MIT
 * URLs of keys: one that passes is read by libcurl, which fetches it, as it was checked: https, no user, no fragment, the same
 * host. */
#include "gateway/identity/key_url.h"

#include <curl/curl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Is the part of the URL there? */
static bool has(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool found = curl_url_get(url, part, &text, 0) == CURLUE_OK && text != NULL;
    curl_free(text);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str text = { .p = (const char *)data, .len = size };
    if (!cbx_key_url_is(text) || size > 512 || cbx_key_url_problem(text) != NULL) {
        return 0;
    }
    char terminated[513], *host = NULL;
    memcpy(terminated, data, size);
    terminated[size] = '\0';
    CURLU *url = curl_url();
    if (strlen(terminated) != size ||
        curl_url_set(url, CURLUPART_URL, terminated, 0) != CURLUE_OK || has(url, CURLUPART_USER) ||
        has(url, CURLUPART_PASSWORD) || has(url, CURLUPART_OPTIONS) ||
        has(url, CURLUPART_FRAGMENT) || has(url, CURLUPART_ZONEID) ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        abort();
    }
    /* libcurl writes IPv4 addresses of other forms in the usual one. */
    bool number = terminated[8] >= '0' && terminated[8] <= '9';
    if (!number && host[0] != '[' && strncasecmp(terminated + 8, host, strlen(host)) != 0) {
        abort();
    }
    curl_free(host);
    curl_url_cleanup(url);
    return 0;
}
