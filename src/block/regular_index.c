#include "block/regular_index.h"

#include <string.h>

#include "base/checked.h"

enum { WORD = 64 };

/* Bound of the errors of distances, because coordinates have rounding errors. */
static const double ROUNDING = 1e-14;
/* Work per row, in addition to the work for its cells and words. */
enum { ROW_WORK = 4 };

static int64_t words_of(int64_t columns) { return cb_ceil_div(columns, WORD); }

size_t cb_regular_bytes(int64_t rows, int64_t columns)
{
    const size_t turns = cb_sat_mul(cb_sat_add((size_t)rows, (size_t)columns), sizeof(cb_turn));
    const size_t words = cb_sat_mul((size_t)rows, (size_t)words_of(columns));
    return cb_sat_add(turns, cb_sat_mul(words, sizeof(uint64_t)));
}

static bool is_sorted(const double *v, int64_t n)
{
    bool up = true, down = true;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) return false;
        up = up && (i == 0 || v[i - 1] <= v[i]);
        down = down && (i == 0 || v[i - 1] >= v[i]);
    }
    return up || down;
}

static void turn(cb_turn *out, const double *degrees, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (cb_turn){cos(degrees[i] * CB_DEGREE), sin(degrees[i] * CB_DEGREE)};
}

bool cb_regular_build(void *memory, const double *lat, int64_t rows, const double *lon,
                      int64_t columns, cb_regular_index *out)
{
    if (rows == 0 || columns == 0 || !is_sorted(lat, rows) || !is_sorted(lon, columns))
        return false;
    if (fabs(lat[0]) > 90 || fabs(lat[rows - 1]) > 90) return false;
    if (fabs(lon[columns - 1] - lon[0]) > 360) return false;
    *out = (cb_regular_index){.rows = rows, .columns = columns, .words = words_of(columns)};
    out->step = fabs(lat[rows - 1] - lat[0]) * CB_DEGREE / (double)(rows > 1 ? rows - 1 : 1);
    out->lat = memory;
    out->lon = out->lat + rows;
    out->usable = (uint64_t *)(void *)(out->lon + columns);
    turn(out->lat, lat, rows);
    turn(out->lon, lon, columns);
    return true;
}

void cb_regular_use(cb_regular_index *s, bool (*is_usable)(const void *ctx, int64_t i),
                    const void *ctx)
{
    for (int64_t row = 0; row < s->rows; row++) {
        uint64_t *bits = s->usable + row * s->words;
        memset(bits, 0, (size_t)s->words * sizeof *bits);
        for (int64_t c = 0; c < s->columns; c++)
            bits[c / WORD] |= (uint64_t)is_usable(ctx, row * s->columns + c) << (c % WORD);
    }
}

typedef struct search {
    cb_regular_index *s;
    cb_vec at;
    int64_t column;
    int k, n;
    double most;  /* as in cb_space_nearest_within */
    double limit; /* upper limit of the squared distances of cells that can be found */
    cb_space_near *out;
} search;

static void set_limit(search *q)
{
    const double far = sqrt(cb_near_reach(q->out, q->n, q->k, q->most)) + ROUNDING;
    q->limit = far * far;
}

/* Returns false if the cell is beyond the limit. */
static bool offer(search *q, int64_t row, int64_t column)
{
    const double d = cb_vec_distance2(cb_regular_at(q->s, row, column), q->at);
    q->s->work++;
    if (d > q->limit) return false;
    cb_near_insert(
        q->out, &q->n, q->k,
        (cb_space_near){.item = (int32_t)(row * q->s->columns + column), .distance2 = d});
    if (q->n == q->k) set_limit(q);
    return true;
}

/* Returns the first column from c to end - 1 whose bit is 1, or `end`. */
static int64_t next_up(const uint64_t *bits, int64_t c, int64_t end)
{
    while (c < end) {
        const uint64_t word = bits[c / WORD] >> (c % WORD);
        if (word) return cb_min_i64(end, c + __builtin_ctzll(word));
        c += WORD - c % WORD;
    }
    return end;
}

/* Returns the last column from `first` to c whose bit is 1, or first - 1. */
static int64_t next_down(const uint64_t *bits, int64_t c, int64_t first)
{
    while (c >= first) {
        const uint64_t word = bits[c / WORD] << (WORD - 1 - c % WORD);
        if (word) {
            c -= __builtin_clzll(word);
            return c >= first ? c : first - 1;
        }
        c -= c % WORD + 1;
    }
    return first - 1;
}

/* Offers usable cells of a row, from the searched cell's column upwards and around the earth, up to the first one beyond the
 * limit. Distances grow up to half a turn, so all later cells of this half are too far. walk_down offers the cells of the other
 * half. Returns the number of columns that walk_down must not offer. */
static int64_t walk_up(search *q, int64_t row, const uint64_t *bits)
{
    const int64_t columns = q->s->columns;
    for (int64_t c = q->column; (c = next_up(bits, c, columns)) < columns; c++) {
        if (!offer(q, row, c)) return c - q->column + 1;
    }
    for (int64_t c = 0; (c = next_up(bits, c, q->column)) < q->column; c++) {
        if (!offer(q, row, c)) return columns - q->column + c + 1;
    }
    return columns;
}

/* Like walk_up, but downwards, and at most `left` columns. Returns the number of columns. */
static int64_t walk_down(search *q, int64_t row, const uint64_t *bits, int64_t left)
{
    const int64_t columns = q->s->columns;
    int64_t first = q->column > left ? q->column - left : 0;
    for (int64_t c = q->column - 1; (c = next_down(bits, c, first)) >= first; c--) {
        if (!offer(q, row, c)) return q->column - c;
    }
    first = columns - left + (q->column - first);
    for (int64_t c = columns - 1; (c = next_down(bits, c, first)) >= first; c--) {
        if (!offer(q, row, c)) return q->column + columns - c;
    }
    return left;
}

static void search_row(search *q, int64_t row)
{
    const uint64_t *bits = q->s->usable + row * q->s->words;
    const int64_t up = walk_up(q, row, bits);
    const int64_t down = walk_down(q, row, bits, q->s->columns - up);
    q->s->work += ROW_WORK + (up + down) / WORD;
}

/* Returns false if no cell of a row can be found: its distance is at least that of a point at the searched cell's longitude. */
static bool is_within(const search *q, int64_t own, int64_t row)
{
    if (row < 0 || row >= q->s->rows) return false;
    const cb_turn a = q->s->lat[own], b = q->s->lat[row];
    const double across = a.cosine - b.cosine, along = a.sine - b.sine;
    return across * across + along * along <= q->limit;
}

int cb_regular_nearest(cb_regular_index *s, int64_t cell, int k, double most, cb_space_near *out)
{
    const int64_t row = cell / s->columns, column = cell % s->columns;
    search q = {.s = s, .column = column, .k = k, .most = most, .out = out};
    q.at = cb_regular_at(s, row, column);
    set_limit(&q);
    search_row(&q, row);
    bool below = true, above = true;
    for (int64_t i = 1; below || above; i++) {
        below = below && is_within(&q, row, row - i);
        if (below) search_row(&q, row - i);
        above = above && is_within(&q, row, row + i);
        if (above) search_row(&q, row + i);
    }
    return q.n;
}
