/* SPDX-License-Identifier: MIT
 * Memory blocks for tree-sitter that are freed all at once. */
#include "analyzer/syntax/tree_memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define CBX_PLAIN_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CBX_PLAIN_MEMORY 1
#endif
#endif

#ifdef CBX_PLAIN_MEMORY

void cbx_tree_memory_begin(void)
{
}

void cbx_tree_memory_end(void)
{
}

void cbx_tree_delete(TSTree *tree)
{
    if (tree != NULL) {
        ts_tree_delete(tree);
    }
}

void cbx_parser_delete(TSParser *parser)
{
    ts_parser_delete(parser);
}

#else

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 8, /* sizes are rounded up to it; tree-sitter has nothing that needs more alignment */
    SMALL_MAX = 1024,
    CLASSES = SMALL_MAX / STEP + 1,
    CHUNK_BYTES = 256 * 1024,
};

/* The owner of a block; any other value means that the pointer was not allocated here. */
enum owner { OUTSIDE = 0x6f757473, SMALL = 0x736d616c, LARGE = 0x6c617267 };

/* Precedes every block. It is small because a tree has many: they compete for the cache. */
struct block {
    _Alignas(STEP) uint32_t steps; /* of the size */
    uint32_t owner;
};

/* Precedes a large block: large blocks are freed one by one at the end. */
struct large {
    struct large *next, *before;
    struct block block;
};

struct chunk {
    struct chunk *next;
    _Alignas(STEP) unsigned char bytes[CHUNK_BYTES];
};

static _Thread_local struct {
    int depth;
    struct chunk *chunks; /* the chunk in use is the first */
    size_t used;
    struct block *free[CLASSES]; /* lists of free blocks; next_of() gives the next */
    struct large larges;         /* head of a ring */
} memory;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Returns the place in a free block that holds the next free block of its size. */
static struct block **next_of(struct block *block)
{
    return (struct block **)(void *)(block + 1);
}

static void *must(void *p)
{
    if (p == NULL) {
        fputs("codebox: out of memory\n", stderr);
        abort();
    }
    return p;
}

static struct block *take_small(uint32_t steps)
{
    struct block *block = memory.free[steps];
    if (block != NULL) {
        memory.free[steps] = *next_of(block);
    } else {
        size_t bytes = sizeof(*block) + steps * STEP;
        if (memory.chunks == NULL || CHUNK_BYTES - memory.used < bytes) {
            struct chunk *chunk = must(malloc(sizeof(*chunk)));
            chunk->next = memory.chunks;
            memory.chunks = chunk;
            memory.used = 0;
        }
        block = (struct block *)(void *)(memory.chunks->bytes + memory.used);
        memory.used += bytes;
    }
    *block = (struct block){ .steps = steps, .owner = SMALL };
    return block;
}

static struct block *take_large(uint32_t steps)
{
    struct large *large = must(malloc(sizeof(*large) + (size_t)steps * STEP));
    large->block = (struct block){ .steps = steps, .owner = LARGE };
    large->next = memory.larges.next;
    large->before = &memory.larges;
    large->next->before = large;
    memory.larges.next = large;
    return &large->block;
}

static void *allocate(size_t size)
{
    struct block *block;
    size_t steps = size / STEP + (size % STEP > 0 || size == 0); /* a free block holds a pointer */
    if (steps > UINT32_MAX) {
        must(NULL);
    }
    if (memory.depth == 0) {
        block = must(malloc(sizeof(*block) + steps * STEP));
        *block = (struct block){ .steps = (uint32_t)steps, .owner = OUTSIDE };
    } else {
        block = steps < CLASSES ? take_small((uint32_t)steps) : take_large((uint32_t)steps);
    }
    return block + 1;
}

static void *allocate_zeroed(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        must(NULL);
    }
    return memset(allocate(bytes), 0, bytes);
}

static void give_back(void *p)
{
    if (p == NULL) {
        return;
    }
    struct block *block = (struct block *)p - 1;
    if (block->owner == OUTSIDE) {
        free(block);
    } else if (block->owner == SMALL) {
        *next_of(block) = memory.free[block->steps];
        memory.free[block->steps] = block;
    } else if (block->owner == LARGE) {
        struct large *large =
            (struct large *)(void *)((char *)block - offsetof(struct large, block));
        large->next->before = large->before;
        large->before->next = large->next;
        free(large);
    } else {
        fputs("codebox: a freed block of memory was not allocated here\n", stderr);
        abort();
    }
}

static void *change_size(void *p, size_t size)
{
    size_t before = p != NULL ? (size_t)((struct block *)p - 1)->steps * STEP : 0;
    if (p != NULL && size <= before) {
        return p;
    }
    void *other = allocate(size);
    if (p != NULL) {
        memcpy(other, p, before);
    }
    give_back(p);
    return other;
}

static void set_up(void)
{
    ts_set_allocator(allocate, allocate_zeroed, change_size, give_back);
    (void)pthread_key_create(&key, free);
}

void cbx_tree_memory_begin(void)
{
    pthread_once(&once, set_up);
    if (memory.depth++ == 0) {
        memory.larges.next = memory.larges.before = &memory.larges;
    }
}

/* Frees all blocks; the thread keeps one chunk for its next source. */
void cbx_tree_memory_end(void)
{
    if (--memory.depth > 0) {
        return;
    }
    while (memory.larges.next != &memory.larges) {
        give_back(memory.larges.next + 1);
    }
    while (memory.chunks != NULL && memory.chunks->next != NULL) {
        struct chunk *chunk = memory.chunks;
        memory.chunks = chunk->next;
        free(chunk);
    }
    memset(memory.free, 0, sizeof(memory.free));
    memory.used = 0;
    (void)pthread_setspecific(key, memory.chunks);
}

void cbx_tree_delete(TSTree *tree)
{
    if (tree != NULL && memory.depth == 0) {
        ts_tree_delete(tree);
    }
}

void cbx_parser_delete(TSParser *parser)
{
    if (memory.depth == 0) {
        ts_parser_delete(parser);
    }
}

#endif
