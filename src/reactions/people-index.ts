import { findSealedOf } from '../../projections/subjects.ts'
import type { Ports } from '../ports.ts'
import type { Person } from '../vault/subjects.ts'
import type { Poller } from './poller.ts'

/** People who are decrypted at a time. */
const batch = 200

/**
 * Adds people to the index by which they are searched who were sealed before it existed. What it did is kept with each
 * person, so it goes on where it stopped.
 */
export function indexPeople({ db, subjects }: Ports<'db' | 'subjects'>): Poller {
  let isMore = false
  return {
    name: 'people.index',
    everyMs: 60_000,
    async poll() {
      const missing = await subjects.index.listMissing(batch)
      isMore = missing.length > 0
      const tenantId = missing[0]?.tenantId
      if (tenantId === undefined) return
      const subjectIds = missing.map(({ subjectId }) => subjectId)
      const sealed = await findSealedOf(db, tenantId, subjectIds)
      const people = await subjects.openPeople(tenantId, sealed)
      const known = new Map<string, Person[]>(subjectIds.map((subjectId) => [subjectId, []]))
      for (const [at, { subjectId }] of sealed.entries()) {
        const person = people[at]
        if (person) known.get(subjectId)?.push(person)
      }
      await subjects.index.complete(tenantId, known)
    },
    dueInMs: () => (isMore ? 0 : 60_000),
  }
}
