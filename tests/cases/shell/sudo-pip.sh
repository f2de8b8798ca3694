sudo pip install paramiko
# expect 1 sh.command
# expect 1 pkg.blocked
