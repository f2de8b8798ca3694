/* SPDX-License-Identifier: MIT
 * HTTPS requests by libcurl. */
#include "gateway/keys/transfer.h"

#include "policies/release.h"

#include <openssl/ssl.h>
#include <stdlib.h>

enum { HEADERS_MAX = 64 * 1024, STATUS_OK = 200 };

int cbx_transfer_prepare(struct cbx_err *err)
{
    /* libcrypto reads its configuration, and the first object of each kind initialises shared
     * state. */
    SSL_CTX *settings = SSL_CTX_new(TLS_client_method());
    SSL_CTX_free(settings);
    if (settings == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return cbx_fail(err, CBX_EIO, "libcurl or libssl cannot be used");
    }
    return 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct cbx_transfer *t = context;
    return cbx_buf_add_bytes(&t->body, bytes, size * count) == 0 ? size * count : 0;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct cbx_transfer *t = context;
    (void)bytes;
    t->header_bytes += size * count;
    return t->header_bytes <= HEADERS_MAX ? size * count : 0;
}

/* With the operator's authorities, the system's certify nothing. */
static void set_authorities(CURL *curl, const struct cbx_key_source *source)
{
    if (source->authorities.len > 0) {
        struct curl_blob pem = { .data = (void *)(uintptr_t)source->authorities.p,
                                 .len = source->authorities.len,
                                 .flags = CURL_BLOB_NOCOPY };
        curl_easy_setopt(curl, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &pem);
    }
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

void cbx_transfer_begin(struct cbx_transfer *t, CURLM *multi, const struct cbx_key_source *source)
{
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        abort();
    }
    cbx_buf_reset(&t->body);
    t->body.overflow = false;
    t->header_bytes = 0;
    t->words[0] = '\0';
    t->curl = curl;
    curl_easy_setopt(curl, CURLOPT_URL, source->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* no proxy, whatever the environment has */
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CBX_KEY_FETCH_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    /* A resolver that hangs is left behind; it delays no other issuer. */
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)CBX_JWKS_MAX);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "codebox/" CBX_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->words);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, t);
    set_authorities(curl, source);
    curl_multi_add_handle(multi, curl);
}

static void explain(const struct cbx_transfer *t, CURLcode code, long status, char *out,
                    size_t size)
{
    if (t->body.overflow || code == CURLE_FILESIZE_EXCEEDED) {
        snprintf(out, size, "the answer has more than %d bytes", CBX_JWKS_MAX);
    } else if (t->header_bytes > HEADERS_MAX) {
        snprintf(out, size, "the answer has more than %d bytes of headers", HEADERS_MAX);
    } else if (code != CURLE_OK) {
        snprintf(out, size, "%s", t->words[0] != '\0' ? t->words : curl_easy_strerror(code));
    } else {
        snprintf(out, size, "the answer has the status %ld, allowed is 200%s", status,
                 status / 100 == 3 ? " (redirects are not followed)" : "");
    }
}

bool cbx_transfer_end(struct cbx_transfer *t, CURLM *multi, CURLcode code, char *reason,
                      size_t reason_bytes)
{
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    bool good = code == CURLE_OK && status == STATUS_OK && !t->body.overflow;
    if (!good) {
        explain(t, code, status, reason, reason_bytes);
    }
    curl_multi_remove_handle(multi, t->curl);
    curl_easy_cleanup(t->curl);
    t->curl = NULL;
    return good;
}
