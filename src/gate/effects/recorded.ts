import type { Category } from '../../domain/events.ts'
import { CreatedCategory, type Fact } from './effect.ts'
import type { Decided } from './rehearsal-ledger.ts'

/** What decided events would add to the log: by stream, and by count where the server chooses the ids. */
export function recordedFacts(decided: readonly Decided[]): Fact[] {
  const created = new Map<string, Extract<Fact, { what: 'created' }>>()
  const facts: Fact[] = []
  for (const { category, id, events, isNew } of decided) {
    const types = events.map(({ type }) => type)
    if (!isNew || !hasChosenId(category)) {
      facts.push({ what: 'recorded', stream: `${category}-${id}`, events: types })
      continue
    }
    const like = `${category} ${types[0]}`
    const before = created.get(like)
    const all = [...new Set([...(before?.events ?? []), ...types])]
    created.set(like, { what: 'created', category, count: (before?.count ?? 0) + 1, events: all })
  }
  return [...created.values(), ...facts]
}

const chosen: ReadonlySet<string> = new Set(CreatedCategory.options)

const hasChosenId = (category: Category): category is CreatedCategory => chosen.has(category)
