const EventEmitter = require('events');
class Chat extends EventEmitter {
  say(m) { this.emit('message', m); }
}
const c = new Chat();
c.on('message', (m) => console.log(m));
c.once('message', console.log);
c.say('hi');
