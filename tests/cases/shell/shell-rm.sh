rm -rf /
# expect 1 sh.open-outside
