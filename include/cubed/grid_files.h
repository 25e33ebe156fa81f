/* Grids of files and stores, and files of weights.
 *
 * Part of libcubed_lang.a, like cubed/lang.h. The functions read coordinates and weights immediately, not lazily. */
#ifndef CUBED_GRID_FILES_H
#define CUBED_GRID_FILES_H

#include "cubed/remap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Grids --------------------------------------------------------------------------------------------- */

/* Returns 'y' for latitudes, 'x' for longitudes, 'z' for levels, and 0 for other coordinates, by the CF conventions. Axes in
 * degrees of a rotated grid are other coordinates.
 *
 * attrs  text of a JSON object; NULL: no attributes */
char cubed_coordinate_kind(const char *name, const char *attrs);
/* Returns whether `units`, an attribute of a coordinate, are radians: text that begins with "rad". False for NULL. */
bool cubed_units_are_radians(const char *units);
/* Gets the rotated pole of a grid mapping rotated_latitude_longitude (CF conventions) from its attributes. Returns false for
 * attributes of anything else.
 *
 * attrs  text of a JSON object; NULL: no attributes
 * pole   receives the argument `pole` of cubed_grid_new_rotated. A number that is missing is NaN, which cubed_grid_new_rotated
 *        refuses. */
bool cubed_rotated_pole(const char *attrs, double pole[3]);

/* Names of a grid's coordinates and dimensions in a file; "" if the file has none. */
typedef struct cubed_grid_names {
    char lat[256], lon[256];
    char dim[2][256]; /* names of the grid's dimensions, in the order of its shape */
} cubed_grid_names;
/* Creates the grid of a file or store, from the first of these that the file has:
 * 1. the first variable that has coordinates of latitude and longitude;
 * 2. the first variable with axes about a rotated pole (CF: rotated_latitude_longitude): the grid has the geographical
 *    coordinates of the cells;
 * 3. the first latitudes and longitudes.
 * SCRIP grid files (grid_center_lat, grid_corner_lat, ...) are also read, with their mask grid_imask. Coordinates are in
 * degrees, or in radians if their attribute "units" states this.
 *
 * place  URL or path: STORE or STORE::PATH
 * names  receives the names of coordinates and dimensions; may be NULL. For a rotated pole the coordinates are "lat" and "lon",
 *        which the file need not have; for a SCRIP grid file all names are ""
 * out    receives the grid, which cubed_grid_free frees
 *
 * Errors: CUBED_E_NOT_FOUND if there is nothing at `place`; CUBED_E_ARG if it has no latitudes and longitudes, or if these or
 * their bounds have different numbers of cells. */
CUBED_MUST_CHECK cubed_status cubed_grid_open(cubed_context *ctx, const char *place,
                                              cubed_grid **out, cubed_grid_names *names,
                                              cubed_error *err);

/* --- Methods ------------------------------------------------------------------------------------------- */

/* Finds a method by its name, such as "conservative". Returns false if no method has this name. */
bool cubed_remap_method_find(const char *name, cubed_remap_method *out);
/* Finds a method by the name that CDO's operators have after "remap" and "gen", such as "con". Returns false if no method has
 * this name. */
bool cubed_remap_method_of_cdo(const char *name, cubed_remap_method *out);
/* Returns the name of a method; NULL if there is no such method. */
const char *cubed_remap_method_name(cubed_remap_method method);

/* --- Files of weights ---------------------------------------------------------------------------------- */

/* Supplies the arrays of a file of weights in the format of CDO and SCRIP (src_address, dst_address, remap_matrix), or of
 * ESMF and xESMF (col, row, S). */
typedef struct cubed_weights_input {
    size_t struct_size;
    const char *name; /* for messages */
    /* Sets *out to a new reference to an array with decoded elements, or to NULL if the file has no such array. */
    cubed_status (*find)(void *ctx, const char *array, cubed_array **out, cubed_error *err);
    void *ctx; /* first argument of `find` */
    /* Shapes of the grids; if their numbers of dimensions are 0, the file gives the shapes. The file must not contradict shapes
     * that are given here. */
    cubed_weights_shape shape;
    uint64_t memory; /* maximum bytes that reading may use; 0: no limit */
} cubed_weights_input;
#define CUBED_WEIGHTS_INPUT_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_weights_input), "weights", NULL, NULL, {0, 0, {0, 0}, {0, 0}}, 0              \
    }
/* Reads weights from the arrays that `input` supplies.
 *
 * out  receives the weights, which cubed_weights_unref frees
 *
 * Errors: CUBED_E_ARG if `struct_size` is wrong, if `find` is NULL, if the file has no links (pairs of a source cell and a target
 * cell), if a shape is unknown, or if the links are for other grids than `input->shape`; CUBED_E_UNSUPPORTED if links have
 * several weights; CUBED_E_FORMAT for sizes that no grid has; CUBED_E_BUDGET if reading needs more than `input->memory`. */
CUBED_MUST_CHECK cubed_status cubed_weights_read(cubed_context *ctx,
                                                 const cubed_weights_input *input,
                                                 cubed_weights **out, cubed_error *err);

/* Number of arrays of a file of weights that CDO, ESMF and xESMF read. */
#define CUBED_WEIGHTS_ARRAYS 16
/* Returns the name of array number i, from 0; NULL if i is too large. */
const char *cubed_weights_array_name(int i);
/* Creates array number i of a file of weights, in memory, with names of dimensions and attributes.
 *
 * source, target  grids between which the weights interpolate; NULL if unknown
 * out             receives a new reference; NULL if the array has latitudes or longitudes of an unknown grid
 *
 * Errors: CUBED_E_ARG if there is no array number i, or if the array has a value for each link (a pair of a source cell and a
 * target cell) and `weights` has no links. */
CUBED_MUST_CHECK cubed_status cubed_weights_array(cubed_context *ctx, const cubed_weights *weights,
                                                  const cubed_grid *source,
                                                  const cubed_grid *target, int i,
                                                  cubed_array **out, cubed_error *err);
/* Writes the global attributes of a file of weights, as a JSON text of less than 512 bytes. CDO determines from these
 * attributes how to read the file. `source` or `target` NULL: the grid is unknown. */
void cubed_weights_attrs(cubed_remap_method method, const cubed_grid *source,
                         const cubed_grid *target, char attrs[512]);

#ifdef __cplusplus
}
#endif

#endif
