"""One instruction set for all jobs, so that every x86-64 processor computes the same last bits.

numpy and OpenBLAS choose their loops according to the processor. Newer loops for exp, log and dot products give other
last bits, and another last bit of a rate changes every draw. The oldest loops exist on all processors, and the pipeline
is no slower with them. Both libraries read the environment when they are loaded.

Every remote job parses the Snakefile, which imports this module. So it uses only the standard library.
"""

import platform

#: What the pinned numpy may choose on newer x86-64 processors: its `__cpu_dispatch__`.
NEWER_INSTRUCTIONS = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")


def same_instructions() -> dict[str, str]:
    """Return environment variables for every job; none on processors of another kind, whose numbers may differ."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return {}
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(NEWER_INSTRUCTIONS), "OPENBLAS_CORETYPE": "Nehalem"}
