/* Takes any bytes as a ZIP archive: its directory, the headers of entries, and entries that are stored or deflated.
 *
 * The input consists of two bytes with the length of the data, a third byte, the data of entries, and records of the directory.
 * The end of the directory is added, so that mutations need not keep it valid. If the third byte is odd, no end is added. */
#include "base/le.h"
#include "file_objects.h"
#include "files/zip_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 3, END = CB_ZIP_END };

/* Writes the end of a directory that begins at `at`. */
static void put_end(uint8_t *end, size_t at, size_t size)
{
    unsigned n = 0;
    for (const uint8_t *p = end - size; p + CB_ZIP_CENTRAL <= end; p++)
        n += memcmp(p, "PK\1\2", 4) == 0;
    memset(end, 0, END);
    memcpy(end, "PK\5\6", 4);
    cb_le_put(end + 8, n, 2);
    cb_le_put(end + 10, n, 2);
    cb_le_put(end + 12, size, 4);
    cb_le_put(end + 16, at, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    const size_t at = (size_t)cb_le_get(data, 2), n = size - HEAD;
    const bool whole = data[2] & 1;
    uint8_t *bytes = malloc(n + END);
    require(bytes != NULL);
    memcpy(bytes, data + HEAD, n);
    if (!whole && at <= n) put_end(bytes + n, at, n - at);
    read_bytes(bytes, !whole && at <= n ? n + END : n);
    free(bytes);
    return 0;
}
