"""Compares the elements that products of matrices read with the minimum of any method, 2 n^3 /
sqrt(M) elements (Hong and Kung, 1981).
"""

import math

import cubed
import pytest

import zarr

N = 6000
PRODUCTS = {
    "matmul": cubed.matmul,
    "tensordot": lambda a, b: cubed.array_api.tensordot(a, b, axes=((0,), (1,))),
    "einsum": lambda a, b: cubed.einsum("ij,kj->ik", a, b),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("mem", [6_000_000, 24_000_000, 96_000_000])
def test_reads_are_within_three_times_the_bound(tmp_path, name, mem):
    spec = cubed.Spec(allowed_mem=mem, reserved_mem=0)
    for x in "ab":
        zarr.create_array(
            tmp_path / x, shape=(N, N), chunks=(500, 500), dtype="f8", compressors=None
        )
    a, b = (cubed.from_zarr(str(tmp_path / x), spec=spec) for x in "ab")
    plan = cubed.plan(PRODUCTS[name](a, b))
    least = 8 * 2 * N**3 / math.sqrt(mem / 8)
    assert plan.max_projected_mem <= mem
    assert 2 * N * N * 8 <= plan.total_nbytes_read <= 3 * least
