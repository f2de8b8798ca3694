/* SPDX-License-Identifier: MIT
 * Between a client that needs the keys of issuers of tokens, front or executor, and the process that fetches them (gateway/keys): requests
 * and answers over a pair of sockets that keeps the bounds of messages. So a process that is killed leaves no half of a
 * message to the next one. A request names a source that is configured; it cannot say what is fetched. The bytes of an
 * answer are as the server sent them. */
#ifndef CBX_GATEWAY_IPC_WIRE_KEY_FETCH_H
#define CBX_GATEWAY_IPC_WIRE_KEY_FETCH_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/hash.h"

/* Keys of one issuer have CBX_JWKS_MAX bytes at most; a fetch ends after CBX_KEY_FETCH_MS, whatever it waits for. */
enum { CBX_JWKS_MAX = 256 * 1024, CBX_KEY_FETCH_MS = 10000, CBX_KEY_SOURCES_MAX = 16 };

/* The clients of the process: front and executor, each with a channel of its own. */
enum { CBX_KEY_CLIENTS = 2 };

/* Where keys are fetched from. */
struct cbx_key_source {
    struct cbx_sha256 id;       /* of the issuer's name, the URL and the authorities */
    const char *url;            /* https://HOST[:PORT]/PATH */
    struct cbx_str authorities; /* PEM; empty = those of the system */
};

struct cbx_key_request {
    struct cbx_sha256 source;
    uint64_t number;     /* comes back with the answer; never 0 */
    uint64_t wants_last; /* 1: when fetching fails, the keys of the last fetch that did not */
};

enum cbx_key_event {
    CBX_KEYS_STARTED = 1, /* a process that fetches begins: requests that it did not get are lost */
    CBX_KEYS_FETCHED,     /* the server answered with the status 200 and these bytes */
    CBX_KEYS_FAILED, /* it did not; bytes, if any, are those of the last fetch that did not fail */
};

struct cbx_key_answer {
    uint32_t event;  /* enum cbx_key_event */
    uint32_t bytes;  /* all of them; a message has a part */
    uint32_t at;     /* of the part */
    uint32_t part;   /* its length */
    uint64_t number; /* of the request */
    int64_t age_ms;  /* of the bytes */
    struct cbx_sha256 source;
    char reason[192]; /* of FAILED, for the log; may have words of the server */
};

/* A pair of connected sockets, close-on-exec. CBX_EIO. */
int cbx_key_channel(int out[2], struct cbx_err *err);

/* Sends a request, without waiting: false when the other end is closed or takes no more. */
bool cbx_key_request_send(int fd, const struct cbx_key_request *request);

/* Takes a request that is there; false when there is none, or it is none. */
bool cbx_key_request_take(int fd, struct cbx_key_request *out);

/* Sends an answer with all of its bytes, in parts (`at` and `part` are set here); waits until the other end has taken them. */
bool cbx_key_answer_send(int fd, struct cbx_key_answer answer, struct cbx_str bytes);

/* What arrived of an answer so far; zero-initialise `head`, initialise `bytes` with CBX_JWKS_MAX as its maximum. */
struct cbx_key_reading {
    struct cbx_key_answer head;
    struct cbx_buf bytes;
};

/* Takes the messages that are there. True when an answer is whole, or a process started: *reading has it until the next
 * call. False when there is nothing more for now. A message that is malformed, or does not follow the one before, is
 * dropped, with what arrived of its answer. */
bool cbx_key_answer_take(int fd, struct cbx_key_reading *reading);

#endif
