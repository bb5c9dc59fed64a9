import { z } from 'zod'
import { keyHashOf } from '../../credentials/license-key.ts'
import { boundedJson } from '../../domain/json-bounds.ts'
import { EntitlementValue, type EntitlementValues } from '../../domain/products/entitlement-values.ts'
import type { ExportItem } from '../files/items.ts'
import { type ForeignLicense, plainLicense, policyNamed, type Unusable } from '../foreign.ts'
import { listIn, organizationIdOf, organizationPieces, organizationsOf } from './csv-organizations.ts'
import { isoOf } from './moments.ts'
import { isOwnColumn, isOwnExport, ownFields } from './own-csv.ts'
import type { Piece, Shared, Source } from './source.ts'

/** The columns that are known, in the order of the documentation. */
export const csvColumns = [
  'licenseKey',
  'externalId',
  'product',
  'plan',
  'email',
  'name',
  'organization',
  'administrators',
  'members',
  'createdAt',
  'expiresAt',
  'updatesUntil',
  'status',
  'seats',
  'quantity',
  'entitlements',
  'entitlementValues',
  'devices',
] as const
export type CsvColumn = (typeof csvColumns)[number]

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
/** Other usual names of columns, for files that do not have the column under its own name. */
const aliases: readonly (readonly [string, CsvColumn])[] = [
  ['key', 'licenseKey'],
  ['serial', 'licenseKey'],
  ['created', 'createdAt'],
  ['expires', 'expiresAt'],
  ['expiry', 'expiresAt'],
  ['maintenanceUntil', 'updatesUntil'],
  ['maintenanceExpiresAt', 'updatesUntil'],
  ['deviceLimit', 'seats'],
  ['maxDevices', 'seats'],
  ['maxActivations', 'seats'],
]
const aliasOf = new Map<string, CsvColumn>(aliases.map(([name, column]) => [plain(name), column]))
const columnOf = new Map<string, CsvColumn>(csvColumns.map((column) => [plain(column), column]))
const prefix = 'metadata.'

const Cells = z.record(z.string(), z.string())
const statuses = ['active', 'suspended', 'expired', 'revoked', 'fallback'] as const
type Status = (typeof statuses)[number]
const isStatus = (text: string): text is Status => statuses.some((status) => status === text)

/**
 * A file that a vendor writes: one license a line. Any other column becomes metadata.
 * @param columns which column of the file each known column is, where the names differ
 */
export function csvSource(columns: ReadonlyMap<string, CsvColumn> = new Map()): Source {
  const fieldOf = (name: string): CsvColumn | undefined => columns.get(name) ?? columnOf.get(plain(name))

  function pieceOf({ from, data }: ExportItem): Piece[] | string {
    const cells = Cells.safeParse(data)
    if (!cells.success) return 'The line is not a line of CSV.'
    const names = new Set(Object.keys(cells.data).map(fieldOf))
    const fieldOrAlias = (name: string) => {
      const alias = aliasOf.get(plain(name))
      return fieldOf(name) ?? (alias && !names.has(alias) ? alias : undefined)
    }
    const isOwn = isOwnExport(cells.data)
    const own = isOwn ? ownFields(cells.data) : {}
    if (!own) return 'Its metadata is not the JSON of an export.'
    const entries = Object.entries(cells.data).flatMap(([name, value]): [string, string][] => {
      if (isOwn && isOwnColumn(name)) return []
      const text = value.trim()
      if (text === '') return []
      return [[fieldOrAlias(name) ?? `${prefix}${name.replace(/^metadata\./i, '')}`, text]]
    })
    const row: Record<string, string> = { ...Object.fromEntries(entries), ...own }
    // Rows of one key meet, so that the second one is known to be double.
    const group = keyHashOf(row.licenseKey ?? '') ?? row.licenseKey ?? ''
    return [
      { kind: 'row', id: from, group: row.licenseKey === undefined ? from : group, from, data: row },
      ...organizationPieces(from, row),
    ]
  }

  return {
    name: 'csv',
    pieceOf,
    licensesIn(pieces, shared) {
      return pieces.map((piece, index): ForeignLicense | Unusable => {
        const row = Cells.parse(piece.data)
        const first = pieces[0]
        if (index === 0 || first === undefined) return licenseOf(piece.from, row, shared)
        const { externalId = null, licenseKey = null } = row
        const problem = `The same key as in ${first.from}.`
        return { from: piece.from, externalId, licenseKey, problem }
      })
    },
    policiesIn: () => [],
    organizationsIn: (shared) => [...organizationsOf(shared).values()],
    policyNamed,
  }
}

