"""Compares Xarray's methods on lazy strings with strings in memory; no string is truncated."""

import unicodedata
import warnings
from operator import attrgetter

import cubed
import numpy as np
import pytest
import xarray as xr
from cubed.xarray import _strings
from test_xarray_memory import most

KINDS = ("U", "S")
TEXTS = ["ab_c", " Straße ", "", "É ﬃ x", "İx", "a-b-c", "ABC abc"]
GROUPS = [0, 0, 1, 1, 1, 2, 2]


def pair(kind):
    """Two arrays in memory whose strings have different lengths."""
    plain = [t.encode("ascii", "ignore") for t in TEXTS] if kind == "S" else TEXTS
    coords = {"x": np.arange(7), "g": ("x", GROUPS)}
    a = xr.DataArray(np.array(plain), coords, ("x",), name="v")
    return a, a.isel(x=slice(None, None, -1)).assign_coords(coords).str.cat(a, a)


@pytest.fixture
def chunked(tmp_path):
    spec = cubed.Spec(tmp_path, allowed_mem="200MB", reserved_mem="10MB")
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    return lambda *arrays, x=2: [a.chunk(x=x, **options) for a in arrays]


def same(got, want):
    assert isinstance(got.variable._data, cubed.Array)
    values = got.values
    assert got.dims == want.dims
    assert values.dtype == got.dtype
    assert values.dtype.kind == want.dtype.kind or want.dtype.kind == "O"
    np.testing.assert_array_equal(values, want.values.astype(got.dtype))
    np.testing.assert_array_equal(values.astype(object), want.values.astype(object))


#: Of two arrays, and a function that makes a string of their kind.
METHODS = {
    "add": lambda a, b, t: a + b + t("!"),
    "align": lambda a, b, t: xr.align(
        a, b.drop_vars("g")[:2], join="outer", fill_value=t("none!")
    )[1],
    "argmax": lambda a, b, t: a.argmax("x"),
    "astype": lambda a, b, t: a.astype(str) if a.dtype.kind == "U" else a.astype("S"),
    "astype U9": lambda a, b, t: a.astype("U9"),
    "astype S": lambda a, b, t: a.where(a < t("z"), t("")).where(a.x == 0, t("q")).astype("S"),
    "combine_by_coords": lambda a, b, t: xr.combine_by_coords(
        [a.to_dataset(), b.assign_coords(x=np.arange(7, 14)).to_dataset(name="v")]
    )["v"],
    "combine_first": lambda a, b, t: a.combine_first(b),
    "combine_nested": lambda a, b, t: xr.combine_nested([a, b], concat_dim="x"),
    "compare": lambda a, b, t: (a == b) | (a < b) | (a != t("c")),
    "concat": lambda a, b, t: xr.concat([a, b], "x"),
    "concat new": lambda a, b, t: xr.concat(
        [a.drop_vars("g")[:3], b.drop_vars("g")], "y", join="outer", fill_value=t("none!")
    ),
    "expand_dims": lambda a, b, t: a.expand_dims(y=3),
    "fillna": lambda a, b, t: a.fillna(t("anything")),
    "fillna array": lambda a, b, t: a.fillna(b),
    "full_like": lambda a, b, t: xr.full_like(a, t("longer than it is")),
    "isel": lambda a, b, t: a.isel(x=[3, 1]),
    "isin": lambda a, b, t: a.isin([t("a-b-c"), t("longer than it is")]),
    "isnull": lambda a, b, t: a.isnull(),
    "max": lambda a, b, t: a.max(),
    "merge": lambda a, b, t: xr.merge([a, a.rename("w")])["w"],
    "min": lambda a, b, t: b.min("x"),
    "pad": lambda a, b, t: a.pad(x=(1, 2), constant_values=(t("padded with more"), t(""))),
    "pad edge": lambda a, b, t: a.pad(x=1, mode="edge"),
    "reindex": lambda a, b, t: a.drop_vars("g").reindex(x=[4, 9, 1], fill_value=t("missing!!")),
    "roll": lambda a, b, t: a.roll(x=2),
    "rolling": lambda a, b, t: a.rolling(x=2).construct("w", fill_value=t("fill")),
    "sel": lambda a, b, t: a.sel(x=[1.2, 3.4], method="nearest"),
    "shift": lambda a, b, t: a.shift(x=1, fill_value=t("f")),
    "stack": lambda a, b, t: xr.concat([a, b], "y").stack(z=("x", "y")).drop_vars("z"),
    "to_dataarray": lambda a, b, t: xr.Dataset({"p": a, "q": b}).to_dataarray(),
    "unstack": lambda a, b, t: (
        a[:5].assign_coords(q=("x", [0, 1, 0, 1, 2])).drop_vars("x")
        .set_index(x=["g", "q"]).unstack("x", fill_value=t("no"))
    ),
    "where": lambda a, b, t: xr.where(a == t("a-b-c"), a, b),
    "where other": lambda a, b, t: a.where(a.x > 2, b),
    "where scalar": lambda a, b, t: a.where(a.x > 2, t("something longer")),
    "where scalars": lambda a, b, t: xr.where(a == t(""), t("yes"), t("nope")),
    "zeros_like": lambda a, b, t: xr.zeros_like(a),
}  # fmt: skip


