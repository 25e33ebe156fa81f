/* Details of arrays that `cubed info` shows: attributes, fill values, and ranges of coordinates. */
#ifndef CUBED_CLI_INFO_DETAILS_H
#define CUBED_CLI_INFO_DETAILS_H

#include <jansson.h>
#include <stdio.h>

#include "cubed/cubed.h"

typedef struct info_detail {
    char *path, *attrs;
    bool is_coordinate; /* the array has one axis, which has the array's name */
    bool has_attrs;     /* the array has attributes, which may describe a packing */
    json_t *json;       /* borrowed: receives "fill_value" and "range"; NULL: print text */
} info_detail;

typedef struct info_details {
    int n;
    info_detail *list;
} info_details;

void info_details_add(info_details *d, const cubed_zarr_info *x, json_t *json);
/* Opens the arrays that have attributes or are coordinates, and reads the first and the last element of coordinates. Prints them,
 * or adds them to JSON. Omits arrays that cannot be read. */
void info_details_show(const info_details *d, cubed_context *ctx, const char *url, FILE *f);
void info_details_free(info_details *d);

/* Returns "NetCDF-3 file", "GRIB file" or "NetCDF-4 or HDF5 file" for a local file; NULL for other places and files. */
const char *info_file_format(const char *url);

#endif
