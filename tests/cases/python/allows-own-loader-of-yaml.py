# A class that extends the safe loader is one.
import yaml


class Loader(yaml.SafeLoader):
    pass


Loader.add_constructor("!join", lambda loader, node: "".join(loader.construct_sequence(node)))
print(yaml.load("v: !join [a, b]", Loader=Loader))
