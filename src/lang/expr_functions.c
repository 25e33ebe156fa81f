/* Tables of functions that are not in the catalogue. */
#include <string.h>

#include "lang/expr_builder.h"

const expr_function *const *expr_function_tables(void)
{
    static const expr_function *const tables[] = {
        expr_attribute_functions, expr_block_functions,  expr_group_functions,
        expr_calendar_functions,  expr_select_functions, expr_climatology_functions,
        expr_remap_functions,     expr_field_functions,  NULL};
    return tables;
}

const expr_function *expr_find_function(const char *name)
{
    for (const expr_function *const *t = expr_function_tables(); *t; t++) {
        for (const expr_function *f = *t; f->name; f++) {
            if (strcmp(f->name, name) == 0) return f;
        }
    }
    return NULL;
}
