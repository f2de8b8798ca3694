/* SPDX-License-Identifier: MIT
 * A source in TypeScript. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("typescript");
