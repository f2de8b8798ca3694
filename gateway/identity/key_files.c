/* SPDX-License-Identifier: MIT
 * Files of keys and of authorities. */
#include "gateway/identity/key_files.h"

#include "gateway/identity/jwt.h"
#include "gateway/identity/key_url.h"
#include "gateway/ipc/jail/trusted.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int check_keys(struct cbx_str text, struct cbx_err *err)
{
    CBX_AUTO(jwks) keys = NULL;
    return cbx_jwks_read(text, &keys, err);
}

static int check_authorities(struct cbx_str text, struct cbx_err *err)
{
    size_t count = 0;
    BIO *in = BIO_new_mem_buf(text.p, (int)text.len);
    for (X509 *one; in != NULL && (one = PEM_read_bio_X509(in, NULL, NULL, NULL)) != NULL;
         count++) {
        X509_free(one);
    }
    /* After a well-formed file no further beginning follows; a damaged certificate gives another
     * error. */
    bool whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    BIO_free(in);
    if (count == 0 || !whole) {
        return cbx_fail(err, CBX_EINVAL, "it has %s, allowed are certificates in PEM",
                        count > 0 ? "a certificate that is damaged" : "no certificate");
    }
    return 0;
}

static const struct content {
    struct cbx_trusted_kind kind;
    int (*check)(struct cbx_str text, struct cbx_err *err);
} keys = { .kind = { .what = "the file of keys",
                     .advice =
                         "it decides who is let in: give it to root or to the user of the gateway",
                     .code = CBX_EINVAL,
                     .file = true },
           .check = check_keys },
  authorities = { .kind = { .what = "the file of authorities",
                            .advice =
                                "it decides whose keys are accepted: give it to root or to the "
                                "user of the gateway",
                            .code = CBX_EINVAL,
                            .file = true },
                  .check = check_authorities };

/* Appends all bytes of an open file. */
static int read_all(int fd, const struct content *content, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_MEM char *text = malloc(CBX_KEY_FILE_BYTES_MAX + 1);
    size_t len = 0;
    ssize_t n = 1;
    if (text == NULL) {
        abort();
    }
    while (n > 0 && len <= CBX_KEY_FILE_BYTES_MAX) {
        n = read(fd, text + len, CBX_KEY_FILE_BYTES_MAX + 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 || len > CBX_KEY_FILE_BYTES_MAX) {
        if (n < 0) {
            return cbx_fail(err, CBX_EINVAL, "it cannot be read: %s", strerror(errno));
        }
        return cbx_fail(err, CBX_EINVAL, "it has more than %d bytes", CBX_KEY_FILE_BYTES_MAX);
    }
    struct cbx_str bytes = { .p = text, .len = len };
    int failed = content->check(bytes, err);
    if (failed) {
        return failed;
    }
    return cbx_buf_add(out, bytes);
}

static int read_file(const struct content *content, const char *folder, const char *name,
                     struct cbx_buf *out, struct cbx_err *err)
{
    char path[PATH_MAX];
    bool relative = name[0] != '/' && folder != NULL;
    CBX_AUTO_FD fd = -1;
    if (snprintf(path, sizeof(path), "%s%s%s", relative ? folder : "", relative ? "/" : "", name) >=
        (int)sizeof(path)) {
        return cbx_fail(err, CBX_EINVAL, "the path of %s is too long", content->kind.what);
    }
    if (cbx_trusted_open(&content->kind, path, &fd, err) != 0) {
        err->code = CBX_EINVAL; /* also if the file is absent */
        return CBX_EINVAL;
    }
    if (read_all(fd, content, out, err) == 0) {
        return 0;
    }
    if (err->line > 0) {
        return cbx_wrap(err, "'%.300s', line %u", path, err->line);
    }
    return cbx_wrap(err, "'%.300s'", path);
}

int cbx_key_files_read(const struct cbx_issuer *issuer, const char *folder, struct cbx_buf *out,
                       struct cbx_err *err)
{
    bool fetched = cbx_key_url_is(cbx_str_of(issuer->jwks));
    const char *name = fetched ? issuer->ca : issuer->jwks;
    int failed = 0;
    if (name[0] != '\0') {
        failed = read_file(fetched ? &authorities : &keys, folder, name, out, err);
    }
    if (failed) {
        return cbx_wrap(err, "issuer '%s'", issuer->name);
    }
    return 0;
}
