/* SPDX-License-Identifier: MIT
 * cmocka with what it needs before it: cmocka 1.1.5 does not compile when includes are sorted. */
#ifndef CBX_TESTS_UNIT_UNIT_H
#define CBX_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
