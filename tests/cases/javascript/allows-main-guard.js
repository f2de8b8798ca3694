function main() { console.log(process.argv.length > 1); }
if (require.main === module) main();
module.exports = { main };
