/* SPDX-License-Identifier: MIT
 * Shared by the tests of the processes: a state directory, reading of files, waiting for children
 * with a deadline, and decisions sealed with a known key. */
#ifndef CBX_TESTS_UNIT_GATEWAY_SCRATCH_H
#define CBX_TESTS_UNIT_GATEWAY_SCRATCH_H

#include "gateway/ipc/seal/seal.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "tests/unit/unit.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEADLINE_MS = 30000 };

struct scratch {
    char path[64];
};

static inline void scratch_make(struct scratch *scratch)
{
    snprintf(scratch->path, sizeof(scratch->path), "/tmp/cbx-test-XXXXXX");
    assert_non_null(mkdtemp(scratch->path));
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int kind,
                                     struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline void scratch_remove(struct scratch *scratch)
{
    nftw(scratch->path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The file DIR/NAME, empty when there is none. `out` is initialised here. */
static inline void scratch_read(const char *dir, const char *name, struct cbx_buf *out)
{
    char path[256], chunk[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    cbx_buf_init(out, 256 * 1024 * 1024);
    CBX_AUTO_FILE f = fopen(path, "re");
    for (size_t n; f != NULL && (n = fread(chunk, 1, sizeof(chunk), f)) > 0;) {
        cbx_buf_add_bytes(out, chunk, n);
    }
}

static inline void scratch_write(const char *dir, const char *name, struct cbx_str bytes)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    CBX_AUTO_FILE f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(bytes.len > 0 ? fwrite(bytes.p, 1, bytes.len, f) : 0, bytes.len);
}

static inline bool scratch_holds(const char *dir, const char *name, const char *needle)
{
    CBX_AUTO_DONE(buf) text;
    scratch_read(dir, name, &text);
    return memmem(text.p, text.len, needle, strlen(needle)) != NULL;
}

/* The child's wait status; a child that does not end in time is killed and fails the test. */
static inline int await_child(pid_t pid)
{
    int status = 0;
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (cbx_clock_ms() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            fail_msg("a child did not end in time");
        }
        poll(NULL, 0, 2);
    }
    return status;
}

/* --- decisions -------------------------------------------------------------------------------- */

/* The policy of the decisions here. */
static inline struct cbx_policy sealing_policy(void)
{
    return (struct cbx_policy){
        .name = CBX_STR("testing"),
        .languages = 1u << CBX_PYTHON,
        .limits = { 1000, 1000, 1 << 26, 64, 1 << 20, 4096, 4096, 4096, 1000, 1000, 1000, 100,
                    1 << 20, CBX_ISOLATION_CONTAINER },
    };
}

/* A decision as a worker would seal it. */
struct sealing {
    struct cbx_buf text;
    struct cbx_sha256 mac;
    struct cbx_seal_token token; /* token of its worker */
};

static inline void sealing_done(struct sealing *sealing)
{
    cbx_buf_done(&sealing->text);
}

/* The token of a worker that no other decision of this test is from. */
static inline struct cbx_seal_token sealing_token(const struct cbx_seal_key *key)
{
    static atomic_ulong count;
    struct cbx_seal_token token;
    cbx_seal_token_make(key, CBX_SEAL_FIRST_NUMBER(1) + atomic_fetch_add(&count, 1), &token);
    return token;
}

static inline struct sealing sealing_make_with(const struct cbx_seal_token *token,
                                               enum cbx_verdict verdict, enum cbx_action action,
                                               const char *session, struct cbx_str source)
{
    struct cbx_policy policy = sealing_policy();
    struct cbx_subject subject = { .action = action,
                                   .language = CBX_STR("python"),
                                   .principal = CBX_STR("ann"),
                                   .session = cbx_str_of(session),
                                   .origin = CBX_STR("test") };
    struct cbx_decision decision = { .verdict = verdict,
                                     .language = CBX_STR("python"),
                                     .text = source,
                                     .sha256 = cbx_sha256_of(source) };
    struct sealing out = { .token = *token };
    cbx_buf_init(&out.text, CBX_SEAL_MAX_BYTES);
    assert_int_equal(
        cbx_seal_make(
            token,
            &(struct cbx_judged){ .policy = &policy, .subject = &subject, .decision = &decision },
            &out.text, &out.mac, NULL),
        0);
    return out;
}

static inline struct sealing sealing_make(const struct cbx_seal_key *key, enum cbx_verdict verdict,
                                          enum cbx_action action, const char *session,
                                          struct cbx_str source)
{
    struct cbx_seal_token token = sealing_token(key);
    return sealing_make_with(&token, verdict, action, session, source);
}

/* Seals the same decision again with one field changed, as only a holder of its token can. Takes
 * the reference to `value`. */
static inline void sealing_set(struct sealing *sealing, const char *field, json_t *value)
{
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(cbx_json_parse(cbx_buf_str(&sealing->text), CBX_SEAL_MAX_BYTES, &json, NULL),
                     0);
    json_object_set_new(json, field, value);
    cbx_buf_reset(&sealing->text);
    assert_int_equal(cbx_json_write(&sealing->text, json), 0);
    const struct cbx_seal_key *key = &sealing->token.key;
    struct cbx_str k = { .p = (const char *)key->bytes, .len = sizeof(key->bytes) };
    sealing->mac = cbx_hmac_sha256(k, cbx_buf_str(&sealing->text));
}

#endif
