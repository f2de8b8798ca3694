class T:
    def run(self):
        return evaluate(1)
def go(tokens):
    return compile(tokens)
def compile(tokens):
    return tokens
print(go([1]))
def train():
    for e in range(3):
        exec(e)

def exec(e):
    print(e)

if __name__ == '__main__':
    train()