def call(function, kind, *arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return function(*arrays, str.encode if kind == "S" else str)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
def test_methods(chunked, name, kind):
    eager = pair(kind)
    same(call(METHODS[name], kind, *chunked(*eager)), call(METHODS[name], kind, *eager))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.where(a.x > 2),
        lambda a: a.reindex(x=[4, 9]),
        lambda a: a.shift(x=1),
        lambda a: xr.concat([a, xr.zeros_like(a.x)], "x"),
    ],
)
def test_missing_strings_are_refused_with_the_remedy(chunked, call):
    (a,) = chunked(pair("U")[0])
    with pytest.raises(TypeError, match=r"astype: .* cannot become object.*fill_value=''"):
        call(a)


@pytest.mark.parametrize("kind", KINDS)
def test_open_mfdataset(tmp_path, kind):
    for i, text in enumerate(pair(kind)):
        text.to_dataset(name="v").drop_vars("g").to_netcdf(tmp_path / f"{i}.nc", engine="h5netcdf")
    options = {"combine": "nested", "concat_dim": "x", "join": "override"}
    want = xr.open_mfdataset(f"{tmp_path}/*.nc", **options).v.values
    got = xr.open_mfdataset(f"{tmp_path}/*.nc", chunked_array_type="cubed", **options).v
    np.testing.assert_array_equal(got.values, want)


# --- The accessor ---------------------------------------------------------------------------------

WIDTHS = xr.DataArray([3, 12], dims="w")

