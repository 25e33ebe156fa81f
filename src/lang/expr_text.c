/* Texts in quotes beside arrays of texts: they are of the array's kind. */
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

/* The code point at *s, behind which it is then; bytes that are no UTF-8 are code points of their own. */
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

char *expr_encode_text(const char *text, cubed_dtype like, size_t *size)
{
    const size_t n = strlen(text);
    const unsigned char *s = (const unsigned char *)text;
    char *out = lang_alloc(4 * n + 4);
    memset(out, 0, 4 * n + 4);
    *size = n;
    if (cubed_dtype_family(like) == CUBED_BYTES) {
        memcpy(out, text, n);
        return out;
    }
    for (*size = 0; *s; *size += sizeof(uint32_t)) {
        const uint32_t code = take_code_point(&s);
        memcpy(out + *size, &code, sizeof code);
    }
    return out;
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
        return expr_reject(b, e, "this is not a value here: only texts are beside texts");
    const cubed_dtype family = cubed_dtype_family(cubed_array_dtype(like));
    const size_t unit = family == CUBED_STRING ? sizeof(uint32_t) : 1;
    const bool list = e->kind == EXPR_TUPLE;
    const int64_t n = list ? e->n : 1;
    char **texts = lang_alloc((size_t)n * sizeof *texts);
    size_t *sizes = lang_alloc((size_t)n * sizeof *sizes), most = unit;
    for (int64_t i = 0; i < n; i++) {
        texts[i] = expr_encode_text((list ? e->child[i] : e)->text, family, &sizes[i]);
        if (sizes[i] > most) most = sizes[i];
    }
    char *data = lang_alloc((size_t)n * most);
    memset(data, 0, (size_t)n * most);
    for (int64_t i = 0; i < n; i++) {
        memcpy(data + (size_t)i * most, texts[i], sizes[i]);
        lang_free(texts[i]);
    }
    lang_free(texts);
    lang_free(sizes);
    cubed_dtype dtype;
    cubed_status st =
        expr_located(b, e, cubed_dtype_fixed(family, (int64_t)(most / unit), &dtype, b->err));
    if (st != CUBED_OK) {
        lang_free(data);
        return st;
    }
    return expr_own_array(b, e, dtype, list, &n, data, out);
}
