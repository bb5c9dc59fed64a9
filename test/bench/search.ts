import pg from 'pg'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { parseConfig } from '../../src/config.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import type { Ports } from '../../src/ports.ts'
import { search } from '../../src/search/search.ts'
import { type Figure, ms } from './figures.ts'
import { productId, tenantId } from './fill.ts'
import { scratchLedger } from './ledger.ts'

const licenses = 1_000_000
const eventsEach = 5
/** The number of licenses with a person, a real key and a sale, for the queries. */
const queryCount = 200
const barMs = 50

/** Every kind of search over a read model of 1,000,000 licenses and 5,000,000 events, one at a time. */
export async function benchSearch(log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    const { ports, close } = await openStores(
      parseConfig({ KEYLEDGER_DATA_DIR: scratch.directory }),
      createLog('warn'),
    )
    try {
      await fill(ports.db, log)
      await nameSome(ports)
      const figures: Figure[] = []
      for (const [kind, textOf] of Object.entries(questions)) {
        const measured = await median(ports, textOf)
        log(`${kind}: ${ms(measured)}`)
        figures.push({
          what: `search by ${kind}`,
          measured: `${ms(measured)} at the median`,
          against: '1,000,000 licenses, 5,000,000 events',
          ratio: '',
          bar: `< ${barMs} ms`,
          holds: measured < barMs,
        })
      }
      return figures
    } finally {
      await close()
    }
  } finally {
    scratch.remove()
  }
}

const idOf = (license: number): string => `lic_${String(license).padStart(26, '0')}`
const keyOf = (license: number): string => `searched for number ${license}`
const emailOf = (person: number): string => `person-${person}@example.com`
const saleOf = (license: number): string => `pi_searched_${license}`
const hexOf = (number: number): string => number.toString(16).padStart(26, '0')

/** The nth query of each kind; the licenses are spread over the whole table. */
const questions: Record<string, (nth: number) => string> = {
  'pasted key': (nth) => keyOf(licenseOf(nth)),
  'key ending': (nth) => endingOf(licenseOf(nth)),
  'e-mail address': emailOf,
  "provider's sale id": (nth) => saleOf(licenseOf(nth)),
  'our sale id': (nth) => `sal_${hexOf(licenseOf(nth))}`,
  'device id': (nth) => `device-${licenseOf(nth)}-1`,
  'device name': (nth) => `Ada's computer ${licenseOf(nth)}`,
  'a name that a tenth of the devices have': () => 'MacBook',
  'request id': (nth) => `req_${hexOf(licenseOf(nth) * eventsEach + 3)}`,
  'license id': (nth) => idOf(licenseOf(nth)),
}

const licenseOf = (nth: number): number => ((nth * 4995) % licenses) + 1
const endingOf = (license: number): string => sha256(String(license)).slice(0, 4).toUpperCase()

async function median(ports: Parameters<typeof search>[0], textOf: (nth: number) => string): Promise<number> {
  const times: number[] = []
  for (let nth = 0; nth < queryCount; nth++) {
    const started = performance.now()
    const found = await search(ports, tenantId, textOf(nth))
    times.push(performance.now() - started)
    if (found.licenses.length + found.devices.length === 0) throw new Error(`${textOf(nth)} was not found`)
  }
  return times.toSorted((a, b) => a - b)[queryCount / 2] ?? Number.NaN
}

/** Writes directly into the read models, because filling is not measured. */
async function fill(db: pg.Pool, log: (line: string) => void): Promise<void> {
  // Inserting a million rows takes longer than the pool's timeouts.
  const session = new pg.Client({ ...db.options, query_timeout: 0, statement_timeout: 0 })
  await session.connect()
  try {
    await session.query('set synchronous_commit = off')
    for (const [table, statement] of Object.entries(filling)) {
      log(`filling ${table}`)
      await session.query(statement)
    }
    await session.query('vacuum analyze')
  } finally {
    await session.end()
  }
}

