import random
random.seed(1)
print(random.choice(['a', 'b']), random.sample(range(9), 2), random.shuffle([1]), random.Random(2).random())
