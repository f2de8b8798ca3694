/* SPDX-License-Identifier: MIT The process that fetches the keys of issuers of tokens
 * (cbx-keys). It has the network and nothing else of the gateway: no file, no socket but the
 * channels to its clients, front and executor. The configuration names what it may fetch, a
 * client says when; it reads nothing of what it got, which each client checks by itself: the
 * executor believes no key that the front shows it. */
#ifndef CBX_GATEWAY_KEYS_FETCHER_H
#define CBX_GATEWAY_KEYS_FETCHER_H

#include "gateway/ipc/wire/key_fetch.h"

/* The main function of the process, which confines itself first: answers the requests on each of
 * the channels (key_fetch.h) by fetching from these sources, of which it fetches several at a
 * time and each once at a time. Never returns. */
_Noreturn void cbx_keys_main(const int channels[CBX_KEY_CLIENTS],
                             const struct cbx_key_source *sources, size_t count);

#endif
