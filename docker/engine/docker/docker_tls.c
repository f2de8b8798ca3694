/* SPDX-License-Identifier: MIT
 * TLS to an engine: the three files that the docker client uses too. They are checked before use,
 * so that an error names the wrong one. */
#include "docker/engine/docker/docker_http.h"

#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

static int refuse(struct cbx_err *err, const char *path, const char *why)
{
    cbx_fail(err, CBX_EENGINE, "TLS to the sandbox engine is not set up");
    cbx_err_detail(err, "'%s': %s", path, why);
    return CBX_EENGINE;
}

static int read_certificate(const char *path, X509 **out, struct cbx_err *err)
{
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return refuse(err, path, strerror(errno));
    }
    *out = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    if (*out == NULL) {
        return refuse(err, path, "it holds no certificate in PEM");
    }
    return 0;
}

/* With TLS 1.3 an engine rejects a client's certificate only after the client's handshake has
 * succeeded, and closes the connection without a reason; so the certificate is checked here
 * first. */
static int check_certificate(const char *path, struct cbx_err *err)
{
    X509 *certificate = NULL;
    int failed = read_certificate(path, &certificate, err);
    if (!failed && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
        failed = refuse(err, path, "the certificate has expired");
    } else if (!failed && X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
        failed = refuse(err, path, "the certificate is not valid yet");
    }
    X509_free(certificate);
    return failed;
}

int cbx_docker_tls_check(const struct cbx_docker_tls *tls, struct cbx_err *err)
{
    int failed = check_certificate(tls->ca, err);
    if (failed) {
        return failed;
    }
    failed = check_certificate(tls->cert, err);
    if (failed) {
        return failed;
    }
    FILE *key = fopen(tls->key, "re");
    if (key == NULL) {
        return refuse(err, tls->key, strerror(errno));
    }
    fclose(key);
    return 0;
}

void cbx_docker_tls_use(const struct cbx_docker_tls *tls, CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_CAINFO, tls->ca);
    /* The system's CAs certify web sites, not engines. */
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(curl, CURLOPT_SSLCERT, tls->cert);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, tls->key);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

const char *cbx_docker_tls_hint(const struct cbx_docker_tls *tls, CURLcode code)
{
    bool hung_up = code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
                   code == CURLE_GOT_NOTHING || code == CURLE_SSL_CONNECT_ERROR;
    return tls->cert[0] != '\0' && hung_up ? "; it rejects our certificate, or does not use TLS"
                                           : "";
}
