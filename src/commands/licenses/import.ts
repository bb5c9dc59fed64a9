import { findLicensesByKey, findTakenBack } from '../../../projections/licenses/keys.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { forEachOf } from '../../async/for-each-of.ts'
import { foreignKey, type TypedKey } from '../../credentials/license-key.ts'
import type { Holder, LicenseTerms } from '../../domain/licenses/events.ts'
import { type TermsInput, termsFrom } from '../../domain/licenses/issue.ts'
import { licenses } from '../../domain/licenses/license.ts'
import type { Owned } from '../../domain/licenses/link.ts'
import type { LicenseStatus } from '../../domain/licenses/status.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { usingKeyType } from '../cross-stream/key-type-use.ts'
import { customersByAddress } from '../customers/by-address.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { type ForeignDevice, importedDevices } from './imported-devices.ts'
import { keepKey } from './keys.ts'

/** What an import of licenses uses. */
export type ImportPorts = Ports<
  | 'db'
  | 'deriveId'
  | 'deviceHashing'
  | 'execute'
  | 'keptKeys'
  | 'keyHashing'
  | 'keyTypes'
  | 'newId'
  | 'now'
  | 'planCapacity'
  | 'subjects'
>

/** A license that another system issued. Times are in UTC, in the format of the log. */
export type ForeignLicense = TermsInput & {
  licenseKey: string
  keyTypeId?: string | undefined
  email?: string | undefined
  name?: string | undefined
  /**
   * Its status in that system. Only `revoked` and `suspended` are recorded; any other must agree with the expiry
   * and the present time.
   */
  status?: LicenseStatus | undefined
  createdAt?: string | undefined
  metadata?: Record<string, string> | undefined
  devices?: readonly ForeignDevice[] | undefined
  /** The customer that it belongs to, which is there; the one with its address when absent. */
  customerId?: string | undefined
}

export type Imported =
  | { status: 'imported' | 'duplicate'; licenseId: string; displayKey: string }
  | { status: 'invalid'; refusal: RefusalCode }

/** A row that may be imported, unless its key is taken. */
type Candidate = {
  status: 'candidate'
  row: ForeignLicense
  licenseId: string
  terms: Omit<LicenseTerms, 'holder' | keyof Owned>
  /** The plain hash of its key, under which an earlier import may have recorded it. */
  plainHash: string
}

/** The hash under which a license records its key. */
type HashToStore = (key: TypedKey) => string

/** How many rows are imported concurrently: as many as the stores accept together. */
const atOnce = 64

/**
 * Imports licenses that another system issued. Rows are independent: one that fails does not affect the
 * others. A license's id is derived from the tenant and the key, so the first append to its stream claims the
 * key: of two imports of one key, one imports it and the other finds a duplicate.
 * @returns the outcome of each row, in the given order
 * @throws Refusal `plan_limit` when the plan has no capacity for any of their devices
 */
export async function importLicenses(
  ports: ImportPorts,
  product: PresentProduct,
  input: { rows: readonly ForeignLicense[]; plan: Plan },
  origin: Origin,
): Promise<Imported[]> {
  const at = momentOf(ports)
  const hashToStore = await ports.keyHashing.openStored(product.tenantId)
  const rows = input.rows.map((row) => plannedOrRefused(ports, product, hashToStore, row, at))
  const planned = await withUnusedIds(ports, product.tenantId, rows)
  const candidates = planned.filter((plan) => plan.status === 'candidate')
  const firstOfKey = new Map(candidates.toReversed().map((plan) => [plan.terms.keyHash, plan]))
  const taken = await findHolders(ports, product.tenantId, [...firstOfKey.values()])
  const mayBeNew = (plan: Candidate): boolean => {
    const holder = taken.get(plan.terms.keyHash)
    // An earlier request of the same run may have imported it.
    const own = origin.run?.resumed === true && holder === plan.licenseId
    return firstOfKey.get(plan.terms.keyHash) === plan && (holder === undefined || own)
  }
  const fresh = candidates.filter(mayBeNew)
  const imported = new Set<Candidate>()
  const refused = new Map<string, RefusalCode>()
  const take = async (plans: readonly Candidate[], proof?: Proof) => {
    const { tenantId } = product
    const holders = await sealedHolders(ports, tenantId, plans)
    const byAddress = plans.flatMap((plan) => (plan.row.customerId ? [] : (holders.get(plan) ?? [])))
    const ownedBy = await customersByAddress(ports, tenantId, byAddress, origin)
    await forEachOf(plans, atOnce, async (plan) => {
      const holder = holders.get(plan) ?? null
      const { customerId } = plan.row
      const owned = customerId === undefined ? ownedBy(holder) : { customerId }
      const held = { ...plan, terms: { ...plan.terms, holder, ...owned } }
      const outcome = await importOne(ports, product, held, origin, proof)
      if (outcome === 'imported') imported.add(plan)
      if (outcome === 'key_type_not_found') refused.set(plan.terms.keyHash, outcome)
    })
  }
  const counted = (plan: Candidate) => taken.has(plan.terms.keyHash)
  const beyond = await importWithinPlan(
    ports,
    { tenantId: product.tenantId, plan: input.plan },
    fresh,
    counted,
    take,
  )
  if (beyond.size > 0 && beyond.size === fresh.length) throw new Refusal('plan_limit')
  return planned.map((plan): Imported => {
    if (plan.status === 'invalid') return plan
    const { keyHash, displayKey } = plan.terms
    const refusal = beyond.has(firstOfKey.get(keyHash)) ? 'plan_limit' : refused.get(keyHash)
    if (refusal !== undefined) return { status: 'invalid', refusal }
    const licenseId = taken.get(keyHash) ?? plan.licenseId
    return { status: imported.has(plan) ? 'imported' : 'duplicate', licenseId, displayKey }
  })
}

