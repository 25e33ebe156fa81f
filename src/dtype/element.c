/* Elements of times and strings: formatting and order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cubed/calendar.h"
#include "cubed/dtype.h"
#include "dtype/element.h"

/* Writes as many characters as fit in text[0..cap), and counts all. */
typedef struct sink {
    char *text;
    size_t cap, n;
} sink;

static void put(sink *s, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, s->n++) {
        if (s->n + 1 < s->cap) s->text[s->n] = bytes[i];
    }
}

static void put_code(sink *s, uint32_t c, bool is_char)
{
    char part[16];
    bool plain = c >= 32 && c < 127;
    if (is_char && c > 159 && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)) plain = true;
    if (plain)
        put(s, part, cb_utf8_put(c, part));
    else
        put(s, part,
            (size_t)snprintf(part, sizeof part, c < 256 ? "\\x%02x" : "\\U%08x", (unsigned)c));
}

static void put_text(sink *s, cubed_dtype dtype, const unsigned char *p)
{
    bool wide = cubed_dtype_family(dtype) == CUBED_STRING;
    size_t unit = wide ? 4 : 1, n = cubed_dtype_size(dtype) / unit;
    uint32_t c = 0;
    for (; n > 0; n--) { /* skip padding */
        memcpy(&c, p + (n - 1) * unit, unit);
        if (c != 0) break;
    }
    for (size_t i = 0; i < n; i++) {
        c = 0;
        memcpy(&c, p + i * unit, unit);
        put_code(s, wide ? c : p[i], wide);
    }
}

/* Uses the method of Fliegel and Van Flandern. Years begin in March, so the leap day is the last day of a year. */
void cubed_date_of_days(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097; /* day of the era, [0, 146096] */
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    /* day of the year, [0, 365], from 1 March */
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t m = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * m + 2) / 5) + 1;
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

int64_t cb_days_of_date(int64_t year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400;
    const int64_t yoe = y - era * 400;
    const int64_t doy = (153 * (month <= 2 ? month + 9 : month - 3) + 2) / 5 + day - 1;
    return era * 146097 + 365 * yoe + yoe / 4 - yoe / 100 + doy - 719468;
}

static void put_date(sink *s, int64_t year, int month, int day)
{
    char part[48];
    put(s, part, (size_t)snprintf(part, sizeof part, "%04" PRId64, year));
    if (month) put(s, part, (size_t)snprintf(part, sizeof part, "-%02d", month));
    if (day) put(s, part, (size_t)snprintf(part, sizeof part, "-%02d", day));
}

static __int128 floor_div(__int128 a, __int128 b) { return a / b - (a % b < 0); }

/* Writes a time as ISO 8601, down to its unit, like NumPy. */
static void put_datetime(sink *s, cubed_unit unit, __int128 v)
{
    static const int64_t per_day[CUBED_UNIT_COUNT] = {[CUBED_UNIT_D] = 1,
                                                      [CUBED_UNIT_H] = 24,
                                                      [CUBED_UNIT_MIN] = 1440,
                                                      [CUBED_UNIT_S] = 86400,
                                                      [CUBED_UNIT_MS] = 86400000,
                                                      [CUBED_UNIT_US] = 86400000000,
                                                      [CUBED_UNIT_NS] = 86400000000000,
                                                      [CUBED_UNIT_PS] = 86400000000000000};
    __int128 per = per_day[unit];
    int64_t year;
    int month, day;
    if (unit == CUBED_UNIT_Y || unit == CUBED_UNIT_M) {
        __int128 years = unit == CUBED_UNIT_Y ? v : floor_div(v, 12);
        put_date(s, 1970 + (int64_t)years, unit == CUBED_UNIT_Y ? 0 : (int)(v - 12 * years) + 1, 0);
        return;
    }
    if (unit == CUBED_UNIT_FS) per = (__int128)per_day[CUBED_UNIT_PS] * 1000;
    if (unit == CUBED_UNIT_AS) per = (__int128)per_day[CUBED_UNIT_PS] * 1000000;
    __int128 days = unit == CUBED_UNIT_W ? 7 * v : floor_div(v, per);
    if (days > (__int128)1 << 60 || days < -((__int128)1 << 60)) { /* no calendar has such dates */
        char part[32];
        put(s, part, (size_t)snprintf(part, sizeof part, "%" PRId64, (int64_t)v));
        return;
    }
    cubed_date_of_days((int64_t)days, &year, &month, &day);
    put_date(s, year, month, day);
    if (unit <= CUBED_UNIT_D) return;
    __int128 rest = v - days * per;
    char part[64];
    int64_t hour = (int64_t)(rest * 24 / per), minute = (int64_t)(rest * 1440 / per) % 60;
    put(s, part, (size_t)snprintf(part, sizeof part, "T%02" PRId64, hour));
    if (unit < CUBED_UNIT_MIN) return;
    put(s, part, (size_t)snprintf(part, sizeof part, ":%02" PRId64, minute));
    if (unit < CUBED_UNIT_S) return;
    __int128 second = rest * 86400 / per, per_second = per / 86400;
    put(s, part, (size_t)snprintf(part, sizeof part, ":%02d", (int)(second % 60)));
    if (unit < CUBED_UNIT_MS) return;
    put(s, part,
        (size_t)snprintf(part, sizeof part, ".%0*" PRId64, 3 * (int)(unit - CUBED_UNIT_S),
                         (int64_t)(rest - second * per_second)));
}

