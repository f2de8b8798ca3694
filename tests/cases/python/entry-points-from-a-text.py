from importlib.metadata import EntryPoints
EntryPoints._from_text_for('[a]\nx = os:system', None)
# expect 2 py.dynamic-code
