/* Linear algebra. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "linalg"

#define MATRICES PARAM_ARRAY("x", "Matrices, in the last two axes.")

/* --- Functions of one matrix with one result ---------------------------------------------------------- */

static const cubed_param matrix_params[] = {MATRICES, PARAM_TASK_MEM};

static cubed_status call_det(const cb_call *c)
{
    return cubed_det(cb_call_array(c, 0), cb_call_task_mem(c), c->out, c->err);
}

static cubed_status call_inv(const cb_call *c)
{
    return cubed_inv(cb_call_array(c, 0), cb_call_task_mem(c), c->out, c->err);
}

static cubed_status call_svdvals(const cb_call *c)
{
    return cubed_svdvals(cb_call_array(c, 0), cb_call_task_mem(c), c->out, c->err);
}

static cubed_status call_eigvals(const cb_call *c)
{
    return cubed_eigvals(cb_call_array(c, 0), c->out, c->err);
}

static cubed_status call_eigvalsh(const cb_call *c)
{
    return cubed_eigvalsh(cb_call_array(c, 0), cb_call_task_mem(c), c->out, c->err);
}

static const cubed_param transpose_params[] = {MATRICES};

static cubed_status call_matrix_transpose(const cb_call *c)
{
    return cubed_matrix_transpose(cb_call_array(c, 0), c->out, c->err);
}

static const cubed_param cholesky_params[] = {
    PARAM_ARRAY("x",
                "``(..., n, n)``. Only the lower triangle is read, or the upper one with `upper`."),
    PARAM_BOOL("upper", NAMED, false,
               "Whether to return the upper triangular factor instead of the lower one."),
    PARAM_TASK_MEM,
};

static cubed_status call_cholesky(const cb_call *c)
{
    return cubed_cholesky(cb_call_array(c, 0), cb_call_bool(c, 1), cb_call_task_mem(c), c->out,
                          c->err);
}

static const cubed_param matrix_power_params[] = {
    MATRICES,
    PARAM_REQUIRED_INT("n", CUBED_PARAM_POSITION_ONLY,
                       "The exponent; negative exponents are powers of the inverse."),
    PARAM_TASK_MEM,
};

static cubed_status call_matrix_power(const cb_call *c)
{
    return cubed_matrix_power(cb_call_array(c, 0), cb_call_int(c, 1), cb_call_task_mem(c), c->out,
                              c->err);
}

/* --- Diagonals ---------------------------------------------------------------------------------------- */

#define OFFSET                                                                                     \
    PARAM_INT("offset", NAMED, 0,                                                                  \
              "Number of the diagonal: 0 is the main diagonal, positive numbers are above.")

static const cubed_param diagonal_params[] = {MATRICES, OFFSET};

static cubed_status call_diagonal(const cb_call *c)
{
    return cubed_diagonal(cb_call_array(c, 0), cb_call_int(c, 1), c->out, c->err);
}

static const cubed_param trace_params[] = {
    MATRICES,
    OFFSET,
    PARAM_DTYPE("dtype", NAMED, "Type of the sums. None: the same as for `sum`."),
};

static cubed_status call_trace(const cb_call *c)
{
    return cubed_trace(cb_call_array(c, 0), cb_call_int(c, 1), cb_call_dtype(c, 2), c->out, c->err);
}

/* --- Tolerances for singular values --------------------------------------------------------------------- */

#define TOLERANCE(NAME)                                                                            \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY) | ACCEPTS(FLOAT) | ACCEPTS(NONE), NAMED,                        \
              "Singular values up to this fraction of the largest one count as 0.")                \
    }

static const cubed_param matrix_rank_params[] = {MATRICES, TOLERANCE("rtol"), PARAM_TASK_MEM};
static const cubed_param pinv_params[] = {MATRICES, TOLERANCE("rtol"), TOLERANCE("rcond"),
                                          PARAM_TASK_MEM};

/* Returns the real type in which singular values are computed. */
static cubed_dtype real_type(cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_FLOAT32:
    case CUBED_COMPLEX64: return CUBED_FLOAT32;
    default: return CUBED_FLOAT64;
    }
}

