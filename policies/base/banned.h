/* SPDX-License-Identifier: MIT
 * Calls that do not compile here: each has an alternative that takes a length, starts no shell,
 * or makes no system call. Force-included before every translation unit. */
#ifndef CBX_POLICIES_BASE_BANNED_H
#define CBX_POLICIES_BASE_BANNED_H

/* The system headers declare these names, so they must come first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some compilers with _FORTIFY_SOURCE define these as macros. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll gets
#pragma GCC poison system popen
/* qsort reads the amount of memory with a system call; cbx_sort is also stable (sort.h). */
#pragma GCC poison qsort qsort_r

#endif
