/* Lazy arrays: what is computed, not how. Building one does no I/O but for opening a source's
 * metadata, and costs a few microseconds.
 *
 * A cubed_array is immutable and reference-counted; references may be taken and dropped from any
 * thread. Every function that makes an array gives the caller one reference and takes its own
 * references to its inputs. All arrays of a computation belong to one context.
 */
#ifndef CUBED_ARRAY_H
#define CUBED_ARRAY_H

#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_array cubed_array;

typedef enum cubed_op {
#define CUBED_OP(NAME, name, number, arity, accepts, result, summary) CUBED_OP_##NAME = (number),
#include "cubed/ops.def"
#undef CUBED_OP
    CUBED_OP_COUNT
} cubed_op;

typedef enum cubed_reduction {
#define CUBED_REDUCTION(NAME, name, number, accepts, result) CUBED_REDUCE_##NAME = (number),
#include "cubed/reductions.def"
#undef CUBED_REDUCTION
    CUBED_REDUCE_COUNT
} cubed_reduction;

/* The names of the standard ("add", "mean"), static; NULL for a number that is none. */
CUBED_API const char *cubed_op_name(cubed_op op);
CUBED_API const char *cubed_reduction_name(cubed_reduction reduction);
/* The inverse, and the number of operands. false if there is none of that name. */
CUBED_API bool cubed_op_parse(const char *name, cubed_op *op, int *arity);
CUBED_API bool cubed_reduction_parse(const char *name, cubed_reduction *reduction);

/* Takes a reference; returns x. Gives one up; NULL is allowed. Thread-safe. */
CUBED_API cubed_array *cubed_array_ref(cubed_array *x);
CUBED_API void cubed_array_unref(cubed_array *x);

/* What they point to lives as long as x; the context is borrowed. */
CUBED_API cubed_context *cubed_array_context(const cubed_array *x);
CUBED_API cubed_dtype cubed_array_dtype(const cubed_array *x);
CUBED_API int cubed_array_ndim(const cubed_array *x);
CUBED_API const int64_t *cubed_array_shape(const cubed_array *x);
/* The nominal chunk extents (the first and last chunk of an axis may be smaller; of chunks of different
 * lengths the longest); >= 1. */
CUBED_API const int64_t *cubed_array_chunks(const cubed_array *x);
/* Chunks along an axis, and the extent of one of them, 0 <= i < their number. */
CUBED_API int64_t cubed_array_num_chunks(const cubed_array *x, int dim);
CUBED_API int64_t cubed_array_chunk_length(const cubed_array *x, int dim, int64_t i);
/* Whether chunks along an axis have different lengths: others than the first and the last are shorter. */
CUBED_API bool cubed_array_is_irregular(const cubed_array *x, int dim);
/* NULL for a dimension without a name. */
CUBED_API const char *cubed_array_dim_name(const cubed_array *x, int dim);
/* JSON object text of the attributes, "{}" if there are none. Its member CUBED_ATTRIBUTE_TYPES, if present, states types,
 * and cubed_attribute_get gives a value with its type. Those of a source are its own; an
 * elementwise operation, view, reduction or rechunk keeps the first operand's when they describe the
 * values still (casts, views, rechunk) and drops them otherwise. */
CUBED_API const char *cubed_array_attrs(const cubed_array *x);
/* The fill value of a Zarr array of format 2, or of a view or copy of one: readers take it for
 * "missing" wherever it stands. In x's type. false if there is none. The same arrays, and those of
 * format 3, hand their fill value on to what they are stored in. */
CUBED_API bool cubed_array_missing_value(const cubed_array *x, cubed_scalar *out);
/* A new array that differs in its attributes / dimension names only. `json` must be an object;
 * names[ndim] may hold NULLs. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_with_attrs(cubed_array *x, const char *json,
                                                               cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_with_dim_names(cubed_array *x,
                                                                   const char *const *names,
                                                                   cubed_array **out,
                                                                   cubed_error *err);

/* --- Bytes ------------------------------------------------------------------------------------ */

