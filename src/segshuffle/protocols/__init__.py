"""What users send and what the server computes: one file per protocol, one interface (`method.Method`).

A file that declares its methods in ``METHODS`` is found by `registry` and needs to be named nowhere else. Import from
the modules: nothing is loaded that is not used.
"""
