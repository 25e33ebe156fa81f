/* Arithmetic of dates and time differences by NumPy's rules. It is computed as int64, in the operands' common unit. The smallest
 * number, NaT, corresponds to NaN of floats. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "ops/number_steps.h"
#include "ops/ops_pkg.h"

/* --- Units ---------------------------------------------------------------------------------------------- */

typedef struct period {
    cubed_unit unit;
    int64_t multiple;
} period;

static period period_of(cubed_dtype dtype)
{
    period p;
    int multiple;
    cubed_dtype_get_time(dtype, &p.unit, &multiple);
    p.multiple = multiple;
    return p;
}

static bool is_calendar(cubed_unit unit) { return unit == CUBED_UNIT_Y || unit == CUBED_UNIT_M; }

/* Returns the number of `fine` units in one `coarse` unit, or 0 if it exceeds NumPy's limit. Both must be calendar units, or
 * neither. */
static int64_t units_in(cubed_unit coarse, cubed_unit fine)
{
    static const int64_t in_next[CUBED_UNIT_COUNT] = {
        [CUBED_UNIT_Y] = 12,    [CUBED_UNIT_W] = 7,     [CUBED_UNIT_D] = 24,
        [CUBED_UNIT_H] = 60,    [CUBED_UNIT_MIN] = 60,  [CUBED_UNIT_S] = 1000,
        [CUBED_UNIT_MS] = 1000, [CUBED_UNIT_US] = 1000, [CUBED_UNIT_NS] = 1000,
        [CUBED_UNIT_PS] = 1000, [CUBED_UNIT_FS] = 1000};
    int64_t n = 1;
    for (cubed_unit u = coarse; u < fine; u++) {
        n *= in_next[u];
        if (n >> 56) return 0;
    }
    return n;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Flags that state which operands are dates. */
enum { FIRST_IS_DATE = 1, SECOND_IS_DATE = 2 };

/* Sets the longest period that divides both. Months have a common period with days only if the operand in months is a date, which
 * begins on a day; `dates` has the flags of such operands. */
static cubed_status common_period(period a, period b, unsigned dates, period *out,
                                  const char **wrong)
{
    *wrong = NULL;
    *out = a.unit == CUBED_UNIT_GENERIC ? b : a;
    if (a.unit == CUBED_UNIT_GENERIC || b.unit == CUBED_UNIT_GENERIC) return CUBED_OK;
    out->unit = a.unit > b.unit ? a.unit : b.unit;
    if (is_calendar(a.unit) != is_calendar(b.unit)) {
        if (!(dates & (is_calendar(a.unit) ? FIRST_IS_DATE : SECOND_IS_DATE))) {
            *wrong = "months and days have no common unit";
            return CUBED_E_TYPE;
        }
        /* NumPy treats years and months as weeks here, although that is wrong. */
        a.unit = is_calendar(a.unit) ? CUBED_UNIT_W : a.unit;
        b.unit = is_calendar(b.unit) ? CUBED_UNIT_W : b.unit;
    }
    const int64_t of_a = units_in(a.unit, out->unit), of_b = units_in(b.unit, out->unit);
    if (!of_a || !of_b || cb_mul_i64(a.multiple, of_a, &a.multiple) ||
        cb_mul_i64(b.multiple, of_b, &b.multiple)) {
        *wrong = "one unit is too many of the other";
        return CUBED_E_ARG;
    }
    out->multiple = common_divisor(a.multiple, b.multiple);
    return CUBED_OK;
}

/* Computes the days from 1970-01-01 to the first day of a month. `month` is counted from 1970-01. Here years begin in March of
 * the year 0, so that a leap day is the last day of a year. */
static cubed_array *days_of_months(cb_steps *s, cubed_array *month)
{
    const cubed_op add = CUBED_OP_ADD, times = CUBED_OP_MULTIPLY, by = CUBED_OP_FLOOR_DIVIDE;
    cubed_array *from = cb_number_op(s, add, month, cb_step_whole(s, 1970 * 12 - 2), NULL);
    cubed_array *year = cb_number_op(s, by, from, cb_step_whole(s, 12), NULL);
    cubed_array *in_year = cb_number_op(s, CUBED_OP_REMAINDER, from, cb_step_whole(s, 12), NULL);
    /* From March on, months have 31 30 31 30 31 days, repeatedly. */
    cubed_array *day = cb_number_op(s, times, in_year, cb_step_whole(s, 153), NULL);
    day = cb_number_op(s, add, day, cb_step_whole(s, 2), NULL);
    day = cb_number_op(s, by, day, cb_step_whole(s, 5), NULL);
    day =
        cb_number_op(s, add, day, cb_number_op(s, times, year, cb_step_whole(s, 365), NULL), NULL);
    static const struct {
        int64_t years, leap; /* every `years` years have `leap` days more */
    } rules[] = {{4, 1}, {100, -1}, {400, 1}};
    for (int i = 0; i < 3; i++) {
        cubed_array *n = cb_number_op(s, by, year, cb_step_whole(s, rules[i].years), NULL);
        day = cb_number_op(s, rules[i].leap > 0 ? add : CUBED_OP_SUBTRACT, day, n, NULL);
    }
    return cb_number_op(s, CUBED_OP_SUBTRACT, day, cb_step_whole(s, 719468), NULL);
}

/* Returns the remainder x - at * n, where `at` is the quotient of x and n. */
static cubed_array *rest_of(cb_steps *s, cubed_array *x, cubed_array *at, int64_t n)
{
    return cb_number_op(s, CUBED_OP_SUBTRACT, x,
                        cb_number_op(s, CUBED_OP_MULTIPLY, at, cb_step_whole(s, n), NULL), NULL);
}

/* Converts days to months. This is the inverse of days_of_months. Days are first divided into periods of 400 years, which all
 * have the same number of days. */
static cubed_array *months_of_days(cb_steps *s, cubed_array *day)
{
    const cubed_op add = CUBED_OP_ADD, by = CUBED_OP_FLOOR_DIVIDE;
    static const struct {
        int64_t days, leap;
    } rules[] = {{1460, -1}, {36524, 1}, {146096, -1}};
    cubed_array *from = cb_number_op(s, add, day, cb_step_whole(s, 719468), NULL);
    cubed_array *era = cb_number_op(s, by, from, cb_step_whole(s, 146097), NULL);
    cubed_array *in_era = rest_of(s, from, era, 146097), *year = in_era;
    for (int i = 0; i < 3; i++) {
        cubed_array *n = cb_number_op(s, by, in_era, cb_step_whole(s, rules[i].days), NULL);
        year = cb_number_op(s, rules[i].leap > 0 ? add : CUBED_OP_SUBTRACT, year, n, NULL);
    }
    year = cb_number_op(s, by, year, cb_step_whole(s, 365), NULL);
    cubed_array *in_year = rest_of(s, in_era, year, 365);
    in_year = cb_number_op(s, CUBED_OP_SUBTRACT, in_year,
                           cb_number_op(s, by, year, cb_step_whole(s, 4), NULL), NULL);
    in_year =
        cb_number_op(s, add, in_year, cb_number_op(s, by, year, cb_step_whole(s, 100), NULL), NULL);
    cubed_array *month = cb_number_op(s, CUBED_OP_MULTIPLY, in_year, cb_step_whole(s, 5), NULL);
    month = cb_number_op(s, add, month, cb_step_whole(s, 2), NULL);
    month = cb_number_op(s, by, month, cb_step_whole(s, 153), NULL);
    month = cb_number_op(
        s, add, month, cb_number_op(s, CUBED_OP_MULTIPLY, year, cb_step_whole(s, 12), NULL), NULL);
    month = cb_number_op(
        s, add, month, cb_number_op(s, CUBED_OP_MULTIPLY, era, cb_step_whole(s, 4800), NULL), NULL);
    return cb_number_op(s, CUBED_OP_SUBTRACT, month, cb_step_whole(s, 1970 * 12 - 2), NULL);
}

/* Number of units of one kind in one unit of another: n / of, without common divisors. */
typedef struct ratio {
    int64_t n, of;
} ratio;

/* Multiplies by n / of. Returns false if int64 overflows, or n or `of` is 0. */
static bool multiply_ratio(ratio *r, int64_t n, int64_t of)
{
    if (!n || !of) return false;
    const int64_t a = common_divisor(r->n, of), b = common_divisor(n, r->of);
    return !cb_mul_i64(r->n / a, n / b, &r->n) && !cb_mul_i64(r->of / b, of / a, &r->of);
}

/* Multiplies by the number of `to` units in one `from` unit. Both must be calendar units, or neither. */
static bool multiply_units(ratio *r, cubed_unit from, cubed_unit to)
{
    return multiply_ratio(r, units_in(from, to), units_in(to, from));
}

/* Sets the number of `to` units in one `from` unit. A month has the mean length of the months of 400 years. */
static bool span_ratio(cubed_unit from, cubed_unit to, ratio *r)
{
    if (is_calendar(from) == is_calendar(to)) return multiply_units(r, from, to);
    if (is_calendar(from))
        return multiply_units(r, from, CUBED_UNIT_M) && multiply_ratio(r, 146097, 4800) &&
               multiply_units(r, CUBED_UNIT_D, to);
    return multiply_units(r, from, CUBED_UNIT_D) && multiply_ratio(r, 4800, 146097) &&
           multiply_units(r, CUBED_UNIT_M, to);
}

/* Multiplies by a ratio, and rounds down. */
static cubed_array *scaled(cb_steps *s, cubed_array *x, ratio r)
{
    if (r.n != 1) x = cb_number_op(s, CUBED_OP_MULTIPLY, x, cb_step_whole(s, r.n), NULL);
    if (r.of != 1) x = cb_number_op(s, CUBED_OP_FLOOR_DIVIDE, x, cb_step_whole(s, r.of), NULL);
    return x;
}

/* Converts int64 in units of `from` to units of `to`; NaT is unchanged. Returns NULL after an error, for example
 * CUBED_E_UNSUPPORTED if the ratio of the units overflows. */
static cubed_array *in_period(cb_steps *s, cubed_array *x, bool is_date, period from, period to)
{
    cubed_array *y = x;
    ratio r = {from.multiple, 1};
    bool fits = true;
    if (!x || from.unit == CUBED_UNIT_GENERIC || to.unit == CUBED_UNIT_GENERIC ||
        (from.unit == to.unit && from.multiple == to.multiple))
        return x;
    if (is_date && is_calendar(from.unit) != is_calendar(to.unit)) { /* convert to days first */
        const bool is_months = is_calendar(from.unit);
        fits = multiply_units(&r, from.unit, is_months ? CUBED_UNIT_M : CUBED_UNIT_D);
        if (fits) y = scaled(s, y, r);
        y = is_months ? days_of_months(s, y) : months_of_days(s, y);
        from.unit = is_months ? CUBED_UNIT_D : CUBED_UNIT_M;
        r = (ratio){1, 1};
    }
    if (!fits || !span_ratio(from.unit, to.unit, &r) || !multiply_ratio(&r, 1, to.multiple)) {
        s->st = cb_fail(s->err, CUBED_E_UNSUPPORTED, "times in %s cannot be converted to %s",
                        cubed_unit_name(from.unit), cubed_unit_name(to.unit));
        return NULL;
    }
    y = scaled(s, y, r);
    return y == x ? x : cb_step_nat_where(s, cb_step_is_nat(s, x), y);
}

static bool is_date(const cubed_array *x)
{
    return cubed_dtype_family(x->node.dtype) == CUBED_DATETIME64;
}

bool cb_op_is_time_cast(cubed_dtype from, cubed_dtype to)
{
    return cubed_dtype_kind(from) == CUBED_KIND_TIME &&
           cubed_dtype_family(from) == cubed_dtype_family(to);
}

cubed_status cb_op_cast_time(cubed_array *x, cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *ints = cb_number_cast(&s, x, CUBED_INT64);
    ints = in_period(&s, ints, is_date(x), period_of(x->node.dtype), period_of(dtype));
    return cb_steps_end(&s, cb_number_cast(&s, ints, dtype), out);
}

/* --- Rules ---------------------------------------------------------------------------------------------- */

/* Returns the kind of an operand: D(ate), t(ime difference), b(ool), i(nteger), u(int64), f(loat). */
static char letter_of(cubed_dtype dtype)
{
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_TIME: return cubed_dtype_family(dtype) == CUBED_DATETIME64 ? 'D' : 't';
    case CUBED_KIND_BOOL: return 'b';
    case CUBED_KIND_INT: return 'i';
    case CUBED_KIND_UINT: return dtype == CUBED_UINT64 ? 'u' : 'i';
    case CUBED_KIND_FLOAT: return 'f';
    default: return '-';
    }
}

