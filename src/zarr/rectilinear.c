/* The chunk grid "rectilinear" (an extension of format 3): along each axis a list of chunk lengths, as integers and pairs
 * [length, count], or one length for all. */
#include <inttypes.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

/* Maximum number of chunks along an axis, because each length is kept in memory. */
#define MAX_CHUNKS ((int64_t)1 << 20)

bool cb_zarr_is_irregular(const cb_zarr_meta *m)
{
    for (int d = 0; d < m->ndim; d++) {
        if (m->starts[d]) return true;
    }
    return false;
}

/* Reads an entry of the list: a length, and its count. */
static cubed_status read_run(const char *where, int d, const json_t *v, int64_t *length,
                             int64_t *times, cubed_error *err)
{
    const json_t *first = json_is_array(v) ? json_array_get(v, 0) : v;
    const json_t *count = json_is_array(v) ? json_array_get(v, 1) : NULL;
    *length = json_integer_value(first);
    *times = count ? json_integer_value(count) : 1;
    if (json_is_integer(first) && *length >= 1 && *length <= INT64_MAX / 4 && *times >= 1 &&
        (!json_is_array(v) || (json_array_size(v) == 2 && json_is_integer(count))))
        return CUBED_OK;
    return cb_fail(
        err, CUBED_E_FORMAT,
        "%s: \"chunk_shapes\"[%d] must have integers >= 1 and pairs of a length and a count", where,
        d);
}

/* Counts the chunks up to the chunk that reaches the end of the axis. Stores the starts of chunks if `starts` is not NULL. */
static cubed_status walk(const char *where, int d, const json_t *list, int64_t extent,
                         int64_t *starts, int64_t *n, cubed_error *err)
{
    int64_t at = 0;
    *n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        int64_t length, times;
        CB_TRY(read_run(where, d, json_array_get(list, i), &length, &times, err));
        for (; times > 0 && at < extent; times--) {
            if (*n == MAX_CHUNKS)
                return cb_fail(err, CUBED_E_UNSUPPORTED,
                               "%s: more than %" PRId64 " chunks along axis %d", where, MAX_CHUNKS,
                               d);
            if (starts) starts[*n] = at;
            at += length;
            ++*n;
        }
    }
    if (starts) starts[*n] = at;
    if (at < extent)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: \"chunk_shapes\"[%d] ends at %" PRId64 ", expected %" PRId64
                       ", the length of the axis",
                       where, d, at, extent);
    return CUBED_OK;
}

static cubed_status read_axis(const char *where, int d, const json_t *v, cb_zone *zone,
                              cb_zarr_meta *m, cubed_error *err)
{
    if (!json_is_array(v)) {
        int64_t times;
        return read_run(where, d, v, &m->chunk[d], &times, err);
    }
    int64_t n;
    CB_TRY(walk(where, d, v, m->shape[d], NULL, &n, err));
    int64_t *starts = cb_zone_alloc(zone, ((size_t)n + 1) * sizeof *starts);
    if (!starts) return cb_fail(err, CUBED_E_NOMEM, "no memory for %" PRId64 " chunks", n);
    CB_TRY(walk(where, d, v, m->shape[d], starts, &n, err));
    bool alike = true;
    m->chunk[d] = 1;
    for (int64_t i = 0; i < n; i++) {
        m->chunk[d] = cb_max_i64(m->chunk[d], starts[i + 1] - starts[i]);
        alike = alike && starts[i + 1] - starts[i] == starts[1];
    }
    if (alike) return CUBED_OK;
    m->starts[d] = starts;
    m->nchunks[d] = n;
    return CUBED_OK;
}

