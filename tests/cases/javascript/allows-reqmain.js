if (require.main === module) { main() }
module.exports = {a: 1}
exports[k] = v
