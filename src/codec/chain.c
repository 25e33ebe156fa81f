#include "codec/codec.h"

#include <string.h>

#include "base/alloc.h"
#include "codec/codec_pkg.h"

static const cubed_codec_vtable *const codecs[] = {
#define CUBED_CODEC(name) &cb_codec_##name,
#include "codec/codecs.def"
#undef CUBED_CODEC
};
enum { NCODECS = (int)(sizeof codecs / sizeof *codecs) };

const cubed_codec_vtable *cb_codec_find(const char *name)
{
    for (int i = 0; i < NCODECS; i++) {
        if (codecs[i]->name && strcmp(codecs[i]->name, name) == 0) return codecs[i];
    }
    return NULL;
}

const cubed_codec_vtable *cb_codec_find_v2(const char *id)
{
    for (int i = 0; i < NCODECS; i++) {
        if (codecs[i]->name_v2 && strcmp(codecs[i]->name_v2, id) == 0) return codecs[i];
    }
    return NULL;
}

const char *cb_codec_names(void)
{
    return ""
#define CUBED_CODEC(name) " " #name
#include "codec/codecs.def"
#undef CUBED_CODEC
        ;
}

void cb_codec_chain_fix(cb_codec_chain *c)
{
    for (int i = 0; i < c->n; i++) c->step[i].ctx.shape = c->step[i].shape;
}

/* --- Parsing ---------------------------------------------------------------------------------------- */

static int put_text(const char *text, size_t size, void *buf)
{
    cb_buf_put(buf, text, size);
    return ((cb_buf *)buf)->failed ? -1 : 0;
}

/* Appends a step whose input is what the steps before give. The shape is the chunk's. */
static cubed_status add_step(const char *where, cb_codec_chain *c, const cubed_codec_vtable *vt,
                             const json_t *conf, int format, size_t item_size, size_t unit_size,
                             int ndim, const int64_t *shape, cubed_error *err)
{
    if (c->n == CB_MAX_CODECS)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: more than %d codecs", where, CB_MAX_CODECS);
    cb_codec_step *s = &c->step[c->n];
    memset(s, 0, sizeof *s);
    s->vt = vt;
    memcpy(s->shape, shape, (size_t)ndim * sizeof *shape);
    s->ctx = (cubed_codec_ctx){item_size, unit_size, ndim, s->shape};
    cb_buf text;
    cb_buf_init(&text, &cb_system_allocator);
    cubed_status st = CUBED_OK;
    if (!conf) {
        cb_buf_puts(&text, "{}");
    } else if (json_dump_callback(conf, put_text, &text, JSON_ENCODE_ANY) != 0) {
        cb_buf_free(&text);
        return cb_fail(err, CUBED_E_NOMEM, "%s: no memory for codec %s", where, vt->name);
    }
    st = text.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for codec %s", vt->name)
                     : vt->parse(text.data, format, &s->ctx, &s->conf, err);
    cb_buf_free(&text);
    if (st != CUBED_OK) return cb_context(err, st, "%s", where);
    s->raw_size = c->chunk_bytes;
    if (c->n > 0) {
        const cb_codec_step *p = &c->step[c->n - 1];
        s->raw_size = p->vt->bound(&p->conf, &p->ctx, p->raw_size);
    }
    if (vt->bound(&s->conf, &s->ctx, s->raw_size) == 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: a chunk of %zu bytes is too large for codec %s",
                       where, c->chunk_bytes, vt->name);
    s->skip = vt->is_identity && vt->is_identity(&s->conf, &s->ctx);
    c->n++;
    return CUBED_OK;
}

static cubed_status start_chain(const char *where, size_t item_size, int ndim, const int64_t *chunk,
                                cb_codec_chain *c, cubed_error *err)
{
    int64_t n;
    c->n = c->n_filters = 0;
    if (cb_count(ndim, chunk, &n) || cb_mul_size((size_t)n, item_size, &c->chunk_bytes) ||
        c->chunk_bytes > (size_t)1 << 60)
        return cb_fail(err, CUBED_E_FORMAT, "%s: a chunk has more than 2**60 bytes", where);
    return CUBED_OK;
}

