/* SPDX-License-Identifier: MIT
 * Programs by name, and how the library in the shell passes a name to the supervisor, which may
 * not read the shell's memory. Shared by both. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_NAMES_H
#define CBX_DOCKER_INSIDE_CONFINE_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the name of a program in a folder of the image's programs, a part of `path`; NULL for
 * any other path. The image is read-only, so no link of a program leads elsewhere. */
static inline const char *cbx_program_name(const char *path)
{
    static const char *const folders[] = { "/usr/bin/",       "/bin/",
                                           "/usr/local/bin/", "/usr/sbin/",
                                           "/sbin/",          "/usr/local/sbin/",
                                           "/usr/games/",     "/usr/local/games/" };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t len = strlen(folders[i]);
        if (strncmp(path, folders[i], len) == 0 && path[len] != '\0' &&
            strchr(path + len, '/') == NULL) {
            return path + len;
        }
    }
    return NULL;
}

/* Text in the registers of a call after its own arguments, from the argument CBX_WORDS_AT on:
 * the first CBX_WORDS_BYTES bytes of it, padded with NUL. */
enum { CBX_WORDS_AT = 3, CBX_WORDS = 3, CBX_WORDS_BYTES = CBX_WORDS * 8 };
static inline void cbx_words_pack(const char *text, uint64_t words[CBX_WORDS])
{
    memset(words, 0, CBX_WORDS_BYTES);
    memcpy(words, text, strnlen(text, CBX_WORDS_BYTES));
}

#endif
