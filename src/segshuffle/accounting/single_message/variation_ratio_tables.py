r"""Variation-ratio parameters of the randomizers of Tables 2, 3 and 4, and of their parallel composition.

Source: "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened", section 4.3 and Theorem 6.1. Every
function gives (p, beta, q) as published; its docstring names the law it was checked against and says where the two
do not agree. The status of the resulting numbers is in `variation_ratio`: kind *published*.
`mechanisms.mechanism` refuses sizes below the least ones before it calls these functions.

Multi-message protocols (Table 4): the message that depends on the input hides among *blanket* messages, so
`n_users` of every bound is 1 + the number of all blanket messages, those of the victim included.
"""

import math

from scipy import special

from segshuffle.accounting.single_message.randomizers.subsets import SubsetExponential
from segshuffle.accounting.single_message.variation_ratio import LARGEST_LOG_RATIO, VariationRatio
from segshuffle.numerics.ranges import LARGEST_EPSILON, SMALLEST_LOG_RATIO, check_integer, check_within

# -- Table 2: local differential privacy -----------------------------------------------------------------------------


def general(*, local_epsilon: float) -> VariationRatio:
    """Describe any randomizer with a pure local guarantee: beta = tanh(local_epsilon/2), its largest value.

    Attained by binary randomized response, and for it the reduction is proven; for others it is published only.
    `local_epsilon` in [1e-12, 300], here and below.
    """
    return _local(local_epsilon, math.tanh(0.5 * local_epsilon))


def laplace(*, local_epsilon: float) -> VariationRatio:
    """Describe Laplace noise of scale 1/local_epsilon on [0, 1]: beta = 1 - e^(-local_epsilon/2), for 0 and 1."""
    return _local(local_epsilon, -math.expm1(-0.5 * local_epsilon))


def privunit(*, local_epsilon: float, cap_area: float) -> VariationRatio:
    """Describe PrivUnit: the density is e^local_epsilon times as large on a cap around the input as elsewhere.

    Parameters
    ----------
    local_epsilon : float
        In [1e-12, 300].
    cap_area : float
        Share c of the sphere in the cap, in (0, 1/2]. beta is attained by opposite inputs, whose caps are disjoint.
        Larger shares are refused: caps overlap, and the published beta exceeds (p - 1)/(p + 1), which is impossible.
    """
    check_within("cap_area", cap_area, 0, 0.5, "(]")
    return _contrasted(local_epsilon, cap_area, cap_area)


def randomized_response(*, local_epsilon: float, domain_size: int) -> VariationRatio:
    """Describe generalized randomized response (GRR) on d = domain_size >= 2 options: beta = (p - 1)/(p + d - 1)."""
    return _contrasted(local_epsilon, 1 / domain_size, 1 / domain_size)


def binary_randomized_response(*, local_epsilon: float) -> VariationRatio:
    """Describe binary randomized response *of each bit of the one-hot encoding*, with local_epsilon/2 per bit.

    beta = tanh(local_epsilon/4) for any number of options: two inputs differ in two bits, and only outputs that have
    exactly one of these bits tell them apart. (Randomized response of a single bit, Warner's, is `general`.)
    """
    return _local(local_epsilon, math.tanh(0.25 * local_epsilon))


def subset_selection(*, local_epsilon: float, domain_size: int, subset_size: int) -> VariationRatio:
    """Describe k-subsets of d options, 1 <= k < d: a subset is e^local_epsilon times as likely if it has the input.

    The published binom(d-1, k-1) - binom(d-2, k-2) is binom(d-2, k-1), the number of subsets with x and without x'.
    beta is attained. `local_epsilon` in [1e-12, 50]: this is `subset_exponential` for sets of one item.
    """
    return subset_exponential(local_epsilon=local_epsilon, domain_size=domain_size, set_size=1, subset_size=subset_size)


def subset_exponential(*, domain_size: int, set_size: int, subset_size: int, local_epsilon: float) -> VariationRatio:
    """Return the parameters of the subset exponential randomizer (PrivSet) at p = q = exp(local_epsilon).

    A k-subset z is reported with probability proportional to exp(local_epsilon) if it meets the user's set, else to 1.
    alpha = beta/(p - 1) is the probability, for a user with the set x, that z meets x' but not x.

    Parameters
    ----------
    domain_size, set_size, subset_size : int
        d, s and k with 1 <= s < d and 1 <= k <= d - s.
    local_epsilon : float
        Local privacy parameter, in [1e-12, 50].
    """
    law = SubsetExponential(
        local_epsilon=local_epsilon, domain_size=domain_size, set_size=set_size, subset_size=subset_size
    )
    return VariationRatio(log_p=local_epsilon, beta=law.total_variation, log_q=local_epsilon)


