/* The expression language of `cubed eval`: text to a tree (expr_parse.c), a tree to arrays
 * (expr_build.c). */
#ifndef CUBED_LANG_EXPR_H
#define CUBED_LANG_EXPR_H

#include <jansson.h>

#include "cubed/cubed.h"

typedef enum expr_kind {
    EXPR_INT, /* number.re holds it, too; integer */
    EXPR_FLOAT,
    EXPR_COMPLEX, /* imaginary literal: number.im */
    EXPR_BOOL,
    EXPR_NONE,
    EXPR_STRING,
    EXPR_NAME,
    EXPR_UNARY,   /* op: '-', '+', '~' */
    EXPR_BINARY,  /* op: + - * / p(**) & | < l(<=) > g(>=) e(==) n(!=) */
    EXPR_CALL,    /* name(children...); keyword children are EXPR_KEYWORD */
    EXPR_KEYWORD, /* name=child */
    EXPR_TUPLE,   /* also lists; op: '(' or '[' */
    EXPR_INDEX,   /* child 0 [children 1...] */
    EXPR_SLICE,   /* three children, EXPR_NONE where left out */
    EXPR_ELLIPSIS,
    EXPR_ASSIGN /* name, children... = last child */
} expr_kind;

typedef struct expr {
    expr_kind kind;
    int at;     /* offset in the text */
    int number; /* its own, from 1 */
    char op;
    char *text; /* NAME, STRING, CALL, KEYWORD, ASSIGN */
    int64_t integer;
    double re, im;
    int height; /* longest way down to a leaf */
    int n;
    struct expr **child;
} expr;

/* Parses statements separated by ';' or newlines into a list. On failure the message shows the text
 * and the place. The tree is freed with expr_free. Untrusted text is fine: depth and size are
 * bounded. */
CUBED_MUST_CHECK cubed_status expr_parse(const char *text, expr ***out, int *n, cubed_error *err);
void expr_free(expr **list, int n);

/* The coordinate of a dimension, where it is not the input's as it is. */
typedef struct expr_coord {
    char *dim;
    bool cut;      /* none describes the dimension */
    int64_t whole; /* elements of the coordinate, of which `part` is left */
    cubed_slice part;
    char *
        key; /* what was made, in place of the input's: equal ones are the same; NULL: the input's */
    cubed_array *made, *bounds; /* bounds may be NULL */
    bool aside;                 /* an array that stands alone does so without it */
} expr_coord;

/* What an array says of itself beside its values. Owned. */
typedef struct expr_about {
    json_t *attrs; /* NULL: nothing */
    bool
        missing; /* it was computed of packed values, of which some may be missing: NaN marks them */
    int ncoords;
    expr_coord *coords; /* of other dimensions the input's coordinates hold */
} expr_about;

/* NULL: the input's. */
expr_coord *expr_find_coord(const expr_about *about, const char *dim);
/* Whether two arrays have the same elements along a dimension; NULLs are the input's. */
bool expr_same_coord(const expr_coord *a, const expr_coord *b);

/* A name and its array. */
typedef struct expr_var {
    char *name;
    cubed_array *array; /* decoded values, with their attributes */
    /* Unchanged stored elements, with the attributes of their packing; NULL: the values are not packed ones. */
    cubed_array *stored;
    const cubed_cf_packing *packing; /* of `stored` */
    bool is_result;
    expr_about about;
} expr_var;

typedef struct expr_result {
    int n;
    expr_var *vars; /* in the order of their statements */
    int npackings;
    cubed_cf_packing **packings; /* of inputs */
} expr_result;

void expr_result_free(expr_result *r);

/* Finds an array that the text names and no statement has made: sets *out to a new reference, or
 * leaves it NULL with *known a list of names for the message (if `known` is not NULL). */
typedef cubed_status (*expr_lookup_fn)(void *ctx, const char *name, cubed_array **out,
                                       const char **known, cubed_error *err);

/* What surrounds an expression. */
typedef struct expr_host {
    expr_lookup_fn lookup; /* of arrays as they are stored */
    void *ctx;             /* of its functions */
    bool raw;              /* stored elements are the values */
    uint64_t task_mem;     /* what a task may use; 0: not known */
    /* Computes the int64 elements of x, of one dimension or none, now. *numbers: an array of them; *last: the last one, which
     * is at most `most`. An expression that is only planned has x itself as the numbers. NULL: nothing is computed here. */
    cubed_status (*count)(void *ctx, cubed_array *x, int64_t most, cubed_array **numbers,
                          int64_t *last, cubed_error *err);
    void *count_ctx;
    /* The coordinate of that name, of the inputs, decoded: a new reference, or NULL in *out. NULL: there are none. */
    cubed_status (*coordinate)(void *ctx, const char *name, cubed_array **out, cubed_error *err);
} expr_host;

/* The name of two results, of which the last would count; NULL if there is none. The caller's. */
char *expr_named_twice(expr *const *statements, int n);
/* Builds arrays for all statements. Results are the assigned names that do not start with '_', and
 * bare expressions (named "result", "result2", ...), each once. *out is freed with expr_result_free; it is empty
 * after a failure. */
CUBED_MUST_CHECK cubed_status expr_build(cubed_context *ctx, const char *text,
                                         expr *const *statements, int n, const expr_host *host,
                                         expr_result *out, cubed_error *err);

/* "at column 3: message\n  u*w\n    ^"; always returns `status`. */
cubed_status expr_fail(cubed_error *err, cubed_status status, const char *text, int at,
                       const char *fmt, ...) CUBED_PRINTF(5, 6);

#endif
