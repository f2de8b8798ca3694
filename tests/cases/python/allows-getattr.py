getattr(x, 'name')
