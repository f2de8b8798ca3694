/* SPDX-License-Identifier: MIT
 * What a registry sends before it is trusted: a challenge never sends credentials over a connection
 * without TLS to another machine, and a reference never becomes another path of a URL. */
#include "docker/engine/kubernetes/registry_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_challenge(const char *text)
{
    static const struct cbx_reference at = { .host = "registry.test", .name = "team/image" };
    CBX_AUTO_DONE(buf) url;
    cbx_buf_init(&url, CBX_REGISTRY_URL_BYTES);
    if (cbx_registry_token_url(&at, text, &url, NULL) != 0) {
        return;
    }
    bool plain = strncmp(url.p, "http://", 7) == 0 && cbx_registry_is_local(url.p + 7);
    check(plain || strncmp(url.p, "https://", 8) == 0);
    check(strpbrk(url.p, " \t@#\\") == NULL);
    check(url.overflow || strstr(url.p, "scope=repository%3Ateam%2Fimage%3A") != NULL);
}

static void check_reference(const char *text)
{
    struct cbx_reference reference;
    if (!cbx_reference_read(text, &reference)) {
        return;
    }
    check(strlen(reference.digest) == CBX_DIGEST_CHARS);
    check(strpbrk(reference.host, "/?#@ \t\r\n\\") == NULL);
    check(strpbrk(reference.name, "?#@% \t\r\n\\") == NULL);
    check(strstr(reference.name, "..") == NULL && reference.name[0] != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    check_challenge(text);
    check_reference(text);
    free(text);
    return 0;
}
