import importlib.metadata, importlib.resources
print(importlib.metadata.version('numpy'), importlib.resources.files('x'))
