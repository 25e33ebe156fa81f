#include "axis_places.h"

#include <inttypes.h>
#include <stdio.h>

int places_compare(const places *x, int64_t i, const places *y, int64_t k)
{
    if (x->whole && y->whole) return (x->whole[i] > y->whole[k]) - (x->whole[i] < y->whole[k]);
    const double left = x->whole ? (double)x->whole[i] : x->number[i],
                 right = y->whole ? (double)y->whole[k] : y->number[k];
    return (left > right) - (left < right);
}

const char *places_text(const places *p, int64_t i, char text[CUBED_TIME_TEXT_CAP])
{
    if (p->is_time) return cubed_time_text(p->calendar, p->whole[i], text);
    if (p->whole)
        snprintf(text, CUBED_TIME_TEXT_CAP, "%" PRId64, p->whole[i]);
    else
        snprintf(text, CUBED_TIME_TEXT_CAP, "%.10g", p->number[i]);
    return text;
}
