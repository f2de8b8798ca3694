/* SPDX-License-Identifier: MIT
 * Calls that do not compile here: each has an alternative that carries a length, cannot reach a
 * shell, or makes no system call. Force-included before every translation unit. */
#ifndef CBX_POLICIES_BASE_BANNED_H
#define CBX_POLICIES_BASE_BANNED_H

/* The system headers declare these names, so they must come first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Macros with some compilers and _FORTIFY_SOURCE. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll gets
#pragma GCC poison system popen
/* Reads the amount of memory with a system call; cbx_sort is stable besides (sort.h). */
#pragma GCC poison qsort qsort_r

#endif
