"""Errors a user can meet."""

import pickle

from segshuffle.errors import ParameterError


def test_an_error_of_a_worker_process_arrives_whole():
    """Pools of processes, as those of joblib, send errors by pickle."""
    error = pickle.loads(pickle.dumps(ParameterError("delta", 2.0, "in (0, 1)")))
    assert str(error) == "delta = 2.0 is not allowed: it must be in (0, 1)."
    assert (error.name, error.value, error.allowed) == ("delta", 2.0, "in (0, 1)")
