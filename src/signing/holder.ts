import type { Holder } from '../domain/licenses/events.ts'
import type { Ports } from '../ports.ts'
import type { Person } from '../vault/subjects.ts'

/**
 * Whom a lease names as the holder of its license.
 * @returns undefined without a holder, and for one who was erased
 */
export async function namedHolder(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  holder: Holder | null,
): Promise<Person | undefined> {
  if (holder === null) return undefined
  const [person] = await subjects.openPeople(tenantId, [holder])
  return person && (person.email !== null || person.name !== null) ? person : undefined
}