typedef cubed_status (*by_rank_fn)(cubed_array *x, cubed_array *rtol, uint64_t task_mem,
                                   cubed_array **out, cubed_error *err);

static cubed_status by_rank(const cb_call *c, int i, by_rank_fn fn)
{
    cubed_array *x = cb_call_array(c, 0), *limit = NULL;
    if (cb_call_has(c, i)) CB_TRY(cb_call_number(c, i, real_type(cubed_array_dtype(x)), &limit));
    cubed_status st = fn(x, limit, cb_call_task_mem(c), c->out, c->err);
    cubed_array_unref(limit);
    return st;
}

static cubed_status call_matrix_rank(const cb_call *c) { return by_rank(c, 1, cubed_matrix_rank); }

static cubed_status call_pinv(const cb_call *c)
{
    if (cb_call_has(c, 1) && cb_call_has(c, 2))
        return cb_call_blame(
            c, 2,
            cb_fail(c->err, CUBED_E_ARG,
                    "pinv: rcond and rtol are the same parameter, expected one of the two"));
    return by_rank(c, cb_call_has(c, 1) ? 1 : 2, cubed_pinv);
}

/* --- Several results ---------------------------------------------------------------------------------- */

static cubed_status call_slogdet(const cb_call *c)
{
    return cubed_slogdet(cb_call_array(c, 0), cb_call_task_mem(c), &c->out[0], &c->out[1], c->err);
}

static cubed_status call_lu(const cb_call *c)
{
    return cubed_lu(cb_call_array(c, 0), &c->out[0], &c->out[1], &c->out[2], c->err);
}

static cubed_status call_eigh(const cb_call *c)
{
    return cubed_eigh(cb_call_array(c, 0), &c->out[0], &c->out[1], c->err);
}

static cubed_status call_eig(const cb_call *c)
{
    return cubed_eig(cb_call_array(c, 0), &c->out[0], &c->out[1], c->err);
}

static const cubed_choice qr_modes[] = {{"reduced", false}, {"complete", true}, {NULL, 0}};
static const cubed_param qr_params[] = {
    PARAM_ARRAY("x", "Matrices, in the last two axes."),
    PARAM_CHOICE("mode", 0, false, qr_modes,
                 "Whether `Q` has only the columns that are needed (``\"reduced\"``), or is square "
                 "(``\"complete\"``)."),
    PARAM_TASK_MEM,
};

static cubed_status call_qr(const cb_call *c)
{
    return cubed_qr(cb_call_array(c, 0), cb_call_choice(c, 1), cb_call_task_mem(c), &c->out[0],
                    &c->out[1], c->err);
}

static const cubed_param svd_params[] = {
    PARAM_ARRAY("x", "Matrices, in the last two axes."),
    PARAM_BOOL("full_matrices", 0, true, "Whether `U` and `Vh` are square."),
    PARAM_TASK_MEM,
};

static cubed_status call_svd(const cb_call *c)
{
    return cubed_svd(cb_call_array(c, 0), cb_call_bool(c, 1), cb_call_task_mem(c), &c->out[0],
                     &c->out[1], &c->out[2], c->err);
}

static const cubed_param svd_compressed_params[] = {
    PARAM_NAMED_ARRAY("a", "A matrix, of any size."),
    PARAM_REQUIRED_INT("k", 0, "Number of singular values."),
    PARAM_INT("n_power_iter", 0, 0,
              "Number of power iterations. Each iteration reads the matrix twice. More are needed "
              "if singular values decrease slowly."),
    PARAM_INT("n_oversamples", 0, 10, "Number of random vectors in addition to k."),
    PARAM_REQUIRED_INT("seed", NAMED, "Seed of the random vectors."),
    PARAM_BOOL("coerce_signs", NAMED, true,
               "Whether to make the sum of each right singular vector positive."),
    PARAM_TASK_MEM,
};

