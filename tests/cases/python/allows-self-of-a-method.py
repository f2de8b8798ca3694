import time
def owner(method):
    return method.__self__
time.time.__self__
