__all__ = ['f']
__version__ = '1.0'
__author__ = 'x'
def f():
    pass
print(__name__, __doc__, __version__)
