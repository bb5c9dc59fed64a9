import type { PresentCustomer } from '../../projections/customers.ts'
import { type DueInvitation, findPerson, listDueInvitations } from '../../projections/people.ts'
import { findOpenPortal } from '../../projections/portal.ts'
import { findLook } from '../../projections/wordings.ts'
import { withTenantLock } from '../commands/cross-stream/tenant-lock.ts'
import { invitationMailId } from '../commands/organizations/invitation-mails.ts'
import { causeOf, momentOf } from '../commands/origin.ts'
import { customers } from '../domain/customers/customer.ts'
import { writeInvitation } from '../domain/mails/portal-mail.ts'
import { languageAmong } from '../domain/portal/languages.ts'
import { sayIn } from '../domain/portal/texts.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/** How long an invitation that no mail server takes is tried (milliseconds). */
const triedForMs = 3 * 86_400_000

type InvitationPorts = Ports<'db' | 'deriveId' | 'execute' | 'ledger' | 'mailing' | 'now' | 'subjects'>

/**
 * Mails the invitations of organizations. Processes hold a lock, and each mail that was taken is recorded, so that a person gets one
 * mail of each invitation. After a crash between the two, the mail is sent again with the same id.
 */
export const mailInvitations = (
  ports: InvitationPorts,
  { baseUrl, onFailure }: { baseUrl: string; onFailure: (failure: Failure) => void },
): Poller =>
  processOf<DueInvitation>(ports, onFailure, {
    name: 'organizations.invitations',
    everyMs: 2000,
    due: (wanted) => {
      const since = new Date(ports.now().getTime() - triedForMs).toISOString()
      return listDueInvitations(ports.db, { ...wanted, since })
    },
    idOf: ({ personId }) => personId,
    advance: (invitation) =>
      withTenantLock(ports.db, invitation.tenantId, 'invitations', () => mail(ports, invitation, baseUrl)),
  })

async function mail(
  ports: InvitationPorts,
  { customerId, personId }: DueInvitation,
  baseUrl: string,
): Promise<void> {
  const at = momentOf(ports)
  await ports.execute(
    customers,
    customerId,
    async (customer) => {
      const invited = customer.status === 'present' ? customer.people?.[personId]?.invited : undefined
      // Removed, or mailed by another process, since it was listed.
      if (customer.status === 'absent' || invited === undefined || invited.mailed) return undefined
      const isSent = await send(ports, customer, { personId, invitedAt: invited.at }, baseUrl)
      return isSent ? { type: 'RecordInvitation', personId, at } : undefined
    },
    causeOf(originOfProcess(), at),
  )
}

/**
 * @returns false when there is nothing to invite to, because the portal was closed since, or nobody to invite any more
 * @throws Error when the mail was not accepted
 */
async function send(
  ports: InvitationPorts,
  customer: PresentCustomer,
  { personId, invitedAt }: { personId: string; invitedAt: string },
  baseUrl: string,
): Promise<boolean> {
  const { tenantId, customerId } = customer
  const [person, portal] = await Promise.all([
    findPerson(ports.db, tenantId, customerId, personId),
    findOpenPortal(ports.db, tenantId),
  ])
  if (!person || !portal) return false
  const [to, organization] = await ports.subjects.openPeople(tenantId, [person, customer])
  if (!to?.email) return false
  const language = languageAmong(portal.addedLanguages, [person.language])
  const facts = {
    to: to.email,
    vendor: portal.name,
    supportEmail: portal.settings.supportEmail,
    organization: organization?.name ?? organization?.email ?? null,
    url: `${baseUrl}/portal/${tenantId}/sign-in`,
  }
  const look = await findLook(ports.db, tenantId)
  const say = sayIn(language, portal.settings.texts, look.languages[language]?.texts)
  const writing = { language, say, look }
  const written = writeInvitation(facts, writing, ports.mailing.from)
  const deliveryId = invitationMailId(ports, { tenantId, personId, at: invitedAt })
  const sending = await ports.mailing.mailer.send({ ...written, tenantId, deliveryId, at: momentOf(ports) })
  if (!sending.taken) throw new Error(`the mail server rejected the mail: ${sending.problem}`)
  return true
}
