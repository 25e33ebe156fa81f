/* Binds R to libcubed: arrays as external pointers, calls of the catalogue, and runs. NAMESPACE lists the functions r_*.
 *
 * R leaves a C function by longjmp when an error is raised. So memory comes from R_alloc, arrays are owned by external
 * pointers, and errors are raised after everything else is freed. R/cubed.R checks the arguments before it calls functions of
 * this file. */
#include <stdlib.h>
#include <string.h>

#include <R.h>
#include <R_ext/Utils.h>
#include <Rinternals.h>

#include <cubed/cubed.h>

extern char **environ;

static cubed_context *context;
static SEXP package; /* the namespace, which has the R function stop_cubed */

/* --- Errors and arrays -------------------------------------------------------------------------------- */

/* Raises the R condition of an error. */
static void check(cubed_status st, const cubed_error *err)
{
    if (st == CUBED_OK) return;
    SEXP status = PROTECT(Rf_mkString(cubed_status_str(st))),
         message = PROTECT(Rf_mkString(err->message));
    SEXP argument = PROTECT(Rf_ScalarInteger(err->argument));
    Rf_eval(PROTECT(Rf_lang4(Rf_install("stop_cubed"), status, message, argument)), package);
}

static void finalize(SEXP cell)
{
    cubed_array_unref(R_ExternalPtrAddr(cell));
    R_ClearExternalPtr(cell);
}

/* Creates an external pointer before its array exists, so that no array is lost if R has no memory for the pointer. */
static SEXP new_cell(void)
{
    SEXP cell = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizer(cell, finalize);
    Rf_setAttrib(cell, R_ClassSymbol, PROTECT(Rf_mkString("cubed_array")));
    UNPROTECT(2);
    return cell;
}

static cubed_array *array_of(SEXP cell)
{
    cubed_array *x = TYPEOF(cell) == EXTPTRSXP ? R_ExternalPtrAddr(cell) : NULL;
    if (!x)
        Rf_error("expected an array of cubed; arrays do not survive save() and load(): use "
                 "write_zarr()");
    return x;
}

static const char *string_of(SEXP x) { return CHAR(Rf_asChar(x)); }

/* Converts a vector to integers in memory from R_alloc. */
static int64_t *integers(SEXP reals)
{
    int64_t *out = (int64_t *)R_alloc((size_t)Rf_xlength(reals) + 1, sizeof *out);
    for (R_xlen_t i = 0; i < Rf_xlength(reals); i++) out[i] = (int64_t)REAL(reals)[i];
    return out;
}

/* Creates an array from a copy of a vector in column-major order. A copy is needed because threads release arrays, and threads
 * must not access R's memory. */
SEXP r_make(SEXP x, SEXP dim)
{
    const cubed_dtype dtype = TYPEOF(x) == RAWSXP    ? CUBED_BOOL
                              : TYPEOF(x) == INTSXP  ? CUBED_INT32
                              : TYPEOF(x) == REALSXP ? CUBED_FLOAT64
                                                     : CUBED_COMPLEX128;
    if (Rf_length(dim) > CUBED_MAX_NDIM)
        Rf_error("the array has %d dimensions, expected at most %d", Rf_length(dim),
                 CUBED_MAX_NDIM);
    const size_t bytes = (size_t)Rf_xlength(x) * cubed_dtype_size(dtype);
    const int64_t *shape = integers(dim);
    int64_t strides[CUBED_MAX_NDIM], step = (int64_t)cubed_dtype_size(dtype);
    for (int d = 0; d < Rf_length(dim); d++) strides[d] = step, step *= shape[d];
    SEXP cell = PROTECT(new_cell());
    void *data = malloc(bytes + 1);
    if (!data) Rf_error("out of memory: %.0f bytes", (double)bytes);
    if (bytes > 0) memcpy(data, DATAPTR(x), bytes);
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *out = NULL;
    const cubed_status st = cubed_array_from_memory(context, dtype, Rf_length(dim), shape, strides,
                                                    NULL, data, &out, &err);
    if (st != CUBED_OK) free(data);
    check(st, &err);
    cubed_array_set_owner(out, free, data);
    cubed_array_set_made(out);
    R_SetExternalPtrAddr(cell, out);
    UNPROTECT(1);
    return cell;
}

SEXP r_open_array(SEXP url)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *out = NULL;
    SEXP cell = PROTECT(new_cell());
    check(cubed_array_open(context, string_of(url), &out, &err), &err);
    R_SetExternalPtrAddr(cell, out);
    UNPROTECT(1);
    return cell;
}