export type Previewed = 'new' | 'duplicate' | number | { refusal: RefusalCode }

/**
 * What an import of these rows would do, without doing it: a plan's limit is not foreseen.
 * @returns for each row, in the given order, whether it is new, a duplicate of a license, or refused; the index of the
 *   first row with the same key when that one uses the key up
 */
export async function previewImport(
  ports: Ports<'db' | 'deriveId' | 'keyHashing' | 'now'>,
  product: PresentProduct,
  rows: readonly ForeignLicense[],
): Promise<Previewed[]> {
  const at = momentOf(ports)
  const hashToStore = await ports.keyHashing.openStored(product.tenantId)
  const planned = rows.map((row) => plannedOrRefused(ports, product, hashToStore, row, at))
  const candidates = planned.filter((plan) => plan.status === 'candidate')
  const firstOfKey = new Map<string, number>()
  const taken = await findHolders(ports, product.tenantId, candidates)
  return planned.map((plan, index): Previewed => {
    if (plan.status === 'invalid') return { refusal: plan.refusal }
    const { keyHash } = plan.terms
    if (taken.has(keyHash)) return 'duplicate'
    const first = firstOfKey.get(keyHash)
    if (first !== undefined) return first
    firstOfKey.set(keyHash, index)
    return 'new'
  })
}

/** The licenses that have or had the keys of these rows, by the hash that each row would record. */
async function findHolders(
  { db }: Ports<'db'>,
  tenantId: string,
  candidates: readonly Candidate[],
): Promise<Map<string, string>> {
  const hashes = candidates.flatMap(({ terms, plainHash }) => [terms.keyHash, plainHash])
  const found = await findLicensesByKey(db, tenantId, [...new Set(hashes)])
  return new Map(
    candidates.flatMap(({ terms: { keyHash }, plainHash }) => {
      const licenseId = found.get(keyHash) ?? found.get(plainHash)
      return licenseId === undefined ? [] : [[keyHash, licenseId] as const]
    }),
  )
}

function plannedOrRefused(
  ports: Ports<'deriveId'>,
  product: PresentProduct,
  hashToStore: HashToStore,
  row: ForeignLicense,
  at: string,
): Candidate | Extract<Imported, { status: 'invalid' }> {
  try {
    return planned(ports, product, hashToStore, row, at)
  } catch (error) {
    if (error instanceof Refusal) return { status: 'invalid', refusal: error.code }
    throw error
  }
}

/**
 * @throws Refusal `license_key_unusable`, `license_key_too_short`, `key_type_not_found`, `quantity_not_allowed`,
 *   `quantity_too_large`, `created_in_the_future`, `ends_before_it_begins`, `not_ended_yet`, `more_devices_than_seats`
 */
function planned(
  ports: Ports<'deriveId'>,
  product: PresentProduct,
  hashToStore: HashToStore,
  row: ForeignLicense,
  at: string,
): Candidate {
  const key = foreignKey(row.licenseKey)
  if (key === 'unusable') throw new Refusal('license_key_unusable')
  if (key === 'too short') throw new Refusal('license_key_too_short')
  const keyType = row.keyTypeId ? findKeyType(product, row.keyTypeId) : product.keyTypes[0]
  if (!keyType) throw new Refusal('key_type_not_found')
  const createdAt = row.createdAt ?? at
  if (createdAt > at) throw new Refusal('created_in_the_future')
  const isOver = row.status === 'expired' || row.status === 'fallback'
  // No grace for what has ended in the other system, so that no ended license becomes active.
  const terms = termsFrom(isOver ? { ...keyType, graceSeconds: 0 } : keyType, row, createdAt)
  if (row.createdAt !== undefined && terms.expiresAt !== null && terms.expiresAt <= createdAt) {
    throw new Refusal('ends_before_it_begins')
  }
  const hasEnded = terms.expiresAt !== null && terms.expiresAt <= at
  if (isOver && !hasEnded) throw new Refusal('not_ended_yet')
  const devices = new Set(row.devices?.map(({ deviceId }) => deviceId))
  if (terms.deviceLimit !== null && devices.size > terms.deviceLimit) {
    throw new Refusal('more_devices_than_seats')
  }
  const keyHash = hashToStore(key)
  const licenseId = ports.deriveId('lic', product.tenantId, keyHash)
  return {
    status: 'candidate',
    row,
    licenseId,
    plainHash: key.keyHash,
    terms: {
      licenseId,
      tenantId: product.tenantId,
      productId: product.productId,
      keyTypeId: keyType.keyTypeId,
      keyHash,
      displayKey: key.displayKey,
      ...terms,
      onExpiry: keyType.onExpiry,
      source: 'import',
      saleId: null,
      test: false,
      metadata: row.metadata ?? {},
      createdAt,
      at,
    },
  }
}

