/* SPDX-License-Identifier: MIT
 * What a compiler may read. A source can name any file in an include, in assembler text, or by the
 * name of a precompiled header, and the compiler follows links. So Linux refuses all files but those
 * of the image and of the folder of the run. */
#include "docker/command/command.h"

#include "docker/inside/confine.h"

int cbx_command_confinement(void)
{
    static const struct cbx_confine_row rows[] = {
        { "/usr", CBX_CONFINE_READ },
        { "/lib", CBX_CONFINE_READ },
        { "/lib64", CBX_CONFINE_READ },
        { "/bin", CBX_CONFINE_READ },
        { "/etc", CBX_CONFINE_READ },
        { "/dev/null", CBX_CONFINE_USE },
        { CBX_COMMAND_FOLDER, CBX_CONFINE_CHANGE },
    };
    return cbx_confine_new(rows, sizeof(rows) / sizeof(rows[0]));
}
