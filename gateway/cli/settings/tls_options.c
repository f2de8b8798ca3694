/* SPDX-License-Identifier: MIT
 * Certificate and key of `codebox serve`. */
#include "gateway/cli/settings/tls_options.h"

#include "gateway/front/http/tls.h"
#include "gateway/ipc/jail/trusted.h"
#include "policies/base/time/clock.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A group may read the key: Debian has the group ssl-cert for this. */
int cbx_pem_read(const struct cbx_pem_file *file, struct cbx_pem *out, struct cbx_err *err)
{
    const struct cbx_trusted_kind kind = { .what = file->option,
                                           .advice = "give it to root or to the gateway's user",
                                           .code = CBX_EINVAL,
                                           .file = true };
    CBX_AUTO_FD fd = -1;
    struct stat status;
    int failed = cbx_trusted_open(&kind, file->path, &fd, err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            return cbx_fail(err, CBX_EINVAL, "%s: '%.300s' does not exist", file->option,
                            file->path);
        }
        return failed;
    }
    if (fstat(fd, &status) < 0 || (file->secret != NULL && (status.st_mode & S_IRWXO) != 0)) {
        return cbx_fail(err, CBX_EINVAL,
                        "%s: '%.300s' has mode %o, so every user can use the %s; allowed is 0600, "
                        "or 0640 with a group for it",
                        file->option, file->path, (unsigned)status.st_mode & 07777, file->secret);
    }
    ssize_t n = 1;
    out->len = 0;
    while (n > 0 && out->len < sizeof(out->bytes)) {
        n = read(fd, out->bytes + out->len, sizeof(out->bytes) - out->len);
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 || out->len > CBX_TLS_PEM_MAX) {
        return cbx_fail(err, CBX_EINVAL, "%s: '%.300s' cannot be read, or has more than %d bytes",
                        file->option, file->path, CBX_TLS_PEM_MAX);
    }
    return 0;
}

bool cbx_options_tls(const struct cbx_options *options)
{
    return options->tls_certificate != NULL || options->tls_key != NULL;
}

int cbx_options_tls_read(const struct cbx_options *options, struct cbx_buf *out,
                         struct cbx_err *err)
{
    const struct cbx_pem_file files[] = {
        { .option = "--tls-certificate", .path = options->tls_certificate },
        { .option = "--tls-key", .path = options->tls_key, .secret = "private key" },
    };
    static struct cbx_pem pem[2];
    int failed = 0;
    for (size_t i = 0; i < 2 && !failed; i++) {
        if (files[i].path == NULL) {
            failed = cbx_fail(err, CBX_EINVAL, "%s is missing: TLS needs %s and %s",
                              files[i].option, files[0].option, files[1].option);
        } else {
            failed = cbx_pem_read(&files[i], &pem[i], err);
        }
    }
    if (!failed) {
        failed = cbx_tls_write((struct cbx_str){ .p = pem[0].bytes, .len = pem[0].len },
                               (struct cbx_str){ .p = pem[1].bytes, .len = pem[1].len },
                               cbx_time_ms() / 1000, out, err);
        if (failed) {
            failed = cbx_wrap(err, "TLS with '%.200s'", files[0].path);
        }
    }
    explicit_bzero(pem, sizeof(pem));
    return failed;
}

bool cbx_options_tls_expiry(char date[CBX_TLS_DATE_BYTES], int64_t *days)
{
    enum { DAY_S = 24 * 3600 };
    const time_t expires = cbx_tls_expires_s();
    struct tm parts;
    if (expires == 0 || gmtime_r(&expires, &parts) == NULL) {
        return false;
    }
    strftime(date, CBX_TLS_DATE_BYTES, "%Y-%m-%d %H:%M UTC", &parts);
    *days = (expires - cbx_time_ms() / 1000) / DAY_S;
    return true;
}
