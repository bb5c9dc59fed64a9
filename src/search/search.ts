import { findCustomer, type PresentCustomer } from '../../projections/customers.ts'
import { isPartOf } from '../../projections/licenses/numbers.ts'
import {
  type FoundDevice,
  findDevicesById,
  findDevicesByIdStart,
  findDevicesByName,
} from '../../projections/search/devices.ts'
import {
  findLicensesByEnding,
  findLicensesByIds,
  findLicensesOfKey,
  findLicensesOfPerson,
  findLicensesOfRequest,
} from '../../projections/search/licenses.ts'
import { findLicensesByNumber, findSalesByNumber } from '../../projections/search/numbers.ts'
import {
  findCustomersOfPeople,
  findSalesByName,
  findSalesByStart,
  findSalesOfPeople,
} from '../../projections/search/people.ts'
import { isId } from '../credentials/id.ts'
import { endingsOf, isOwnKey, readKey } from '../credentials/license-key.ts'
import { sha256 } from '../credentials/sha256.ts'
import { Provider } from '../domain/integrations/provider.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { itemsOf } from '../domain/sales/items.ts'
import { idsOfSale } from '../domain/sales/numbers.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import { saleStream } from '../domain/streams.ts'
import { isStorable } from '../domain/values.ts'
import type { Ports } from '../ports.ts'
import type { RuntimeStatus } from '../verdicts/answer.ts'
import { statusOfKey } from '../verdicts/lookup.ts'
import { type FoundPeople, findByPersonPart, type PersonMatch } from './people.ts'

type LicenseMatch =
  | PersonMatch
  | 'key'
  | 'former key'
  | 'key ending'
  | 'license id'
  | 'sale id'
  | 'order number'
  | 'request id'

type SaleMatch = 'sale id' | 'order number'

/** The results of a search, at most {@link maxFound} of each kind, with the matched field. */
export type Found = {
  /** Without their seats. */
  licenses: {
    license: IssuedLicense
    by: LicenseMatch
    /** What a validate of the searched key is answered now; absent for other text, and while it is unreadable. */
    keyStatus?: RuntimeStatus | undefined
  }[]
  devices: (FoundDevice & { by: 'device id' | 'device name' })[]
  sales: { sale: KnownSale; by: PersonMatch | SaleMatch }[]
  customers: { customer: PresentCustomer; by: PersonMatch | 'customer id' }[]
  /** There are more results of some kind than are shown. */
  more: boolean
}

export const maxFound = 20
/** One more than shown, to detect that there are more. */
const maxResults = maxFound + 1
const maxQueryLength = 500
/** The length from which on ids are found by their beginning. */
const shortestStart = 3

type Stores = Ports<'db' | 'findForRuntime' | 'keyHashing' | 'now' | 'subjects'>

const nothing: Found = { licenses: [], devices: [], sales: [], customers: [], more: false }

/**
 * Searches for what a caller may name on the phone: a license key or its end, an id of keyledger's, an email
 * address, a part of an address or a name, a part of an order number or of a provider's id of a sale, a device's id or
 * its name, or the beginning of one of these. Text that may be a key is hashed first, and searched in other ways only if no license has it. Text in
 * the form of keyledger's own keys is never searched in clear.
 */
export async function search(ports: Stores, tenantId: string, query: string): Promise<Found> {
  const text = query.trim()
  if (text === '' || text.length > maxQueryLength || !isStorable(text)) return nothing
  const { db } = ports
  if (isId('lic', text)) return licensesFound('license id', await findLicensesByIds(db, tenantId, [text]))
  if (isId('req', text)) {
    return licensesFound('request id', await findLicensesOfRequest(db, tenantId, text, maxResults))
  }
  if (isId('cus', text)) {
    const entry = await findCustomer(db, tenantId, text)
    return { ...nothing, customers: entry ? [{ customer: entry.customer, by: 'customer id' }] : [] }
  }
  const key = readKey(text)
  const hashes = key && (await ports.keyHashing.hashesOf(tenantId, key))
  const holders = hashes === undefined ? [] : await findLicensesOfKey(db, tenantId, hashes)
  if (hashes !== undefined && holders.length > 0) {
    const licenses = holders.map(async ({ license, current }) => ({
      license,
      by: current ? ('key' as const) : ('former key' as const),
      keyStatus: await statusOfKey(ports, { tenantId, productId: license.productId, ...hashes }),
    }))
    return { ...nothing, licenses: await Promise.all(licenses) }
  }
  if (isOwnKey(text)) return nothing
  const [named, people] = await Promise.all([
    text.includes('@') ? findByEmail(ports, tenantId, text) : findByName(ports, tenantId, text),
    findByPersonPart(ports, tenantId, text),
  ])
  return withPeople(named, people)
}

