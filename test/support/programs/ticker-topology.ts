import { streams, string } from '../../../src/index.ts'

const name = process.env['TICKER_NAME'] ?? 'ticker'
const input = process.env['TICKER_INPUT'] ?? 'in'
const output = process.env['TICKER_OUTPUT'] ?? 'out'

/** Writes nothing for what it reads, and `<name>:<number>` every 100 ms: all its transactions after the input are punctuations'. */
export default streams(builder => {
  builder
    .stream(input, { key: string, value: string })
    .process({
      init: ({ schedule, forward, taskId }) => {
        let ticks = 0
        schedule({ every: 100, by: 'wallClock' }, () => {
          ticks += 1
          forward({ key: taskId, value: `${name}:${String(ticks)}` })
        })
        return () => undefined
      },
    })
    .to(output)
})
