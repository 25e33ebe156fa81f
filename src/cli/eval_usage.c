/* The descriptions of `cubed eval` and `cubed plot`. */
#include "eval_usage.h"

#include "eval_topics.h"
#include "output_options.h"

/* Help for inputs, for both verbs. */
static const char in_text[] = "an array by its name, or a group whose arrays are names";
static const char along_text[] =
    "dimension along which the files of an input 'era5-*.nc' are one (default time)";
static const char stack_text[] =
    "new first dimension of the arrays of several files, with an element for each file: members of "
    "an ensemble";
static const char overlap_text[] =
    "of elements that several files have, those of the file that begins first or last count "
    "(default error)";
static const char raw_text[] =
    "compute with elements as they are stored, without scale_factor, add_offset, _FillValue, "
    "missing_value and _Unsigned (CF)";
static const char decode_text[] = "the opposite of --raw, and the default";

static const cli_option own[] = {
    {"in", "[NAME=]STORE[::PATH]", in_text, KEY_IN},
    {"along", "DIM", along_text, KEY_ALONG},
    {"stack", "DIM", stack_text, KEY_STACK},
    {"overlap", "first|last|error", overlap_text, KEY_OVERLAP},
    {"raw", NULL, raw_text, KEY_RAW},
    {"decode", NULL, decode_text, KEY_DECODE},
    {"out", "STORE[::PATH]",
     "where results go: a Zarr store, FILE.zip or FILE.nc (default: a small result is printed; "
     "--plan shows any)",
     KEY_OUT},
    {"csv", NULL,
     "print results as comma-separated values, one element a line, with their coordinates",
     KEY_CSV},
    {"format", "2|3", "Zarr format of results (default 3, or that of what --resume goes on with)",
     KEY_FORMAT},
    {"codecs", "JSON", "v3 codec list or v2 compressor of results (default zstd, level 1)",
     KEY_CODECS},
    {"region", "NAME=START:STOP,...",
     "put the result into this part of the array at --out, which exists (START:STOP,... by "
     "position)",
     KEY_REGION},
    {"append", "DIM",
     "put the results behind the last elements of this dimension in the Zarr store or NetCDF file "
     "at --out, which exists",
     KEY_APPEND},
    {"chunks", "SPEC", "store results in such chunks: time=100,lat=-1, or 100,-1 by position",
     KEY_CHUNKS},
    OUTPUTS_OPTIONS,
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_eval_usage = {
    .words = CLI_WORDS_EXPRESSION,
    .synopsis = "eval EXPRESSION [STORE] [--in [NAME=]STORE[::PATH]]... [--out STORE[::PATH]]",
    .repeats = "in|" OUTPUTS_REPEATS,
    .text =
        "Evaluates NumPy-like expressions over arrays of Zarr stores and of files (NetCDF, HDF5, "
        "ZIP); "
        "'era5-*.nc' is several files as one, in the order of their coordinate. Statements are "
        "separated by ';': "
        "each name that is assigned is a result, unless it starts with '_', and is assigned once. "
        "A result without a name has that of the only variable that it reads, not counting "
        "coordinates. If it reads none or several, or two results would share a name, it is "
        "\"result\". Every input is used. Operands are "
        "broadcast by position, as in NumPy; dimension names and attributes are kept where they "
        "still hold.",
    .topics = eval_topics,
    .examples =
        "  cubed eval 'mean(t2m, dim=\"time\")' era5.zarr\n"
        "  cubed eval 'mean(t2m, dim=\"time\")' 'era5-*.nc'\n"
        "  cubed eval 'uu=mean(u*u, dim=\"month\"); uv=mean(u*v, dim=\"month\")' winds.zarr "
        "--out q.zarr\n"
        "  cubed eval 't - mean(t, axis=0, keepdims=True)' --in t=era5.zarr::t2m --out "
        "anomaly.zarr --plan\n",
    .own = own,
    .common = true};

static const cli_option own_of_plot[] = {
    {"in", "[NAME=]STORE[::PATH]", in_text, KEY_IN},
    {"along", "DIM", along_text, KEY_ALONG},
    {"stack", "DIM", stack_text, KEY_STACK},
    {"overlap", "first|last|error", overlap_text, KEY_OVERLAP},
    {"raw", NULL, raw_text, KEY_RAW},
    {"decode", NULL, decode_text, KEY_DECODE},
    {"out", "FILE", "the picture, of the kind that its name says: .png, .svg or .pdf", KEY_OUT},
    {"colors", "NAME", "of maps: one of Matplotlib's, such as RdBu_r (default: as values are)",
     KEY_COLORS},
    {"title", "TEXT", "above the picture", KEY_TITLE},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_plot_usage = {
    .words = CLI_WORDS_EXPRESSION,
    .synopsis = "plot EXPRESSION [STORE] [--in [NAME=]STORE[::PATH]]... --out FILE.png",
    .repeats = "in",
    .text =
        "Evaluates expressions as `cubed eval` does, and draws the results: what has two "
        "dimensions as a map, what has one as a series, over their coordinates. Several "
        "series along one dimension share a diagram. What has more elements than a picture has "
        "points is drawn by means of neighbours.\n"
        "Xarray and Matplotlib draw, through the Python package: pip install '.[plot]' in a clone "
        "of Cubed installs all three. The Python that has them is python3, or the one that the "
        "variable CUBED_PYTHON names.",
    .examples = "  cubed plot 'mean(t2m, dim=\"time\")' era5.zarr --out map.png\n"
                "  cubed plot 'low = min(t2m, (\"lat\", \"lon\")); "
                "high = max(t2m, (\"lat\", \"lon\"))' era5.zarr --out r.svg\n",
    .own = own_of_plot,
    .common = true};
