#include "codec/stream.h"

#include "codec/codec_pkg.h"

static const cb_codec_streaming *find(const cubed_codec_vtable *codec)
{
    static const cb_codec_streaming *const all[] = {
        &cb_streaming_zstd,   &cb_streaming_gzip,  &cb_streaming_zlib,    &cb_streaming_lz4,
        &cb_streaming_crc32c, &cb_streaming_crc32, &cb_streaming_adler32, &cb_streaming_fletcher32};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->codec == codec) return all[i];
    }
    return NULL;
}

bool cb_codec_part_streams(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *layout)
{
    const int end = part.first + part.n;
    for (int i = cb_codec_part_layout(c, part, layout); i < end; i++) {
        if (!c->step[i].skip && !find(c->step[i].vt)) return false;
    }
    return true;
}

static size_t state_bytes(const cb_codec_step *t, const cb_codec_streaming *how)
{
    return how->state_bytes(&t->conf, &t->ctx, t->raw_size);
}

/* Returns the next step that decodes after step `from`: a step with a smaller index in the chain. Returns -1 if there is none. */
static int next_stage(const cb_codec_chain *c, cb_codec_subread part, int from)
{
    cb_codec_layout ignored;
    const int first = cb_codec_part_layout(c, part, &ignored);
    for (int i = from - 1; i >= first; i--) {
        if (!c->step[i].skip) return i;
    }
    return -1;
}

static size_t input_bytes(int stage) { return stage ? CB_STREAM_BETWEEN : CB_STREAM_SOURCE; }

cb_need cb_codec_stream_need(const cb_codec_chain *c, cb_codec_subread part)
{
    cb_need need = {0, 0};
    int i = part.first + part.n;
    for (int stage = 0; (i = next_stage(c, part, i)) >= 0; stage++) {
        const size_t state = state_bytes(&c->step[i], find(c->step[i].vt));
        need.arena = cb_sat_add(
            need.arena, cb_sat_add(cb_arena_round(state), cb_arena_round(input_bytes(stage))));
    }
    return need;
}

cubed_status cb_codec_stream_open(const cb_codec_chain *c, cb_codec_subread part,
                                  cb_stream_source source, void *ctx, cb_arena *arena,
                                  cb_codec_stream *out, cubed_error *err)
{
    *out = (cb_codec_stream){.source = source, .ctx = ctx};
    for (int i = part.first + part.n; (i = next_stage(c, part, i)) >= 0;) {
        const cb_codec_step *t = &c->step[i];
        cb_stream_stage *s = &out->stage[out->nstages];
        *s = (cb_stream_stage){
            .how = find(t->vt), .name = t->vt->name, .cap = input_bytes(out->nstages)};
        CB_CHECK(s->how != NULL, err);
        const size_t size = state_bytes(t, s->how);
        void *buffer;
        CB_TRY(cb_arena_alloc(arena, size, "codec scratch", &s->state, err));
        CB_TRY(cb_arena_alloc(arena, s->cap, "encoded bytes", &buffer, err));
        CB_TRY(s->how->begin(s->state, size, &t->conf, err));
        s->buffer = buffer;
        out->nstages++;
    }
    return CUBED_OK;
}

/* Reads the output of the stage before stage `k`, or the encoded bytes. Recursion depth: the length of the chain. */
static cubed_status read_before(cb_codec_stream *s, int k, char *dst, size_t cap, size_t *got,
                                cubed_error *err);

/* NOLINTNEXTLINE(readability-non-const-parameter): stages write to it */
static cubed_status run_stage(cb_codec_stream *s, int k, char *dst, size_t cap, size_t *got,
                              cubed_error *err)
{
    cb_stream_stage *t = &s->stage[k];
    cb_stream_io io = {.out = dst, .room = cap};
    while (io.room > 0 && !t->ended) {
        if (t->at == t->n && !t->last) {
            CB_TRY(read_before(s, k, t->buffer, t->cap, &t->n, err));
            t->at = 0;
            t->last = t->n == 0;
        }
        const size_t left = t->n - t->at, room = io.room;
        io.in = t->buffer + t->at;
        io.left = left;
        io.last = t->last;
        cubed_status st = t->how->step(t->state, &io, err);
        if (st == CUBED_OK && !io.ended && io.left == left && io.room == room && (left || t->last))
            st = cb_fail(err, CUBED_E_FORMAT, "the bytes end early");
        if (st != CUBED_OK) return cb_context(err, st, "codec %s", t->name);
        t->at = t->n - io.left;
        t->ended = io.ended;
    }
    *got = cap - io.room;
    return CUBED_OK;
}

static cubed_status read_before(cb_codec_stream *s, int k, char *dst, size_t cap, size_t *got,
                                cubed_error *err)
{
    return k == 0 ? s->source(s->ctx, dst, cap, got, err) : run_stage(s, k - 1, dst, cap, got, err);
}

cubed_status cb_codec_stream_read(cb_codec_stream *s, void *dst, size_t cap, size_t *got,
                                  cubed_error *err)
{
    return read_before(s, s->nstages, dst, cap, got, err);
}
