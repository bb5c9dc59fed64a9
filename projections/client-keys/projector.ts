import type { Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'
import { writesOf } from '../statements.ts'

/** One row for each tenant's SDK key and one for its checkout key, once it has them. */
export const clientKeysProjector: Projector = {
  name: 'client_keys',
  tables: ['client_keys'],
  ddl: `
    create table client_keys (
      tenant_id text not null,
      kind text not null,
      revision int not null,
      key_hash text not null unique,
      display_key text not null,
      issued_at timestamptz not null,
      primary key (tenant_id, kind)
    )`,
  async apply(_, entries) {
    const rows = new Map(entries.flatMap(rowOf).map((row) => [`${row.tenant_id}.${row.kind}`, row]))
    return writesOf(
      'write-client-keys',
      `insert into client_keys select * from json_populate_recordset(null::client_keys, $1)
       on conflict (tenant_id, kind) do update set revision = excluded.revision, key_hash = excluded.key_hash,
         display_key = excluded.display_key, issued_at = excluded.issued_at
       where client_keys.revision < excluded.revision`,
      [...rows.values()],
    )
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
          tenant_id: stream.slice('tenant-'.length),
          kind: event.type.startsWith('Sdk') ? 'sdk' : 'chk',
          revision,
          key_hash: event.data.keyHash,
          display_key: event.data.displayKey,
          issued_at: event.data.at,
        },
      ]
    default:
      return []
  }
}