cubed_status cb_zarr_parse_rectilinear(const char *where, const json_t *conf, cb_zone *zone,
                                       cb_zarr_meta *m, cubed_error *err)
{
    const char *kind = NULL;
    const json_t *shapes = json_object_get(conf, "chunk_shapes");
    CB_TRY(cb_json_get_string(where, conf, "kind", &kind, err));
    if (strcmp(kind, "inline") != 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: chunk grid \"rectilinear\" of kind \"%s\" is not supported", where,
                       kind);
    if (json_object_get(conf, "encoded_chunk_shapes"))
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "%s: chunks that are encoded in larger shapes (\"encoded_chunk_shapes\") are "
            "not supported",
            where);
    if (!json_is_array(shapes) || json_array_size(shapes) != (size_t)m->ndim)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"chunk_shapes\" must list %d axes", where,
                       m->ndim);
    for (int d = 0; d < m->ndim; d++)
        CB_TRY(read_axis(where, d, json_array_get(shapes, (size_t)d), zone, m, err));
    return CUBED_OK;
}

cubed_status cb_zarr_check_irregular(const char *where, const cb_zarr_meta *m, cubed_error *err)
{
    for (int d = 0; d < m->ndim; d++) {
        /* the length along axis d with which the codecs were parsed and checked */
        int64_t shape[CUBED_MAX_NDIM], checked = m->chunk[d];
        memcpy(shape, m->chunk, sizeof shape);
        for (int64_t i = 0; m->starts[d] && i < m->nchunks[d]; i++) {
            shape[d] = m->starts[d][i + 1] - m->starts[d][i];
            if (shape[d] == checked) continue;
            CB_TRY(cb_codec_chain_check_shape(where, &m->codecs, shape, err));
            checked = shape[d];
        }
    }
    return CUBED_OK;
}

int64_t cb_zarr_count(const cb_zarr_meta *m, int d)
{
    if (m->shape[d] == 0) return 0;
    return m->starts[d] ? m->nchunks[d] : cb_ceil_div(m->shape[d], m->chunk[d]);
}

int64_t cb_zarr_find(const cb_zarr_meta *m, int d, int64_t at)
{
    return m->starts[d] ? cb_find_start(m->starts[d], m->nchunks[d], at) : at / m->chunk[d];
}

void cb_zarr_unravel(const cb_zarr_meta *m, int64_t i, int64_t *idx)
{
    for (int d = m->ndim - 1; d >= 0; d--) {
        const int64_t n = cb_max_i64(cb_zarr_count(m, d), 1);
        idx[d] = i % n;
        i /= n;
    }
}

static json_t *print_axis(const cb_zarr_meta *m, int d)
{
    if (!m->starts[d]) return json_integer(m->chunk[d]);
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int64_t i = 0, times; i < m->nchunks[d]; i += times) {
        int64_t length = m->starts[d][i + 1] - m->starts[d][i];
        times = 1;
        while (i + times < m->nchunks[d] &&
               m->starts[d][i + times + 1] - m->starts[d][i + times] == length)
            times++;
        /* write [length, count] only for at least three equal lengths, because it is not shorter for fewer */
        bool run = times > 2;
        if (!run) times = 1;
        cb_json_add(list,
                    run ? json_pack("[I, I]", (json_int_t)length, (json_int_t)times)
                        : json_integer(length),
                    &ok);
    }
    return cb_json_if(ok, list);
}

json_t *cb_zarr_print_rectilinear(const cb_zarr_meta *m)
{
    json_t *shapes = json_array();
    bool ok = shapes != NULL;
    for (int d = 0; d < m->ndim; d++) cb_json_add(shapes, print_axis(m, d), &ok);
    return json_pack("{s:s, s:o}", "kind", "inline", "chunk_shapes", cb_json_if(ok, shapes));
}

cubed_status cb_zarr_chunk_shapes(const cb_zarr_meta *m, cb_zone *zone, const char **out,
                                  cubed_error *err)
{
    json_t *conf = cb_zarr_print_rectilinear(m);
    cubed_status st = cb_json_text(json_object_get(conf, "chunk_shapes"), zone, out, err);
    json_decref(conf);
    return st;
}