/** Adds what belongs to the people whose address or name contains the text, after what is exactly that. */
function withPeople(named: Found, people: FoundPeople): Found {
  const all = {
    licenses: once([...named.licenses, ...people.licenses], ({ license }) => license.licenseId),
    sales: once([...named.sales, ...people.sales], ({ sale }) => sale.id),
    customers: once([...named.customers, ...people.customers], ({ customer }) => customer.customerId),
  }
  return {
    licenses: shown(all.licenses),
    sales: shown(all.sales),
    customers: shown(all.customers),
    devices: named.devices,
    more: named.more || people.more || Object.values(all).some(isMore),
  }
}

/** The first of those with the same id. */
function once<T>(all: readonly T[], idOf: (one: T) => string): T[] {
  const seen = new Set<string>()
  return all.filter((one) => !seen.has(idOf(one)) && seen.add(idOf(one)))
}

async function findByEmail({ db, subjects }: Stores, tenantId: string, email: string): Promise<Found> {
  const subjectId = await subjects.findSubject(tenantId, email)
  const [licenses, sales, customers, devices] = await Promise.all([
    subjectId === undefined ? [] : findLicensesOfPerson(db, tenantId, subjectId, maxResults),
    subjectId === undefined ? [] : findSalesOfPeople(db, tenantId, [subjectId], maxResults),
    subjectId === undefined ? [] : findCustomersOfPeople(db, tenantId, [subjectId], maxResults),
    findDevicesByName(db, tenantId, email, maxResults),
  ])
  return {
    licenses: shown(licenses).map((license) => ({ license, by: 'e-mail' })),
    devices: shown(devices).map((device) => ({ ...device, by: 'device name' })),
    sales: shown(sales).map((sale) => ({ sale, by: 'e-mail' })),
    customers: shown(customers).map((customer) => ({ customer, by: 'e-mail' })),
    more: [licenses, sales, customers, devices].some(isMore),
  }
}

/** What stands before the end of a number that is not shown whole, as in `••••4711`, or before a number, as in `#4711`. */
const beforeNumber = /^[#•…*.\s]+/

/** By a name or a number that others chose, or the end of a key. */
async function findByName({ db }: Stores, tenantId: string, name: string): Promise<Found> {
  const endings = endingsOf(name)
  const number = name.replace(beforeNumber, '')
  const streams = Provider.options.map((provider) => saleStream(tenantId, provider, sha256(name)))
  const isLong = name.length >= shortestStart
  const [byEnding, byId, byIdStart, byName, named, byOrderStart, numbered, imported] = await Promise.all([
    endings.length === 0 ? [] : findLicensesByEnding(db, tenantId, endings, maxResults),
    findDevicesById(db, tenantId, name, maxResults),
    isLong ? findDevicesByIdStart(db, tenantId, name, maxResults) : [],
    findDevicesByName(db, tenantId, name, maxResults),
    findSalesByName(db, tenantId, name, streams),
    isLong ? findSalesByStart(db, tenantId, name, maxResults) : [],
    findSalesByNumber(db, tenantId, number),
    findLicensesByNumber(db, tenantId, number),
  ])
  const sales = once([...named, ...byOrderStart, ...numbered.found], ({ id }) => id)
  const saleBy = new Map<string, SaleMatch>()
  for (const sale of shown(sales)) {
    const isId = sale.id === name || isPartOf(idsOfSale(sale), number)
    for (const { licenseId } of itemsOf(sale)) saleBy.set(licenseId, isId ? 'sale id' : 'order number')
  }
  const ofSales = await findLicensesByIds(db, tenantId, [...saleBy.keys()])
  const devices = once(
    [
      ...[...byId, ...byIdStart].map((device) => ({ ...device, by: 'device id' as const })),
      ...byName.map((device) => ({ ...device, by: 'device name' as const })),
    ],
    placeOf,
  )
  const licenses = once(
    [
      ...shown(byEnding).map((license) => ({ license, by: 'key ending' as const })),
      ...ofSales.map((license) => ({ license, by: saleBy.get(license.licenseId) ?? ('sale id' as const) })),
      ...imported.found.map((license) => ({ license, by: 'order number' as const })),
    ],
    ({ license }) => license.licenseId,
  )
  return {
    licenses: shown(licenses),
    devices: shown(devices),
    sales: shown(sales).map((sale) => ({ sale, by: saleBy.get(sale.licenseId) ?? 'sale id' })),
    customers: [],
    more: numbered.more || imported.more || [byEnding, licenses, devices, sales].some(isMore),
  }
}

const licensesFound = (by: LicenseMatch, licenses: readonly IssuedLicense[]): Found => ({
  ...nothing,
  licenses: shown(licenses).map((license) => ({ license, by })),
  more: isMore(licenses),
})

const placeOf = ({ license, seat }: FoundDevice): string => `${license.licenseId} ${seat.deviceId}`
const shown = <T>(all: readonly T[]): T[] => all.slice(0, maxFound)
const isMore = (all: readonly unknown[]): boolean => all.length > maxFound
