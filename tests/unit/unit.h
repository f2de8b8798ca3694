/* SPDX-License-Identifier: MIT
 * Includes cmocka with its prerequisites: cmocka 1.1.5 does not compile if includes are sorted. */
#ifndef CBX_TESTS_UNIT_UNIT_H
#define CBX_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
