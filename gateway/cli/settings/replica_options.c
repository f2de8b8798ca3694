/* SPDX-License-Identifier: MIT
 * Options about replicas. */
#include "gateway/cli/settings/replica_options.h"

#include "gateway/cli/settings/tls_options.h"
#include "gateway/executor/sessions/instance_seeds.h"
#include "gateway/replicas/link_tls.h"

#include <string.h>

static int check_complete(const struct cbx_options *o, const struct cbx_replicas *replicas,
                          struct cbx_err *err)
{
    const struct {
        const char *option, *value;
    } needed[] = {
        { "--peer-listen", o->peer_listen },
        { "--peer-certificate", o->peer_certificate },
        { "--peer-key", o->peer_key },
        { "--peer-ca", o->peer_ca },
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (replicas->count > 0 && needed[i].value == NULL) {
            return cbx_fail(err, CBX_EINVAL,
                            "%s is missing: replicas reach each other by TLS, which needs "
                            "--peer-listen, --peer-certificate, --peer-key and --peer-ca",
                            needed[i].option);
        }
        if (replicas->count == 0 && needed[i].value != NULL) {
            return cbx_fail(err, CBX_EINVAL,
                            "%s is given, and no other replica: --peer NAME=HOST:PORT",
                            needed[i].option);
        }
    }
    return 0;
}

int cbx_options_replicas(const struct cbx_options *o, struct cbx_replicas *out, struct cbx_err *err)
{
    *out = (struct cbx_replicas){ 0 };
    if (o->replica == NULL) {
        if (o->peers.count > 0) {
            return cbx_fail(err, CBX_EINVAL,
                            "--peer is given, and not --replica, the name of this replica");
        }
        return check_complete(o, out, err);
    }
    int failed = cbx_replicas_read(o->replica, o->peers.items, o->peers.count, out, err);
    if (failed) {
        return failed;
    }
    return check_complete(o, out, err);
}

int cbx_options_replicas_read(const struct cbx_options *o, struct cbx_buf *out, struct cbx_err *err)
{
    enum { CERTIFICATE, KEY, AUTHORITIES, FILES };
    static struct cbx_pem files[FILES];
    const struct cbx_pem_file wanted[FILES] = {
        [CERTIFICATE] = { .option = "--peer-certificate", .path = o->peer_certificate },
        [KEY] = { .option = "--peer-key", .path = o->peer_key, .secret = "private key" },
        [AUTHORITIES] = { .option = "--peer-ca", .path = o->peer_ca },
    };
    int failed = 0;
    for (size_t i = 0; i < FILES && !failed; i++) {
        failed = cbx_pem_read(&wanted[i], &files[i], err);
    }
    if (!failed) {
        const struct cbx_link_pem pem = {
            .certificate = { .p = files[CERTIFICATE].bytes, .len = files[CERTIFICATE].len },
            .key = { .p = files[KEY].bytes, .len = files[KEY].len },
            .authorities = { .p = files[AUTHORITIES].bytes, .len = files[AUTHORITIES].len },
        };
        failed = cbx_link_write(&pem, o->replica, out, err);
    }
    explicit_bzero(files, sizeof(files));
    return failed;
}

int cbx_options_instances_read(const struct cbx_options *o, const struct cbx_replicas *replicas,
                               struct cbx_buf *out, struct cbx_err *err)
{
    static struct cbx_pem file;
    const struct cbx_pem_file named = { .option = "--instance-secret",
                                        .path = o->instance_secret,
                                        .secret = "secret of the replicas" };
    if (o->instance_secret == NULL) {
        return 0;
    }
    if (o->replica == NULL || o->store == NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "--instance-secret is given, and not %s: replicas take over from each "
                        "other by names, and by rows in a database that they share",
                        o->replica == NULL ? "--replica NAME" : "--store URL");
    }
    int failed = cbx_pem_read(&named, &file, err);
    if (!failed && file.len < CBX_INSTANCE_SECRET_MIN) {
        failed = cbx_fail(err, CBX_EINVAL,
                          "--instance-secret: '%.200s' has %zu bytes, allowed are %d and more, as "
                          "of 'openssl rand 32'",
                          o->instance_secret, file.len, CBX_INSTANCE_SECRET_MIN);
    }
    if (!failed) {
        cbx_instance_seeds_write((struct cbx_str){ .p = file.bytes, .len = file.len }, replicas,
                                 out);
    }
    explicit_bzero(&file, sizeof(file));
    return failed;
}
