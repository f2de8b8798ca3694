/* SPDX-License-Identifier: MIT
 * The tables of the store in PostgreSQL. */
#include "gateway/database/postgres_schema.h"

#include <stdlib.h>

/* Texts are compared byte by byte, as SQLite does. `rowid` is SQLite's number of a row. The sizes
 * are columns, because PostgreSQL keeps a long text outside of its row: a sum reads none. */
static const char first_version[] =
    "CREATE TABLE codebox_version(version BIGINT NOT NULL);"
    "INSERT INTO codebox_version VALUES(1);"
    "CREATE TABLE sessions(id TEXT COLLATE \"C\" PRIMARY KEY, replica TEXT COLLATE \"C\" NOT NULL,"
    " principal TEXT COLLATE \"C\" NOT NULL, created_at TEXT COLLATE \"C\" NOT NULL,"
    " policy TEXT NOT NULL, options TEXT NOT NULL);"
    "CREATE INDEX sessions_by_age ON sessions(replica, created_at, id);"
    "CREATE TABLE executions(rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,"
    " id TEXT COLLATE \"C\" PRIMARY KEY, replica TEXT COLLATE \"C\" NOT NULL,"
    " principal TEXT COLLATE \"C\" NOT NULL, session TEXT COLLATE \"C\" NOT NULL,"
    " status TEXT NOT NULL, created_at TEXT COLLATE \"C\" NOT NULL, completed_at TEXT,"
    " decision TEXT NOT NULL, language TEXT NOT NULL, code TEXT NOT NULL, request TEXT NOT NULL,"
    " results TEXT, begun BIGINT NOT NULL, audit_seq BIGINT NOT NULL DEFAULT 0,"
    " kind BIGINT NOT NULL, name TEXT NOT NULL, turn BIGINT NOT NULL,"
    " dropped BIGINT NOT NULL DEFAULT 0,"
    " code_bytes BIGINT NOT NULL GENERATED ALWAYS AS (octet_length(code)) STORED,"
    " result_bytes BIGINT NOT NULL GENERATED ALWAYS AS (coalesce(octet_length(results), 0)) "
    "STORED);"
    "CREATE INDEX executions_of_session ON executions(session, created_at, rowid);"
    "CREATE INDEX executions_of_principal ON executions(replica, principal, rowid);"
    "CREATE INDEX executions_running ON executions(replica, turn)"
    " WHERE status IN ('initializing', 'running');"
    "CREATE INDEX executions_by_turn ON executions(turn);"
    "CREATE VIEW sizes AS SELECT rowid AS id, replica, session, principal, code_bytes AS code,"
    " result_bytes AS results FROM executions WHERE code_bytes > 0 OR result_bytes > 0;"
    "CREATE TABLE keys(principal TEXT COLLATE \"C\" NOT NULL, key TEXT COLLATE \"C\" NOT NULL,"
    " request TEXT NOT NULL, id TEXT NOT NULL, created_at TEXT COLLATE \"C\" NOT NULL,"
    " PRIMARY KEY(principal, key));"
    "CREATE INDEX keys_by_age ON keys(created_at);"
    "CREATE TABLE sets(key TEXT COLLATE \"C\" PRIMARY KEY, packages TEXT NOT NULL,"
    " made_ms BIGINT NOT NULL);";

/* Replicas that take over from each other (gateway/front/store/store_takeover.h). The clock is the
 * server's own, also within a transaction. */
static const char takeovers[] =
    "UPDATE codebox_version SET version=2;"
    "CREATE VIEW clock AS SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS "
    "now_ms;"
    "CREATE TABLE replicas(name TEXT COLLATE \"C\" PRIMARY KEY, generation BIGINT NOT NULL,"
    " alive BIGINT NOT NULL, seen BIGINT NOT NULL);"
    "CREATE TABLE instances(replica TEXT COLLATE \"C\" NOT NULL, generation BIGINT NOT NULL,"
    " holder TEXT COLLATE \"C\" NOT NULL, epoch BIGINT NOT NULL,"
    " PRIMARY KEY(replica, generation));"
    "CREATE INDEX instances_of_holder ON instances(holder);"
    "CREATE TABLE takeovers(replica TEXT COLLATE \"C\" NOT NULL, epoch BIGINT NOT NULL,"
    " holder TEXT COLLATE \"C\" NOT NULL, sessions BIGINT NOT NULL, noted BIGINT NOT NULL,"
    " PRIMARY KEY(replica, epoch));"
    "CREATE TABLE taken(decision TEXT COLLATE \"C\" PRIMARY KEY, replica TEXT COLLATE \"C\" NOT "
    "NULL,"
    " epoch BIGINT NOT NULL, holder TEXT COLLATE \"C\" NOT NULL, released BIGINT NOT NULL);"
    "CREATE INDEX taken_from ON taken(replica, epoch);";