/** An import that was undone has used up its id; the next license with that key gets the next id. */
async function withUnusedIds<Other extends { status: 'invalid' }>(
  ports: Ports<'db' | 'deriveId'>,
  tenantId: string,
  planned: readonly (Candidate | Other)[],
): Promise<(Candidate | Other)[]> {
  let current = [...planned]
  for (let life = 2; ; life++) {
    const ids = current.flatMap((plan) => (plan.status === 'candidate' ? plan.licenseId : []))
    const used = await findTakenBack(ports.db, ids)
    if (used.size === 0) return current
    current = current.map((plan) => {
      if (plan.status === 'invalid' || !used.has(plan.licenseId)) return plan
      const licenseId = ports.deriveId('lic', tenantId, plan.terms.keyHash, String(life))
      return { ...plan, licenseId, terms: { ...plan.terms, licenseId } }
    })
  }
}

/**
 * Imports rows while the plan has capacity for their devices, in order; a row that does not fit is skipped.
 * Reservations are small enough that others of the tenant do not wait long.
 * @param isCounted whether a row's devices are counted already
 * @returns the rows that were not imported
 */
async function importWithinPlan(
  ports: Ports<'planCapacity'>,
  place: { tenantId: string; plan: Plan },
  rows: readonly Candidate[],
  isCounted: (row: Candidate) => boolean,
  take: (rows: readonly Candidate[], proof?: Proof) => Promise<void>,
): Promise<Set<unknown>> {
  const needs = (row: Candidate) =>
    isCounted(row) ? 0 : new Set(row.row.devices?.map(({ deviceId }) => deviceId)).size
  const seating = Number.isFinite(planLimits[place.plan].activeDevices)
    ? rows.filter((row) => needs(row) > 0)
    : []
  const others = seating.length === 0 ? rows : rows.filter((row) => needs(row) === 0)
  await take(others)
  const beyond = new Set<unknown>()
  for (let from = 0; from < seating.length; from += atOnce) {
    const together = seating.slice(from, from + atOnce)
    const needed = together.reduce((sum, row) => sum + needs(row), 0)
    await ports.planCapacity.reserve({ ...place, what: 'activeDevices', needed }, async (granted, proof) => {
      let left = granted
      const within = together.filter((row) => {
        const fits = needs(row) <= left
        if (fits) left -= needs(row)
        else beyond.add(row)
        return fits
      })
      await take(within, proof)
    })
  }
  return beyond
}

type Proof = () => Promise<void>

/** The holders of rows that have one, sealed. */
async function sealedHolders(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  plans: readonly Candidate[],
): Promise<Map<Candidate, Holder>> {
  const held = plans.flatMap((plan) => {
    const { email, name = null } = plan.row
    return email === undefined ? [] : [{ plan, email, name }]
  })
  const sealed = await subjects.sealPeople(tenantId, held)
  return new Map(
    held.flatMap(({ plan }, index) => {
      const holder = sealed[index]
      return holder ? [[plan, holder] as const] : []
    }),
  )
}

type OneImported = 'imported' | 'duplicate' | 'key_type_not_found'

/** @returns `imported` also when an earlier request of the same run has imported it */
async function importOne(
  ports: Ports<'deviceHashing' | 'execute' | 'keptKeys' | 'keyTypes' | 'newId' | 'subjects'>,
  product: PresentProduct,
  { row, terms }: { row: ForeignLicense; terms: LicenseTerms },
  origin: Origin,
  capacityProof: Proof | undefined,
): Promise<OneImported> {
  const { licenseKey } = row
  await keepKey(ports, product, terms, { licenseKey, keyHash: terms.keyHash })
  const devices = await importedDevices(ports, terms, row.devices ?? [])
  const revoked = row.status === 'revoked'
  const suspended = row.status === 'suspended'
  try {
    const { events, recordedBefore } = await usingKeyType(ports, terms, (proof) =>
      ports.execute(
        licenses,
        terms.licenseId,
        ({ status }) =>
          status === 'absent' ? { type: 'ImportLicense', terms, devices, revoked, suspended } : undefined,
        causeOf(origin, terms.at),
        {
          loaded: noStream(licenses),
          run: origin.run,
          proof: async () => void (await Promise.all([proof(), capacityProof?.()])),
        },
      ),
    )
    return events.length > 0 || recordedBefore === true ? 'imported' : 'duplicate'
  } catch (error) {
    if (error instanceof Refusal && error.code === 'key_type_not_found') return error.code
    throw error
  }
}
