/* The elements of a coordinate in memory, to compare them and to show them in messages. */
#ifndef CUBED_CLI_AXIS_PLACES_H
#define CUBED_CLI_AXIS_PLACES_H

#include "cubed/calendar.h"

/* Elements of a coordinate: times in microseconds, or other numbers. */
typedef struct places {
    int64_t n;
    double *number; /* elements of a coordinate of a floating-point type, otherwise NULL */
    int64_t *whole; /* elements of a coordinate of another type, otherwise NULL */
    /* `whole` has times, in microseconds after the origin of the coordinate's calendar. */
    bool is_time;
    cubed_calendar calendar;
} places;

/* Returns -1, 0 or 1 if element i of x is less than, equal to or greater than element k of y. */
int places_compare(const places *x, int64_t i, const places *y, int64_t k);
/* Writes element i to `text` as a date or a number. Returns `text`. */
const char *places_text(const places *p, int64_t i, char text[CUBED_TIME_TEXT_CAP]);

#endif
