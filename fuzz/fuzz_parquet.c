/* Takes any bytes as a record of references in Parquet. */
#include <stdint.h>
#include <stdlib.h>

#include "files/parquet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cb_parquet_column c[] = {
        {.name = "path"}, {.name = "offset"}, {.name = "size"}, {.name = "raw"}};
    const cb_parquet_file file = {"f", data, size};
    cb_zone *zone;
    int64_t rows;
    volatile uint64_t sum = 0;
    if (cb_zone_new(&cb_system_allocator, &zone, NULL) != CUBED_OK) abort();
    if (cb_parquet_read(zone, &file, 10000, c, 4, &rows, NULL) == CUBED_OK) {
        for (int k = 0; k < 4; k++) {
            for (int64_t i = 0; i < rows; i++) {
                if (c[k].numbers) sum += (uint64_t)c[k].numbers[i];
                for (uint32_t b = 0; c[k].bytes && b < c[k].bytes[i].n; b++)
                    sum += c[k].bytes[i].p[b];
            }
        }
    }
    (void)sum;
    cb_zone_free(zone);
    return 0;
}
