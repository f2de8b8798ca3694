/* SPDX-License-Identifier: MIT
 * Cleanup at scope exit. `CBX_AUTO(policy) p = NULL;` calls cbx_policy_free(p) when p leaves its
 * scope; `return cbx_steal(&p)` returns the pointer instead. */
#ifndef CBX_POLICIES_BASE_AUTO_H
#define CBX_POLICIES_BASE_AUTO_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Write it in a header, after declaring `void cbx_NOUN_free(struct cbx_NOUN *)`. */
#define CBX_DEFINE_AUTO(noun)                                                                      \
    static inline void cbx_##noun##_auto(struct cbx_##noun **p)                                    \
    {                                                                                              \
        cbx_##noun##_free(*p);                                                                     \
    }
#define CBX_AUTO(noun) __attribute__((cleanup(cbx_##noun##_auto))) struct cbx_##noun *

/* For structs owned by the caller: `CBX_AUTO_DONE(buf) b; cbx_buf_init(&b, max);` */
#define CBX_DEFINE_AUTO_DONE(noun)                                                                 \
    static inline void cbx_##noun##_auto_done(struct cbx_##noun *p)                                \
    {                                                                                              \
        cbx_##noun##_done(p);                                                                      \
    }
#define CBX_AUTO_DONE(noun) __attribute__((cleanup(cbx_##noun##_auto_done))) struct cbx_##noun

/* Returns the pointer and sets the variable to NULL. */
#define cbx_steal(p)                                                                               \
    __extension__({                                                                                \
        __typeof__(*(p)) stolen_ = *(p);                                                           \
        *(p) = NULL;                                                                               \
        stolen_;                                                                                   \
    })

static inline void cbx_fd_auto(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}
static inline void cbx_file_auto(FILE **f)
{
    if (*f != NULL) {
        fclose(*f);
    }
}
static inline void cbx_mem_auto(void *p)
{
    free(*(void **)p);
}

/* File descriptor, -1 = none. */
#define CBX_AUTO_FD   __attribute__((cleanup(cbx_fd_auto))) int
#define CBX_AUTO_FILE __attribute__((cleanup(cbx_file_auto))) FILE *
/* malloc'ed memory of any type. */
#define CBX_AUTO_MEM __attribute__((cleanup(cbx_mem_auto)))

/* Returns the descriptor and sets the variable to -1. */
static inline int cbx_fd_steal(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
