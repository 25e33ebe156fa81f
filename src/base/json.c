#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static const char *type_name(const json_t *v)
{
    if (!v) return "missing";
    switch (json_typeof(v)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_NULL: return "null";
    default: return "a boolean";
    }
}

/* Python's json writes the tokens NaN, Infinity and -Infinity, which are not JSON. Outside strings
 * they become strings. */
static void quote_constants(const char *text, size_t size, cb_buf *out)
{
    static const char *const tokens[] = {"-Infinity", "Infinity", "NaN"};
    bool in_string = false;
    size_t i = 0, copied = 0;
    while (i < size) {
        char c = text[i];
        if (in_string) {
            i += c == '\\' && i + 1 < size ? 2 : 1;
            if (c == '"') in_string = false;
            continue;
        }
        if (c == '"') in_string = true;
        const char *found = NULL;
        if (c == '-' || c == 'I' || c == 'N') {
            for (size_t k = 0; k < 3 && !found; k++) {
                size_t n = strlen(tokens[k]);
                if (size - i >= n && memcmp(text + i, tokens[k], n) == 0) found = tokens[k];
            }
        }
        if (!found) {
            i++;
            continue;
        }
        cb_buf_put(out, text + copied, i - copied);
        cb_buf_printf(out, "\"%s\"", found);
        i += strlen(found);
        copied = i;
    }
    cb_buf_put(out, text + copied, size - copied);
}

cubed_status cb_json_parse(const char *where, const char *text, size_t size, json_t **out,
                           cubed_error *err)
{
    cb_buf quoted;
    cb_buf_init(&quoted, &cb_system_allocator);
    quote_constants(text, size, &quoted);
    if (quoted.failed) {
        cb_buf_free(&quoted);
        return cb_fail(err, CUBED_E_NOMEM, "%s: no memory to parse %zu bytes", where, size);
    }
    json_error_t why;
    json_t *doc = json_loadb(quoted.data ? quoted.data : "", quoted.size,
                             JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    cb_buf_free(&quoted);
    if (!doc)
        return cb_fail(err, CUBED_E_FORMAT, "%s: not JSON: line %d, column %d: %s", where, why.line,
                       why.column, why.text);
    *out = doc;
    return CUBED_OK;
}

cubed_status cb_json_get_string(const char *where, const json_t *obj, const char *key,
                                const char **out, cubed_error *err)
{
    const json_t *v = json_object_get(obj, key);
    if (!json_is_string(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be a string, is %s", where, key,
                       type_name(v));
    *out = json_string_value(v);
    return CUBED_OK;
}

cubed_status cb_json_get_int(const char *where, const json_t *obj, const char *key, int64_t *out,
                             cubed_error *err)
{
    const json_t *v = json_object_get(obj, key);
    if (!json_is_integer(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be an integer, is %s", where, key,
                       type_name(v));
    *out = json_integer_value(v);
    return CUBED_OK;
}

cubed_status cb_json_get_ints(const char *where, const json_t *obj, const char *key, int64_t min,
                              int *n, int64_t out[CUBED_MAX_NDIM], cubed_error *err)
{
    const json_t *v = json_object_get(obj, key);
    if (!json_is_array(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be a list of integers, is %s", where,
                       key, type_name(v));
    size_t count = json_array_size(v);
    if (count > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: \"%s\" has %zu entries, at most %d are "
                       "supported",
                       where, key, count, CUBED_MAX_NDIM);
    for (size_t i = 0; i < count; i++) {
        const json_t *e = json_array_get(v, i);
        if (!json_is_integer(e))
            return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\"[%zu] must be an integer, is %s", where,
                           key, i, type_name(e));
        out[i] = json_integer_value(e);
        if (out[i] < min)
            return cb_fail(err, CUBED_E_FORMAT,
                           "%s: \"%s\"[%zu] is %" PRId64 ", expected at least %" PRId64, where, key,
                           i, out[i], min);
    }
    *n = (int)count;
    return CUBED_OK;
}
