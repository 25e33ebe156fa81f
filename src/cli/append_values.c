#include "append_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis_places.h"
#include "joined_order.h"
#include "lang/axis_values.h"
#include "lang/lang_arrays.h"

/* Maximum rounding errors of stored times, in microseconds: for float64 and for float32. */
enum { DOUBLE_US = 1000, SINGLE_US = 1000000 };

/* --- Coordinates -------------------------------------------------------------------------------------- */

cubed_status append_find_times(const append_place *to, const char *name, const cubed_array *x,
                               append_times *times, cubed_error *err)
{
    json_t *attrs = lang_attributes(cubed_array_attrs(x));
    const cubed_status st =
        joined_find_units(to->out, name, attrs, NULL, &times->is_time, &times->axis, err);
    json_decref(attrs);
    return st;
}

static int64_t count_elements(const cubed_array *x)
{
    int64_t n = 1;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (__builtin_mul_overflow(n, cubed_array_shape(x)[d], &n)) return INT64_MAX;
    }
    return n;
}

static bool is_real(const cubed_array *x)
{
    return cubed_dtype_kind(cubed_array_dtype(x)) == CUBED_KIND_FLOAT;
}

/* Computes the decoded elements of x as float64 or int64. The caller frees them. */
static cubed_status read_elements(const append_place *to, const char *name, cubed_array *x,
                                  bool *real, void **out, cubed_error *err)
{
    cubed_array *values;
    const int64_t n = count_elements(x);
    *out = NULL;
    if (n > AXIS_VALUES_MAX)
        return cli_reject(err,
                          "--append: \"%s\" has %" PRId64
                          " times in units other than those in %s, expected at most 16777216",
                          name, n, to->out);
    cubed_status st = cubed_cf_decode(x, &values, err);
    if (st != CUBED_OK) return st;
    *real = is_real(values);
    st = joined_read_elements(to->ctx, values, *real, out, err);
    cubed_array_unref(values);
    return st;
}

static void free_elements(places *p)
{
    cli_free(p->number);
    cli_free(p->whole);
}

/* Reads the elements of x, which has the units `of`. After an error, there is nothing to free. */
static cubed_status read_places(const append_place *to, const char *name, cubed_array *x,
                                const append_times *of, places *p, cubed_error *err)
{
    void *data;
    bool real = false;
    *p = (places){.n = count_elements(x)};
    cubed_status st = read_elements(to, name, x, &real, &data, err);
    if (st != CUBED_OK) return st;
    if (real)
        p->number = data;
    else
        p->whole = data;
    if (of->is_time) {
        int64_t *us = cli_alloc((size_t)(p->n + 1) * sizeof *us);
        for (int64_t i = 0; i < p->n && st == CUBED_OK; i++) {
            const bool ok = real ? cubed_time_of_float(&of->axis, p->number[i], &us[i])
                                 : p->whole[i] != INT64_MIN &&
                                       cubed_time_of_int(&of->axis, p->whole[i], &us[i]);
            if (!ok)
                st = cli_reject(err, "--append: element %" PRId64 " of \"%s\" is not a time", i,
                                name);
        }
        free_elements(p);
        *p = (places){.n = p->n, .whole = us, .is_time = true, .calendar = of->axis.calendar};
    }
    for (int64_t i = 0; i < p->n && st == CUBED_OK && p->number; i++) {
        if (isnan(p->number[i]))
            st = cli_reject(err, "--append: element %" PRId64 " of \"%s\" is missing", i, name);
    }
    if (st != CUBED_OK) {
        free_elements(p);
        *p = (places){.n = 0};
    }
    return st;
}

/* Returns the microseconds between the origins of two calendars. Their dates agree from 1582-10-15 on. */
static int64_t between_origins(cubed_calendar from, cubed_calendar to)
{
    return (cubed_calendar_days(to, 2000, 1, 1) - cubed_calendar_days(from, 2000, 1, 1)) *
           CUBED_US_PER_DAY;
}

static bool is_gregorian(cubed_calendar c)
{
    return c == CUBED_CALENDAR_STANDARD || c == CUBED_CALENDAR_PROLEPTIC;
}

/* Converts times of the results to the calendar of the stored array. Refuses dates before 1582-10-15, which differ between the
 * calendars. */