function licenseOf(from: string, row: Record<string, string>, shared: Shared): ForeignLicense | Unusable {
  const externalId = row.externalId ?? null
  const licenseKey = row.licenseKey ?? null
  const unusable = (problem: string) => ({ from, externalId, licenseKey, problem })
  if (licenseKey === null)
    return unusable("The line has no licenseKey. If the column has another name: --column 'Name=licenseKey'.")
  const status = (row.status ?? 'active').toLowerCase()
  if (!isStatus(status)) return unusable(`The status ${status} is not ${statuses.join(', ')}.`)
  const seats = numberOf(row.seats, /^(unlimited|none)$/i)
  const quantity = numberOf(row.quantity)
  if (seats === 'invalid' || quantity === 'invalid')
    return unusable('seats and quantity must be whole numbers from 1; seats may be unlimited.')
  const createdAt = isoOf(row.createdAt)
  const expiresAt = endOf(row.expiresAt)
  const updatesUntil = endOf(row.updatesUntil)
  if (createdAt === 'invalid' || expiresAt === 'invalid' || updatesUntil === 'invalid')
    return unusable(
      'createdAt, expiresAt and updatesUntil must be dates such as 2026-11-21 or 2026-11-21T09:30:00Z.',
    )
  const entitlementValues = valuesIn(row.entitlementValues)
  if (entitlementValues === 'invalid')
    return unusable(
      'entitlementValues must be JSON such as {"projects": 25, "tier": "gold"}: true, numbers, or text of up to 200 characters.',
    )
  return {
    ...plainLicense,
    from,
    externalId,
    licenseKey,
    productId: row.product ?? null,
    policyId: row.plan ?? null,
    keyTypeId: row.keyTypeId,
    entitlements: entitlementsOf(listIn(row.entitlements), entitlementValues),
    entitlementValues,
    email: row.email ?? null,
    name: row.name ?? null,
    organization: organizationsOf(shared).get(organizationIdOf(row) ?? ''),
    createdAt: createdAt ?? null,
    expiresAt,
    updatesUntil,
    status,
    seats,
    quantity: quantity ?? 1,
    devices: (listIn(row.devices) ?? []).map((deviceId) => ({ deviceId, name: null, lastSeen: null })),
    leftOut:
      row.startsWith === undefined ? [] : ['Its term has not begun yet; here it counts from its creation.'],
    metadata: Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) =>
        name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
      ),
    ),
  }
}

/** What has a value is an entitlement, also if it is not in the list of them. */
function entitlementsOf(
  listed: string[] | undefined,
  values: EntitlementValues | undefined,
): string[] | null {
  if (!listed && !values) return null
  return [...(listed ?? []), ...Object.keys(values ?? {})]
}

const Values = z.record(z.string(), EntitlementValue)

function valuesIn(text: string | undefined): EntitlementValues | undefined | 'invalid' {
  if (text === undefined) return undefined
  const read = Values.safeParse(boundedJson(text, 1000))
  return read.success ? read.data : 'invalid'
}

/** @returns null for a text that means "never" */
const endOf = (text: string | undefined) =>
  /^(never|perpetual|lifetime)$/i.test(text ?? '') ? null : isoOf(text)

/** @returns null for a text that means "no limit" */
function numberOf(text: string | undefined, unlimited?: RegExp): number | null | undefined | 'invalid' {
  if (text === undefined) return undefined
  if (unlimited?.test(text)) return null
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 'invalid'
}
