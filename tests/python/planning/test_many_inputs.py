"""Expressions over so many arrays that a task cannot hold a chunk of each."""

import numpy as np
import pytest
from conftest import check, run

import zarr

COUNT = 120


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "in"
    root = zarr.create_group(path)
    for i in range(COUNT):
        array = root.create_array(
            f"a{i}", shape=(200, 250), chunks=(100, 125), dtype="f8", compressors=None
        )
        array[...] = np.arange(200 * 250).reshape(200, 250) % 97 + i
    return path


def expressions():
    names = [f"a{i}" for i in range(COUNT)]
    return {
        "sum": "+".join(names),
        "mean": f"mean({'+'.join(names)}, axis=0)",
        "two": "*0.5+".join(names),
        "concat": f"concat([{', '.join(names)}], axis=1)",
    }


@pytest.mark.parametrize("which", expressions())
def test_divided_stages_stay_in_the_bound(group, tmp_path, which):
    text = expressions()[which]
    values = {f"a{i}": zarr.open_group(group)[f"a{i}"][...] for i in range(COUNT)}
    names = {"mean": np.mean, "concat": np.concatenate}
    expected = eval(text, names, values)
    out = tmp_path / "out"
    roomy = check(run("eval", text, group, "--out", out, "--allowed-mem", "1GB", "--json")).run
    np.testing.assert_allclose(zarr.open_array(out / "result")[...], expected, rtol=1e-14)
    # All chunks at once are 12 MB.
    small = check(
        run(
            "eval", text, group, "--out", out, "--overwrite", "--allowed-mem", "16MB",
            "--reserved-mem", "10MB", "--max-workers", 1, "--json",
        )
    ).run  # fmt: skip
    np.testing.assert_allclose(zarr.open_array(out / "result")[...], expected, rtol=1e-14)
    assert small["measured_mem"] <= small["projected_mem"] <= 16e6
    if which != "concat":  # a task needs only the pieces that its chunk touches
        assert small["stages"] > roomy["stages"]


def test_more_pieces_than_a_thousand(tmp_path):
    """Each piece of a concatenation is a branch of the program."""
    source = tmp_path / "in"
    values = np.arange(3000.0)
    zarr.create_array(source, shape=(3000,), chunks=(3000,), dtype="f8")[...] = values
    pieces = [f"a[{i}:{i + 1}]" for i in reversed(range(1500))]
    result = check(run("eval", f"concat([{', '.join(pieces)}])", "--in", f"a={source}", "--json"))
    np.testing.assert_array_equal(next(iter(result.arrays().values())), values[1499::-1])
