/* SPDX-License-Identifier: MIT
 * Reads the lock file of `codebox image build --lock`. */
#include "gateway/cli/image/image_lock.h"

#include "analyzer/analyze.h"
#include "analyzer/syntax/source.h"
#include "docker/kernel_names.h"
#include "docker/packages/package_layers.h"
#include "gateway/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_bytes(const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "--lock '%s': %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "--lock '%s' is no regular file, allowed is a lock file",
                        path);
    }
    if (status.st_size > CBX_REPORT_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "--lock '%s' has %lld bytes, allowed are %d", path,
                        (long long)status.st_size, CBX_REPORT_BYTES_MAX);
    }
    return cbx_cli_read(fd, path, out, err);
}

/* Reads it as codebox-lint reads every file. The text lies in the arena. */
static int normalise(struct cbx_str bytes, struct cbx_arena *arena, struct cbx_str *out,
                     struct cbx_err *err)
{
    struct cbx_facts facts = { .arena = arena };
    struct cbx_source source;
    struct cbx_str copy = cbx_arena_copy(arena, bytes);
    if (copy.p == NULL || cbx_source_read(copy, false, arena, &facts, &source) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    if (!source.readable) {
        return cbx_fail(err, CBX_EINVAL, "the file is no text, allowed is UTF-8 without NUL bytes");
    }
    *out = source.text;
    return 0;
}

static int choose_language(const struct cbx_options *options, struct cbx_image_lock *lock,
                           struct cbx_err *err)
{
    bool npm = lock->file.manager == CBX_MANAGER_NPM;
    lock->language = npm ? "javascript" : "python";
    if (options->language == NULL) {
        return 0;
    }
    const char *kernel = cbx_kernel_of(options->language);
    if (kernel == NULL || cbx_packages_manager(kernel) != lock->file.manager) {
        return cbx_fail(err, CBX_EINVAL,
                        "its packages are for %s, and --language is '%s', allowed is %s",
                        npm ? "Node.js" : "Python", options->language,
                        npm ? "javascript or typescript" : "python");
    }
    lock->language = options->language;
    return 0;
}

/* Returns the names under `indexes` of the policy's section. */
static void list_indexes(const struct cbx_policy *policy, const char *language, struct cbx_buf *out)
{
    const struct cbx_packages *packages = cbx_policy_packages(policy, cbx_str_of(language));
    for (size_t i = 0; packages != NULL && i < packages->indexes.count; i++) {
        cbx_buf_printf(out, "%s%.*s", i > 0 ? ", " : "", CBX_STR_ARG(packages->indexes.items[i]));
    }
    cbx_buf_add_cstr(out, out->len == 0 ? "none" : "");
}

static int judge_sources(const struct cbx_options *options, struct cbx_image_lock *lock,
                         struct cbx_err *err)
{
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(buf) indexes = { 0 };
    struct cbx_decision decision;
    int failed = cbx_policy_load(cbx_options_flow(options).policies[0], &policy, err);
    if (failed) {
        return failed;
    }
    bool npm = lock->file.manager == CBX_MANAGER_NPM;
    failed = cbx_lockfile_judge_sources(&lock->file, policy,
                                        npm ? options->npm_registry : options->pip_index,
                                        &lock->arena, &decision, err);
    if (failed || decision.verdict == CBX_ALLOW) {
        return failed;
    }
    struct cbx_span place =
        decision.finding_count > 0 ? decision.findings[0].span : (struct cbx_span){ .line = 1 };
    cbx_buf_init(&indexes, CBX_ERR_TEXT_BYTES);
    list_indexes(policy, lock->language, &indexes);
    return cbx_fail(
        err, CBX_EPOLICY,
        "line %u: '%.*s' is of no index of policy '%.*s', allowed under `indexes` "
        "are: %s",
        place.line,
        CBX_STR_SHOWN(cbx_str_sub(lock->file.manifest.text, place.start_byte, place.end_byte)),
        CBX_STR_SHOWN(policy->name), indexes.p);
}

static int read_lock(const struct cbx_options *options, struct cbx_image_lock *lock,
                     struct cbx_err *err)
{
    enum { CHUNK_BYTES = 65536 }; /* cbx_cli_read reads a chunk of this size */
    CBX_AUTO_DONE(buf) bytes;
    struct cbx_str text;
    cbx_buf_init(&bytes, CBX_REPORT_BYTES_MAX + CHUNK_BYTES + 1);
    int failed = read_bytes(options->lock, &bytes, err);
    if (failed) {
        return failed;
    }
    failed = normalise(cbx_buf_str(&bytes), &lock->arena, &text, err);
    if (!failed) {
        failed = cbx_lockfile_read(cbx_str_of(options->lock), text, &lock->arena, &lock->file, err);
    }
    if (!failed) {
        failed = choose_language(options, lock, err);
    }
    if (!failed) {
        failed = judge_sources(options, lock, err);
    }
    if (failed) {
        return cbx_wrap(err, "%s", options->lock);
    }
    return 0;
}

int cbx_image_lock_read(const struct cbx_options *options, struct cbx_image_lock *out,
                        struct cbx_err *err)
{
    struct cbx_image_lock lock = { 0 };
    cbx_arena_init(&lock.arena, CBX_ANALYSIS_ARENA_MAX);
    int failed = read_lock(options, &lock, err);
    if (failed) {
        cbx_image_lock_done(&lock);
        return failed;
    }
    *out = lock;
    return 0;
}

void cbx_image_lock_done(struct cbx_image_lock *lock)
{
    cbx_arena_done(&lock->arena);
    *lock = (struct cbx_image_lock){ 0 };
}
