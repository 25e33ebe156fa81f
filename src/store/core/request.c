/* Waits for a single request, or for the requests of a queue in the order of their completion. */
#include "base/clock.h"
#include "base/error.h"
#include "store/core/store.h"

/* --- Queues ------------------------------------------------------------------------------------------- */

void cb_store_queue_init(cb_store_queue *q)
{
    *q = (cb_store_queue){.first = NULL};
    cb_mutex_init(&q->lock);
    cb_cond_init(&q->came);
}

void cb_store_queue_free(cb_store_queue *q)
{
    cb_cond_destroy(&q->came);
    cb_mutex_destroy(&q->lock);
}

static void append(cubed_store_request *r)
{
    cb_store_queue *q = r->data;
    cb_mutex_lock(&q->lock);
    r->next = NULL;
    if (q->first)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
    cb_cond_signal(&q->came);
    cb_mutex_unlock(&q->lock);
}

static cubed_status check_keys(const cubed_store_request *r, cubed_error *err)
{
    if (r->op == CUBED_STORE_DELETE) {
        for (size_t i = 0; i < r->nkeys; i++) CB_TRY(cb_key_check(r->keys[i], err));
        return CUBED_OK;
    }
    return r->op == CUBED_STORE_LIST && !*r->key ? CUBED_OK : cb_key_check(r->key, err);
}

static void submit_some(cubed_store *s, cubed_store_request *const *requests, size_t n)
{
    if (n) s->vt->submit(s, requests, n);
}

void cb_store_begin(cubed_store *s, cubed_store_request *const *requests, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        cubed_status st = check_keys(requests[i], requests[i]->err);
        if (st == CUBED_OK) continue;
        submit_some(s, requests + from, i - from);
        from = i + 1;
        requests[i]->status = st;
        requests[i]->complete(requests[i]);
    }
    submit_some(s, requests + from, n - from);
}

void cb_store_submit(cubed_store *s, cb_store_queue *q, cubed_store_request *const *requests,
                     size_t n)
{
    /* Prepare all requests before the first is submitted, because another thread may take a request as soon as the request
     * completes. */
    for (size_t i = 0; i < n; i++) {
        requests[i]->complete = append;
        requests[i]->data = q;
    }
    cb_store_begin(s, requests, n);
}

size_t cb_store_poll(cb_store_queue *q, int timeout_ms, cubed_store_request **done, size_t cap)
{
    size_t n = 0;
    const int64_t deadline = cb_clock_ns() + (int64_t)timeout_ms * 1000000;
    cb_mutex_lock(&q->lock);
    while (!q->first && timeout_ms != 0) {
        if (timeout_ms < 0)
            cb_cond_wait(&q->came, &q->lock);
        else if (!cb_cond_wait_until(&q->came, &q->lock, deadline))
            break;
    }
    while (q->first && n < cap) {
        done[n] = q->first;
        q->first = q->first->next;
        done[n++]->next = NULL;
    }
    cb_mutex_unlock(&q->lock);
    return n;
}

void cb_store_cancel(cubed_store *s, cubed_store_request *r)
{
    if (s->vt->cancel) s->vt->cancel(s, r);
}

/* --- One request -------------------------------------------------------------------------------------- */

/* Interval in milliseconds at which a waiting thread checks for cancellation. */
enum { LOOK_MS = 20 };

static void nobody_waits(cubed_store_request *r) { (void)r; }

/* Waits for the only request in the queue. Cancels it once if `cancel` is set. */
static void wait_until(cubed_store *s, cb_store_queue *q, cubed_store_request *r,
                       const cubed_cancel *cancel)
{
    cubed_store_request *done;
    bool asked = !cancel;
    while (cb_store_poll(q, asked ? -1 : LOOK_MS, &done, 1) == 0) {
        if (!cubed_cancel_is_set(cancel)) continue;
        cb_store_cancel(s, r);
        asked = true;
    }
}

cubed_status cb_store_do_until(cubed_store *s, cubed_store_request *r, const cubed_cancel *cancel,
                               cubed_error *err)
{
    cb_store_queue q;
    CB_TRY(check_keys(r, err));
    r->err = err;
    if (s->vt->flags & CUBED_STORE_AT_ONCE) {
        r->complete = nobody_waits;
        s->vt->submit(s, &r, 1);
        return r->status;
    }
    cb_store_queue_init(&q);
    r->complete = append;
    r->data = &q;
    s->vt->submit(s, &r, 1);
    wait_until(s, &q, r, cancel);
    cb_store_queue_free(&q);
    return r->status;
}

cubed_status cb_store_do(cubed_store *s, cubed_store_request *r, cubed_error *err)
{
    return cb_store_do_until(s, r, NULL, err);
}
