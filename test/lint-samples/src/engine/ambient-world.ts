export const now = (): number => Date.now()
export const chance = (): number => Math.random()
export const variable = (): string | undefined => process.env['NAME']
export const later = (callback: () => void): NodeJS.Timeout => setTimeout(callback, 10)
