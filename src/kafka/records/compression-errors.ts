import { MillraceError, reasonOf } from '../../model/errors.ts'

/** @throws PROTOCOL_VIOLATION: the bytes are not what the codec writes */
export function damaged(codec: string, cause: unknown): never {
  throw new MillraceError('PROTOCOL_VIOLATION', {
    what: `A batch cannot be decompressed as ${codec}: ${reasonOf(cause)}.`,
    cause,
  })
}

/** @throws PROTOCOL_VIOLATION: a small batch that grows without bound is an attack or damage */
export function tooLarge(codec: string): never {
  throw new MillraceError('PROTOCOL_VIOLATION', { what: `A batch compressed as ${codec} is beyond the bound.` })
}