static cubed_status call_svd_compressed(const cb_call *c)
{
    cubed_svd_compressed_options o = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    o.n_power_iter = cb_call_int(c, 2);
    o.n_oversamples = cb_call_int(c, 3);
    o.seed = cb_call_int(c, 4);
    o.coerce_signs = cb_call_bool(c, 5);
    return cubed_svd_compressed(cb_call_array(c, 0), cb_call_int(c, 1), &o, cb_call_task_mem(c),
                                &c->out[0], &c->out[1], &c->out[2], c->err);
}

static const cubed_param lstsq_params[] = {
    PARAM_NAMED_ARRAY("a", "``(m, n)``."),
    PARAM_NAMED_ARRAY("b", "``(m,)`` or ``(m, k)``."),
    {PARAM("rcond", ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
           "Singular values up to this fraction of the largest one count as 0. None: the larger "
           "extent times the machine epsilon; -1: the machine epsilon.")},
    PARAM_TASK_MEM,
};

static cubed_status call_lstsq(const cb_call *c)
{
    const double *rcond = cb_call_has(c, 2) ? &c->values[2].as.real : NULL;
    return cubed_lstsq(cb_call_array(c, 0), cb_call_array(c, 1), rcond, cb_call_task_mem(c),
                       &c->out[0], &c->out[1], &c->out[2], &c->out[3], c->err);
}

/* --- Two arrays --------------------------------------------------------------------------------------- */

static const cubed_param pair_params[] = {
    PARAM_ARRAY("x1", "Left operand."),
    PARAM_ARRAY("x2", "Right operand."),
};

static cubed_status call_matmul(const cb_call *c)
{
    return cubed_matmul(cb_call_array(c, 0), cb_call_array(c, 1), c->out, c->err);
}

static cubed_status call_outer(const cb_call *c)
{
    return cubed_outer(cb_call_array(c, 0), cb_call_array(c, 1), c->out, c->err);
}

static const cubed_param along_params[] = {
    PARAM_ARRAY("x1", "Left operand."),
    PARAM_ARRAY("x2", "Right operand."),
    PARAM_AXIS("axis", NAMED, -1, "Axis of the vectors, counted from the last."),
};

static cubed_status call_vecdot(const cb_call *c)
{
    return cubed_vecdot(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_axis(c, 2), c->out,
                        c->err);
}

static cubed_status call_cross(const cb_call *c)
{
    return cubed_cross(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_axis(c, 2), c->out,
                       c->err);
}

static const cubed_param solve_params[] = {
    PARAM_ARRAY("x1", "Matrices of the equations."),
    PARAM_ARRAY("x2", "Right-hand sides."),
    PARAM_TASK_MEM,
};

static cubed_status call_solve(const cb_call *c)
{
    return cubed_solve(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_task_mem(c), c->out,
                       c->err);
}

static const cubed_param solve_triangular_params[] = {
    PARAM_NAMED_ARRAY("a", "``(..., n, n)``. Only one triangle is read."),
    PARAM_NAMED_ARRAY("b", "``(n,)`` or ``(..., n, k)``."),
    PARAM_BOOL("lower", 0, false, "Whether the lower triangle is read, instead of the upper one."),
    PARAM_BOOL("unit_diagonal", NAMED, false, "Whether to assume ones on the diagonal."),
    PARAM_TASK_MEM,
};

static cubed_status call_solve_triangular(const cb_call *c)
{
    const unsigned flags = (cb_call_bool(c, 2) ? CUBED_TRIANGLE_LOWER : 0) |
                           (cb_call_bool(c, 3) ? CUBED_TRIANGLE_UNIT_DIAGONAL : 0);
    return cubed_solve_triangular(cb_call_array(c, 0), cb_call_array(c, 1), flags,
                                  cb_call_task_mem(c), c->out, c->err);
}

static const cubed_param tensorsolve_params[] = {
    PARAM_NAMED_ARRAY("a", "Coefficients."),
    PARAM_NAMED_ARRAY("b", "Right-hand side."),
    PARAM_AXES("axes", 0, "Axes of `a` to move to its end before solving. None: no axes."),
    PARAM_TASK_MEM,
};