/* Array codecs in front of "bytes" change the shape that later steps see. */
static void permute(const cb_codec_step *s, int64_t *shape)
{
    int64_t out[CUBED_MAX_NDIM];
    for (int d = 0; d < s->ctx.ndim; d++) out[d] = shape[s->conf.axis[d]];
    memcpy(shape, out, (size_t)s->ctx.ndim * sizeof *out);
}

cubed_status cb_codec_chain_parse_v3(const char *where, const json_t *list, size_t item_size,
                                     size_t unit_size, int ndim, const int64_t *chunk,
                                     cb_codec_chain *out, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    bool have_bytes = false;
    CB_TRY(start_chain(where, item_size, ndim, chunk, out, err));
    memcpy(shape, chunk, (size_t)ndim * sizeof *chunk);
    if (!json_is_array(list))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"codecs\" must be a list", where);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *e = json_array_get(list, i), *conf = NULL;
        const char *name = json_string_value(e);
        if (!name) {
            CB_TRY(cb_json_get_string(where, e, "name", &name, err));
            conf = json_object_get(e, "configuration");
            if (json_is_null(conf)) conf = NULL;
            if (conf && !json_is_object(conf))
                return cb_fail(err, CUBED_E_FORMAT,
                               "%s: the configuration of codec \"%s\" is not an object", where,
                               name);
        }
        if (strcmp(name, "endian") == 0)
            name = "bytes"; /* its name before the final specification */
        const cubed_codec_vtable *vt = cb_codec_find(name);
        if (!vt)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: codec \"%s\" is not supported; there are:%s", where, name,
                           cb_codec_names());
        bool is_array_codec = vt == &cb_codec_transpose, is_bytes = vt == &cb_codec_bytes;
        if (have_bytes && (is_array_codec || is_bytes))
            return cb_fail(err, CUBED_E_FORMAT, "%s: codec \"%s\" stands behind \"bytes\"", where,
                           name);
        if (!have_bytes && !is_array_codec && !is_bytes)
            return cb_fail(err, CUBED_E_FORMAT, "%s: codec \"%s\" stands before \"bytes\"", where,
                           name);
        CB_TRY(add_step(where, out, vt, conf, 3, item_size, unit_size, ndim, shape, err));
        if (is_array_codec) permute(&out->step[out->n - 1], shape);
        have_bytes = have_bytes || is_bytes;
    }
    if (!have_bytes) return cb_fail(err, CUBED_E_FORMAT, "%s: \"codecs\" has no \"bytes\"", where);
    return CUBED_OK;
}

static cubed_status add_step_v2(const char *where, const char *role, cb_codec_chain *c,
                                const json_t *conf, size_t item_size, size_t unit_size, int ndim,
                                const int64_t *chunk, cubed_error *err)
{
    const char *id;
    CB_TRY(cb_json_get_string(where, conf, "id", &id, err));
    const cubed_codec_vtable *vt = cb_codec_find_v2(id);
    if (!vt)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: %s \"%s\" is not supported; there are:%s",
                       where, role, id, cb_codec_names());
    return add_step(where, c, vt, conf, 2, item_size, unit_size, ndim, chunk, err);
}

cubed_status cb_codec_chain_parse_v2(const char *where, bool big_endian, bool order_f,
                                     const json_t *filters, const json_t *compressor,
                                     size_t item_size, size_t unit_size, int ndim,
                                     const int64_t *chunk, cb_codec_chain *out, cubed_error *err)
{
    CB_TRY(start_chain(where, item_size, ndim, chunk, out, err));
    cubed_status st = CUBED_OK;
    json_t *order = NULL, *endian = NULL;
    if (order_f) {
        order = json_object();
        json_t *axes = json_array();
        for (int d = ndim - 1; d >= 0; d--) json_array_append_new(axes, json_integer(d));
        json_object_set_new(order, "order", axes);
        CB_GO(add_step(where, out, &cb_codec_transpose, order, 3, item_size, unit_size, ndim, chunk,
                       err));
    }
    endian = json_pack("{s:s}", "endian", big_endian ? "big" : "little");
    CB_GO(add_step(where, out, &cb_codec_bytes, endian, 3, item_size, unit_size, ndim, chunk, err));
    /* Filters see the bytes in the array's own byte order, as the compressor does. */
    for (size_t i = 0; i < json_array_size(filters); i++) {
        CB_GO(add_step_v2(where, "filter", out, json_array_get(filters, i), item_size, unit_size,
                          ndim, chunk, err));
        out->n_filters++;
    }
    if (compressor && !json_is_null(compressor))
        CB_GO(add_step_v2(where, "compressor", out, compressor, item_size, unit_size, ndim, chunk,
                          err));
out:
    json_decref(order);
    json_decref(endian);
    return st;
}

