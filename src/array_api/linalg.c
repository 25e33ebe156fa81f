/* Linear algebra: products. */

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* --- Products of blocks --------------------------------------------------------------------------- */

/* Minimum extent of a block along summed axes. It also limits the rows and columns of a block of the result, so that blocks
 * of operands have about the same size. */
#define MIN_SUMMED 256

/* Sets the extents of a block along axes first..first+n-1. Their product is at most `most`, but at least 1. From the last axis
 * on, uses whole axes while they fit, then as many whole chunks as fit. Returns the product. */
static int64_t group(const cubed_array *x, int first, int n, int64_t most, int64_t *chunks)
{
    int64_t left = cb_max_i64(1, most), product = 1;
    for (int d = first + n - 1; d >= first; d--) {
        int64_t extent = cb_max_i64(1, x->shape[d]), chunk = cb_min_i64(extent, x->chunks[d]);
        chunks[d - first] = extent <= left ? extent : chunk <= left ? left / chunk * chunk : left;
        left /= chunks[d - first];
        product *= chunks[d - first];
    }
    return product;
}

typedef struct product {
    /* axes: (batch, rows, summed) and (batch, summed, columns); both have the same type */
    cubed_array *a, *b;
    int batch, rows, summed, columns;
    int64_t chunk[3 * CUBED_MAX_NDIM]; /* chunks by symbol: batch, rows, summed, columns */
} product;

/* Chooses nearly square blocks. Chooses the blocks of the result first, because larger ones reduce the reads of the operands. */
static void choose_blocks(product *p)
{
    int64_t size = (int64_t)cubed_dtype_size(p->a->node.dtype);
    int64_t most = CB_API_BLOCK_BYTES / size, side = 1;
    int64_t *rows = p->chunk + p->batch, *summed = rows + p->rows, *columns = summed + p->summed;
    while ((side + 1) * (side + 1) <= most) side *= 2;
    int64_t m = group(p->a, p->batch, p->rows, side, rows);
    int64_t n = group(p->b, p->batch + p->summed, p->columns,
                      cb_min_i64(most / m, most / MIN_SUMMED), columns);
    /* If there are few columns, a block can have more rows. */
    m = group(p->a, p->batch, p->rows, cb_min_i64(most / n, most / MIN_SUMMED), rows);
    int64_t k = cb_max_i64(MIN_SUMMED, most / 2 / cb_max_i64(m, n));
    k = group(p->a, p->batch + p->rows, p->summed, k, summed);
    int64_t left = most / cb_max_i64(m * n, cb_max_i64(m, n) * k);
    for (int d = p->batch - 1; d >= 0; d--) {
        const cubed_array *x = p->a->shape[d] == 1 ? p->b : p->a;
        left = cb_max_i64(1, left);
        p->chunk[d] = cb_min_i64(left, cb_min_i64(cb_max_i64(1, x->shape[d]), x->chunks[d]));
        left /= p->chunk[d];
    }
}

/* Assigns the symbols first..first+n-1, and the blocks of these symbols, to axes from *d on. */
static void put_axes(const product *p, const cubed_array *x, int first, int n, int *d, int *symbols,
                     int64_t *chunks)
{
    for (int s = first; s < first + n; s++, ++*d) {
        symbols[*d] = s;
        chunks[*d] = cb_max_i64(1, cb_min_i64(p->chunk[s], x->shape[*d]));
    }
}

