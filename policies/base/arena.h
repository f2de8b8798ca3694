/* SPDX-License-Identifier: MIT
 * Memory that is freed all at once: each request allocates from one arena with a cap. Reaching
 * the cap is an ordinary error of the request; a malloc that fails below the cap means that the
 * machine is out of memory, and aborts. Not thread-safe. */
#ifndef CBX_POLICIES_BASE_ARENA_H
#define CBX_POLICIES_BASE_ARENA_H

#include "policies/base/auto.h"
#include "policies/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct cbx_arena_chunk;

struct cbx_arena {
    struct cbx_arena_chunk *head;
    size_t used_bytes, max_bytes;
    bool exhausted; /* true after an allocation was refused, until the next reset */
};

/* max_bytes caps the sum of all allocations until a reset, each rounded up to 16 bytes. */
void cbx_arena_init(struct cbx_arena *arena, size_t max_bytes);
void cbx_arena_done(struct cbx_arena *arena);
CBX_DEFINE_AUTO_DONE(arena)

/* Frees every allocation but keeps one chunk of memory for the next request. */
void cbx_arena_reset(struct cbx_arena *arena);

/* Returns zeroed memory, 16-byte aligned; NULL over the cap (and sets `exhausted`). */
void *cbx_arena_alloc(struct cbx_arena *arena, size_t bytes);

/* The same for `count` items of `bytes` each; a product that overflows counts as over the cap. */
void *cbx_arena_array(struct cbx_arena *arena, size_t count, size_t bytes);

/* Returns a copy, terminated by a NUL that is not counted; p is NULL over the cap. */
struct cbx_str cbx_arena_copy(struct cbx_arena *arena, struct cbx_str s);

/* Returns the parts in order, including NUL bytes, terminated by a NUL that is not counted; p is
 * NULL over the cap, and if the p of a part is NULL. */
struct cbx_str cbx_arena_join(struct cbx_arena *arena, const struct cbx_str *parts, size_t count);
#define CBX_JOIN(arena, ...)                                                                       \
    cbx_arena_join((arena), (const struct cbx_str[]){ __VA_ARGS__ },                               \
                   sizeof((const struct cbx_str[]){ __VA_ARGS__ }) / sizeof(struct cbx_str))

/* Returns the number in decimal digits; p is NULL over the cap. */
struct cbx_str cbx_arena_number(struct cbx_arena *arena, int64_t number);

/* Formats a text for people with printf; p is NULL over the cap. */
struct cbx_note cbx_arena_note(struct cbx_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define cbx_arena_note(...) CBX_MESSAGE_SCOPE((cbx_arena_note)(__VA_ARGS__))

#endif
