import type { Pool } from 'pg'
import type { Recorded } from '../src/domain/recorded.ts'
import type { PreparedKey, SigningKey } from '../src/domain/signing/events.ts'
import { type KeyState, keyStates, type LeaseLength, preparedState } from '../src/domain/signing/signing.ts'
import type { Projector } from './projector.ts'
import { defineTable } from './table.ts'

const signingKeys = defineTable(
  'signing_keys',
  {
    tenantId: 'text not null',
    kid: 'text not null',
    publicKey: 'text not null',
    secretName: 'text not null',
    signsFrom: 'timestamptz not null',
  },
  { key: ['tenantId', 'signsFrom'], over: 'nothing' },
)

/** Keys that were published before it was known from when they sign. They stay once they sign. */
const preparedSigningKeys = defineTable(
  'prepared_signing_keys',
  {
    tenantId: 'text not null',
    kid: 'text not null',
    publicKey: 'text not null',
    secretName: 'text not null',
  },
  { key: ['tenantId', 'kid'], over: 'nothing' },
)

/** A row for each time that a product's settings were set; it counts until the next one. */
const leaseLengths = defineTable(
  'lease_lengths',
  {
    tenantId: 'text not null',
    productId: 'text not null',
    revision: 'int not null',
    seconds: 'int not null',
    since: 'timestamptz not null',
  },
  { key: ['tenantId', 'productId', 'revision'], over: 'nothing' },
)

/** The public part of every tenant's signing keys, and the lease lengths over time, which `keyStates` needs. */
export const signingProjector: Projector = {
  name: 'signing',
  tables: [signingKeys, preparedSigningKeys, leaseLengths],
  async apply(_, entries) {
    return [
      ...signingKeys.write(entries.flatMap(keyRowOf)),
      ...preparedSigningKeys.write(entries.flatMap(preparedRowOf)),
      ...leaseLengths.write(entries.flatMap(lengthRowOf)),
    ]
  },
}

function keyRowOf({ category, event }: Recorded) {
  if (category !== 'signing' || event.type !== 'SigningKeyPublished') return []
  const { tenantId, kid, publicKey, secretName, signsFrom } = event.data
  return [{ tenantId, kid, publicKey, secretName, signsFrom }]
}

function preparedRowOf({ category, event }: Recorded) {
  if (category !== 'signing' || event.type !== 'SigningKeyPrepared') return []
  const { tenantId, kid, publicKey, secretName } = event.data
  return [{ tenantId, kid, publicKey, secretName }]
}

function lengthRowOf({ category, stream, revision, event }: Recorded) {
  if (category !== 'product') return []
  if (event.type !== 'ProductCreated' && event.type !== 'ProductSettingsChanged') return []
  const [tenantId = '', productId = ''] = stream.slice('product-'.length).split('.')
  const { settings, at } = event.data
  return [{ tenantId, productId, revision, seconds: settings.leaseSeconds, since: at }]
}

/** Every signing key of a tenant, oldest first and a prepared one last, with its state at the time `now`. */
export async function listSigningKeys(db: Pool, tenantId: string, now: string): Promise<KeyState[]> {
  const { rows } = await db.query<PreparedKey & { signsFrom: string | null }>({
    name: 'list-signing-keys',
    text: `select kid, public_key as "publicKey", secret_name as "secretName", signs_from as "signsFrom"
           from signing_keys where tenant_id = $1
           union all
           select kid, public_key, secret_name, null from prepared_signing_keys p
           where tenant_id = $1 and not exists (
             select from signing_keys s where s.tenant_id = p.tenant_id and s.kid = p.kid
           )
           order by "signsFrom" nulls last`,
    values: [tenantId],
  })
  const keys = rows.flatMap(({ signsFrom, ...key }): SigningKey[] =>
    signsFrom === null ? [] : [{ ...key, signsFrom }],
  )
  const prepared = rows.filter(({ signsFrom }) => signsFrom === null).map(preparedState)
  return [...keyStates(keys, await readLeaseLengths(db, tenantId, keys), now), ...prepared]
}

/** The key that signs for a tenant at the time `now`; undefined before its first one signs. */
export async function findActiveKey(
  db: Pool,
  tenantId: string,
  now: string,
): Promise<Omit<SigningKey, 'publicKey'> | undefined> {
  const { rows } = await db.query<Omit<SigningKey, 'publicKey'>>({
    name: 'active-signing-key',
    text: `select kid, secret_name as "secretName", signs_from as "signsFrom" from signing_keys
           where tenant_id = $1 and signs_from <= $2 order by signs_from desc limit 1`,
    values: [tenantId, now],
  })
  return rows[0]
}

/** Only the state of a former key depends on lease lengths. */
async function readLeaseLengths(
  db: Pool,
  tenantId: string,
  keys: readonly SigningKey[],
): Promise<LeaseLength[]> {
  if (keys.length < 2) return []
  const { rows } = await db.query<LeaseLength>({
    name: 'lease-lengths',
    text: `select seconds, since as "from",
             lead(since) over (partition by product_id order by revision) as until
           from lease_lengths where tenant_id = $1`,
    values: [tenantId],
  })
  return rows
}