static cubed_status multiply(product *p, cubed_array **out, cubed_error *err)
{
    int64_t blocks[3][CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    int symbols[3][CUBED_MAX_NDIM], d = 0, rows = p->batch, summed = rows + p->rows;
    int columns = summed + p->summed, ndim = p->batch + p->rows + p->columns;
    cubed_context *ctx = p->a->ctx;
    if (ndim > CUBED_MAX_NDIM || columns + p->columns > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "matmul: the operands have more than %d different axes", CUBED_MAX_NDIM);
    choose_blocks(p);
    put_axes(p, p->a, 0, p->batch, &d, symbols[0], blocks[0]);
    put_axes(p, p->a, rows, p->rows, &d, symbols[0], blocks[0]);
    put_axes(p, p->a, summed, p->summed, &d, symbols[0], blocks[0]);
    d = 0;
    put_axes(p, p->b, 0, p->batch, &d, symbols[1], blocks[1]);
    put_axes(p, p->b, summed, p->summed, &d, symbols[1], blocks[1]);
    put_axes(p, p->b, columns, p->columns, &d, symbols[1], blocks[1]);
    for (d = 0; d < ndim; d++) {
        symbols[2][d] = d < summed ? d : d + p->summed;
        blocks[2][d] = p->chunk[symbols[2][d]];
        if (d < p->batch)
            shape[d] = p->a->shape[d] == 1 ? p->b->shape[d] : p->a->shape[d];
        else
            shape[d] = d < summed ? p->a->shape[d] : p->b->shape[d - p->rows + p->summed];
    }
    const cb_matmul_params params = {p->batch, p->rows, p->summed, p->columns};
    const cubed_block_input in[2] = {{p->a, symbols[0], blocks[0]}, {p->b, symbols[1], blocks[1]}};
    const cubed_block_output to = {p->a->node.dtype, ndim, shape, blocks[2], symbols[2], NULL};
    const cubed_block_operation operation = {.function = "matmul",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(ctx, &operation, out, err);
}

/* --- Sums of products ----------------------------------------------------------------------------- */

/* Gets the promoted type of both operands, in which products are computed. */
static cubed_status common_type(const char *name, const cubed_array *x1, const cubed_array *x2,
                                cubed_dtype *out, cubed_error *err)
{
    *out = cubed_dtype_promote(x1->node.dtype, x2->node.dtype);
    if (cubed_dtype_kind(*out) > CUBED_KIND_COMPLEX || *out == CUBED_DTYPE_COUNT)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s and %s", name,
                       cubed_dtype_name(x1->node.dtype), cubed_dtype_name(x2->node.dtype));
    if (*out > CUBED_DTYPE_COUNT) *out = CUBED_FLOAT32;
    return CUBED_OK;
}

/* Multiplies elements and sums the products over some axes. Only the sums are stored. */
static cubed_status sum_products(cubed_array *x1, cubed_array *x2, const int *axes, int naxes,
                                 cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    cubed_array *args[2] = {x1, x2}, *products = NULL, *sum = NULL;
    cubed_reduce_options options = CUBED_REDUCE_OPTIONS_INIT;
    options.axes = axes;
    options.naxes = naxes;
    cubed_op op = dtype == CUBED_BOOL ? CUBED_OP_LOGICAL_AND : CUBED_OP_MULTIPLY;
    cubed_status st = cubed_elementwise(op, args, 2, &products, err);
    if (st == CUBED_OK)
        st = cubed_reduce(dtype == CUBED_BOOL ? CUBED_REDUCE_ANY : CUBED_REDUCE_SUM, products,
                          &options, &sum, err);
    /* sums of small integers wrap around */
    if (st == CUBED_OK) st = cubed_astype(sum, dtype, out, err);
    cubed_array_unref(products);
    cubed_array_unref(sum);
    return st;
}

/* Casts both operands to the common type. The caller drops both references, except after an error. */
static cubed_status cast_both(const char *name, cubed_array *x1, cubed_array *x2, cubed_array **a,
                              cubed_array **b, cubed_error *err)
{
    cubed_dtype type;
    *a = *b = NULL;
    CB_TRY(common_type(name, x1, x2, &type, err));
    CB_TRY(cubed_astype(x1, type, a, err));
    cubed_status st = cubed_astype(x2, type, b, err);
    if (st != CUBED_OK) cubed_array_unref(*a);
    return st;
}

static cubed_status differ(const char *name, int64_t a, int64_t b, cubed_error *err)
{
    return cb_fail(err, CUBED_E_ARG,
                   "%s: the summed axes have %lld and %lld elements, expected equal numbers", name,
                   (long long)a, (long long)b);
}

/* --- Operations ----------------------------------------------------------------------------------- */

cubed_status cubed_vecdot(cubed_array *x1, cubed_array *x2, int axis, cubed_array **out,
                          cubed_error *err)
{
    cubed_array *a, *b, *conj = NULL;
    int d1 = x1->node.grid->ndim + axis, d2 = x2->node.grid->ndim + axis;
    if (axis >= 0 || d1 < 0 || d2 < 0)
        return cb_fail(err, CUBED_E_AXIS,
                       "vecdot: axis is %d, expected a negative axis that both arrays have", axis);
    if (x1->shape[d1] != x2->shape[d2]) return differ("vecdot", x1->shape[d1], x2->shape[d2], err);
    CB_TRY(cast_both("vecdot", x1, x2, &a, &b, err));
    cubed_status st = CUBED_OK;
    if (cubed_dtype_kind(a->node.dtype) == CUBED_KIND_COMPLEX) {
        st = cubed_elementwise(CUBED_OP_CONJ, &a, 1, &conj, err);
        if (st == CUBED_OK) {
            cubed_array_unref(a);
            a = conj;
        }
    }
    if (st == CUBED_OK) st = sum_products(a, b, &axis, 1, a->node.dtype, out, err);
    cubed_array_unref(a);
    cubed_array_unref(b);
    return st;
}

/* Inserts `n` axes of extent 1 into *x before axis `at`. */
static cubed_status widen(cubed_array **x, int at, int n, cubed_error *err)
{
    for (int i = 0; i < n; i++) {
        cubed_array *wider;
        CB_TRY(cubed_expand_dims(*x, at, &wider, err));
        cubed_array_unref(*x);
        *x = wider;
    }
    return CUBED_OK;
}

static cubed_status matrices(cubed_array *x1, cubed_array *x2, cubed_array **out, cubed_error *err)
{
    int n1 = x1->node.grid->ndim, n2 = x2->node.grid->ndim, most = n1 > n2 ? n1 : n2;
    product p = {.batch = most - 2, .rows = 1, .summed = 1, .columns = 1};
    if (x1->shape[n1 - 1] != x2->shape[n2 - 2])
        return differ("matmul", x1->shape[n1 - 1], x2->shape[n2 - 2], err);
    for (int d = 0; d < most - 2; d++) {
        int64_t s1 = d + n1 < most ? 1 : x1->shape[d + n1 - most];
        int64_t s2 = d + n2 < most ? 1 : x2->shape[d + n2 - most];
        if (s1 != s2 && s1 != 1 && s2 != 1)
            return cb_fail(err, CUBED_E_ARG,
                           "matmul: shapes do not broadcast: axis %d is %lld and "
                           "%lld",
                           d, (long long)s1, (long long)s2);
    }
    CB_TRY(cast_both("matmul", x1, x2, &p.a, &p.b, err));
    cubed_status st = widen(&p.a, 0, most - n1, err);
    if (st == CUBED_OK) st = widen(&p.b, 0, most - n2, err);
    if (st == CUBED_OK) st = multiply(&p, out, err);
    cubed_array_unref(p.a);
    cubed_array_unref(p.b);
    return st;
}

/* Multiplies a matrix and a vector. Each element of the matrix is needed only once, so the sums are fused with the read and need
 * no blocks. */
static cubed_status with_vector(cubed_array *x1, cubed_array *x2, cubed_array **out,
                                cubed_error *err)
{
    int n1 = x1->node.grid->ndim, n2 = x2->node.grid->ndim, axis = n2 == 1 ? -1 : -2;
    cubed_array *a, *b;
    int64_t k1 = x1->shape[n1 - 1], k2 = x2->shape[n2 + axis];
    if (k1 != k2) return differ("matmul", k1, k2, err);
    CB_TRY(cast_both("matmul", x1, x2, &a, &b, err));
    cubed_status st = axis == -2 ? widen(&a, 1, 1, err) : CUBED_OK;
    if (st == CUBED_OK) st = sum_products(a, b, &axis, 1, a->node.dtype, out, err);
    cubed_array_unref(a);
    cubed_array_unref(b);
    return st;
}

cubed_status cubed_matmul(cubed_array *x1, cubed_array *x2, cubed_array **out, cubed_error *err)
{
    int n1 = x1->node.grid->ndim, n2 = x2->node.grid->ndim;
    if (n1 == 0 || n2 == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "matmul: an operand has no dimensions, expected at least 1");
    return n1 == 1 || n2 == 1 ? with_vector(x1, x2, out, err) : matrices(x1, x2, out, err);
}

/* Moves the axes in `mask`, in the order of `axes`, after the other axes, or before them. */
static cubed_status gather_axes(cubed_array **x, uint32_t mask, const int *axes, int n, bool behind,
                                cubed_error *err)
{
    int ndim = (*x)->node.grid->ndim, order[CUBED_MAX_NDIM], at = 0;
    cubed_array *permuted;
    for (int i = 0; i < n && !behind; i++) order[at++] = axes[i] < 0 ? axes[i] + ndim : axes[i];
    for (int d = 0; d < ndim; d++) {
        if (!(mask >> d & 1)) order[at++] = d;
    }
    for (int i = 0; i < n && behind; i++) order[at++] = axes[i] < 0 ? axes[i] + ndim : axes[i];
    CB_TRY(cubed_permute_dims(*x, order, &permuted, err));
    cubed_array_unref(*x);
    *x = permuted;
    return CUBED_OK;
}

static cubed_status contract(product *p, cubed_array **out, cubed_error *err)
{
    if (p->rows > 0 && p->columns > 0) return multiply(p, out, err);
    int axes[CUBED_MAX_NDIM];
    for (int i = 0; i < p->summed; i++) axes[i] = p->rows + i;
    if (p->columns > 0) CB_TRY(widen(&p->a, p->summed, p->columns, err));
    if (p->summed == 0) { /* no axis is summed: the product has one term per element */
        cubed_array *args[2] = {p->a, p->b};
        return cubed_elementwise(p->a->node.dtype == CUBED_BOOL ? CUBED_OP_LOGICAL_AND
                                                                : CUBED_OP_MULTIPLY,
                                 args, 2, out, err);
    }
    return sum_products(p->a, p->b, axes, p->summed, p->a->node.dtype, out, err);
}

cubed_status cubed_tensordot(cubed_array *x1, cubed_array *x2, const int *axes1, const int *axes2,
                             int naxes, cubed_array **out, cubed_error *err)
{
    int n1 = x1->node.grid->ndim, n2 = x2->node.grid->ndim;
    uint32_t mask1, mask2;
    CB_TRY(cb_api_axes("tensordot", n1, axes1, naxes, &mask1, err));
    CB_TRY(cb_api_axes("tensordot", n2, axes2, naxes, &mask2, err));
    for (int i = 0; i < naxes; i++) {
        int64_t k1 = x1->shape[axes1[i] < 0 ? axes1[i] + n1 : axes1[i]];
        int64_t k2 = x2->shape[axes2[i] < 0 ? axes2[i] + n2 : axes2[i]];
        if (k1 != k2) return differ("tensordot", k1, k2, err);
    }
    product p = {.rows = n1 - naxes, .summed = naxes, .columns = n2 - naxes};
    CB_TRY(cast_both("tensordot", x1, x2, &p.a, &p.b, err));
    cubed_status st = gather_axes(&p.a, mask1, axes1, naxes, true, err);
    if (st == CUBED_OK) st = gather_axes(&p.b, mask2, axes2, naxes, false, err);
    if (st == CUBED_OK) st = contract(&p, out, err);
    cubed_array_unref(p.a);
    cubed_array_unref(p.b);
    return st;
}
