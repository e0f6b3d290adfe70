/** One measured value with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Ending of the name, where one family has several series: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string
}

/** A metric with all its series. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

/** Families as Prometheus' text format 0.0.4; a family without samples is left out. */
export function exposition(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(family => `${headOf(family)}${family.samples.map(sample => lineOf(family.name, sample)).join('')}`)
    .join('')
}

function headOf({ name, help, type }: MetricFamily): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
}

function lineOf(name: string, { labels, value, suffix = '' }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
