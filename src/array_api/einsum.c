/* Einstein summation: parses subscripts, and chooses the order of the products and a function for each product. */
#include <inttypes.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/steps.h"

/* Every index of the subscripts has a number. The letters A to Z and a to z have the numbers 0 to 51, the order of the axes of a
 * result without "->". The axes of "..." follow. */
enum { LETTERS = 52, INDICES = LETTERS + CUBED_MAX_NDIM };

typedef struct indices {
    bool has[INDICES];
} indices;

/* An operand or an intermediate product: an array, and the number of the index of each axis. */
typedef struct part {
    cubed_array *x;
    int n;
    uint8_t index[CUBED_MAX_NDIM];
} part;

typedef struct summation {
    cb_steps steps;
    const char *text; /* the subscripts, for messages */
    int n;
    /* operands that no step has used yet, followed by the results of steps */
    part part[CUBED_EINSUM_MAX_OPERANDS];
    int nresult;
    uint8_t result[CUBED_MAX_NDIM];
} summation;

static indices of_list(const uint8_t *index, int n)
{
    indices s = {{false}};
    for (int d = 0; d < n; d++) s.has[index[d]] = true;
    return s;
}

static void add(indices *s, const part *p)
{
    for (int d = 0; d < p->n; d++) s->has[p->index[d]] = true;
}

static int place_of(const part *p, uint8_t index)
{
    for (int d = 0; d < p->n; d++) {
        if (p->index[d] == index) return d;
    }
    return -1;
}

/* --- Subscripts ------------------------------------------------------------------------------------- */

static int letter_of(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return 26 + c - 'a';
    return -1;
}

static char name_of(uint8_t index)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (index < LETTERS) return letters[index];
    return '.';
}

/* The subscripts of one operand or of the result, without blanks: letters, and the position of "..." among them. */
typedef struct term {
    char text[3 * CUBED_MAX_NDIM];
    size_t length;
    int nletters, dots; /* dots: position of "..."; -1 if there is none */
    uint8_t letter[CUBED_MAX_NDIM];
} term;

static cubed_status read_term(const summation *s, const char **at, const char *end, bool is_result,
                              term *t, cubed_error *err)
{
    bool ok = true;
    *t = (term){.dots = -1};
    for (; *at < end && (is_result || **at != ','); ++*at) {
        if (**at == ' ') continue;
        if (t->length == sizeof t->text - 1)
            return cb_fail(err, CUBED_E_ARG, "einsum '%s': a term has more than %d axes", s->text,
                           CUBED_MAX_NDIM);
        t->text[t->length++] = **at;
    }
    for (size_t i = 0; i < t->length && ok; i++) {
        const int letter = letter_of(t->text[i]);
        if (letter >= 0 && t->nletters < CUBED_MAX_NDIM) {
            t->letter[t->nletters++] = (uint8_t)letter;
        } else if (t->dots < 0 && strncmp(t->text + i, "...", 3) == 0) {
            t->dots = t->nletters;
            i += 2;
        } else {
            ok = false;
        }
    }
    if (ok) return CUBED_OK;
    if (is_result)
        return cb_fail(
            err, CUBED_E_ARG,
            "einsum '%s': the result '%s' contains characters other than letters and one '...'",
            s->text, t->text);
    return cb_fail(err, CUBED_E_ARG,
                   "einsum '%s': term '%s' contains characters other than letters and one '...'",
                   s->text, t->text);
}

static cubed_status too_many_axes(const summation *s, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED, "einsum '%s': the result has more than %d axes",
                   s->text, CUBED_MAX_NDIM);
}

/* Lists the indices of a term. The axes of its "..." are the last axes of the longest "...". */
static void expand(const term *t, int ndots, int longest, uint8_t *index)
{
    int n = 0;
    for (int i = 0; i <= t->nletters; i++) {
        for (int k = longest - ndots; i == t->dots && k < longest; k++)
            index[n++] = (uint8_t)(LETTERS + k);
        if (i < t->nletters) index[n++] = t->letter[i];
    }
}

