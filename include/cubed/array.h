/* Lazy arrays: descriptions of a computation, which a plan (cubed/plan.h) carries out. Building an array takes a few
 * microseconds. It does no I/O, except that opening a source reads its metadata.
 *
 * A cubed_array is immutable and reference-counted. Any thread may take and release references. A function that creates an
 * array returns one reference to the caller. The array holds its own references to its inputs. All arrays of a computation
 * belong to one context.
 *
 * Chunk lengths (`chunks`, `chunk`) are at least 1; -1 is the whole axis. NULL: automatic chunks of about 1 MiB, whole trailing
 * axes first. Errors: CUBED_E_ARG for other lengths, negative extents, and sizes that do not fit int64. */
#ifndef CUBED_ARRAY_H
#define CUBED_ARRAY_H

#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_array cubed_array;

/* Elementwise operations (cubed/ops.def). */
typedef enum cubed_op {
#define CUBED_OP(NAME, name, number, arity, accepts, result, summary) CUBED_OP_##NAME = (number),
#include "cubed/ops.def"
#undef CUBED_OP
    CUBED_OP_COUNT
} cubed_op;

/* Reductions (cubed/reductions.def). */
typedef enum cubed_reduction {
#define CUBED_REDUCTION(NAME, name, number, accepts, result) CUBED_REDUCE_##NAME = (number),
#include "cubed/reductions.def"
#undef CUBED_REDUCTION
    CUBED_REDUCE_COUNT
} cubed_reduction;

/* Return the standard's name of an operation ("add") or reduction ("mean"), a static string; NULL for a number outside the
 * enumeration. */
CUBED_API const char *cubed_op_name(cubed_op op);
CUBED_API const char *cubed_reduction_name(cubed_reduction reduction);
/* Look up an operation and its number of operands, or a reduction, by name. Return false if no operation or reduction has the
 * name. */
CUBED_API bool cubed_op_parse(const char *name, cubed_op *op, int *arity);
CUBED_API bool cubed_reduction_parse(const char *name, cubed_reduction *reduction);

/* Take a reference and return x; release a reference (NULL is allowed). Thread-safe. */
CUBED_API cubed_array *cubed_array_ref(cubed_array *x);
CUBED_API void cubed_array_unref(cubed_array *x);

/* Properties of an array. Returned pointers are valid as long as x exists; cubed_array_context takes no reference to the
 * context. */
CUBED_API cubed_context *cubed_array_context(const cubed_array *x);
CUBED_API cubed_dtype cubed_array_dtype(const cubed_array *x);
CUBED_API int cubed_array_ndim(const cubed_array *x);
CUBED_API const int64_t *cubed_array_shape(const cubed_array *x);
/* Returns the length of a chunk along each axis, at least 1. The first and the last chunk of an axis may be shorter than this
 * length. For irregular chunks it is the length of the longest chunk. */
CUBED_API const int64_t *cubed_array_chunks(const cubed_array *x);
/* Return the number of chunks along axis `dim` (0 to ndim - 1), and the length of chunk number `i`, 0 <= i < their number. */
CUBED_API int64_t cubed_array_num_chunks(const cubed_array *x, int dim);
CUBED_API int64_t cubed_array_chunk_length(const cubed_array *x, int dim, int64_t i);
/* Returns whether the chunks along an axis are irregular: chunks other than the first and the last differ in length. */
CUBED_API bool cubed_array_is_irregular(const cubed_array *x, int dim);
/* Returns the name of a dimension; NULL if the dimension has no name, or if `dim` is out of range. */
CUBED_API const char *cubed_array_dim_name(const cubed_array *x, int dim);
/* Returns the attributes as the text of a JSON object, "{}" if x has no attributes. The member CUBED_ATTRIBUTE_TYPES, if
 * present, gives types of attributes; cubed_attribute_get returns a value with its type. A source has the attributes of its
 * store. Casts, views and rechunks keep the attributes of their operand; other operations drop them, because the attributes do
 * not describe their values. */
