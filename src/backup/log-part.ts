import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { RawEvent, RawEventToWrite } from '../ledger/raw/event.ts'

/**
 * Bytes are written as text when they are valid UTF-8, as keyledger's own always are, so that people can read
 * the file.
 */
const Bytes = z.union([z.string(), z.strictObject({ base64: z.base64() })])
type Bytes = z.infer<typeof Bytes>

const Line = z.strictObject({
  stream: z.string().min(1),
  revision: z.int().nonnegative(),
  /** The position in the store that was backed up. */
  position: z.string().regex(/^\d+$/),
  id: z.uuid(),
  type: z.string().min(1),
  json: z.boolean(),
  data: Bytes,
  metadata: Bytes,
})

/** Encodes an event as a line of a backup. */
export function lineOf({ isJson, position, data, metadata, stream, revision, id, type }: RawEvent): string {
  const line: z.infer<typeof Line> = {
    stream,
    revision,
    position: String(position),
    id,
    type,
    json: isJson,
    data: written(data),
    metadata: written(metadata),
  }
  return `${JSON.stringify(line)}\n`
}

/** Decodes the events of a part, in order. @throws ZodError, SyntaxError */
export function eventsIn(part: Uint8Array): RawEvent[] {
  const lines = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString().split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const { json, position, data, metadata, ...event } = Line.parse(JSON.parse(line))
      return {
        ...event,
        isJson: json,
        position: BigInt(position),
        data: read(data),
        metadata: read(metadata),
      }
    })
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function written(bytes: Uint8Array): Bytes {
  try {
    return strict.decode(bytes)
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') }
  }
}

const read = (written: Bytes): Uint8Array =>
  typeof written === 'string' ? Buffer.from(written) : Buffer.from(written.base64, 'base64')

/**
 * Creates a digest of events in order, the same for every copy of a log: SHA-256 over, for each event, the JSON
 * of `[stream, revision, id, type, isJson, bytes of data, bytes of metadata]`, a line feed, the data and the
 * metadata.
 */
export function createLogDigest() {
  const hash = createHash('sha256')
  return {
    add({ stream, revision, id, type, isJson, data, metadata }: RawEventToWrite): void {
      hash.update(`${JSON.stringify([stream, revision, id, type, isJson, data.length, metadata.length])}\n`)
      hash.update(data)
      hash.update(metadata)
    },
    hex: (): string => hash.digest('hex'),
  }
}
