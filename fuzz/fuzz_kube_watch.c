/* SPDX-License-Identifier: MIT
 * The lines of a watch. The first byte is the size of the pieces in which they arrive; a whole and a
 * divided stream give the same state of a waiting caller, and a version that may be in a URL. */
#include "docker/engine/kubernetes/kube_watch.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_all(struct cbx_kube_watch *watch, struct cbx_str bytes, size_t piece)
{
    while (bytes.len > 0) {
        struct cbx_str part = cbx_str_take(&bytes, piece);
        CBX_AUTO_MEM char *copy = cbx_str_copy(part);
        if (receive(copy, 1, part.len, watch) != part.len) {
            return false;
        }
    }
    return true;
}

static void check_version(const char *version)
{
    for (const char *c = version; *c != '\0'; c++) {
        if (strchr("&?=#/% \r\n", *c) != NULL) {
            abort();
        }
    }
}

/* Reads the bytes for a new waiter, of the Pod "codebox-1". */
static struct cbx_kube_waiter watch_bytes(struct cbx_str bytes, size_t piece, char version[64])
{
    struct cbx_kube_waiter waiter = { .name = "codebox-1" };
    struct cbx_kube_watch watch = { .waiters = &waiter, .version = "1" };
    pthread_mutex_init(&watch.lock, NULL);
    pthread_cond_init(&watch.changed, NULL);
    cbx_buf_init(&watch.line, LINE_MAX_BYTES);
    if (!read_all(&watch, bytes, piece) && watch.version[0] != '\0') {
        abort();
    }
    check_version(watch.version);
    memcpy(version, watch.version, sizeof(watch.version));
    cbx_kube_ended_done(&watch.ended);
    cbx_buf_done(&watch.line);
    pthread_cond_destroy(&watch.changed);
    pthread_mutex_destroy(&watch.lock);
    return waiter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char whole_version[64], piece_version[64];
    if (size < 2) {
        return 0;
    }
    struct cbx_str bytes = { .p = (const char *)data + 1, .len = size - 1 };
    struct cbx_kube_waiter whole = watch_bytes(bytes, bytes.len, whole_version);
    struct cbx_kube_waiter pieces = watch_bytes(bytes, 1 + data[0] % 16, piece_version);
    if (strcmp(whole_version, piece_version) != 0 || whole.created != pieces.created ||
        whole.pod.phase != pieces.pod.phase || strcmp(whole.pod.message, pieces.pod.message) != 0) {
        abort();
    }
    return 0;
}
