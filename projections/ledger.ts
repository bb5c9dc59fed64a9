import type { Projector } from './projector.ts'
import { defineTable } from './table.ts'

/** The identity of the log that the read models were built from: one row, once its event was applied. */
const ledger = defineTable(
  'ledger',
  { ledgerId: 'text not null', identifiedAt: 'timestamptz not null' },
  { key: ['ledgerId'], over: 'nothing' },
)

export const ledgerProjector: Projector = {
  name: 'ledger',
  tables: [ledger],
  async apply(_, entries) {
    return ledger.write(
      entries.flatMap(({ category, event }) =>
        category === 'ledger' ? [{ ledgerId: event.data.ledgerId, identifiedAt: event.data.at }] : [],
      ),
    )
  },
}