/* What the array is, for another process or another day: operations, places of stores (as absolute paths)
 * and all elements of memory that it reads. *data is freed with cubed_array_free_bytes.
 * CUBED_E_UNSUPPORTED for sources that stay in their process. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_save(cubed_array *x, void **data, size_t *size,
                                                         cubed_error *err);
CUBED_API void cubed_array_free_bytes(const cubed_array *x, void *data, size_t size);
/* Checks everything that it reads; CUBED_E_FORMAT for bytes that are no array, CUBED_E_UNSUPPORTED for
 * another version. Stores are opened when the array is computed. With `allow_code` bytes may carry code
 * (a user's function, which can do whatever this process may): else they are refused. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_load(cubed_context *ctx, const void *data,
                                                         size_t size, bool allow_code,
                                                         cubed_array **out, cubed_error *err);

/* --- Sources ---------------------------------------------------------------------------------- */

/* A Zarr array of format 3 or 2, whose metadata is read now and whose chunks (of shards the inner ones) become
 * the array's, or an array of a file (NetCDF, HDF5). `url` is STORE or STORE::PATH, where STORE is a directory, a file
 * or a file:// URL. CUBED_E_NOT_FOUND if
 * there is no array, CUBED_E_FORMAT for malformed metadata, CUBED_E_UNSUPPORTED for what it asks for and is
 * not known here. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_open(cubed_context *ctx, const char *url,
                                                         cubed_array **out, cubed_error *err);
/* Several of them as one, in this order along the dimension of that name (NULL: the first axis). Types, names of
 * dimensions, other extents, and what says how values are stored (units, calendar, scale_factor, add_offset, _FillValue,
 * missing_value, _Unsigned, dtype) must agree: CUBED_E_ARG names what differs, and where. Other attributes are those of the first. Of arrays
 * without such a dimension, which must have one shape, the first is taken. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_open_parts(cubed_context *ctx,
                                                               const char *const *urls, int n,
                                                               const char *dim, cubed_array **out,
                                                               cubed_error *err);
/* Texts of any length ("string" of Zarr's format 3, the filter "vlen-utf8" of format 2, those of HDF5's files), which
 * cubed_array_open says CUBED_E_UNSUPPORTED of: all are read now, as an array in memory whose elements have the length of
 * the longest.
 * CUBED_E_UNSUPPORTED where they are none, or lie in shards within shards; CUBED_E_BUDGET where a chunk, or all, would
 * take more than `most` bytes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_open_texts(cubed_context *ctx, const char *url,
                                                               size_t most, cubed_array **out,
                                                               cubed_error *err);
/* The caller's memory, borrowed until the last array over it and the last plan that reads it are
 * gone. `strides` in bytes (NULL: C order). `chunks` NULL: about 1 MiB each, whole trailing axes
 * first. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_from_memory(
    cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides,
    const int64_t *chunks, const void *data, cubed_array **out, cubed_error *err);
/* Says whose the memory of such an array is: `release(owner)` is called once, by whichever thread drops
 * the last reference of the arrays and plans that read it. Before x is used otherwise, and once. */
CUBED_API void cubed_array_set_owner(cubed_array *x, void (*release)(void *owner), void *owner);
/* Says that the memory of such an array was allocated for it alone, such as for a copy of values that a user gave: plans
 * count its elements with their metadata. Before x is used otherwise. */
CUBED_API void cubed_array_set_made(cubed_array *x);
/* A pointer that the program keeps with an array, for what lives as long as arrays that are made of it. NULL at
 * first. Neither this nor the next is thread-safe. */
CUBED_API const void *cubed_array_tag(const cubed_array *x);
/* Gives x the tag `to`, and what x is made of, as far down as it has x's tag. `visit`, if not NULL, is called with
 * every other tag that is met there, maybe several times; nothing below is looked at. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_retag(cubed_array *x, const void *to,
                                                          void (*visit)(void *ctx, const void *tag),
                                                          void *ctx, cubed_error *err);
/* A number, not 0, that says for the program where it made x: plans and errors tell it, but
 * do not save it. Before x is used otherwise; has no effect where x has one. What the call that made x
 * made on the way, and has none, gets it, too. */
