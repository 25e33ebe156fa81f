#include "files/grib_library.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>

#include "base/error.h"
#include "base/library.h"
#include "base/lock.h"

/* check_layers: allow global: it guards a library with state of the process */
static cb_mutex lock = CB_MUTEX_INITIALIZER;
/* check_layers: allow global: the library's hooks have no argument; the lock guards it */
static jmp_buf failed;
/* check_layers: allow global: set by the library's hook; the lock guards it; empty: no assertion failed */
static char assertion[256];

static bool load(const char *file, cb_eccodes *out, char *missing, size_t cap)
{
#define FUNCTION(name) {"codes_" #name, &out->name},
    const cb_library_function functions[] = {CB_ECCODES_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const char *const needs[] = {"codes_handle_new_from_message", NULL};
    return cb_library_load(file, functions, sizeof functions / sizeof *functions, needs, missing,
                           cap);
}

/* Receives the messages that ecCodes would print, and drops them. */
static void drop_message(const void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    (void)text;
}

/* Jumps out of ecCodes after a failed assertion, because ecCodes would otherwise end the process. */
static void leave_library(const char *text)
{
    snprintf(assertion, sizeof assertion, "%s", text && *text ? text : "an assertion failed");
    longjmp(failed, 1);
}

static cubed_status open_library(cb_eccodes *out, cubed_error *err)
{
    char first[256], second[256];
    if (load("libeccodes.so.0", out, first, sizeof first) ||
        load("libeccodes.so", out, second, sizeof second))
        return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "reading GRIB needs ecCodes, which cannot be loaded (%s; %s): install "
                   "libeccodes0 (Debian) or eccodes (conda), or convert the file with \"cdo -f nc4 "
                   "copy\"",
                   first, second);
}

static cubed_status call(const cb_eccodes *e, cb_eccodes_fn fn, void *ctx, cubed_error *err)
{
    cubed_status st;
    void *context = e->context_get_default();
    e->context_set_logging_proc(context, drop_message);
    e->set_codes_assertion_failed_proc(leave_library);
    if (setjmp(failed) == 0)
        st = fn(e, ctx, err);
    else
        st = cb_fail(err, CUBED_E_FORMAT,
                     "ecCodes cannot parse the GRIB message, which is damaged: %s", assertion);
    /* NULL restores the defaults. */
    e->set_codes_assertion_failed_proc(NULL);
    e->context_set_logging_proc(context, NULL);
    return st;
}

cubed_status cb_eccodes_run(cb_eccodes_fn fn, void *ctx, cubed_error *err) CB_UNCHECKED_LOCKS
{
    cb_eccodes e;
    cb_mutex_lock(&lock);
    cubed_status st =
        *assertion ? cb_fail(err, CUBED_E_UNSUPPORTED,
                             "ecCodes failed at a damaged GRIB file in this process (%s): start "
                             "another process to read GRIB",
                             assertion)
                   : open_library(&e, err);
    if (st == CUBED_OK) st = call(&e, fn, ctx, err);
    cb_mutex_unlock(&lock);
    return st;
}

static cubed_status fail(const cb_eccodes *e, int rc, const char *what, cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "ecCodes cannot get %s of the GRIB message: %s", what,
                   e->get_error_message(rc));
}

cubed_status cb_eccodes_values(const cb_eccodes *e, const void *message, size_t size, double *out,
                               size_t n, cubed_error *err)
{
    static const double missing = -1.7e308;
    size_t known = 0, got = n;
    cubed_status st = CUBED_OK;
    codes_handle *h = e->handle_new_from_message(NULL, message, size);
    if (!h)
        return cb_fail(err, CUBED_E_FORMAT, "ecCodes cannot parse the GRIB message: it is damaged");
    int rc = e->get_size(h, "values", &known);
    if (rc == 0 && known != n) {
        CB_GO(cb_fail(err, CUBED_E_FORMAT,
                      "the GRIB message has %zu values, expected %zu: one for each point", known,
                      n));
    }
    if (rc == 0) rc = e->set_double(h, "missingValue", missing);
    if (rc == 0) rc = e->get_double_array(h, "values", out, &got);
    if (rc != 0) CB_GO(fail(e, rc, "the values", err));
    if (got != n) CB_GO(fail(e, rc, "all values", err));
    for (size_t i = 0; i < n; i++) {
        if (out[i] == missing) out[i] = (double)NAN;
    }
out:
    e->handle_delete(h);
    return st;
}

cubed_status cb_eccodes_points(const cb_eccodes *e, const codes_handle *h, uint64_t n,
                               cb_eccodes_point_fn fn, void *ctx, cubed_error *err)
{
    static const unsigned long no_values = 1; /* GRIB_GEOITERATOR_NO_VALUES */
    int rc = 0;
    double latitude, longitude, value;
    uint64_t i = 0;
    grib_iterator *it = e->grib_iterator_new(h, no_values, &rc);
    if (!it || rc != 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "ecCodes cannot compute the points of the grid of the GRIB message: %s",
                       e->get_error_message(rc));
    for (; i < n && e->grib_iterator_next(it, &latitude, &longitude, &value) > 0; i++)
        fn(ctx, i, latitude, longitude);
    e->grib_iterator_delete(it);
    return i == n ? CUBED_OK : fail(e, 0, "all points of the grid", err);
}
