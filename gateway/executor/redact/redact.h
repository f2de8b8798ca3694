/* SPDX-License-Identifier: MIT
 * Replaces secrets in the output of a sandbox by "[secret NAME]", in a stream of chunks of any
 * size.
 *
 * One mechanism finds all encodings. Output and secrets are reduced in the same way: letters become
 * lower case; blanks, quotes and punctuation are left out. The remaining characters of a secret in
 * each of its forms (redact_forms.def) are indexed (redact_index.h). Any piece of a form that
 * stands for 12 bytes, or for the whole of a shorter secret, is replaced, and so is a shorter piece
 * that continues a replaced one, as in the lines of a dump. So separators, line breaks, padding, or
 * one character per line do not matter. If only some characters are written as escapes (\x41, %41,
 * &#65;), a second pass over the decoded text finds the secret.
 *
 * Not found: a value computed from a secret in another way (encrypted, compressed, hashed,
 * shifted letters, base 85, an encoding of an encoding), and pieces of less than 12 bytes. A
 * program that intends to send a secret out can do so. Pure; a redactor is shared by threads, a
 * stream is not. */
#ifndef CBX_GATEWAY_EXECUTOR_REDACT_REDACT_H
#define CBX_GATEWAY_EXECUTOR_REDACT_REDACT_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

enum {
    CBX_REDACT_BYTES_MIN = 8, /* minimum size of a secret */
    /* maximum size of a secret; the index has about 100 times that size */
    CBX_REDACT_BYTES_MAX = 16 * 1024,
    CBX_REDACT_DIFFERENT_MIN = 5, /* minimum number of different characters of a secret */
    CBX_REDACT_PIECE_BYTES = 12,  /* size of a replaced piece of a longer secret */
    CBX_REDACT_GAP_MAX = 128,     /* number of bytes ignored between two characters of a secret */
};

/* Borrowed. */
struct cbx_redact_secret {
    struct cbx_str name, value;
};

/* Checks that this value can be redacted. CBX_EINVAL for a value that is too short, too long, or
 * has so few different characters that ordinary output would be replaced. The text has the name,
 * and no part of the value. */
int cbx_redact_check(const struct cbx_redact_secret *secret, struct cbx_err *err);

struct cbx_redactor;

/* Makes a redactor of the values that pass the check; others are left out. NULL if no value is
 * left: nothing is redacted then. */
struct cbx_redactor *cbx_redactor_new(const struct cbx_redact_secret *secrets, size_t count);
void cbx_redactor_free(struct cbx_redactor *redactor);
CBX_DEFINE_AUTO(redactor)

/* Appends a whole text with secrets replaced. With a redactor of NULL the text is copied. An
 * overflow sets out->overflow. */
void cbx_redact_text(const struct cbx_redactor *redactor, struct cbx_str text, struct cbx_buf *out);

/* True if cbx_redact_text would change the text. */
bool cbx_redact_finds(const struct cbx_redactor *redactor, struct cbx_str text);

/* A stream: bytes that may begin a secret are held back until the following bytes decide. The
 * redactor is borrowed. */
struct cbx_redact_stream;
struct cbx_redact_stream *cbx_redact_stream_new(const struct cbx_redactor *redactor);
void cbx_redact_stream_free(struct cbx_redact_stream *stream);
CBX_DEFINE_AUTO(redact_stream)

/* cbx_redact_feed takes a chunk and appends the released output. cbx_redact_flush ends the
 * stream; the next chunk begins a new one. */
void cbx_redact_feed(struct cbx_redact_stream *stream, struct cbx_str chunk, struct cbx_buf *out);
void cbx_redact_flush(struct cbx_redact_stream *stream, struct cbx_buf *out);

#endif
