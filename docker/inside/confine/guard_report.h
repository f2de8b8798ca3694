/* SPDX-License-Identifier: MIT
 * How the audit hook of Python's kernel reports to the supervisor what it refuses: a system call that the
 * filter notifies of, so that no object of Python and no descriptor is between the two, and the program that
 * waits for the answer cannot leave the report out. Shared by both. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_GUARD_REPORT_H
#define CBX_DOCKER_INSIDE_CONFINE_GUARD_REPORT_H

/* prctl(CBX_REPORT_OPTION, what, address, bytes, secret). Linux has no such option: without the filter the call fails with EINVAL.
 * `what` is an enum cbx_report. The secret is a random number that the kernel introduces itself with before a program runs; its forks
 * know it, programs that it starts do not. The supervisor answers with 0, or EPERM when the secret is another. */
enum { CBX_REPORT_OPTION = 0x63627801 };
enum cbx_report {
    CBX_REPORT_SECRET =
        1 << 8, /* the kernel introduces itself; only the first call before the first run counts */
    CBX_REPORT_LINES =
        2
        << 8, /* this thread starts a judged line of shell: until CBX_REPORT_DONE it may start programs of the list */
    CBX_REPORT_DONE = 3 << 8,
    CBX_REPORT_REFUSED =
        4
        << 8, /* and a row of policies/guard/guard.def; address and bytes of a text that says what was refused */
    /* A frame of the type in the lowest byte begins at the offset that stands in the place of the address: EPERM when the supervisor sent none
     * there, as after a program has read from the kernel's socket itself. */
    CBX_REPORT_FRAME = 5 << 8,
    CBX_REPORT_KIND = 0xff << 8,
    CBX_REPORT_ROW = 0xff, /* of CBX_REPORT_FRAME: the type */
};

#endif
