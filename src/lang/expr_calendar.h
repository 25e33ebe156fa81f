/* Calls that group by the calendar of a coordinate: groupby="time.month", resample="1D", monmean(x), ... */
#ifndef CUBED_LANG_EXPR_CALENDAR_H
#define CUBED_LANG_EXPR_CALENDAR_H

#include "lang/expr_builder.h"
#include "lang/guess.h"

/* Builds the call if it is one of these: *is_one. */
cubed_status expr_calendar_build(expr_builder *b, const expr *e, cubed_array **out, bool *is_one);
/* The reduction of such a call ("mean"), and the axis of x that it is along, or -1; NULL if it is none. */
const char *expr_calendar_reduction(const expr *e, const cubed_array *x, int *axis);
/* Parts of dates are candidates. */
void expr_calendar_guess(lang_guess *g);
/* So are names of functions: "monmean". */
void expr_calendar_guess_functions(lang_guess *g);

#endif
