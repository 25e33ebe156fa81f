/* Finds and calls functions of the catalogue. */
#include "cubed/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "call.h"
#include "check.h"
#include "context/context.h"

static const cb_rows *const categories[] = {
    &cb_elementwise_rows,  &cb_reduction_rows,  &cb_fft_rows,         &cb_linalg_rows,
    &cb_stats_rows,        &cb_searching_rows,  &cb_statistical_rows, &cb_numeric_rows,
    &cb_manipulation_rows, &cb_creation_rows,   &cb_indexing_rows,    &cb_random_rows,
    &cb_groups_rows,       &cb_math_rows,       &cb_pieces_rows,      &cb_grid_rows,
    &cb_sets_rows,         &cb_ndimage_rows,    &cb_products_rows,    &cb_bits_rows,
    &cb_field_rows,        &cb_morphology_rows, &cb_remap_rows,       &cb_interpolation_rows,
    &cb_measurement_rows};

/* --- Look-up ------------------------------------------------------------------------------------------ */

/* The address of a row: its category (counted from 1; 0 marks an empty slot) and its index in the category. */
typedef struct name_place {
    uint8_t category;
    uint16_t row;
} name_place;

/* Hash table with open addressing: a name is in the slot of its hash, or in a later slot before the first empty one. */
#define NAME_SLOTS 1024
static const name_place name_places[NAME_SLOTS] = {
#include "names.def"
};

/* FNV-1a, 32 bits */
static uint32_t hash_name(const char *name)
{
    uint32_t hash = 2166136261U;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash;
}

const cubed_function *cubed_function_find(const char *name)
{
    for (uint32_t slot = hash_name(name), i = 0; i < NAME_SLOTS; i++) {
        const name_place place = name_places[(slot + i) % NAME_SLOTS];
        if (place.category == 0) return NULL;
        const cubed_function *f = &categories[place.category - 1]->rows[place.row].function;
        if (strcmp(f->name, name) == 0) return f;
    }
    return NULL;
}

/* Does not look up names, because tools/generate writes the table of names in this order. */
const cubed_function *cubed_function_next(const cubed_function *previous)
{
    bool is_next = !previous;
    for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
        for (int r = 0; r < categories[c]->n; r++) {
            const cubed_function *f = &categories[c]->rows[r].function;
            if (is_next) return f;
            is_next = f == previous;
        }
    }
    return NULL;
}

const cubed_param *cubed_function_param(const cubed_function *function, int position)
{
    return position >= 0 && position < function->nparams ? &function->params[position] : NULL;
}

/* --- Calls -------------------------------------------------------------------------------------------- */

/* Creates a list of the results: the elements of `made` before the first NULL. */
static cubed_status take_results(cubed_context *ctx, cubed_array *const *made,
                                 cubed_results *results, cubed_error *err)
{
    int n = 0;
    while (n < CUBED_MAX_RESULTS && made[n]) n++;
    results->arrays = cb_alloc(&ctx->alloc, (size_t)n * sizeof(cubed_array *));
    if (!results->arrays) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %d results", n);
    memcpy(results->arrays, made, (size_t)n * sizeof(cubed_array *));
    results->n = n;
    return CUBED_OK;
}

/* Names the called function in an error. The body of a function calls other functions, whose errors contain their own names:
 * nanargmax fails with "argmax: axis 5 ...". If the message begins with the name of a function of the catalogue, replaces the
 * name. */
static void name_called(const cubed_function *f, cubed_error *err)
{
    char name[64], rest[sizeof err->message];
    const size_t n = strcspn(err->message, ": ");
    const bool is_name = n > 0 && n < sizeof name &&
                         (strncmp(err->message + n, ": ", 2) == 0 ||
                          strncmp(err->message + n, " is not defined", 15) == 0 ||
                          strncmp(err->message + n, " of no elements", 15) == 0);
    if (!is_name) return;
    memcpy(name, err->message, n);
    name[n] = '\0';
    if (strcmp(name, f->name) == 0 || !cubed_function_find(name)) return;
    memcpy(rest, err->message + n, sizeof err->message - n);
    rest[sizeof rest - 1] = '\0';
    snprintf(err->message, sizeof err->message, "%s%.*s", f->name,
             (int)(sizeof err->message - 1 - strlen(f->name)), rest);
}

/* Returns the parameter that a message names after the function, as in "linspace: num is -1"; -1 if there is none. */
static int named_parameter(const cubed_function *f, const char *message)
{
    const size_t n = strlen(f->name);
    if (strncmp(message, f->name, n) != 0 || strncmp(message + n, ": ", 2) != 0) return -1;
    const char *word = message + n + 2;
    const size_t length = strcspn(word, " :");
    for (int i = 0; i < f->nparams; i++) {
        if (strncmp(f->params[i].name, word, length) == 0 && !f->params[i].name[length]) return i;
    }
    return -1;
}