static cubed_status read_result(summation *s, const char *at, const char *end, const indices *seen,
                                int longest, cubed_error *err)
{
    term t;
    indices twice = {{false}};
    CB_TRY(read_term(s, &at, end, true, &t, err));
    const int ndots = t.dots >= 0 ? longest : 0;
    if (t.nletters + ndots > CUBED_MAX_NDIM) return too_many_axes(s, err);
    for (int i = 0; i < t.nletters; i++) {
        const char letter = name_of(t.letter[i]);
        if (!seen->has[t.letter[i]])
            return cb_fail(err, CUBED_E_ARG,
                           "einsum '%s': the result '%s' has '%c', which no term has", s->text,
                           t.text, letter);
        if (twice.has[t.letter[i]])
            return cb_fail(err, CUBED_E_ARG,
                           "einsum '%s': the result '%s' has '%c' twice, expected it once", s->text,
                           t.text, letter);
        twice.has[t.letter[i]] = true;
    }
    s->nresult = t.nletters + ndots;
    expand(&t, ndots, longest, s->result);
    return CUBED_OK;
}

/* If the subscripts have no "->", derives the indices of the result: the axes of "...", then the letters that occur once, in
 * alphabetical order with capitals first. */
static cubed_status derive_result(summation *s, const int *times, int longest, cubed_error *err)
{
    s->nresult = 0;
    for (int k = 0; k < longest; k++) s->result[s->nresult++] = (uint8_t)(LETTERS + k);
    for (int i = 0; i < LETTERS; i++) {
        if (times[i] != 1) continue;
        if (s->nresult == CUBED_MAX_NDIM) return too_many_axes(s, err);
        s->result[s->nresult++] = (uint8_t)i;
    }
    return CUBED_OK;
}

static cubed_status read_subscripts(summation *s, cubed_array *const *operands, int noperands,
                                    cubed_error *err)
{
    const char *arrow = strstr(s->text, "->"), *at = s->text;
    const char *end = arrow ? arrow : s->text + strlen(s->text);
    int times[INDICES] = {0}, nterms = 1, longest = 0;
    indices seen = {{false}};
    for (const char *c = at; c < end; c++) nterms += *c == ',';
    if (nterms != noperands)
        return cb_fail(
            err, CUBED_E_ARG,
            "einsum '%s': there are %d terms for %d operands, expected one term for each operand",
            s->text, nterms, noperands);
    /* The first pass finds the longest "...", which determines the indices of all "..." in the second pass. */
    for (int pass = 0; pass < 2; pass++) {
        at = s->text;
        for (int i = 0; i < noperands; i++, at++) {
            const int ndim = operands[i]->node.grid->ndim;
            term t;
            CB_TRY(read_term(s, &at, end, false, &t, err));
            if (t.nletters > ndim || (t.dots < 0 && t.nletters != ndim))
                return cb_fail(
                    err, CUBED_E_ARG,
                    "einsum '%s': term '%s' does not match its operand, which has %d axes", s->text,
                    t.text, ndim);
            const int ndots = t.dots >= 0 ? ndim - t.nletters : 0;
            if (pass == 0) {
                if (ndots > longest) longest = ndots;
                continue;
            }
            s->part[i] = (part){.x = operands[i], .n = ndim};
            expand(&t, ndots, longest, s->part[i].index);
            for (int k = 0; k < t.nletters; k++) times[t.letter[k]]++;
            add(&seen, &s->part[i]);
        }
    }
    s->n = noperands;
    if (!arrow) return derive_result(s, times, longest, err);
    return read_result(s, arrow + 2, s->text + strlen(s->text), &seen, longest, err);
}

/* --- Steps ------------------------------------------------------------------------------------------ */

/* If an operand has an index several times, replaces these axes by their diagonal. */
static cubed_status take_diagonals(summation *s, part *p, cubed_error *err)
{
    for (int i = 0; i < p->n; i++) {
        for (int j = i + 1; j < p->n; j++) {
            if (p->index[i] != p->index[j]) continue;
            const uint8_t index = p->index[i];
            cubed_array *y = NULL;
            int order[CUBED_MAX_NDIM], n = 0;
            if (p->x->shape[i] != p->x->shape[j])
                return cb_fail(err, CUBED_E_ARG,
                               "einsum: index '%c' has extents %" PRId64 " and %" PRId64
                               " in one operand, expected equal extents",
                               name_of(index), p->x->shape[i], p->x->shape[j]);
            for (int d = 0; d < p->n; d++) {
                if (d != i && d != j) order[n++] = d;
            }
            for (int k = 0; k < n; k++) p->index[k] = p->index[order[k]];
            p->index[n] = index;
            order[n] = i;
            order[n + 1] = j;
            p->n = n + 1;
            cubed_array *x = cb_step_permuted(&s->steps, p->x, order);
            if (!x) return s->steps.st;
            p->x = cb_step(&s->steps, cubed_diagonal(x, 0, &y, err), &y);
            if (!p->x) return s->steps.st;
            i = -1; /* restart the loop, because axes have moved */
            break;
        }
    }
    return CUBED_OK;
}

