import type { Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'
import { writesOf } from '../statements.ts'

/** The public part of every tenant's signing keys, and the lease lengths over time, which `keyStates` needs. */
export const signingProjector: Projector = {
  name: 'signing',
  tables: ['signing_keys', 'prepared_signing_keys', 'lease_lengths'],
  ddl: `
    create table signing_keys (
      tenant_id text not null,
      kid text not null,
      public_key text not null,
      secret_name text not null,
      signs_from timestamptz not null,
      primary key (tenant_id, signs_from)
    );
    -- Keys that were published before it was known from when they sign. They stay once they sign.
    create table prepared_signing_keys (
      tenant_id text not null,
      kid text not null,
      public_key text not null,
      secret_name text not null,
      primary key (tenant_id, kid)
    );
    -- A row for each time that a product's settings were set; it counts until the next one.
    create table lease_lengths (
      tenant_id text not null,
      product_id text not null,
      revision int not null,
      seconds int not null,
      since timestamptz not null,
      primary key (tenant_id, product_id, revision)
    )`,
  async apply(_, entries) {
    return [
      ...writesOf(
        'write-signing-keys',
        `insert into signing_keys select * from json_populate_recordset(null::signing_keys, $1)
         on conflict do nothing`,
        entries.flatMap(keyRowOf),
      ),
      ...writesOf(
        'write-prepared-signing-keys',
        `insert into prepared_signing_keys select * from json_populate_recordset(null::prepared_signing_keys, $1)
         on conflict do nothing`,
        entries.flatMap(preparedRowOf),
      ),
      ...writesOf(
        'write-lease-lengths',
        `insert into lease_lengths select * from json_populate_recordset(null::lease_lengths, $1)
         on conflict do nothing`,
        entries.flatMap(lengthRowOf),
      ),
    ]
  },
}

function keyRowOf({ category, event }: Recorded) {
  if (category !== 'signing' || event.type !== 'SigningKeyPublished') return []
  const { tenantId, kid, publicKey, secretName, signsFrom } = event.data
  return [{ tenant_id: tenantId, kid, public_key: publicKey, secret_name: secretName, signs_from: signsFrom }]
}

function preparedRowOf({ category, event }: Recorded) {
  if (category !== 'signing' || event.type !== 'SigningKeyPrepared') return []
  const { tenantId, kid, publicKey, secretName } = event.data
  return [{ tenant_id: tenantId, kid, public_key: publicKey, secret_name: secretName }]
}

function lengthRowOf({ category, stream, revision, event }: Recorded) {
  if (category !== 'product') return []
  if (event.type !== 'ProductCreated' && event.type !== 'ProductSettingsChanged') return []
  const [tenantId = '', productId = ''] = stream.slice('product-'.length).split('.')
  const { settings, at } = event.data
  return [{ tenant_id: tenantId, product_id: productId, revision, seconds: settings.leaseSeconds, since: at }]
}
