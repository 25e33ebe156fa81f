/* Converts results to the form of the stored arrays that they extend (units of times, packing), and checks that coordinates
 * continue in order. For --append (append.c). */
#ifndef CUBED_CLI_APPEND_VALUES_H
#define CUBED_CLI_APPEND_VALUES_H

#include "cli.h"
#include "cubed/calendar.h"

/* The store that results extend. Borrows all members. */
typedef struct append_place {
    cubed_context *ctx;
    const char *out; /* the store or file */
    const char *dim; /* the dimension that becomes longer */
} append_place;

/* The units of time of an array. */
typedef struct append_times {
    bool is_time;
    cubed_time_axis axis;
} append_times;

/* Finds the units of time of x, an array called `name`. */
CUBED_MUST_CHECK cubed_status append_find_times(const append_place *to, const char *name,
                                                const cubed_array *x, append_times *times,
                                                cubed_error *err);
/* Checks that the elements of coordinate x continue the first `base` elements of the stored coordinate in order. `old` has the
 * units of time of the stored coordinate, `new` those of x. */
CUBED_MUST_CHECK cubed_status append_check_order(const append_place *to, cubed_array *stored,
                                                 int64_t base, const append_times *old,
                                                 cubed_array *x, const append_times *new,
                                                 cubed_error *err);
/* Converts elements of x to the form of the stored array `into`. Times get its units and type. Other elements stay unchanged if
 * both arrays have the same packing; otherwise their values are converted. `of_x` and `of_into` are the units of the arrays. */
CUBED_MUST_CHECK cubed_status append_encode(const append_place *to, const char *name,
                                            cubed_array *x, const append_times *of_x,
                                            cubed_array *into, const append_times *of_into,
                                            cubed_array **out, cubed_error *err);

#endif
