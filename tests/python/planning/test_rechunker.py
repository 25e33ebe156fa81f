"""Compares plans of rechunking with those of the package rechunker, for the same memory.

Its plans are counted as they would run: every read of a box decodes all chunks that it touches, and
a chunk that several boxes write a part of is read and written again by all but the first. A plan
counts as one that fits where a box and the largest chunk beside it do: rechunker itself counts the
box alone.
"""

import math
import random
import shutil
import warnings

import pytest
from conftest import cases
from test_rechunk_plans import cost, plan, random_grids

# It is installed without what it requires, an older zarr; see tools/test.
algorithm = pytest.importorskip("rechunker.algorithm")

ITEM = 4
# For what a run keeps, which rechunker does not count.
RESERVED = 64_000_000


def touched(extent, a, b):
    """Pairs of a piece of length a and one of length b of an axis that overlap."""
    borders = (extent - 1) // math.lcm(a, b)
    return -(-extent // a) + -(-extent // b) - 1 - borders


def stages(shape, source, target, mem):
    """Its plans: boxes, and the arrays in front of them and behind, of its two functions."""
    least = max(ITEM, min(mem // 100, 2**20))
    grids = shape, source, target, ITEM
    yield [algorithm.rechunking_plan(*grids, max_mem=mem)]
    try:
        yield algorithm.multistage_rechunking_plan(*grids, min_mem=least, max_mem=mem)
    except AssertionError:  # it finds none
        return


def count(shape, source, target, found):
    """Bytes and requests, read and written, and the memory of a task."""
    boxes = [found[0][0], *(after for _, _, after in found)]
    arrays = [source, *(between for _, between, _ in found), target]
    if len(found) == 1 and found[0][0] == found[0][2]:
        boxes, arrays = boxes[:1], [source, target]
    size = requests = mem = 0
    for box, before, after in zip(boxes, arrays[:-1], arrays[1:], strict=True):
        reads, writes, chunks = (
            math.prod(map(f, shape, box, grid))
            for f, grid in (
                (touched, before),
                (touched, after),
                (lambda n, _, c: -(-n // c), after),
            )
        )
        lengths = [math.prod(grid) * ITEM for grid in (before, after)]
        again = writes - chunks
        size += reads * lengths[0] + (writes + again) * lengths[1]
        requests += reads + writes + again
        mem = max(mem, math.prod(box) * ITEM + max(lengths))
    return size, requests, mem


def excluded(ask, mem, measure, theirs):
    """Whether what fits in less memory needs less: more memory may not need more than that."""
    for _ in range(200):
        mem = round(mem * 0.97)
        p = ask(mem)
        if p is None:
            return False
        if cost(p)[measure] < theirs:
            return True
    return False


def test_as_good_as_rechunker(tmp_path):
    pick = random.Random(19)
    compared = better = 0
    warnings.simplefilter("ignore", algorithm.ExcessiveIOWarning)
    for i in range(cases(100)):
        shape, source, target = random_grids(pick, 11)
        largest = ITEM * max(math.prod(source), math.prod(target))
        if largest > 5e8 or source == target:
            continue
        mem = max(200_000, round(largest * 10 ** pick.uniform(0.4, 2)))
        where = tmp_path / f"{i}"

        def ask(mem, where=where, grids=(shape, "f4", source, target)):
            options = "--max-workers", 1
            return plan(where, *grids, mem + RESERVED, *options, reserved=RESERVED)

        ours = cost(ask(mem))
        for found in stages(shape, source, target, mem):
            size, requests, need = count(shape, tuple(source), tuple(target), found)
            if 1.03 * need + 2000 > mem:  # memory goes up by such steps
                continue
            compared += 1
            theirs = size, requests
            better += ours[0] < theirs[0] and ours[1] < theirs[1]
            over = [k for k in range(2) if ours[k] > 1.1 * theirs[k]]
            assert len(over) < 2, (shape, source, target, mem, ours, theirs)
            for k in over:
                found = excluded(ask, mem, 1 - k, theirs[1 - k])
                assert found, (shape, source, target, mem, ours, theirs)
        shutil.rmtree(where)
    assert compared > cases(50)
    assert better > cases(5)  # in both measures
