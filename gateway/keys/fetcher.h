/* SPDX-License-Identifier: MIT
 * The process that fetches the keys of issuers of tokens (cbx-keys). It has the network, and no
 * file and no socket of the gateway except the channels to its clients, front and executor. The
 * configuration names the URLs that it may fetch; a client requests a fetch. It does not interpret
 * the bytes that it received, which each client checks itself: the executor accepts no keys from
 * the front. */
#ifndef CBX_GATEWAY_KEYS_FETCHER_H
#define CBX_GATEWAY_KEYS_FETCHER_H

#include "gateway/ipc/wire/key_fetch.h"

/* The main function of the process, which first confines itself: answers the requests on each of
 * the channels (key_fetch.h) by fetching from these sources, several at a time and each once at
 * a time. Never returns. */
_Noreturn void cbx_keys_main(const int channels[CBX_KEY_CLIENTS],
                             const struct cbx_key_source *sources, size_t count);

#endif
