/* SPDX-License-Identifier: MIT
 * The files that programs of a sandbox may open: the rows of open_places.def. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_OPEN_PLACES_H
#define CBX_DOCKER_INSIDE_CONFINE_OPEN_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* open_places.def explains READ, USE and CHANGE. DATA lets programs read; CHANGE_DATA lets them
 * also write, create and remove regular files and folders. Programs can execute no file of these
 * two. */
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

/* The container's environment variable that lists the folders of the host:
 * "PATH:MODE:PATH:MODE", where MODE is ro or rw. */
#define CBX_PLACES_MOUNTS "CODEBOX_MOUNTS"
enum { CBX_PLACES_MOUNTS_MAX = 16 };

/* Adds a row for each folder that the text of CBX_PLACES_MOUNTS lists; NULL lists none. The rows
 * hold for this process. Only the first call has an effect, and it must come before a program
 * can change the variable. Returns false, and adds no row, when the text is malformed. */
bool cbx_places_add_mounts(const char *text);

/* Returns the rows of open_places.def, followed by the rows of mounts. */
const struct cbx_place *cbx_places(size_t *count);

/* Returns the rows of mounts, in the order of the text. */
const struct cbx_place *cbx_places_mounts(size_t *count);

/* Returns whether a row lets programs read the file, or write and change it when `writes` is
 * set. The path is absolute and has no links. The environment and the memory of a process
 * (/proc/PID/environ, /proc/PID/mem) are refused, whatever the rows say. */
bool cbx_place_is_inside(const char *path, bool writes);

#endif
