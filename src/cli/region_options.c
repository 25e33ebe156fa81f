/* Reads the option --region: the part of an array into which a result is written. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "lang/lang_memory.h"

/* Reads an optional number before `end`. Sets *given if there is one. */
static bool read_bound(const char **at, const char *end, int64_t *out, bool *given)
{
    *given = *at < end && **at != ':';
    return !*given || (lang_parse_int(at, out) && *at <= end);
}

static int find_axis(const cubed_array *into, const char *name, size_t n)
{
    for (int d = 0; d < cubed_array_ndim(into); d++) {
        const char *have = cubed_array_dim_name(into, d);
        if (have && strlen(have) == n && strncmp(have, name, n) == 0) return d;
    }
    return -1;
}

/* Reads one part of the option: the slice of an axis. An axis without a name is number *next. Each axis may occur once, and
 * bounds must be within it. */
static bool read_part(const char *at, const char *end, const cubed_array *into, int *next,
                      bool *seen, cubed_slice *slices)
{
    const char *equals = memchr(at, '=', (size_t)(end - at));
    const int64_t *shape = cubed_array_shape(into);
    int64_t start, stop;
    bool has_start, has_stop;
    int axis = equals ? find_axis(into, at, (size_t)(equals - at)) : (*next)++;
    if (axis < 0 || axis >= cubed_array_ndim(into) || seen[axis]) return false;
    seen[axis] = true;
    if (equals) at = equals + 1;
    if (!read_bound(&at, end, &start, &has_start) || at == end || *at++ != ':' ||
        !read_bound(&at, end, &stop, &has_stop) || at != end)
        return false;
    if ((has_start && (start < -shape[axis] || start > shape[axis])) ||
        (has_stop && (stop < -shape[axis] || stop > shape[axis])))
        return false;
    return cubed_slice_resolve(has_start ? &start : NULL, has_stop ? &stop : NULL, NULL,
                               shape[axis], &slices[axis], NULL) == CUBED_OK;
}

/* Finds where the part of `into` starts. The part must have x's shape. */
static cubed_status find_start(const char *text, const cubed_array *into, const cubed_array *x,
                               int64_t *start, cubed_error *err)
{
    const int ndim = cubed_array_ndim(into);
    const int64_t *shape = cubed_array_shape(into);
    cubed_slice slices[CUBED_MAX_NDIM];
    bool seen[CUBED_MAX_NDIM] = {false};
    int next = 0;
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, shape[d], 1, false};
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ',');
        const char *end = comma ? comma : at + strlen(at);
        if (!read_part(at, end, into, &next, seen, slices))
            return cli_reject(err,
                              "--region \"%s\": expected NAME=START:STOP,... with names of the "
                              "array's dimensions, or START:STOP,... by position, each once and "
                              "within the array",
                              text);
        at = comma ? comma + 1 : NULL;
    }
    if (ndim != cubed_array_ndim(x))
        return cli_reject(err, "--region \"%s\": an array of %d dimensions, the result has %d",
                          text, ndim, cubed_array_ndim(x));
    for (int d = 0; d < ndim; d++) {
        const int64_t have = cubed_array_shape(x)[d];
        start[d] = slices[d].start;
        if (have != slices[d].len)
            return cli_reject(err,
                              "--region \"%s\" has %" PRId64
                              " elements along axis %d, the result has %" PRId64,
                              text, slices[d].len, d, have);
    }
    return CUBED_OK;
}

cubed_status cli_region_target(cubed_context *ctx, const char *text, cubed_array *x,
                               const char *url, cubed_target *target, cubed_error *err)
{
    int64_t start[CUBED_MAX_NDIM];
    cubed_array *into;
    cubed_status st = cubed_array_open(ctx, url, &into, err);
    if (st != CUBED_OK) return st;
    st = find_start(text, into, x, start, err);
    if (st == CUBED_OK) st = cubed_region_target(x, into, start, target, err);
    if (st == CUBED_OK) target->url = url;
    cubed_array_unref(into);
    return st;
}
