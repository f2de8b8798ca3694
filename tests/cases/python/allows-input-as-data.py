import csv
import json
import sys

name = input("name? ")
rows = list(csv.reader(sys.stdin))
for line in sys.stdin:
    print(name, line.strip().split(","))
data = sys.stdin.buffer.read()
print(len(data), json.loads(data or "null"), int(sys.stdin.readline() or 0))