static cubed_status print_conf(const cb_codec_step *s, int format, json_t **out, cubed_error *err)
{
    char text[1024];
    CB_TRY(s->vt->print(&s->conf, format, &s->ctx, text, sizeof text, err));
    return cb_json_parse(s->vt->name, text, strlen(text), out, err);
}

cubed_status cb_codec_chain_print_v3(const cb_codec_chain *c, json_t **out, cubed_error *err)
{
    json_t *list = json_array();
    for (int i = 0; i < c->n; i++) {
        json_t *conf = NULL, *e = json_object();
        cubed_status st = print_conf(&c->step[i], 3, &conf, err);
        if (st != CUBED_OK) {
            json_decref(e);
            json_decref(list);
            return st;
        }
        json_object_set_new(e, "name", json_string(c->step[i].vt->name));
        if (json_object_size(conf) > 0)
            json_object_set_new(e, "configuration", conf);
        else
            json_decref(conf);
        json_array_append_new(list, e);
    }
    *out = list;
    return CUBED_OK;
}

static cubed_status print_step_v2(const cb_codec_step *s, json_t **out, cubed_error *err)
{
    CB_TRY(print_conf(s, 2, out, err));
    json_object_set_new(*out, "id", json_string(s->vt->name_v2));
    return CUBED_OK;
}

cubed_status cb_codec_chain_print_v2(const cb_codec_chain *c, json_t **filters, json_t **compressor,
                                     cubed_error *err)
{
    json_t *list = c->n_filters > 0 ? json_array() : json_null(), *last = NULL, *e = NULL;
    cubed_status st = CUBED_OK;
    int i = 0;
    while (!c->step[i].vt->name_v2 && i + 1 < c->n) i++;
    for (int end = i + c->n_filters; i < end; i++) {
        CB_GO(print_step_v2(&c->step[i], &e, err));
        json_array_append_new(list, e);
    }
    if (i < c->n && c->step[i].vt->name_v2) CB_GO(print_step_v2(&c->step[i], &last, err));
    *filters = list;
    *compressor = last ? last : json_null();
    return CUBED_OK;
out:
    json_decref(list);
    return st;
}

/* --- Running ---------------------------------------------------------------------------------------- */

size_t cb_codec_chain_bound(const cb_codec_chain *c)
{
    const cb_codec_step *last = &c->step[c->n - 1];
    return last->vt->bound(&last->conf, &last->ctx, last->raw_size);
}

bool cb_codec_chain_is_raw(const cb_codec_chain *c)
{
    for (int i = 0; i < c->n; i++) {
        if (!c->step[i].skip) return false;
    }
    return true;
}

/* Steps that do something, in the order in which they run, and the bytes that each may give. What
 * all but the last give goes to one of two temporaries in turn. */
typedef struct schedule {
    int n;
    int step[CB_MAX_CODECS];
    size_t out[CB_MAX_CODECS];
    size_t temp[2];
} schedule;

static schedule make_schedule(const cb_codec_chain *c, bool decode)
{
    schedule s = {.n = 0};
    for (int k = 0; k < c->n; k++) {
        int i = decode ? c->n - 1 - k : k;
        const cb_codec_step *t = &c->step[i];
        if (t->skip) continue;
        s.step[s.n] = i;
        s.out[s.n++] = decode ? t->raw_size : t->vt->bound(&t->conf, &t->ctx, t->raw_size);
    }
    for (int k = 0; k + 1 < s.n; k++) s.temp[k % 2] = cb_max_size(s.temp[k % 2], s.out[k]);
    return s;
}

