/* SPDX-License-Identifier: MIT
 * Base64, by libcrypto. */
#include "policies/base/text/base64.h"

#include <openssl/evp.h>

enum { BYTES_MAX = 1 << 30 };

int cbx_base64_encode(struct cbx_str bytes, struct cbx_buf *out)
{
    char *to = bytes.len <= BYTES_MAX ? cbx_buf_reserve(out, bytes.len / 3 * 4 + 5) : NULL;
    if (to == NULL) {
        return CBX_ETOOBIG;
    }
    out->len += (size_t)EVP_EncodeBlock((unsigned char *)to, (const unsigned char *)bytes.p,
                                        (int)bytes.len);
    return 0;
}

/* Returns the number of padding characters; 3 if the text is not Base64. EVP_DecodeBlock accepts
 * more: white space, and '=' anywhere. */
static size_t padding_of(struct cbx_str text)
{
    size_t padding = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i], low = (char)(c | 32);
        bool digit = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
        padding += c == '=';
        if ((!digit && c != '=') || (digit && padding > 0)) {
            return 3;
        }
    }
    return text.len % 4 == 0 && padding <= 2 ? padding : 3;
}

bool cbx_base64_decode(struct cbx_str text, struct cbx_buf *out)
{
    size_t padding = padding_of(text);
    char *to =
        padding < 3 && text.len <= BYTES_MAX ? cbx_buf_reserve(out, text.len / 4 * 3 + 1) : NULL;
    int len = to != NULL ? EVP_DecodeBlock((unsigned char *)to, (const unsigned char *)text.p,
                                           (int)text.len)
                         : -1;
    if (len < 0 || (size_t)len < padding) {
        return false;
    }
    out->len += (size_t)len - padding; /* libcrypto includes the padding in the length */
    out->p[out->len] = '\0';
    return true;
}

int cbx_base64url_encode(struct cbx_str bytes, struct cbx_buf *out)
{
    size_t before = out->len;
    int failed = cbx_base64_encode(bytes, out);
    for (size_t i = before; i < out->len; i++) {
        char c = out->p[i];
        out->p[i] = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    while (out->len > before && out->p[out->len - 1] == '=') {
        out->p[--out->len] = '\0';
    }
    return failed;
}

bool cbx_base64url_decode(struct cbx_str text, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) padded;
    cbx_buf_init(&padded, text.len + 4);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '+' || c == '/' || c == '=') {
            return false;
        }
        cbx_buf_add_char(&padded, c == '-' ? '+' : c == '_' ? '/' : c);
    }
    while (padded.len % 4 != 0) {
        cbx_buf_add_char(&padded, '=');
    }
    return cbx_base64_decode(cbx_buf_str(&padded), out);
}
