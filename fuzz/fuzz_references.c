/* Takes any bytes as a document of references (kerchunk, versions 0 and 1), next to an object that it may refer to, in an allowed
 * place. Objects of other places cannot be opened. */
#include "file_objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OBJECT = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cb_stores stores;
    cubed_store *within;
    uint8_t object[OBJECT];
    for (int i = 0; i < OBJECT; i++) object[i] = (uint8_t)i;
    cb_stores_init(&stores, &cb_system_allocator);
    require(cb_store_open(&stores, "memory://x", false, &within, NULL) == CUBED_OK);
    require(cb_store_put(within, "d", object, sizeof object, NULL) == CUBED_OK);
    require(cb_store_put(within, "file", data, size, NULL) == CUBED_OK);
    read_file(&stores, within, "file", "memory://x/file");
    cb_stores_free(&stores);
    return 0;
}
