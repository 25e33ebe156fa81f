#include "store/core/file_kind.h"

#include <string.h>
#include <strings.h>

cubed_file_kind cb_store_file_kind(const char *name, size_t n)
{
    static const struct {
        const char *end;
        cubed_file_kind kind;
    } kinds[] = {{".zip", CUBED_FILE_ZIP},         {".nc", CUBED_FILE_NETCDF},
                 {".nc4", CUBED_FILE_NETCDF},      {".cdf", CUBED_FILE_READ_ONLY},
                 {".h5", CUBED_FILE_READ_ONLY},    {".hdf5", CUBED_FILE_READ_ONLY},
                 {".he5", CUBED_FILE_READ_ONLY},   {".grib", CUBED_FILE_READ_ONLY},
                 {".grib1", CUBED_FILE_READ_ONLY}, {".grib2", CUBED_FILE_READ_ONLY},
                 {".grb", CUBED_FILE_READ_ONLY},   {".grb1", CUBED_FILE_READ_ONLY},
                 {".grb2", CUBED_FILE_READ_ONLY},  {".json", CUBED_FILE_REFERENCES}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].end);
        if (n > length && strncasecmp(name + n - length, kinds[i].end, length) == 0)
            return kinds[i].kind;
    }
    return CUBED_FILE_NONE;
}
