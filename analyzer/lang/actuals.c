/* SPDX-License-Identifier: MIT
 * Arguments of calls. */
#include "analyzer/lang/actuals.h"

void cbx_actuals_add(struct cbx_actuals *actuals, struct cbx_str keyword, struct cbx_node *node,
                     struct cbx_scope *scope, const struct cbx_values *values)
{
    if (actuals->count < CBX_ACTUALS_MAX) {
        actuals->items[actuals->count++] = (struct cbx_actual){
            .keyword = keyword, .node = node, .scope = scope, .values = values
        };
    } else {
        actuals->spread = true;
    }
}

struct cbx_actual *cbx_actual_find(struct cbx_actuals *actuals, uint32_t position,
                                   const char *keyword)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < actuals->count; i++) {
        struct cbx_actual *actual = &actuals->items[i];
        if (actual->keyword.len > 0 ? keyword != NULL && cbx_str_is(actual->keyword, keyword)
                                    : at++ == position) {
            return actual;
        }
    }
    return NULL;
}

const struct cbx_values *cbx_actual_values(struct cbx_walk *walk, struct cbx_actuals *actuals,
                                           uint32_t position, const char *keyword)
{
    struct cbx_actual *actual = cbx_actual_find(actuals, position, keyword);
    if (actual == NULL) {
        return &cbx_values_unknown;
    }
    if (actual->values == NULL) {
        actual->values = walk->eval(walk, actual->node, actual->scope);
    }
    return actual->values;
}

void cbx_actuals_shift(const struct cbx_actuals *from, uint32_t drop,
                       const struct cbx_values *first, struct cbx_actuals *out)
{
    out->count = 0;
    out->spread = from->spread;
    if (first != NULL) {
        cbx_actuals_add(out, (struct cbx_str){ 0 }, NULL, NULL, first);
    }
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->items[i].keyword.len == 0 && drop > 0) {
            drop--;
        } else if (out->count < CBX_ACTUALS_MAX) {
            out->items[out->count++] = from->items[i];
        } else {
            out->spread = true;
        }
    }
}