/* Drops axes of extent 1 that broadcast, and checks that the other axes of each index have the same extent. */
static cubed_status check_extents(summation *s, cubed_error *err)
{
    int64_t extent[INDICES];
    for (int k = 0; k < INDICES; k++) extent[k] = 1;
    for (int i = 0; i < s->n; i++) {
        for (int d = 0; d < s->part[i].n; d++) {
            const int64_t n = s->part[i].x->shape[d];
            int64_t *known = &extent[s->part[i].index[d]];
            if (*known == 1) *known = n;
            if (n != 1 && n != *known)
                return cb_fail(err, CUBED_E_ARG,
                               "einsum: index '%c' has extents %" PRId64 " and %" PRId64
                               ", expected equal extents",
                               name_of(s->part[i].index[d]), *known, n);
        }
    }
    for (int i = 0; i < s->n; i++) {
        part *p = &s->part[i];
        cubed_array *y = NULL;
        int gone[CUBED_MAX_NDIM], ngone = 0, kept = 0;
        for (int d = 0; d < p->n; d++) {
            if (p->x->shape[d] == 1 && extent[p->index[d]] != 1)
                gone[ngone++] = d;
            else
                p->index[kept++] = p->index[d];
        }
        p->n = kept;
        if (ngone == 0) continue;
        p->x = cb_step(&s->steps, cubed_squeeze(p->x, gone, ngone, &y, err), &y);
        if (!p->x) return s->steps.st;
    }
    return CUBED_OK;
}

/* Sums an operand over the indices that are not in `wanted`. */
static part summed(cb_steps *s, part p, const indices *wanted)
{
    int gone[CUBED_MAX_NDIM];
    part out = {.n = 0};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *y = NULL;
    for (int d = 0; d < p.n; d++) {
        if (wanted->has[p.index[d]])
            out.index[out.n++] = p.index[d];
        else
            gone[o.naxes++] = d;
    }
    if (o.naxes == 0 || s->st != CUBED_OK) return p;
    o.axes = gone;
    const cubed_dtype dtype = p.x->node.dtype;
    const cubed_reduction sum = dtype == CUBED_BOOL ? CUBED_REDUCE_ANY : CUBED_REDUCE_SUM;
    out.x = cb_step_cast(s, cb_step(s, cubed_reduce(sum, p.x, &o, &y, s->err), &y), dtype);
    return out;
}

/* Axes of a product of two operands by kind: their numbers, and their positions in the left and the right operand. */
typedef struct product {
    int batch, rows, columns, summed;
    int left[CUBED_MAX_NDIM],
        right[CUBED_MAX_NDIM]; /* left: batch, rows, summed; right: batch, summed, columns */
} product;

/* Returns the number of axes of the product of two parts, including the axes to be summed. */
static int axes_of(const part *p, const part *q)
{
    int n = p->n;
    for (int d = 0; d < q->n; d++) n += place_of(p, q->index[d]) < 0;
    return n;
}

static product sort_axes(const part *p, const part *q, const indices *rest, part *out)
{
    product m = {.batch = 0};
    int nl = 0, nr = 0;
    for (int d = 0; d < p->n; d++) {
        const int other = place_of(q, p->index[d]);
        if (other < 0 || !rest->has[p->index[d]]) continue;
        m.left[nl++] = d;
        m.right[nr++] = other;
        out->index[out->n++] = p->index[d];
        m.batch++;
    }
    for (int d = 0; d < p->n; d++) {
        if (place_of(q, p->index[d]) >= 0) continue;
        m.left[nl++] = d;
        out->index[out->n++] = p->index[d];
        m.rows++;
    }
    for (int d = 0; d < p->n; d++) {
        const int other = place_of(q, p->index[d]);
        if (other < 0 || rest->has[p->index[d]]) continue;
        m.left[nl++] = d;
        m.right[nr++] = other;
        m.summed++;
    }
    for (int d = 0; d < q->n; d++) {
        if (place_of(p, q->index[d]) >= 0) continue;
        m.right[nr++] = d;
        out->index[out->n++] = q->index[d];
        m.columns++;
    }
    return m;
}

