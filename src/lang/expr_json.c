#include "lang/expr_json.h"

#include <stdarg.h>

#include "cubed/attribute.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* Returns v. If v is NULL, records that memory is exhausted. */
static json_t *noted(expr_builder *b, json_t *v)
{
    if (!v) b->no_memory = true;
    return v;
}

json_t *expr_json_object(expr_builder *b) { return noted(b, json_object()); }

json_t *expr_json_copy(expr_builder *b, const json_t *v)
{
    json_t *copy = json_deep_copy(v);
    /* compare, because Jansson may drop members of a copy if memory is exhausted */
    if (!json_equal(copy, v) && v) b->no_memory = true;
    return copy;
}

json_t *expr_json_attrs(expr_builder *b, const cubed_array *x)
{
    /* These attributes were parsed before, so parsing fails only if memory is exhausted. */
    return noted(b, lang_attributes(cubed_array_attrs(x)));
}

void expr_json_put(expr_builder *b, json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) != 0) b->no_memory = true;
}

void expr_json_put_text(expr_builder *b, json_t *object, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = lang_vprintf(fmt, ap);
    va_end(ap);
    expr_json_put(b, object, name, text ? json_string(text) : NULL);
    lang_free(text);
}

void expr_json_drop_attribute(json_t *attrs, const char *name)
{
    json_t *types = json_object_get(json_object_get(attrs, CUBED_ATTRIBUTE_TYPES), "types");
    json_object_del(types, name);
    json_object_del(attrs, name);
}

cubed_status expr_json_describe(expr_builder *b, cubed_array *x, const json_t *attrs,
                                cubed_array **out)
{
    static const size_t flags = JSON_REAL_PRECISION(17);
    if (!attrs) return cubed_array_with_attrs(x, "{}", out, b->err);
    /* Jansson omits keys if memory is exhausted, so the size is compared. */
    const size_t size = json_dumpb(attrs, NULL, 0, flags);
    char *text = size ? lang_alloc(size + 1) : NULL;
    cubed_status st = CUBED_E_NOMEM;
    if (text && json_dumpb(attrs, text, size, flags) == size)
        st = cubed_array_with_attrs(x, text, out, b->err);
    if (st == CUBED_E_NOMEM) b->no_memory = true;
    lang_free(text);
    return st;
}
