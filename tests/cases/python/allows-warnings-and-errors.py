import traceback
import warnings
class AppError(Exception):
    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code
try:
    try:
        raise AppError('x', code=2)
    except AppError as e:
        raise ValueError('y') from e
except ValueError as e:
    print(e.__cause__, e.args, traceback.format_exc() != '')
warnings.warn('z')
with warnings.catch_warnings():
    warnings.simplefilter('ignore')
