/* SPDX-License-Identifier: MIT
 * Memory that is freed all at once. */
#include "policies/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CHUNK_BYTES = 16 * 1024, LARGEST_CHUNK_BYTES = 1024 * 1024, ALIGNMENT = 16 };

struct cbx_arena_chunk {
    struct cbx_arena_chunk *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void cbx_arena_init(struct cbx_arena *arena, size_t max_bytes)
{
    *arena = (struct cbx_arena){ .max_bytes = max_bytes };
}

static void free_chunks(struct cbx_arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct cbx_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void cbx_arena_done(struct cbx_arena *arena)
{
    free_chunks(arena->head);
    *arena = (struct cbx_arena){ 0 };
}

void cbx_arena_reset(struct cbx_arena *arena)
{
    if (arena->head != NULL) {
        free_chunks(arena->head->next);
        arena->head->next = NULL;
        memset(arena->head->bytes, 0, arena->head->used);
        arena->head->used = 0;
    }
    arena->used_bytes = 0;
    arena->exhausted = false;
}

static struct cbx_arena_chunk *add_chunk(struct cbx_arena *arena, size_t at_least)
{
    size_t size = arena->head != NULL ? arena->head->size * 2 : FIRST_CHUNK_BYTES;
    if (size > LARGEST_CHUNK_BYTES) {
        size = LARGEST_CHUNK_BYTES;
    }
    if (size < at_least) {
        size = at_least;
    }
    struct cbx_arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);
    if (chunk == NULL) {
        fputs("codebox: out of memory\n", stderr);
        abort();
    }
    chunk->size = size;
    chunk->next = arena->head;
    arena->head = chunk;
    return chunk;
}

void *cbx_arena_alloc(struct cbx_arena *arena, size_t bytes)
{
    if (bytes > arena->max_bytes || arena->used_bytes > arena->max_bytes - bytes) {
        arena->exhausted = true;
        return NULL;
    }
    size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct cbx_arena_chunk *chunk = arena->head;
    if (chunk == NULL || chunk->size - chunk->used < rounded) {
        chunk = add_chunk(arena, rounded);
    }
    void *p = chunk->bytes + chunk->used;
    chunk->used += rounded;
    arena->used_bytes += rounded;
    return p;
}

void *cbx_arena_array(struct cbx_arena *arena, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        arena->exhausted = true;
        return NULL;
    }
    return cbx_arena_alloc(arena, total);
}

struct cbx_str cbx_arena_copy(struct cbx_arena *arena, struct cbx_str s)
{
    char *p = cbx_arena_alloc(arena, s.len + 1);
    if (p == NULL) {
        return (struct cbx_str){ 0 };
    }
    if (s.len > 0) {
        memcpy(p, s.p, s.len);
    }
    return (struct cbx_str){ .p = p, .len = s.len };
}

struct cbx_str cbx_arena_join(struct cbx_arena *arena, const struct cbx_str *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].p == NULL) {
            return (struct cbx_str){ 0 };
        }
        if (__builtin_add_overflow(len, parts[i].len, &len)) {
            arena->exhausted = true;
            return (struct cbx_str){ 0 };
        }
    }
    char *p = len < SIZE_MAX ? cbx_arena_alloc(arena, len + 1) : NULL;
    if (p == NULL) {
        return (struct cbx_str){ 0 };
    }
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(p + at, parts[i].p, parts[i].len);
        at += parts[i].len;
    }
    return (struct cbx_str){ .p = p, .len = len };
}

struct cbx_str cbx_arena_number(struct cbx_arena *arena, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%lld", (long long)number);
    return cbx_arena_copy(arena, cbx_str_of(digits));
}

struct cbx_note(cbx_arena_note)(struct cbx_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *p = n >= 0 ? cbx_arena_alloc(arena, (size_t)n + 1) : NULL;
    if (p != NULL) {
        vsnprintf(p, (size_t)n + 1, format, again);
    }
    va_end(again);
    return (struct cbx_note){ { .p = p, .len = p != NULL ? (size_t)n : 0 } };
}
