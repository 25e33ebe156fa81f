/* Converts metadata to codec chains and back. */
#include "codec/codec.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/codec_pkg.h"
#include "codec/shard_layout.h"

void cb_codec_chain_fix(cb_codec_chain *c)
{
    for (int i = 0; i < c->nsteps; i++) c->step[i].ctx.shape = c->step[i].shape;
}

static int put_text(const char *text, size_t size, void *buf)
{
    cb_buf_put(buf, text, size);
    return ((cb_buf *)buf)->failed ? -1 : 0;
}

static cubed_status parse_conf(const char *where, cb_codec_step *s, const json_t *conf, int format,
                               cubed_error *err)
{
    cb_buf text;
    cb_buf_init(&text, &cb_system_allocator);
    cubed_status st = CUBED_OK;
    if (!conf) {
        cb_buf_puts(&text, "{}");
    } else if (json_dump_callback(conf, put_text, &text, JSON_ENCODE_ANY) != 0) {
        cb_buf_free(&text);
        return cb_fail(err, CUBED_E_NOMEM, "%s: no memory for codec %s", where, s->vt->name);
    }
    st = text.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for codec %s", s->vt->name)
                     : s->vt->parse(text.data, format, &s->ctx, &s->conf, err);
    cb_buf_free(&text);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", where);
}

/* Input of a step, from the array or the previous step. */
typedef struct input {
    cubed_codec_ctx ctx; /* its `shape` points to the next member */
    int64_t shape[CUBED_MAX_NDIM];
    size_t bytes;
    const cb_codecs *codecs; /* known codecs */
} input;

static cubed_status reserve(const char *where, cb_codec_chain *c, size_t n, cb_codec_subread *part,
                            cubed_error *err)
{
    *part = (cb_codec_subread){c->nsteps, 0};
    if (n > (size_t)(CB_MAX_CODECS - c->nsteps))
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: more than %d codecs", where, CB_MAX_CODECS);
    part->n = (int)n;
    c->nsteps += (int)n;
    return CUBED_OK;
}

static void begin_step(cb_codec_step *s, const cubed_codec_vtable *vt, const input *in)
{
    memset(s, 0, sizeof *s);
    s->vt = vt;
    memcpy(s->shape, in->shape, sizeof s->shape);
    s->ctx = in->ctx;
    s->ctx.shape = s->shape;
    s->raw_size = in->bytes;
}

static cubed_status end_step(const char *where, const cb_codec_chain *c, cb_codec_step *s,
                             input *in, cubed_error *err)
{
    in->bytes = cb_step_bound(c, s);
    if (in->bytes == 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: a chunk of %zu bytes is too large for codec %s",
                       where, c->chunk_bytes, s->vt->name);
    s->skip = s->vt->is_identity && s->vt->is_identity(&s->conf, &s->ctx);
    if (s->vt->output) s->vt->output(&s->conf, &in->ctx, in->shape);
    return CUBED_OK;
}

static cubed_status start_chain(const char *where, const cb_codec_array *a, cb_codec_chain *c,
                                input *in, cubed_error *err)
{
    int64_t n;
    memset(c, 0, offsetof(cb_codec_chain, step));
    if (cb_count(a->ndim, a->chunk, &n) || cb_mul_size((size_t)n, a->item_size, &c->chunk_bytes) ||
        c->chunk_bytes > (size_t)1 << 60)
        return cb_fail(err, CUBED_E_FORMAT, "%s: a chunk has more than 2**60 bytes", where);
    if (a->fill) memcpy(c->fill, a->fill, cb_min_size(a->item_size, CB_MAX_ITEM));
    memset(in, 0, sizeof *in);
    memcpy(in->shape, a->chunk, (size_t)a->ndim * sizeof *a->chunk);
    in->ctx = (cubed_codec_ctx){.item_size = a->item_size,
                                .unit_size = a->unit_size,
                                .ndim = a->ndim,
                                .shape = in->shape,
                                .dtype = a->dtype};
    in->bytes = c->chunk_bytes;
    in->codecs = a->codecs;
    return CUBED_OK;
}

