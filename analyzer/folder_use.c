/* SPDX-License-Identifier: MIT
 * The table of folders of dependencies. */
#include "analyzer/folder_use.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    enum cbx_folder_use use;
} rows[] = {
#define CBX_FOLDER_USE(name, use) { name, CBX_FOLDER_##use },
#include "analyzer/folder_use.def"
#undef CBX_FOLDER_USE
};

enum cbx_folder_use cbx_folder_use_of(const char *name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return rows[i].use;
        }
    }
    return CBX_FOLDER_OWN;
}
