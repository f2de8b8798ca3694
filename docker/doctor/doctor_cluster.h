/* SPDX-License-Identifier: MIT
 * What a cluster holds, and what it does not. Pure: facts in, findings out. */
#ifndef CBX_DOCKER_DOCTOR_DOCTOR_CLUSTER_H
#define CBX_DOCKER_DOCTOR_DOCTOR_CLUSTER_H

#include "docker/doctor/doctor.h"

/* Reports the facts that cbx_engine_info gives for a cluster of this version: rights, namespace,
 * NetworkPolicy, and what the settings give up. */
void cbx_doctor_cluster(const char *version, const json_t *facts, const struct cbx_doctor *doctor);

#endif
