/* Makes arguments for functions of the catalogue from bytes: values of any kind, valid or not. */
#ifndef CB_FUZZ_CALL_ARGUMENTS_H
#define CB_FUZZ_CALL_ARGUMENTS_H

#include <stdint.h>

#include "cubed/cubed.h"

enum { NARRAYS = 6, MOST = 12, LENGTH = 6 };

/* The bytes that arguments are made from, and memory for the arguments. */
typedef struct input {
    const uint8_t *at, *end;
    cubed_array *arrays[NARRAYS];
    /* Memory of the lists of each argument. */
    int64_t ints[MOST][LENGTH];
    double reals[MOST][LENGTH];
    cubed_array *lists[MOST][LENGTH];
    cubed_value nested[MOST][LENGTH];
    cubed_slice_bounds slices[MOST];
} input;

static inline uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

/* Returns small numbers, limits of types, and some other numbers. */
static inline int64_t integer(input *in)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 255, 65536, 1 << 20};
    const uint8_t b = byte(in);
    return b < 240 ? (int64_t)b % 16 - 6 : odd[b % (sizeof odd / sizeof *odd)];
}

static inline double real(input *in)
{
    static const double odd[] = {0.0, -0.0, 0.5, 1e300, -1e-300};
    const uint8_t b = byte(in);
    if (b == 255) return (double)__builtin_nanf("");
    if (b == 254) return __builtin_inf();
    return b < 128 ? b / 16.0 - 2 : odd[b % (sizeof odd / sizeof *odd)];
}

static const char *string(input *in)
{
    static const char *const words[] = {"",     "float32", "int8",    "complex64", "S4",  "nope",
                                        "time", "ortho",   "reduced", "fro",       "cpu", "linear"};
    return words[byte(in) % (sizeof words / sizeof *words)];
}

/* Returns a kind; an accepted one if any kind is accepted. */
static inline cubed_value_kind kind_of(uint8_t b, unsigned accepts)
{
    unsigned kind = b % CUBED_VALUE_KIND_COUNT;
    while (accepts && !(accepts >> kind & 1)) kind = (kind + 1) % CUBED_VALUE_KIND_COUNT;
    return (cubed_value_kind)kind;
}

/* Returns an item of a list: a number, a string, None, or a list of the first two numbers. */
static inline cubed_value item(input *in, const cubed_value *items)
{
    switch (byte(in) % 6) {
    case 0: return (cubed_value){.kind = CUBED_VALUE_NONE};
    case 1: return (cubed_value){.kind = CUBED_VALUE_STRING, .as.string = string(in)};
    case 2: return (cubed_value){.kind = CUBED_VALUE_FLOAT, .as.real = real(in)};
    case 3: return (cubed_value){.kind = CUBED_VALUE_LIST, .n = 2, .as.items = items};
    default: return (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = integer(in)};
    }
}

static inline cubed_value value(input *in, int k, unsigned accepts)
{
    cubed_value v = {.kind = kind_of(byte(in), accepts)};
    const int n = byte(in) % LENGTH;
    switch (v.kind) {
    case CUBED_VALUE_ARRAY: v.as.array = in->arrays[byte(in) % NARRAYS]; break;
    case CUBED_VALUE_ARRAYS:
        for (int i = 0; i < n; i++) in->lists[k][i] = in->arrays[byte(in) % NARRAYS];
        v.n = n;
        v.as.arrays = in->lists[k];
        break;
    case CUBED_VALUE_BOOL: v.as.boolean = byte(in) & 1; break;
    case CUBED_VALUE_INT: v.as.integer = integer(in); break;
    case CUBED_VALUE_FLOAT: v.as.real = real(in); break;
    case CUBED_VALUE_COMPLEX:
        v.as.complex_parts[0] = real(in);
        v.as.complex_parts[1] = real(in);
        break;
    case CUBED_VALUE_INTS:
        for (int i = 0; i < n; i++) in->ints[k][i] = integer(in);
        v.n = n;
        v.as.ints = in->ints[k];
        break;
    case CUBED_VALUE_LIST:
        for (int i = 0; i < n; i++) in->nested[k][i] = item(in, in->nested[k]);
        v.n = n;
        v.as.items = in->nested[k];
        break;
    case CUBED_VALUE_FLOATS:
        for (int i = 0; i < n; i++) in->reals[k][i] = real(in);
        v.n = n;
        v.as.reals = in->reals[k];
        break;
    case CUBED_VALUE_STRING: v.as.string = string(in); break;
    case CUBED_VALUE_CHOICE: v.as.integer = integer(in); break;
    case CUBED_VALUE_DTYPE: v.as.dtype = (cubed_dtype)(byte(in) % CUBED_DTYPE_COUNT); break;
    case CUBED_VALUE_SLICE:
        in->slices[k] = (cubed_slice_bounds){n & 1 ? in->ints[k] : NULL, NULL, NULL};
        v.as.slice = &in->slices[k];
        break;
    default: break;
    }
    return v;
}

static inline bool make_arrays(cubed_context *ctx, input *in)
{
    static const struct {
        cubed_dtype dtype;
        int ndim;
        int64_t shape[3], chunks[3];
    } rows[NARRAYS] = {{CUBED_FLOAT64, 2, {4, 4}, {2, 2}},     {CUBED_COMPLEX64, 1, {5}, {2}},
                       {CUBED_INT32, 3, {2, 3, 3}, {1, 3, 2}}, {CUBED_BOOL, 2, {4, 1}, {4, 1}},
                       {CUBED_FLOAT32, 2, {0, 3}, {1, 3}},     {CUBED_UINT8, 0, {0}, {0}}};
    const cubed_scalar one = {.i64 = 0};
    for (int i = 0; i < NARRAYS; i++) {
        if (cubed_array_full(ctx, rows[i].dtype, rows[i].ndim, rows[i].shape, rows[i].chunks, &one,
                             &in->arrays[i], NULL) != CUBED_OK)
            return false;
    }
    return true;
}

/* Makes up to MOST arguments of a function, and returns their number. */
static inline int make_arguments(input *in, const cubed_function *f, cubed_argument *arguments)
{
    int n = 0;
    bool named = false;
    for (; n < MOST && in->at < in->end; n++) {
        const uint8_t how = byte(in);
        named = named || how >= 128;
        const cubed_param *p = cubed_function_param(f, n);
        if (named && f->nparams) p = &f->params[how % f->nparams];
        if (named) arguments[n].name = p ? p->name : "none";
        /* Mostly choose a kind that the parameter accepts, because a function's body runs only if all arguments are valid. */
        arguments[n].value = value(in, n, p && how % 8 != 0 ? p->accepts : 0);
    }
    return n;
}

static inline void free_arrays(input *in)
{
    for (int i = 0; i < NARRAYS; i++) cubed_array_unref(in->arrays[i]);
}

#endif
