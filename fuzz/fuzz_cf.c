/* Parses attributes of the CF conventions: units of time, dates, and packings. The first byte chooses one of these, and the
 * calendar or the type of the array. The other bytes are text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/calendar.h"
#include "cubed/cf.h"
#include "cubed/cubed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096, CALENDARS = CUBED_CALENDAR_360 + 1 };

#define require(holds) check((holds), #holds)

static void check(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* Checks that the text of a time denotes a second that contains the time. */
static void try_time(cubed_calendar c, int64_t us)
{
    char text[CUBED_TIME_TEXT_CAP];
    int64_t first, after;
    require(strlen(cubed_time_text(c, us, text)) < CUBED_TIME_TEXT_CAP);
    if (!cubed_time_span_parse(text, c, &first, &after))
        return; /* the year is before 0 or after 9999 */
    require(first <= us && us < after);
}

static void try_units(const char *text, cubed_calendar c)
{
    static const int64_t numbers[] = {INT64_MIN, -1000, -1, 0, 1, 1000, INT64_MAX};
    cubed_time_axis a;
    cubed_error err = CUBED_ERROR_INIT;
    int64_t last = INT64_MIN, us;
    const cubed_status st = cubed_time_units_parse(text, c, &a, &err);
    require(st == CUBED_OK || (st == CUBED_E_ARG && err.message[0]));
    if (st != CUBED_OK) return;
    require(cubed_time_units_since(text));
    require(a.calendar == c && a.unit > 0 && (a.divide == 1 || a.divide == 1000));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (cubed_time_of_int(&a, numbers[i], &us)) {
            require(us >= last); /* a later number must not be an earlier time */
            last = us;
            if (us == a.base) try_time(c, us);
        }
        if (cubed_time_of_float(&a, (double)numbers[i] / 3, &us)) try_time(c, a.base);
    }
}

static void try_span(const char *text, cubed_calendar c)
{
    int64_t first, after;
    if (cubed_time_span_parse(text, c, &first, &after)) require(first < after);
}

static void try_packing(const char *text, cubed_dtype dtype)
{
    static const char zeros[16];
    const int64_t shape[1] = {1};
    cubed_context *ctx;
    cubed_array *plain, *x, *decoded = NULL;
    cubed_cf_packing *p = NULL;
    require(cubed_context_new(NULL, &ctx, NULL) == CUBED_OK);
    require(cubed_array_from_memory(ctx, dtype, 1, shape, NULL, NULL, zeros, &plain, NULL) ==
            CUBED_OK);
    if (cubed_array_with_attrs(plain, text, &x, NULL) == CUBED_OK) {
        if (cubed_cf_packing_of(x, &p, NULL) == CUBED_OK && p) {
            require(p->nmissing >= 0 && cubed_cf_packing_equal(p, p));
            /* Ignore long lists, which the fuzzer does not make. */
            if (p->nmissing < 64 && cubed_cf_decode(x, &decoded, NULL) == CUBED_OK)
                require(cubed_array_dtype(decoded) == p->dtype || p->is_bool);
            cubed_array_unref(decoded);
            cubed_cf_packing_free(p);
        }
        cubed_array_unref(x);
    }
    cubed_array_unref(plain);
    cubed_context_unref(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cubed_dtype types[] = {CUBED_INT8,   CUBED_UINT8,   CUBED_INT16,
                                        CUBED_INT32,  CUBED_UINT32,  CUBED_INT64,
                                        CUBED_UINT64, CUBED_FLOAT32, CUBED_FLOAT64};
    if (size < 1 || size > MOST) return 0;
    char *text = malloc(size); /* exact size, so that sanitizers detect reads beyond the end */
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    const unsigned kind = data[0] % 3, which = data[0] / 3;
    if (kind == 0)
        try_units(text, (cubed_calendar)(which % CALENDARS));
    else if (kind == 1)
        try_span(text, (cubed_calendar)(which % CALENDARS));
    else
        try_packing(text, types[which % (sizeof types / sizeof *types)]);
    free(text);
    return 0;
}
