/* SPDX-License-Identifier: MIT
 * Replaces secrets in what leaves a sandbox by "[secret NAME]", in a stream of any chunks.
 *
 * One mechanism finds all encodings. Output and secrets are reduced in the same way: letters become lower case, blanks, quotes and
 * punctuation are left out. What is left of a secret in each of its forms (redact_forms.def) is indexed (redact_index.h), and any piece of
 * a form that stands for 12 bytes, or for the whole of a shorter secret, is replaced, and so is a shorter one that continues it, as in the
 * lines of a dump. So it does not matter whether an encoding has
 * separators, line breaks, padding, or one character per line. Where only some characters are written as escapes (\x41, %41, &#65;), a
 * second pass over the decoded text finds the secret.
 *
 * Not found: what was computed from a secret in another way (encrypted, compressed, hashed, shifted letters, base 85, an encoding of an encoding), and pieces
 * of less than 12 bytes. A program that wants to send a secret out can. Pure; a redactor is shared by threads, a stream is not. */
#ifndef CBX_GATEWAY_EXECUTOR_REDACT_REDACT_H
#define CBX_GATEWAY_EXECUTOR_REDACT_REDACT_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

enum {
    CBX_REDACT_BYTES_MIN = 8,         /* of a secret */
    CBX_REDACT_BYTES_MAX = 16 * 1024, /* the index has about 100 times as much */
    CBX_REDACT_DIFFERENT_MIN = 5,     /* characters of a secret */
    CBX_REDACT_PIECE_BYTES = 12,      /* a piece of a longer secret that is replaced */
    CBX_REDACT_GAP_MAX = 128, /* bytes that are left out between two characters of a secret */
};

/* Borrowed. */
struct cbx_redact_secret {
    struct cbx_str name, value;
};

/* Can this value be redacted? CBX_EINVAL for one that is too short, too long, or has so few different characters that ordinary output
 * would be cut. The text has the name, and nothing of the value. */
int cbx_redact_check(const struct cbx_redact_secret *secret, struct cbx_err *err);

struct cbx_redactor;

/* Of values that pass the check; others are left out. NULL when there is none: nothing is redacted then. */
struct cbx_redactor *cbx_redactor_new(const struct cbx_redact_secret *secrets, size_t count);
void cbx_redactor_free(struct cbx_redactor *redactor);
CBX_DEFINE_AUTO(redactor)

/* Appends a whole text with secrets replaced. With a redactor of NULL it is a copy. An overflow of `out` is noted there. */
void cbx_redact_text(const struct cbx_redactor *redactor, struct cbx_str text, struct cbx_buf *out);

/* True when cbx_redact_text would change the text. */
bool cbx_redact_finds(const struct cbx_redactor *redactor, struct cbx_str text);

/* A stream: what may be the beginning of a secret is held back until it is known. The redactor is borrowed. */
struct cbx_redact_stream;
struct cbx_redact_stream *cbx_redact_stream_new(const struct cbx_redactor *redactor);
void cbx_redact_stream_free(struct cbx_redact_stream *stream);
CBX_DEFINE_AUTO(redact_stream)

/* Takes a chunk and appends what can be released. cbx_redact_flush: the stream has ended; it begins anew with the next chunk. */
void cbx_redact_feed(struct cbx_redact_stream *stream, struct cbx_str chunk, struct cbx_buf *out);
void cbx_redact_flush(struct cbx_redact_stream *stream, struct cbx_buf *out);

#endif