CUBED_API const char *cubed_array_attrs(const cubed_array *x);
/* Gets the fill value of a Zarr array of format 2, or of a view or copy of such an array, in x's type. Readers treat elements
 * that equal the fill value as missing. Returns false, and leaves *out unchanged, if x has no such value. Arrays that are
 * stored from arrays of format 2 or 3 get the same fill value. */
CUBED_API bool cubed_array_missing_value(const cubed_array *x, cubed_scalar *out);
/* Create an array that differs from x in its attributes or dimension names only. `json` is the text of a JSON object;
 * names[ndim] may hold NULLs.
 *
 * Errors: CUBED_E_FORMAT if `json` is not JSON, CUBED_E_ARG if it is not an object. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_with_attrs(cubed_array *x, const char *json,
                                                               cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_with_dim_names(cubed_array *x,
                                                                   const char *const *names,
                                                                   cubed_array **out,
                                                                   cubed_error *err);

/* --- Records ---------------------------------------------------------------------------------- */

/* Arrays of CUBED_RECORD have elements with named fields. A description of them is a JSON list with [NAME, TYPE] or
 * [NAME, TYPE, SHAPE] for each field, as in Zarr format 2. TYPE is a type string such as "<f4", or a list of fields. Fields
 * follow one another without padding.
 *
 * cubed_array_fields      returns the description of the elements; NULL for other types, and if the fields are unknown
 * cubed_array_set_fields  sets the description of an array that no other array reads yet. CUBED_E_FORMAT if the description is
 *                         invalid, CUBED_E_TYPE if its size differs from the size of the elements
 * cubed_fields_dtype      gets the type of elements with these fields: CUBED_RECORD with their length
 * cubed_field             creates an array of the field `name` of x, in this machine's byte order; the field's own axes follow
 *                         those of x. CUBED_E_ARG if there is no such field
 * cubed_fields            creates records that have only the n named fields of x, in this machine's byte order */
