/* SPDX-License-Identifier: MIT */
#include "docker/inside/confine/open_places.h"

#include <string.h>

enum {
    FIXED = 0
#define CBX_PLACE(path, rights) +1
#include "docker/inside/confine/open_places.def"
    ,
    TEXT_MAX = 32 * 1024
};

static struct cbx_place places[FIXED + CBX_PLACES_MOUNTS_MAX] = {
#define CBX_PLACE(path, rights) { path, CBX_PLACE_##rights },
#include "docker/inside/confine/open_places.def"
};
static char paths[TEXT_MAX]; /* the mounts' rows point into it */
static size_t mount_count;
static bool mounts_are_read;

/* Returns the next word of the text, which it terminates in place; NULL after the last one. */
static char *next_word(char **rest)
{
    char *word = *rest;
    char *colon = word != NULL ? strchr(word, ':') : NULL;
    if (colon != NULL) {
        *colon = '\0';
    }
    *rest = colon != NULL ? colon + 1 : NULL;
    return word;
}

bool cbx_places_add_mounts(const char *text)
{
    if (mounts_are_read || text == NULL || text[0] == '\0') {
        mounts_are_read = true;
        return true;
    }
    mounts_are_read = true;
    if (strlen(text) >= sizeof(paths)) {
        return false;
    }
    memcpy(paths, text, strlen(text) + 1);
    size_t count = 0;
    for (char *rest = paths, *path; (path = next_word(&rest)) != NULL; count++) {
        const char *mode = next_word(&rest);
        bool writes = mode != NULL && strcmp(mode, "rw") == 0;
        if (path[0] != '/' || path[1] == '\0' || count == CBX_PLACES_MOUNTS_MAX || mode == NULL ||
            (!writes && strcmp(mode, "ro") != 0)) {
            return false;
        }
        places[FIXED + count] =
            (struct cbx_place){ .path = path,
                                .rights = writes ? CBX_PLACE_CHANGE_DATA : CBX_PLACE_DATA };
    }
    mount_count = count;
    return true;
}

const struct cbx_place *cbx_places(size_t *count)
{
    *count = FIXED + mount_count;
    return places;
}

const struct cbx_place *cbx_places_mounts(size_t *count)
{
    *count = mount_count;
    return places + FIXED;
}

/* The environment and the memory of a process, in /proc/PID. */
static bool is_private(const char *path)
{
    const char *name = strrchr(path, '/');
    return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9' &&
           (strcmp(name, "/environ") == 0 || strcmp(name, "/mem") == 0);
}

bool cbx_place_is_inside(const char *path, bool writes)
{
    size_t count;
    const struct cbx_place *rows = cbx_places(&count);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(rows[i].path);
        if (strncmp(path, rows[i].path, len) == 0 && (path[len] == '/' || path[len] == '\0')) {
            bool reads_only = rows[i].rights == CBX_PLACE_READ || rows[i].rights == CBX_PLACE_DATA;
            return (!writes || !reads_only) && !is_private(path);
        }
    }
    return false;
}
