import hashlib, psutil
print(hashlib.md5(b'a').hexdigest(), vars(), psutil)