CUBED_API void cubed_array_set_origin(cubed_array *x, uint32_t origin);
/* Says that nobody chose x's chunks, as is true where they are NULL above and below: what is made of several
 * arrays has the chunks of others. Before x is used otherwise. */
CUBED_API void cubed_array_yield_chunks(cubed_array *x);
/* One value everywhere. ndim 0 makes a scalar, which broadcasts. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_full(cubed_context *ctx, cubed_dtype dtype,
                                                         int ndim, const int64_t *shape,
                                                         const int64_t *chunks,
                                                         const cubed_scalar *value,
                                                         cubed_array **out, cubed_error *err);
/* The same of bytes or strings, by the bytes of an element, which are copied. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_full_text(cubed_context *ctx, cubed_dtype dtype,
                                                              int ndim, const int64_t *shape,
                                                              const int64_t *chunks,
                                                              const void *element,
                                                              cubed_array **out, cubed_error *err);
/* int64: each element's own position in C order, plus `start`. The root of arange and random. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_index(cubed_context *ctx, int ndim,
                                                          const int64_t *shape,
                                                          const int64_t *chunks, int64_t start,
                                                          cubed_array **out, cubed_error *err);
/* 1-D, start, start + step, ... up to but not including stop: ceil((stop - start) / step) elements.
 * Computed in float64, start + k * step for element k, then cast: exact for integers below 2**53.
 * `chunk` NULL: automatic. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_arange(cubed_context *ctx, double start,
                                                           double stop, double step,
                                                           cubed_dtype dtype, const int64_t *chunk,
                                                           cubed_array **out, cubed_error *err);
/* 1-D, n elements start + step * k, computed as int64 (modulo 2**64) or float64, which `type` is, then cast to
 * `dtype`, a type of numbers. `chunk` NULL: automatic. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_ramp(cubed_context *ctx, cubed_dtype type,
                                                         const cubed_scalar *start,
                                                         const cubed_scalar *step, int64_t n,
                                                         cubed_dtype dtype, const int64_t *chunk,
                                                         cubed_array **out, cubed_error *err);
/* 1-D float64, `num` equally spaced numbers from start to stop, which is the last one, exactly, if
 * `endpoint`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_linspace(cubed_context *ctx, double start,
                                                             double stop, int64_t num,
                                                             bool endpoint, const int64_t *chunk,
                                                             cubed_array **out, cubed_error *err);
/* rows x columns, 1 on the diagonal that is k right of the main one and 0 elsewhere. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_eye(cubed_context *ctx, int64_t rows,
                                                        int64_t columns, int64_t k,
                                                        cubed_dtype dtype, const int64_t *chunks,
                                                        cubed_array **out, cubed_error *err);
/* The lower (upper) triangles of the matrices in the last two axes, with the diagonal k right of
 * the main one; 0 elsewhere, also where x has NaN. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tril(cubed_array *x, int64_t k, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_triu(cubed_array *x, int64_t k, cubed_array **out,
                                                   cubed_error *err);

/* --- Random numbers --------------------------------------------------------------------------- */

/* All are Philox4x64-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC11), and have the same bits on every machine and in every executor. `chunks` NULL: automatic, as
 * above.
 *
 * With a seed, the words of an element follow from the seed and the element's index in C order:
 * values do not depend on the chunks. Each function has a stream of its own: numbers of different
 * functions are independent also under one seed. */

