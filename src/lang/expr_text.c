/* String literals in operations with arrays of strings. A literal gets the kind of strings of the array. */
#include <string.h>

#include "lang/expr_builder.h"

/* Returns the code point at *s and advances *s. A byte that is not valid UTF-8 is returned as a code point. */
static uint32_t take_code_point(const unsigned char **s)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char first = *(*s)++;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t code = first & (0x3f >> more);
    if (more == 0) return first;
    for (int i = 0; i < more; i++) {
        if (((*s)[i] & 0xc0) != 0x80) return first;
        code = code << 6 | ((*s)[i] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff) return first;
    *s += more;
    return code;
}

size_t expr_encode_text(const char *text, cubed_dtype like, char *to)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t size = 0;
    if (cubed_dtype_family(like) == CUBED_BYTES) {
        size = strlen(text);
        if (to) memcpy(to, text, size);
        return size;
    }
    for (; *s; size += sizeof(uint32_t)) {
        const uint32_t code = take_code_point(&s);
        if (to) memcpy(to + size, &code, sizeof code);
    }
    return size;
}

bool expr_is_texts(const expr *e)
{
    bool all = e->kind == EXPR_TUPLE && e->n > 0;
    for (int i = 0; all && i < e->n; i++) all = e->child[i]->kind == EXPR_STRING;
    return all || e->kind == EXPR_STRING;
}

cubed_status expr_get_texts(expr_builder *b, const expr *e, const cubed_array *like,
                            cubed_array **out)
{
    if (!like || cubed_dtype_kind(cubed_array_dtype(like)) != CUBED_KIND_TEXT)
        return expr_reject(b, e, "strings can be combined only with arrays of strings");
    const cubed_dtype family = cubed_dtype_family(cubed_array_dtype(like));
    const size_t unit = family == CUBED_STRING ? sizeof(uint32_t) : 1;
    const bool list = e->kind == EXPR_TUPLE;
    const int64_t n = list ? e->n : 1;
    size_t most = unit;
    for (int64_t i = 0; i < n; i++) {
        const size_t size = expr_encode_text((list ? e->child[i] : e)->text, family, NULL);
        if (size > most) most = size;
    }
    cubed_dtype dtype;
    char *data;
    EXPR_TRY(expr_located(b, e, cubed_dtype_fixed(family, (int64_t)(most / unit), &dtype, b->err)));
    EXPR_TRY(expr_alloc(b, e, n, most, &data));
    for (int64_t i = 0; i < n; i++)
        expr_encode_text((list ? e->child[i] : e)->text, family, data + (size_t)i * most);
    return expr_own_array(b, e, dtype, list, &n, data, out);
}
