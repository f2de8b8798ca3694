type Event = `on${'Click' | 'Key'}`;
const handlers: Partial<Record<Event, () => string>> = { onClick: () => 'clicked' };
console.log(handlers.onClick?.(), handlers.onKey?.());