/* Quotas of principals over all replicas (gateway/front/store/store_use.h). The functions are
 * PL/pgSQL, which takes a new snapshot for each of its queries: the count sees what the holder of
 * the lock before it stored. Rows of a replica that is gone have no sandboxes any more. */
#define BY_PRINCIPAL(rows)                                                                         \
    "(SELECT count(*) FROM " rows " r WHERE r.principal=who AND NOT EXISTS"                        \
    " (SELECT 1 FROM presence p WHERE p.replica=r.replica AND p.gone=1)"
#define UNFINISHED BY_PRINCIPAL("executions") " AND r.status IN ('initializing', 'running')"
#define COUNT(name, count)                                                                         \
    "CREATE FUNCTION " name "(who TEXT) RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$ BEGIN"      \
    " PERFORM pg_advisory_xact_lock(7161727, hashtext(who)); RETURN " count "; END $$;"
#define COUNT_SESSIONS                                                                             \
    COUNT("quota_sessions", BY_PRINCIPAL("sessions") ") + " BY_PRINCIPAL("openings") ")")
#define COUNT_WAITING COUNT("quota_waiting", UNFINISHED " AND r.kind=1 AND r.begun=0)")
#define COUNT_RUNS    COUNT("quota_runs", UNFINISHED " AND r.placed=1)")

static const char quotas[] =
    "UPDATE codebox_version SET version=3;"
    "ALTER TABLE executions ADD COLUMN placed BIGINT NOT NULL DEFAULT 0,"
    " ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;"
    "CREATE INDEX executions_live ON executions(principal)"
    " WHERE status IN ('initializing', 'running');"
    "CREATE INDEX sessions_of_principal ON sessions(principal);"
    "CREATE TABLE presence(replica TEXT COLLATE \"C\" PRIMARY KEY, seen BIGINT NOT NULL,"
    " gone BIGINT NOT NULL);"
    "INSERT INTO presence SELECT replica, (SELECT now_ms FROM clock), 0 FROM"
    " (SELECT replica FROM sessions UNION SELECT replica FROM executions) AS found;"
    "CREATE TABLE openings(id TEXT COLLATE \"C\" PRIMARY KEY,"
    " principal TEXT COLLATE \"C\" NOT NULL, replica TEXT COLLATE \"C\" NOT NULL);"
    "CREATE INDEX openings_of_principal ON openings(principal);"
    "CREATE TABLE cpu(principal TEXT COLLATE \"C\" PRIMARY KEY,"
    " left_ms DOUBLE PRECISION NOT NULL, at_ms BIGINT NOT NULL);" COUNT_SESSIONS COUNT_WAITING
        COUNT_RUNS;

/* The steps from each version of the tables to the next one; the first leads to version 1. */
static const char *const migrations[] = { first_version, takeovers, quotas };
enum { VERSION = sizeof(migrations) / sizeof(migrations[0]) };

/* Reads the version; 0 if there are no tables. A role that may not create tables can open those
 * that exist: CREATE TABLE IF NOT EXISTS would refuse that. */
static int read_version(struct cbx_postgres *postgres, int *out, struct cbx_err *err)
{
    PGresult *result = NULL;
    int failed = cbx_postgres_run(postgres, "SELECT to_regclass('codebox_version') IS NOT NULL",
                                  &result, err);
    if (failed) {
        return failed;
    }
    bool exists = PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    int version = 0;
    if (exists) {
        failed =
            cbx_postgres_run(postgres, "SELECT max(version) FROM codebox_version", &result, err);
        if (failed) {
            return failed;
        }
        version = (int)strtol(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
    }
    *out = version;
    return 0;
}

static int migrate(struct cbx_postgres *postgres, struct cbx_err *err)
{
    int version = 0;
    int failed = read_version(postgres, &version, err);
    if (failed) {
        return failed;
    }
    if (version > VERSION) {
        return cbx_fail(err, CBX_ESTATE,
                        "the tables of the shared database are of version %d, made by a newer "
                        "gateway; this one knows version %d",
                        version, VERSION);
    }
    for (; version < VERSION && !failed; version++) {
        failed = cbx_postgres_run(postgres, migrations[version], NULL, err);
    }
    return failed;
}

int cbx_postgres_schema(struct cbx_postgres *postgres, struct cbx_err *err)
{
    /* Gateways that start at the same time create the tables one after another. */
    int failed =
        cbx_postgres_run(postgres, "BEGIN; SELECT pg_advisory_xact_lock(7161727364)", NULL, err);
    if (!failed) {
        failed = migrate(postgres, err);
    }
    if (!failed) {
        failed = cbx_postgres_run(postgres, "COMMIT", NULL, err);
    }
    if (failed) {
        cbx_postgres_drop(postgres); /* the server rolls back */
    }
    return failed;
}