static cubed_status call_tensorsolve(const cb_call *c)
{
    int room[CUBED_MAX_NDIM], n;
    const int *axes = cb_call_axes(c, 2, room, &n);
    return cubed_tensorsolve(cb_call_array(c, 0), cb_call_array(c, 1), axes ? axes : room, n,
                             cb_call_task_mem(c), c->out, c->err);
}

static const cubed_param tensorinv_params[] = {
    PARAM_NAMED_ARRAY("a", "The array."),
    {PARAM_IN("ind", ACCEPTS(INT), 0, 1, CUBED_MAX_NDIM,
              "Number of first axes, which become the last axes of the result."),
     INT_DEFAULT(2)},
    PARAM_TASK_MEM,
};

static cubed_status call_tensorinv(const cb_call *c)
{
    return cubed_tensorinv(cb_call_array(c, 0), (int)cb_call_int(c, 1), cb_call_task_mem(c), c->out,
                           c->err);
}

static const cubed_param multi_dot_params[] = {
    {PARAM("arrays", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED | CUBED_PARAM_VARIADIC,
           "Matrices; the first and the last may be vectors.")},
};

static cubed_status call_multi_dot(const cb_call *c)
{
    return cubed_multi_dot(c->values[0].as.arrays, c->values[0].n, c->out, c->err);
}

static const cubed_param einsum_params[] = {
    {PARAM("subscripts", ACCEPTS(STRING), CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,
           "A letter for each axis, operands separated by commas, and ``->`` before the letters of "
           "the result.")},
    {PARAM("operands", ACCEPTS(ARRAYS),
           CUBED_PARAM_REQUIRED | CUBED_PARAM_VARIADIC | CUBED_PARAM_LIKE, "At least one array.")},
    PARAM_DTYPE("dtype", NAMED,
                "Type of products and sums. None: the type that all operands promote to."),
    PARAM_BOOL("in_order", NAMED, false, "Whether operands are multiplied from left to right."),
    {PARAM("steps", ACCEPTS(INTS) | ACCEPTS(NONE), NAMED,
           "The operands that each step multiplies, as bits: bit k is operand k. The product "
           "becomes the last operand. None: one step.")},
};

static cubed_status call_einsum(const cb_call *c)
{
    const cubed_value *operands = &c->values[1], *list = &c->values[4];
    uint64_t steps[CUBED_EINSUM_MAX_OPERANDS];
    cubed_einsum_options o = CUBED_EINSUM_OPTIONS_INIT;
    o.dtype = cb_call_dtype(c, 2);
    o.in_order = cb_call_bool(c, 3);
    o.steps = steps;
    if (list->n > CUBED_EINSUM_MAX_OPERANDS)
        return cb_call_blame(c, 4,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "einsum: steps has %d numbers, expected at most %d", list->n,
                                     CUBED_EINSUM_MAX_OPERANDS));
    for (; cb_call_has(c, 4) && o.nsteps < list->n; o.nsteps++)
        steps[o.nsteps] = (uint64_t)list->as.ints[o.nsteps];
    return cubed_einsum(c->values[0].as.string, operands->as.arrays, operands->n, &o, c->out,
                        c->err);
}

static const cubed_param tensordot_params[] = {
    PARAM_ARRAY("x1", "The first operand."),
    PARAM_ARRAY("x2", "The second operand."),
    {PARAM("axes", ACCEPTS(INT) | ACCEPTS(LIST), 0,
           "Axes to sum over: a number of axes, which are the last of `x1` and the first of `x2`, "
           "or a list of axes for each array."),
     INT_DEFAULT(2)},
};

