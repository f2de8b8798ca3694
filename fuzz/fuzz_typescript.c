/* SPDX-License-Identifier: MIT
 * TypeScript that somebody wants to run. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("typescript");
