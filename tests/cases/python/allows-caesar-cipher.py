def caesar(text, n):
    return ''.join(chr((ord(c) - 97 + n) % 26 + 97) if c.islower() else c for c in text)
print(caesar('hello', 3), caesar(caesar('hello', 3), -3), 'abc'.translate(str.maketrans('abc', 'xyz')))
