/* SPDX-License-Identifier: MIT
 * A source in C. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("c");
