open('/root/.ssh/id_rsa').read()
# expect 1 any.credentials
