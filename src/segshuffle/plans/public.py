"""Which inputs of a plan are public, and how each can be known without looking at the users' items.

The guarantee holds for a plan that was made without the data. A value that comes from the data (the largest set, the
frequencies of the items, who dropped out) reveals something about the data, and no accountant counts that.
"""

#: Every input of `plan.Problem` and `plan.Assumptions`, and the guess for which errors are computed.
PUBLIC_INPUTS: dict[str, str] = {
    "domain_size": "the list of items is published before anybody sends messages",
    "set_size": "a rule announced to the users, never the size of their largest set",
    "levels": "the levels on offer",
    "level_counts": "expected beforehand, or released by round 1",
    "delta": "announced",
    "level_deltas": "announced",
    "sets": "a rule announced to the users",
    "honest_fraction": "a belief held beforehand; who drops out must not depend on the items",
    "private_levels": "announced",
    "rounds": "announced",
    "mean_size": "a belief held beforehand; not the mean of these users' sets",
    "item_frequencies": "a guess from elsewhere; not the frequencies of these users",
}

IN_GENERAL = (
    "Public inputs, and how each is known without the data; a value computed from users' items breaks the guarantee:"
)
