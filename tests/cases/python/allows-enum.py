import enum
class C(enum.Enum):
    A=1
print(C.A.name, C['A'])
