/* Opens any bytes as a file of arrays (NetCDF, HDF5, ZIP, references). Reads its documents and chunks, and the strings that
 * elements refer to. */
#include "file_objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size);
    return 0;
}
