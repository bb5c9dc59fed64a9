import canonicalize from 'canonicalize'
import { z } from 'zod'
import { sha256 } from './keys.ts'
import { leafOf } from './tree.ts'

const Fields = z.record(z.string(), z.unknown())

/** A record of the log, as the published format has it. */
export const EventRecord = z.object({
  stream: z.string(),
  revision: z.int(),
  id: z.string(),
  type: z.string(),
  data: Fields,
  metadata: Fields,
})
export type EventRecord = z.infer<typeof EventRecord>

/** The canonical form of RFC 8785. */
export function canonical(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('this has no canonical form')
  return text
}

const saltIn = ({ metadata }: EventRecord): string | undefined => {
  const salt = metadata.salt
  return typeof salt === 'string' && /^[0-9a-f]{32}$/.test(salt) ? salt : undefined
}

export const isSalted = (record: EventRecord): boolean => saltIn(record) !== undefined

const without = (fields: Record<string, unknown>, name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name))

/** The open part of a salted record: all but the salt and the hash of the key. */
export const openOf = (record: EventRecord): string =>
  canonical({ ...record, metadata: without(record.metadata, 'salt'), data: without(record.data, 'keyHash') })

/** The hash of the sealed part of a salted record, in hexadecimal. */
export function sealedOf(record: EventRecord): string {
  const { keyHash } = record.data
  const salt = saltIn(record)
  return hex(canonical(keyHash === undefined ? { salt } : { keyHash, salt }))
}

const hex = (text: string): string => sha256(Buffer.from(text)).toString('hex')

/** What the leaf of a record is made of. */
export function entryOf(record: EventRecord): string {
  if (!isSalted(record)) return canonical(record)
  const { stream, revision, type } = record
  return canonical({ leaf: 2, stream, revision, type, open: hex(openOf(record)), sealed: sealedOf(record) })
}

export const recordLeaf = (record: EventRecord): Buffer => leafOf(entryOf(record))

/** What a line of events shows of a record; its id, cause and salt stay away where the whole record is withheld. */
export const shownOf = ({ stream, revision, id, type, data, metadata }: EventRecord, position: string) => ({
  stream,
  revision,
  position,
  id,
  type,
  metadata,
  data: without(data, 'keyHash'),
})
