/* Serialises ranges and reports (cubed/sys/message.h). */
#include "cubed/sys/message.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "context/context.h"

#define RANGE_MAGIC  "CBDR"
#define REPORT_MAGIC "CBDT"
enum { MAGIC_BYTES = 4, NAME_BYTES = 40 };

_Static_assert(sizeof(((cubed_range_message *)0)->run) == NAME_BYTES, "the bytes of a name");
_Static_assert(CUBED_PLAN_ID_CAP <= NAME_BYTES && CUBED_RUN_NAME_CAP <= NAME_BYTES,
               "names of plans and runs fit into messages");
_Static_assert(CUBED_ERROR_ORIGINS == 8, "the origins of a report");

/* --- Numbers ------------------------------------------------------------------------------------------- */

static void put16(uint8_t *at, unsigned v) { cb_le_put(at, v, 2); }
static void put32(uint8_t *at, uint32_t v) { cb_le_put(at, v, 4); }
static void put64(uint8_t *at, uint64_t v) { cb_le_put(at, v, 8); }

static uint32_t get32(const uint8_t *at) { return (uint32_t)cb_le_get(at, 4); }
static uint64_t get64(const uint8_t *at) { return cb_le_get(at, 8); }

static void put_head(uint8_t *bytes, const char *magic, uint64_t token)
{
    memcpy(bytes, magic, MAGIC_BYTES);
    put16(bytes + 4, CUBED_MESSAGE_VERSION);
    put64(bytes + 8, token);
}

static cubed_status check_head(const uint8_t *bytes, const char *magic, const char *what,
                               cubed_error *err)
{
    const unsigned version = (unsigned)cb_le_get(bytes + 4, 2);
    if (memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return cb_fail(err, CUBED_E_FORMAT, "these bytes are not a %s of a run", what);
    if (version != CUBED_MESSAGE_VERSION)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the %s has version %u of messages, this library (%s) has version %d: "
                       "driver and workers "
                       "need the same version",
                       what, version, CUBED_VERSION_STRING, CUBED_MESSAGE_VERSION);
    return CUBED_OK;
}

static cubed_status malformed(const char *what, const char *field, cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "the %s of a run is malformed: %s", what, field);
}

/* --- Ranges -------------------------------------------------------------------------------------------- */

void cubed_range_write(const cubed_range_message *m, uint8_t bytes[CUBED_RANGE_BYTES])
{
    memset(bytes, 0, CUBED_RANGE_BYTES);
    put_head(bytes, RANGE_MAGIC, m->range.token);
    put16(bytes + 6, m->driven);
    put64(bytes + 16, (uint64_t)m->range.first);
    put64(bytes + 24, (uint64_t)m->range.last);
    put32(bytes + 32, (uint32_t)m->range.stage);
    put32(bytes + 36, m->timeout_ms);
    memcpy(bytes + 40, m->run, strnlen(m->run, NAME_BYTES - 1));
    memcpy(bytes + 80, m->plan, strnlen(m->plan, NAME_BYTES - 1));
}

static bool get_name(const uint8_t *at, char name[NAME_BYTES])
{
    const size_t n = strnlen((const char *)at, NAME_BYTES);
    memset(name, 0, NAME_BYTES);
    if (n == NAME_BYTES) return false;
    memcpy(name, at, n);
    return memcmp(name, at, NAME_BYTES) == 0; /* names are padded with zeros */
}

cubed_status cubed_range_read(const void *data, size_t size, cubed_range_message *out,
                              cubed_error *err)
{
    const uint8_t *bytes = data;
    cubed_range_message m = {.range = {.token = 0}};
    if (size != CUBED_RANGE_BYTES)
        return cb_fail(err, CUBED_E_FORMAT, "a range of a run has %zu bytes, expected %d", size,
                       CUBED_RANGE_BYTES);
    CB_TRY(check_head(bytes, RANGE_MAGIC, "range", err));
    m.range = (cubed_task_range){.token = get64(bytes + 8),
                                 .stage = (int)get32(bytes + 32),
                                 .first = (int64_t)get64(bytes + 16),
                                 .last = (int64_t)get64(bytes + 24)};
    m.timeout_ms = get32(bytes + 36);
    m.driven = cb_le_get(bytes + 6, 2) == 1;
    if (cb_le_get(bytes + 6, 2) > 1) return malformed("range", "its flag `driven`", err);
    if (m.range.stage < 0 || m.range.first < 0 || m.range.last < m.range.first)
        return malformed("range", "its tasks", err);
    if (!get_name(bytes + 40, m.run) || !get_name(bytes + 80, m.plan))
        return malformed("range", "a name", err);
    *out = m;
    return CUBED_OK;
}

/* --- Reports ------------------------------------------------------------------------------------------- */

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    cb_buf *b = sink;
    cb_buf_put(b, data, size);
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for an error's bytes") : CUBED_OK;
}

