import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readKey } from '../../src/credentials/license-key.ts'
import type { Plan } from '../../src/domain/tenants/events.ts'
import type { SourceName } from '../../src/import/foreign.ts'
import { applyJob, type Job, planJob, previewJob } from '../../src/import/job.ts'
import { noReport, type ReportLine, type Tally } from '../../src/import/report.ts'
import { sourceOf } from '../../src/import/sources/sources.ts'
import type { AllPorts, Ports } from '../../src/ports.ts'
import { readLog } from '../flows/operator.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin, temporaryDirectory, uniqueId } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'

/** A tenant with the product `editor`. */
export type Vendor = TestTenant & { plan: Plan }

type Run = {
  apply?: boolean
  ports?: AllPorts
  columns?: Parameters<typeof sourceOf>[1]['columns']
  mapped?: Record<string, string>
  /** Our customers by organizations of theirs. */
  organizations?: Record<string, string>
  /** Our product by theirs; without it, everything goes to `editor`. */
  products?: Record<string, string>
}

export type Ran = { job: Job; tally: Tally; report: ReportLine[] }

/** A license in the read models. */
export type Stored = {
  externalId: string | null
  keyTypeId: string
  deviceLimit: number | null
  expiresAt: string | null
  status: 'active' | 'revoked' | 'suspended'
  devices: string[]
}

/** Imports into tenants of one ledger, without the command line. */
export async function openImports() {
  const api = await openTestApi()
  const directory = temporaryDirectory()
  let names = 0
  return {
    api,
    /** Writes a file, or a directory with several by name, and returns its path. */
    exported(files: string | Record<string, string>, extension = 'csv'): string {
      const path = join(directory, `export-${++names}`)
      if (typeof files === 'string') {
        writeFileSync(`${path}.${extension}`, files)
        return `${path}.${extension}`
      }
      mkdirSync(path)
      for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
      return path
    },
    vendor: (plan?: Plan, product?: Record<string, unknown>) => makeVendor(api, plan, product),
    async run(vendor: Vendor, name: SourceName, path: string, options: Run = {}): Promise<Ran> {
      const workDirectory = join(directory, `work-${++names}`)
      return runIn(api, vendor, { name, path, workDirectory }, options)
    },
    stored: (vendor: Vendor) => storedOf(api, vendor),
    importedHashes: (vendor: Vendor) => importedHashes(api, vendor),
    async close() {
      rmSync(directory, { recursive: true, force: true })
      await api.close()
    },
  }
}

export type Imports = Awaited<ReturnType<typeof openImports>>

async function makeVendor(api: TestApi, plan: Plan = 'unlimited', product = {}): Promise<Vendor> {
  const tenant = await makeTenant(api.ledger, plan)
  await makeProduct(api.ask, tenant.token, 'editor', product)
  return { ...tenant, plan }
}

type Place = { name: SourceName; path: string; workDirectory: string }

async function runIn(
  api: TestApi,
  { tenantId, plan }: Vendor,
  { name, ...place }: Place,
  {
    apply = false,
    ports = api.ledger.ports,
    columns = new Map(),
    mapped = {},
    organizations = {},
    products,
  }: Run,
): Promise<Ran> {
  const ours = new Set(products ? Object.values(products) : ['editor'])
  const found = new Map(
    await Promise.all([...ours].map(async (id) => [id, await ports.findProduct(tenantId, id)] as const)),
  )
  const productOf = (theirs: string | null) => found.get(products ? (products[theirs ?? ''] ?? '') : 'editor')
  const source = sourceOf(name, { columns })
  const job = await planJob({
    ...{ tenantId, source, ...place, productOf },
    mapped: new Map(Object.entries(mapped)),
    organizations: new Map(Object.entries(organizations)),
  })
  const report: ReportLine[] = []
  const use = {
    report: { ...noReport, add: (line: ReportLine) => void report.push(line) },
    onProgress: () => undefined,
  }
  try {
    const tally = apply
      ? await applyJob(ports, job, { ...use, plan }, { ...origin, requestId: uniqueId('req') })
      : await previewJob(ports, job, use)
    return { job, tally, report }
  } finally {
    job.exported.close()
  }
}

async function storedOf({ ledger }: TestApi, { tenantId }: Vendor): Promise<Stored[]> {
  const { rows } = await ledger.db.query<Stored>(
    `select metadata ->> 'externalId' as "externalId", key_type_id as "keyTypeId", device_limit as "deviceLimit",
            to_char(expires_at at time zone 'utc', 'YYYY-MM-DD') as "expiresAt",
            case when revoked_at is not null then 'revoked' when suspended_at is not null then 'suspended'
                 else 'active' end as status,
            array(select device_id from devices d where d.license_id = l.license_id order by 1) as devices
     from licenses l where tenant_id = $1 order by 1`,
    [tenantId],
  )
  return rows
}

/** The key hash of every import in the log. */
async function importedHashes({ ledger }: TestApi, { tenantId }: Vendor): Promise<string[]> {
  const entries = await readLog(ledger.ports.ledger)
  return entries.flatMap((entry) =>
    entry.readable && entry.event.type === 'LicenseImported' && entry.event.data.tenantId === tenantId
      ? entry.event.data.keyHash
      : [],
  )
}

/** The hashes that imports of these keys record. */
export async function hashesOf(
  { keyHashing }: Ports<'keyHashing'>,
  tenantId: string,
  keys: readonly string[],
): Promise<string[]> {
  const hashToStore = await keyHashing.openStored(tenantId)
  return keys
    .map(readKey)
    .flatMap((key) => (key ? hashToStore(key) : []))
    .toSorted()
}
