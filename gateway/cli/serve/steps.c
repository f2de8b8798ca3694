/* SPDX-License-Identifier: MIT
 * The steps before a start. */
#include "gateway/cli/serve/steps.h"

#include <string.h>

/* Returns the place where the option was given, or NULL. */
static const struct cbx_option_origin *find_origin(const char *key,
                                                   const struct cbx_options *options, size_t *row)
{
    struct cbx_option_table table = cbx_cli_options_table('\0');
    for (size_t i = 0; i < table.count; i++) {
        if (strcmp(table.rows[i].name, key) == 0 && cbx_settings_has(&table.rows[i])) {
            *row = i;
            return &options->origins[i];
        }
    }
    return NULL;
}

int cbx_step_place(const char *key, const struct cbx_options *options, struct cbx_err *err)
{
    char variable[CBX_OPTION_LABEL_BYTES];
    size_t row = 0;
    if (options == NULL) {
        return err->code;
    }
    if (key == NULL) {
        if (err->line > 0 && options->settings_path != NULL) {
            cbx_wrap(err, "%s:%u:%u", options->settings_path, err->line, err->column);
            err->line = err->column = 0;
        }
        return err->code;
    }
    const struct cbx_option_origin *origin = find_origin(key, options, &row);
    if (origin != NULL && origin->source == CBX_OPTION_OF_FILE) {
        return cbx_wrap(err, "%s:%u:%u: key '%s'", options->settings_path, origin->line,
                        origin->column, key);
    }
    if (origin != NULL && origin->source == CBX_OPTION_OF_ENVIRONMENT) {
        struct cbx_option_table table = cbx_cli_options_table('\0');
        cbx_option_variable(&table, &table.rows[row], variable, sizeof(variable));
        return cbx_wrap(err, "%s", variable);
    }
    return err->code;
}

int cbx_steps_run(const struct cbx_step *steps, size_t count, void *context,
                  const struct cbx_options *options, struct cbx_problems *problems,
                  struct cbx_err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct cbx_err own = { 0 };
        int failed = steps[i].run(context, &own);
        if (!failed) {
            continue;
        }
        cbx_step_place(steps[i].key, options, &own);
        if (problems == NULL) {
            *err = own;
            return failed;
        }
        cbx_problems_add(problems, &own);
    }
    return 0;
}
