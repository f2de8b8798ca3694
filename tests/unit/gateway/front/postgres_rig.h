/* SPDX-License-Identifier: MIT
 * A private PostgreSQL server for tests: a cluster in a temporary folder, over a Unix socket alone,
 * as a user that is not root. Each test has a database of its own. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_POSTGRES_RIG_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_POSTGRES_RIG_H

#include "tests/unit/gateway/scratch.h"

#include <dirent.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <limits.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>

struct cluster {
    struct scratch scratch; /* has the socket, and the cluster in `data` */
    char programs[PATH_MAX];
    pid_t server;
    int databases;
};

struct cluster_url {
    char text[160];
};

static inline struct cluster_url cluster_url(const struct cluster *cluster, const char *database)
{
    struct cluster_url url;
    snprintf(url.text, sizeof(url.text), "postgres://codebox:pass%%2Fword@/%s?host=%s", database,
             cluster->scratch.path);
    return url;
}

/* Root becomes `nobody`: the server refuses root. The output goes to a file beside the socket. */
static inline pid_t cluster_spawn(const struct cluster *cluster, const char *program,
                                  const char *const *args)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid != 0) {
        assert_true(pid > 0);
        return pid;
    }
    const struct passwd *user = getpwnam("nobody");
    char path[PATH_MAX + 32];
    if (getuid() == 0 && (user == NULL || setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 ||
                          setuid(user->pw_uid) != 0)) {
        _exit(126);
    }
    prctl(PR_SET_PDEATHSIG, SIGQUIT); /* after setuid, which resets it */
    if (getppid() != parent || chdir(cluster->scratch.path) != 0 ||
        freopen("log", "ae", stdout) == NULL) {
        _exit(126);
    }
    dup2(STDOUT_FILENO, STDERR_FILENO);
    snprintf(path, sizeof(path), "%s/%s", cluster->programs, program);
    execv(path, (char *const *)args);
    _exit(127);
}

static inline void cluster_fail(const struct cluster *cluster, const char *what)
{
    CBX_AUTO_DONE(buf) log;
    scratch_read(cluster->scratch.path, "log", &log);
    fail_msg("%s: %s", what, log.p);
}

static inline void cluster_resume(struct cluster *cluster)
{
    const char *const args[] = {
        "postgres",          "-D", "data",      "-k", cluster->scratch.path, "-c",
        "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c",
        "autovacuum=off",    NULL
    };
    struct cluster_url url = cluster_url(cluster, "postgres");
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    cluster->server = cluster_spawn(cluster, "postgres", args);
    while (PQping(url.text) != PQPING_OK) {
        if (cbx_clock_ms() > end || waitpid(cluster->server, NULL, WNOHANG) != 0) {
            cluster_fail(cluster, "the server did not start");
        }
        poll(NULL, 0, 20);
    }
}

/* Ends the server with its connections. */
static inline void cluster_end_server(struct cluster *cluster)
{
    kill(cluster->server, SIGINT);
    await_child(cluster->server);
}

/* Returns false, with the reason on stdout, if there is no server on this machine. */
static inline bool cluster_begin(struct cluster *cluster)
{
    /* The order of texts is not the order of their bytes, as in many databases of operators. */
    static const char *const args[] = { "initdb",
                                        "-D",
                                        "data",
                                        "-U",
                                        "codebox",
                                        "-A",
                                        "trust",
                                        "--no-sync",
                                        "--locale=C",
                                        "-E",
                                        "UTF8",
                                        "--locale-provider=icu",
                                        "--icu-locale=en-US",
                                        NULL };
    glob_t found = { 0 };
    *cluster = (struct cluster){ 0 };
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) != 0) {
        printf("skipped with PostgreSQL: the package postgresql is not installed\n");
        return false;
    }
    snprintf(cluster->programs, sizeof(cluster->programs), "%s",
             found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    strrchr(cluster->programs, '/')[0] = '\0';
    scratch_make(&cluster->scratch);
    const struct passwd *user = getpwnam("nobody");
    if (getuid() == 0 && user != NULL) {
        assert_int_equal(chown(cluster->scratch.path, user->pw_uid, user->pw_gid), 0);
    }
    if (await_child(cluster_spawn(cluster, "initdb", args)) != 0) {
        cluster_fail(cluster, "initdb");
    }
    cluster_resume(cluster);
    return true;
}

static inline void cluster_end(struct cluster *cluster)
{
    cluster_end_server(cluster);
    scratch_remove(&cluster->scratch);
}

/* Runs SQL; returns the first column of the first row as a number, 0 if there is none. */
static inline int64_t cluster_ask(const struct cluster *cluster, const char *database,
                                  const char *sql)
{
    struct cluster_url url = cluster_url(cluster, database);
    PGconn *connection = PQconnectdb(url.text);
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    }
    int64_t number = PQntuples(result) > 0 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    PQfinish(connection);
    return number;
}

static inline void cluster_add_database(struct cluster *cluster, char name[16])
{
    char sql[48];
    snprintf(name, 16, "t%d", ++cluster->databases);
    snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
    cluster_ask(cluster, "postgres", sql);
}

/* Sends a signal to the server and to the processes of its connections, which have process groups
 * of their own. */
static inline void cluster_signal(const struct cluster *cluster, int number)
{
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    kill(cluster->server, number);
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        char path[300], line[256] = "";
        int parent = 0;
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        CBX_AUTO_FILE f = fopen(path, "re");
        if (f != NULL && fgets(line, sizeof(line), f) != NULL && strrchr(line, ')') != NULL &&
            sscanf(strrchr(line, ')'), ") %*c %d", &parent) == 1 && parent == cluster->server) {
            kill((pid_t)strtol(entry->d_name, NULL, 10), number);
        }
    }
    closedir(processes);
}

#endif