/* float64 uniform in [0, 1), 53 bits: counter = element index / 4. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_random(cubed_context *ctx, int ndim,
                                                           const int64_t *shape,
                                                           const int64_t *chunks, int64_t seed,
                                                           cubed_array **out, cubed_error *err);
/* low + (high - low) * cubed_array_random: may round to high. CUBED_E_ARG unless low <= high and the
 * difference is finite. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_uniform(cubed_context *ctx, int ndim,
                                                            const int64_t *shape,
                                                            const int64_t *chunks, double low,
                                                            double high, int64_t seed,
                                                            cubed_array **out, cubed_error *err);
/* float64, loc + scale * z with z the normal quantile of one word (Wichura's AS 241): |z| < 9.2.
 * CUBED_E_ARG unless both are finite and scale >= 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_normal(cubed_context *ctx, int ndim,
                                                           const int64_t *shape,
                                                           const int64_t *chunks, double loc,
                                                           double scale, int64_t seed,
                                                           cubed_array **out, cubed_error *err);
/* float64, scale * -log(u) with u in (0, 1] of one word: 0 to 44.4 times scale, which is the mean.
 * CUBED_E_ARG unless scale is finite and >= 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_exponential(cubed_context *ctx, int ndim,
                                                                const int64_t *shape,
                                                                const int64_t *chunks, double scale,
                                                                int64_t seed, cubed_array **out,
                                                                cubed_error *err);
/* From low to last, both of them included. */
typedef struct cubed_scalar_range {
    cubed_scalar low, last;
} cubed_scalar_range;

/* Integers of a range of values of type `dtype`. From 128 bits each: no value
 * is likelier than another by more than one part in 2**64. CUBED_E_TYPE unless dtype is of integers,
 * CUBED_E_ARG unless low <= last. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_integers(
    cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape, const int64_t *chunks,
    const cubed_scalar_range *range, int64_t seed, cubed_array **out, cubed_error *err);

/* Uniform in [0, 1), float64 or float32 (else CUBED_E_TYPE): chunk number b, in C order, has what
 * NumPy's Generator(Philox(key=key + b)).random(its shape, dtype) gives, bit for bit. So has Cubed for
 * Python with key as its root seed. The values depend on the chunks; other chunks are a matter of
 * cubed_rechunk. key[0] is the low word; key + b is taken modulo 2**128. CUBED_E_ARG for more than
 * 2**31 chunks, or 2**32 elements in one. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_random_blocks(
    cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape, const int64_t *chunks,
    const uint64_t key[2], cubed_array **out, cubed_error *err);

/* --- Elementwise ------------------------------------------------------------------------------ */

/* args[nargs] are broadcast and promoted by the standard's rules, and the result has the chunks of the largest
 * of those that are read or made chunk by chunk; of constants only where all are.
 * Half precision (float16, bfloat16) is calculated in float32, which the result is then; CUBED_OP_WHERE takes
 * a bool first. Times (datetime64, timedelta64) are added, subtracted, multiplied, divided, compared and chosen among by
 * NumPy's rules, in the unit that both have in common; what is made of NaT is NaT, nan or false. Bytes and
 * strings of any lengths are compared with their kind, by bytes and code points, and chosen among: the longest length is
 * the result's. Comparisons of signed
 * integers with uint64 are exact. CUBED_OP_POW with one number (0-d, cubed_array_full) as the exponent is what is
 * rounded once: of 2 a square, of 1 x in the result's type, of -1 a division (of floats and complex numbers), of 0.5 a square
 * root (of floats: nan of -inf). CUBED_E_TYPE for a kind that the operation does not take, CUBED_E_ARG for
 * shapes that do not broadcast, arrays of several contexts, and integers to one negative power. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_elementwise(cubed_op op, cubed_array *const *args,
                                                          int nargs, cubed_array **out,
                                                          cubed_error *err);
/* The same shape and chunks in another type; x itself if it has that type. Complex to real drops the imaginary
 * part; float to integer truncates (NaN and out of range: unspecified value, no trap); anything to bool tests
 * != 0; times are cast from and to integers and bools, as int64, and to other units downwards, months to days of dates
 * alone. CUBED_E_TYPE for others, and for texts. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_astype(cubed_array *x, cubed_dtype dtype,
                                                     cubed_array **out, cubed_error *err);

/* --- Reductions ------------------------------------------------------------------------------- */

