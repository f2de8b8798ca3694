# import subprocess; subprocess.run(['id']); os.system('id'); eval('1')
def f():
    """Unlike subprocess.Popen and os.system, this runs nothing: eval(x), exec(x)."""
    return 'os.system is a function'
print(f())