/* Sets the number of inner chunks in a shard, and the shape of its index: the grid of inner chunks and an axis of length 2. If
 * that would be one axis too many, the index is a list of pairs. */
static cubed_status cut_shard(const char *where, cb_codec_step *s, const int64_t *inner,
                              input *index, cubed_error *err)
{
    const int n = s->ctx.ndim, last = n < CUBED_MAX_NDIM ? n : 1;
    s->ninner = 1;
    for (int d = 0; d < n; d++) {
        if (s->shape[d] % inner[d] != 0)
            return cb_fail(err, CUBED_E_FORMAT,
                           "%s: codec sharding_indexed: \"chunk_shape\"[%d] is %lld, expected a "
                           "divisor of %lld",
                           where, d, (long long)inner[d], (long long)s->shape[d]);
        /* No overflow: shards and inner chunks are at most as large as a chunk, which is checked. */
        index->shape[d] = s->shape[d] / inner[d];
        s->ninner *= index->shape[d];
    }
    if (last != n) index->shape[0] = s->ninner;
    index->shape[last] = 2;
    index->ctx = (cubed_codec_ctx){.item_size = 8,
                                   .unit_size = 8,
                                   .ndim = last + 1,
                                   .shape = index->shape,
                                   .dtype = CUBED_UINT64};
    if (cb_mul_size((size_t)s->ninner, 16, &index->bytes))
        return cb_fail(err, CUBED_E_FORMAT, "%s: a shard has too many chunks", where);
    return CUBED_OK;
}

static size_t bytes_of(const cubed_codec_ctx *ctx, const int64_t *shape)
{
    size_t bytes = ctx->item_size;
    for (int d = 0; d < ctx->ndim; d++) bytes *= (size_t)shape[d];
    return bytes;
}

/* Adapts the parsed steps of a part to another shape. Recursion depth: at most 2, for a chunk and an index. */
static void resize_part(cb_codec_chain *c, cb_codec_subread part, input *in)
{
    for (int i = part.first; i < part.first + part.n; i++) {
        cb_codec_step *s = &c->step[i];
        input index = {.shape = {0}};
        cubed_status st = CUBED_OK;
        memcpy(s->shape, in->shape, sizeof s->shape);
        s->raw_size = in->bytes;
        in->ctx = s->ctx;
        if (s->vt == &cb_codec_sharding_indexed) {
            st = cut_shard("", s, cb_shard_inner(c, s), &index, NULL);
            assert(st == CUBED_OK); /* cb_codec_chain_check_shape has checked the shape */
            (void)st;
            resize_part(c, s->index, &index);
        }
        st = end_step("", c, s, in, NULL);
        assert(st == CUBED_OK); /* this call succeeded for the larger chunk, so it succeeds here */
        (void)st;
    }
}

void cb_codec_chain_resize(const cb_codec_chain *c, const int64_t *shape, cb_codec_chain *out)
{
    input in = {.ctx = c->step[c->all.first].ctx};
    *out = *c;
    cb_codec_chain_fix(out);
    memcpy(in.shape, shape, (size_t)in.ctx.ndim * sizeof *shape);
    /* no overflow: the size for the original chunk, which was larger, did not overflow */
    in.bytes = bytes_of(&in.ctx, shape);
    out->chunk_bytes = in.bytes;
    resize_part(out, out->all, &in);
}