/* Inserts n axes of extent 1 into x, from axis `first` on. */
static cubed_array *with_axes(cb_steps *s, cubed_array *x, int first, int n)
{
    for (int d = 0; d < n && s->st == CUBED_OK; d++) {
        cubed_array *y = NULL;
        x = cb_step(s, cubed_expand_dims(x, first + d, &y, s->err), &y);
    }
    return x;
}

/* Multiplies two parts without summing over any index. */
static cubed_array *outer_product(cb_steps *s, const product *m, cubed_array *x, cubed_array *y)
{
    x = with_axes(s, x, m->batch + m->rows, m->columns);
    y = with_axes(s, y, m->batch, m->rows);
    if (s->st != CUBED_OK) return NULL;
    return cb_step_op(s, x->node.dtype == CUBED_BOOL ? CUBED_OP_LOGICAL_AND : CUBED_OP_MULTIPLY, x,
                      y, NULL);
}

/* Keeps the first `batch` axes. Merges the next n axes to one axis, and all further axes to another. */
static cubed_array *merged(cb_steps *s, cubed_array *x, int batch, int n)
{
    int64_t shape[CUBED_MAX_NDIM + 2];
    const int ndim = x->node.grid->ndim;
    if (s->st != CUBED_OK) return NULL;
    if (n == 1 && ndim == batch + 2) return x;
    memcpy(shape, x->shape, (size_t)batch * sizeof *shape);
    shape[batch] = shape[batch + 1] = 1;
    for (int d = batch; d < ndim; d++) {
        int64_t *extent = &shape[d < batch + n ? batch : batch + 1];
        if (cb_mul_i64(*extent, x->shape[d], extent)) {
            s->st = cb_fail(
                s->err, CUBED_E_ARG,
                "einsum: the product of extents exceeds 2**63 - 1: give fewer or shorter axes");
            return NULL;
        }
    }
    return cb_step_reshaped(s, x, batch + 2, shape);
}

static cubed_array *matrix_product(cb_steps *s, const product *m, cubed_array *x, cubed_array *y)
{
    const cubed_dtype dtype = x->node.dtype;
    int64_t shape[CUBED_MAX_NDIM];
    int from[CUBED_MAX_NDIM], to[CUBED_MAX_NDIM], n = 0;
    cubed_array *z = NULL;
    /* int64 does not overflow, because there are fewer than 2**63 terms */
    if (dtype == CUBED_BOOL) {
        x = cb_step_cast(s, x, CUBED_INT64);
        y = cb_step_cast(s, y, CUBED_INT64);
    }
    if (s->st != CUBED_OK) return NULL;
    if (m->batch == 0) {
        for (int d = 0; d < m->summed; d++) {
            from[d] = m->rows + d;
            to[d] = d;
        }
        z = cb_step(s, cubed_tensordot(x, y, from, to, m->summed, &z, s->err), &z);
        return s->st == CUBED_OK ? cb_step_cast(s, z, dtype) : NULL;
    }
    for (int d = 0; d < m->batch + m->rows; d++) shape[n++] = x->shape[d];
    for (int d = 0; d < m->columns; d++) shape[n++] = y->shape[m->batch + m->summed + d];
    x = merged(s, x, m->batch, m->rows);
    y = merged(s, y, m->batch, m->summed);
    if (s->st != CUBED_OK) return NULL;
    z = cb_step(s, cubed_matmul(x, y, &z, s->err), &z);
    if (!z) return NULL;
    z = cb_step_cast(s, z, dtype);
    if (!z || (m->rows == 1 && m->columns == 1)) return z;
    return cb_step_reshaped(s, z, n, shape);
}

