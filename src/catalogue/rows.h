/* Macros for rows of the catalogue, which describe functions and their parameters. Example:
 *
 *     static const cubed_param x_params[] = {PARAM_ARRAY("x", "..."), PARAM_BOOL("upper", 0, false, "...")};
 *
 * FLAGS are bits of cubed_param.flags, such as CUBED_PARAM_KEYWORD_ONLY. A parameter with a default is optional. */
#ifndef CB_CATALOGUE_ROWS_H
#define CB_CATALOGUE_ROWS_H

#include <math.h>

#include "call.h"

#define ACCEPTS(KIND) (1U << CUBED_VALUE_##KIND)
#define NUMBERS       (ACCEPTS(BOOL) | ACCEPTS(INT) | ACCEPTS(FLOAT) | ACCEPTS(COMPLEX))
#define NAMED         CUBED_PARAM_KEYWORD_ONLY

/* A parameter of any kind, with a range for numbers. Further members may follow the macro. */
#define PARAM_IN(NAME, ACCEPTED, FLAGS, LEAST, MOST, NOTES)                                        \
    .name = (NAME), .accepts = (ACCEPTED), .flags = (FLAGS), .least = (LEAST), .most = (MOST),     \
    .notes = (NOTES)
#define PARAM(NAME, ACCEPTED, FLAGS, NOTES)                                                        \
    PARAM_IN(NAME, ACCEPTED, FLAGS, -INFINITY, INFINITY, NOTES)
#define BOOL_DEFAULT(V)   .fallback = {.kind = CUBED_VALUE_BOOL, .as.boolean = (V)}
#define INT_DEFAULT(V)    .fallback = {.kind = CUBED_VALUE_INT, .as.integer = (V)}
#define FLOAT_DEFAULT(V)  .fallback = {.kind = CUBED_VALUE_FLOAT, .as.real = (V)}
#define CHOICE_DEFAULT(V) .fallback = {.kind = CUBED_VALUE_CHOICE, .as.integer = (V)}

/* PARAM_ARRAY: an array that can only be passed by position, like the operands in the array API standard. PARAM_NAMED_ARRAY: an
 * array that can also be passed by name. */
#define PARAM_ARRAY(NAME, NOTES)                                                                   \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY), CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, NOTES)       \
    }
#define PARAM_NAMED_ARRAY(NAME, NOTES)                                                             \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY), CUBED_PARAM_REQUIRED, NOTES)                                   \
    }
/* A required array, or a list of numbers that is converted to an array. */
#define PARAM_LIKE(NAME, NOTES)                                                                    \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY), CUBED_PARAM_REQUIRED | CUBED_PARAM_LIKE, NOTES)                \
    }
/* An array or a number. */
#define PARAM_OPERAND(NAME, FLAGS, NOTES)                                                          \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY) | NUMBERS, FLAGS, NOTES)                                        \
    }
/* An array, a list of numbers that is converted to an array, or None. */
#define PARAM_OPTIONAL_ARRAY(NAME, FLAGS, NOTES)                                                   \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY) | ACCEPTS(NONE), (FLAGS) | CUBED_PARAM_LIKE, NOTES)             \
    }
/* Weights of the elements of the first array, or of the elements along the axes. */
#define PARAM_WEIGHTS(NAME, FLAGS, NOTES)                                                          \
    PARAM_OPTIONAL_ARRAY(NAME, (FLAGS) | CUBED_PARAM_WEIGHTS, NOTES)

#define PARAM_BOOL(NAME, FLAGS, DEFAULT, NOTES)                                                    \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(BOOL), FLAGS, NOTES), BOOL_DEFAULT(DEFAULT)                            \
    }
#define PARAM_INT(NAME, FLAGS, DEFAULT, NOTES)                                                     \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT), FLAGS, NOTES), INT_DEFAULT(DEFAULT)                              \
    }
#define PARAM_REQUIRED_INT(NAME, FLAGS, NOTES)                                                     \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT), (FLAGS) | CUBED_PARAM_REQUIRED, NOTES)                           \
    }
#define PARAM_AXIS(NAME, FLAGS, DEFAULT, NOTES)                                                    \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT), (FLAGS) | CUBED_PARAM_AXIS, NOTES), INT_DEFAULT(DEFAULT)         \
    }
#define PARAM_REQUIRED_AXIS(NAME, FLAGS, NOTES)                                                    \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT), (FLAGS) | CUBED_PARAM_AXIS | CUBED_PARAM_REQUIRED, NOTES)        \
    }
/* One axis, or None. */
#define PARAM_AXIS_OR_NONE(NAME, FLAGS, NOTES)                                                     \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT) | ACCEPTS(NONE), (FLAGS) | CUBED_PARAM_AXIS, NOTES)               \
    }
/* One axis, a list of axes, or None for all axes. */
#define PARAM_AXES(NAME, FLAGS, NOTES)                                                             \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), (FLAGS) | CUBED_PARAM_AXIS,      \
              NOTES)                                                                               \
    }
#define PARAM_CHOICE(NAME, FLAGS, DEFAULT, CHOICES, NOTES)                                         \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(CHOICE), FLAGS, NOTES), CHOICE_DEFAULT(DEFAULT), .choices = (CHOICES)  \
    }
#define PARAM_DTYPE(NAME, FLAGS, NOTES)                                                            \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(DTYPE) | ACCEPTS(NONE), FLAGS, NOTES)                                  \
    }
/* The standard's keyword of functions that create arrays. */
#define PARAM_DEVICE                                                                               \
    {                                                                                              \
        PARAM("device", ACCEPTS(CHOICE) | ACCEPTS(NONE), NAMED,                                    \
              "Device of the result; only ``\"cpu\"`` exists."),                                   \
            .choices = cb_devices                                                                  \
    }
/* The last parameter of functions that choose an algorithm by the memory of a task. */
#define PARAM_TASK_MEM                                                                             \
    {                                                                                              \
        PARAM("task_mem", ACCEPTS(INT), CUBED_PARAM_KEYWORD_ONLY | CUBED_PARAM_ENGINE,             \
              "Bytes that a task may use; 0: not known."),                                         \
            INT_DEFAULT(0)                                                                         \
    }

/* The last parameters, including `task_mem`, of functions whose result has an extent that is computed before the call. */
#define COUNTED_PARAMS                                                                             \
    {PARAM("count", ACCEPTS(INT), NAMED | CUBED_PARAM_ENGINE,                                      \
           "Length of the axis in the result; -1: not known."),                                    \
     INT_DEFAULT(-1)},                                                                             \
        PARAM_OFFSETS, PARAM_TASK_MEM
#define PARAM_OFFSETS                                                                              \
    {                                                                                              \
        PARAM("offsets", ACCEPTS(ARRAY) | ACCEPTS(NONE), NAMED | CUBED_PARAM_ENGINE,               \
              "The computed array from cubed_call_offsets.")                                       \
    }

#define PARAMS(LIST) .params = (LIST), .nparams = (int)(sizeof(LIST) / sizeof *(LIST))
#define ROWS(LIST)                                                                                 \
    {                                                                                              \
        (LIST), (int)(sizeof(LIST) / sizeof *(LIST))                                               \
    }

#endif
