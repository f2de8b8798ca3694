cp x /etc/x
# expect 1 sh.open-outside