#: Methods of ``.str``, of an array and a function that makes a string of its kind.
STR = {
    **{
        name: lambda a, t, name=name: getattr(a.str, name)()
        for name in "capitalize lower lstrip rstrip strip swapcase title upper len isupper".split()
    },
    "cat": lambda a, t: a.str.cat(a, t("!"), sep=t("--")),
    "cat arrays": lambda a, t: a.str.cat(WIDTHS.astype(t("").__class__), a.x, sep=t("_")),
    "center": lambda a, t: a.str.center(9),
    "contains": lambda a, t: a.str.contains(t("b")),
    "count": lambda a, t: a.str.count(t("b")),
    "extract": lambda a, t: a.str.extract(t(r"(\w)"), dim=None),
    "extract groups": lambda a, t: a.str.extract(t(r"(\w)(.)"), dim="m"),
    "extractall": lambda a, t: a.str.extractall(t(r"(\w)"), group_dim="g", match_dim="m"),
    "get": lambda a, t: a.str[1],
    "get default": lambda a, t: a.str.get(2, default=t("none")),
    "join": lambda a, t: a.str.join("x", sep=t("+")),
    "ljust": lambda a, t: a.str.ljust(2),
    "pad": lambda a, t: a.str.pad(WIDTHS, side="both", fillchar=t("*")),
    "partition": lambda a, t: a.str.partition(dim="p", sep=t("-")),
    "plus": lambda a, t: a.str + t("xyz"),
    "repeat": lambda a, t: a.str * 3,
    "repeat array": lambda a, t: a.str * WIDTHS,
    "replace": lambda a, t: a.str.replace(t("_"), t("<>")),
    "replace classes": lambda a, t: a.str.replace(t("[a-c]"), t("<>")),
    "replace case": lambda a, t: a.str.replace(t("ab"), t("ZZZ"), case=False),
    "replace empty": lambda a, t: a.str.replace(t(""), t("<>"), regex=False),
    "replace groups": lambda a, t: a.str.replace(t(r"(\w+)"), t(r"\1\1")),
    "replace nothing": lambda a, t: a.str.replace(t("x*"), t("--")),
    "replace once": lambda a, t: a.str.replace(t("a"), t("ZZZ"), n=1),
    "replace plain": lambda a, t: a.str.replace(t("b"), t("YYY"), regex=False),
    "rpartition": lambda a, t: a.str.rpartition(dim="p", sep=t("-")),
    "rsplit": lambda a, t: a.str.rsplit(dim="p", sep=t(" "), maxsplit=1),
    "slice": lambda a, t: a.str[1:3],
    "slice array": lambda a, t: a.str.slice(WIDTHS),
    "slice_replace": lambda a, t: a.str.slice_replace(1, 2, t("REPL")),
    "split": lambda a, t: a.str.split(dim="p", sep=t("-")),
    "split blanks": lambda a, t: a.str.split(dim="p"),
    "strip characters": lambda a, t: a.str.strip(t("ac")),
    "zfill": lambda a, t: a.str.zfill(11),
}
OF_STR = {
    "casefold": lambda a: a.str.casefold(),
    **{f: lambda a, f=f: a.str.normalize(f) for f in ("NFC", "NFD", "NFKC", "NFKD")},
    "encode": lambda a: a.str.encode("utf-8"),
    "encode utf-16": lambda a: a.str.encode("utf-16"),
    "encode latin-1": lambda a: a.str.encode("latin-1", "replace"),
    "encode and decode": lambda a: a.str.encode("utf-8").str.decode("utf-8"),
    "translate": lambda a: a.str.translate(str.maketrans({"a": "AAA", "b": None, "c": ""})),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STR)
def test_accessor(chunked, name, kind):
    eager = pair(kind)[0].drop_vars("g")
    same(call(STR[name], kind, *chunked(eager)), call(STR[name], kind, eager))


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 1, 3), (0,), (2, 0)])
def test_accessor_of_other_dimensions(chunked, shape):
    """Of no dimension to three, and of no elements."""
    texts = np.resize(np.array(TEXTS), shape) if 0 not in shape else np.zeros(shape, "U4")
    eager = xr.DataArray(texts, dims=("x", "y", "z")[: len(shape)])
    lazy = eager.copy(data=cubed.from_array(texts, chunks=2))
    methods = {k: lambda a, f=f: call(f, "U", a) for k, f in STR.items()} | OF_STR
    compared = 0
    for name, method in methods.items():
        try:
            want = method(eager)
        except (AttributeError, IndexError, TypeError, ValueError):  # it needs x, or elements
            continue
        same(method(lazy), want)
        assert method(lazy).dims == want.dims, name
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("name", OF_STR)
def test_accessor_of_str(chunked, name):
    eager = pair("U")[0]
    same(OF_STR[name](*chunked(eager)), OF_STR[name](eager))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (".str", lambda a: a.str.format(1)),
        (".str", lambda a: a.str % ()),
        (".str", lambda a: a.str.wrap(3)),
        (".str", lambda a: a.str.findall("(a)")),
        (".str", lambda a: a.str.split(dim=None)),
        (".str", lambda a: a.str.get_dummies("-")),
        ("str.replace", lambda a: a.str.replace("a", lambda m: "b")),
        ("str.encode", lambda a: a.str.encode("ascii", "xmlcharrefreplace")),
        ("str.replace", lambda a: a.str.replace("(?=(.*))", r"\1")),
    ],
)
def test_lengths_that_only_values_have_are_refused(chunked, name, call):
    (a,) = chunked(pair("U")[0])
    with pytest.raises(TypeError, match=rf"{name}.* the length .*output_dtypes=\['U40'\]"):
        call(a)
    apply = xr.apply_ufunc
    got = apply(lambda t: t * 2, a, vectorize=True, dask="parallelized", output_dtypes=["U40"])
    assert got.values.tolist() == [t * 2 for t in TEXTS]


