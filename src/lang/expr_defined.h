/* Functions that are written in the expression language itself: detrend(x), eca_fd(x), timcor(x, y), ... */
#ifndef CUBED_LANG_EXPR_DEFINED_H
#define CUBED_LANG_EXPR_DEFINED_H

#include "lang/expr_builder.h"
#include "lang/guess.h"

enum { DEFINED_MOST_ARRAYS = 2, DEFINED_MOST_NUMBERS = 2 };

typedef struct expr_definition {
    const char *name, *alias; /* two names of one function; `alias` may be NULL */
    int narrays;              /* positional arguments before the numbers */
    int nnumbers;
    double number[DEFINED_MOST_NUMBERS]; /* defaults */
    const char *body;                    /* statements; see expr_defined_text */
    cubed_attrs_rule rule;               /* effect on the attributes of the first array */
    const char *method; /* method that cell_methods records along time; NULL: no method */
    const char *units, *long_name; /* replace attributes unless NULL */
    bool takes_freq;
} expr_definition;

/* Returns the definition of a function, or NULL. */
const expr_definition *expr_defined_find(const char *name);
/* Adds the names of all definitions to the candidates. */
void expr_defined_guess(lang_guess *g);

/* Writes the statements of a call of d. Marks in a body are replaced:
 *
 *   {x}, {y}             names of the arrays
 *   {p}                  prefix of the call's own names
 *   {0}, {1}             numbers
 *   {K0}, {R0}           a number as a temperature or an amount of precipitation in the units of x, from degrees Celsius or mm per day
 *   {total m}, {most m}, {mean m}
 *                        sum, maximum and mean of {p}m over time, or over the intervals of `freq`, without missing values
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
