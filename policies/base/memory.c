/* SPDX-License-Identifier: MIT
 * Memory of the heap; out of memory ends the process. */
#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>

void *cbx_new(size_t bytes)
{
    return cbx_new_array(1, bytes);
}

void *cbx_new_array(size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *cbx_renew(void *array, size_t count, size_t bytes)
{
    void *memory = reallocarray(array, count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *cbx_grow(void *array, size_t count, size_t bytes)
{
    if (array != NULL && (count & (count - 1)) != 0) {
        return array;
    }
    return cbx_renew(array, count > 0 ? 2 * count : 1, bytes);
}

char *cbx_str_copy(struct cbx_str text)
{
    char *copy = cbx_renew(NULL, text.len + 1, 1);
    if (text.len > 0) {
        memcpy(copy, text.p, text.len);
    }
    copy[text.len] = '\0';
    return copy;
}
