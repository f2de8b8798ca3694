import keyring
print(keyring.get_password('a', 'b'))
# expect 1 py.credentials
