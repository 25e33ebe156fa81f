#include "store/http/pace.h"

#define BYTE_NS ((uint64_t)1000000000 / CB_PACE_BYTES)

void cb_pace_begin(cb_pace *p, int64_t now, int64_t longest_ns)
{
    *p = (cb_pace){.last = now, .longest = longest_ns};
}

void cb_pace_note(cb_pace *p, int64_t now, uint64_t moved, unsigned sharing)
{
    int64_t gap = now - p->last;
    if (gap > p->longest) gap = p->longest;
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
