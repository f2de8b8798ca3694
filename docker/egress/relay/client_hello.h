/* SPDX-License-Identifier: MIT
 * The server name in a TLS client's first message, which is plain text. Pure; the bytes are
 * hostile. */
#ifndef CBX_DOCKER_EGRESS_RELAY_CLIENT_HELLO_H
#define CBX_DOCKER_EGRESS_RELAY_CLIENT_HELLO_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* bytes of a ClientHello; clients of Linux distributions send 0.2 to 2 KiB */
    CBX_HELLO_MAX_BYTES = 16 * 1024,
    CBX_HELLO_NAME_BYTES = 254, /* bytes of a name with its NUL */
};

/* RFC 8446 5.1 and 4. */
enum {
    CBX_TLS_RECORD_HEAD_BYTES = 5,
    CBX_TLS_CHANGE_CIPHER_SPEC = 20, /* types of records */
    CBX_TLS_HANDSHAKE = 22,
    CBX_TLS_CLIENT_HELLO = 1, /* a type of handshake messages */
};

enum cbx_hello {
    CBX_HELLO_BAD = 0,    /* not TLS, or malformed, or too long */
    CBX_HELLO_INCOMPLETE, /* more bytes are needed */
    CBX_HELLO_UNNAMED,    /* well-formed, but the name cannot be determined */
    CBX_HELLO_NAMED,
};

/* Reads the ClientHello (RFC 8446 4.1.2) at the beginning of `bytes`. It may be spread over several
 * TLS records (5.1), ends with a record, and may be followed by other records. CBX_HELLO_NAMED sets
 * `name` to the host name of its extension server_name (RFC 6066 3), in lower case, and
 * `used_bytes` to the length of its records; the other results leave both unchanged. Each extension
 * may occur once (RFC 8446 4.2). UNNAMED is a ClientHello
 *     without a name, with several names, or with a name that is no host name;
 *     with encrypted_client_hello (RFC 9849): the server uses another name than the plain-text one;
 *     with early_data (RFC 8446 4.2.10): a second ClientHello could follow encrypted records,
 *     where it cannot be found. */
enum cbx_hello cbx_client_hello_read(const uint8_t *bytes, size_t len,
                                     char name[CBX_HELLO_NAME_BYTES], size_t *used_bytes);

#endif