/* Completes an error of a function's body. The body identifies a parameter by its number; the caller needs the number of the
 * argument. */
static void explain(const cubed_function *f, const cb_bound *bound, cubed_error *err)
{
    if (!err) return;
    if (err->argument < 0) err->argument = bound->numbers[-err->argument - 1];
    name_called(f, err);
    const int named = err->argument == 0 ? named_parameter(f, err->message) : -1;
    if (named >= 0) err->argument = bound->numbers[named];
}

static bool is_listed(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0) list++;
    return *list != NULL;
}

/* Returns true if a function accepts records. The functions that move elements do. So do elementwise functions, which check types
 * themselves. */
static bool takes_records(const cubed_function *f)
{
    static const char *const moving[] = {"creation",     "elementwise", "indexing",
                                         "manipulation", "pieces",      NULL};
    static const char *const more[] = {"choose", "compress", "extract", "select", NULL};
    static const char *const less[] = {"diff", "ediff1d", "forward_fill", NULL};
    return is_listed(f->name, more) ||
           (is_listed(f->category, moving) && !is_listed(f->name, less));
}

static cubed_status check_records(const cubed_function *f, const cb_bound *bound, cubed_error *err)
{
    if (takes_records(f)) return CUBED_OK;
    for (int i = 0; i < f->nparams; i++) {
        const cubed_value *v = &bound->values[i];
        const int n = v->kind == CUBED_VALUE_ARRAY ? 1 : v->kind == CUBED_VALUE_ARRAYS ? v->n : 0;
        for (int k = 0; k < n; k++) {
            const cubed_array *x = v->kind == CUBED_VALUE_ARRAY ? v->as.array : v->as.arrays[k];
            if (x && cubed_dtype_family(cubed_array_dtype(x)) == CUBED_RECORD)
                return cb_fail(err, CUBED_E_TYPE,
                               "%s is not defined for records; choose a field, such as field(x, "
                               "\"name\")",
                               f->name);
        }
    }
    return CUBED_OK;
}

cubed_status cubed_call(cubed_context *ctx, const cubed_function *function,
                        const cubed_argument *arguments, int n, cubed_results *results,
                        cubed_error *err)
{
    const cb_row *row = (const cb_row *)function;
    cb_bound bound = {.items = NULL};
    cubed_array *made[CUBED_MAX_RESULTS] = {NULL};
    *results = (cubed_results){0, NULL};
    cubed_status st = cb_bind(ctx, function, arguments, n, &bound, err);
    if (st == CUBED_OK) st = check_records(function, &bound, err);
    if (st != CUBED_OK) goto out;
    const cb_call call = {ctx, function, row->which, bound.values, made, results, err};
    st = row->call(&call);
    if (st == CUBED_OK && !function->any_results) st = take_results(ctx, made, results, err);
    if (st != CUBED_OK) {
        explain(function, &bound, err);
        for (int i = 0; i < CUBED_MAX_RESULTS; i++) cubed_array_unref(made[i]);
        cubed_results_free(ctx, results);
    }
out:
    cb_bound_free(ctx, &bound);
    return st;
}

cubed_status cubed_call_offsets(cubed_context *ctx, const cubed_function *function,
                                const cubed_argument *arguments, int n, cubed_array **out,
                                int64_t *most, cubed_error *err)
{
    const cb_row *row = (const cb_row *)function;
    cb_bound bound = {.items = NULL};
    cubed_array *made[CUBED_MAX_RESULTS] = {NULL};
    int64_t bound_of_count = 0;
    if (!function->counts)
        return cb_fail(
            err, CUBED_E_ARG,
            "%s: the extents of the result do not depend on values, so there is nothing to count",
            function->name);
    cubed_status st = cb_bind(ctx, function, arguments, n, &bound, err);
    if (st == CUBED_OK) st = check_records(function, &bound, err);
    if (st == CUBED_OK) {
        const cb_call call = {ctx, function, row->which, bound.values, made, NULL, err};
        st = row->count(&call, &bound_of_count);
        if (st == CUBED_OK)
            *out = made[0];
        else
            explain(function, &bound, err);
    }
    if (st == CUBED_OK && most) *most = bound_of_count;
    cb_bound_free(ctx, &bound);
    return st;
}

void cubed_results_free(cubed_context *ctx, cubed_results *results)
{
    for (int i = 0; i < results->n; i++) cubed_array_unref(results->arrays[i]);
    cb_free(&ctx->alloc, results->arrays, (size_t)results->n * sizeof *results->arrays);
    *results = (cubed_results){0, NULL};
}