CUBED_API const char *cubed_array_fields(const cubed_array *x);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_set_fields(cubed_array *x, const char *json,
                                                               cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fields_dtype(const char *json, cubed_dtype *out,
                                                           cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_field(cubed_array *x, const char *name,
                                                    cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fields(cubed_array *x, const char *const *names,
                                                     int n, cubed_array **out, cubed_error *err);

/* --- Bytes ------------------------------------------------------------------------------------ */

/* Serialises an array for another process or later use: its operations, the places of its stores as absolute paths, and all
 * elements in memory that it reads.
 *
 * data  receives the bytes, which cubed_array_free_bytes frees
 *
 * Errors: CUBED_E_UNSUPPORTED for sources that cannot leave their process.
 *
 * cubed_array_free_bytes  frees the bytes; x is the array that was saved */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_save(cubed_array *x, void **data, size_t *size,
                                                         cubed_error *err);
CUBED_API void cubed_array_free_bytes(const cubed_array *x, void *data, size_t size);
/* Creates an array from the bytes of cubed_array_save. Checks all bytes. Stores are opened when the array is computed.
 *
 * allow_code  accepts bytes that contain code: a user-defined function, which has all rights of this process
 *
 * Errors: CUBED_E_FORMAT for bytes that are not an array; CUBED_E_UNSUPPORTED for bytes of another version, and for functions
 * that the context does not know; CUBED_E_ARG for code that is not allowed. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_load(cubed_context *ctx, const void *data,
                                                         size_t size, bool allow_code,
                                                         cubed_array **out, cubed_error *err);

/* --- Sources ---------------------------------------------------------------------------------- */

/* Opens a Zarr array of format 3 or 2, or an array of a file (NetCDF, HDF5). Reads the metadata now. The array has the
 * chunks of the store; if the store has shards, their inner chunks.
 *
 * url  STORE or STORE::PATH; STORE is a directory, a file or a URL
 *
 * Errors: CUBED_E_NOT_FOUND if there is no array, CUBED_E_FORMAT for malformed metadata, CUBED_E_UNSUPPORTED for a feature
 * of the format that this library does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_open(cubed_context *ctx, const char *url,
                                                         cubed_array **out, cubed_error *err);
/* Opens several arrays as one: concatenates them, in this order, along a dimension.
 *
 * dim  name of the dimension; NULL: the first axis. If the arrays do not have the dimension, they must have one shape, and the
 *      result is the first array.
 *
 * The arrays must have the same types, names of dimensions, and extents along other dimensions. They must also agree in the
 * attributes that determine values (units, calendar, scale_factor, add_offset, _FillValue, missing_value). The other attributes
 * are those of the first array.
 *
 * Errors: CUBED_E_ARG if n is less than 1, or if the arrays differ; the message names the difference and the array. Also the
 * errors of cubed_array_open. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_open_parts(cubed_context *ctx,
                                                               const char *const *urls, int n,
                                                               const char *dim, cubed_array **out,
                                                               cubed_error *err);
/* Opens an array of variable-length strings: "string" of Zarr format 3, the filter "vlen-utf8" of format 2, or HDF5 strings.
 * cubed_array_open fails for such arrays (CUBED_E_UNSUPPORTED). Reads all elements now, into an array in memory. Its elements
 * have the length of the longest string.
 *
 * most  maximum size in bytes of a chunk, of its stored object (a whole shard), and of all elements together; 1 to 2^31, else
 *       CUBED_E_ARG
 *
 * Errors: CUBED_E_UNSUPPORTED if the array has elements of another type, or codecs with which strings cannot be read;
 * CUBED_E_BUDGET if a chunk, an object, or all elements, exceed `most`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_open_texts(cubed_context *ctx, const char *url,
                                                               size_t most, cubed_array **out,
                                                               cubed_error *err);
/* Creates an array of the caller's memory, which is borrowed until the last array over it and the last plan that reads it are
 * freed.
 *
 * strides  in bytes; NULL: C order
 * data     not NULL, even if the array has no elements
 *
 * Errors: CUBED_E_ARG if `data` is NULL; CUBED_E_TYPE for an invalid type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_from_memory(
    cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides,
    const int64_t *chunks, const void *data, cubed_array **out, cubed_error *err);
/* Sets the owner of the memory of an array from cubed_array_from_memory. When the last array or plan that reads the memory is
 * freed, `release(owner)` is called once, in the thread that frees it. Call this function once, before any other use of x. */
CUBED_API void cubed_array_set_owner(cubed_array *x, void (*release)(void *owner), void *owner);
/* Marks the memory of an array from cubed_array_from_memory as allocated only for this array. An example is a copy of values
 * that a user passed. Plans then count the elements as part of their own memory (metadata). Call this function before any other
 * use of x. */
CUBED_API void cubed_array_set_made(cubed_array *x);
/* Returns the tag of x: a pointer that the program attaches to an array. It may identify data that must live as long as this
 * array and all arrays created from it. Initially NULL. Not thread-safe: no other thread may change the tag (cubed_array_retag)
 * at the same time. */
CUBED_API const void *cubed_array_tag(const cubed_array *x);
/* Replaces x's tag by `to`, in x and in all its inputs that have the same tag, recursively. Does nothing if x has the tag `to`.
 * Not thread-safe.
 *
 * visit  if not NULL, is called with the tag of each input that has another tag than x's old tag and `to`. The tag may be NULL,
 *        and the same tag may be passed several times. Inputs of such an input are not visited.
 *
 * Errors: CUBED_E_NOMEM; some inputs then have the new tag. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_retag(cubed_array *x, const void *to,
                                                          void (*visit)(void *ctx, const void *tag),
                                                          void *ctx, cubed_error *err);
/* Sets the origin of x: a nonzero number by which the program identifies the place in its code that created x. Plans and errors
 * report the origin; saved plans do not contain it. Has no effect if `origin` is 0, or if x has an origin. Inputs without an
 * origin, which the same call created, get the same number. Call this function before any other use of x. */
CUBED_API void cubed_array_set_origin(cubed_array *x, uint32_t origin);
/* Marks the chunks of x as not chosen by the user. If an operation combines x with other arrays, the result has the chunks of
 * the other arrays. Functions with a `chunks` parameter mark the chunks themselves if the parameter is NULL. Call this function
 * before any other use of x. */
CUBED_API void cubed_array_yield_chunks(cubed_array *x);
/* Creates an array with one value everywhere. With ndim 0 it is a scalar, which broadcasts. CUBED_E_TYPE for strings and
 * records: see cubed_array_full_text. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_full(cubed_context *ctx, cubed_dtype dtype,
                                                         int ndim, const int64_t *shape,
                                                         const int64_t *chunks,
                                                         const cubed_scalar *value,
                                                         cubed_array **out, cubed_error *err);
/* Creates an array of bytes, strings or records with one element everywhere. `element` points to the bytes of the element, which
 * are copied. CUBED_E_TYPE for other types. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_full_text(cubed_context *ctx, cubed_dtype dtype,
                                                              int ndim, const int64_t *shape,
                                                              const int64_t *chunks,
                                                              const void *element,
                                                              cubed_array **out, cubed_error *err);
/* Creates an int64 array: each element is its own position in C order, plus `start`. cubed_array_arange and cubed_array_random
 * are built on this function. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_index(cubed_context *ctx, int ndim,
                                                          const int64_t *shape,
                                                          const int64_t *chunks, int64_t start,
                                                          cubed_array **out, cubed_error *err);
/* Creates a 1-D array start, start + step, ... up to but not including stop: ceil((stop - start) / step) elements, or none if
 * this is negative. Element k is start + k * step in float64, then cast to the numeric type `dtype`: exact for integers below
 * 2**53.
 *
 * Errors: CUBED_E_ARG for numbers that are not finite, for a step of 0, and for 2**60 elements or more; CUBED_E_TYPE if
 * `dtype` is not a numeric type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_arange(cubed_context *ctx, double start,
                                                           double stop, double step,
                                                           cubed_dtype dtype, const int64_t *chunk,
                                                           cubed_array **out, cubed_error *err);
/* Creates a 1-D array of n elements start + step * k, computed in `type`, which is CUBED_INT64 (modulo 2**64) or CUBED_FLOAT64.
 * The elements are then cast to the numeric type `dtype`. CUBED_E_TYPE for other types. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_ramp(cubed_context *ctx, cubed_dtype type,
                                                         const cubed_scalar *start,
                                                         const cubed_scalar *step, int64_t n,
                                                         cubed_dtype dtype, const int64_t *chunk,
                                                         cubed_array **out, cubed_error *err);
/* Creates a 1-D float64 array of `num` equally spaced numbers from start to stop.
 *
 * endpoint  the last of two or more numbers is exactly stop. False: the step is (stop - start) / num, and stop is not included.
 *
 * CUBED_E_ARG if `num` is negative, or if start or stop is not finite. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_linspace(cubed_context *ctx, double start,
                                                             double stop, int64_t num,
                                                             bool endpoint, const int64_t *chunk,
                                                             cubed_array **out, cubed_error *err);
/* Creates a matrix of rows x columns with 1 on the k-th diagonal (k > 0: to the right of the main diagonal), and 0 elsewhere.
 * CUBED_E_ARG for a negative extent, CUBED_E_TYPE for half precision, times, strings and records. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_eye(cubed_context *ctx, int64_t rows,
                                                        int64_t columns, int64_t k,
                                                        cubed_dtype dtype, const int64_t *chunks,
                                                        cubed_array **out, cubed_error *err);
/* Return the lower (upper) triangles of the matrices in the last two axes, including the k-th diagonal (k > 0: to the right
 * of the main diagonal). All other elements are 0, even if x has NaN there. CUBED_E_ARG if x has fewer than two axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tril(cubed_array *x, int64_t k, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_triu(cubed_array *x, int64_t k, cubed_array **out,
                                                   cubed_error *err);

/* --- Random numbers --------------------------------------------------------------------------- */

/* The generator is Philox4x64-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11). Numbers
 * have the same bits on every machine and in every executor.
 *
 * With a seed, the random words of an element depend on the seed and on the element's index in C order, not on the chunks. Each
 * function has its own stream: numbers of different functions are independent, even with the same seed. Only
 * cubed_array_uniform uses the stream of cubed_array_random. */

/* Generates float64 numbers, uniform in [0, 1) with 53 bits. Each counter of the generator gives four numbers: element i has the
 * counter i / 4. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_random(cubed_context *ctx, int ndim,
                                                           const int64_t *shape,
                                                           const int64_t *chunks, int64_t seed,
                                                           cubed_array **out, cubed_error *err);
/* Generates float64 numbers low + (high - low) * u, where u has the values of cubed_array_random with the same shape and seed. A
 * number may round to high. CUBED_E_ARG unless low <= high and the difference is finite. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_uniform(cubed_context *ctx, int ndim,
                                                            const int64_t *shape,
                                                            const int64_t *chunks, double low,
                                                            double high, int64_t seed,
                                                            cubed_array **out, cubed_error *err);
/* Generates float64 numbers loc + scale * z, where z is the normal quantile of one random word (Wichura's AS 241): |z| < 9.2.
 * CUBED_E_ARG unless loc and scale are finite and scale >= 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_normal(cubed_context *ctx, int ndim,
                                                           const int64_t *shape,
                                                           const int64_t *chunks, double loc,
                                                           double scale, int64_t seed,
                                                           cubed_array **out, cubed_error *err);
/* Generates float64 numbers scale * -log(u), where one random word gives u in (0, 1]. The mean is `scale`; the range is 0 to 44.4
 * times `scale`. CUBED_E_ARG unless scale is finite and >= 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_exponential(cubed_context *ctx, int ndim,
                                                                const int64_t *shape,
                                                                const int64_t *chunks, double scale,
                                                                int64_t seed, cubed_array **out,
                                                                cubed_error *err);
/* The integers from `low` to `last`, both included. */
typedef struct cubed_scalar_range {
    cubed_scalar low, last;
} cubed_scalar_range;

/* Generates integers of the type `dtype`, uniform in a range. Each is computed from 128 random bits, so the probabilities of two
 * values differ by at most one part in 2**64. CUBED_E_TYPE unless dtype is an integer type, CUBED_E_ARG unless low <= last. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_integers(
    cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape, const int64_t *chunks,
    const cubed_scalar_range *range, int64_t seed, cubed_array **out, cubed_error *err);

/* Generates float64 or float32 numbers, uniform in [0, 1), that depend on the chunks. Chunk number b, in C order, has the
 * values of NumPy's Generator(Philox(key=key + b)).random(shape of the chunk, dtype), bit for bit. Cubed for Python generates
 * the same numbers with key as its root seed. To get these numbers with other chunks, use cubed_rechunk.
 *
 * key  key[0] is the low word; key + b is computed modulo 2**128
 *
 * Errors: CUBED_E_TYPE for a type other than these two, CUBED_E_ARG for more than 2**31 chunks, or 2**32 elements in a chunk. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_random_blocks(
    cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape, const int64_t *chunks,
    const uint64_t key[2], cubed_array **out, cubed_error *err);

/* --- Elementwise ------------------------------------------------------------------------------ */

/* Applies an elementwise operation to args[nargs], which are broadcast and promoted by the rules of the Array API standard. The
 * result has the chunks of the largest operand that is read or computed chunk by chunk. The chunks of constants are used only
 * if all operands are constants.
 *
 * - Half precision (float16, bfloat16) is computed in float32, which is the type of the result.
 * - The first operand of CUBED_OP_WHERE is a bool.
 * - Times (datetime64, timedelta64) are added, subtracted, multiplied, divided, compared and selected by NumPy's rules, in
 *   their common unit. NaT gives NaT, NaN or false.
 * - Bytes with bytes, and strings with strings, of any lengths, are compared (by bytes or code points), concatenated by
 *   CUBED_OP_ADD, and selected by CUBED_OP_WHERE. A selection has the longest length, a concatenation the sum of the lengths.
 * - Records with equal fields are compared for equality, and selected.
 * - Comparisons of signed integers with uint64 are exact.
 * - CUBED_OP_POW rounds once for four exponents, if the exponent is one number (0-d, cubed_array_full): 2 is a square, 1 is x
 *   in the result's type, -1 is a division (floats and complex numbers), 0.5 is a square root (of floats: NaN for -inf).
 *
 * Errors: CUBED_E_TYPE for a type that the operation does not accept; CUBED_E_ARG for a wrong number of operands, for shapes
 * that do not broadcast, for arrays of different contexts, and for integers with one negative exponent. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_elementwise(cubed_op op, cubed_array *const *args,
                                                          int nargs, cubed_array **out,
                                                          cubed_error *err);
/* Casts an array to another type; returns x itself if it has that type. Shape and chunks do not change.
 *
 * - Complex to real drops the imaginary part.
 * - Float to integer truncates. NaN and values out of range give an unspecified value, without a trap.
 * - Anything to bool tests != 0; a string is true unless it is empty.
 * - Bytes and strings are cast to other lengths of the same family, truncated or padded.
 * - Times are cast from and to integers and bools as int64, and to other units by rounding down. Months and years are cast to
 *   days only for dates.
 *
 * Errors: CUBED_E_TYPE for all other casts. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_astype(cubed_array *x, cubed_dtype dtype,
                                                     cubed_array **out, cubed_error *err);

/* --- Reductions ------------------------------------------------------------------------------- */

typedef struct cubed_reduce_options {
    size_t struct_size;
    const int *axes; /* NULL: all axes; negative numbers count from the last axis */
    int naxes;
    bool keepdims;
    double correction; /* var and std: the divisor is N - correction */
} cubed_reduce_options;
#define CUBED_REDUCE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_reduce_options), NULL, 0, false, 0.0                                          \
    }

/* Reduces x over `options->axes` (options NULL: all axes). The axes are removed or, with keepdims, have extent 1.
 *
 * - The type of the result is x's type for min and max (float32 for half precision); bool for all and any; int64 or uint64
 *   for sums and products of integers; otherwise the floating-point or complex type of x, or float64 for integers.
 * - The states (partial results) of floating-point reductions are float64.
 * - Complex numbers are compared by their real parts; equal real parts by their imaginary parts.
 * - Strings and times support min and max; differences of times also support sum and mean (truncated). NaT behaves like NaN.
 *
 * Errors: CUBED_E_TYPE for a type that the reduction does not accept; CUBED_E_AXIS for an axis that x does not have;
 * CUBED_E_ARG for min or max of no elements, and for an unknown reduction. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_reduce(cubed_reduction reduction, cubed_array *x,
                                                     const cubed_reduce_options *options,
                                                     cubed_array **out, cubed_error *err);

/* Reduces the elements of x that are not NaN or NaT over `options->axes` (NULL: all axes), as NumPy's nansum and nanmax.
 * Types of results, times and axes: see cubed_reduce. If all elements are NaN, a sum is 0, a product is 1, and every other
 * result is NaN or NaT.
 *
 * Errors: CUBED_E_ARG for CUBED_REDUCE_ALL and CUBED_REDUCE_ANY, and for min or max over an axis of extent 0; CUBED_E_TYPE
 * and CUBED_E_AXIS as in cubed_reduce. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nan_reduce(cubed_reduction reduction, cubed_array *x,
                                                         const cubed_reduce_options *options,
                                                         cubed_array **out, cubed_error *err);
/* Counts the elements that are not 0, or the strings that are not empty, over `options->axes` (options NULL: all axes). The
 * result is int64; options->correction is ignored. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_count_nonzero(cubed_array *x,
                                                            const cubed_reduce_options *options,
                                                            cubed_array **out, cubed_error *err);

/* Return the position of the smallest (largest) element along *axis, as int64. If `axis` is NULL, positions count the elements
 * of the whole array in C order. If several elements are equal, the result is the position of the first one. If there are NaN
 * or NaT, it is the position of the first of them. Complex numbers are ordered by real parts, then by imaginary parts; strings
 * by bytes or code points. Reads the input twice.
 *
 * keepdims  the reduced axes have extent 1; otherwise they are removed
 *
 * Errors: CUBED_E_ARG if there are no elements along a reduced axis; CUBED_E_AXIS for an axis that x does not have;
 * CUBED_E_UNSUPPORTED for more than 2**53 elements of a 64-bit type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argmin(cubed_array *x, const int *axis, bool keepdims,
                                                     cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argmax(cubed_array *x, const int *axis, bool keepdims,
                                                     cubed_array **out, cubed_error *err);

/* --- Views: move no data, always fused ---------------------------------------------------------- */

/* One axis of a slice, resolved: element k of the result is start + k * step, 0 <= k < len. `drop` removes the axis (len
 * must be 1). */
typedef struct cubed_slice {
    int64_t start, len, step;
    bool drop;
} cubed_slice;
/* Resolves Python's slice(start, stop, step) on an axis of a given extent; NULL stands for None. CUBED_E_ARG if step is 0,
 * the only error. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_slice_resolve(const int64_t *start,
                                                            const int64_t *stop,
                                                            const int64_t *step, int64_t extent,
                                                            cubed_slice *out, cubed_error *err);
/* Selects slices[ndim], one per axis. CUBED_E_INDEX if an element would be outside of x, CUBED_E_ARG if a slice with `drop`
 * does not have exactly one element. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_slice_array(cubed_array *x, const cubed_slice *slices,
                                                          cubed_array **out, cubed_error *err);
/* Reorders the axes: axis j of the result is axes[j] of x. axes[ndim] has each axis once; negative axes count from the last.
 * CUBED_E_AXIS for an axis that x does not have, CUBED_E_ARG for an axis that is given twice. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_permute_dims(cubed_array *x, const int *axes,
                                                           cubed_array **out, cubed_error *err);
/* Reverses x along axes[naxes]; negative axes count from the last; NULL: all axes. CUBED_E_AXIS for an axis that x does not
 * have, CUBED_E_ARG for an axis that is given twice. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_flip(cubed_array *x, const int *axes, int naxes,
                                                   cubed_array **out, cubed_error *err);
/* Broadcasts x to a shape. Shapes are aligned at their last axes. An axis of extent 1 is repeated, in chunks of about 1 MiB.
 * CUBED_E_ARG if other extents differ. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_broadcast_to(cubed_array *x, int ndim,
                                                           const int64_t *shape, cubed_array **out,
                                                           cubed_error *err);
/* Inserts an axis of extent 1, which is `axis` of the result; -1 for the last. CUBED_E_AXIS for an axis that the result
 * does not have, CUBED_E_UNSUPPORTED beyond CUBED_MAX_NDIM. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_expand_dims(cubed_array *x, int axis,
                                                          cubed_array **out, cubed_error *err);
/* Removes axes[naxes], whose extents must be 1 (else CUBED_E_ARG); NULL: removes all axes of extent 1. CUBED_E_AXIS for an
 * axis that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_squeeze(cubed_array *x, const int *axes, int naxes,
                                                      cubed_array **out, cubed_error *err);
/* Concatenates args[nargs], nargs >= 1, along an axis. The result has the type that the arrays promote to.
 *
 * Chunks of the result:
 * - Along the other axes: those of the largest array (see cubed_elementwise).
 * - Along the axis, if only one array is not a constant: those of this array, even if they are irregular.
 * - Along the axis, if several arrays are not constants: as long as the longest chunk of these arrays.
 *
 * Errors: CUBED_E_AXIS for an axis that the arrays do not have, CUBED_E_ARG if other extents differ, CUBED_E_TYPE for types
 * without a common type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_concat(cubed_array *const *args, int nargs, int axis,
                                                     cubed_array **out, cubed_error *err);

/* Reshapes x: the same elements in C order. One extent may be -1; it is computed from the number of elements.
 *
 * If axes are merged, and x's chunks are not contiguous in C order, a chunk of the result is a whole row of x's chunks, up to
 * 16 MiB. If such a row is larger, x is first stored with other chunks. CUBED_E_ARG if the number of elements would differ. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_reshape(cubed_array *x, int ndim,
                                                      const int64_t *shape, cubed_array **out,
                                                      cubed_error *err);
/* Repeats each element n times (n >= 0) along *axis; the copies are next to each other. `axis` NULL: x is flattened first.
 * CUBED_E_ARG for a negative n, CUBED_E_AXIS for an axis that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_repeat(cubed_array *x, int64_t n, const int *axis,
                                                     cubed_array **out, cubed_error *err);

/* Moves elements by shifts[i] along axes[i], for n pairs. Elements shifted beyond the end reappear at the start. An axis may
 * occur twice: its shifts add up. An axis that is one chunk stays one chunk. CUBED_E_AXIS for an axis that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_roll(cubed_array *x, const int64_t *shifts,
                                                   const int *axes, int n, cubed_array **out,
                                                   cubed_error *err);
/* Stacks nargs arrays of one shape, nargs >= 1, along a new axis, which is `axis` of the result (-1: the last). The result
 * has the type that the arrays promote to. CUBED_E_ARG if the shapes differ, CUBED_E_AXIS for an axis that the result does
 * not have, CUBED_E_TYPE for types without a common type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_stack(cubed_array *const *args, int nargs, int axis,
                                                    cubed_array **out, cubed_error *err);
/* Pads x with before[ndim] and after[ndim] elements of `value`, which has x's type. The chunks of x continue into the
 * padding: no chunk is longer than the longest chunk of x. CUBED_E_ARG for a negative number of elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_pad(cubed_array *x, const int64_t *before,
                                                  const int64_t *after, const cubed_scalar *value,
                                                  cubed_array **out, cubed_error *err);

/* --- Chunks ------------------------------------------------------------------------------------- */

/* Computes running sums, products, maxima or minima along an axis, in order. The result is stored, even if it is not a
 * target. A task produces the chunks along the axis one after another, each from one read of its input. So tasks run in parallel
 * only across the other axes.
 *
 * reduction        CUBED_REDUCE_SUM, PROD, MAX or MIN
 * include_initial  puts the initial value, 0 for sums and 1 for products, in front of the results
 *
 * Sums and products of integers are int64 or uint64, and wrap. Floats keep their type, except that half precision gives
 * float32; totals are carried as float64. Sums of differences of times are differences of times. Maxima and minima have x's
 * type, are NaN from the first NaN on, and are not defined for complex numbers.
 *
 * Errors: CUBED_E_ARG for another reduction, and for include_initial with a maximum or minimum; CUBED_E_TYPE for types
 * without such a result; CUBED_E_AXIS for an axis that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cumulative(cubed_reduction reduction, cubed_array *x,
                                                         int axis, bool include_initial,
                                                         cubed_array **out, cubed_error *err);
/* Replaces each missing element by the last element before it along the axis that is not missing. NaN, NaT and complex numbers
 * with a NaN part are missing. Missing elements at the start of the axis do not change. The result is stored, and a task
 * computes the chunks along the axis in order, as for cubed_cumulative. Integers and bools have no missing elements: the result
 * is x. CUBED_E_TYPE for strings, CUBED_E_AXIS for an axis that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_forward_fill(cubed_array *x, int axis,
                                                           cubed_array **out, cubed_error *err);
#define CUBED_CHUNKS_KEPT INT64_MIN
/* Changes the chunks of x to chunks[ndim]. The length CUBED_CHUNKS_KEPT keeps the chunks of x along the axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rechunk(cubed_array *x, const int64_t *chunks,
                                                      cubed_array **out, cubed_error *err);
/* Lengths of the chunks along an axis, each >= 1; their sum is the extent of the axis. */
typedef struct cubed_chunk_list {
    const int64_t *lengths;
    int64_t n;
} cubed_chunk_list;
/* Changes the chunks of x to chunks of any lengths. axes[ndim] has a list for each axis; an axis whose `lengths` is NULL keeps
 * its chunks.
 *
 * A target with irregular chunks is stored in Zarr format 3 with a "rectilinear" grid. Exception: if chunks are irregular only
 * because of a slice or a user-defined function, the target has regular chunks, as long as the longest.
 *
 * Errors: CUBED_E_ARG for a length less than 1, and for lengths whose sum is not the extent of the axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rechunk_irregular(cubed_array *x,
                                                                const cubed_chunk_list *axes,
                                                                cubed_array **out,
                                                                cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
