"""The tidy table of all panels: its columns, and what each means."""

from __future__ import annotations

#: Columns of results/mse.csv, in order, and what each means; results/README.md is made of them.
COLUMNS = {
    "accounting": "published = privacy numbers as the papers state them; proven = what is proven (docs/proof.md)",
    "dataset": "where the users' items come from",
    "n_users": "number of users n of the panel",
    "set_size": "items s that each user holds",
    "domain_size": "number of items d",
    "split": "how the users are split over the levels",
    "method": "segmented is the paper's protocol, poisson* are ours, curator* are trusted; the others are competitors",
    "role": "grid = at an m of the grid; best = at the m that the method chose (segmented: optimizeParameter, least "
    "error bound); budget = at the best m within max_messages; recentred = best, moved to sum to s; projected = best, "
    "projected onto possible frequencies",
    "max_messages": "budget of expected messages per user; empty without one",
    "blanket_per_user": "m, expected blanket messages per user, 0 without a blanket",
    "messages_per_user": "expected messages per user, blanket and data together",
    "mse_mean": "mean over repetitions of sum_j (estimate_j - w_j)^2, w the sample's own frequencies (Monte Carlo)",
    "mse_stderr": "its standard error",
    "mse_expected": "closed form of the same expectation, levels assigned at random (exact); none after projection, "
    "nor after recentring where items are hashed",
    "mse_bound": "the bound that the method optimises (segmented: the paper's bound of section 5.2)",
    "repetitions": "number of repetitions behind the mean",
    "kind": "kind of the privacy numbers behind the row: published = as a paper states it, not proven; upper = proven; "
    "exact = proven, and no smaller number holds",
    "source": "real, stand-in or synthetic data",
    "parameters": "the plan's own parameters, JSON",
}