/* Reads the axes of one operand: an axis, or a list of axes. Returns false if the value is neither. */
static bool take_axes(const cubed_value *v, int axes[CUBED_MAX_NDIM], int *n)
{
    const bool is_list = v->kind == CUBED_VALUE_LIST;
    *n = is_list ? v->n : 1;
    for (int i = 0; i < *n; i++) {
        const cubed_value *item = is_list ? &v->as.items[i] : v;
        if (item->kind != CUBED_VALUE_INT || *n > CUBED_MAX_NDIM) return false;
        axes[i] = cb_clamp_axis(item->as.integer);
    }
    return true;
}

/* Reads the axes of both operands to sum over. */
static cubed_status take_pairs(const cb_call *c, int axes[2][CUBED_MAX_NDIM], int *n)
{
    const cubed_value *v = &c->values[2];
    const int n1 = cubed_array_ndim(cb_call_array(c, 0)),
              n2 = cubed_array_ndim(cb_call_array(c, 1));
    char shown[80];
    int second;
    cubed_value_format(v, shown, sizeof shown);
    if (v->kind == CUBED_VALUE_INT) {
        if (v->as.integer < 0 || v->as.integer > (n1 < n2 ? n1 : n2))
            return cb_call_blame(c, 2,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "tensordot: axes is %s, expected a number of axes that "
                                         "both operands have (%d and %d)",
                                         shown, n1, n2));
        *n = (int)v->as.integer;
        for (int i = 0; i < *n; i++) {
            axes[0][i] = n1 - *n + i;
            axes[1][i] = i;
        }
        return CUBED_OK;
    }
    if (v->n != 2 || !take_axes(&v->as.items[0], axes[0], n) ||
        !take_axes(&v->as.items[1], axes[1], &second) || *n != second)
        return cb_call_blame(c, 2,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "tensordot: axes is %s, expected a number, or lists of the "
                                     "same number of axes of x1 and x2, such as [[1], [0]]",
                                     shown));
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < *n; i++)
            CB_TRY(cb_call_check_axis(c, 2, k == 0 ? n1 : n2, axes[k][i], &axes[k][i]));
    }
    return CUBED_OK;
}

static cubed_status call_tensordot(const cb_call *c)
{
    int axes[2][CUBED_MAX_NDIM], n;
    CB_TRY(take_pairs(c, axes, &n));
    return cubed_tensordot(cb_call_array(c, 0), cb_call_array(c, 1), axes[0], axes[1], n, c->out,
                           c->err);
}

/* --- Norms -------------------------------------------------------------------------------------------- */

static const cubed_choice matrix_norms[] = {
    {"fro", CUBED_NORM_FRO}, {"nuc", CUBED_NORM_NUC}, {NULL, 0}};

/* Gets the order of a norm, argument i: a name such as "fro", or a number. Sets `missing` if the argument is None. */
static cubed_status get_matrix_ord(const cb_call *c, int i, cubed_matrix_norm_ord missing,
                                   cubed_matrix_norm_ord *out)
{
    *out = missing;
    if (!cb_call_has(c, i)) return CUBED_OK;
    return cb_call_blame(
        c, i, cubed_matrix_norm_parse(cb_call_choice_name(c, i), cb_call_real(c, i), out, c->err));
}

static const cubed_param matrix_norm_params[] = {
    MATRICES,
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the reduced axes, with one element."),
    {PARAM("ord", ACCEPTS(CHOICE) | ACCEPTS(FLOAT), NAMED,
           "The norm: a name, or one of the numbers 1, 2, infinity, and their negatives."),
     CHOICE_DEFAULT(CUBED_NORM_FRO), .choices = matrix_norms},
    PARAM_TASK_MEM,
};

static cubed_status call_matrix_norm(const cb_call *c)
{
    cubed_matrix_norm_ord ord;
    CB_TRY(get_matrix_ord(c, 2, CUBED_NORM_FRO, &ord));
    return cubed_matrix_norm(cb_call_array(c, 0), ord, cb_call_bool(c, 1), cb_call_task_mem(c),
                             c->out, c->err);
}

static const cubed_param cond_params[] = {
    PARAM_NAMED_ARRAY("x", "Matrices, in the last two axes."),
    {PARAM("p", ACCEPTS(CHOICE) | ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
           "The norm, as in matrix_norm. None, or 2: the ratio of the largest to the smallest "
           "singular value."),
     .choices = matrix_norms},
    PARAM_TASK_MEM,
};