/* Kinds of operands (see letter_of) for which an operation is defined, each combination after a blank, and the kind of the
 * result. */
static const struct rule {
    cubed_op op;
    const char *operands;
    char result;
} rules[] = {
    {CUBED_OP_ADD, " Dt tD Db Di Du bD iD uD", 'D'},
    {CUBED_OP_ADD, " tt tb ti tu bt it ut", 't'},
    {CUBED_OP_SUBTRACT, " Dt Db Di Du", 'D'},
    {CUBED_OP_SUBTRACT, " DD tt tb ti tu bt it ut", 't'},
    {CUBED_OP_MULTIPLY, " tb ti tu tf bt it ut ft", 't'},
    {CUBED_OP_DIVIDE, " tt", 'f'},
    {CUBED_OP_DIVIDE, " ti tu tf", 't'},
    {CUBED_OP_FLOOR_DIVIDE, " tt", 'i'},
    {CUBED_OP_FLOOR_DIVIDE, " ti tu tf", 't'},
    {CUBED_OP_REMAINDER, " tt", 't'},
    {CUBED_OP_MAXIMUM, " DD", 'D'},
    {CUBED_OP_MAXIMUM, " tt tb ti bt it", 't'},
    {CUBED_OP_MINIMUM, " DD", 'D'},
    {CUBED_OP_MINIMUM, " tt tb ti bt it", 't'},
    {CUBED_OP_WHERE, " DD", 'D'},
    {CUBED_OP_WHERE, " tt tb ti bt it", 't'},
    {CUBED_OP_ABS, " t", 't'},
    {CUBED_OP_NEGATIVE, " t", 't'},
    {CUBED_OP_POSITIVE, " t", 't'},
    {CUBED_OP_ISNAN, " D t", 'b'},
    {CUBED_OP_ISFINITE, " D t", 'b'},
};

