/* SPDX-License-Identifier: MIT
 * Messages between a client that needs the keys of issuers of tokens, front or executor, and the
 * process that fetches them (gateway/keys): requests and answers over a pair of sockets that
 * preserves message boundaries. So a killed process leaves no partial message to its successor.
 * A request names a configured source; it cannot choose the URL. The bytes of an answer are as
 * the server sent them. */
#ifndef CBX_GATEWAY_IPC_WIRE_KEY_FETCH_H
#define CBX_GATEWAY_IPC_WIRE_KEY_FETCH_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/hash.h"

/* Keys of one issuer have CBX_JWKS_MAX bytes at most; a fetch ends after CBX_KEY_FETCH_MS, in
 * any state. */
enum { CBX_JWKS_MAX = 256 * 1024, CBX_KEY_FETCH_MS = 10000, CBX_KEY_SOURCES_MAX = 16 };

/* Number of clients of the process: front and executor, each with a channel of its own. */
enum { CBX_KEY_CLIENTS = 2 };

/* A URL that keys are fetched from. */
struct cbx_key_source {
    struct cbx_sha256 id;       /* hash of the issuer's name, the URL and the authorities */
    const char *url;            /* https://HOST[:PORT]/PATH */
    struct cbx_str authorities; /* PEM; empty = the system's authorities */
};

struct cbx_key_request {
    struct cbx_sha256 source;
    uint64_t number; /* copied to the answer; never 0 */
    /* 1: if the fetch fails, the answer has the keys of the last successful fetch */
    uint64_t wants_last;
};

enum cbx_key_event {
    CBX_KEYS_STARTED = 1, /* a fetching process started: requests to its predecessor are lost */
    CBX_KEYS_FETCHED,     /* the server replied with the status 200 and these bytes */
    CBX_KEYS_FAILED,      /* the fetch failed; bytes, if any, are from the last successful fetch */
};

struct cbx_key_answer {
    uint32_t event;  /* enum cbx_key_event */
    uint32_t bytes;  /* length of all bytes of the answer; a message carries a part */
    uint32_t at;     /* offset of the part */
    uint32_t part;   /* length of the part */
    uint64_t number; /* number of the request */
    int64_t age_ms;  /* age of the bytes */
    struct cbx_sha256 source;
    /* reason of CBX_KEYS_FAILED, for the log; may contain text from the server */
    char reason[192];
};

/* Creates a pair of connected sockets, close-on-exec. CBX_EIO. */
int cbx_key_channel(int out[2], struct cbx_err *err);

/* Sends a request, without waiting: false if the other end is closed or its buffer is full. */
bool cbx_key_request_send(int fd, const struct cbx_key_request *request);

/* Takes a request that has arrived; false if none has, or if it is malformed. */
bool cbx_key_request_take(int fd, struct cbx_key_request *out);

/* Sends an answer with all of its bytes, in parts (the call sets `at` and `part`); waits until
 * the other end has received them. */
bool cbx_key_answer_send(int fd, struct cbx_key_answer answer, struct cbx_str bytes);

/* The received parts of an answer; zero-initialise `head`, initialise `bytes` with CBX_JWKS_MAX
 * as its maximum. */
struct cbx_key_reading {
    struct cbx_key_answer head;
    struct cbx_buf bytes;
};

/* Takes the messages that have arrived. True if an answer is complete, or a process started:
 * *reading has it until the next call. False if no more messages have arrived. A malformed
 * message, or one that does not continue the previous message, is dropped together with the
 * received parts of its answer. */
bool cbx_key_answer_take(int fd, struct cbx_key_reading *reading);

#endif
