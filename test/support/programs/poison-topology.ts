import { streams, string } from '../../../src/index.ts'

const input = process.env['POISON_INPUT'] ?? 'in'

/** Copies records, and breaks at the value `poison`. */
export default streams(builder => {
  builder
    .stream(input, { key: string, value: string })
    .mapValues(value => {
      if (value === 'poison') throw new RangeError('this record cannot be processed')
      return value
    })
    .to(`${input}-out`, { value: string })
})
