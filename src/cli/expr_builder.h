/* From trees to lazy arrays: shared by the files that know functions. */
#ifndef CLI_EXPR_BUILDER_H
#define CLI_EXPR_BUILDER_H

#include "expr.h"
#include "expr_value.h"

typedef struct expr_builder {
    cubed_context *ctx;
    const char *text;
    const expr_host *host;
    expr_result *result;
    int nnames; /* of the statement: a, b = ... has 2, an expression 1 */
    cubed_error *err;
} expr_builder;

#define EXPR_TRY(call)                                                                             \
    do {                                                                                           \
        cubed_status status_ = (call);                                                             \
        if (status_ != CUBED_OK) return status_;                                                   \
    } while (0)

/* An error at the place of e. */
cubed_status expr_reject(expr_builder *b, const expr *e, const char *what);
/* Puts the place in front of an error of the library. */
cubed_status expr_located(expr_builder *b, const expr *e, cubed_status status);

/* The value of e; its array is the caller's. */
cubed_status expr_build_value(expr_builder *b, const expr *e, expr_value *out);
/* The same, as an array: literals have their own types. */
cubed_status expr_get_array(expr_builder *b, const expr *e, cubed_array **out);
/* Makes a literal an array, in the type that it has beside `other` (NULL: its own). */
cubed_status expr_operand(expr_builder *b, const expr *e, expr_value *v, const cubed_array *other);
/* The same, where whole numbers beyond that type take part, as in comparisons. */
cubed_status expr_wide_operand(expr_builder *b, const expr *e, expr_value *v,
                               const cubed_array *other);
cubed_status expr_get_int(expr_builder *b, const expr *e, int64_t *out);
/* A whole number, or a list of them. */
cubed_status expr_get_ints(expr_builder *b, const expr *e, int *n, int64_t out[CUBED_MAX_NDIM]);

/* The value of a keyword argument; NULL if it is not there. */
const expr *expr_keyword(const expr *call, const char *name);
/* Only these keywords may come, each once; positional arguments come first, `least` to `most`. */
cubed_status expr_check_args(expr_builder *b, const expr *call, int least, int most,
                             const char *const *names, int *positional);
/* Axes from axis= or dim= or a positional argument; *n is -1 if there is none of them. */
cubed_status expr_get_axes(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int *n, int axes[CUBED_MAX_NDIM]);
/* One axis, positional or by axis= or dim=; `missing` if there is none. */
cubed_status expr_get_axis(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int missing, int *out);
/* An integer or a float: `re` has the value of both. */
cubed_status expr_get_number(expr_builder *b, const expr *e, expr_value *out);
/* The number in a type that has it. */
cubed_status expr_get_scalar(expr_builder *b, const expr *e, const expr_value *v, cubed_dtype dtype,
                             cubed_scalar *out);
/* True or False by name; *out stays as it is if it is not there. */
cubed_status expr_get_bool(expr_builder *b, const expr *call, const char *name, bool *out);
/* dtype="..."; `missing` if it is not there. */
cubed_status expr_get_dtype(expr_builder *b, const expr *call, cubed_dtype missing,
                            cubed_dtype *out);
/* Elements along dimension d were picked or put in another order. */
void expr_note_cut(expr_builder *b, const cubed_array *x, int d);

/* A function with arguments of its own kind (expr_functions.c); NULL if there is none. */
typedef cubed_status (*expr_function)(expr_builder *b, const expr *call, cubed_array **out);
expr_function expr_find_function(const char *name);
/* Those among them that are views, casts and rechunk (expr_views.c). */
expr_function expr_find_view_function(const char *name);
/* Random numbers (expr_random.c). */
expr_function expr_find_random_function(const char *name);
/* Functions on whole blocks (expr_blocks.c). */
expr_function expr_find_block_function(const char *name);
/* Order statistics (expr_order.c). */
expr_function expr_find_order_function(const char *name);
/* Fourier transforms (expr_fft.c). */
expr_function expr_find_fft_function(const char *name);
/* Reductions by group (expr_group.c). */
expr_function expr_find_group_function(const char *name);
/* Linear algebra but for products (expr_linalg.c). */
expr_function expr_find_linalg_function(const char *name);
/* Those that make several arrays: a, b = f(x). */
#define EXPR_MAX_TUPLE  CUBED_MAX_NDIM
#define EXPR_ANY_NUMBER 0 /* `nout` of those that make as many as have names, or fail */
typedef cubed_status (*expr_tuple_function)(expr_builder *b, const expr *call, cubed_array **outs);
expr_tuple_function expr_find_tuple_function(const char *name, int *nout);
/* Functions whose shapes depend on values (expr_sets.c). */
expr_function expr_find_set_function(const char *name);
expr_tuple_function expr_find_set_tuple(const char *name, int *nout);
/* repeat of x with an array of numbers (axis NULL: in one dimension). */
cubed_status expr_repeat_each(expr_builder *b, const expr *e, cubed_array *x, cubed_array *repeats,
                              const int *axis, cubed_array **out);

#endif