static const char comparable[] = " DD tt tb ti bt it";

/* Returns the kind of the result for these operands; 0 if the operation is not defined for them. */
static char result_of(cubed_op op, const char *letters)
{
    char pair[4] = " ";
    memcpy(pair + 1, letters, 3);
    if (op >= CUBED_OP_EQUAL && op <= CUBED_OP_GREATER_EQUAL)
        return strstr(comparable, pair) ? 'b' : 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].op == op && strstr(rules[i].operands, pair)) return rules[i].result;
    }
    return 0;
}

static cubed_status refuse(cubed_op op, cubed_array *const *args, int nargs, const char *why,
                           cubed_status st, cubed_error *err)
{
    char a[CUBED_DTYPE_TEXT_CAP], b[CUBED_DTYPE_TEXT_CAP];
    return cb_fail(err, st, "%s is not defined for %s%s%s%s%s", cubed_op_name(op),
                   cubed_dtype_text(args[0]->node.dtype, a), nargs > 1 ? " and " : "",
                   nargs > 1 ? cubed_dtype_text(args[1]->node.dtype, b) : "", why ? ": " : "",
                   why ? why : "");
}

cubed_status cb_op_common_time(const char *name, const cubed_array *a, const cubed_array *b,
                               cubed_dtype *out, cubed_error *err)
{
    return cb_op_common_time_type(name, a->node.dtype, b->node.dtype, out, err);
}

