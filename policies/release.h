/* SPDX-License-Identifier: MIT
 * The version that every program reports. */
#ifndef CBX_POLICIES_RELEASE_H
#define CBX_POLICIES_RELEASE_H

#define CBX_VERSION "0.1.0"

#endif
