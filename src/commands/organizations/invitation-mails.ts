import type { Ports } from '../../ports.ts'

/** The id of the mail of an invitation that was asked for at this moment. */
export const invitationMailId = (
  { deriveId }: Ports<'deriveId'>,
  { tenantId, personId, at }: { tenantId: string; personId: string; at: string },
): string => deriveId('whd', 'invitation', tenantId, personId, at)

/** The ids of all mails that invited a person. Only the streams of the organizations name them all. */
export async function invitationMailsOf(
  ports: Ports<'deriveId' | 'ledger'>,
  { tenantId, subjectId }: { tenantId: string; subjectId: string },
  organizationIds: readonly string[],
): Promise<string[]> {
  const mailIds: string[] = []
  for (const customerId of new Set(organizationIds)) {
    const theirs = new Set<string>()
    for await (const entry of ports.ledger.readStream(`customer-${customerId}`)) {
      if (!entry.readable || entry.category !== 'customer') continue
      const { type, data } = entry.event
      if (type === 'PersonAdded' && data.subjectId === subjectId) theirs.add(data.personId)
      if (type === 'InvitationAsked' && theirs.has(data.personId))
        mailIds.push(invitationMailId(ports, { tenantId, ...data }))
    }
  }
  return mailIds
}
