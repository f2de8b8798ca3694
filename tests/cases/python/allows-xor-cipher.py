def xor(data, key):
    return bytes(b ^ key[i % len(key)] for i, b in enumerate(data))
print(xor(xor(b'hello', b'k'), b'k'))
