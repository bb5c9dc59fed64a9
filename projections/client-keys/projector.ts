import type { Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'
import { defineTable } from '../table.ts'

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
