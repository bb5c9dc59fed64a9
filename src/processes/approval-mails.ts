import { type ConfirmationEntry, listFirstPending } from '../../projections/confirmations/queries.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import { changeConfirmation, loadConfirmation } from '../commands/confirmations.ts'
import { withTenantLock } from '../commands/cross-stream/tenant-lock.ts'
import { momentOf } from '../commands/origin.ts'
import { confirmationStatusAt, type RequestedConfirmation } from '../domain/confirmations/confirmation.ts'
import { writeApprovalMail } from '../domain/mails/approval-mail.ts'
import { approvalRuleFor, membersWhoMayApprove } from '../gate/approval-rule.ts'
import { findOperation } from '../gate/registry.ts'
import { isMember } from '../gate/requester.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { originOfProcess, processOf, type Trouble } from './process-manager.ts'

type Options = {
  /** The beginning of the URLs in the mails. */
  baseUrl: string
  /**
   * Called for a confirmation of which a member could not be notified; it is retried until it can no longer
   * be decided.
   */
  onTrouble: (trouble: Trouble) => void
}

/**
 * The limit of notified confirmations per tenant, so that an API client with endless requests does not flood
 * mailboxes.
 */
const maxOfTenant = 20

/**
 * Notifies by mail the members who may approve a request, if a mail server is set up. Processes hold a lock,
 * and each accepted mail is recorded with the request, so that each member gets one mail. After a crash
 * between the two, the mail is sent again with the same id.
 */
export function mailApprovers(
  services: Ports<'db' | 'deriveId' | 'execute' | 'ledger' | 'mailing' | 'now' | 'subjects'>,
  { baseUrl, onTrouble }: Options,
): Poller {
  // Only avoids reading their streams again; the recorded events decide.
  let done: ReadonlySet<string> = new Set()
  return processOf<ConfirmationEntry>(services, onTrouble, {
    name: 'confirmations.mail',
    everyMs: 1000,
    most: Number.POSITIVE_INFINITY,
    async due({ except }) {
      if (services.mailing.mailbox !== undefined) return []
      const pending = await listFirstPending(services.db, momentOf(services), maxOfTenant)
      done = new Set(pending.map(idOf).filter((id) => done.has(id)))
      const skipped = new Set([...except, ...done])
      return pending.filter((entry) => !skipped.has(idOf(entry)))
    },
    idOf,
    async advance(entry) {
      await notifyApprovers(services, entry, baseUrl)
      done = new Set([...done, idOf(entry)])
    },
  })
}

const idOf = ({ confirmation }: ConfirmationEntry): string => confirmation.confirmationId

/** @throws Error when a mail was not accepted; the others were sent */
async function notifyApprovers(
  services: Ports<'db' | 'deriveId' | 'execute' | 'ledger' | 'mailing' | 'now' | 'subjects'>,
  { confirmation: { confirmationId, tenantId }, tokenName }: ConfirmationEntry,
  baseUrl: string,
): Promise<void> {
  await withTenantLock(services.db, tenantId, 'approval mails', async () => {
    const { state: confirmation } = await loadConfirmation(services, confirmationId)
    if (confirmation.status === 'absent') return
    if (confirmationStatusAt(confirmation, momentOf(services)) !== 'pending') return
    const recipients = await membersToNotify(services, confirmation)
    if (recipients.length === 0) return
    const tenant = await findTenant(services.db, tenantId)
    const facts = {
      workspace: tenant?.name ?? tenantId,
      title: findOperation(confirmation.operation)?.title ?? confirmation.operation,
      requester: isMember(confirmation.tokenId)
        ? ({ kind: 'member', name: null } as const)
        : ({ kind: 'program', name: tokenName } as const),
      expiresAt: confirmation.expiresAt,
      url: `${baseUrl}/dashboard/approvals/${confirmationId}`,
    }
    const outcomes = await Promise.allSettled(
      recipients.map(({ memberId, email }) =>
        notify(services, confirmation, memberId, { ...facts, to: email }),
      ),
    )
    const failed = outcomes.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  })
}

/**
 * The members who may approve it and have no mail yet, without a member who made the request in the dashboard
 * and sees its page.
 */
async function membersToNotify(
  services: Ports<'db' | 'ledger' | 'subjects'>,
  confirmation: RequestedConfirmation,
) {
  const { tenantId, tokenId, mailed } = confirmation
  const rule = await approvalRuleFor(services, confirmation)
  const members = await membersWhoMayApprove(services, tenantId, rule)
  return members.flatMap(({ memberId, email }) =>
    email === null || memberId === tokenId || mailed.includes(memberId) ? [] : [{ memberId, email }],
  )
}

async function notify(
  services: Ports<'deriveId' | 'execute' | 'mailing' | 'now'>,
  { confirmationId, tenantId, requestId: correlationId }: RequestedConfirmation,
  memberId: string,
  facts: Parameters<typeof writeApprovalMail>[0],
): Promise<void> {
  const at = momentOf(services)
  const { mailer, from } = services.mailing
  const deliveryId = services.deriveId('whd', 'approval', tenantId, confirmationId, memberId)
  const sending = await mailer.send({ ...writeApprovalMail(facts, from), tenantId, deliveryId, at })
  if (!sending.taken) throw new Error(`the mail server rejected the mail: ${sending.problem}`)
  await changeConfirmation(
    services,
    confirmationId,
    { type: 'RecordMail', memberId, at },
    { ...originOfProcess(), causationId: confirmationId, correlationId },
  )
}
