/* SPDX-License-Identifier: MIT
 * The process that has the connection to a PostgreSQL server: `cbx-database`. It runs the
 * statements of statements.def that the front asks for over a link (database_wire.h), and no other
 * SQL. It has the network, the password of the server and no file of the gateway. */
#ifndef CBX_GATEWAY_DATABASE_DATABASE_PROCESS_H
#define CBX_GATEWAY_DATABASE_DATABASE_PROCESS_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* What the process needs to connect: the part of the configuration that only this process gets. */
struct cbx_database_target {
    struct cbx_str url;         /* postgres://..., with the password */
    struct cbx_str replica;     /* name of the rows of this gateway; "" without replicas */
    struct cbx_str authorities; /* PEM that certifies the server; "" = as the URL says */
};

/* Write the target as bytes, and read it: false for malformed bytes. Texts are borrowed. */
void cbx_database_target_write(const struct cbx_database_target *target, struct cbx_buf *out);
bool cbx_database_target_read(struct cbx_str bytes, struct cbx_database_target *out);

/* Serves one link of the front at a time: a new one replaces the one before, whose transaction is
 * rolled back. Ends after SIGTERM, and when the channel is closed. `bytes` is cleansed. */
_Noreturn void cbx_database_main(int channel, struct cbx_str bytes);

#endif
