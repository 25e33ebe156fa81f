/* From trees to lazy arrays: shared by the files that know functions. */
#ifndef CUBED_LANG_EXPR_BUILDER_H
#define CUBED_LANG_EXPR_BUILDER_H

#include "lang/expr.h"
#include "lang/expr_value.h"

typedef struct expr_builder expr_builder;

/* Axes that a function of fields has reduced. */
typedef struct expr_reduced {
    uint32_t axes;    /* 0: the node is no such function */
    bool is_area;     /* the axes are an area, by CF's word for horizontal ones */
    const char *said; /* where weights are from; NULL: they were given, or there are none */
} expr_reduced;

struct expr_builder {
    /* Builds the value of a part; functions call it through expr_build_value. */
    cubed_status (*build)(expr_builder *b, const expr *e, expr_value *out);
    cubed_context *ctx;
    const char *text;
    const cubed_expr_host *host;
    expr_result *result;
    cubed_error *err;
    /* Of the tree's nodes, by their numbers. */
    int nbuilt;
    struct {
        cubed_array *array; /* decoded values; NULL where there is none (yet) */
        cubed_array
            *stored; /* their stored elements, which were only moved; NULL without a packing */
        const cubed_cf_packing
            *packing; /* of `stored`; while a node is built: of what it becomes */
        expr_reduced reduced;
    } * built;
    bool
        no_memory; /* the machine had none for a string or a note: the expression fails with CUBED_E_NOMEM */
    expr_source source; /* inputs that the current statement has read so far */
    /* Coordinates that calls changed or made; `number` is the call's. */
    int nnoted;
    struct {
        int number;
        cubed_expr_coord coord;
    } * noted;
};

#define EXPR_TRY(call)                                                                             \
    do {                                                                                           \
        cubed_status status_ = (call);                                                             \
        if (status_ != CUBED_OK) return status_;                                                   \
    } while (0)

/* Zeroed memory for n elements of `size` bytes, freed with lang_free: *out is a pointer to them. */
cubed_status expr_alloc(expr_builder *b, const expr *e, int64_t n, size_t size, void *out);
/* A string, freed with expr_text_free. Without memory it is "", and b->no_memory is set: coordinates need not check. */
char *expr_text(expr_builder *b, const char *fmt, ...) CUBED_PRINTF(2, 3);
void expr_text_free(char *text);
/* An error at the place of e. */
cubed_status expr_reject(expr_builder *b, const expr *e, const char *what);
/* Puts the place in front of an error of the library. */
cubed_status expr_located(expr_builder *b, const expr *e, cubed_status status);

/* Checks, if the host wants it, that dimensions of operands that meet have the same names. */
cubed_status expr_check_dims(expr_builder *b, const expr *e, cubed_array *const *x, int n);
/* The value of e; its array is the caller's. */
cubed_status expr_build_value(expr_builder *b, const expr *e, expr_value *out);
/* The same, as an array: literals have their own types. */
cubed_status expr_get_array(expr_builder *b, const expr *e, cubed_array **out);
/* Replaces *x, the values of `child`, by its stored elements if it has some: `e` is these, too. */
void expr_take_stored(expr_builder *b, const expr *e, const expr *child, cubed_array **x);
/* The array of `child` for `e`, a function that moves elements without changing them: the stored elements if the child is
 * packed; then what `e` makes is taken for stored elements, too. */
cubed_status expr_get_moved(expr_builder *b, const expr *e, const expr *child, cubed_array **out);
/* The same for all elements of a list that `e` puts together: stored elements if all are packed in the same way, else
 * values. Arrays that were made are the caller's, also after an error: the others are NULL. */
cubed_status expr_get_moved_list(expr_builder *b, const expr *e, const expr *list,
                                 cubed_array **arrays);
/* The packing of what a node became, NULL if its values are not unchanged stored ones. */
const cubed_cf_packing *expr_packing_of(const expr_builder *b, const expr *e);
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
/* A number or text, a list of them, or an array; numbers in the type that they have beside `like` (NULL: their own). */
cubed_status expr_get_elements(expr_builder *b, const expr *e, const cubed_array *like,
                               cubed_array **out);
/* A text in quotes, or a list of them (expr_text.c). */
bool expr_is_texts(const expr *e);
/* An array of it, or of them, in the family of `like`, an array of texts (another, or NULL, is an error). */
cubed_status expr_get_texts(expr_builder *b, const expr *e, const cubed_array *like,
                            cubed_array **out);
/* Writes the text as elements of the family of `like` have it, and returns its bytes. `to` NULL: counts them only. */
size_t expr_encode_text(const char *text, cubed_dtype like, char *to);
/* True or False by name; *out stays as it is if it is not there. */
cubed_status expr_get_bool(expr_builder *b, const expr *call, const char *name, bool *out);
/* Computes all elements of a small array now. */
cubed_status expr_compute(expr_builder *b, cubed_array *x, void *to);
/* An array of memory of lang_alloc's, which it takes over, also where it fails. */
cubed_status expr_own_array(expr_builder *b, const expr *e, cubed_dtype dtype, int ndim,
                            const int64_t *shape, void *data, cubed_array **out);
