/* SPDX-License-Identifier: MIT
 * The command kernel: receives frames, starts programs, sends frames. Static. The programs are
 * hostile: one may kill this process or fill the disk, and gains nothing. */
#include "docker/inside/command/command.h"

#include "docker/inside/wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 256 };

static void read_all(void *to, size_t len)
{
    char *p = to;
    while (len > 0) {
        ssize_t n = read(CBX_COMMAND_CONTROL, p, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            _exit(0);
        }
        p += n;
        len -= (size_t)n;
    }
}

/* Reads the payload of RUN: the kernel's head, the arguments, the source. False if it is
 * malformed. */
static bool read_run(const char *payload, size_t len, struct cbx_command_run *out)
{
    static const char *arguments[ARGUMENTS_MAX + 1];
    struct cbx_frame_run head;
    memcpy(&head, payload, CBX_FRAME_KERNEL_HEAD_BYTES);
    const char *at = payload + CBX_FRAME_KERNEL_HEAD_BYTES;
    if (head.imports_bytes > 0 || /* this kernel has no modules */
        head.arguments_bytes > len - CBX_FRAME_KERNEL_HEAD_BYTES ||
        (head.arguments_bytes > 0 && at[head.arguments_bytes - 1] != '\0')) {
        return false;
    }
    const char *end = at + head.arguments_bytes;
    size_t count = 0;
    *out = (struct cbx_command_run){ .source = end,
                                     .len = (size_t)(payload + len - end),
                                     .refused = head.refused,
                                     .file_name = at < end ? at : "",
                                     .arguments = arguments };
    for (at += at < end ? strlen(at) + 1 : 0; at < end && count < ARGUMENTS_MAX;
         at += strlen(at) + 1) {
        arguments[count++] = at;
    }
    arguments[count] = NULL;
    return true;
}

static void serve(const struct cbx_command_kernel *kernel)
{
    cbx_command_send(CBX_FRAME_READY, NULL, 0);
    for (;;) {
        uint8_t head[CBX_FRAME_HEAD_BYTES];
        uint32_t len;
        read_all(head, sizeof(head));
        memcpy(&len, head + 1, 4);
        char *payload = len <= CBX_FRAME_RUN_MAX ? malloc(len + 1) : NULL;
        if (payload == NULL) {
            _exit(1);
        }
        read_all(payload, len);
        payload[len] = '\0';
        if (head[0] == CBX_FRAME_RUN && len >= CBX_FRAME_KERNEL_HEAD_BYTES) {
            cbx_command_drop_interrupt(); /* left from the previous run */
            struct cbx_command_run run;
            if (!read_run(payload, len, &run)) {
                _exit(1);
            }
            int32_t code = kernel->run(&run);
            cbx_command_send(CBX_FRAME_FINISH, &code, sizeof(code));
        } else if (head[0] == CBX_FRAME_ACCEPT) {
            cbx_command_accept((const uint8_t *)payload, len);
        } else if (head[0] == CBX_FRAME_VARIABLES) {
            cbx_command_set_variables(payload, len);
            if (kernel->changed != NULL) {
                kernel->changed();
            }
        } else if (head[0] == CBX_FRAME_WARM) {
            cbx_command_send(CBX_FRAME_READY, NULL, 0); /* no library to import */
        }
        free(payload);
    }
}

int main(int argc, char **argv)
{
    bool shell = argc == 2 && strcmp(argv[1], "bash") == 0;
    if (argc != 2 || (!shell && !cbx_command_select_program(argv[1]))) {
        return 2;
    }
    const struct cbx_command_kernel *kernel = shell ? &cbx_command_shell : &cbx_command_program;
    bool has_signals = cbx_command_block_signals();
    /* Programs must neither inspect this process nor inherit its channel. */
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || fcntl(CBX_COMMAND_CONTROL, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(CBX_FRAME_GUARD_FD, F_SETFD, FD_CLOEXEC) != 0 || !has_signals || !kernel->start()) {
        return 1;
    }
    serve(kernel);
}