typedef struct cubed_reduce_options {
    size_t struct_size;
    const int *axes; /* may be negative, no repeats; NULL: all */
    int naxes;
    bool keepdims;
    double correction; /* var, std: divisor is N - correction */
} cubed_reduce_options;
#define CUBED_REDUCE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_reduce_options), NULL, 0, false, 0.0                                          \
    }

/* The reduction of the standard of that name over `options->axes` (options NULL: all axes), which are gone or,
 * with keepdims, have extent 1. min and max have x's type (of half precision float32), all and any bool, sums
 * and products of integers int64 or uint64, everything else the type of floats or complex numbers that x has,
 * float64 for integers. States of floats are float64. Complex numbers are compared by their real parts, and where
 * these are equal by the imaginary ones. Of times there are min and max, of differences of times
 * sum and mean (truncated), too, with NaT as NaN. CUBED_E_TYPE for a kind that it does not take, CUBED_E_ARG for
 * axes that are not there, and for min or max of no elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_reduce(cubed_reduction reduction, cubed_array *x,
                                                     const cubed_reduce_options *options,
                                                     cubed_array **out, cubed_error *err);

/* The same over the elements that are not NaN, as NumPy's nansum, nanmax and so on: sums over nothing
 * are 0, products 1, everything else NaN. Not all and any. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nan_reduce(cubed_reduction reduction, cubed_array *x,
                                                         const cubed_reduce_options *options,
                                                         cubed_array **out, cubed_error *err);
/* int64: how many elements are not 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_count_nonzero(cubed_array *x,
                                                            const cubed_reduce_options *options,
                                                            cubed_array **out, cubed_error *err);

/* int64: the position along the axis (NULL: in C order of the whole array) of the smallest (largest)
 * element, the first of them; of the first NaN if there is one. Complex numbers are in order by real parts, then by
 * imaginary ones. CUBED_E_ARG where there is no element. Reads the input twice. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argmin(cubed_array *x, const int *axis, bool keepdims,
                                                     cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argmax(cubed_array *x, const int *axis, bool keepdims,
                                                     cubed_array **out, cubed_error *err);

/* --- Views: move no data, always fuse ----------------------------------------------------------- */

/* One axis of a slice, already resolved: element k of the result is start + k*step, 0 <= k < len.
 * `drop` removes the axis (len must be 1). */