/* The same, with names of dimensions and attributes. */
cubed_status expr_own_described(expr_builder *b, const expr *e, cubed_dtype dtype, int ndim,
                                const int64_t *shape, const char *const *names, json_t *attrs,
                                void *data, cubed_array **out);
/* Effects of a call on the coordinate of dimension d (expr_coordinates.c); x is the array that `of` is. No coordinate
 * describes the elements of the call. */
void expr_note_cut(expr_builder *b, const expr *call, const cubed_array *x, int d);
/* The call has the elements `s` of x along d. */
void expr_note_part(expr_builder *b, const expr *call, const expr *of, const cubed_array *x, int d,
                    cubed_slice s);
/* The call joins the arrays that `of` are along d. */
void expr_note_joined(expr_builder *b, const expr *call, const expr *const *of,
                      cubed_array *const *x, int n, int d);
/* Each element of the call describes `before` elements of x ahead of it, and `after` behind it: its bounds are theirs. */
void expr_note_window(expr_builder *b, const expr *call, const expr *of, const cubed_array *x,
                      int d, int64_t before, int64_t after);

/* The first axis of *x, of the quantiles q[0..n) of `of`, gets the name that Xarray gives it, and a coordinate: "quantile", or
 * with a number if others have that name, such as `beside` (may be NULL). *x stays one to unref after an error. */
cubed_status expr_name_quantiles(expr_builder *b, const expr *e, const double *q, int n,
                                 const cubed_array *of, const char *beside, cubed_array **x);

/* Groups, and defaults of their reduction. */
typedef struct expr_grouping {
    cubed_array *codes; /* of the axes, in their order: -1 is no group */
    int naxes, axes[CUBED_MAX_NDIM];
    int64_t ngroups;
    const char *name; /* of the axis of groups, which replaces the first of these; NULL: none */
    const char *reduction;    /* "mean", "nanmedian" */
    const expr *reduction_at; /* for errors */
    bool skip_nan;            /* if neither the name nor skipna= says so */
    double correction;        /* if neither ddof= nor correction= does */
    int64_t min_count;        /* if min_count= does not say so */
    const char *method;       /* of quantiles, if method= does not say so; NULL: the catalogue's */
    const expr *q;            /* positional; NULL: there is none */
} expr_grouping;

/* Keywords of all calls that group. */
#define EXPR_GROUP_KEYWORDS                                                                        \
    "skipna", "ddof", "correction", "min_count", "q", "method", "fill_value", "fill_absent", "dtype"
cubed_status expr_reduce_groups(expr_builder *b, const expr *e, const expr_grouping *g,
                                cubed_array *x, cubed_array **out);
/* mean(x, groupby=labels), if the call is one: *is_one. */
cubed_status expr_group_build(expr_builder *b, const expr *e, cubed_array **out, bool *is_one);

/* A function with arguments of its own kind; NULL if there is none of that name (expr_functions.c). */
typedef struct expr_function {
    const char *name;
    cubed_status (*fn)(expr_builder *b, const expr *call, cubed_array **out);
} expr_function;
const expr_function *expr_find_function(const char *name);
/* All tables of functions; NULL ends them. */
const expr_function *const *expr_function_tables(void);
/* The tables, which end with a row without a name: attributes, assignment, reductions by group, calendars, and selections by
 * labels. */
extern const expr_function expr_attribute_functions[], expr_block_functions[],
    expr_group_functions[], expr_calendar_functions[], expr_select_functions[];
/* Calls a function of the catalogue (expr_catalogue.c). *results is freed with cubed_results_free. */
cubed_status expr_call_function(expr_builder *b, const expr *e, const cubed_function *f,
                                cubed_results *results);
/* An argument that the caller makes. Without a value it is what `at` is. */
typedef struct expr_given {
    const char *name;
    cubed_value value; /* borrowed */
    const expr *at;    /* for errors; may be NULL */
} expr_given;
/* Calls a function that makes one array with n given arguments, the array whose axes have names first, and with those keywords
 * of `e` that are its parameters and not given. */
cubed_status expr_call_given(expr_builder *b, const expr *e, const cubed_function *f,
                             const expr_given *given, int n, cubed_array **out);
/* Most names of a statement: a, b = f(x). */
#define EXPR_MAX_TUPLE CUBED_MAX_NDIM
/* The numbers of an array, computed now: as an array of them, and the last one, which is at most `most`. Takes over the reference
 * of x, of one dimension or none. */
cubed_status expr_count_now(expr_builder *b, const expr *e, cubed_array *x, int64_t most,
                            cubed_array **numbers, int64_t *last);

#endif
