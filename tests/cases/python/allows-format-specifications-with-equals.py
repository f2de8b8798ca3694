title, width, n = "abc", 20, 3
print(f"{title:=^40}")
print(f"{' Results ':=^60}", F'{title!r:=>{width}}', rf"{n:=+5d}\d")
print(f"{title:=<20}|{title:=>20}|{{{n:=^4}}}", f"{(m := 5)} {m:=}")
print(f"""{
    title:=^9} {f'{n:=^4}'} { {'a': 1}['a']:=^5}""")
if (k := 5) > n:
    print(k)  # f"{k:=^4}
