import { z } from 'zod'

/** Increased when readers of the previous version could not restore a new backup. */
export const formatVersion = 1

/** The first entry of a backup file, and the only one that readers of any version must understand. */
export const headerName = 'keyledger-backup.json'
export const manifestName = 'manifest.json'
/** The last entry, so a file that has it is complete. In the format of sha256sum. */
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

/** The contents of a backup. */
export const Manifest = z.strictObject({
  format: z.literal(formatVersion),
  id: z.uuid(),
  /** The keyledger version that wrote it. */
  keyledger: z.string(),
  createdAt: z.iso.datetime(),
  log: z.strictObject({
    events: z.int().nonnegative(),
    /** Ids of the first and last event, null in an empty log. Together they identify the log and its length. */
    firstEventId: z.string().nullable(),
    lastEventId: z.string().nullable(),
    /** The position of the last event in the store that was backed up. */
    headPosition: z.string().regex(/^\d+$/).nullable(),
    /** The digest of all events in order, from `createLogDigest`. */
    sha256,
  }),
  tables: z.array(Table),
  /** The migrations applied to the database, in order. */
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

/** The table of a part; undefined for other parts. */
export const tableOf = (partName: string): string | undefined => tablePart.exec(partName)?.[1]
export const isOfLog = (partName: string): boolean => logPart.test(partName)
