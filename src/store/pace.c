#include "store/pace.h"

/* Longer gaps are those of a process that was stopped. */
#define LONGEST_NS ((int64_t)5 * 1000000000)
#define BYTE_NS    ((uint64_t)1000000000 / CB_PACE_BYTES)

void cb_pace_begin(cb_pace *p, int64_t now) { *p = (cb_pace){.last = now}; }

void cb_pace_note(cb_pace *p, int64_t now, uint64_t moved, unsigned sharing)
{
    int64_t gap = now - p->last;
    if (gap > LONGEST_NS) gap = LONGEST_NS;
    p->last = now;
    p->elapsed += gap;
    p->share += gap / (sharing ? sharing : 1);
    p->silence = moved == p->moved ? p->silence + gap : 0;
    p->moved = moved;
}

bool cb_pace_is_lost(const cb_pace *p, int64_t grace_ns)
{
    return p->elapsed > grace_ns && (uint64_t)p->share / BYTE_NS > p->moved;
}
