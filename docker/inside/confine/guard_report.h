/* SPDX-License-Identifier: MIT
 * The interface by which the audit hook of Python's kernel reports its refusals to the
 * supervisor: a system call that the filter notifies of. No object of Python and no descriptor
 * is between the two, and the waiting program cannot omit the report. Shared by both. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_GUARD_REPORT_H
#define CBX_DOCKER_INSIDE_CONFINE_GUARD_REPORT_H

/* prctl(CBX_REPORT_OPTION, what, address, bytes, secret). Linux has no such option: without the
 * filter the call fails with EINVAL. `what` is an enum cbx_report. The secret is a random number
 * that the kernel registers before a program runs; its forks have it, programs that it starts do
 * not. The supervisor returns 0, or EPERM for another secret. */
enum { CBX_REPORT_OPTION = 0x63627801 };
enum cbx_report {
    /* the kernel registers the secret; only the first call before the first run counts */
    CBX_REPORT_SECRET = 1 << 8,
    /* this thread starts a judged line of shell: until CBX_REPORT_DONE it may start programs
     * of the list */
    CBX_REPORT_LINES = 2 << 8,
    CBX_REPORT_DONE = 3 << 8,
    /* and a row of policies/guard/guard.def; address and bytes of a text that describes the
     * refused action */
    CBX_REPORT_REFUSED = 4 << 8,
    /* A frame of the type in the lowest byte begins at the offset in the address argument: EPERM
     * if the supervisor sent none there, for example after a program has read from the kernel's
     * socket itself. */
    CBX_REPORT_FRAME = 5 << 8,
    CBX_REPORT_KIND = 0xff << 8,
    CBX_REPORT_ROW = 0xff, /* the row; for CBX_REPORT_FRAME the type */
};

#endif
