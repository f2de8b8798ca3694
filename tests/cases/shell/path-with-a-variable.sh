cat "/home/$USER/.ssh/id_rsa"
# expect 1 any.credentials
