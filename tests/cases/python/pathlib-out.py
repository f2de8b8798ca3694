import pathlib
pathlib.Path('/etc/cron.d/x').write_text('x')
# expect 2 py.open-outside
# expect 2 any.loader
# expect 2 any.loader