/* Multiplies two parts. Sums over all indices that are not in `rest`. */
static part multiply(cb_steps *s, part p, part q, const indices *rest)
{
    part out = {.n = 0};
    indices mine = *rest, theirs = *rest;
    add(&mine, &q);
    add(&theirs, &p);
    p = summed(s, p, &mine);
    q = summed(s, q, &theirs);
    if (s->st != CUBED_OK) return out;
    if (axes_of(&p, &q) > CUBED_MAX_NDIM) {
        s->st = cb_fail(s->err, CUBED_E_UNSUPPORTED,
                        "einsum: a product has %d axes, expected at most %d", axes_of(&p, &q),
                        CUBED_MAX_NDIM);
        return out;
    }
    const product m = sort_axes(&p, &q, rest, &out);
    cubed_array *x = cb_step_permuted(s, p.x, m.left), *y = cb_step_permuted(s, q.x, m.right);
    if (s->st != CUBED_OK) return out;
    out.x = m.summed == 0 ? outer_product(s, &m, x, y) : matrix_product(s, &m, x, y);
    return out;
}

/* --- Order ------------------------------------------------------------------------------------------ */

static double count_of(const part *p)
{
    double n = 1;
    for (int d = 0; d < p->n; d++) n *= (double)p->x->shape[d];
    return n;
}

/* Sets *more to the number of elements of a product minus the number of elements of its operands. Sets *work to the number of
 * multiplications. Sets *apart if the operands have no common index. */
static void cost_of(const part *parts, int n, int i, int j, const indices *wanted, bool *apart,
                    double *more, double *work)
{
    indices rest = *wanted, both = of_list(parts[i].index, parts[i].n);
    *apart = true;
    for (int k = 0; k < n; k++) {
        if (k != i && k != j) add(&rest, &parts[k]);
    }
    for (int d = 0; d < parts[j].n; d++) *apart = *apart && !both.has[parts[j].index[d]];
    double size = 1;
    *work = 1;
    for (int side = 0; side < 2; side++) {
        const part *p = &parts[side ? j : i];
        for (int d = 0; d < p->n; d++) {
            const uint8_t index = p->index[d];
            if (side == 1 && both.has[index]) continue;
            *work *= (double)p->x->shape[d];
            if (rest.has[index]) size *= (double)p->x->shape[d];
        }
    }
    *more = size - count_of(&parts[i]) - count_of(&parts[j]);
}

/* Chooses the pair whose product adds the fewest elements, if possible a pair with a common index. */
static void best_pair(const part *parts, int n, const indices *wanted, int *first, int *second)
{
    bool apart = true;
    double more = 0, work = 0;
    *first = -1;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            bool a;
            double m, w;
            cost_of(parts, n, i, j, wanted, &a, &m, &w);
            const bool better = *first < 0 || (a != apart ? !a : m != more ? m < more : w < work);
            if (!better) continue;
            *first = i;
            *second = j;
            apart = a;
            more = m;
            work = w;
        }
    }
}

/* Multiplies all parts, two at a time, and sums over the indices that are not in `wanted`. The parts must not be used
 * afterwards. */
static part contract(cb_steps *s, part *parts, int n, const indices *wanted, bool in_order)
{
    while (n > 1 && s->st == CUBED_OK) {
        int i = 0, j = 1;
        indices rest = *wanted;
        if (!in_order) best_pair(parts, n, wanted, &i, &j);
        for (int k = 0; k < n; k++) {
            if (k != i && k != j) add(&rest, &parts[k]);
        }
        const part made = multiply(s, parts[i], parts[j], &rest);
        memmove(&parts[j], &parts[j + 1], (size_t)(n - j - 1) * sizeof *parts);
        memmove(&parts[1], &parts[0], (size_t)i * sizeof *parts);
        parts[0] = made;
        n--;
    }
    return s->st == CUBED_OK ? summed(s, parts[0], wanted) : parts[0];
}

