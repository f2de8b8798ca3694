/* SPDX-License-Identifier: MIT
 * Comparison of the log with kept heads, for `codebox audit verify --head`. */
#include "gateway/cli/audit/audit_compare.h"

#include "gateway/cli/cli.h"
#include "gateway/executor/sessions/instance.h"
#include "policies/release.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <unistd.h>

/* enough for a million heads, with what syslog adds to each */
enum { FETCH_S = 60, FETCH_BYTES = 400 * 1000 * 1000 };

struct fetch {
    struct cbx_audit_heads *heads;
    struct cbx_err err;
    int failed;
    int64_t bytes;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct fetch *f = context;
    f->bytes += (int64_t)(size * count);
    if (f->bytes > FETCH_BYTES) {
        f->failed =
            cbx_fail(&f->err, CBX_ETOOBIG, "the answer has more than %d bytes", FETCH_BYTES);
    } else {
        f->failed = cbx_audit_heads_feed(
            f->heads, (struct cbx_str){ .p = bytes, .len = size * count }, &f->err);
    }
    return f->failed ? 0 : size * count;
}

static void set_options(CURL *curl, const char *url, struct fetch *f)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)FETCH_S);
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)FETCH_BYTES);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "codebox/" CBX_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, f);
}

static int fail_fetch(const char *url, const char *why, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "the kept heads '%.150s': %.150s", url, why);
}

static int fetch(struct cbx_audit_heads *heads, const char *url, struct cbx_err *err)
{
    struct fetch f = { .heads = heads };
    int failed = cbx_audit_heads_begin(heads, url, false, err);
    CURL *curl = failed ? NULL : curl_easy_init();
    if (failed) {
        return failed;
    }
    if (curl == NULL) {
        return fail_fetch(url, "libcurl cannot be used", err);
    }
    long status = 0;
    set_options(curl, url, &f);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code == CURLE_OK && status != 200) {
        char why[64];
        snprintf(why, sizeof(why), "the answer has status %ld, allowed is 200", status);
        return fail_fetch(url, why, err);
    }
    if (f.failed && status == 200) {
        *err = f.err;
        return f.failed;
    }
    /* The body of an error page has no head either; the HTTP status is the better explanation. */
    if (code != CURLE_OK) {
        char why[64];
        snprintf(why, sizeof(why), "the answer has status %ld, allowed is 200", status);
        bool answered = f.failed != 0;
        return fail_fetch(url, answered ? why : curl_easy_strerror(code), err);
    }
    return cbx_audit_heads_end(heads, err);
}

int cbx_audit_compare_read(const char *source, struct cbx_audit_heads **out, struct cbx_err *err)
{
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    int failed;
    if (strcmp(source, "-") == 0) {
        failed = cbx_audit_heads_read_fd(heads, STDIN_FILENO, "standard input", err);
    } else if (strstr(source, "://") != NULL) {
        failed = fetch(heads, source, err);
    } else {
        failed = cbx_audit_heads_read(heads, source, err);
    }
    if (!failed) {
        *out = cbx_steal(&heads);
    }
    return failed;
}

/* Results of the comparison that are no findings. */
static void print_counts(const struct cbx_audit_heads_report *r, const char *noun)
{
    const struct {
        size_t count;
        const char *what;
    } counts[] = { { r->pruned, "are of records that were removed" },
                   { r->others, "are of other logs, which were not looked at" },
                   { r->torn, "are cut: a crash, or a full disk, while they were written" },
                   { r->unmet, "were not compared: their records are behind that line" } };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (counts[i].count > 0) {
            printf("%zu %s %s\n", counts[i].count, noun, counts[i].what);
        }
    }
}

int cbx_audit_compare_print(struct cbx_audit_heads *heads, const char *noun, const char *state_dir,
                            const struct cbx_audit_report *report)
{
    static struct cbx_audit_heads_report r;
    struct cbx_err err = { 0 };
    char instance[33] = "", when[32];
    if (!cbx_instance_name(state_dir, instance)) {
        /* Without the instance's name, the keys of this log show which heads belong to it. */
        instance[0] = '\0';
    }
    if (cbx_audit_heads_judge(heads, instance, report, &r, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    for (size_t i = 0; i < r.finding_count && i < CBX_AUDIT_HEADS_FINDINGS_MAX; i++) {
        printf("%s\n", r.findings[i]);
    }
    if (r.finding_count > CBX_AUDIT_HEADS_FINDINGS_MAX) {
        printf("and %zu more such heads\n", r.finding_count - CBX_AUDIT_HEADS_FINDINGS_MAX);
    }
    if (r.matched > 0) {
        cbx_chain_format_time(r.newest_ms, when);
        printf("%zu %s match; the newest is of record %" PRIu64 ", kept at %s\n", r.matched, noun,
               r.newest, when);
    }
    if (r.matched + r.finding_count + r.pruned + r.unmet == 0) { /* only of anchors: see judge */
        printf("no %s are of this log\n", noun);
    }
    print_counts(&r, noun);
    return r.finding_count > 0 ? 1 : 0;
}
