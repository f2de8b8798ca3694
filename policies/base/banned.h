/* SPDX-License-Identifier: MIT
 * Calls that do not compile here: each has an alternative that carries a length or cannot
 * reach a shell. Force-included before every translation unit. */
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

#endif