static void put_report(uint8_t bytes[CUBED_REPORT_BYTES], const cubed_task_report *r,
                       size_t message_size, size_t raised_size)
{
    memset(bytes, 0, CUBED_REPORT_BYTES);
    put_head(bytes, REPORT_MAGIC, r->token);
    put64(bytes + 16, (uint64_t)r->task);
    put64(bytes + 24, (uint64_t)r->start_ns);
    put64(bytes + 32, (uint64_t)r->end_ns);
    put64(bytes + 40, r->bytes_read);
    put64(bytes + 48, r->bytes_written);
    put64(bytes + 56, r->stored_read);
    put64(bytes + 64, r->stored_written);
    put64(bytes + 72, r->measured_mem);
    put64(bytes + 80, r->function_mem);
    put64(bytes + 88, r->cache_peak);
    put32(bytes + 96, r->worker);
    put32(bytes + 100, r->coop);
    put32(bytes + 104, (uint32_t)r->error.status);
    put32(bytes + 108, (uint32_t)r->error.os_errno);
    put64(bytes + 112, r->error.enough_mem);
    put32(bytes + 120, r->error.retry_after_ms);
    put32(bytes + 124, cubed_failure_of(&r->error));
    put32(bytes + 128, (uint32_t)message_size);
    put32(bytes + 132, (uint32_t)raised_size);
    for (size_t i = 0; i < CUBED_ERROR_ORIGINS; i++)
        put32(bytes + 136 + 4 * i, r->error.origins[i]);
    put64(bytes + 168, r->process_mem);
    put32(bytes + 176, r->process_tasks);
}

cubed_status cubed_report_write(const cubed_context *ctx, const cubed_task_report *r,
                                cubed_source_sink sink_put, void *sink, cubed_error *err)
{
    const cubed_raised_fn *fn = ctx->raised_fn;
    const size_t message = strnlen(r->error.message, sizeof r->error.message - 1);
    uint8_t bytes[CUBED_REPORT_BYTES];
    cb_buf raised;
    cb_buf_init(&raised, &ctx->alloc);
    const bool saved = r->error.raised && fn &&
                       fn->save(r->error.raised, append, &raised, fn->ctx, NULL) == CUBED_OK &&
                       raised.size <= CUBED_RAISED_BYTES;
    put_report(bytes, r, message, saved ? raised.size : 0);
    cubed_status st = sink_put(sink, bytes, sizeof bytes, err);
    if (st == CUBED_OK && message) st = sink_put(sink, r->error.message, message, err);
    if (st == CUBED_OK && saved && raised.size) st = sink_put(sink, raised.data, raised.size, err);
    cb_buf_free(&raised);
    return st;
}

cubed_status cubed_report_size(const void *data, size_t *size, cubed_error *err)
{
    const uint8_t *bytes = data;
    CB_TRY(check_head(bytes, REPORT_MAGIC, "report", err));
    const uint32_t message = get32(bytes + 128), raised = get32(bytes + 132);
    if (message >= sizeof(((cubed_error *)0)->message))
        return malformed("report", "its message", err);
    if (raised > CUBED_RAISED_BYTES) return malformed("report", "the size of the exception", err);
    *size = CUBED_REPORT_BYTES + (size_t)message + raised;
    return CUBED_OK;
}

/* Returns true if the time is so small that sums and differences of such times do not overflow. */
static bool is_time(uint64_t ns)
{
    const int64_t most = (int64_t)1 << 60;
    return (int64_t)ns >= -most && (int64_t)ns <= most;
}

static bool is_valid(const uint8_t *bytes)
{
    const uint32_t status = get32(bytes + 104), failure = get32(bytes + 124);
    if (status == CUBED_E_NOMEM && failure == CUBED_FAILURE_PERMANENT) return false;
    return cb_le_get(bytes + 6, 2) == 0 && get32(bytes + 180) == 0 &&
           (int64_t)get64(bytes + 16) >= 0 && is_time(get64(bytes + 24)) &&
           is_time(get64(bytes + 32)) && status <= CUBED_E_AXIS && failure < CUBED_FAILURES;
}

cubed_status cubed_report_read(const cubed_context *ctx, const void *data, size_t size,
                               cubed_task_report *out, size_t *used, cubed_error *err)
{
    const cubed_raised_fn *fn = ctx->raised_fn;
    const uint8_t *bytes = data;
    size_t whole;
    if (size < CUBED_REPORT_BYTES) return malformed("report", "it is incomplete", err);
    CB_TRY(cubed_report_size(bytes, &whole, err));
    if (size < whole) return malformed("report", "it is incomplete", err);
    if (!is_valid(bytes)) return malformed("report", "the values of the task", err);
    *out = (cubed_task_report){.token = get64(bytes + 8),
                               .task = (int64_t)get64(bytes + 16),
                               .start_ns = (int64_t)get64(bytes + 24),
                               .end_ns = (int64_t)get64(bytes + 32),
                               .bytes_read = get64(bytes + 40),
                               .bytes_written = get64(bytes + 48),
                               .stored_read = get64(bytes + 56),
                               .stored_written = get64(bytes + 64),
                               .measured_mem = get64(bytes + 72),
                               .function_mem = get64(bytes + 80),
                               .cache_peak = get64(bytes + 88),
                               .worker = get32(bytes + 96),
                               .coop = get32(bytes + 100),
                               .process_mem = get64(bytes + 168),
                               .process_tasks = get32(bytes + 176)};
    cubed_error *e = &out->error;
    const size_t message = get32(bytes + 128), raised = get32(bytes + 132);
    e->status = (cubed_status)get32(bytes + 104);
    e->os_errno = (int)get32(bytes + 108);
    e->enough_mem = get64(bytes + 112);
    e->retry_after_ms = get32(bytes + 120);
    e->failure = (cubed_failure)get32(bytes + 124);
    e->transient = e->failure == CUBED_FAILURE_TRANSIENT;
    for (size_t i = 0; i < CUBED_ERROR_ORIGINS; i++) e->origins[i] = get32(bytes + 136 + 4 * i);
    memcpy(e->message, bytes + CUBED_REPORT_BYTES, message);
    if (raised && fn) e->raised = fn->load(bytes + CUBED_REPORT_BYTES + message, raised, fn->ctx);
    *used = whole;
    return CUBED_OK;
}
