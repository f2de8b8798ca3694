/* SPDX-License-Identifier: MIT
 * The files that a compiler may read. A source can name any file in an include, in assembler
 * text, or by the name of a precompiled header, and the compiler follows links. So Linux refuses
 * all files except the image's and those in the folder of the run. */
#include "docker/inside/command/command.h"

#include "docker/inside/confine/confine.h"

int cbx_command_confinement(void)
{
    static const struct cbx_place rows[] = {
        { "/usr", CBX_PLACE_READ },
        { "/lib", CBX_PLACE_READ },
        { "/lib64", CBX_PLACE_READ },
        { "/bin", CBX_PLACE_READ },
        { "/etc", CBX_PLACE_READ },
        { "/dev/null", CBX_PLACE_USE },
        { CBX_COMMAND_FOLDER, CBX_PLACE_CHANGE },
    };
    return cbx_confine_new(rows, sizeof(rows) / sizeof(rows[0]));
}
