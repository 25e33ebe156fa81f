"""Random plans have the recorded fingerprints of their seeds."""

from collections.abc import Iterable

from planned_bytes import lines


def of(seeds: Iterable[int]) -> list[str]:
    return list(lines(seeds))


def test_a_seed_has_the_same_fingerprint_again():
    """Also after other plans were made: nothing but the seed counts."""
    some = of(range(40))
    assert of(range(39, -1, -1))[::-1] == some
    assert len({line.split()[1] for line in some}) > 30
    assert sum(" refused" in line for line in some) < 6
