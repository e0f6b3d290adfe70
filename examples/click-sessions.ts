// One final summary per visit. A visit ends after 30 minutes without a click; five more minutes are left for late clicks.
import { json, type MillraceConfig, sessionWindowed, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'click-sessions' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Click {
  readonly page: string
}

interface Visit {
  readonly clicks: number
  readonly entry: string
  readonly exit: string
}

export default streams(builder => {
  builder
    .stream('clicks', { key: string, value: json<Click>() })
    .groupByKey()
    .windowedBy({ session: '30m', grace: '5m' }, { emit: 'final' })
    .aggregate(
      () => ({ clicks: 0, entry: '', exit: '' }),
      (visit, { page }) => ({ clicks: visit.clicks + 1, entry: visit.entry || page, exit: page }),
      (earlier, later) => ({
        clicks: earlier.clicks + later.clicks,
        entry: earlier.entry || later.entry,
        exit: later.exit || earlier.exit,
      }),
      // A final result needs its session still kept when the next click comes, even hours later.
      { store: 'visits', value: json<Visit>(), retention: '1d' },
    )
    .toStream()
    .to('visits', { key: sessionWindowed(string) })
})
