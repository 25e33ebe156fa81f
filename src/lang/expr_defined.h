/* Functions that are written in the expression language itself: detrend(x), eca_fd(x), timcor(x, y), ... */
#ifndef CUBED_LANG_EXPR_DEFINED_H
#define CUBED_LANG_EXPR_DEFINED_H

#include "lang/expr_builder.h"
#include "lang/guess.h"

enum { DEFINED_MOST_ARRAYS = 3, DEFINED_MOST_NUMBERS = 5 };

typedef struct expr_definition {
    const char *name, *alias; /* two names of one function; `alias` may be NULL */
    const char *arrays
        [DEFINED_MOST_ARRAYS]; /* names of the arrays, the first arguments; NULL after the last */
    const char *numbers[DEFINED_MOST_NUMBERS]; /* names of the numbers; NULL after the last */
    /* Default values; NAN if each call must pass the number. */
    double number[DEFINED_MOST_NUMBERS];
    const char *summary;
    const char *body;      /* statements; see expr_defined_text */
    cubed_attrs_rule rule; /* effect on the attributes of array `about` */
    int about;             /* index of the array that gives the attributes */
    const char *method;    /* method that cell_methods records along time; NULL: no method */
    const char *units,
        *long_name; /* values that replace these attributes; NULL: the attribute is not replaced */
    bool takes_freq;
    bool
        keeps_coords; /* the coordinates are those of the first array, even if the body moves elements */
    bool of_grid; /* the function works on the cells of a grid, not along one dimension */
} expr_definition;

/* Axes of a grid: x, y and levels. */
typedef enum defined_axis { DEFINED_X, DEFINED_Y, DEFINED_Z, DEFINED_AXES } defined_axis;

/* Values that replace marks in the body of a definition. */
typedef struct defined_values {
    const json_t *attrs;            /* attributes of the first array, for its units */
    const double *number;           /* numbers of the call */
    const char *freq;               /* a frequency such as "YS"; may be NULL */
    const char *axis[DEFINED_AXES]; /* dimensions of x; NULL if x has no such axis */
    int64_t extent[DEFINED_AXES];   /* lengths of these dimensions */
} defined_values;

/* Returns the definition of a function, or NULL. */
const expr_definition *expr_defined_find(const char *name);
/* Calls `put` with the names of all definitions. */
void expr_defined_each(void (*put)(void *ctx, const char *name), void *ctx);
/* Returns the number of array arguments of a call. */
int expr_defined_arrays(const expr_definition *d);
/* Returns the maximum number of numeric arguments of a call. */
int expr_defined_numbers(const expr_definition *d);
/* Returns true if a function works along one dimension, which is "time" by default. */
bool expr_defined_is_along(const expr_definition *d);
/* Returns the dimension of a call of d. */
const char *expr_defined_dim(const expr *e);
/* Writes the usage of a function to usage[cap], such as "eca_su(x, threshold=25, freq=None, dim="time")". `name` is the
 * function's name or its alias. */
void expr_defined_usage(const expr_definition *d, const char *name, char *usage, size_t cap);

/* Writes the statements of a call of d. Marks in a body are replaced:
 *
 *   {x}, {y}, {z}        names of the arrays
 *   {p}                  prefix of the call's own names
 *   {d}                  the dimension of the call, in quotes
 *   {X}, {Y}, {Z}        the dimensions of the axes of x, in quotes; without quotes {X=}, {Y=}
 *   {0}, {1}, {2}        numbers
 *   {X0}, {Y1}           a number as the number of a cell along an axis, from 1
 *   {N0}                 2, or 1 if {X0} is larger than the next number
 *   {L0}, {H0}           the lower and the higher of a number and the next one
 *   {W0}                 degrees from a number to the next one: from a western to an eastern longitude, at most 360
 *   {K0}, {K1}, {R0}     a number as a temperature or an amount of precipitation in the units of x, from degrees Celsius or
 *                        mm per day
 *   {total m}, {most m}, {mean m}
 *                        sum, maximum and mean of {p}m over the dimension, or over the intervals of `freq`, without missing
 *                        values
 *   {year_min m}, {year_max m}
 *                        minimum and maximum of {p}m in each year, without missing values
 *   {later m}            {p}m if {p}n is true, else the next element of {p}m
 *
 * *text is freed with lang_free. An error if the body has a mark of an axis that x does not have. */
CUBED_MUST_CHECK cubed_status expr_defined_text(expr_builder *b, const expr *e,
                                                const expr_definition *d,
                                                const defined_values *values, char **text);

#endif
