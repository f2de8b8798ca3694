# Classes that extend an unsafe loader, or several classes; constructors that are not safe.
import yaml


class Full(yaml.FullLoader):
    pass


class Mixed(yaml.SafeLoader, Full):
    pass


class Safe(yaml.SafeLoader):
    pass


yaml.load("a: 1", Loader=Full)
yaml.load("a: 1", Loader=Mixed)
Safe.add_multi_constructor("", yaml.constructor.UnsafeConstructor.construct_python_object_apply)
# expect 5 py.deserialise
# expect 17 py.deserialise
# expect 18 py.deserialise
# expect 19 py.deserialise
