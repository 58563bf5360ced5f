"""Read a table of probabilities: CSV, TSV, numbers with spaces, or NumPy's .npy; errors name file and line."""

from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

from segshuffle.errors import DataError
from segshuffle.files import read_bounded

_MAX_BYTES = 50_000_000


def read_matrix(path: Path, claimed_epsilon: float | None) -> Any:
    """Read and check a `MatrixRandomizer`: one line per input, one number (or fraction such as 1/3) per output.

    Empty lines and lines that begin with # are left out.

    Raises
    ------
    DataError
        Names file, line, column and value.
    """
    import numpy as np

    from segshuffle.accounting.single_message.randomizers.matrix import matrix_randomizer

    content = read_bounded(path, limit=_MAX_BYTES)
    lines: list[int] | None = None
    if path.suffix == ".npy":
        try:
            rows: Any = np.asarray(np.load(BytesIO(content), allow_pickle=False), dtype=float)
        except (ValueError, TypeError, EOFError) as error:
            raise DataError(f"{path}: is no .npy file of numbers ({error}). Write one with numpy.save.") from error
    else:
        lines, rows = _rows(path, content)

    def where(row: int, column: int | None) -> str:
        # lines and their columns are counted from 1, rows of an array from 0
        at, first = (f"row {row}", 0) if lines is None else (f"line {lines[row]}", 1)
        return f"{path}, {at}" + ("" if column is None else f", column {column + first}")

    try:
        return matrix_randomizer(rows, claimed_epsilon=claimed_epsilon, where=where)
    except DataError as error:  # adds the file to an error about the whole table
        told = str(error)
        raise DataError(told if str(path) in told.partition(":")[0] else f"{path}: {told}") from error


def _rows(path: Path, content: bytes) -> tuple[list[int], list[list[float]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not text. Write numbers as text, or a .npy file.") from error
    lines: list[int] = []
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split(",") if "," in line else line.split()
        rows.append([_entry(path, number, column, word.strip()) for column, word in enumerate(words, start=1)])
        lines.append(number)
        if len(rows[-1]) != len(rows[0]):
            raise DataError(
                f"{path}, line {number}: {len(rows[-1])} numbers, where line {lines[0]} has {len(rows[0])}; every line "
                "is one input, with a probability for each output."
            )
    if not rows:
        raise DataError(f"{path}: holds no numbers; expected is one line per input, one probability per output.")
    return lines, rows


def _entry(path: Path, line: int, column: int, word: str) -> float:
    try:
        return float(Fraction(word)) if "/" in word else float(word)
    except (ValueError, ZeroDivisionError):
        told = word if len(word) <= 40 else word[:37] + "..."
        raise DataError(
            f"{path}, line {line}, column {column}: {told!r} is not a number; write 0.25, 2.5e-1 or 1/4, and put # "
            "before lines that are no numbers."
        ) from None
