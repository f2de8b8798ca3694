import os, signal, atexit, platform, tempfile, shutil, sqlite3, getpass
code, trace, profile, site, signal_, cmd = [], [], [], [], 1, ''
code.append(1)
trace.append(platform.system())
signal.signal(signal.SIGALRM, lambda *a: None)
atexit.register(print)
with tempfile.TemporaryDirectory() as folder:
    shutil.copy('a', folder)
print(sqlite3.connect(':memory:'), os.environ.get('HOME'), os.cpu_count(), getpass.getuser())
