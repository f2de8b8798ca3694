/* SPDX-License-Identifier: MIT
 * The version that every face reports. */
#ifndef CBX_GATEWAY_VERSION_H
#define CBX_GATEWAY_VERSION_H

#define CBX_VERSION "0.1.0"

#endif
