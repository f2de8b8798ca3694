/* SPDX-License-Identifier: MIT
 * Durable audit records: latency of one writer and rate of many, beside a bare write and fdatasync
 * of the same bytes. Usage: bench_audit DIR */
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_files.h"

#include "policies/base/sort.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ONE = 200, THREADS = 64, EACH = 100 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *times, size_t count)
{
    cbx_sort_heap(times, count, sizeof(*times), compare);
    return times[count / 2];
}

static void append(struct cbx_audit *audit)
{
    CBX_AUTO_JSON body = json_pack(
        "{s:s,s:s,s:i}", "verdict", "allow", "sha256",
        "0000000000000000000000000000000000000000000000000000000000000000", "wall_ms", 60000);
    cbx_audit_append(audit, "decision", body, NULL, NULL);
}

static void *append_many(void *audit)
{
    for (int i = 0; i < EACH; i++) {
        append(audit);
    }
    return NULL;
}

static double bare_median(const char *dir)
{
    char path[4096], line[400];
    snprintf(path, sizeof(path), "%s/bare", dir);
    memset(line, 'x', sizeof(line));
    CBX_AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    double times[ONE];
    for (int i = 0; i < ONE; i++) {
        double began = now_ms();
        if (write(fd, line, sizeof(line)) != sizeof(line) || fdatasync(fd) != 0) {
            return 0;
        }
        times[i] = now_ms() - began;
    }
    return median(times, ONE);
}

/* Creates a log of a million records in several files, written without waiting for each record. */
enum { MANY = 1000000, BATCH = 10000, FILE_BYTES = 100 * 1024 * 1024 };

static int write_many(const char *log)
{
    static struct cbx_audit_pending pending[BATCH];
    struct cbx_audit *audit;
    struct cbx_err err = { 0 };
    if (cbx_audit_open(log, &audit, &err) != 0) {
        fprintf(stderr, "bench_audit: %s\n", err.text);
        return 1;
    }
    cbx_audit_set_max_bytes(audit, FILE_BYTES);
    CBX_AUTO_JSON body =
        json_pack("{s:s,s:s,s:s}", "verdict", "allow", "principal", "local", "sha256",
                  "0000000000000000000000000000000000000000000000000000000000000000");
    for (int i = 0; i < MANY; i++) {
        pending[i % BATCH] = (struct cbx_audit_pending){ .type = "decision", .body = body };
        cbx_audit_submit(audit, &pending[i % BATCH]);
        if (i % BATCH == BATCH - 1) {
            cbx_audit_flush(audit);
        }
    }
    cbx_audit_free(audit);
    return 0;
}

/* Reading all files and taking the SHA-256 of their bytes: the least that a verification does. */
static double hash_all(const char *log, double *bytes)
{
    static uint8_t chunk[1 << 20];
    CBX_AUTO_FD dir = open(log, O_RDONLY | O_DIRECTORY);
    CBX_AUTO_DONE(audit_files) files;
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    double began = now_ms();
    if (cbx_audit_files_list(dir, &files, NULL) != 0 ||
        EVP_DigestInit_ex(sum, EVP_sha256(), NULL) != 1) {
        return 0;
    }
    *bytes = 0;
    for (size_t i = 0; i <= files.count; i++) {
        CBX_AUTO_FILE f = cbx_audit_file_open(dir, i < files.count ? files.first[i] : 0);
        for (size_t n; f != NULL && (n = fread(chunk, 1, sizeof(chunk), f)) > 0;) {
            EVP_DigestUpdate(sum, chunk, n);
            *bytes += (double)n;
        }
    }
    EVP_MD_CTX_free(sum);
    return now_ms() - began;
}

static int verify_many(const char *dir)
{
    char log[4096];
    double bytes = 0;
    struct cbx_err err = { 0 };
    snprintf(log, sizeof(log), "%s/many", dir);
    if (write_many(log) != 0) {
        return 1;
    }
    double bare = hash_all(log, &bytes);
    static struct cbx_audit_report report;
    double began = now_ms();
    if (cbx_audit_verify(log, &report, &err) != 0 || report.records != MANY || report.line != 0) {
        fprintf(stderr, "bench_audit: %llu records, %s\n", (unsigned long long)report.records,
                report.problem);
        return 1;
    }
    double took = now_ms() - began;
    printf(
        "audit, verify: %.2f s for %d records in %.0f MB, %.0f records/s (budget 3 s), SHA-256 of "
        "the same bytes %.2f s, %.1f times that\n",
        took / 1e3, MANY, bytes / 1e6, MANY / took * 1e3, bare / 1e3, took / bare);
    return 0;
}

int main(int argc, char **argv)
{
    struct cbx_audit *audit;
    struct cbx_err err = { 0 };
    if (argc != 2 || cbx_audit_open(argv[1], &audit, &err) != 0) {
        fprintf(stderr, "bench_audit: %s\n", argc != 2 ? "one DIR is needed" : err.text);
        return 1;
    }
    double times[ONE], bare = bare_median(argv[1]);
    for (int i = 0; i < ONE; i++) {
        double began = now_ms();
        append(audit);
        times[i] = now_ms() - began;
    }
    double one = median(times, ONE);
    printf("audit, one writer: p50 %.3f ms, a bare write and fdatasync %.3f ms, %.2f times that "
           "(budget 0.3 ms more)\n",
           one, bare, one / bare);
    pthread_t threads[THREADS];
    double began = now_ms();
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, append_many, audit);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    double rate = THREADS * EACH / ((now_ms() - began) / 1e3);
    printf("audit, %d writers: %.0f records/s (budget 20,000/s), bare writes %.0f/s, %.1f times "
           "that\n",
           THREADS, rate, 1e3 / bare, rate * bare / 1e3);
    cbx_audit_free(audit);
    return verify_many(argv[1]);
}
