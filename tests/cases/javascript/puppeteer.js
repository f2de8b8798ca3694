const puppeteer = require('puppeteer');
puppeteer.launch();
// expect 1 any.browser
