"""Changes of a configuration, at keys with dots."""

import copy

MISSING = object()


def changed(config, path, value):
    """Return a copy with a value set at a dotted path, or without it if the value is MISSING; numbers index lists."""
    config = copy.deepcopy(config)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    section = config
    for part in parents:
        section = section[part]
    if value is MISSING:
        del section[last]
    else:
        section[last] = value
    return config
