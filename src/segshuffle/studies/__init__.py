"""One folder per question: what it computes, its figures, its verdicts."""
