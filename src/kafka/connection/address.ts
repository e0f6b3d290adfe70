/** Where a broker listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** The text form for logs and messages, such as `kafka-1:9092` or `[::1]:9092`. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`
}
