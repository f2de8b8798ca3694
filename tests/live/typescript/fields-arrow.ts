class Button { clicks = 0; click = () => { this.clicks++; return this.clicks; }; }
const { click } = new Button();
click();
console.log(click());
