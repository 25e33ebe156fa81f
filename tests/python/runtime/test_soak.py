"""Many commands in one directory and one bucket, some of them killed or suspended.

CUBED_SOAK_MINUTES=60 CUBED_SOAK_SEED=7 makes it last, and plays another game.
"""

import os

import numpy as np
from conftest import check, run
from real_servers import running
from soak import CHUNK, PIECE, SIZE, Place, Soak

import zarr

MINUTES = float(os.environ.get("CUBED_SOAK_MINUTES", 0))
SEED = int(os.environ.get("CUBED_SOAK_SEED", 1))


def test_soak(tmp_path, monkeypatch):
    """Eight processes at a time, each in any of six places."""
    for name, size in (("whole", SIZE), ("piece", PIECE)):
        zarr.create_array(tmp_path / f"{name}.zarr", shape=(size,), chunks=(min(size, CHUNK),),
                          dtype="i4", dimension_names=["time"])[...] = np.arange(size)  # fmt: skip
    with running("moto", tmp_path, monkeypatch) as bucket:
        places = []
        for root, at_once in ((str(tmp_path), True), (bucket, False)):
            places += [Place(f"{root}/{name}", at_once, False) for name in ("a.zarr", "b.zarr")]
            places.append(Place(f"{root}/c.zarr", at_once, True))
            check(run("eval", "a=x*0", "--in", f"x={tmp_path / 'piece.zarr'}", "--out",
                      places[-1].url))  # fmt: skip
        soak = Soak(tmp_path, places, SEED)
        if MINUTES:
            soak.run(8, minutes=MINUTES)
        else:
            soak.run(4, operations=5)
    print(soak.operations, "operations,", soak.killed, "killed,", soak.suspended, "suspended:",
          dict(sorted(soak.outcomes.items())))  # fmt: skip
    assert not soak.faults, "\n".join(soak.faults)
    assert soak.operations > (100 if MINUTES else 15)
