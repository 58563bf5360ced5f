# Targets: one figure or table of the amplification papers alone; amplification.smk has the rules that make them.


rule fig_decomposition2:
    """Figure 2 of the decomposition paper: one randomizer: upper and lower bound against earlier bounds."""
    input:
        exhibit("decomposition2"),


rule fig_decomposition3:
    """Figure 3 of the decomposition paper: joint composition of two and of three randomizers."""
    input:
        exhibit("decomposition3"),


rule fig_decomposition4:
    """Figure 4 of the decomposition paper: parallel composition of 10-ary randomized response and binary local hash."""
    input:
        exhibit("decomposition4"),


rule fig_decomposition5:
    """Figure 5 of the decomposition paper: RAPPOR with varying domain size."""
    input:
        exhibit("decomposition5"),


rule fig_decomposition6:
    """Figure 6 of the decomposition paper: Poisson subsampling of 10-ary randomized response."""
    input:
        exhibit("decomposition6"),


rule fig_decomposition7:
    """Figure 7 of the decomposition paper: joint composition: neighbours at Hamming distance 1, 2 and 3."""
    input:
        exhibit("decomposition7"),


rule fig_decomposition8:
    """Figure 8 of the decomposition paper: distribution of the generalised amplification variable, Laplace mechanism."""
    input:
        exhibit("decomposition8"),


rule fig_variation1:
    """Figure 1 of the variation-ratio paper: subset selection."""
    input:
        exhibit("variation1"),


rule fig_variation2:
    """Figure 2 of the variation-ratio paper: optimal local hash."""
    input:
        exhibit("variation2"),


rule fig_variation3:
    """Figure 3 of the variation-ratio paper: flipped one-hot vectors with fake users (Cheu and Zhilyaev)."""
    input:
        exhibit("variation3"),


rule fig_variation4:
    """Figure 4 of the variation-ratio paper: balls into bins."""
    input:
        exhibit("variation4"),


rule fig_variation5:
    """Figure 5 of the variation-ratio paper: range queries: separate, basic and advanced parallel composition."""
    input:
        exhibit("variation5"),


rule table_variation5:
    """Table 5 of the variation-ratio paper: general randomizers, bisection with 20 and 10 steps."""
    input:
        exhibit("variation-table5"),


rule fig_personalized4:
    """Figure 4 of the paper on personalized privacy: epsilon over the number of users, four laws of the budgets."""
    input:
        exhibit("personalized4"),


rule table_personalized2:
    """Table 2 of the paper on personalized privacy: delta at given epsilon, approximate mechanisms."""
    input:
        exhibit("personalized-table2"),
