def f():
    """import os; os.system('x')"""
