export const read = (value: any): number => value.length as number
export const first = (list: readonly string[]): string => list[0]!
