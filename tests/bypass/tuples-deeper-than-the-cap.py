import os
((((((((((((((((((((((((((((((m,),),),),),),),),),),),),),),),),),),),),),),),),),),),),),) = ((((((((((((((((((((((((((((((os,),),),),),),),),),),),),),),),),),),),),),),),),),),),),),)
m.system('id')
# expect 3 py.process
# known-miss: targets deeper than a cap bind nothing and nobody says so