typedef struct cubed_slice {
    int64_t start, len, step;
    bool drop;
} cubed_slice;
/* Resolves Python's slice(start, stop, step) on an axis; NULL for None. Never fails but for
 * step 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_slice_resolve(const int64_t *start,
                                                            const int64_t *stop,
                                                            const int64_t *step, int64_t extent,
                                                            cubed_slice *out, cubed_error *err);
/* slices[ndim], one per axis. CUBED_E_INDEX if an element would lie outside. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_slice_array(cubed_array *x, const cubed_slice *slices,
                                                          cubed_array **out, cubed_error *err);
/* Axis j of the result is axes[j] of x: axes[ndim], each once, may be negative. CUBED_E_ARG else. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_permute_dims(cubed_array *x, const int *axes,
                                                           cubed_array **out, cubed_error *err);
/* Backwards along axes[naxes], which may be negative; NULL: all. CUBED_E_ARG for one that is not there. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_flip(cubed_array *x, const int *axes, int naxes,
                                                   cubed_array **out, cubed_error *err);
/* Shapes are aligned at their ends; axes of extent 1 repeat, in chunks of about a MiB. CUBED_E_ARG for others
 * that differ. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_broadcast_to(cubed_array *x, int ndim,
                                                           const int64_t *shape, cubed_array **out,
                                                           cubed_error *err);
/* A new axis of extent 1, which is `axis` of the result, -1 for the last. CUBED_E_ARG for one that it does not
 * have, CUBED_E_UNSUPPORTED beyond CUBED_MAX_NDIM. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_expand_dims(cubed_array *x, int axis,
                                                          cubed_array **out, cubed_error *err);
/* Without axes[naxes], whose extents must be 1 (else CUBED_E_ARG); NULL: without all that are. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_squeeze(cubed_array *x, const int *axes, int naxes,
                                                      cubed_array **out, cubed_error *err);
/* args[nargs], at least one, behind each other along an axis, in the type that they promote to. Chunks along the
 * others are those of the largest (see cubed_elementwise). Along it chunks are as long as those of the one array
 * that is no constant (irregular ones stay); of several, as the longest. CUBED_E_ARG where other extents differ,
 * CUBED_E_TYPE for types with nothing in common. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_concat(cubed_array *const *args, int nargs, int axis,
                                                     cubed_array **out, cubed_error *err);

/* The same elements in C order in another shape; one extent may be -1, for what is left. Where groups
 * of axes are merged whose chunks are no intervals in C order, the result's chunks are whole rows of
 * those chunks, up to 16 MiB; beyond that x is stored in other chunks before. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_reshape(cubed_array *x, int ndim,
                                                      const int64_t *shape, cubed_array **out,
                                                      cubed_error *err);
/* Each element n times, one beside the other; axis NULL: of x in one dimension. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_repeat(cubed_array *x, int64_t n, const int *axis,
                                                     cubed_array **out, cubed_error *err);

/* Elements shifts[i] further along axes[i], those that leave coming back at the start. n pairs; an
 * axis may come twice. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_roll(cubed_array *x, const int64_t *shifts,
                                                   const int *axes, int n, cubed_array **out,
                                                   cubed_error *err);
/* Arrays of one shape side by side along a new axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_stack(cubed_array *const *args, int nargs, int axis,
                                                    cubed_array **out, cubed_error *err);
/* before[ndim] and after[ndim] elements of `value`, of x's type, around x, whose chunks go on: none is longer
 * than the longest of x. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_pad(cubed_array *x, const int64_t *before,
                                                  const int64_t *after, const cubed_scalar *value,
                                                  cubed_array **out, cubed_error *err);

/* --- Chunks ------------------------------------------------------------------------------------- */

/* Running sums, products, largest or smallest values (reduction: CUBED_REDUCE_SUM, PROD, MAX or MIN) along an
 * axis, in order: sums and products of integers as int64 or uint64, which wrap, floats in their own type with
 * totals carried as float64; extremes in x's type, NaN once there is one, and not of complex numbers. With
 * `include_initial` the 0 or 1 that sums and products start from stands in front. Stored, also if it is not a
 * target: a task makes the chunks along the axis one after another, each from one read of its input,
 * so tasks run side by side only across the other axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cumulative(cubed_reduction reduction, cubed_array *x,
                                                         int axis, bool include_initial,
                                                         cubed_array **out, cubed_error *err);
/* x, whose missing elements are replaced by the last element before them along the axis that is not missing. NaN, NaT
 * and complex numbers with a NaN part are missing. They stay at the start of the axis. Integers and bools have no missing
 * elements; CUBED_E_TYPE for strings. Stored and computed in order, as running totals are. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_forward_fill(cubed_array *x, int axis,
                                                           cubed_array **out, cubed_error *err);
#define CUBED_CHUNKS_KEPT INT64_MIN
/* The same values with other chunks; chunks[ndim], -1 for the whole axis, CUBED_CHUNKS_KEPT for those of x. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rechunk(cubed_array *x, const int64_t *chunks,
                                                      cubed_array **out, cubed_error *err);
/* Lengths of the chunks along an axis, each >= 1, which add up to its extent. */
typedef struct cubed_chunk_list {
    const int64_t *lengths;
    int64_t n;
} cubed_chunk_list;
/* The same with chunks of different lengths: axes[ndim]; where `lengths` is NULL the axis keeps its chunks.
 * They are stored in Zarr arrays of format 3, whose grid is "rectilinear" then. Lengths that come about by
 * themselves, of slices and of functions' blocks, are not: such a target has equal chunks, as long as the longest. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rechunk_irregular(cubed_array *x,
                                                                const cubed_chunk_list *axes,
                                                                cubed_array **out,
                                                                cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
