/* SPDX-License-Identifier: MIT */
#include "docker/inside/places.h"

#include <string.h>

static const struct cbx_place places[] = {
#define CBX_PLACE(path, rights) { path, CBX_PLACE_##rights },
#include "docker/inside/places.def"
};

const struct cbx_place *cbx_places(size_t *count)
{
    *count = sizeof(places) / sizeof(places[0]);
    return places;
}

/* Of a process: what it was started with, and its memory. */
static bool is_private(const char *path)
{
    const char *name = strrchr(path, '/');
    return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9' &&
           (strcmp(name, "/environ") == 0 || strcmp(name, "/mem") == 0);
}

bool cbx_place_is_inside(const char *path, bool writes)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t len = strlen(places[i].path);
        if (strncmp(path, places[i].path, len) == 0 && (path[len] == '/' || path[len] == '\0')) {
            return (!writes || places[i].rights != CBX_PLACE_READ) && !is_private(path);
        }
    }
    return false;
}