def local_hash(*, local_epsilon: float, hash_size: int) -> VariationRatio:
    """Describe local hash into l = hash_size >= 2 values: beta = (p - 1)/(p + l - 1).

    This is the total variation for one fixed hash function that separates the two inputs. With a function drawn
    uniformly and sent along, the two collide with probability 1/l, and the total variation is (1 - 1/l) times the
    published beta. So the published beta is larger than needed: it is not tight, although section 5 calls it tight.
    """
    return randomized_response(local_epsilon=local_epsilon, domain_size=hash_size)


def hadamard_response(*, local_epsilon: float, order: int) -> VariationRatio:
    """Describe Hadamard response: outputs in the input's set are e^local_epsilon times as likely as the others.

    There are K = order outputs, a power of two >= 4. Every set is half of them (one block, in the paper), and two sets
    share half of theirs. beta is attained.
    """
    return _contrasted(local_epsilon, 0.25, 0.5)


def sampling_rappor(*, local_epsilon: float, domain_size: int, set_size: int) -> VariationRatio:
    """Describe sampling RAPPOR for sets of s of d options: beta = s tanh(local_epsilon/4)/d, 1 <= s <= d.

    The paper does not say what is sampled. The published beta bounds (and for s = 1 equals) the total variation when
    one of all d options is drawn and RAPPOR applied to its one-hot vector if the user holds it, to the zero vector if
    not. It is too small when one of the s *held* items is drawn: for s = 1 that is RAPPOR itself, with d times the
    published beta.
    """
    check_integer("set_size", set_size, 1, most=domain_size)
    return _local(local_epsilon, set_size / domain_size * math.tanh(0.25 * local_epsilon))


def wheel(*, local_epsilon: float, set_size: int, arc_length: float) -> VariationRatio:
    """Describe the wheel on sets of s items: the density is e^local_epsilon times as large on s arcs of a circle.

    Parameters
    ----------
    local_epsilon : float
        In [1e-12, 300].
    set_size : int
        s >= 1.
    arc_length : float
        Length l of one item's arc on the circle of length 1, s l <= 1/2. beta is attained by sets whose arcs are all
        disjoint; overlapping arcs stay below it. Longer arcs would have beta > tanh(local_epsilon/2), which no
        randomizer has, and are refused. (The paper prints the condition for tightness the wrong way round, as
        "p >= 1/(2s)" with p for the length.)
    """
    check_within("arc_length", arc_length, 0, 0.5 / set_size, "(]", note=" (set_size * arc_length <= 1/2)")
    covered = set_size * arc_length
    return _contrasted(local_epsilon, covered, covered)


# -- Table 3: local metric privacy -----------------------------------------------------------------------------------


def metric_general(*, distance: float, largest_distance: float) -> VariationRatio:
    """Describe any metric randomizer, for inputs at `distance` d_01 and all others within `largest_distance` d_max.

    Parameters
    ----------
    distance : float
        Distance of the victim's two inputs, times the local epsilon; in [1e-12, 300].
    largest_distance : float
        Largest such distance of one of the two from any other user's input; at least `distance`, at most 600.
    """
    return _metric(distance, largest_distance, math.tanh(0.5 * distance))


def metric_laplace(*, distance: float, largest_distance: float) -> VariationRatio:
    """Describe the Laplace mechanism on the line (l1 metric): beta = 1 - e^(-distance/2). See `metric_general`."""
    return _metric(distance, largest_distance, -math.expm1(-0.5 * distance))


def planar_laplace(*, distance: float, largest_distance: float) -> VariationRatio:
    r"""Describe the planar Laplace mechanism (l2 metric): density e^(-|x - u|)/(2 pi). See `metric_general`.

    beta is published as a double integral. The inner one, over the second coordinate, is u K_1(u)/pi at distance u from
    the input, K_1 the Bessel function of the second kind. So beta = (2/pi) int_0^{distance/2} u K_1(u) du, which is
    computed by quadrature to about 1e-13.
    """
    # beyond 60 the integrand is below 1e-25 of the integral
    end = min(0.5 * distance, 60.0)
    from scipy import integrate  # at the top it would slow the start of every job by a fifth of a second

    integral, _ = integrate.quad(lambda u: u * special.k1(u), 0.0, end, epsabs=0.0, epsrel=1e-13, limit=200)
    return _metric(distance, largest_distance, min(2.0 / math.pi * integral, 1.0))


# -- Table 4: multi-message protocols; [n] is number n in the paper's list of references -----------------------------


