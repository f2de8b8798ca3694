open('/etc/shadow')
# expect 1 any.credentials