/* list(dtype, shape, chunks) */
SEXP r_info(SEXP cell)
{
    cubed_array *x = array_of(cell);
    char text[CUBED_DTYPE_TEXT_CAP];
    const int64_t *lists[] = {cubed_array_shape(x), cubed_array_chunks(x)};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(out, 0, Rf_mkString(cubed_dtype_text(cubed_array_dtype(x), text)));
    for (int k = 0; k < 2; k++) {
        SET_VECTOR_ELT(out, k + 1, Rf_allocVector(REALSXP, cubed_array_ndim(x)));
        for (int d = 0; d < cubed_array_ndim(x); d++)
            REAL(VECTOR_ELT(out, k + 1))[d] = (double)lists[k][d];
    }
    UNPROTECT(1);
    return out;
}

/* Elements start + k * step along each axis, 0 <= k < length, which count from 0. */
SEXP r_slice(SEXP cell, SEXP start, SEXP length, SEXP step, SEXP drop)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *x = array_of(cell), *made = NULL;
    const int64_t *first = integers(start), *n = integers(length), *by = integers(step);
    for (int d = 0; d < cubed_array_ndim(x); d++)
        slices[d] = (cubed_slice){first[d], n[d], by[d], LOGICAL(drop)[d]};
    cubed_error err = CUBED_ERROR_INIT;
    SEXP out = PROTECT(new_cell());
    check(cubed_slice_array(x, slices, &made, &err), &err);
    R_SetExternalPtrAddr(out, made);
    UNPROTECT(1);
    return out;
}

/* --- The catalogue ------------------------------------------------------------------------------------ */

static SEXP default_of(const cubed_param *p)
{
    const cubed_value *v = &p->fallback;
    if (p->flags & CUBED_PARAM_REQUIRED) return R_MissingArg;
    if (v->kind == CUBED_VALUE_BOOL) return Rf_ScalarLogical(v->as.boolean);
    if (v->kind == CUBED_VALUE_INT) return Rf_ScalarReal((double)v->as.integer);
    if (v->kind == CUBED_VALUE_FLOAT) return Rf_ScalarReal(v->as.real);
    for (const cubed_choice *c = p->choices; v->kind == CUBED_VALUE_CHOICE && c && c->name; c++) {
        if (c->number == v->as.integer) return Rf_mkString(c->name);
    }
    return R_NilValue;
}

static SEXP strings(int n, const char *const *list)
{
    SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) SET_STRING_ELT(out, i, Rf_mkChar(list[i]));
    UNPROTECT(1);
    return out;
}

/* list(strings, flags, accepts, default): strings are the name, the notes, and the kinds that the parameter accepts. */
static SEXP parameter(const cubed_param *p)
{
    char expected[256];
    cubed_param_expected(p, expected, sizeof expected);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
    SET_VECTOR_ELT(out, 0, strings(3, (const char *[]){p->name, p->notes, expected}));
    SET_VECTOR_ELT(out, 1, Rf_ScalarInteger((int)p->flags));
    SET_VECTOR_ELT(out, 2, Rf_ScalarInteger((int)p->accepts));
    SET_VECTOR_ELT(out, 3, default_of(p));
    UNPROTECT(1);
    return out;
}

/* list(list(strings, parameters), ...): strings are name, category, summary and result. */
SEXP r_functions(void)
{
    int n = 0;
    for (const cubed_function *f = NULL; (f = cubed_function_next(f));) n++;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f)) {
        SEXP one = Rf_allocVector(VECSXP, 2), params;
        SET_VECTOR_ELT(out, --n, one);
        SET_VECTOR_ELT(one, 0,
                       strings(4, (const char *[]){f->name, f->category, f->summary, f->returns}));
        SET_VECTOR_ELT(one, 1, params = Rf_allocVector(VECSXP, f->nparams));
        for (int i = 0; i < f->nparams; i++) SET_VECTOR_ELT(params, i, parameter(&f->params[i]));
    }
    UNPROTECT(1);
    return out;
}

/* Converts an R object to a value of a kind. In R, arrays are external pointers, and numbers and lists of numbers are doubles. */
static cubed_value value_of(SEXP x, cubed_value_kind kind)
{
    cubed_value v = {.kind = kind, .n = Rf_length(x)};
    if (kind == CUBED_VALUE_ARRAY) v.as.array = array_of(x);
    if (kind == CUBED_VALUE_BOOL) v.as.boolean = Rf_asLogical(x) != 0;
    if (kind == CUBED_VALUE_INT) v.as.integer = (int64_t)Rf_asReal(x);
    if (kind == CUBED_VALUE_FLOAT) v.as.real = Rf_asReal(x);
    if (kind == CUBED_VALUE_COMPLEX)
        memcpy(v.as.complex_parts, COMPLEX(x), sizeof v.as.complex_parts);
    if (kind == CUBED_VALUE_INTS) v.as.ints = integers(x);
    if (kind == CUBED_VALUE_FLOATS) v.as.reals = REAL(x);
    if (kind == CUBED_VALUE_STRING) v.as.string = string_of(x);
    if (kind == CUBED_VALUE_ARRAYS) {
        cubed_array **list = (cubed_array **)R_alloc((size_t)v.n + 1, sizeof *list);
        for (int i = 0; i < v.n; i++) list[i] = array_of(VECTOR_ELT(x, i));
        v.as.arrays = list;
    }
    return v;
}

