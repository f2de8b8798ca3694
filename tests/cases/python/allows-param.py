def f(exec, open=None, compile=3):
    return exec, open, compile
