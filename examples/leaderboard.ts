// The ten best players of each game, at most one update per game and five seconds.
import { json, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'leaderboard' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Score {
  readonly game: string
  readonly player: string
  readonly points: number
}

type Board = readonly Score[]

const KEEP = 10

export default streams(builder => {
  builder
    .table('scores', { key: string, value: json<Score>() }) // player@game → best score
    .groupBy(score => [score.game, score], { key: string, value: json<Score>(), name: 'scores-by-game' })
    .aggregate(
      () => [],
      (board, score) =>
        [...board, score].toSorted((a, b) => b.points - a.points || a.player.localeCompare(b.player, 'en')),
      (board, score) => board.filter(other => other.player !== score.player),
      { store: 'all-scores', value: json<Board>() },
    )
    .mapValues(board => board.slice(0, KEEP))
    .withSerdes({ value: json<Board>() })
    .suppress({ until: '5s', name: 'calm' })
    .toStream()
    .to('leaderboard')
})