static void put_time(sink *s, cubed_dtype dtype, int64_t v)
{
    char part[32];
    cubed_unit unit;
    int multiple;
    cubed_dtype_get_time(dtype, &unit, &multiple);
    if (v == INT64_MIN)
        put(s, "NaT", 3);
    else if (cubed_dtype_family(dtype) == CUBED_TIMEDELTA64 || unit == CUBED_UNIT_GENERIC)
        put(s, part, (size_t)snprintf(part, sizeof part, "%" PRId64, v));
    else
        put_datetime(s, unit, (__int128)v * multiple);
}

/* Writes the bytes of a record in hexadecimal, because the type does not describe its fields. */
static void put_bytes(sink *s, cubed_dtype dtype, const unsigned char *element)
{
    char part[3];
    for (size_t i = 0; i < cubed_dtype_size(dtype); i++)
        put(s, part, (size_t)snprintf(part, sizeof part, "%02x", element[i]));
}

size_t cubed_element_text(cubed_dtype dtype, const void *element, char *text, size_t cap)
{
    sink s = {text, cap, 0};
    int64_t v;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT) {
        put_text(&s, dtype, element);
    } else if (cubed_dtype_kind(dtype) == CUBED_KIND_RECORD) {
        put_bytes(&s, dtype, element);
    } else if (cubed_dtype_kind(dtype) == CUBED_KIND_TIME) {
        memcpy(&v, element, sizeof v);
        put_time(&s, dtype, v);
    }
    if (cap > 0) text[s.n < cap ? s.n : cap - 1] = 0;
    return s.n;
}

size_t cb_text_size(cubed_dtype dtype, const void *text)
{
    const unsigned char *p = text;
    const size_t unit = cubed_dtype_family(dtype) == CUBED_STRING ? 4 : 1;
    size_t n = cubed_dtype_size(dtype);
    while (n > 0 && p[n - 1] == 0) n--;
    return (n + unit - 1) / unit * unit;
}

static uint32_t code_at(const unsigned char *p, size_t i, size_t n)
{
    uint32_t c = 0;
    if (i < n) memcpy(&c, p + i * sizeof c, sizeof c);
    return c;
}

int cb_text_compare_two(cubed_dtype first, const void *a, cubed_dtype second, const void *b)
{
    const unsigned char *p = a, *q = b;
    const bool wide = cubed_dtype_family(first) == CUBED_STRING;
    const size_t unit = wide ? 4 : 1;
    const size_t n = cubed_dtype_size(first) / unit, m = cubed_dtype_size(second) / unit;
    const size_t most = n > m ? n : m;
    for (size_t i = 0; i < most; i++) {
        const uint32_t c = wide ? code_at(p, i, n) : i < n ? p[i] : 0;
        const uint32_t d = wide ? code_at(q, i, m) : i < m ? q[i] : 0;
        if (c != d) return c < d ? -1 : 1;
    }
    return 0;
}

int cb_text_compare(cubed_dtype dtype, const void *a, const void *b)
{
    return cb_text_compare_two(dtype, a, dtype, b);
}
