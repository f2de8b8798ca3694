import datetime as dt
import decimal
import fractions
import math
print(dt.datetime(2020, 1, 1) + dt.timedelta(days=1), decimal.Decimal('1.1'), fractions.Fraction(1, 3), math.gcd(4, 6), dt.date.fromisoformat('2020-01-01').strftime('%Y'))
