import { MillraceError } from '../../model/errors.ts'

const LENGTH_BYTES = 4
/** A correlation id must fit. */
const FRAME_BYTES_MIN = 4

/** The first four bytes of a TLS alert record, the answer of a TLS listener to plain text. */
const TLS_ALERT = 0x15_03_00_00
const HTTP_TEXT = 0x48_54_54_50

/**
 * Cuts a stream of bytes into Kafka's frames: a 4-byte length, then the frame.
 * Each frame is one allocation of its known size that the chunks are copied into, so that a response of many
 * chunks costs its bytes once and no chunk is kept alive by a slice of it.
 */
export class FrameReader {
  readonly #bytesMax: number
  readonly #onFrame: (frame: Buffer) => void
  readonly #allocate: (length: number) => Buffer
  readonly #length = Buffer.alloc(LENGTH_BYTES)
  #lengthFilled = 0
  #frame: Buffer | undefined
  #frameFilled = 0

  /**
   * @param bytesMax - bound of one frame
   * @param onFrame - gets each whole frame, without its length; the frame is the receiver's to keep
   * @param allocate - gives a frame its memory, @default a buffer of its own
   */
  constructor(
    bytesMax: number,
    onFrame: (frame: Buffer) => void,
    allocate = (length: number): Buffer => Buffer.allocUnsafe(length),
  ) {
    this.#bytesMax = bytesMax
    this.#onFrame = onFrame
    this.#allocate = allocate
  }

  /** @throws MillraceError `PROTOCOL_VIOLATION` or `BROKER_UNREACHABLE` when a length is none that Kafka sends */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#frame === undefined) {
        at += this.#takeLength(chunk, at)
        continue
      }
      const frame = this.#frame
      const copied = chunk.copy(frame, this.#frameFilled, at)
      at += copied
      this.#frameFilled += copied
      if (this.#frameFilled === frame.length) {
        this.#frame = undefined
        this.#onFrame(frame)
      }
    }
  }

  #takeLength(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#length, this.#lengthFilled, at)
    this.#lengthFilled += copied
    if (this.#lengthFilled < LENGTH_BYTES) return copied
    this.#lengthFilled = 0
    const length = this.#length.readInt32BE(0)
    if (length < FRAME_BYTES_MIN || length > this.#bytesMax) throw refusedLength(length, this.#bytesMax)
    this.#frame = this.#allocate(length)
    this.#frameFilled = 0
    return copied
  }
}

function refusedLength(length: number, bytesMax: number): MillraceError {
  if ((length & 0xff_ff_00_00) === TLS_ALERT) {
    return new MillraceError('BROKER_UNREACHABLE', {
      what: 'The listener answered with TLS, but security.protocol is without TLS.',
      action: 'Set security.protocol to SSL or SASL_SSL, or use the plain listener.',
    })
  }
  if (length === HTTP_TEXT) {
    return new MillraceError('BROKER_UNREACHABLE', {
      what: 'The listener answered with HTTP: it is no Kafka broker.',
      action: 'Correct bootstrap.servers.',
    })
  }
  return new MillraceError('PROTOCOL_VIOLATION', {
    what: `A response claims ${String(length)} bytes; between ${String(FRAME_BYTES_MIN)} and ${String(bytesMax)} are allowed. The listener may not speak Kafka's protocol.`,
  })
}
