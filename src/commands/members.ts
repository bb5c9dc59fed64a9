import { newId } from '../credentials/id.ts'
import type { Role } from '../domain/member/events.ts'
import { absentMember, decideMember, type Member } from '../domain/member/member.ts'
import { memberStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/** @returns the member's id */
export async function addMember(
  services: Services,
  member: { tenantId: string; role: Role; email: string },
  origin: Origin,
): Promise<string> {
  const memberId = newId('mem')
  const { tenantId, role } = member
  const at = momentOf(services)
  const { subjectId, email } = await services.subjects.sealPerson(tenantId, member.email, null)
  await services.handle<Member, 'member'>({
    stream: memberStream(memberId),
    load: async () => ({ state: absentMember, revision: 'no_stream' }),
    decide: (state) =>
      decideMember(state, { type: 'AddMember', memberId, tenantId, role, subjectId, email, at }),
    cause: causeOf(origin, at),
  })
  return memberId
}
