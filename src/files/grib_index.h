/* Index of a GRIB file: the fields of its messages, and the variables, levels, times and grids that they belong to. */
#ifndef CB_FILES_GRIB_INDEX_H
#define CB_FILES_GRIB_INDEX_H

#include "files/file_pkg.h"

typedef struct cb_grib_entry {
    uint64_t offset; /* offset of the message in the file */
    uint32_t size;   /* size of the message */
    uint32_t field;  /* number of the field in the message */
    int message;     /* number of the message in the file, from 1 */
    int variable;
    int64_t time;      /* reference time in seconds since 1970 */
    int64_t step;      /* seconds from the reference time to the validity time */
    int64_t member;    /* number of the ensemble member */
    double level;      /* value of the level, in units of its type */
    uint64_t position; /* number of the chunk in the variable */
} cb_grib_entry;

typedef enum cb_grib_shape {
    CB_GRIB_LINES,   /* rows and columns with one latitude or longitude each */
    CB_GRIB_PLANE,   /* rows and columns */
    CB_GRIB_LIST,    /* points without rows */
    CB_GRIB_SPECTRUM /* coefficients of spherical harmonics, which are refused */
} cb_grib_shape;

typedef struct cb_grib_grid {
    const char *type; /* ecCodes' gridType */
    cb_grib_shape shape;
    int64_t rows, columns; /* a list has one row */
    /* For CB_GRIB_LINES: latitudes of rows and longitudes of columns. */
    const double *latitude, *longitude;
    bool located;              /* for CB_GRIB_PLANE and CB_GRIB_LIST: ecCodes computes the points */
    bool by_columns, serpents; /* order of values: see the codec cubed.grib */
    uint64_t points;
    uint64_t hash; /* hash of the grid's description in the message */
    int same_as;   /* number of the first grid with the same points, which may be this grid */
    int entry;     /* an entry that has this grid */
} cb_grib_grid;

typedef struct cb_grib_variable {
    const char *name; /* CF name, or ecCodes' short name */
    const char *short_name, *long_name, *units, *standard_name; /* NULL: unknown */
    const char *level_type, *step_type;
    long parameter; /* ecCodes' paramId; 0: unknown */
    int grid;
    bool simple;      /* all fields have simple packing */
    bool has_members; /* fields have a number of an ensemble member */
    bool wide;        /* values have more than 24 bits, so they are read as float64 */
    uint32_t most;    /* maximum size of a message */
    int n;            /* number of entries */
} cb_grib_variable;

typedef struct cb_grib_index {
    cb_grib_entry *entries;
    int n, cap;
    cb_grib_variable *variables;
    int nvariables, cap_variables;
    cb_grib_grid *grids;
    int ngrids, cap_grids;
    int edition; /* edition of the first message */
    const char *centre, *institution;
} cb_grib_index;

/* Reads the descriptions of all messages of a file, but not their values. Memory is allocated in the file's zone. */
CUBED_MUST_CHECK cubed_status cb_grib_index_read(cb_file *f, cb_grib_index *out, cubed_error *err);

#endif