static cubed_status call_cond(const cb_call *c)
{
    cubed_matrix_norm_ord ord;
    CB_TRY(get_matrix_ord(c, 1, CUBED_NORM_2, &ord));
    return cubed_cond(cb_call_array(c, 0), ord, cb_call_task_mem(c), c->out, c->err);
}

static const cubed_param norm_params[] = {
    PARAM_NAMED_ARRAY("x", "Real or complex numbers."),
    {PARAM("ord", ACCEPTS(CHOICE) | ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
           "For vectors a number, for matrices as in matrix_norm. None: the root of the sum of "
           "squares."),
     .choices = matrix_norms},
    PARAM_AXES("axis", 0,
               "One axis for vectors, two for matrices. None: the matrix if `ord` is given and the "
               "array has two axes, otherwise all elements as one vector."),
    PARAM_BOOL("keepdims", 0, false, "Whether to keep the reduced axes, with one element."),
    PARAM_TASK_MEM,
};

static cubed_status call_norm(const cb_call *c)
{
    cubed_norm_options o = CUBED_NORM_OPTIONS_INIT;
    int room[CUBED_MAX_NDIM];
    const double number = cb_call_has(c, 1) ? cb_call_real(c, 1) : 0;
    o.name = cb_call_choice_name(c, 1);
    if (cb_call_has(c, 1) && !o.name) o.number = &number;
    o.axes = cb_call_axes(c, 2, room, &o.naxes);
    o.keepdims = cb_call_bool(c, 3);
    return cubed_norm(cb_call_array(c, 0), &o, cb_call_task_mem(c), c->out, c->err);
}

static const cubed_param vector_norm_params[] = {
    PARAM_ARRAY("x", "Real or complex numbers."),
    PARAM_AXES("axis", NAMED, "Axes of the vectors. None: all."),
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the reduced axes, with one element."),
    {PARAM("ord", ACCEPTS(FLOAT), NAMED, "The norm: any number."), FLOAT_DEFAULT(2)},
};

