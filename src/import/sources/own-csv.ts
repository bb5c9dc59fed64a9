import { z } from 'zod'
import { withoutPrefix } from '../../domain/csv.ts'
import { boundedJson } from '../../domain/json-bounds.ts'
import { exportColumns } from '../../http/licenses/export-columns.ts'

type Cells = Readonly<Record<string, string>>

/** Whether a line is of an export of keyledger, to which its vendor has added the keys: an export has them masked. */
export const isOwnExport = (cells: Cells): boolean => 'displayKey' in cells && 'keyTypeId' in cells

/** Whether a column is one that an export of keyledger has. */
export const isOwnColumn = (name: string): boolean => Object.hasOwn(exportColumns, name)

const Metadata = z.record(z.string(), z.string())

/**
 * The fields of a line of an export, by the names of the columns that an import has. The other columns say what follows from its
 * key type, its customer or its sale, and are left out. An empty cell says there that there is no end and no limit.
 * @returns undefined when its metadata cannot be read
 */
export function ownFields(cells: Cells): Record<string, string> | undefined {
  const text = (name: string) => withoutPrefix(cells[name] ?? '')
  const metadata = Metadata.safeParse(jsonOf(text('metadata') || '{}'))
  if (!metadata.success) return undefined
  const waits = text('startsWith') !== ''
  const fields = {
    externalId: text('id'),
    product: text('productId'),
    plan: text('keyTypeId'),
    keyTypeId: text('keyTypeId'),
    status: text('status'),
    quantity: text('quantity'),
    seats: text('deviceLimit') || 'unlimited',
    expiresAt: text('expiresAt') || (waits ? '' : 'never'),
    updatesUntil: text('updatesUntil') || 'never',
    email: text('email'),
    customerId: text('customerId'),
    createdAt: text('createdAt'),
    startsWith: text('startsWith'),
  }
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
    ...Object.fromEntries(Object.entries(metadata.data).map(([key, value]) => [`metadata.${key}`, value])),
  }
}

/** More than the metadata of a license has. */
const jsonOf = (text: string): unknown => boundedJson(text, 1000)
