"""Errors a user can meet."""

import pickle

import numpy as np
import pytest

from segshuffle.errors import ParameterError


def test_an_error_of_a_worker_process_arrives_whole():
    """Pools of processes, as those of joblib, send errors by pickle."""
    error = pickle.loads(pickle.dumps(ParameterError("delta", 2.0, "in (0, 1)")))
    assert str(error) == "delta = 2.0 is not allowed: it must be in (0, 1)."
    assert (error.name, error.value, error.allowed) == ("delta", 2.0, "in (0, 1)")


@pytest.mark.parametrize("value", [2.0, np.float64(2.0), np.float32(2.0)])
def test_numbers_of_numpy_are_shown_as_numbers(value):
    assert str(ParameterError("delta", value, "in (0, 1)")) == "delta = 2.0 is not allowed: it must be in (0, 1)."
