/* Functions that are written in the expression language itself: detrend(x), eca_fd(x), timcor(x, y), ... */
#ifndef CUBED_LANG_EXPR_DEFINED_H
#define CUBED_LANG_EXPR_DEFINED_H

#include "lang/expr_builder.h"
#include "lang/guess.h"

enum { DEFINED_MOST_ARRAYS = 3, DEFINED_MOST_NUMBERS = 3 };

typedef struct expr_definition {
    const char *name, *alias; /* two names of one function; `alias` may be NULL */
    const char *arrays
        [DEFINED_MOST_ARRAYS]; /* names of the arrays, the first arguments; NULL after the last */
    const char *numbers[DEFINED_MOST_NUMBERS]; /* names of the numbers; NULL after the last */
    /* Default values; NAN if each call must state the number. */
    double number[DEFINED_MOST_NUMBERS];
    const char *summary;
    const char *body;      /* statements; see expr_defined_text */
    cubed_attrs_rule rule; /* effect on the attributes of the first array */
    const char *method;    /* method that cell_methods records along time; NULL: no method */
    const char *units,
        *long_name; /* values that replace these attributes; NULL: the attribute is not replaced */
    bool takes_freq;
    bool
        keeps_coords; /* the coordinates are those of the first array, even if the body moves elements */
} expr_definition;

/* Returns the definition of a function, or NULL. */
const expr_definition *expr_defined_find(const char *name);
/* Calls `put` with the names of all definitions. */
void expr_defined_each(void (*put)(void *ctx, const char *name), void *ctx);
/* Returns the number of arrays that a call has. */
int expr_defined_arrays(const expr_definition *d);
/* Returns the number of numbers that a call may have. */
int expr_defined_numbers(const expr_definition *d);
/* Returns whether a function is along one dimension, by default "time". */
bool expr_defined_is_along(const expr_definition *d);
/* Returns the dimension of a call of d. */
const char *expr_defined_dim(const expr *e);
/* Writes the usage of a function: "eca_su(x, threshold=25, freq=None, dim="time")". `name`: that or the alias. */
void expr_defined_usage(const expr_definition *d, const char *name, char *usage, size_t cap);

/* Writes the statements of a call of d. Marks in a body are replaced:
 *
 *   {x}, {y}, {z}        names of the arrays
 *   {p}                  prefix of the call's own names
 *   {d}                  the dimension of the call, in quotes
 *   {0}, {1}, {2}        numbers
 *   {K0}, {K1}, {R0}     a number as a temperature or an amount of precipitation in the units of x, from degrees Celsius or mm per day
 *   {total m}, {most m}, {mean m}
 *                        sum, maximum and mean of {p}m over the dimension, or over the intervals of `freq`, without missing values
 *   {year_min m}, {year_max m}
 *                        minimum and maximum of {p}m in each year, without missing values
 *   {later m}            {p}m if {p}n is true, else the next element of {p}m
 *
 * x       the first array, for its units
 * number  of the call
 * freq    a frequency such as "YS", or NULL
 * *text   freed with lang_free */
CUBED_MUST_CHECK cubed_status expr_defined_text(expr_builder *b, const expr *e,
                                                const expr_definition *d, const json_t *attrs,
                                                const double *number, const char *freq,
                                                char **text);

#endif
