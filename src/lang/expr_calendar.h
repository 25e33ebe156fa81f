/* Groups by the calendar of a coordinate. */
#ifndef CUBED_LANG_EXPR_CALENDAR_H
#define CUBED_LANG_EXPR_CALENDAR_H

#include "lang/expr_builder.h"

/* Builds a call that groups by a calendar (calendar_call.h). *is_one is false for other calls, which are not built. */
cubed_status expr_calendar_build(expr_builder *b, const expr *e, cubed_array **out, bool *is_one);

#endif
