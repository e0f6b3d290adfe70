import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { createLogger, type LoggingOptions } from '../../../src/ops/logging.ts'

function linesOf(format: LoggingOptions['format'], level: LoggingOptions['level'] = 'info') {
  const lines: string[] = []
  const logger = createLogger({ level, format, stream: { write: (line: string) => void lines.push(line) } })
  return { logger, lines }
}

describe('logging', () => {
  it('writes one JSON object per line with level, time, fields and sentence', () => {
    const { logger, lines } = linesOf('json')
    logger.info({ applicationId: 'totals' }, 'Started')
    expect(lines).to.have.length(1)
    expect(JSON.parse(lines[0] ?? '')).to.include({ level: 'info', applicationId: 'totals', msg: 'Started' })
    expect(lines[0]?.endsWith('\n')).to.equal(true)
  })

  for (const format of ['json', 'pretty'] as const) {
    it(`keeps a forged line break on its line (${format})`, () => {
      const { logger, lines } = linesOf(format)
      logger.warn({ topic: 'a\nERROR forged' }, 'Topic a\r\nERROR forged\u2028and more')
      expect(
        lines
          .join('')
          .trimEnd()
          .split(/[\n\r\u2028]/),
      ).to.have.length(1)
    })

    it(`prints no secret (${format})`, () => {
      const { logger, lines } = linesOf(format)
      logger.info(
        { password: 'hunter2', sasl: { password: 'hunter2' }, kafka: { 'sasl.password': 'hunter2' } },
        'Connected',
      )
      expect(lines.join('')).to.include('***').and.not.to.include('hunter2')
    })
  }

  it('leaves out what is below its level', () => {
    const { logger, lines } = linesOf('json', 'warn')
    logger.debug({}, 'no')
    logger.info({}, 'no')
    logger.error({}, 'yes')
    expect(lines).to.have.length(1)
  })

  it('tells code, place and action of an error, and no stack unless the fault is ours', () => {
    const { logger, lines } = linesOf('json')
    logger.error({ err: new MillraceError('TOPIC_MISSING', { topic: 'orders' }) }, 'Stopped')
    logger.error({ err: new MillraceError('INTERNAL', { cause: new Error('x') }) }, 'Stopped')
    const [missing, internal] = lines.map(line => JSON.parse(line) as { err: Record<string, unknown> })
    expect(missing?.err).to.include({ code: 'TOPIC_MISSING', topic: 'orders' })
    expect(missing?.err).not.to.have.property('stack')
    expect(internal?.err).to.have.property('stack')
  })

  it('bounds long texts', () => {
    const { logger, lines } = linesOf('json')
    logger.info({ text: 'x'.repeat(100_000) }, 'y'.repeat(100_000))
    expect(lines[0]?.length).to.be.lessThan(10_000)
  })
})