cubed_status cb_op_common_time_type(const char *name, cubed_dtype a, cubed_dtype b,
                                    cubed_dtype *out, cubed_error *err)
{
    const cubed_dtype of[2] = {a, b}, family = cubed_dtype_family(a);
    const unsigned dates = family == CUBED_DATETIME64 ? FIRST_IS_DATE | SECOND_IS_DATE : 0;
    char text[2][CUBED_DTYPE_TEXT_CAP];
    const char *wrong = "they have no type in common";
    period p;
    cubed_status st = CUBED_E_TYPE;
    if (cubed_dtype_kind(of[0]) == CUBED_KIND_TIME && cubed_dtype_family(of[1]) == family)
        st = common_period(period_of(a), period_of(b), dates, &p, &wrong);
    if (st != CUBED_OK)
        return cb_fail(err, st, "%s is not defined for %s and %s: %s", name,
                       cubed_dtype_text(of[0], text[0]), cubed_dtype_text(of[1], text[1]), wrong);
    return cubed_dtype_time(family, p.unit, (int)p.multiple, out, err);
}

/* --- Operations ------------------------------------------------------------------------------------------ */

/* Converts a time to int64 in period p. Returns numbers unchanged. */
static cubed_array *number_of(cb_steps *s, cubed_array *x, period p)
{
    if (cubed_dtype_kind(x->node.dtype) != CUBED_KIND_TIME) return x;
    return in_period(s, cb_number_cast(s, x, CUBED_INT64), is_date(x), period_of(x->node.dtype), p);
}

