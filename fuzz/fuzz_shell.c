/* SPDX-License-Identifier: MIT
 * A source in shell. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("shell");