static cubed_status call_vector_norm(const cb_call *c)
{
    int room[CUBED_MAX_NDIM], n;
    const int *axes = cb_call_axes(c, 1, room, &n);
    return cubed_vector_norm(cb_call_array(c, 0), cb_call_real(c, 3), axes, n, cb_call_bool(c, 2),
                             c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define REAL_OR_DOUBLE "float64 for integers, else the type of the matrices."

static const cb_row rows[] = {
    {{"cholesky", CATEGORY, .summary = "Cholesky factors of positive definite matrices.",
      .returns = "``(..., n, n)``, with a positive diagonal; " REAL_OR_DOUBLE,
      PARAMS(cholesky_params)},
     .call = call_cholesky},
    {{"cond", CATEGORY,
      .summary = "Condition numbers: the norm of each matrix times the norm of its inverse.",
      .returns = "Real, without the last two axes.", PARAMS(cond_params)},
     .call = call_cond},
    {{"cross", CATEGORY, .summary = "Cross products of vectors of three elements.",
      .returns = "The shape that both broadcast to, and the type that they promote to.",
      PARAMS(along_params)},
     .call = call_cross},
    {{"det", CATEGORY, .summary = "Determinants.",
      .returns = "``(...)`` for ``(..., n, n)``; " REAL_OR_DOUBLE, PARAMS(matrix_params)},
     .call = call_det},
    {{"diagonal", CATEGORY, .summary = "Diagonals of matrices.",
      .returns = "The type of `x`. The diagonals are the last axis, which replaces the last two.",
      PARAMS(diagonal_params), .attrs = CUBED_ATTRS_VIEW},
     .call = call_diagonal},
    {{"eig", CATEGORY, .summary = "Eigenvalues and eigenvectors of square matrices.",
      .returns = "Complex: ``(..., n)`` and ``(..., n, n)``, whose columns are eigenvectors.",
      PARAMS(matrix_params), .results = {"eigenvalues", "eigenvectors"}},
     .call = call_eig},
    {{"eigh", CATEGORY,
      .summary =
          "Eigenvalues and eigenvectors of Hermitian matrices, whose lower triangle is read.",
      .returns = "``(..., n)``, real and ascending, and ``(..., n, n)``; " REAL_OR_DOUBLE,
      PARAMS(matrix_params), .results = {"eigenvalues", "eigenvectors"}},
     .call = call_eigh},
    {{"eigvals", CATEGORY, .summary = "Eigenvalues of square matrices.",
      .returns = "Complex: ``(..., n)``.", PARAMS(matrix_params)},
     .call = call_eigvals},
    {{"eigvalsh", CATEGORY,
      .summary = "Eigenvalues of Hermitian matrices, whose lower triangle is read.",
      .returns = "``(..., n)``, real and ascending.", PARAMS(matrix_params)},
     .call = call_eigvalsh},
    {{"einsum", CATEGORY,
      .summary = "Sums of products by the Einstein convention: letters name the axes.",
      .returns = "The type that the operands promote to, or `dtype`.", PARAMS(einsum_params)},
     .call = call_einsum},
    {{"inv", CATEGORY, .summary = "Inverses of matrices.",
      .returns = "``(..., n, n)``; " REAL_OR_DOUBLE, PARAMS(matrix_params)},
     .call = call_inv},
    {{"lstsq", CATEGORY, .summary = "Least-squares solutions of equations.",
      .returns = "The solution with the smallest norm, ``(n,)`` or ``(n, k)``; the sum of squared "
                 "residuals of each column; the rank; the singular values.",
      PARAMS(lstsq_params), .results = {"solution", "residuals", "rank", "singular_values"}},
     .call = call_lstsq},
    {{"lu", CATEGORY, .summary = "Permutations, lower and upper triangular factors of matrices.",
      .returns = "``(..., n, n)``, ``(..., n, k)`` and ``(..., k, m)`` for ``(..., n, m)``; k is "
                 "the smaller extent.",
      PARAMS(matrix_params), .results = {"P", "L", "U"}},
     .call = call_lu},
    {{"matmul", CATEGORY,
      .summary = "Products of the matrices in the last two axes; a vector is a row or a column.",
      .returns = "The type that both promote to.", PARAMS(pair_params)},
     .call = call_matmul},
    {{"matrix_norm", CATEGORY, .summary = "Norms of matrices.",
      .returns = "Real, without the last two axes.", PARAMS(matrix_norm_params)},
     .call = call_matrix_norm},
    {{"matrix_power", CATEGORY, .summary = "Powers of matrices.",
      .returns = "``(..., n, n)``, the type of `x`; inverses of integers are float64.",
      PARAMS(matrix_power_params)},
     .call = call_matrix_power},
    {{"matrix_rank", CATEGORY,
      .summary = "Ranks of matrices: the number of singular values that do not count as 0.",
      .returns = "int64, without the last two axes.", PARAMS(matrix_rank_params)},
     .call = call_matrix_rank},
    {{"matrix_transpose", CATEGORY, .summary = "Transposes of the matrices in the last two axes.",
      .returns = "``(..., m, n)`` for ``(..., n, m)``. A view.", PARAMS(transpose_params),
      .attrs = CUBED_ATTRS_VIEW, .moves = true},
     .call = call_matrix_transpose},
    {{"multi_dot", CATEGORY,
      .summary =
          "The product of several matrices, in the order that needs the fewest multiplications.",
      .returns = "The type that the matrices promote to.", PARAMS(multi_dot_params)},
     .call = call_multi_dot},
    {{"norm", CATEGORY, .summary = "Norms of vectors along an axis, or of matrices in two axes.",
      .returns = "Real, without the axes.", PARAMS(norm_params)},
     .call = call_norm},
    {{"outer", CATEGORY, .summary = "Products of all pairs of elements of two vectors.",
      .returns = "``(n, m)``, the type that both promote to.", PARAMS(pair_params)},
     .call = call_outer},
    {{"pinv", CATEGORY, .summary = "Moore-Penrose inverses of matrices.",
      .returns = "``(..., m, n)`` for ``(..., n, m)``.", PARAMS(pinv_params)},
     .call = call_pinv},
    {{"qr", CATEGORY, .summary = "Orthonormal columns and upper triangular factors of matrices.",
      .returns = "``(..., n, k)`` and ``(..., k, m)`` for ``(..., n, m)``; k is the smaller "
                 "extent, or n if "
                 "complete. " REAL_OR_DOUBLE,
      PARAMS(qr_params), .results = {"Q", "R"}},
     .call = call_qr},
    {{"slogdet", CATEGORY,
      .summary = "Signs of determinants, and logarithms of their absolute values.",
      .returns = "``(...)`` for ``(..., n, n)``; " REAL_OR_DOUBLE, PARAMS(matrix_params),
      .results = {"sign", "logabsdet"}},
     .call = call_slogdet},
    {{"solve", CATEGORY, .summary = "Solutions of linear equations.",
      .returns = "The shape of `x2`, with broadcast stacks; float64 for integers, else the type "
                 "that both promote to.",
      PARAMS(solve_params)},
     .call = call_solve},
    {{"solve_triangular", CATEGORY, .summary = "Solutions of equations with a triangular matrix.",
      .returns = "The shape of `b`, with broadcast stacks.", PARAMS(solve_triangular_params)},
     .call = call_solve_triangular},
    {{"svd", CATEGORY, .summary = "Singular values in descending order, and singular vectors.",
      .returns = "``(..., n, k)``, ``(..., k)`` and ``(..., k, m)``; k is the smaller extent. `U` "
                 "and `Vh` are square with `full_matrices`.",
      PARAMS(svd_params), .results = {"U", "S", "Vh"}},
     .call = call_svd},
    {{"svd_compressed", CATEGORY,
      .summary = "Approximates the k largest singular values and their vectors.",
      .returns = "``(m, k)``, ``(k,)`` and ``(k, n)`` for ``(m, n)``.",
      PARAMS(svd_compressed_params), .results = {"U", "S", "Vh"}},
     .call = call_svd_compressed},
    {{"svdvals", CATEGORY, .summary = "Singular values, in descending order.",
      .returns = "``(..., k)``, real; k is the smaller extent.", PARAMS(matrix_params)},
     .call = call_svdvals},
    {{"tensordot", CATEGORY, .summary = "Sums of products over pairs of axes.",
      .returns = "The remaining axes of `x1`, then the remaining axes of `x2`.",
      PARAMS(tensordot_params)},
     .call = call_tensordot},
    {{"tensorinv", CATEGORY,
      .summary =
          "The inverse of an array, treated as a matrix whose rows are the first `ind` axes.",
      .returns = "The other axes, then the first `ind` axes.", PARAMS(tensorinv_params)},
     .call = call_tensorinv},
    {{"tensorsolve", CATEGORY,
      .summary = "Solves linear equations whose sums run over the last axes of `a`.",
      .returns = "The axes of `a` after the first ``b.ndim`` axes.", PARAMS(tensorsolve_params)},
     .call = call_tensorsolve},
    {{"trace", CATEGORY, .summary = "Sums of diagonals of matrices.",
      .returns = "Without the last two axes; integers become int64 or uint64.",
      PARAMS(trace_params)},
     .call = call_trace},
    {{"vecdot", CATEGORY, .summary = "Sums of conj(x1) * x2 along an axis.",
      .returns = "The type that both promote to.", PARAMS(along_params)},
     .call = call_vecdot},
    {{"vector_norm", CATEGORY, .summary = "Norms of vectors along axes, or of all elements.",
      .returns = "Real, without the axes.", PARAMS(vector_norm_params)},
     .call = call_vector_norm},
};

const cb_rows cb_linalg_rows = ROWS(rows);
