/* SPDX-License-Identifier: MIT
 * Options about the database. */
#include "gateway/cli/settings/database_options.h"

#include "gateway/cli/settings/tls_options.h"
#include "gateway/database/database_process.h"
#include "gateway/database/postgres.h"

#include <libpq-fe.h>
#include <string.h>

enum { URL_MAX = 4 * CBX_TLS_PEM_MAX };

/* The parameters of the URL that are looked at; NULL = not given. Borrowed. */
struct parameters {
    const char *host, *password, *sslmode;
};

/* Parameters of libpq that name files, or a further source of parameters. */
static const char *const refused[] = { "passfile",
                                       "service",
                                       "sslcert",
                                       "sslkey",
                                       "sslcrl",
                                       "sslcrldir",
                                       "sslrootcert",
                                       "sslpassword",
                                       "hostaddr",
                                       "options",
                                       "target_session_attrs" };

static int check_parameter(const PQconninfoOption *option, struct parameters *out,
                           struct cbx_err *err)
{
    const struct {
        const char *name;
        const char **value;
    } wanted[] = { { "host", &out->host },
                   { "password", &out->password },
                   { "sslmode", &out->sslmode } };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (strcmp(option->keyword, wanted[i].name) == 0) {
            *wanted[i].value = option->val;
        }
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strcmp(option->keyword, refused[i]) == 0) {
            return cbx_fail(err, CBX_EINVAL,
                            "--store: the URL has the parameter '%s', which is not allowed: the "
                            "process of the database has no file and connects to one server "
                            "(--store-password, --store-ca)",
                            option->keyword);
        }
    }
    return 0;
}

static bool is_here(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0 ||
           strcmp(host, "::1") == 0;
}

static int check_server(const struct cbx_options *o, const struct parameters *p,
                        struct cbx_err *err)
{
    if (p->host == NULL || p->host[0] == '\0' || p->host[0] == '/' ||
        strchr(p->host, ',') != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "--store: the URL names %s, allowed is one host: "
                        "postgres://USER@HOST:PORT/DATABASE",
                        p->host == NULL || p->host[0] == '\0' ? "no host"
                        : p->host[0] == '/'                   ? "a Unix socket"
                                                              : "several hosts");
    }
    if (p->password != NULL && o->store_password != NULL) {
        return cbx_fail(err, CBX_EINVAL, "--store has a password, and --store-password too");
    }
    if (o->store_ca == NULL && p->sslmode == NULL && !is_here(p->host)) {
        return cbx_fail(err, CBX_EINVAL,
                        "--store: the server '%.100s' is on the network: give --store-ca FILE, the "
                        "authorities that certify it; sslmode=require in the URL encrypts without "
                        "knowing the server, and sslmode=disable does not encrypt",
                        p->host);
    }
    return 0;
}

static int check_parameters(const struct cbx_options *o, const PQconninfoOption *options,
                            struct parameters *out, struct cbx_err *err)
{
    int failed = 0;
    for (; !failed && options->keyword != NULL; options++) {
        if (options->val != NULL) {
            failed = check_parameter(options, out, err);
        }
    }
    if (failed) {
        return failed;
    }
    return check_server(o, out, err);
}

/* libpq's error may quote the URL, with the password. */
static int check_url(const struct cbx_options *o, bool *has_mode, struct cbx_err *err)
{
    static const char postgres[] = "postgres://", postgresql[] = "postgresql://";
    struct parameters parameters = { 0 };
    PQconninfoOption *options = NULL;
    if (strncmp(o->store, postgres, strlen(postgres)) == 0 ||
        strncmp(o->store, postgresql, strlen(postgresql)) == 0) {
        options = PQconninfoParse(o->store, NULL);
    }
    if (options == NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "--store is no URL of PostgreSQL, allowed is "
                        "postgres://USER@HOST:PORT/DATABASE, with characters of other kinds as "
                        "%%XX");
    }
    int failed = check_parameters(o, options, &parameters, err);
    *has_mode = parameters.sslmode != NULL;
    PQconninfoFree(options);
    return failed;
}

/* --- the target ------------------------------------------------------------------------------- */

static void add_encoded(struct cbx_buf *url, struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        cbx_buf_printf(url, "%%%02X", (unsigned)(unsigned char)text.p[i]);
    }
}

