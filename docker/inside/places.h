/* SPDX-License-Identifier: MIT
 * The files that programs of a sandbox may open: the rows of places.def. */
#ifndef CBX_DOCKER_INSIDE_PLACES_H
#define CBX_DOCKER_INSIDE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

enum cbx_place_rights { CBX_PLACE_READ, CBX_PLACE_USE, CBX_PLACE_CHANGE };
struct cbx_place {
    const char *path; /* a file, or a folder with all that is beneath it */
    enum cbx_place_rights rights;
};

const struct cbx_place *cbx_places(size_t *count);

/* Is the file in a row, with the right to read it, or to write and change it? An absolute path without
 * links. What belongs to one process in /proc, its environment and its memory, is in no row. */
bool cbx_place_is_inside(const char *path, bool writes);

#endif
