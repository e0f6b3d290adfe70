import { MillraceError } from '../../model/errors.ts'

/** `host:port,host:port` as addresses. @throws CONFIG_INVALID */
export function parseAddresses(servers: string): readonly { readonly host: string; readonly port: number }[] {
  return servers.split(',').map(server => {
    const match = /^\s*(.+):(\d+)\s*$/.exec(server)
    if (match?.[1] === undefined) {
      throw new MillraceError('CONFIG_INVALID', {
        what: `"${server}" is no address of a broker; write host:port.`,
      })
    }
    return { host: match[1].replaceAll(/^\[|\]$/g, ''), port: Number(match[2]) }
  })
}
