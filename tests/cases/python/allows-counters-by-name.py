import string
from collections import Counter
text = 'the cat the'
counts = Counter(w.strip(string.punctuation) for w in text.split())
print(counts.most_common(1), {**counts}, dict(counts))