def test_lengths_of_all_characters():
    """No character of Unicode becomes more than the table says."""
    every = [chr(c) for c in range(0x30000)]  # those beyond change to none
    for name, times in _strings._CASES.items():
        method = getattr(str, name)
        assert max(len(method(c)) for c in every) == times
        assert max(len(method("a" + c)) for c in every if len(method(c)) > 1) <= 1 + times
    for form, times in _strings._NORMAL_FORMS.items():
        assert max(len(unicodedata.normalize(form, c)) for c in every) == times


def test_every_method_of_strings_has_a_length():
    from xarray.core.accessor_str import StringAccessor

    assert all(callable(attrgetter(name)(StringAccessor)) for name in _strings.LENGTHS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["upper", "len", "cat", "extract groups", "pad"])
def test_memory_of_the_accessor(tmp_path, name, kind):
    spec = cubed.Spec(tmp_path, allowed_mem="200MB", reserved_mem="10MB")
    x = xr.DataArray(np.resize(pair(kind)[0].values, 20_000), dims="x").drop_vars(
        "x", errors="ignore"
    )
    x = x.assign_coords(x=np.arange(20_000))
    lazy = x.chunk(x=10_000, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    seen = most(call(STR[name], kind, lazy))
    assert 0 < seen.taken <= seen.projected


def test_chunks_whose_objects_do_not_fit(tmp_path):
    """Each string is a Python object of some 60 bytes while a method runs: chunks are cut finer."""
    texts = np.resize(np.array(TEXTS), 300_000)
    spec = cubed.Spec(tmp_path, allowed_mem="40MB", reserved_mem="10MB")
    x = xr.DataArray(texts, dims="x")
    lazy = x.chunk(chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    with_objects = lazy.str.upper()
    assert with_objects.data.plan().max_projected_mem <= 40_000_000
    seen = most(with_objects)
    assert 0 < seen.taken <= seen.projected
    same(
        with_objects.isel(x=slice(None, None, 9973)), x.str.upper().isel(x=slice(None, None, 9973))
    )


# --- Functions of users ---------------------------------------------------------------------------


@pytest.mark.parametrize("signature", ["()->()", "()->(k)", "()->(),()"])
def test_vectorized_functions_keep_strings_whole(signature):
    """NumPy's vectorize cuts them to one character."""
    outputs = signature.count("(") - 1

    def f(text):
        made = text + "zz"
        return (
            (made, len(text))
            if outputs == 2
            else np.array([made] * 2)
            if "k" in signature
            else made
        )

    x = cubed.from_array(np.array(TEXTS), chunks=3)
    made = cubed.apply_gufunc(
        f, signature, x, vectorize=True, output_dtypes=["U10", int][:outputs], output_sizes={"k": 2}
    )
    got = made[0].compute() if outputs == 2 else made.compute()
    want = np.array([t + "zz" for t in TEXTS])
    np.testing.assert_array_equal(got, np.stack([want] * 2, 1) if "k" in signature else want)
    with pytest.raises(TypeError, match="has dtype <U10, expected <U9"):
        cubed.apply_gufunc(
            lambda t: t + "zz", "()->()", x, vectorize=True, output_dtypes=["U9"]
        ).compute()
    with pytest.raises(TypeError, match="has no length, expected one: 'U20'"):
        cubed.apply_gufunc(lambda t: t, "()->()", x, vectorize=True, output_dtypes=[str])
    with pytest.raises(TypeError, match="has no length, expected one: 'U20'"):
        cubed.map_blocks(np.char.upper, x, dtype=str)


@pytest.mark.parametrize("template", [r"\g<0>\g<0>", "<>"])
def test_a_replacement_may_repeat_the_match(template):
    """The pattern is longer than the template."""
    texts = xr.DataArray(["abcdefghijklmnop", "x"], dims="x")
    got = texts.chunk(x=1, chunked_array_type="cubed").str.replace("abcdefghijklmnop", template)
    assert got.values.tolist() == texts.str.replace("abcdefghijklmnop", template).values.tolist()
