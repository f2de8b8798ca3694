/* SPDX-License-Identifier: MIT
 * Shell that somebody wants to run. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("shell");