static cubed_status change_calendar(const append_place *to, const char *name, places *p,
                                    cubed_calendar stored, cubed_error *err)
{
    const cubed_calendar from = p->calendar;
    if (from == stored) return CUBED_OK;
    bool fits = is_gregorian(from) && is_gregorian(stored);
    const int64_t first = cubed_calendar_days(from, 1582, 10, 15) * CUBED_US_PER_DAY;
    for (int64_t i = 0; i < p->n && fits; i++) fits = p->whole[i] >= first;
    if (!fits)
        return cli_reject(err,
                          "--append: the calendar of \"%s\" is %s in the results and %s in %s, "
                          "expected the same: `cubed copy --calendar` sets another one",
                          name, cubed_calendar_name(from), cubed_calendar_name(stored), to->out);
    const int64_t shift = between_origins(from, stored);
    for (int64_t i = 0; i < p->n; i++) p->whole[i] += shift;
    p->calendar = stored;
    return CUBED_OK;
}

/* Checks that the new elements continue the direction of the old ones. `old` has the last two stored elements, or fewer if the
 * array is shorter. */
static cubed_status check_order(const append_place *to, const places *old, const places *new,
                                cubed_error *err)
{
    char first[CUBED_TIME_TEXT_CAP], last[CUBED_TIME_TEXT_CAP];
    int sign = old->n > 1 ? places_compare(old, 1, old, 0) : 0;
    if (sign == 0 && new->n > 1) sign = places_compare(new, 1, new, 0);
    if (sign == 0) sign = 1;
    if (old->n > 0 && new->n > 0 && sign * places_compare(new, 0, old, old->n - 1) <= 0) {
        places_text(new, 0, first);
        places_text(old, old->n - 1, last);
        return cli_reject(err,
                          "--append: \"%s\" begins at %s in the results, but %s ends at %s: append "
                          "only later elements, such as those of sel,%s=...",
                          to->dim, first, to->out, last, to->dim);
    }
    for (int64_t i = 1; i < new->n; i++) {
        if (sign * places_compare(new, i, new, i - 1) > 0) continue;
        places_text(new, i - 1, first);
        places_text(new, i, last);
        return cli_reject(err,
                          "--append: \"%s\" of the results is not in the order of %s: %s is "
                          "followed by %s",
                          to->dim, to->out, first, last);
    }
    return CUBED_OK;
}

/* Opens the last two of the first `base` elements of a stored coordinate. */
static cubed_status open_last(cubed_array *stored, int64_t base, cubed_array **out,
                              cubed_error *err)
{
    const int64_t n = base < 2 ? base : 2;
    const cubed_slice slice = {base - n, n, 1, false};
    cubed_array *part;
    cubed_status st = cubed_slice_array(stored, &slice, &part, err);
    if (st != CUBED_OK) return st;
    /* `part` is a view; it gets the attributes of the stored array. */
    st = cubed_array_with_attrs(part, cubed_array_attrs(stored), out, err);
    cubed_array_unref(part);
    return st;
}

static bool is_text(const cubed_array *x)
{
    return cubed_dtype_kind(cubed_array_dtype(x)) == CUBED_KIND_TEXT;
}

cubed_status append_check_order(const append_place *to, cubed_array *stored, int64_t base,
                                const append_times *old, cubed_array *x, const append_times *new,
                                cubed_error *err)
{
    cubed_array *last;
    places before = {.n = 0}, after = {.n = 0};
    if (is_text(stored) || is_text(x)) return CUBED_OK;
    cubed_status st = open_last(stored, base, &last, err);
    if (st != CUBED_OK) return st;
    st = read_places(to, to->dim, last, old, &before, err);
    cubed_array_unref(last);
    if (st != CUBED_OK) return st;
    st = read_places(to, to->dim, x, new, &after, err);
    if (st == CUBED_OK && after.is_time)
        st = change_calendar(to, to->dim, &after, old->axis.calendar, err);
    if (st == CUBED_OK) st = check_order(to, &before, &after, err);
    free_elements(&before);
    free_elements(&after);
    return st;
}

/* --- Encoding of elements for the store --------------------------------------------------------------- */

/* Returns true if an integer type of at most 64 bits can represent v. */
static bool fits_type(cubed_dtype dtype, int64_t v)
{
    const int bits = 8 * (int)cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_UINT)
        return v >= 0 && (bits >= 63 || v < INT64_C(1) << bits);
    return bits >= 64 || (v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1));
}

