/** A number with its noun: `1 member`, `2 members`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${String(number)} ${number === 1 ? one : many}`
}
