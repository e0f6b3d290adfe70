// The spec reporter plus one plain closing line: `N passed, N failed` (`, N skipped` when any are pending).
const { reporters, Runner } = require('mocha')

module.exports = class ClosingLine extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats
      const skipped = pending > 0 ? `, ${pending} skipped` : ''
      process.stdout.write(`${passes} passed, ${failures} failed${skipped}\n`)
    })
  }
}