/* Performs one step of the path. Bit k of `which` is set if the step uses part k. */
static cubed_status take_step(summation *s, uint64_t which, bool in_order, cubed_error *err)
{
    part taken[CUBED_EINSUM_MAX_OPERANDS];
    indices wanted = of_list(s->result, s->nresult);
    int n = 0, left = 0;
    if (which == 0 || (s->n < 64 && which >> s->n))
        return cb_fail(
            err, CUBED_E_ARG,
            "einsum: a step of the path is empty or uses operands other than the %d that remain",
            s->n);
    for (int k = 0; k < s->n; k++) {
        if (which >> k & 1)
            taken[n++] = s->part[k];
        else
            s->part[left++] = s->part[k];
    }
    for (int k = 0; k < left; k++) add(&wanted, &s->part[k]);
    s->part[left++] = contract(&s->steps, taken, n, &wanted, in_order);
    s->n = left;
    return s->steps.st;
}

static cubed_status multiply_all(summation *s, const cubed_einsum_options *o, cubed_error *err)
{
    const uint64_t all = s->n == 64 ? UINT64_MAX : ((uint64_t)1 << s->n) - 1;
    for (int k = 0; k < o->nsteps; k++) CB_TRY(take_step(s, o->steps[k], o->in_order, err));
    if (o->nsteps == 0) CB_TRY(take_step(s, all, o->in_order, err));
    if (s->n != 1)
        return cb_fail(err, CUBED_E_ARG, "einsum: the path leaves %d operands, expected 1", s->n);
    return CUBED_OK;
}

/* Sets the type for computations. Half precision is widened. */
static cubed_status set_type(summation *s, const cubed_dtype *wanted, cubed_dtype *dtype,
                             cubed_error *err)
{
    *dtype = s->part[0].x->node.dtype;
    for (int i = 1; i < s->n; i++) {
        const cubed_dtype other = s->part[i].x->node.dtype,
                          both = cubed_dtype_promote(*dtype, other);
        if (!wanted && both == CUBED_DTYPE_COUNT)
            return cb_fail(err, CUBED_E_TYPE, "einsum: %s and %s have no common type: give dtype",
                           cubed_dtype_name(*dtype), cubed_dtype_name(other));
        if (!wanted) *dtype = both;
    }
    if (wanted) *dtype = *wanted;
    const bool half = cubed_dtype_kind(*dtype) == CUBED_KIND_FLOAT && cubed_dtype_size(*dtype) < 4;
    for (int i = 0; i < s->n && s->steps.st == CUBED_OK; i++)
        s->part[i].x = cb_step_cast(&s->steps, s->part[i].x, half ? CUBED_FLOAT32 : *dtype);
    return s->steps.st;
}

static cubed_status sum_all(summation *s, const cubed_einsum_options *o, cubed_array **result,
                            cubed_error *err)
{
    cubed_dtype dtype;
    int order[CUBED_MAX_NDIM];
    for (int i = 0; i < s->n; i++) CB_TRY(take_diagonals(s, &s->part[i], err));
    CB_TRY(check_extents(s, err));
    CB_TRY(set_type(s, o->dtype, &dtype, err));
    CB_TRY(multiply_all(s, o, err));
    const part *p = &s->part[0];
    for (int d = 0; d < s->nresult; d++) order[d] = place_of(p, s->result[d]);
    *result = cb_step_cast(&s->steps, cb_step_permuted(&s->steps, p->x, order), dtype);
    return s->steps.st;
}

cubed_status cubed_einsum(const char *subscripts, cubed_array *const *operands, int n,
                          const cubed_einsum_options *options, cubed_array **out, cubed_error *err)
{
    cubed_einsum_options o = CUBED_EINSUM_OPTIONS_INIT;
    cubed_array *result = NULL;
    CB_TRY(CB_OPTIONS_TAKE("einsum", options, &o, err));
    if (n < 1 || n > CUBED_EINSUM_MAX_OPERANDS)
        return cb_fail(err, CUBED_E_ARG, "einsum: there are %d operands, expected 1 to %d", n,
                       CUBED_EINSUM_MAX_OPERANDS);
    summation *s = cb_alloc_zero(&operands[0]->ctx->alloc, sizeof *s);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for einsum");
    s->text = subscripts;
    s->steps = (cb_steps){.ctx = operands[0]->ctx, .err = err};
    cubed_status st = read_subscripts(s, operands, n, err);
    if (st == CUBED_OK) st = sum_all(s, &o, &result, err);
    if (st != CUBED_OK) s->steps.st = st;
    st = cb_steps_end(&s->steps, result, out);
    cb_free(&operands[0]->ctx->alloc, s, sizeof *s);
    return st;
}
