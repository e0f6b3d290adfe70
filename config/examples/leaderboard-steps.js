// The functions of leaderboard.yaml that need code: sorting and cutting.

/**
 * @typedef {{ readonly game: string, readonly player: string, readonly points: number }} Score
 */

/**
 * Adds a score and keeps the board sorted, the best first.
 *
 * @param {readonly Score[]} board
 * @param {Score} score
 * @returns {readonly Score[]}
 */
export function insert(board, score) {
  return [...board, score].toSorted((a, b) => b.points - a.points || a.player.localeCompare(b.player, 'en'))
}

/**
 * The ten best.
 *
 * @param {readonly Score[]} board
 * @returns {readonly Score[]}
 */
export function top(board) {
  return board.slice(0, 10)
}
