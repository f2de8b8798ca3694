try:
    1 / 0
except ZeroDivisionError as e:
    print(f'{e.__class__.__name__}: {e}', '{0.__class__.__name__}'.format(e), type(e).__name__)
