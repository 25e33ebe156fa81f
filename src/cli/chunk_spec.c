#include "chunk_spec.h"

#include <string.h>

#include "cli.h"
#include "lang/lang_memory.h"

enum { MAX_CHUNKS = 1 << 20 };

/* Parses a list of chunk lengths such as "10x3+5". The caller has parsed the first length, and *text points after it. */
static bool parse_list(const char **text, int64_t length, int64_t **list, int64_t *n)
{
    const char *at = *text;
    for (;;) {
        int64_t times = 1;
        if (*at == 'x' && (at++, !lang_parse_int(&at, &times))) return false;
        if (length < 1 || times < 1 || times > MAX_CHUNKS - *n) return false;
        *list = cli_resize(*list, (size_t)(*n + times) * sizeof **list);
        for (; times > 0; times--) (*list)[(*n)++] = length;
        if (*at != '+') break;
        at++;
        if (!lang_parse_int(&at, &length)) return false;
    }
    *text = at;
    return true;
}

bool chunk_spec_parse(const char *text, chunk_spec *s)
{
    while (s->n < CUBED_MAX_NDIM) {
        const char *eq = strchr(text, '='), *comma = strchr(text, ',');
        char *dim = NULL;
        if (eq && (!comma || eq < comma)) {
            dim = cli_printf("%.*s", (int)(eq - text), text);
            text = eq + 1;
        }
        int64_t length = 0;
        const bool number = lang_parse_int(&text, &length);
        bool again = s->n > 0 && s->named != (dim != NULL);
        for (int k = 0; k < s->n && dim && !again; k++) again = strcmp(s->part[k].dim, dim) == 0;
        s->part[s->n].dim = dim;
        s->part[s->n++].length = length;
        if (!number || (length < 1 && length != -1) || again || (dim && !*dim)) return false;
        s->named = dim != NULL;
        bool list = *text == '+' || *text == 'x';
        if (list && !parse_list(&text, length, &s->part[s->n - 1].list, &s->part[s->n - 1].n))
            return false;
        if (*text == 0) return true;
        if (*text++ != ',') return false;
    }
    return false;
}

void chunk_spec_free(chunk_spec *s)
{
    for (int k = 0; k < s->n; k++) {
        cli_free(s->part[k].dim);
        cli_free(s->part[k].list);
    }
}

cubed_status chunk_spec_apply(chunk_spec *s, const char *option, bool group, const cubed_array *x,
                              const char *url, int64_t *lengths, cubed_chunk_list *lists,
                              cubed_error *err)
{
    const int ndim = cubed_array_ndim(x);
    if (s->n && !s->named && s->n != ndim)
        return cli_reject(err, "%s has %d lengths for the %d dimensions of %s%s", option, s->n,
                          ndim, url, group ? ": in a group, give them by name=length" : "");
    for (int d = 0; d < ndim; d++) {
        const char *name = cubed_array_dim_name(x, d);
        for (int k = 0; k < s->n; k++) {
            if (s->named ? !name || strcmp(name, s->part[k].dim) != 0 : k != d) continue;
            lengths[d] = s->part[k].length;
            lists[d] = (cubed_chunk_list){s->part[k].list, s->part[k].n};
            s->part[k].used = true;
        }
    }
    return CUBED_OK;
}

const char *chunk_spec_unused(const chunk_spec *s)
{
    for (int k = 0; k < s->n && s->named; k++) {
        if (!s->part[k].used) return s->part[k].dim;
    }
    return NULL;
}
