cd /
eval "rm -rf etc"
# expect 1 sh.open-outside
# expect 2 sh.command
# expect 2 sh.open-outside