cubed_status cb_codec_chain_check_shape(const char *where, const cb_codec_chain *c,
                                        const int64_t *shape, cubed_error *err)
{
    int64_t at[CUBED_MAX_NDIM];
    const int ndim = c->step[c->all.first].ctx.ndim;
    memcpy(at, shape, (size_t)ndim * sizeof *at);
    for (int i = c->all.first; i < c->all.first + c->all.n; i++) {
        const cb_codec_step *s = &c->step[i];
        cubed_codec_ctx ctx = s->ctx;
        for (int d = 0; s->vt == &cb_codec_sharding_indexed && d < ndim; d++) {
            if (at[d] % cb_shard_inner(c, s)[d] == 0) continue;
            return cb_fail(err, CUBED_E_FORMAT,
                           "%s: codec sharding_indexed: a shard has length %lld along axis %d, "
                           "expected a multiple of the chunk's %lld",
                           where, (long long)at[d], d, (long long)cb_shard_inner(c, s)[d]);
        }
        ctx.shape = at;
        if (s->vt->output) s->vt->output(&s->conf, &ctx, at);
    }
    return CUBED_OK;
}

/* Purpose of a list of codecs. An index has a fixed size, so its codecs must not compress. */
typedef enum list_of { LIST_OF_CHUNK, LIST_OF_INDEX } list_of;

static cubed_status parse_list(const char *where, cb_codec_chain *c, const char *key,
                               const json_t *list, list_of of, input *in, cb_codec_subread *part,
                               cubed_error *err);

static cubed_status parse_shard(const char *where, cb_codec_chain *c, cb_codec_step *s,
                                const cb_codecs *codecs, const json_t *conf, cubed_error *err)
{
    input inner = {.ctx = s->ctx, .codecs = codecs};
    input index = {.shape = {0}};
    const char *location = "end";
    int n;
    CB_TRY(cb_json_get_ints(where, conf, "chunk_shape", 1, &n, inner.shape, err));
    if (n != s->ctx.ndim)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: codec sharding_indexed: \"chunk_shape\" has %d entries, expected %d",
                       where, n, s->ctx.ndim);
    CB_TRY(cut_shard(where, s, inner.shape, &index, err));
    inner.ctx.shape = inner.shape;
    inner.bytes = bytes_of(&s->ctx, inner.shape);
    CB_TRY(parse_list(where, c, "codecs", json_object_get(conf, "codecs"), LIST_OF_CHUNK, &inner,
                      &s->inner, err));
    CB_TRY(parse_list(where, c, "index_codecs", json_object_get(conf, "index_codecs"),
                      LIST_OF_INDEX, &index, &s->index, err));
    if (json_object_get(conf, "index_location"))
        CB_TRY(cb_json_get_string(where, conf, "index_location", &location, err));
    s->index_in_front = strcmp(location, "start") == 0;
    if (!s->index_in_front && strcmp(location, "end") != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: codec sharding_indexed: \"index_location\" is \"%s\", expected start "
                       "or end",
                       where, location);
    return CUBED_OK;
}

/* Parses one entry of a list: a name, or an object with a name. */
static cubed_status parse_entry(const char *where, const cb_codecs *codecs, const json_t *e,
                                const cubed_codec_vtable **vt, const json_t **conf,
                                cubed_error *err)
{
    const char *name = json_string_value(e);
    *conf = NULL;
    if (!name) {
        CB_TRY(cb_json_get_string(where, e, "name", &name, err));
        *conf = json_object_get(e, "configuration");
        if (json_is_null(*conf)) *conf = NULL;
        if (*conf && !json_is_object(*conf))
            return cb_fail(err, CUBED_E_FORMAT,
                           "%s: the configuration of codec \"%s\" is not an object", where, name);
    }
    if (strcmp(name, "endian") == 0) name = "bytes"; /* name in drafts of the specification */
    return cb_codecs_find(codecs, where, "codec", 3, name, vt, err);
}