static cubed_status not_exact(const append_place *to, const char *name, cubed_calendar calendar,
                              int64_t us, cubed_dtype dtype, cubed_error *err)
{
    char text[CUBED_TIME_TEXT_CAP], type[CUBED_DTYPE_TEXT_CAP];
    return cli_reject(err,
                      "--append: %s of \"%s\" is not representable as %s in the units of %s: "
                      "create a new store with finer units, such as \"seconds since 1970-01-01\"",
                      cubed_time_text(calendar, us, text), name, cubed_dtype_text(dtype, type),
                      to->out);
}

/* Encodes one time as a number in the units of the store. Returns false if the type cannot represent the time. */
static bool encode_time(const cubed_time_axis *to, cubed_dtype dtype, int64_t us, int64_t *whole,
                        double *number)
{
    int64_t after;
    if (__builtin_sub_overflow(us, to->base, &after)) return false;
    if (cubed_dtype_kind(dtype) != CUBED_KIND_FLOAT) {
        if (__builtin_mul_overflow(after, to->divide, &after) || after % to->unit != 0)
            return false;
        *whole = after / to->unit;
        return fits_type(dtype, *whole);
    }
    const bool single = cubed_dtype_size(dtype) < 8;
    int64_t back, off;
    *number = (double)after * to->divide / (double)to->unit;
    if (single) *number = (double)(float)*number;
    return cubed_time_of_float(to, *number, &back) && !__builtin_sub_overflow(back, us, &off) &&
           llabs(off) <= (single ? SINGLE_US : DOUBLE_US);
}

static void release(void *owner) { cli_free(owner); }

/* Creates an array of the times of x in the units and the type of the stored array. */
static cubed_status convert_times(const append_place *to, const char *name, cubed_array *x,
                                  const append_times *of_x, const cubed_array *into,
                                  const append_times *of_into, cubed_array **out, cubed_error *err)
{
    const cubed_dtype dtype = cubed_array_dtype(into);
    const bool real = cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT;
    places p;
    cubed_array *made;
    cubed_status st = read_places(to, name, x, of_x, &p, err);
    if (st != CUBED_OK) return st;
    st = change_calendar(to, name, &p, of_into->axis.calendar, err);
    int64_t *data = cli_alloc((size_t)(p.n + 1) * 8);
    double *numbers = (double *)data;
    for (int64_t i = 0; i < p.n && st == CUBED_OK; i++) {
        int64_t whole = 0;
        double number = 0;
        if (!encode_time(&of_into->axis, dtype, p.whole[i], &whole, &number))
            st = not_exact(to, name, of_into->axis.calendar, p.whole[i], dtype, err);
        if (real)
            numbers[i] = number;
        else
            data[i] = whole;
    }
    free_elements(&p);
    if (st == CUBED_OK)
        st = cubed_array_from_memory(to->ctx, real ? CUBED_FLOAT64 : CUBED_INT64,
                                     cubed_array_ndim(x), cubed_array_shape(x), NULL, NULL, data,
                                     &made, err);
    if (st != CUBED_OK) {
        cli_free(data);
        return st;
    }
    cubed_array_set_owner(made, release, data);
    cubed_array_set_made(made);
    st = cubed_astype(made, dtype, out, err);
    cubed_array_unref(made);
    return st;
}

static bool are_axes_equal(const cubed_time_axis *x, const cubed_time_axis *y)
{
    return x->calendar == y->calendar && x->unit == y->unit && x->base == y->base &&
           x->divide == y->divide;
}

/* Replaces NaN by the value that marks missing elements in the store. */
static cubed_status put_marker(cubed_array **x, const cubed_cf_packing *packing, cubed_error *err)
{
    cubed_array *is_nan = NULL, *marker = NULL, *typed = NULL, *y = NULL;
    const cubed_dtype dtype = cubed_array_dtype(*x);
    const cubed_scalar value =
        packing->nmissing > 0 ? packing->missing[0].value : packing->own_fill;
    const cubed_dtype of = packing->nmissing > 0 ? packing->missing[0].dtype : dtype;
    cubed_array *const twice[2] = {*x, *x};
    cubed_status st = cubed_elementwise(CUBED_OP_NOT_EQUAL, twice, 2, &is_nan, err);
    if (st == CUBED_OK)
        st = cubed_array_full(cubed_array_context(*x), of, 0, NULL, NULL, &value, &marker, err);
    if (st == CUBED_OK) st = cubed_astype(marker, dtype, &typed, err);
    cubed_array *const choose[3] = {is_nan, typed, *x};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, choose, 3, &y, err);
    cubed_array_unref(is_nan);
    cubed_array_unref(marker);
    cubed_array_unref(typed);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

