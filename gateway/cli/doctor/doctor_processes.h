/* SPDX-License-Identifier: MIT
 * The part of `codebox doctor` about the confinement of the gateway's own processes. */
#ifndef CBX_GATEWAY_CLI_DOCTOR_DOCTOR_PROCESSES_H
#define CBX_GATEWAY_CLI_DOCTOR_DOCTOR_PROCESSES_H

#include "docker/doctor/doctor.h"

/* Forks children, confines them like a front, a zygote and an executor of the engine at
 * `docker_host` (NULL = as for cbx_engine_new), and reports which measures hold on this host:
 * users, capabilities, system calls, Landlock. */
void cbx_doctor_processes(const struct cbx_doctor *doctor, const char *docker_host);

#endif