static void add_parameter(struct cbx_buf *url, const char *name)
{
    cbx_buf_printf(url, "%c%s=", memchr(url->p, '?', url->len) != NULL ? '&' : '?', name);
}

/* The file has the password on one line. */
static int add_password(const struct cbx_options *o, struct cbx_buf *url, struct cbx_err *err)
{
    static struct cbx_pem file;
    const struct cbx_pem_file named = { .option = "--store-password",
                                        .path = o->store_password,
                                        .secret = "password" };
    if (o->store_password == NULL) {
        return 0;
    }
    int failed = cbx_pem_read(&named, &file, err);
    struct cbx_str password = { .p = file.bytes, .len = failed ? 0 : file.len };
    if (cbx_str_ends(password, CBX_STR("\n"))) {
        password.len--;
    }
    if (!failed && (password.len == 0 || memchr(password.p, '\n', password.len) != NULL ||
                    memchr(password.p, '\0', password.len) != NULL)) {
        failed = cbx_fail(err, CBX_EINVAL,
                          "--store-password: '%.200s' has no line with a password "
                          "alone",
                          o->store_password);
    }
    if (!failed) {
        add_parameter(url, "password");
        add_encoded(url, password);
    }
    explicit_bzero(&file, sizeof(file));
    return failed;
}

static int read_authorities(const struct cbx_options *o, struct cbx_pem *out, struct cbx_err *err)
{
    const struct cbx_pem_file named = { .option = "--store-ca", .path = o->store_ca };
    if (o->store_ca == NULL) {
        return 0;
    }
    return cbx_pem_read(&named, out, err);
}

/* The buffer does not grow later, which would leave the password behind in the heap, and so in
 * every process that is forked. */
static void begin_url(struct cbx_buf *url)
{
    cbx_buf_init(url, URL_MAX);
    cbx_buf_reserve(url, URL_MAX - 1);
}

/* Writes the URL with the password and the mode of TLS. */
static int write_url(const struct cbx_options *o, struct cbx_buf *url, struct cbx_err *err)
{
    bool has_mode = false;
    int failed = check_url(o, &has_mode, err);
    if (failed) {
        return failed;
    }
    cbx_buf_add_cstr(url, o->store);
    failed = add_password(o, url, err);
    if (!failed && o->store_ca != NULL && !has_mode) {
        add_parameter(url, "sslmode");
        cbx_buf_add_cstr(url, "verify-full");
    }
    return failed;
}

int cbx_options_database_read(const struct cbx_options *o, struct cbx_buf *out, struct cbx_err *err)
{
    static struct cbx_pem authorities;
    CBX_AUTO_DONE(buf) url;
    begin_url(&url);
    if (o->store == NULL) {
        const char *without = o->store_password != NULL ? "--store-password" : "--store-ca";
        if (o->store_password != NULL || o->store_ca != NULL) {
            return cbx_fail(err, CBX_EINVAL, "%s is given, and not --store URL", without);
        }
        return 0;
    }
    int failed = write_url(o, &url, err);
    if (!failed) {
        failed = read_authorities(o, &authorities, err);
    }
    if (!failed) {
        const struct cbx_database_target target = {
            .url = cbx_buf_str(&url),
            .replica = cbx_str_of(o->replica != NULL ? o->replica : ""),
            .authorities = { .p = authorities.bytes, .len = authorities.len },
        };
        cbx_database_target_write(&target, out);
    }
    explicit_bzero(url.p, url.len);
    return failed;
}

int cbx_options_database_try(const struct cbx_options *o, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) url;
    struct cbx_postgres postgres;
    begin_url(&url);
    if (o->store == NULL || write_url(o, &url, NULL) != 0) {
        return 0; /* a step before this one has named it */
    }
    if (o->store_ca != NULL) {
        add_parameter(&url, "sslrootcert");
        add_encoded(&url, cbx_str_of(o->store_ca));
    }
    int failed = cbx_postgres_init(&postgres, url.p, err);
    if (!failed) {
        cbx_postgres_start(&postgres);
        failed = cbx_postgres_connect(&postgres, err);
        cbx_postgres_done(&postgres);
    }
    explicit_bzero(url.p, url.len);
    return failed;
}