static bool are_packed_alike(const cubed_array *x, const cubed_cf_packing *of_x,
                             const cubed_array *into, const cubed_cf_packing *of_into)
{
    return cubed_array_dtype(x) == cubed_array_dtype(into) && !of_x == !of_into &&
           (!of_x || cubed_cf_packing_equal(of_x, of_into));
}

static cubed_status other_type(const append_place *to, const char *name, const cubed_array *x,
                               const cubed_array *into, cubed_error *err)
{
    char have[CUBED_DTYPE_TEXT_CAP], want[CUBED_DTYPE_TEXT_CAP];
    cubed_dtype_text(cubed_array_dtype(x), have);
    cubed_dtype_text(cubed_array_dtype(into), want);
    return cli_reject(err,
                      "--append: \"%s\" is %s, expected %s as in %s: astype(%s, \"%s\") converts "
                      "it",
                      name, have, want, to->out, name, want);
}

static cubed_status check_units(const append_place *to, const char *name, const cubed_array *x,
                                const cubed_array *into, cubed_error *err)
{
    json_t *of_x = lang_attributes(cubed_array_attrs(x)),
           *of_into = lang_attributes(cubed_array_attrs(into));
    const char *have = lang_attribute_text(of_x, "units"),
               *want = lang_attribute_text(of_into, "units");
    cubed_status st = CUBED_OK;
    if (strcmp(have ? have : "", want ? want : "") != 0)
        st = cli_reject(err,
                        "--append: the units of \"%s\" are \"%s\", expected \"%s\" as in %s: "
                        "convert the values",
                        name, have ? have : "", want ? want : "", to->out);
    json_decref(of_x);
    json_decref(of_into);
    return st;
}

/* Converts elements that are not times. */
static cubed_status encode_values(const append_place *to, const char *name, cubed_array *x,
                                  cubed_array *into, cubed_array **out, cubed_error *err)
{
    cubed_cf_packing *of_x = NULL, *of_into = NULL;
    cubed_status st = cubed_cf_packing_of(x, &of_x, err);
    if (st == CUBED_OK) st = cubed_cf_packing_of(into, &of_into, err);
    if (st != CUBED_OK) goto out;
    if (are_packed_alike(x, of_x, into, of_into)) {
        *out = cubed_array_ref(x);
    } else if (of_into && (of_into->has_scale || of_into->has_offset || of_into->is_bool ||
                           of_into->stored != of_into->dtype)) {
        st = cli_reject(err,
                        "--append: \"%s\" is packed in %s (scale_factor, add_offset, _FillValue), "
                        "and not in the same way in the results: `cubed copy --pack "
                        "TYPE,scale=S,offset=O` packs them in this way",
                        name, to->out);
    } else {
        st = cubed_cf_decode(x, out, err);
        if (st == CUBED_OK && cubed_array_dtype(*out) != cubed_array_dtype(into))
            st = other_type(to, name, *out, into, err);
        else if (st == CUBED_OK && of_into)
            st = put_marker(out, of_into, err);
        if (st != CUBED_OK) cubed_array_unref(*out);
    }
out:
    cubed_cf_packing_free(of_x);
    cubed_cf_packing_free(of_into);
    return st;
}

cubed_status append_encode(const append_place *to, const char *name, cubed_array *x,
                           const append_times *of_x, cubed_array *into, const append_times *of_into,
                           cubed_array **out, cubed_error *err)
{
    const bool are_times = of_into->is_time && of_x->is_time;
    if (are_times && (!are_axes_equal(&of_x->axis, &of_into->axis) ||
                      cubed_array_dtype(x) != cubed_array_dtype(into)))
        return convert_times(to, name, x, of_x, into, of_into, out, err);
    const cubed_status st = are_times ? CUBED_OK : check_units(to, name, x, into, err);
    return st == CUBED_OK ? encode_values(to, name, x, into, out, err) : st;
}
