import type { Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'
import { writesOf } from '../statements.ts'

/** The identity of the log that the read models were built from: one row, once its event was applied. */
export const ledgerProjector: Projector = {
  name: 'ledger',
  tables: ['ledger'],
  ddl: `
    create table ledger (
      ledger_id text primary key,
      identified_at timestamptz not null
    )`,
  async apply(_, entries) {
    return writesOf(
      'write-ledger',
      'insert into ledger select * from json_populate_recordset(null::ledger, $1) on conflict do nothing',
      entries.flatMap(rowOf),
    )
  },
}

function rowOf({ category, event }: Recorded) {
  return category === 'ledger' ? [{ ledger_id: event.data.ledgerId, identified_at: event.data.at }] : []
}
