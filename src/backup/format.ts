import { z } from 'zod'

/** Grows when a reader of the former version could not restore what is written. */
export const formatVersion = 1

/** What stands first in a backup file, and is all that a reader of another version has to understand. */
export const headerName = 'keyledger-backup.json'
export const manifestName = 'manifest.json'
/** Last in the file, so a file that has it is whole. In the format of sha256sum. */
export const checksumName = 'manifest.sha256'

export const Header = z.looseObject({ format: z.int().positive(), keyledger: z.string() })

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const Part = z.strictObject({ name: z.string().min(1), bytes: z.int().nonnegative(), sha256 })

const Table = z.strictObject({
  /** `vault.secrets` */
  name: z.string().regex(/^(vault|usage)\.[a-z_]+$/),
  columns: z.array(z.string().regex(/^[a-z_][a-z0-9_]*$/)).min(1),
  rows: z.int().nonnegative(),
})
export type Table = z.infer<typeof Table>

/** What a backup holds. */
export const Manifest = z.strictObject({
  format: z.literal(formatVersion),
  id: z.uuid(),
  /** The version that wrote it. */
  keyledger: z.string(),
  createdAt: z.iso.datetime(),
  log: z.strictObject({
    events: z.int().nonnegative(),
    /** Of the first and the last event; null in an empty log. Together they tell which log this is, and how much of it. */
    firstEventId: z.string().nullable(),
    lastEventId: z.string().nullable(),
    /** Of the last event, in the store that was backed up. */
    headPosition: z.string().regex(/^\d+$/).nullable(),
    /** Over all events in order, as `createLogDigest` makes it. */
    sha256,
  }),
  tables: z.array(Table),
  /** The migrations that the database had, in order. */
  migrations: z.array(z.string()),
  parts: z.array(Part),
})
export type Manifest = z.infer<typeof Manifest>
export type Part = z.infer<typeof Part>

const tablePart = /^tables\/([a-z]+\.[a-z_]+)\/\d{6}\.copy\.zst$/
const logPart = /^log\/\d{6}\.jsonl\.zst$/

export const nameOfTablePart = (table: string, number: number): string =>
  `tables/${table}/${numbered(number)}.copy.zst`
export const nameOfLogPart = (number: number): string => `log/${numbered(number)}.jsonl.zst`
const numbered = (number: number): string => String(number).padStart(6, '0')

/** The table that a part belongs to; undefined for any other part. */
export const tableOf = (partName: string): string | undefined => tablePart.exec(partName)?.[1]
export const isOfLog = (partName: string): boolean => logPart.test(partName)
