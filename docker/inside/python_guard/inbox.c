/* SPDX-License-Identifier: MIT
 * Frames from the supervisor. Linux gives the sender's process with the bytes (SCM_CREDENTIALS,
 * unix(7)); a program may replace this descriptor by another socket. A program can also read
 * from the socket itself, so that the next bytes are not the beginning of a frame, but text of a
 * caller: the supervisor is asked for the starts of the frames that concern the guard. These
 * frames take effect here, before Python sees them. */
#include "docker/inside/python_guard/python_guard.h"

#include "docker/inside/wire/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    uint8_t *bytes; /* complete frames, and an incomplete one */
    size_t len, size;
    uint64_t offset; /* offset of the first byte in the supervisor's stream */
} inbox;

enum { CHUNK_BYTES = 256 * 1024 };

/* True if the kernel's parent, the supervisor, sent the message. */
static bool is_from_supervisor(struct msghdr *message)
{
    struct ucred sender = { .pid = 0 };
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
         head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&sender, CMSG_DATA(head), sizeof(sender));
        }
    }
    return sender.pid > 0 && sender.pid == getppid();
}

/* Waits for bytes. Returns false with an exception: an interrupt. The GIL is not held while it
 * waits. */
static bool receive_some(void)
{
    static uint8_t chunk[CHUNK_BYTES];
    static bool receiving;
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec part = { .iov_base = chunk, .iov_len = sizeof(chunk) };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    if (receiving) {
        PyErr_SetString(PyExc_RuntimeError, "another thread receives");
        return false;
    }
    receiving = true;
    PyThreadState *state = PyEval_SaveThread();
    ssize_t n = recvmsg(CBX_FRAME_CONTROL_FD, &message, MSG_CMSG_CLOEXEC);
    int error = errno;
    PyEval_RestoreThread(state);
    receiving = false;
    if (n < 0 && error == EINTR) {
        return PyErr_CheckSignals() == 0;
    }
    if (n <= 0 || !is_from_supervisor(&message)) {
        _exit(n == 0 ? 0 : 1);
    }
    if (inbox.len + (size_t)n > inbox.size) {
        inbox.size = 2 * (inbox.len + (size_t)n);
        inbox.bytes = realloc(inbox.bytes, inbox.size);
        if (inbox.bytes == NULL) {
            abort();
        }
    }
    memcpy(inbox.bytes + inbox.len, chunk, (size_t)n);
    inbox.len += (size_t)n;
    return true;
}

/* Reads the payload of a RUN, as the supervisor shortens it (docker/inside/wire/frame.h). */
static void begin_run(const uint8_t *payload, size_t len)
{
    struct cbx_frame_run run;
    if (len < CBX_FRAME_KERNEL_HEAD_BYTES) {
        _exit(1);
    }
    memcpy(&run, payload, CBX_FRAME_KERNEL_HEAD_BYTES);
    size_t rest = len - CBX_FRAME_KERNEL_HEAD_BYTES;
    const char *imports = (const char *)payload + CBX_FRAME_KERNEL_HEAD_BYTES;
    if (run.imports_bytes > rest || run.arguments_bytes > rest - run.imports_bytes ||
        (run.imports_bytes > 0 && !cbx_hook_imports_set(imports, run.imports_bytes))) {
        _exit(1);
    }
    size_t before = (size_t)run.imports_bytes + run.arguments_bytes;
    cbx_hook_refused |= run.refused; /* threads and processes of earlier runs may still run */
    cbx_hook_compile_set(imports + before, rest - before);
}

/* Takes the first frame if it is complete; NULL without an exception if it is not, or if Python
 * need not see it. */
static PyObject *take_frame(bool *taken)
{
    uint32_t len;
    *taken = false;
    if (inbox.len < CBX_FRAME_HEAD_BYTES) {
        return NULL;
    }
    memcpy(&len, inbox.bytes + 1, sizeof(len));
    if (cbx_frame_limit(inbox.bytes[0], 'k') < (int64_t)len) {
        _exit(1); /* not a frame of the supervisor */
    }
    if (inbox.len - CBX_FRAME_HEAD_BYTES < len) {
        return NULL;
    }
    *taken = true;
    uint8_t type = inbox.bytes[0];
    const uint8_t *payload = inbox.bytes + CBX_FRAME_HEAD_BYTES;
    PyObject *frame = NULL;
    bool about_guard = type == CBX_FRAME_ACCEPT || type == CBX_FRAME_RUN;
    if (about_guard && !cbx_hook_was_sent(type, inbox.offset)) {
        _exit(1);
    }
    if (type == CBX_FRAME_ACCEPT) {
        cbx_hook_accept(payload, len);
    } else {
        if (type == CBX_FRAME_RUN) {
            begin_run(payload, len);
        }
        frame = Py_BuildValue("(s#y#)", (const char *)&type, (Py_ssize_t)1, (const char *)payload,
                              (Py_ssize_t)len);
    }
    inbox.len -= CBX_FRAME_HEAD_BYTES + (size_t)len;
    inbox.offset += CBX_FRAME_HEAD_BYTES + (uint64_t)len;
    memmove(inbox.bytes, payload + len, inbox.len);
    return frame;
}

PyObject *cbx_hook_receive(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    for (;;) {
        bool taken = false;
        PyObject *frame = take_frame(&taken);
        if (frame != NULL || PyErr_Occurred()) {
            return frame;
        }
        if (!taken && !receive_some()) {
            return NULL;
        }
    }
}

PyObject *cbx_hook_has_more(PyObject *self, PyObject *none)
{
    struct pollfd waiting = { .fd = CBX_FRAME_CONTROL_FD, .events = POLLIN };
    (void)self;
    (void)none;
    return PyBool_FromLong(inbox.len > 0 || poll(&waiting, 1, 0) > 0);
}
