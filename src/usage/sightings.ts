import type { Pool } from 'pg'
import { createDelayed } from '../async/delayed.ts'
import type { KeySharing } from '../domain/products/key-sharing.ts'
import { plainAddress } from '../limits/address.ts'
import type { TenantKeys } from '../vault/tenant-keys.ts'
import type { Countries } from './countries.ts'
import { hashOfNetwork, listOf, networkOf } from './networks.ts'

/** The product, license and device of a call. The device is empty for a validate that names none. */
type Seen = { tenantId: string; productId: string; licenseId: string; deviceId: string }

/**
 * From where the seats of licenses are used, for products with rules about that. A call adds to a list in memory, and nothing where no product
 * has such a rule; everything else is done a second later. No address leaves this memory: what is written is a keyed hash of its
 * network, and the country. What a killed process has not written is lost, and most often seen again.
 */
export type Sightings = {
  /** @param caller its address is read only if it is needed */
  note(seen: Seen, caller: { ip: string }): void
  /** Reads which products have rules. */
  refresh(): Promise<void>
  /** Writes what was noted. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Noted = Seen & { ip: string }
type Watched = { isAllowed: (address: string) => boolean }

/** Beyond these, a sighting is dropped: the device is seen again. */
const maxPending = 20_000
/** Sightings of today that this process remembers as written. */
const maxWritten = 50_000
/** Hashing more at once would keep requests waiting. */
const batchSize = 500

const productOf = ({ tenantId, productId }: Pick<Seen, 'tenantId' | 'productId'>): string =>
  // Neither id can hold a dot.
  `${tenantId}.${productId}`

type Options = {
  now: () => Date
  keys: TenantKeys
  countries: Countries
  onFailure: (error: unknown) => void
  flushEveryMs?: number
  refreshEveryMs?: number
}

export function createSightings(
  db: Pool,
  { now, keys, countries, onFailure, flushEveryMs = 1000, refreshEveryMs = 30_000 }: Options,
): Sightings {
  let watched: ReadonlyMap<string, Watched> = new Map()
  let pending = new Map<string, Noted>()
  let written = { day: '', rows: new Set<string>() }

  async function rowOf(seen: Noted, day: string): Promise<Row | undefined> {
    const product = watched.get(productOf(seen))
    const address = plainAddress(seen.ip)
    const network = networkOf(address)
    if (!product || network === undefined || product.isAllowed(address)) return undefined
    const { tenantId, licenseId, deviceId } = seen
    const key = await keys.of(tenantId)
    const hashed = hashOfNetwork(key, { licenseId, day, network })
    return {
      day,
      license_id: licenseId,
      device_id: deviceId,
      network: hashed,
      country: countries.of(address),
    }
  }

  async function writeBatch(seen: readonly Noted[]): Promise<void> {
    const day = now().toISOString().slice(0, 10)
    if (written.day !== day || written.rows.size > maxWritten) written = { day, rows: new Set() }
    const rows = new Map<string, Row>()
    for (const one of seen) {
      const row = await rowOf(one, day)
      if (!row) continue
      const name = `${row.license_id} ${row.device_id} ${row.network}`
      if (!written.rows.has(name)) rows.set(name, row)
    }
    if (rows.size === 0) return
    await db.query({
      name: 'write-sightings',
      text: writeSql,
      values: [JSON.stringify([...rows.values()])],
    })
    for (const name of rows.keys()) written.rows.add(name)
  }

  async function write(): Promise<void> {
    const taken = pending
    pending = new Map()
    const left = [...taken.values()]
    try {
      while (left.length > 0) {
        await writeBatch(left.slice(0, batchSize))
        left.splice(0, batchSize)
      }
    } catch (error) {
      onFailure(error)
      for (const seen of left) keep(seen)
      delayed.ask()
    }
  }

  function keep(seen: Noted): void {
    if (pending.size < maxPending) pending.set(`${seen.licenseId} ${seen.deviceId} ${seen.ip}`, seen)
  }

  async function refresh(): Promise<void> {
    watched = await readWatched(db)
    if (watched.size > 0) countries.refresh()
  }

  const delayed = createDelayed(flushEveryMs, write)
  const refreshing = setInterval(() => void refresh().catch(onFailure), refreshEveryMs).unref()
  const first = refresh().catch(onFailure)

  return {
    note(seen, caller) {
      if (watched.size === 0 || !watched.has(productOf(seen))) return
      keep({ ...seen, ip: caller.ip })
      delayed.ask()
    },
    refresh,
    flush: delayed.now,
    async stop() {
      delayed.cancel()
      clearInterval(refreshing)
      await first
      await delayed.now()
    },
  }
}

type Row = { day: string; license_id: string; device_id: string; network: string; country: string | null }

/** In key order, so that concurrent statements do not deadlock. */
const writeSql = `
  insert into usage.sightings
  select * from json_populate_recordset(null::usage.sightings, $1)
  order by day, license_id, device_id, network
  on conflict do nothing`

async function readWatched(db: Pool): Promise<Map<string, Watched>> {
  const { rows } = await db.query<{ tenantId: string; productId: string; rules: KeySharing }>({
    name: 'read-sharing-rules',
    text: `select tenant_id as "tenantId", product_id as "productId", key_sharing as rules from products
           where key_sharing is not null
             and (key_sharing->'networksPerDay' is not null or key_sharing->'countriesPerDay' is not null)`,
  })
  return new Map(
    rows.map(({ rules, ...product }) => [productOf(product), { isAllowed: listOf(rules.allow ?? []) }]),
  )
}
