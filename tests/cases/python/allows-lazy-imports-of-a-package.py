# The lazy imports of a package are those of its own folder.
import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, submodules={"tables"}, submod_attrs={"rows": ["Row"]})
