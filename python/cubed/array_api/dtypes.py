"""Data types: NumPy's scalar types, which compare equal to the types of arrays."""

import numpy as np

__all__ = [
    "bool", "complex128", "complex64", "float32", "float64", "int16", "int32", "int64", "int8",
    "uint16", "uint32", "uint64", "uint8",
]  # fmt: skip

int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
float32 = np.float32
float64 = np.float64
complex64 = np.complex64
complex128 = np.complex128
bool = np.bool_