/* Returns an array that is true where an operand is NaT in its own unit. */
static cubed_array *missing_of(cb_steps *s, cubed_array *const *args, int nargs)
{
    cubed_array *missing = NULL;
    for (int i = 0; i < nargs; i++) {
        if (cubed_dtype_kind(args[i]->node.dtype) != CUBED_KIND_TIME) continue;
        cubed_array *is_nat = cb_step_is_nat(s, cb_number_cast(s, args[i], CUBED_INT64));
        missing = missing ? cb_number_op(s, CUBED_OP_LOGICAL_OR, missing, is_nat, NULL) : is_nat;
    }
    return missing;
}

static cubed_array *unary(cb_steps *s, cubed_op op, cubed_array *x)
{
    cubed_array *y;
    if (op == CUBED_OP_ISNAN || op == CUBED_OP_ISFINITE) {
        y = missing_of(s, &x, 1);
        return op == CUBED_OP_ISNAN ? y : cb_number_op(s, CUBED_OP_LOGICAL_NOT, y, NULL, NULL);
    }
    /* NaT stays NaT, because integers wrap around. */
    y = cb_number_op(s, op, cb_number_cast(s, x, CUBED_INT64), NULL, NULL);
    return cb_number_cast(s, y, x->node.dtype);
}

static bool divides(cubed_op op)
{
    return op == CUBED_OP_DIVIDE || op == CUBED_OP_FLOOR_DIVIDE || op == CUBED_OP_REMAINDER;
}

/* Computes a time as int64 from numbers x and y; `missing`: true where an operand is NaT. */
static cubed_array *time_of(cb_steps *s, cubed_op op, cubed_array *x, cubed_array *y,
                            cubed_array *missing)
{
    const bool truncates = op == CUBED_OP_DIVIDE || op == CUBED_OP_FLOOR_DIVIDE;
    cubed_array *z;
    if (truncates && cubed_dtype_kind(y->node.dtype) == CUBED_KIND_FLOAT)
        z = cb_number_op(s, CUBED_OP_DIVIDE, cb_number_cast(s, x, CUBED_FLOAT64), y, NULL);
    else
        z = truncates ? cb_step_divided_time(s, x, y) : cb_number_op(s, op, x, y, NULL);
    if (divides(op)) {
        cubed_array *none = cb_number_op(s, CUBED_OP_EQUAL, y, cb_step_whole(s, 0), NULL);
        missing = cb_number_op(s, CUBED_OP_LOGICAL_OR, missing, none, NULL);
    }
    if (z && cubed_dtype_kind(z->node.dtype) == CUBED_KIND_FLOAT)
        missing = cb_number_op(s, CUBED_OP_LOGICAL_OR, missing,
                               cb_number_op(s, CUBED_OP_ISNAN, z, NULL, NULL), NULL);
    return z ? cb_step_nat_where(s, missing, cb_number_cast(s, z, CUBED_INT64)) : NULL;
}

