#include "exec/vm/coop.h"

#include <string.h>

#include "base/error.h"

void cb_coop_init(cb_coop *t, cb_member *members)
{
    memset(t, 0, sizeof *t);
    t->members = members;
    cb_mutex_init(&t->lock);
    cb_cond_init(&t->met);
}

void cb_coop_destroy(cb_coop *t)
{
    cb_cond_destroy(&t->met);
    cb_mutex_destroy(&t->lock);
}

void cb_coop_begin(cb_coop *t, unsigned size)
{
    cb_mutex_lock(&t->lock);
    t->size = size;
    t->error = (cubed_error)CUBED_ERROR_INIT;
    cb_mutex_unlock(&t->lock);
}

void cb_coop_fail(cb_coop *t, cubed_status st, const cubed_error *why)
{
    cb_mutex_lock(&t->lock);
    if (t->error.status == CUBED_OK) {
        t->error = *why;
        t->error.status = st;
    }
    cb_mutex_unlock(&t->lock);
}

bool cb_coop_meet(cb_coop *t)
{
    cb_mutex_lock(&t->lock);
    uint64_t now = t->meetings;
    if (++t->here == t->size) {
        t->here = 0;
        t->meetings++;
        /* Decide the result of the barrier once for all members. Otherwise a member that has already passed the barrier could
         * fail before other members check for errors, and members would get different outcomes. */
        t->go_on = t->error.status == CUBED_OK;
        cb_cond_broadcast(&t->met);
    }
    while (t->meetings == now) cb_cond_wait(&t->met, &t->lock);
    bool go_on = t->go_on;
    cb_mutex_unlock(&t->lock);
    return go_on;
}

/* Takes no lock: all members have passed the last barrier, so no member changes `error` any more. */
cubed_status cb_coop_result(const cb_coop *t, cubed_error *err) CB_UNCHECKED_LOCKS
{
    if (t->error.status != CUBED_OK && err) *err = t->error;
    return t->error.status;
}
