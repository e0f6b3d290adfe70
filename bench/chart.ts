import { CONTENDERS } from './contenders/all.ts'
import { medianOf, type BenchResult, type ScenarioResult, steadyRate, valuesOf } from './result.ts'
import type { ContenderName } from './scenario.ts'
import type { Measurement } from './throughput-run.ts'
import { WORKLOADS } from './workloads.ts'

/** Who is drawn, and how: fills that can be told apart in grey, too. */
const FILLS: readonly { readonly contender: ContenderName; readonly fill: string }[] = [
  { contender: 'millrace', fill: '#1d6fb8' },
  { contender: 'millrace-tuned', fill: '#7db4e0' },
  { contender: 'streams', fill: '#c2571a' },
  { contender: 'streams-tuned', fill: '#eba97f' },
]

const WIDTH = 760
const LEFT = 170
const RIGHT = 90
const BAR = 15
const GAP = 18
const TOP = 44

/** Bars of the rates of the second half, a group per workload, with the lowest and highest round as a line. */
export function chartOf({ throughput }: BenchResult): string {
  const groups = throughput.filter(({ scenario }) => scenario.suite === 'workloads')
  const highest = Math.max(
    1,
    ...groups.flatMap(group => FILLS.flatMap(({ contender }) => valuesOf(group, contender, steadyRate))),
  )
  const scale = (WIDTH - LEFT - RIGHT) / highest
  const parts: string[] = []
  let y = TOP
  for (const group of groups) {
    const drawn = FILLS.filter(({ contender }) => valuesOf(group, contender, steadyRate).length > 0)
    const middle = y + (drawn.length * BAR) / 2 + 4
    parts.push(text(LEFT - 10, middle, WORKLOADS[group.scenario.workload].title, 'end'))
    for (const { contender, fill } of drawn) {
      parts.push(...bar(group, { contender, fill, y, scale }))
      y += BAR
    }
    y += GAP
  }
  const body = [...legend(), ...parts].map(line => `  ${line}`).join('\n')
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(y)}" font-family="sans-serif" font-size="12" fill="#333">`,
    '  <title>Thousand records per second by workload</title>',
    `  <rect width="100%" height="100%" fill="#fff"/>`,
    body,
    '</svg>',
  ].join('\n')}\n`
}

function bar(
  group: ScenarioResult<Measurement>,
  { contender, fill, y, scale }: { contender: ContenderName; fill: string; y: number; scale: number },
): string[] {
  const rate = medianOf(group, contender, steadyRate) ?? 0
  const rounds = valuesOf(group, contender, steadyRate)
  const [low, high] = [Math.min(...rounds) * scale + LEFT, Math.max(...rounds) * scale + LEFT]
  const middle = y + BAR / 2
  return [
    `<rect x="${String(LEFT)}" y="${number(y)}" width="${number(rate * scale)}" height="${String(BAR - 2)}" fill="${fill}"/>`,
    `<path d="M${number(low)} ${number(middle - 1)}H${number(high)}" stroke="#222"/>`,
    text(Math.max(high, rate * scale + LEFT) + 6, y + BAR - 4, (rate / 1_000).toFixed(0), 'start'),
  ]
}

function legend(): string[] {
  const step = (WIDTH - 40) / FILLS.length
  return FILLS.flatMap(({ contender, fill }, at) => [
    `<rect x="${number(20 + at * step)}" y="14" width="12" height="12" fill="${fill}"/>`,
    text(20 + at * step + 18, 24, CONTENDERS[contender].title, 'start'),
  ])
}

function text(x: number, y: number, content: string, anchor: 'start' | 'end'): string {
  return `<text x="${number(x)}" y="${number(y)}" text-anchor="${anchor}">${content}</text>`
}

/** A tenth of a pixel is enough, and keeps the file the same on every machine. */
function number(value: number): string {
  return String(Math.round(value * 10) / 10)
}