static cubed_status parse_list(const char *where, cb_codec_chain *c, const char *key,
                               const json_t *list, list_of of, input *in, cb_codec_subread *part,
                               cubed_error *err)
{
    bool have_bytes = false;
    if (!json_is_array(list))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be a list", where, key);
    CB_TRY(reserve(where, c, json_array_size(list), part, err));
    for (int i = 0; i < part->n; i++) {
        const cubed_codec_vtable *vt;
        const json_t *conf;
        CB_TRY(parse_entry(where, in->codecs, json_array_get(list, (size_t)i), &vt, &conf, err));
        if (have_bytes != (vt->kind == CUBED_CODEC_BYTES_TO_BYTES))
            return cb_fail(err, CUBED_E_FORMAT, "%s: codec \"%s\" is placed %s", where, vt->name,
                           have_bytes ? "after \"bytes\"" : "before \"bytes\"");
        if (of == LIST_OF_INDEX && vt != &cb_codec_bytes && vt != &cb_codec_crc32c &&
            vt != &cb_codec_transpose)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: codec \"%s\" is not supported for the index of a shard, expected "
                           "bytes, crc32c or transpose",
                           where, vt->name);
        cb_codec_step *s = &c->step[part->first + i];
        begin_step(s, vt, in);
        CB_TRY(vt == &cb_codec_sharding_indexed ? parse_shard(where, c, s, in->codecs, conf, err)
                                                : parse_conf(where, s, conf, 3, err));
        CB_TRY(end_step(where, c, s, in, err));
        have_bytes = have_bytes || vt->kind == CUBED_CODEC_ARRAY_TO_BYTES;
    }
    if (!have_bytes)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: \"%s\" has no codec from arrays to bytes, such as \"bytes\"", where,
                       key);
    return CUBED_OK;
}

cubed_status cb_codec_chain_parse_v3(const char *where, const json_t *list,
                                     const cb_codec_array *array, cb_codec_chain *out,
                                     cubed_error *err)
{
    input in;
    CB_TRY(start_chain(where, array, out, &in, err));
    return parse_list(where, out, "codecs", list, LIST_OF_CHUNK, &in, &out->all, err);
}

/* Parses a step and appends it to a chain that has no shards. */
static cubed_status add_step_v2(const char *where, cb_codec_chain *c, const cubed_codec_vtable *vt,
                                const json_t *conf, int format, input *in, cubed_error *err)
{
    cb_codec_subread one = {0, 0};
    CB_TRY(reserve(where, c, 1, &one, err));
    cb_codec_step *s = &c->step[one.first];
    begin_step(s, vt, in);
    CB_TRY(parse_conf(where, s, conf, format, err));
    c->all.n = c->nsteps;
    return end_step(where, c, s, in, err);
}

static cubed_status find_step_v2(const char *where, const char *role, cb_codec_chain *c,
                                 const json_t *conf, input *in, cubed_error *err)
{
    const char *id;
    CB_TRY(cb_json_get_string(where, conf, "id", &id, err));
    const cubed_codec_vtable *vt;
    CB_TRY(cb_codecs_find(in->codecs, where, role, 2, id, &vt, err));
    return add_step_v2(where, c, vt, conf, 2, in, err);
}

cubed_status cb_codec_chain_parse_v2(const char *where, const cb_codec_v2 *v2,
                                     const cb_codec_array *array, cb_codec_chain *out,
                                     cubed_error *err)
{
    const json_t *filters = v2->filters, *compressor = v2->compressor;
    input in;
    CB_TRY(start_chain(where, array, out, &in, err));
    cubed_status st = CUBED_OK;
    json_t *order = NULL, *endian = NULL;
    if (v2->order_f) {
        order = json_object();
        json_t *axes = json_array();
        bool ok = true;
        for (int d = array->ndim - 1; d >= 0; d--) cb_json_add(axes, json_integer(d), &ok);
        cb_json_put(order, "order", axes, &ok);
        if (!ok) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs of %s", where));
        CB_GO(add_step_v2(where, out, &cb_codec_transpose, order, 3, &in, err));
    }
    endian = json_pack("{s:s}", "endian", v2->big_endian ? "big" : "little");
    if (!endian) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs of %s", where));
    CB_GO(add_step_v2(where, out, &cb_codec_bytes, endian, 3, &in, err));
    /* Filters and the compressor process bytes in the array's own byte order. */
    for (size_t i = 0; i < json_array_size(filters); i++) {
        CB_GO(find_step_v2(where, "filter", out, json_array_get(filters, i), &in, err));
        out->n_filters++;
    }
    if (compressor && !json_is_null(compressor))
        CB_GO(find_step_v2(where, "compressor", out, compressor, &in, err));
out:
    json_decref(order);
    json_decref(endian);
    return st;
}

