const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

/** A length of time for people, in its two largest units: `4.2s`, `12m 5s`, `3h 0m`, `2d 7h`. */
export function ageText(ms: number): string {
  if (ms < 60_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)}s`
  const largest = UNITS.findIndex(([, unitMs]) => ms >= unitMs)
  const [unit = 'm', unitMs = 60_000] = UNITS[largest] ?? []
  const [smaller = 's', smallerMs = 1_000] = UNITS[largest + 1] ?? []
  return `${String(Math.floor(ms / unitMs))}${unit} ${String(Math.floor((ms % unitMs) / smallerMs))}${smaller}`
}
