/* SPDX-License-Identifier: MIT
 * The probe runs in place of a hostile program, attempts actions that must fail, and reports
 * each outcome. Its groups of attempts. */
#ifndef CBX_DOCKER_INSIDE_PROBE_PROBE_H
#define CBX_DOCKER_INSIDE_PROBE_PROBE_H

/* The groups of attempts. */
void cbx_probe_identity(void);
void cbx_probe_calls(void);
void cbx_probe_sockets(void);
void cbx_probe_processes(void);
void cbx_probe_files(void);
void cbx_probe_mounts(void);

/* Prints the line "guard": "held" if the guard has all required features, "partly" without
 * Landlock, "lacks" without user notification. */
void cbx_probe_guard(void);

#endif