/* --- Printing ---------------------------------------------------------------------------------------- */

static cubed_status print_conf(const cb_codec_step *s, int format, json_t **out, cubed_error *err)
{
    char text[1024];
    CB_TRY(s->vt->print(&s->conf, format, &s->ctx, text, sizeof text, err));
    return cb_json_parse(s->vt->name, text, strlen(text), out, err);
}

static cubed_status print_list(const cb_codec_chain *c, cb_codec_subread part, json_t **out,
                               cubed_error *err);

static cubed_status print_shard(const cb_codec_chain *c, const cb_codec_step *s, json_t **out,
                                cubed_error *err)
{
    json_t *inner = NULL, *index = NULL;
    cubed_status st = print_list(c, s->inner, &inner, err);
    if (st == CUBED_OK) st = print_list(c, s->index, &index, err);
    if (st != CUBED_OK) {
        json_decref(inner);
        return st;
    }
    *out = json_pack("{s:o, s:o, s:o, s:s}", "chunk_shape",
                     cb_json_ints(s->ctx.ndim, c->step[s->inner.first].shape), "codecs", inner,
                     "index_codecs", index, "index_location", s->index_in_front ? "start" : "end");
    return *out ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for codecs");
}

static cubed_status print_list(const cb_codec_chain *c, cb_codec_subread part, json_t **out,
                               cubed_error *err)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = part.first; i < part.first + part.n; i++) {
        const cb_codec_step *s = &c->step[i];
        json_t *conf = NULL, *e = json_object();
        cubed_status st = s->vt == &cb_codec_sharding_indexed ? print_shard(c, s, &conf, err)
                                                              : print_conf(s, 3, &conf, err);
        if (st != CUBED_OK) {
            json_decref(e);
            json_decref(list);
            return st;
        }
        cb_json_put(e, "name", json_string(s->vt->name), &ok);
        /* zarr-python requires a configuration for numcodecs' codecs. */
        if (json_object_size(conf) > 0 || strncmp(s->vt->name, "numcodecs.", 10) == 0)
            cb_json_put(e, "configuration", conf, &ok);
        else
            json_decref(conf);
        cb_json_add(list, e, &ok);
    }
    *out = cb_json_if(ok, list);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs");
}

cubed_status cb_codec_chain_print_v3(const cb_codec_chain *c, json_t **out, cubed_error *err)
{
    return print_list(c, c->all, out, err);
}

static cubed_status print_step_v2(const cb_codec_step *s, json_t **out, cubed_error *err)
{
    CB_TRY(print_conf(s, 2, out, err));
    bool ok = true;
    cb_json_put(*out, "id", json_string(s->vt->name_v2), &ok);
    *out = cb_json_if(ok, *out);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs");
}

cubed_status cb_codec_chain_print_v2(const cb_codec_chain *c, json_t **filters, json_t **compressor,
                                     cubed_error *err)
{
    json_t *list = c->n_filters > 0 ? json_array() : json_null(), *last = NULL, *e = NULL;
    cubed_status st = CUBED_OK;
    int i = 0;
    while (!c->step[i].vt->name_v2 && i + 1 < c->all.n) i++;
    for (int end = i + c->n_filters; i < end; i++) {
        CB_GO(print_step_v2(&c->step[i], &e, err));
        bool ok = true;
        cb_json_add(list, e, &ok);
        if (!ok) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs"));
    }
    if (i < c->all.n && c->step[i].vt->name_v2) CB_GO(print_step_v2(&c->step[i], &last, err));
    *filters = list;
    *compressor = last ? last : json_null();
    return CUBED_OK;
out:
    json_decref(list);
    return st;
}
