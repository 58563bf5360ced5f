"""Laws of dummy messages, called blankets, one file each.

The proof in docs/proof.md needs two properties of a blanket. The counters of the items are independent, and a larger
blanket is post-processing of a smaller one. Both hold for every *compound Poisson* blanket: a Poisson number of
independent clusters, each at a uniform item. Only the law of a cluster is left to choose. A blanket (`base.Blanket`)
declares

- its parts (`parts.Part`) at a given mean. Numbers of messages, variance and exact samplers follow from them. What n'
  of n users send is the same blanket at n'/n of the mean;
- the pair of counters that an exchanged item changes (`base.CounterPair`). The accountants `product` and `composition`
  need nothing else.
"""
