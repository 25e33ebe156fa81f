#include "eval_topics.h"

const cli_topic eval_topics[] = {
    {"operators", "+ - * / // % ** & | ^ ~ << >>, comparisons, x[0, ::-1, ..., None]"},
    {"elementwise",
     "all functions of the Array API standard by name: add, exp, atan2, where, ...; clip(x, 0, 1) "
     "stdtr(df, t)"},
    {"reductions",
     "sum prod min max mean var std all any count_nonzero argmin argmax, and nansum, nanmax, "
     "nanargmin, nanargmax, ... (axis=, dim=\"time\", keepdims=True, correction=, where=, "
     "initial=, dtype=); mean, var, std and their nan forms also with weights=, whose dimensions "
     "are matched with those of x by name"},
    {"cumulative", "cumulative_sum cumulative_prod, also cumsum cumprod (axis=, dim=\"time\", "
                   "include_initial=True)"},
    {"shapes",
     "permute_dims transpose moveaxis swapaxes rollaxis flip rot90 squeeze expand_dims "
     "broadcast_to concat stack hstack vstack dstack column_stack roll repeat tile "
     "reshape ravel (order=\"F\") diff tril triu diag diagflat fliplr flipud resize append "
     "insert delete rechunk; a, b = split(x, 2, dim=\"time\") array_split "
     "hsplit vsplit "
     "dsplit unstack broadcast_arrays atleast_1d atleast_2d atleast_3d; pad(x, 2 or ((0, 1), (2, "
     "2)), "
     "mode=\"edge\", constant_values=, end_values=, stat_length=)"},
    {"quantiles",
     "median quantile percentile, nanmedian nanquantile nanpercentile (x, q, axis=, dim=\"time\", "
     "keepdims=True, method=\"nearest\", or weights= with method=\"inverted_cdf\")"},
    {"numbers",
     "isclose allclose (a, b, rtol=1e-5, atol=1e-8, equal_nan=True) "
     "nan_to_num(x, 0, posinf=, neginf=) fmax fmin (a, b) isposinf isneginf isreal "
     "iscomplex isnat isnull notnull fix fabs rint exp2 sinc deg2rad rad2deg angle(x, deg=True)"},
    {"differences",
     "gradient(x, 0.5 or coordinates, dim=\"time\", edge_order=2) trapezoid(y, x, dx=, axis=) "
     "ediff1d(x, to_begin=, to_end=) unwrap(p, period=360, discont=, axis=) "
     "interp(x, points, values, left=, right=, period=) convolve correlate (a, v, "
     "mode=\"same\") round(x, decimals=2)"},
    {"means and ranges",
     "average(x, weights=, axis=, dim=\"time\") ptp(x, axis=), with keepdims=True"},
    {"statistics",
     "moment(x, 3, center=) skew kurtosis (x, bias=False) skewtest kurtosistest normaltest; "
     "statistics of tests, without probabilities: ttest_1samp(x, 0) ttest_rel(x, y) ttest_ind(x, "
     "y, equal_var=False) f_oneway(x, y, ...) chisquare(x, expected) power_divergence(x, expected, "
     "lambda_=0); all with axis=, dim=\"time\", keepdims=True"},
    {"covariances", "cov(x, ddof=1, fweights=, aweights=) corrcoef(x), of the rows of x, or of "
                    "observations along dim=(\"lat\", \"lon\"); patterns, "
                    "variances, coefficients = eofs(x, 3, weights=, axis=0), of anomalies"},
    {"attributes", "set_attrs(x, units=\"degC\", comment=None); None removes an attribute"},
    {"counts",
     "histogram (x, edges or bins=10, range=(0, 1), weights=) bincount (x, length=, weights=)"},
    {"sorting", "sort argsort (axis=, dim=\"time\", descending=True) topk argtopk (x, 5, axis=) "
                "partition argpartition (x, kth, axis=) lexsort((y, x)) sort_complex"},
    {"products", "matmul vecdot(a, b, axis=-1) tensordot(a, b, axes=2 or ((1, 2), (0, 1))) "
                 "einsum(\"ij,jk->ik\", a, b) dot inner vdot kron (a, b)"},
    {"polynomials", "polyfit(x, y, 2, w=) and c, v = polyfit(x, y, 2, cov=True), polyval(p, x), "
                    "vander(x, 3, increasing=True)"},
    {"bits", "packbits unpackbits (x, axis=, bitorder=\"little\")"},
    {"records", "field(x, \"name\") fields(x, (\"name\", \"mass\")), of structured arrays"},
    {"groups",
     "mean(x, groupby=region), or groupby(x, region, \"mean\"), of any reduction, median, "
     "quantile and percentile, by an array of labels (dim=\"time\", ngroups=, "
     "skipna=True, ddof=, min_count=, q=0.9, method=); group_labels(by)"},
    {"windows",
     "rolling(x, 30, \"mean\", dim=\"time\", center=True, min_periods=10, ddof=1), of several "
     "axes rolling(x, (3, 3), \"max\", axis=(1, 2)); count, sum, prod, mean, var, std, min, max"},
    {"filters", "gaussian_filter gaussian_laplace (x, 2 or (0, 1.5), truncate=4) laplace(x) "
                "sobel prewitt correlate1d convolve1d (x, (-1, 0, 1), axis=0) uniform_filter "
                "minimum_filter median_filter maximum_filter (x, (1, 3, 3), footprint=) "
                "correlate_filter rank_filter ..., all with mode=\"nearest\", cval=, output="},
    {"morphology", "grey_erosion white_tophat (x, 3, footprint=, structure=) "
                   "binary_closing(x, structure=, iterations=2, mask=) ..."},
    {"measurements", "sum_labels(x, labels, (1, 2, 3)), of the elements with each label; so "
                     "mean_labels variance_labels standard_deviation_labels minimum_labels "
                     "maximum_labels median_labels minimum_position maximum_position extrema "
                     "center_of_mass; histogram_labels(x, 0, 10, 5, labels, (1, 2, 3))"},
    {"grids", "remap(x, \"r360x180\", \"conservative\"), also bilinear, bicubic, nearest, "
              "conservative2, largest or distance "
              "(neighbours=4), with weights=\"w.nc\", skipna=False, na_threshold=0.5; "
              "remapbil remapbic remapcon remapcon2 remapdis remaplaf "
              "remapnn weights_file; lat= and lon= for an array without "
              "coordinates; "
              "grid_coordinates(\"n80\") remap_weights apply_weights"},
    {"interpolation",
     "zoom(x, 0.5) shift(x, (1, -2.5)) rotate(x, 30, axes=(1, 2), reshape=False) "
     "affine_transform(x, ((0.8, 0), (0, 1)), offset=) map_coordinates(x, coordinates) "
     "spline_filter spline_filter1d (x, 3), all with order=1, mode=\"nearest\", cval=, output="},
    {"calendars",
     "mean(x, groupby=\"time.month\") and mean(x, resample=\"1D\", dim=\"time\") of any reduction "
     "by group, also quantile(x, 0.9, groupby=\"time.month\"), resample(x, \"MS\", \"mean\", "
     "skipna=True) (YS, QS-DEC, MS, YE, QE, ME, W, D, h, min, s, as in pandas) and groupby(x, "
     "\"time.season\", \"std\"); with CDO's names hourmean daymean monmean yearmean seasmean "
     "ydaymean ymonmean yseasmean, and min max sum avg std std1 var var1 range and monpctl(x, 90), "
     "the nearest rank (method=), also yhourmean dhourmean, timmean of all times, and "
     "timselmean(x, 10, offset=0, skip=0) of sets of times; anomaly(x, \"time.month\", "
     "reference=(\"1981\", \"2010\")): x minus the mean of each month"},
    {"climatologies",
     "ymonsub(x, c): each time of x minus the element of c for its month, with dimensions matched "
     "by name; also yseas yday yhour mon day year, each with add sub mul div; runmean(x, 5) of "
     "windows of time steps, and ydrunmean(x, 5) of windows around each day of all years, both "
     "with avg max mean min pctl std std1 sum var var1, also runrange(x, 5), as runpctl(x, 90, 5); "
     "yearmonmean(x) yearmonavg seasmonmean seasmonavg, by lengths of months; days_in_month(x) "
     "days_in_year time_steps(x, \"YS\") date_part(x, \"month\"); muldpm divdpm muldpy divdpy by "
     "these days"},
    {"series",
     "timcor timcovar fldcor fldcovar (x, y) of elements that are missing in neither array; "
     "detrend(x) regres(x), also trend_slope, per time step, trend_intercept(x) trend_stderr(x) "
     "trend_pvalue(x), subtrend addtrend (x, intercept, slope); consecsum(x > 25), also "
     "consecutive: the number of true elements in a row up to each element; consects(x > 25), also "
     "spell_lengths: the length of each spell at its last element; lag(x, 3), the element three "
     "time steps earlier; timcumsum(x); timrmsd fldrms (x, y); timcount(x) hourcount daycount "
     "moncount seascount yearcount fldcount, of elements that are not missing"},
    {"conditions",
     "with CDO's names: ifthen(mask, y) ifnotthen ifthenelse(mask, y, z) ifthenc(mask, 1) "
     "ifnotthenc; eq ne le lt ge gt (x, y), 1 or 0, missing if x or y is missing"},
    {"boxes and grids",
     "by the coordinates of the input: sellonlatbox(x, 350, 10, 40, 60) masklonlatbox "
     "setclonlatbox(x, 0, 350, 10, 40, 60), maskindexbox setcindexbox by numbers of cells; "
     "invertlat(x) invertlon invertlev mulcoslat divcoslat latitudes longitudes"},

    {"climate indices",
     "over all times, or freq=\"YS\", thresholds in degC or mm: eca_fd frost_days, eca_id "
     "ice_days, "
     "eca_su(x, 25) summer_days, eca_tr tropical_nights, eca_rr1 wet_days, eca_r1mm, eca_r10mm "
     "heavy_precipitation_days, eca_r20mm very_heavy_precipitation_days, eca_cdd "
     "consecutive_dry_days, eca_cwd consecutive_wet_days, eca_csu(x, 25) consecutive_summer_days, "
     "eca_cfd consecutive_frost_days, eca_hd(x, 17) heating_degree_days, eca_etr(x, y) "
     "extreme_temperature_range, eca_sdii wet_day_intensity, eca_rx1day "
     "highest_one_day_precipitation, eca_rx5day(runsum(x, 5)) highest_five_day_precipitation(x); "
     "with the land fraction of cells eca_gsl(x, land, 6, 5) growing_season_length "
     "growing_season_start; "
     "with a climatology eca_hwdi(x, c, 6, 5) heat_wave_days, eca_cwdi "
     "cold_wave_days, eca_hwfi warm_spell_days, eca_cwfi cold_spell_days, eca_tx90p eca_tg90p "
     "eca_tn90p eca_tx10p eca_tg10p eca_tn10p; with percentiles of wet days eca_r75p eca_r90p "
     "eca_r95p eca_r99p eca_r75ptot eca_r90ptot eca_r95ptot eca_r99ptot; days of "
     "wind strwin(x, 10.5) strbre strgal hurr"},
    {"parts of dates",
     "selmon(x, 12, (1, 2)) selyear(x, 2000) selday selhour selseas(x, \"DJF\") seldate(x, "
     "\"2000-01-15\", \"2000-03\"), or in words select_month select_year select_day select_hour "
     "select_season select_date, also selmonth selseason; seltime(x, \"06:00\") selsmon(x, 7, 1, "
     "1) "
     "delday(x, 15, \"5mar\") del29feb(x)"},
    {"fields",
     "with CDO's names, by the coordinates of the input: fldmean fldint fldpctl(x, 90) zonmean "
     "mermean vertmean, and min max range sum avg std std1 var var1 of each (weights=gridarea(x, "
     "edges=\"latitudes\"), dim=, keepdims=True); fldmedian(x) fldskew fldkurt zonmedian zonskew "
     "zonkurt mermedian merskew merkurt; gridarea(x); missing elements by the nearest ones: "
     "setmisstonn(x) setmisstodis(x, 4)"},
    {"selections",
     "sel(x, time=\"2020-01\", lat=(40, 60), lon=7.5, method=\"nearest\"), sel(x, "
     "station=\"Kew\"), by the coordinates of the input and calendars of CF: a label, a range "
     "(\"2020-01\", \"2020-03\") with its ends, or a list lev=[85000, 20000]; a range of "
     "longitudes goes from west to east, across the end of the axis if necessary: lon=(350, 10)"},
    {"picking",
     "take take_along_axis (axis=, dim=\"time\") searchsorted(sorted, x, side=\"right\", sorter=); "
     "gather(x, i, None, j) for x[i, :, j], scatter(x, value, i, None, j) for x[i, :, j] = value, "
     "assign(x[1:3, ::2], value), replace(x, mask, value), scatter_mask(x, mask, values), "
     "forward_fill(x, axis=), require(x, holds, \"message\"); choose(numbers, (x, y), "
     "mode=\"clip\") "
     "select((a > 0, a < 0), (x, y), default=0)"},
    {"sets", "isin(x, among or (1, 2), invert=True) in1d"},
    {"shapes that depend on values",
     "compress(x, mask) extract(condition, x) flatnonzero argwhere; union1d intersect1d setdiff1d "
     "setxor1d (x, y); unique_values(x, equal_nan=True); values, counts = unique_counts(x), "
     "values, inverse = unique_inverse(x), values, indices, inverse, counts = unique_all(x); i, j "
     "= nonzero(x), one name for each dimension; repeat(x, array, axis=): elements are counted "
     "before the expression is computed"},
    {"new arrays",
     "arange linspace geomspace logspace eye full zeros ones empty (dtype=\"int32\"), zeros_like "
     "ones_like full_like empty_like (x); i, j = "
     "indices((2, 3)), meshgrid(x, y, indexing=\"ij\"), tril_indices(4) or triu_indices(4), "
     "unravel_index(x, (2, 3)); ravel_multi_index((i, j), (2, 3), mode=\"wrap\")"},
    {"random", "random uniform normal exponential integers (shape, ..., seed=1)"},
    {"transforms",
     "fft ifft rfft irfft hfft ihfft (n=, axis=), fftn ifftn rfftn irfftn (s=, axes=), all "
     "with norm=\"ortho\"; fftfreq rfftfreq fftshift ifftshift"},
    {"matrices",
     "in the last two axes: cholesky det inv solve svdvals eigvals eigvalsh pinv matrix_rank "
     "matrix_power matrix_norm cond(x, p=1) matrix_transpose diagonal trace, "
     "solve_triangular(a, b, lower=True, unit_diagonal=True); norm(x, 2, axis=0) vector_norm cross "
     "outer, "
     "multi_dot(a, b, c), tensorinv(a, ind=2), tensorsolve(a, b, axes=); q, r = qr(x), p, l, u = "
     "lu(x), u, s, vh = svd(x) or svd_compressed(x, 5, n_power_iter=1, seed=1), values, vectors = "
     "eig(x) or eigh(x), sign, logabsdet = slogdet(x), x, residuals, rank, s = lstsq(a, b, "
     "rcond=)"},
    {"types", "astype, and types as functions: float32(x)"},
    {"packing",
     "missing values are nan, and packed values are unpacked, except with --raw. Results at --out "
     "that only move elements keep the stored elements and their packing, bit for bit: x, x[0], "
     "sel take flip rot90 roll transpose permute_dims matrix_transpose moveaxis swapaxes rollaxis "
     "squeeze expand_dims broadcast_to reshape ravel repeat tile rechunk, and concat stack hstack "
     "vstack dstack column_stack of inputs with the same packing. Other results are floats whose "
     "_FillValue is nan"},
    {NULL, NULL}};