const numbered = (upTo: number) => `generate_series(1, ${upTo}) n`
const id = (prefix: string, number = 'n') => `'${prefix}_' || lpad(${number}::text, 26, '0')`
const hexId = (prefix: string, number = 'n') => `'${prefix}_' || lpad(to_hex(${number}), 26, '0')`
const at = `timestamptz '2026-01-01' + n * interval '1 second'`
const ending = `upper(substr(encode(sha256(n::text::bytea), 'hex'), 1, 4))`
const names = `case when d = 2 then 'Ada''s computer ' || n
  else (array['MacBook Pro', 'ThinkPad', 'DESKTOP-' || n, 'Office', 'Laptop of ' || n])[1 + n % 5] end`

const filling = {
  licenses: `
    insert into licenses (license_id, tenant_id, product_id, key_type_id, revision, key_hash, display_key, quantity,
      device_limit, seats_used, last_fence, expires_at, on_expiry, sale_through, subject_id, source, test, metadata,
      refunded_payments, freed_by_customer_at, device_subjects, relays, created_at)
    select ${id('lic')}, '${tenantId}', '${productId}', 'default', ${eventsEach - 1}, md5(n::text), 'BENCH…' || ${ending},
      1, 5, 2, 0, null, 'expire', 0, 'sub_' || md5((n % 700000)::text), 'api', false, '{}', '[]', '[]', '[]', '[]', ${at}
    from ${numbered(licenses)}`,
  license_keys: `
    insert into license_keys (tenant_id, product_id, key_hash, license_id, current, ending)
    select '${tenantId}', '${productId}', md5(n::text), ${id('lic')}, true, ${ending} from ${numbered(licenses)}`,
  devices: `
    insert into devices (license_id, device_id, tenant_id, instance_id, name, status, activated_at)
    select ${id('lic')}, 'device-' || n || '-' || d, '${tenantId}', ${id('ins', "(n || '0' || d)")}, ${names}, 'active', ${at}
    from ${numbered(licenses)}, generate_series(1, 2) d`,
  license_history: `
    insert into license_history (license_id, revision, event_id, type, data, actor, request_id, causation_id,
      correlation_id, at, position, seats_used, moment)
    select ${id('lic')}, e, gen_random_uuid(), 'DeviceActivated',
      '{"deviceId":"device-1","instanceId":"ins_1","installId":null,"name":"Device","platform":null,"at":"2026-01-01T00:00:00.000Z"}',
      'token:tok_bench', ${hexId('req', `n * ${eventsEach} + e`)}, 'req', 'req', ${at}, n, 1, ${at}
    from ${numbered(licenses)}, generate_series(0, ${eventsEach - 1}) e`,
  sales: `
    insert into sales (stream, revision, state, id, tenant_id, provider, sale_id, subject_id, license_id, status, open,
      received_at)
    select 'sale-${tenantId}.stripe.' || encode(sha256(('pi_searched_' || n)::bytea), 'hex'), 3,
      jsonb_build_object('licenseId', ${id('lic')}), ${hexId('sal')}, '${tenantId}', 'stripe', 'pi_searched_' || n,
      'sub_' || md5((n % 700000)::text), ${id('lic')}, 'licensed', false, ${at}
    from ${numbered(licenses)} where n % 5 = 1`,
  customers: `
    insert into customers (stream, revision, state, customer_id, tenant_id, subject_id, created_at)
    select 'customer-' || n, 0, '{}', ${id('cus')}, '${tenantId}', 'sub_' || md5((n % 700000)::text), ${at}
    from ${numbered(200_000)}`,
}

/** Gives some licenses keys and persons, which only the application can create. */
async function nameSome({ db, subjects }: Ports<'db' | 'subjects'>): Promise<void> {
  for (let nth = 0; nth < queryCount; nth++) {
    const license = licenseOf(nth)
    const { subjectId } = await subjects.sealPerson(tenantId, emailOf(nth), null)
    await db.query('update licenses set subject_id = $2 where license_id = $1', [idOf(license), subjectId])
    await db.query(
      'update license_keys set key_hash = $2 where tenant_id = $3 and product_id = $4 and key_hash = md5($1)',
      [String(license), keyHashOf(keyOf(license)), tenantId, productId],
    )
  }
}
