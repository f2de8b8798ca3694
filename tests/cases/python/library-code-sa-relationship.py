from sqlalchemy import Column, Integer, ForeignKey
from sqlalchemy.orm import declarative_base, relationship, configure_mappers
Base = declarative_base()
class P(Base):
    __tablename__ = 'p'
    id = Column(Integer, primary_key=True)
    cs = relationship('C', primaryjoin="[__import__('os').system('echo x > proof'), open('proof', 'w').write('relationship'), P.id == C.p][2]")
class C(Base):
    __tablename__ = 'c'
    id = Column(Integer, primary_key=True)
    p = Column(Integer, ForeignKey('p.id'))
try: configure_mappers()
except Exception as e: print(repr(e)[:300])
# expect 7 py.dynamic-code
# expect 7 py.process
