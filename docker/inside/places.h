/* SPDX-License-Identifier: MIT
 * The files that programs of a sandbox may open: the rows of places.def. */
#ifndef CBX_DOCKER_INSIDE_PLACES_H
#define CBX_DOCKER_INSIDE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* DATA: read alone; CHANGE_DATA: read and write, folders and regular files. Neither is ever executed. */
enum cbx_place_rights {
    CBX_PLACE_READ,
    CBX_PLACE_USE,
    CBX_PLACE_CHANGE,
    CBX_PLACE_DATA,
    CBX_PLACE_CHANGE_DATA,
};
struct cbx_place {
    const char *path; /* a file, or a folder with all that is beneath it */
    enum cbx_place_rights rights;
};

/* The variable of the container that names the folders of the host in it: PATH:MODE, more behind a ':'; MODE is ro or rw. */
#define CBX_PLACES_MOUNTS "CODEBOX_MOUNTS"
enum { CBX_PLACES_MOUNTS_MAX = 16 };

/* Adds a row for each folder of such a text, for this process; NULL = none. Call it before a program could change the
 * variable, once: later calls have no effect. False when the text is malformed: no row was added. */
bool cbx_places_add_mounts(const char *text);

/* The rows of places.def, then those of mounts. */
const struct cbx_place *cbx_places(size_t *count);

/* The rows of mounts alone, in the order of the text. */
const struct cbx_place *cbx_places_mounts(size_t *count);

/* Is the file in a row, with the right to read it, or to write and change it? An absolute path without
 * links. What belongs to one process in /proc, its environment and its memory, is in no row. */
bool cbx_place_is_inside(const char *path, bool writes);

#endif