static cubed_array *binary(cb_steps *s, cubed_op op, char result, cubed_array *const *args,
                           period p)
{
    cubed_array *x = number_of(s, args[0], p), *y = number_of(s, args[1], p);
    cubed_array *missing = missing_of(s, args, 2), *z;
    if (!x || !y) return NULL;
    switch (result) {
    case 'b':
        z = cb_number_op(s, op, x, y, NULL);
        if (op == CUBED_OP_NOT_EQUAL) return cb_number_op(s, CUBED_OP_LOGICAL_OR, z, missing, NULL);
        missing = cb_number_op(s, CUBED_OP_LOGICAL_NOT, missing, NULL, NULL);
        return cb_number_op(s, CUBED_OP_LOGICAL_AND, z, missing, NULL);
    case 'f':
        z = cb_number_op(s, op, cb_number_cast(s, x, CUBED_FLOAT64),
                         cb_number_cast(s, y, CUBED_FLOAT64), NULL);
        return cb_number_op(s, CUBED_OP_WHERE, missing, cb_step_float(s, (double)NAN), z);
    case 'i':
        z = cb_number_op(s, op, x, y, NULL);
        return cb_number_op(s, CUBED_OP_WHERE, missing, cb_step_whole(s, 0), z);
    default: return time_of(s, op, x, y, missing);
    }
}

cubed_status cb_op_time(cubed_op op, cubed_array *const *args, int nargs, cubed_array **out,
                        cubed_error *err)
{
    /* The operands of `where` except the condition. */
    cubed_array *const *of = op == CUBED_OP_WHERE ? args + 1 : args;
    const int n = op == CUBED_OP_WHERE ? 2 : nargs;
    char letters[3] = {0}, result = 0;
    period p, q;
    const char *wrong = NULL;
    cubed_dtype dtype = CUBED_BOOL;
    for (int i = 0; i < n && i < 2; i++) letters[i] = letter_of(of[i]->node.dtype);
    if (n <= 2) result = result_of(op, letters);
    if (!result) return refuse(op, of, n, NULL, CUBED_E_TYPE, err);
    const bool is_second = strchr("Dt", letters[0]) == NULL;
    p = q = period_of(of[is_second]->node.dtype);
    if (n == 2 && !is_second && strchr("Dt", letters[1])) q = period_of(of[1]->node.dtype);
    /* A time difference in months cannot be converted to days, even if the other operand is a date. */
    const unsigned dates =
        (letters[0] == 'D' ? FIRST_IS_DATE : 0) | (letters[1] == 'D' ? SECOND_IS_DATE : 0);
    const cubed_status st = common_period(p, q, dates, &p, &wrong);
    if (wrong) return refuse(op, of, n, wrong, st, err);
    if (result == 'D' || result == 't')
        CB_TRY(cubed_dtype_time(result == 'D' ? CUBED_DATETIME64 : CUBED_TIMEDELTA64, p.unit,
                                (int)p.multiple, &dtype, err));
    cb_steps s = {.ctx = args[0]->ctx, .err = err};
    cubed_array *y;
    if (n == 1) return cb_steps_end(&s, unary(&s, op, of[0]), out);
    if (op == CUBED_OP_WHERE) {
        cubed_array *a = number_of(&s, of[0], p), *b = number_of(&s, of[1], p);
        y = a && b ? cb_number_op(&s, op, args[0], cb_number_cast(&s, a, CUBED_INT64),
                                  cb_number_cast(&s, b, CUBED_INT64))
                   : NULL;
    } else {
        y = binary(&s, op, result, of, p);
    }
    if (y && (result == 'D' || result == 't')) y = cb_number_cast(&s, y, dtype);
    return cb_steps_end(&s, y, out);
}
