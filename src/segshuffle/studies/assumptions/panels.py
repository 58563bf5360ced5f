"""The populations that this study looks at, in tables."""

from __future__ import annotations

from typing import Any

from segshuffle.pipeline.design import Scenario

#: Columns that name a population and its split.
COLUMNS = ("dataset", "n_users", "set_size", "domain_size", "split")


def head(panel: Scenario) -> dict[str, Any]:
    """First columns of a panel's rows."""
    setting = panel.setting
    values = (setting.dataset, setting.n_users, setting.set_size, setting.domain_size, panel.split)
    return dict(zip(COLUMNS, values, strict=True))