def biased_coin_sum(*, coin: float) -> VariationRatio:
    """Describe binary summation with blanket coins of probability `coin` in (0, 1) (Balcer et al. [4]).

    p = +inf, beta = 1, q = max(1/coin, 1/(1 - coin)). The message is the bit itself: no left-over on the victim's
    side, so the number is a proven upper bound. For coin != 1/2 it is not tight: q is too large for the likelier bit.
    For fair coins (Balcer et al. [5]) q = 2, and the number is exact.
    """
    check_within("coin", coin, 0, 1, "()")
    return VariationRatio(log_p=math.inf, beta=1.0, log_q=-math.log(min(coin, 1.0 - coin)))


def flipped_one_hot(*, flip: float) -> VariationRatio:
    """Describe one-hot vectors with every bit flipped with probability `flip` in (0, 1/2) (Cheu et al. [21]).

    p = (1-f)^2/f^2, beta = 1 - 2 f, q = (1-f)/f. Blanket messages are flipped zero vectors. Where the two bits in
    question agree, the victim shows 00 and 11 equally often, the blanket with odds (1-f)^2 : f^2: the left-overs
    differ, and the number is refuted as an upper bound: at f = 1/4 and e^eps = 2 one blanket message leaves a delta of
    0.29297 against the published 0.28516.
    """
    check_within("flip", flip, 0, 0.5, "()")
    odds = math.log1p(-flip) - math.log(flip)
    return VariationRatio(log_p=2.0 * odds, beta=min(1.0 - 2.0 * flip, math.tanh(odds)), log_q=odds)


def balls_into_bins(*, domain_size: int, special_bins: int) -> VariationRatio:
    """Describe balls into bins [61], d = domain_size bins, s = special_bins per input: p = +inf, beta = 1, q = d/s.

    Exact where the two inputs' special bins are disjoint (2 s <= d); the victim's message has no left-over.
    """
    most = domain_size // 2
    check_integer("special_bins", special_bins, 1, f"in [1, {most}] (at most domain_size/2)", most=most)
    return VariationRatio(log_p=math.inf, beta=1.0, log_q=math.log(domain_size / special_bins))


def mix_dump(*, domain_size: int, flip: float) -> VariationRatio:
    """Describe mixDUMP [58]: randomized response on d bins that errs with probability f.

    The blanket is uniform. p = (1-f)(d-1)/f, beta = 1 - f d/(d-1), q = (1-f) d: the ratio of 1 - f to 1/d, r = 1/d.
    The left-overs of victim and blanket are the same uniform law. So the number is exact for a message that hides among
    blanket messages alone.

    Parameters
    ----------
    domain_size : int
        d >= 2.
    flip : float
        f in [0, (d-1)/d). With 0 this is pureDUMP [58]: the message is the true bin, and the number is exact.
    """
    largest = (domain_size - 1) / domain_size
    check_within("flip", flip, 0, largest, "[)")
    log_p = math.log1p(-flip) + math.log(domain_size - 1) - math.log(flip) if flip > 0 else math.inf
    beta = min(1.0 - flip / largest, math.tanh(0.5 * log_p))
    return VariationRatio(log_p=log_p, beta=beta, log_q=math.log1p(-flip) + math.log(domain_size))


# -- Section 6: parallel composition ---------------------------------------------------------------------------------


def range_query(*, local_epsilon: float, levels: int) -> VariationRatio:
    """Describe range queries on d = 2^levels values (section 7.3): one level h drawn uniformly, GRR on its 2^h nodes.

    The message tells h, so beta is the mean of the levels' own (Theorem 6.1).
    """
    each = [randomized_response(local_epsilon=local_epsilon, domain_size=2**h).beta for h in range(1, levels + 1)]
    return _local(local_epsilon, math.fsum(each) / levels)


def _local(local_epsilon: float, beta: float) -> VariationRatio:
    """Make the parameters of a randomizer with a pure local guarantee, p = q."""
    check_within("local_epsilon", local_epsilon, SMALLEST_LOG_RATIO, LARGEST_EPSILON)
    return VariationRatio(log_p=local_epsilon, beta=beta, log_q=local_epsilon)


def _contrasted(local_epsilon: float, apart: float, favoured: float) -> VariationRatio:
    """Make the parameters for beta = (e^eps - 1) apart/(e^eps favoured + 1 - favoured), with eps the local epsilon.

    The share `favoured` of the outputs is likelier for x than the rest, and the share `apart` for x, but not for x'.
    """
    return _local(
        local_epsilon,
        -math.expm1(-local_epsilon) * apart / (favoured + (1.0 - favoured) * math.exp(-local_epsilon)),
    )


def _metric(distance: float, largest_distance: float, beta: float) -> VariationRatio:
    check_within("distance", distance, SMALLEST_LOG_RATIO, LARGEST_EPSILON)
    check_within("largest_distance", largest_distance, distance, LARGEST_LOG_RATIO)
    return VariationRatio(log_p=distance, beta=beta, log_q=largest_distance)
