import type { Pool } from 'pg'
import type { Provider } from '../../src/domain/integrations/provider.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { SaleFact } from '../../src/domain/sales/events.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'
import type { Projector } from '../projector.ts'
import { defineTable, type RowIn } from '../table.ts'

/** A refund or dispute whose sale is not known. */
export type UnmatchedFact = {
  id: string
  provider: Provider
  /** What the provider named, as `<kind>:<id>`. */
  link: string
  fact: Extract<SaleFact, { type: (typeof ofMoney)[number] }>
  receivedAt: string
}

const ofMoney = ['SaleRefunded', 'SaleDisputed', 'DisputeLost', 'DisputeWon'] as const

const isOfMoney = (fact: SaleFact): fact is UnmatchedFact['fact'] =>
  ofMoney.some((type) => type === fact.type)

/** Facts that were kept at a link, until a sale binds it. */
const unmatchedFacts = defineTable(
  'unmatched_facts',
  {
    // Its link's stream, and its place in it.
    id: 'text not null',
    stream: 'text not null',
    tenantId: 'text not null',
    provider: 'text not null',
    link: 'text not null',
    fact: 'jsonb not null',
    receivedAt: 'timestamptz not null',
  },
  {
    key: ['id'],
    over: 'nothing',
    indexes: {
      unmatched_facts_of_stream: '(stream)',
      unmatched_facts_by_age: '(tenant_id, received_at desc, id desc)',
    },
  },
)

export const unmatchedProjector: Projector = {
  name: 'unmatched',
  tables: [unmatchedFacts],
  applyIndexes: ['unmatched_facts_of_stream'],
  async apply(_, entries) {
    const kept = new Map<string, RowIn<typeof unmatchedFacts>>()
    const bound = new Set<string>()
    for (const entry of entries) {
      if (entry.category !== 'notice') continue
      if (entry.event.type === 'LinkBound') bound.add(entry.stream)
      else for (const row of rowOf(entry.event.data, entry)) kept.set(row.id, row)
    }
    // Nothing is kept at a link that is bound.
    return [
      ...unmatchedFacts.write([...kept.values()]),
      ...(bound.size === 0 ? [] : [{ name: 'match-facts', text: matchFacts, values: [[...bound]] }]),
    ]
  },
}

function rowOf(
  {
    tenantId,
    provider,
    link,
    fact,
    at,
  }: { tenantId: string; provider: Provider; link: string; fact: SaleFact; at: string },
  { stream, revision }: Recorded,
) {
  if (!isOfMoney(fact)) return []
  const id = `${stream}.${revision}`
  return [{ id, stream, tenantId, provider, link, fact, receivedAt: at }]
}

const matchFacts = 'delete from unmatched_facts where stream = any($1)'

/** Newest first; ties by id, descending. */
export async function listUnmatched(
  db: Pool,
  tenantId: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<UnmatchedFact>> {
  const { by, past } = orderOf(order, 'received_at', 'id')
  const { rows } = await db.query<UnmatchedFact>(
    `select id, provider, link, fact, fact->'data'->>'at' as "receivedAt" from unmatched_facts
     where tenant_id = $1 and ($2::timestamptz is null or ${past('$2', '$3')})
     order by ${by} limit $4`,
    [tenantId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(rows, limit, ({ receivedAt, id }) => ({ createdAt: receivedAt, id }))
}

/** Counts those that were received in a span of time. */
export async function countUnmatched(
  db: Pool,
  tenantId: string,
  { from, until }: { from: string; until: string },
): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-unmatched',
    text: `select count(*) as count from unmatched_facts
           where tenant_id = $1 and received_at > $2 and received_at <= $3`,
    values: [tenantId, from, until],
  })
  return Number(rows[0]?.count ?? 0n)
}
