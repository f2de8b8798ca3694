/* SPDX-License-Identifier: MIT
 * A source in Python. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("python");
