/* SPDX-License-Identifier: MIT
 * The table of the report formats. */
#include "analyzer/report/report.h"

static const struct cbx_report_format *const formats[] = { &cbx_report_as_text, &cbx_report_as_json,
                                                           &cbx_report_as_sarif,
                                                           &cbx_report_as_github };

const struct cbx_report_format *cbx_report_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}
