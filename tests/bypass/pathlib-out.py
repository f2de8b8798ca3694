import pathlib
pathlib.Path('/etc/cron.d/x').write_text('x')
# expect 2 py.open-outside
# known-miss: the path that a pathlib object stands for is not followed