/* Calls a function with values of the kinds; "" is the name of a positional argument. Returns a list, with names if the
 * function names its results. */
SEXP r_call(SEXP function, SEXP values, SEXP kinds, SEXP names)
{
    const cubed_function *f = cubed_function_find(string_of(function));
    const int n = Rf_length(values);
    cubed_argument *list = (cubed_argument *)R_alloc((size_t)n + 1, sizeof *list);
    for (int i = 0; i < n; i++) {
        const char *name = CHAR(STRING_ELT(names, i));
        list[i] =
            (cubed_argument){*name ? name : NULL, NULL,
                             value_of(VECTOR_ELT(values, i), (cubed_value_kind)INTEGER(kinds)[i])};
    }
    cubed_results results = {0, NULL};
    cubed_error err = CUBED_ERROR_INIT;
    check(cubed_call(context, f, list, n, &results, &err), &err);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, results.n));
    for (int i = 0; i < results.n; i++) {
        SET_VECTOR_ELT(out, i, new_cell());
        R_SetExternalPtrAddr(VECTOR_ELT(out, i), results.arrays[i]);
        results.arrays[i] = NULL;
    }
    if (f->results[0]) Rf_setAttrib(out, R_NamesSymbol, strings(results.n, f->results));
    cubed_results_free(context, &results);
    UNPROTECT(1);
    return out;
}

/* --- Plans and runs ----------------------------------------------------------------------------------- */

static void poll_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

/* Events are delivered in R's thread. */
static void on_event(void *cancel, const cubed_event *event)
{
    (void)event;
    if (!R_ToplevelExec(poll_interrupt, NULL)) cubed_cancel_set(cancel);
}

/* Plans one target, and runs the plan if `stats` is not NULL. options: list(allowed_mem, max_workers, work_dir); 0 and "" are
 * the defaults. */
static void plan(const cubed_target *target, SEXP options, cubed_plan_info *about,
                 cubed_run_stats *stats)
{
    const char *work_dir = string_of(VECTOR_ELT(options, 2));
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.allowed_mem = (uint64_t)Rf_asReal(VECTOR_ELT(options, 0));
    o.max_workers = (unsigned)Rf_asReal(VECTOR_ELT(options, 1));
    o.work_dir = *work_dir ? work_dir : NULL;
    o.reserve_a_quarter = true;
    cubed_cancel cancel = CUBED_CANCEL_INIT;
    cubed_run_options r = CUBED_RUN_OPTIONS_INIT;
    r.on_event = on_event;
    r.event_ctx = &cancel;
    r.cancel = &cancel;
    cubed_plan *made = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = cubed_plan_new(context, target, 1, &o, &made, &err);
    if (st == CUBED_OK) cubed_plan_get_info(made, about);
    if (st == CUBED_OK && stats) st = cubed_run(made, &r, stats, &err);
    cubed_plan_unref(made);
    check(st, &err);
}

/* Returns numbers about a plan. `url` is the store to which the array is written, or NULL. */
SEXP r_run(SEXP cell, SEXP url, SEXP overwrite, SEXP options)
{
    const bool is_run = url != R_NilValue;
    const cubed_target target = {.array = array_of(cell),
                                 .url = is_run ? string_of(url) : NULL,
                                 .overwrite = Rf_asLogical(overwrite) == TRUE};
    cubed_plan_info about;
    cubed_run_stats stats = {0};
    plan(&target, options, &about, is_run ? &stats : NULL);
    const double values[] = {(double)about.num_tasks,    (double)about.projected_mem,
                             (double)about.allowed_mem,  (double)about.bytes_read,
                             (double)stats.measured_mem, stats.seconds};
    SEXP out = Rf_allocVector(REALSXP, 6);
    memcpy(REAL(out), values, sizeof values);
    return out;
}

/* Computes an array into the new vector `out`, in C order. */
SEXP r_compute(SEXP cell, SEXP dtype, SEXP out, SEXP options)
{
    cubed_array *made = NULL;
    cubed_dtype as = CUBED_FLOAT64;
    cubed_error err = CUBED_ERROR_INIT;
    SEXP cast = PROTECT(new_cell());
    check(cubed_dtype_parse(string_of(dtype), &as, &err), &err);
    check(cubed_astype(array_of(cell), as, &made, &err), &err);
    R_SetExternalPtrAddr(cast, made);
    cubed_plan_info about;
    cubed_run_stats stats;
    plan(&(cubed_target){.array = made, .data = DATAPTR(out)}, options, &about, &stats);
    UNPROTECT(1);
    return out;
}

SEXP r_start(SEXP namespace)
{
    cubed_error err = CUBED_ERROR_INIT;
    package = namespace;
    check(cubed_context_new(NULL, &context, &err), &err);
    check(cubed_context_set_variables(context, (const char *const *)environ, &err), &err);
    return R_NilValue;
}
