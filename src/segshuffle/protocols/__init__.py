"""What users send and what the server computes: one file per protocol, one interface (`plans.method.Method`).

`plans.registry` finds every file that declares methods in ``METHODS``, so no list has to name a new one. Import from
the modules, so that only what is used is loaded.
"""
