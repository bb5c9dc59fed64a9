import type { Pool } from 'pg'
import { coalesce } from '../src/async/coalesce.ts'
import type { Recorded } from '../src/domain/recorded.ts'
import type { Plan } from '../src/domain/tenants/events.ts'
import type { Tenant } from '../src/domain/tenants/tenant.ts'
import type { Projector } from './projector.ts'
import { defineTable } from './table.ts'

/** One row for each tenant's SDK key and one for its checkout key, once it has them. */
const clientKeys = defineTable(
  'client_keys',
  {
    tenantId: 'text not null',
    kind: 'text not null',
    revision: 'int not null',
    keyHash: 'text not null unique',
    displayKey: 'text not null',
    issuedAt: 'timestamptz not null',
  },
  { key: ['tenantId', 'kind'], over: 'older row' },
)

export const clientKeysProjector: Projector = {
  name: 'client_keys',
  tables: [clientKeys],
  async apply(_, entries) {
    const rows = new Map(entries.flatMap(rowOf).map((row) => [`${row.tenantId}.${row.kind}`, row]))
    return clientKeys.write([...rows.values()])
  },
}

function rowOf({ category, stream, revision, event }: Recorded) {
  if (category !== 'tenant') return []
  switch (event.type) {
    case 'SdkKeyIssued':
    case 'SdkKeyRotated':
    case 'CheckoutKeyIssued':
    case 'CheckoutKeyRotated':
      return [
        {
          tenantId: stream.slice('tenant-'.length),
          kind: event.type.startsWith('Sdk') ? 'sdk' : 'chk',
          revision,
          keyHash: event.data.keyHash,
          displayKey: event.data.displayKey,
          issuedAt: event.data.at,
        },
      ]
    default:
      return []
  }
}

type ClientKeyKind = 'sdk' | 'chk'

/** A live SDK or checkout key, with its tenant's status and plan. */
export type KnownClientKey = {
  tenantId: string
  kind: ClientKeyKind
  keyHash: string
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** The tenant's stream is parked, so the key may have been rotated. */
  uncertain: boolean
}

export type FindClientKey = (keyHash: string) => Promise<KnownClientKey | undefined>

/** Finds keys by hash. Concurrent lookups share one query; nothing is cached. */
export function createClientKeyLookup(db: Pool): FindClientKey {
  return coalesce(async (hashes) => {
    const { rows } = await db.query<KnownClientKey>({
      name: 'find-client-keys',
      text: `select k.tenant_id as "tenantId", k.kind, k.key_hash as "keyHash", n.status as "tenantStatus", n.plan,
               exists (select from parked p where p.stream = n.stream) as uncertain
             from client_keys k join tenants n using (tenant_id)
             where k.key_hash = any($1)`,
      values: [[...new Set(hashes)]],
    })
    const found = new Map(rows.map((known) => [known.keyHash, known]))
    return hashes.map((hash) => found.get(hash))
  })
}

type MaskedKey = { displayKey: string; issuedAt: string }

/** A tenant's keys in masked form; null for a key that it does not have. */
export async function readMaskedKeys(
  db: Pool,
  tenantId: string,
): Promise<{ sdkKey: MaskedKey | null; checkoutKey: MaskedKey | null }> {
  const { rows } = await db.query<MaskedKey & { kind: ClientKeyKind }>({
    name: 'read-masked-keys',
    text: 'select kind, display_key as "displayKey", issued_at as "issuedAt" from client_keys where tenant_id = $1',
    values: [tenantId],
  })
  const masked = (kind: ClientKeyKind): MaskedKey | null => {
    const row = rows.find((key) => key.kind === kind)
    return row ? { displayKey: row.displayKey, issuedAt: row.issuedAt } : null
  }
  return { sdkKey: masked('sdk'), checkoutKey: masked('chk') }
}
