/* The expression language: text such as "mean(u*v, axis=0)" becomes lazy arrays.
 *
 * It is a separate library, libcubed_lang.a, which uses only the public functions of libcubed. `cubed eval` uses the same
 * language; its help lists the functions. Creating arrays reads and computes no elements, with two exceptions. Functions of the
 * host (cubed_expr_host) may do so. Coordinates and labels are read if they determine the shape of a result. */
#ifndef CUBED_LANG_H
#define CUBED_LANG_H

#include "cubed/array.h"
#include "cubed/cf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed expression. Immutable: threads may share it. */
typedef struct cubed_expr cubed_expr;
/* The arrays that an expression creates. */
typedef struct cubed_expr_results cubed_expr_results;

/* Supplies an expression with arrays. */
typedef struct cubed_expr_host {
    /* Sets *out to a new reference to the array named `name`. If there is no such array, leaves NULL in *out, and sets *known
     * to a list of the known names for the error message. Required. */
    cubed_status (*lookup)(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err);
    void *ctx; /* first argument of `lookup` and `coordinate` */
    bool raw;  /* packed arrays are not decoded: the values are the stored elements */
    bool
        named; /* operands that broadcast by position must have the same names of dimensions, else the build fails */
    uint64_t task_mem; /* bytes that a task may use; 0: unknown */
    /* Computes the int64 elements of x, for a function whose result has a shape that depends on values. x has at most one
     * dimension. NULL: such functions are refused.
     *
     * most     upper bound of the last element, except for the length of a repeated axis
     * numbers  receives a new array of the elements
     * last     receives the last element
     *
     * If the expression is only planned and not computed, *numbers may be another reference to x, and *last may be `most`. */
    cubed_status (*count)(void *ctx, cubed_array *x, int64_t most, cubed_array **numbers,
                          int64_t *last, cubed_error *err);
    void *count_ctx; /* first argument of `count` */
    /* Sets *out to a new reference to the decoded coordinate of dimension `name`, or leaves NULL in *out if the dimension has
     * no coordinate. NULL: no dimension has a coordinate. */
    cubed_status (*coordinate)(void *ctx, const char *name, cubed_array **out, cubed_error *err);
    /* Like `coordinate`, for inputs from several stores, whose dimensions of one name may have different coordinates. Sets *out
     * to a new reference to the decoded coordinate of dimension `name` that is stored with the array named `of`. If there is
     * none, uses another coordinate of this name. Leaves NULL in *out if the dimension has no coordinate. NULL: `coordinate` is
     * used. */
    cubed_status (*coordinate_of)(void *ctx, const char *of, const char *name, cubed_array **out,
                                  cubed_error *err);
} cubed_expr_host;

/* One array that an expression creates. */
typedef struct cubed_expr_result {
    /* The name that the statement assigns. A bare expression has the name of the only array that it reads, apart from
     * coordinates and their bounds. If the expression reads no array or several arrays, or if that name is taken, its name is
     * "result", "result2", ... */
    char *name;
    bool is_bare;       /* the statement assigns no name */
    cubed_array *array; /* decoded values, with their attributes */
    cubed_array *
        stored; /* the stored elements, not decoded, with the attributes of their packing; NULL: the values are not packed */
    const cubed_cf_packing *packing; /* packing of `stored`; may be NULL */
} cubed_expr_result;

/* The coordinate of a dimension of a result, if it differs from the input's coordinate. */
typedef struct cubed_expr_coord {
    char *dim;
    bool cut; /* no coordinate describes the dimension after the expression */
    /* number of elements of the whole coordinate; the result has only the elements `part` of it */
    int64_t whole;
    cubed_slice part;
    char *
        key; /* identifies a new coordinate: equal keys mean equal coordinates; NULL: the input's coordinate */
    cubed_array *made;   /* the new coordinate; NULL: the input's coordinate is kept */
    cubed_array *bounds; /* bounds of `made`; may be NULL */
    /* The coordinate is optional: it may be omitted if the array is stored alone. */
    bool aside;
} cubed_expr_coord;

/* Parses statements that are separated by ';' or newlines. The text may be untrusted: its depth and size are limited.
 *
 * out  receives the expression, which cubed_expr_free frees
 *
 * Errors: CUBED_E_ARG; the message shows the text, and marks the position of the error below it. */
CUBED_MUST_CHECK cubed_status cubed_expr_parse(const char *text, cubed_expr **out,
                                               cubed_error *err);
/* Frees a parsed expression. NULL is allowed. */
void cubed_expr_free(cubed_expr *x);
/* Returns the first name that is assigned twice, or NULL if all names differ. Only the last value of such a name would be a
 * result. Names that start with '_' may be assigned several times. Valid until cubed_expr_free. */
const char *cubed_expr_repeated(const cubed_expr *x);

/* Returns the name of result number `i`, from 0, or NULL if there are fewer results. *is_bare receives whether its statement is
 * a bare expression, which assigns no name. A bare expression has the name "result", "result2", ... until its array is created.
 * Valid until cubed_expr_free. */
const char *cubed_expr_name(const cubed_expr *x, int i, bool *is_bare);

/* Creates the arrays of all statements. Results are the values of bare expressions and of names that do not start with '_', in
 * the order of the statements.
 *
 * ctx   context of the arrays that `host` supplies
 * out   receives the results, which cubed_expr_results_free frees; they do not refer to `expr` or `host`
 *
 * Errors: those of the functions that the text calls; the message shows the text, and marks the position of the error below
 * it. */
CUBED_MUST_CHECK cubed_status cubed_expr_build(const cubed_expr *expr, cubed_context *ctx,
                                               const cubed_expr_host *host,
                                               cubed_expr_results **out, cubed_error *err);
/* Frees results, and releases their references to arrays. NULL is allowed. */
void cubed_expr_results_free(cubed_expr_results *results);
/* Returns the number of results. */
int cubed_expr_results_count(const cubed_expr_results *results);
/* Returns result number `i`, from 0 to the number of results - 1. Valid until cubed_expr_results_free. */
const cubed_expr_result *cubed_expr_results_at(const cubed_expr_results *results, int i);

/* Returns the coordinate of dimension `dim` of a result from cubed_expr_results_at, or NULL if the input's coordinate
 * describes the dimension. Valid until cubed_expr_results_free. */
const cubed_expr_coord *cubed_expr_result_coord(const cubed_expr_result *result, const char *dim);
/* Returns whether two coordinates select the same elements along a dimension. NULL stands for the whole coordinate of the
 * input. False if no coordinate describes the dimension after an expression. */
bool cubed_expr_coord_equal(const cubed_expr_coord *a, const cubed_expr_coord *b);

#ifdef __cplusplus
}
#endif

#endif
