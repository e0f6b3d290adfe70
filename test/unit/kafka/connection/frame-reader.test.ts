import { expect } from 'chai'
import fc from 'fast-check'
import { FrameReader } from '../../../../src/kafka/connection/frame-reader.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { frameOf } from '../../../support/frame-server.ts'

function read(chunks: readonly Buffer[], bytesMax = 1_000_000): Buffer[] {
  const frames: Buffer[] = []
  const reader = new FrameReader(bytesMax, frame => frames.push(frame))
  for (const chunk of chunks) reader.push(chunk)
  return frames
}

function refusal(firstBytes: string): MillraceError {
  try {
    read([Buffer.from(firstBytes, 'hex')])
  } catch (error) {
    if (error instanceof MillraceError) return error
  }
  throw new Error('accepted')
}

describe('FrameReader', () => {
  it('puts frames together from chunks cut anywhere', () => {
    const frame = fc.uint8Array({ minLength: 4, maxLength: 300 }).map(bytes => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(2_500), { maxLength: 30 }), (frames, cuts) => {
        const wire = Buffer.concat(frames.map(frameOf))
        const ends = [...cuts.filter(cut => cut < wire.length).toSorted((a, b) => a - b), wire.length]
        const chunks = ends.map((end, index) => wire.subarray(ends[index - 1] ?? 0, end))
        expect(read(chunks).map(each => each.toString('hex'))).to.deep.equal(frames.map(each => each.toString('hex')))
      }),
    )
  })

  it('gives frames memory of their own, so that no chunk is kept alive by a slice of it', () => {
    const chunk = frameOf(Buffer.from('00000001aabb', 'hex'))
    const [frame] = read([chunk])
    chunk.fill(0)
    expect(frame?.toString('hex')).to.equal('00000001aabb')
  })

  it('puts a frame where it is told to', () => {
    const place = Buffer.alloc(10)
    const frames: Buffer[] = []
    const reader = new FrameReader(
      100,
      frame => frames.push(frame),
      length => place.subarray(0, length),
    )
    reader.push(frameOf(Buffer.from('00000001aabb', 'hex')))
    expect(frames).to.deep.equal([Buffer.from('00000001aabb', 'hex')])
    expect(frames[0]?.buffer).to.equal(place.buffer)
  })

  it('refuses a frame above its bound before any memory is taken for it', () => {
    const reader = new FrameReader(100, () => expect.fail('a frame'))
    expect(() => {
      reader.push(frameOf(Buffer.alloc(101)))
    }).to.throw(MillraceError, /claims 101 bytes/)
  })

  it('refuses lengths that hold no correlation id', () => {
    expect(refusal('00000003').code).to.equal('PROTOCOL_VIOLATION')
    expect(refusal('ffffffff').code).to.equal('PROTOCOL_VIOLATION')
  })

  it('recognises a TLS alert and an HTTP answer', () => {
    expect(refusal('15030300020250').message).to.match(/answered with TLS/)
    expect(refusal(Buffer.from('HTTP/1.1 400').toString('hex')).message).to.match(/HTTP/)
  })
})
