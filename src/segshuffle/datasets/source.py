"""Where the data of a dataset came from: the record beside them, for labels and provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from segshuffle.errors import DataError

KINDS = ("real", "stand-in")


def shown_label(label: str, kind: str) -> str:
    """Name of a dataset as it must appear wherever its numbers do: a stand-in is named as one."""
    return f"{label} (stand-in)" if kind == "stand-in" else label


@dataclass(frozen=True)
class DataSource:
    """Where data came from; the same on every machine.

    Parameters
    ----------
    kind : {"real", "stand-in"}
        Whether these are the real data.
    sha256 : str or None
        SHA-256 of the file, uncompressed unless it is one of your own; None for a stand-in.
    origin : str
        The address, or the name of the file without its folder; for a stand-in how it was made.
    reason : str
        Why a stand-in was used; "" for real data.
    """

    kind: str
    sha256: str | None
    origin: str
    reason: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"kind of a data source is {self.kind!r}; allowed are 'real' and 'stand-in'.")

    def to_json(self) -> dict[str, str | None]:
        """Return the fields as a dictionary that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> DataSource:
        """Restore what `to_json` returned.

        Raises
        ------
        DataError
            If a key is missing or unknown, or a value is not text.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(data, Mapping) or set(data) != names:
            raise DataError(f"a record of a data source needs exactly the keys {sorted(names)}; found: {data!r}.")
        for name, value in data.items():
            if not (isinstance(value, str) or (name == "sha256" and value is None)):
                raise DataError(f"{name} = {value!r} in a record of a data source must be text.")
        return cls(**data)  # type: ignore[arg-type]