static cubed_codec_need step_need(const cb_codec_step *t, bool decode)
{
    return decode ? t->vt->decode_need(&t->conf, &t->ctx, t->raw_size)
                  : t->vt->encode_need(&t->conf, &t->ctx, t->raw_size);
}

static cb_need chain_need(const cb_codec_chain *c, bool decode)
{
    schedule s = make_schedule(c, decode);
    cb_need most = {0, 0};
    for (int k = 0; k < s.n; k++) {
        cubed_codec_need n = step_need(&c->step[s.step[k]], decode);
        most = cb_need_either(most, (cb_need){cb_arena_round(n.arena), n.library});
    }
    for (int k = 0; k < 2; k++) most.arena = cb_sat_add(most.arena, cb_arena_round(s.temp[k]));
    return most;
}

cb_need cb_codec_chain_decode_need(const cb_codec_chain *c) { return chain_need(c, true); }

cb_need cb_codec_chain_encode_need(const cb_codec_chain *c) { return chain_need(c, false); }

static cubed_status run_step(const cb_codec_step *t, bool decode, const void *src, size_t src_size,
                             void *dst, size_t dst_cap, size_t *got, cb_arena *scratch,
                             cubed_error *err)
{
    cubed_codec_need n = step_need(t, decode);
    size_t mark = cb_arena_mark(scratch);
    void *work = NULL;
    CB_TRY(cb_arena_alloc(scratch, n.arena, "codec scratch", &work, err));
    cubed_status st = cb_arena_charge(scratch, n.library, t->vt->name, err);
    if (st == CUBED_OK) {
        st = (decode ? t->vt->decode : t->vt->encode)(&t->conf, &t->ctx, src, src_size, dst,
                                                      dst_cap, got, work, n.arena, err);
        cb_arena_uncharge(scratch, n.library);
    }
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec %s", t->vt->name);
}

static cubed_status run_chain(const cb_codec_chain *c, bool decode, const void *src,
                              size_t src_size, void *dst, size_t dst_cap, size_t *got,
                              cb_arena *scratch, cubed_error *err)
{
    schedule s = make_schedule(c, decode);
    if (s.n == 0) {
        if (src_size > dst_cap)
            return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %zu", src_size, dst_cap);
        memcpy(dst, src, src_size);
        *got = src_size;
        return CUBED_OK;
    }
    size_t mark = cb_arena_mark(scratch);
    void *temp[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int k = 0; k < 2; k++)
        CB_GO(cb_arena_alloc(scratch, s.temp[k], "codec output", &temp[k], err));
    for (int k = 0; k < s.n; k++) {
        bool last = k == s.n - 1;
        void *to = last ? dst : temp[k % 2];
        size_t cap = last ? dst_cap : s.out[k];
        CB_GO(run_step(&c->step[s.step[k]], decode, src, src_size, to, cap, got, scratch, err));
        src = to;
        src_size = *got;
    }
out:
    cb_arena_release(scratch, mark);
    return st;
}

cubed_status cb_codec_chain_decode(const cb_codec_chain *c, const void *src, size_t src_size,
                                   void *dst, cb_arena *scratch, cubed_error *err)
{
    size_t got = 0;
    CB_TRY(run_chain(c, true, src, src_size, dst, c->chunk_bytes, &got, scratch, err));
    if (got != c->chunk_bytes)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk decodes to %zu bytes, expected %zu", got,
                       c->chunk_bytes);
    return CUBED_OK;
}

cubed_status cb_codec_chain_encode(const cb_codec_chain *c, const void *src, void *dst, size_t *got,
                                   cb_arena *scratch, cubed_error *err)
{
    return run_chain(c, false, src, c->chunk_bytes, dst, cb_codec_chain_bound(c), got, scratch,
                     err);
}
