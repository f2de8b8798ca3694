/* SPDX-License-Identifier: MIT
 * The part of `codebox doctor` about the confinement of the gateway's own processes. */
#ifndef CBX_GATEWAY_CLI_DOCTOR_DOCTOR_PROCESSES_H
#define CBX_GATEWAY_CLI_DOCTOR_DOCTOR_PROCESSES_H

#include "docker/doctor/doctor.h"

/* Forks children that are confined as a front, a zygote and an executor of the engine at
 * `docker_host` (NULL = as cbx_engine_new has it) are, and reports what of it holds on this host:
 * users, capabilities, system calls, Landlock. */
void cbx_doctor_processes(const struct cbx_doctor *doctor, const char *docker_host);

#endif
