import { MillraceStreams, type MillraceConfig } from '../../../src/index.ts'

// A program that uses the library: its topology writes by the clock. TICKER_CONFIG is the configuration as JSON.
const config = JSON.parse(process.env['TICKER_CONFIG'] ?? '{}') as MillraceConfig
const ticker = new MillraceStreams({
  topology: new URL('./ticker-topology.js', import.meta.url),
  config: { ...config, streams: { ...config.streams, 'state.dir': process.env['STATE_DIR'] ?? './state' } },
})
process.on('SIGTERM', () => void ticker.close())
await ticker.start()
await ticker.closed
