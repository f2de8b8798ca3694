/* SPDX-License-Identifier: MIT
 * The interface between the command kernel and the library in the bash of a session. */
#ifndef CBX_DOCKER_INSIDE_SHELL_LOADER_SHELL_LOADER_H
#define CBX_DOCKER_INSIDE_SHELL_LOADER_SHELL_LOADER_H

#include "docker/inside/wire/frame.h"

/* The accepted files, in a memory that only the command kernel writes: it adds hashes, then
 * raises the count. */
struct cbx_shell_accepted {
    uint32_t count;
    uint8_t hashes[CBX_FRAME_ACCEPTED_MAX][CBX_FRAME_HASH_BYTES];
};

/* Descriptors of the shell at its start: the memories of cells, then the memory of accepted
 * files. The library closes the latter, so that it exists only in a shell without the library.
 * The standard input of cells follows. */
enum {
    CBX_SHELL_CELLS = 5,
    CBX_SHELL_CELLS_AT = 241,
    CBX_SHELL_ACCEPTED_AT = CBX_SHELL_CELLS_AT + CBX_SHELL_CELLS,
    CBX_SHELL_INPUT_AT,
};

#define CBX_SHELL_LOADER "/codebox/shell-loader.so"

#endif
